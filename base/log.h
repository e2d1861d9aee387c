/* log.h - messages to the user, through one settable callback (default: stderr).
 * Levels by LAZULI_LOG=error|warn|info|debug (default warn). A formatted line is at most 1,023
 * bytes. The callback may call the library: a message that comes under a lock is kept until the
 * thread holds none, and one that comes while the thread's callback runs goes to stderr.
 * Threads: thread-safe. */
#ifndef LZ_BASE_LOG_H
#define LZ_BASE_LOG_H
#include <stdatomic.h>
#include <stdbool.h>

typedef enum lz_log_level {
    LZ_LOG_ERROR = 0,
    LZ_LOG_WARN = 1,
    LZ_LOG_INFO = 2,
    LZ_LOG_DEBUG = 3
} lz_log_level;
/* module: a literal */
typedef void (*lz_log_fn)(lz_log_level level, const char *module, const char *message, void *user);
void lz_log_set_callback(lz_log_fn fn, void *user); /* NULL restores the default */
bool lz_log_enabled(lz_log_level level);
void lz_logf(lz_log_level level, const char *module, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, never to the callback. */
void lz_log_to_stderr(lz_log_level level, const char *module, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define LZ_WARN(module, ...) lz_logf(LZ_LOG_WARN, (module), __VA_ARGS__)
/* Warns once per process and place. */
#define LZ_WARN_ONCE(module, ...)                                                                  \
    do {                                                                                           \
        static atomic_flag lz_once_ = ATOMIC_FLAG_INIT;                                            \
        if (!atomic_flag_test_and_set(&lz_once_))                                                  \
            lz_logf(LZ_LOG_WARN, (module), __VA_ARGS__);                                           \
    } while (0)
#endif
