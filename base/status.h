/* status.h - how internal code fails: a status code and a thread-local record with the details.
 * Threads: the record belongs to the calling thread; between threads errors travel by value
 * (lz_error).
 * Nothing here allocates, so it works when memory is exhausted. */
#ifndef LZ_BASE_STATUS_H
#define LZ_BASE_STATUS_H
#include <lazuli/types.h>

typedef struct lz_error {
    lz_status status;
    uint64_t serial;   /* of the failure, in the process: copies have the same; 0: none */
    int line;          /* the caller's line, 0 when unknown */
    char file[96];     /* the caller's file (its last 95 bytes), "" when unknown */
    char op[48];       /* public operation that failed, "" when none */
    char message[416]; /* what is wrong, with the culprit's values */
} lz_error;

/* Records an error of this thread and returns `s`. op/file/line of the record are cleared
 * (lz_error_annotate fills them). `from` is the library's own file:line, shown by LAZULI_LOG=debug
 * only. */
lz_status lz_fail(lz_status s, const char *from, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define LZ_STR2(x) #x
#define LZ_STR(x) LZ_STR2(x)
#ifdef __clang_analyzer__ /* it does not look into lz_fail, which returns its argument */
#define LZ_FAIL(status, ...)                                                                       \
    ((void)lz_fail((status), __FILE__ ":" LZ_STR(__LINE__), __VA_ARGS__), (status))
#else
#define LZ_FAIL(status, ...) lz_fail((status), __FILE__ ":" LZ_STR(__LINE__), __VA_ARGS__)
#endif

/* Forwards a failure. */
#define LZ_TRY(expr)                                                                               \
    do {                                                                                           \
        lz_status lz_try_ = (expr);                                                                \
        if (lz_try_ != LZ_OK)                                                                      \
            return lz_try_;                                                                        \
    } while (0)

/* The last error of this thread (status LZ_OK when there was none). Valid until the thread's next
 * failure. */
const lz_error *lz_error_get(void);
/* copy in: an error that came from another thread */
void lz_error_set(const lz_error *e);
/* The error as a line, "digits.c:42: lz_matmul: ...: LZ_ESHAPE"; "" for LZ_OK. Gives `text`. */
enum { LZ_ERROR_TEXT = sizeof(lz_error) + 64 };
const char *lz_error_text(const lz_error *e, char text[LZ_ERROR_TEXT]);
/* fill op and the caller's place into the record */
void lz_error_annotate(const char *op, const lz_site *site);
/* s, the record of which is annotated with op if it is a failure. */
lz_status lz_error_annotated(const char *op, lz_status s);
/* From now on this thread's errors are annotated with `op` whatever the caller of lz_error_annotate
 * says: a function made of other public functions is the one that the user called. NULL: no longer.
 * Gives what was in force, to be put back. `op` is a string literal. */
const char *lz_error_speak_for(const char *op);
bool lz_error_spoken_for(void); /* a function of the library's is calling, not the program */
void lz_error_clear(void);

/* The record as it was before the first failure since `saved` was cleared: of a public function
 * that recovered from a failure inside of it, the caller sees nothing. */
typedef struct lz_error_before {
    bool saved;
    uint64_t serial; /* of the first failure */
    lz_error error;
} lz_error_before;
/* Where this thread's failures save the record from now on; NULL: nowhere. */
void lz_error_save_in(lz_error_before *b);
/* The record is again what was saved, if there was a failure. */
void lz_error_recover(lz_error_before *b);

/* The record, and where the next failure would save it. */
typedef struct lz_error_quiet {
    lz_error error;
    uint64_t serial; /* of the last failure of any thread */
    lz_error_before *in;
} lz_error_quiet;
lz_error_quiet lz_error_quiet_begin(void);
void lz_error_quiet_end(lz_error_quiet *q);
/* Runs the block that follows and restores the thread's error record afterwards, however the block
 * is left: for diagnostics and clean-up whose own failures must not replace an earlier error. */
#define LZ_QUIETLY                                                                                 \
    for (lz_error_quiet lz_quiet_                                                                  \
         __attribute__((cleanup(lz_error_quiet_end))) = lz_error_quiet_begin(),                    \
         *lz_pass_ = &lz_quiet_;                                                                   \
         lz_pass_; lz_pass_ = NULL)

/* The record and what was saved of it: around a function of the program's, whose calls are their
 * own. */
typedef struct lz_error_aside {
    lz_error error;
    lz_error_before before, *in;
} lz_error_aside;
void lz_error_set_aside(lz_error_aside *a);
void lz_error_put_back(const lz_error_aside *a);

/* A broken invariant of our own, never a user's mistake: message to stderr and abort. */
void lz_assert_failed(const char *expr, const char *file, int line) __attribute__((noreturn));
#define LZ_ASSERT(x) ((x) ? (void)0 : lz_assert_failed(#x, __FILE__, __LINE__))
#ifdef NDEBUG
#define LZ_DCHECK(x) ((void)0)
#else
#define LZ_DCHECK(x) LZ_ASSERT(x)
#endif
#endif
