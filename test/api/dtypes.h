/* dtypes.h - the program of test/api/dtypes.sh, which generates calls.h. */
#include <lazuli/dlpack.h>
#include <lazuli/hlo.h>
#include <lazuli/lazuli.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lz_tensor *T, *U, *N, *B;
static lz_shape S;
static int K;
static double REAL, REALS[8];
static const char *WORD;
/* Operands of functions that have a call of their own. */
static lz_tensor *operand(lz_shape s, int salt), *positive(lz_shape s), *counted(lz_shape s);
#define A(...) operand(LZ_SHAPE(__VA_ARGS__), (int)sizeof(#__VA_ARGS__))
#define P(...) positive(LZ_SHAPE(__VA_ARGS__))
#define C(v, ...) lz_full(LZ_I64, LZ_SHAPE(__VA_ARGS__), v)
#define Z(...) C(0, __VA_ARGS__)
#define COUNT(...) counted(LZ_SHAPE(__VA_ARGS__))
#define INDICES ((lz_tensor *[4]){0})
#define POOL (&(lz_pool_options){.struct_size = sizeof(lz_pool_options), .kernel_size = {2, 2, 2}})
#define CALL(name, call)                                                                           \
    static lz_tensor *call_##name(void)                                                            \
    {                                                                                              \
        return call;                                                                               \
    }
#include "calls.h"
#undef CALL
static const struct {
    const char *name;
    lz_tensor *(*fn)(void);
} calls[] = {
#define CALL(name, call) {#name, call_##name},
#include "calls.h"
};
enum { NCALLS = sizeof calls / sizeof *calls, MOST = 4096, NSETS = 6 };

/* ---- dtypes and their letters ---- */

static const struct {
    lz_dtype dtype;
    char letter;
} dtypes[] = {{LZ_BOOL, 'b'}, {LZ_I2, '2'},  {LZ_I4, '4'},       {LZ_I8, 'c'},     {LZ_I16, 's'},
              {LZ_I32, 'i'},  {LZ_I64, 'l'}, {LZ_U2, '3'},       {LZ_U4, '5'},     {LZ_U8, 'C'},
              {LZ_U16, 'S'},  {LZ_U32, 'I'}, {LZ_U64, 'L'},      {LZ_F16, 'h'},    {LZ_BF16, 'B'},
              {LZ_F32, 'f'},  {LZ_F64, 'd'}, {LZ_F8E4M3FN, '8'}, {LZ_F8E5M2, '9'}, {LZ_C64, 'F'},
              {LZ_C128, 'D'}};
enum { NDTYPES = sizeof dtypes / sizeof *dtypes };
static char letter(lz_dtype d)
{
    for (int i = 0; i < NDTYPES; i++)
        if (dtypes[i].dtype == d)
            return dtypes[i].letter;
    return '?';
}

/* ---- ways to call ---- */

static const lz_shape shapes[] = {
    {1, {16}},         {2, {4, 4}},          {4, {1, 4, 2, 2}}, {3, {1, 4, 4}}, {3, {2, 2, 4}},
    {2, {2, 8}},       {5, {1, 2, 2, 2, 2}}, {1, {1}},          {0, {0}},       {2, {3, 3}},
    {4, {1, 2, 3, 2}}, {5, {1, 2, 2, 2, 3}}, {2, {4, 3}},       {3, {1, 3, 4}}, {2, {4, 2}}};
static const int numbers[] = {1, 0, 2, -1, 4};
static const double reals[] = {0.5, 1, 2, 0};
static const char *const words[] = {"add", "sum", "mean", NULL, "trunc", "linear", "ij", "a,a->a"};
enum { NSHAPES = sizeof shapes / sizeof *shapes, NNUMBERS = 5, NREALS = 4, NWORDS = 8 };
typedef struct way {
    int shape, number, real, word;
} way;

static void use(const way *w)
{
    S = shapes[w->shape], K = numbers[w->number], REAL = reals[w->real], WORD = words[w->word];
    for (int i = 0; i < 8; i++)
        REALS[i] = REAL;
}

/* ---- values ---- */

/* Value i of the dtype's list number set: 0 has ordinary ones, others a special one at some place.
 */
static double special(lz_dtype d, int i)
{
    static const double floats[] = {NAN, INFINITY, -INFINITY, -0.0, 0, 1, -1, 0.5, -0.5, 1.5, 2};
    enum { N = sizeof floats / sizeof *floats };
    if (i < N)
        return floats[i];
    double most = d == LZ_F16                   ? 65504
                  : d == LZ_F64 || d == LZ_C128 ? DBL_MAX
                  : d == LZ_BF16                ? 0x1.fep127
                  : d == LZ_F8E4M3FN            ? 448
                  : d == LZ_F8E5M2              ? 57344
                                                : FLT_MAX,
           least = d == LZ_F16                   ? 0x1p-24
                   : d == LZ_F64 || d == LZ_C128 ? 0x1p-1074
                   : d == LZ_BF16                ? 0x1p-133
                   : d == LZ_F8E4M3FN            ? 0x1p-9
                   : d == LZ_F8E5M2              ? 0x1p-16
                                                 : 0x1p-149;
    const double ends[] = {most, -most, least, -least, least * 3};
    return ends[(i - N) % 5];
}
enum { NSPECIAL = 16 };

static lz_dtype operand_dtype;
static int operand_set;

static lz_tensor *operand(lz_shape s, int salt)
{
    lz_dtype d = operand_dtype;
    int set = operand_set;
    bool is_int = strchr("24cil35CSILsb", letter(d)) != NULL;
    int64_t n = 1;
    for (int i = 0; i < s.rank; i++)
        n *= s.dims[i];
    if (is_int) {
        int64_t v[128];
        unsigned bits = d == LZ_BOOL               ? 1
                        : d == LZ_I2 || d == LZ_U2 ? 2
                        : d == LZ_I4 || d == LZ_U4 ? 4
                                                   : (unsigned)lz_dtype_size(d) * 8;
        bool sign = strchr("24csil", letter(d)) != NULL;
        int64_t top = sign         ? (int64_t)((UINT64_C(1) << (bits - 1)) - 1)
                      : bits == 64 ? -1
                                   : (int64_t)((UINT64_C(1) << bits) - 1),
                low = sign ? -top - 1 : 0;
        for (int i = 0; i < n; i++) {
            int64_t small = (i * 7 + salt * 3) % 4;
            v[i] = bits < 3 ? small & (bits == 1 || sign ? 1 : 3) : small + 1;
            if (set && (i + salt + set) % 3 == 0)
                v[i] = (set + i / 3) % 4 == 0   ? low
                       : (set + i / 3) % 4 == 1 ? top
                       : (set + i / 3) % 4 == 2 ? 0
                                                : top - 1 + (bits == 1);
        }
        unsigned char bytes[128 * 8];
        for (int i = 0; i < n; i++)
            memcpy(bytes + (size_t)i * lz_dtype_size(d), &v[i], lz_dtype_size(d));
        return lz_from_host_at(d, s, bytes, (size_t)-1, LZ_SITE);
    }
    double v[256];
    bool parts = d == LZ_C64 || d == LZ_C128;
    int m = (int)n * (parts ? 2 : 1);
    for (int i = 0; i < m; i++) {
        v[i] = (double)((i * 7 + salt * 5) % 11) * 0.25 - 1.0;
        if (set && (i + salt) % 2 == 0)
            v[i] = special(d, (set * 5 + i / 2 * 3 + salt * 7) % NSPECIAL);
    }
    return lz_to(lz_from_host_at(parts ? LZ_C128 : LZ_F64, s, v, (size_t)-1, LZ_SITE), d);
}

static lz_tensor *positive(lz_shape s)
{
    return lz_full(operand_dtype, s, 1);
}
static lz_tensor *counted(lz_shape s)
{
    int64_t n = 1;
    for (int i = 0; i < s.rank; i++)
        n *= s.dims[i];
    return lz_reshape(lz_arange(LZ_I64, 0, (double)n, 1), s);
}

/* ---- a call ---- */

static lz_dtype autocast; /* of the call; LZ_DTYPE_NONE: no scope */
static bool derivative;   /* read the gradient of T, too, where there is one */

typedef struct result {
    lz_status status;
    lz_shape shape;
    lz_dtype dtype;
    double v[MOST];
    int n;
    char why[300];
} result;

/* The gradient of T behind the values; functions without one leave them alone. */
static void add_gradient(lz_tensor *loss, result *r)
{
    lz_tensor *g = NULL;
    if (lz_grad(loss, &T, 1, &g) != LZ_OK || !g)
        return;
    int n = (int)lz_numel(g);
    if (r->n + n <= MOST && lz_to_host(lz_to(g, LZ_F64), r->v + r->n, 8 * (size_t)n) == LZ_OK)
        r->n += n;
}

static void run(int i, const char *device, lz_dtype d, int set, const way *w, bool values,
                result *r)
{
    lz_set_device(device);
    lz_scope_begin();
    lz_manual_seed(7);
    use(w);
    operand_dtype = d, operand_set = set;
    T = operand(S, 0), U = operand(S, 1);
    N = lz_full(LZ_I64, S, 0), B = lz_full(LZ_BOOL, S, 1);
    if (autocast != LZ_DTYPE_NONE)
        lz_autocast_begin(autocast);
    lz_tensor *t = calls[i].fn();
    if (autocast != LZ_DTYPE_NONE)
        lz_autocast_end();
    r->status = lz_status_of(t);
    r->n = 0;
    if (r->status == LZ_OK) {
        r->shape = lz_shape_of(t), r->dtype = lz_dtype_of(t);
        if (values && lz_numel(t) <= MOST / 2) {
            if (r->dtype == LZ_C64 || r->dtype == LZ_C128)
                t = lz_view_as_real(t);
            r->n = (int)lz_numel(t);
            r->status = lz_to_host(lz_to(t, LZ_F64), r->v, sizeof r->v);
            if (derivative)
                add_gradient(lz_sum(t), r);
        }
    }
    if (r->status != LZ_OK)
        snprintf(r->why, sizeof r->why, "%s", lz_last_error_text());
    lz_scope_end();
    lz_clear_error();
    (void)lz_mark_step();
    lz_clear_error();
}

static char answer(const result *r)
{
    return r->status == LZ_OK ? letter(r->dtype) : r->status == LZ_EDTYPE ? '-' : '!';
}

/* The first way in which one of the usual dtypes is taken. */
static bool find_way(int i, way *w)
{
    static const lz_dtype usual[] = {LZ_F32, LZ_I64, LZ_BOOL, LZ_C64};
    static result r;
    for (w->word = 0; w->word < NWORDS; w->word++)
        for (w->real = 0; w->real < NREALS; w->real++)
            for (w->number = 0; w->number < NNUMBERS; w->number++)
                for (w->shape = 0; w->shape < NSHAPES; w->shape++)
                    for (int k = 0; k < 4; k++) {
                        run(i, "REF:0", usual[k], 0, w, false, &r);
                        if (r.status == LZ_OK)
                            return true;
                    }
    return false;
}

/* ---- comparison ---- */

/* The same number, NaN or sign of zero; a function of sums may round by its dtype and the size of
 * its terms, others in the last places, of which there are few among the denormals; at the upper
 * end the last place decides between the largest number and infinity. */
static bool near(lz_dtype d, bool sums, double a, double b)
{
    bool wide = d == LZ_F64 || d == LZ_C128;
    double eps = wide ? 0x1p-52 : d == LZ_F16 ? 0x1p-10 : d == LZ_BF16 ? 0x1p-7 : 0x1p-23;
    double least = wide ? 0x1p-1074 : d == LZ_F16 ? 0x1p-24 : d == LZ_BF16 ? 0x1p-133 : 0x1p-149;
    double most = wide ? DBL_MAX : d == LZ_F16 ? 65504 : d == LZ_BF16 ? 0x1.fep127 : FLT_MAX;
    if ((a == b && (sums || signbit(a) == signbit(b))) || (isnan(a) && isnan(b)))
        return true;
    if (isnan(a) || isnan(b))
        return false;
    a = isinf(a) ? copysign(most, a) : a, b = isinf(b) ? copysign(most, b) : b;
    return fabs(a - b) <= 64 * eps * (fabs(a) + (sums ? 16 : 0)) + 8 * least;
}

static const char *differ(const result *a, const result *b, bool sums)
{
    static char text[800];
    if (a->status != b->status) {
        snprintf(text, sizeof text, "%s and %s: %s%s", lz_status_name(a->status),
                 lz_status_name(b->status), a->status ? a->why : "", b->status ? b->why : "");
        return text;
    }
    if (a->status != LZ_OK)
        return NULL;
    if (a->dtype != b->dtype)
        return "another dtype";
    for (int i = 0; i < a->n; i++)
        if (!near(a->dtype, sums, a->v[i], b->v[i])) {
            snprintf(text, sizeof text, "element %d of REF is %.9g and of CPU %.9g", i, a->v[i],
                     b->v[i]);
            return text;
        }
    return NULL;
}

/* ---- the table ---- */

typedef struct row {
    char name[80], answers[NDTYPES + 2];
    way way;
    char kind; /* s: sums, c: sums of complex numbers, m: one of many right answers, - */
} row;
static row rows[1000];
static int nrows;

static void read_table(const char *path)
{
    char line[300], kind[8];
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        row *r = &rows[nrows];
        if (line[0] == '#')
            continue;
        if (sscanf(line, "%79s %d %d %d %d %22s %7s", r->name, &r->way.shape, &r->way.number,
                   &r->way.real, &r->way.word, r->answers, kind) != 7)
            continue;
        r->kind = kind[0];
        nrows += nrows < 999;
    }
    if (f)
        fclose(f);
}

static row *row_of(const char *name)
{
    for (int i = 0; i < nrows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static void write_table(void)
{
    static result r;
    for (int i = 0; i < NCALLS; i++) {
        way w;
        char answers[NDTYPES + 1] = "";
        const row *old = row_of(calls[i].name);
        bool found = find_way(i, &w);
        for (int d = 0; found && d < NDTYPES; d++) {
            run(i, "REF:0", dtypes[d].dtype, 0, &w, false, &r);
            answers[d] = answer(&r);
        }
        if (!found)
            fprintf(stderr, "no way to call %s was found\n", calls[i].name);
        else
            printf("%s %d %d %d %d %s %s\n", calls[i].name, w.shape, w.number, w.real, w.word,
                   answers,
                   !old || old->kind == '-' ? "-"
                   : old->kind == 's'       ? "sums"
                   : old->kind == 'm'       ? "many"
                                            : "complex");
        fflush(stdout);
    }
}

/* Call i with operands of the dtype: what it gives (set 0), and values with special ones among
 * them, of which functions of sums have none: infinities cancel and large numbers overflow by the
 * order. */
static const char *check(int i, const row *w, int d, int set)
{
    static result a, b;
    static char text[100];
    char gives = w->answers[d];
    bool sums = w->kind == 'm' || (w->kind == 's' && strchr("hBfdFD", gives)) ||
                (w->kind == 'c' && d >= NDTYPES - 2);
    int values = sums ? 0 : set;
    run(i, "REF:0", dtypes[d].dtype, values, &w->way, set != 0, &a);
    if (set == 0) {
        snprintf(text, sizeof text, "gives %c, not %c", answer(&a), w->answers[d]);
        return answer(&a) == w->answers[d] ? NULL : text;
    }
    if (a.status != LZ_OK || w->kind == 'm')
        return NULL;
    run(i, "CPU:0", dtypes[d].dtype, values, &w->way, true, &b);
    return differ(&a, &b, sums);
}

/* Automatic mixed precision converts the operands of some functions; those of others stay, and
 * these give the same bits with and without it, whatever the library makes a function of; so do
 * their gradients. */
static const char *check_autocast(int i, const row *w)
{
    static result a, b;
    static char text[200];
    /* these are made of functions that convert */
    static const char *const made_of_these[] = {"lz_scaled_dot_product_attention_at",
                                                "lz_lstm_cell_at", "lz_gru_cell_at"};
    for (int k = 0; k < 3; k++)
        if (strcmp(calls[i].name, made_of_these[k]) == 0)
            return NULL;
    snprintf(text, sizeof text, "%.*s", (int)strlen(calls[i].name) - 3, calls[i].name);
    lz_scope_begin();
    lz_autocast_begin(LZ_BF16);
    lz_tensor *x = lz_zeros(LZ_F32, LZ_SHAPE(1));
    bool same = lz_dtype_of(lz_autocast_operand(text, x)) == LZ_F32;
    lz_autocast_end();
    lz_scope_end();
    if (!same)
        return NULL;
    derivative = true;
    run(i, "REF:0", LZ_F32, 0, &w->way, true, &a);
    autocast = LZ_BF16;
    run(i, "REF:0", LZ_F32, 0, &w->way, true, &b);
    autocast = LZ_DTYPE_NONE;
    derivative = false;
    if (a.status != b.status || a.dtype != b.dtype || a.n != b.n)
        return "another dtype, status or gradient with autocast";
    for (int k = 0; k < a.n; k++)
        if (memcmp(&a.v[k], &b.v[k], sizeof *a.v) != 0) {
            snprintf(text, sizeof text, "element %d is %.9g, with autocast %.9g", k, a.v[k],
                     b.v[k]);
            return text;
        }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 2)
        read_table(argv[2]);
    if (argc > 1 && strcmp(argv[1], "write") == 0) {
        write_table();
        return 0;
    }
    const char *turn = getenv("LZ_TEST_SEED"), *only = argc > 3 ? argv[3] : NULL;
    int seed = (int)(turn ? strtoul(turn, NULL, 10) % 100003 : 0), tried = 0, bad = 0;
    int one_of = argc > 1 ? atoi(argv[1]) : 1;
    if (getenv("LZ_TEST_WHOLE"))
        one_of = 1;
    for (int i = 0; i < NCALLS; i++) {
        if (only && strcmp(only, calls[i].name) != 0)
            continue;
        const row *w = row_of(calls[i].name);
        if (!w) {
            printf("BAD: %s has no line\n", calls[i].name), bad++;
            continue;
        }
        const char *bad_scope = check_autocast(i, w);
        tried++;
        if (bad_scope)
            printf("BAD: %s: %s\n", calls[i].name, bad_scope), bad++;
        for (int d = 0; d < NDTYPES; d++)
            for (int set = 0; set < NSETS; set++) {
                /* what it gives is looked at in each run, values in turn */
                if (set == 0 && one_of >= 50 && !getenv("LZ_TEST_WHOLE"))
                    continue;
                if (set && (i * 7 + d * NSETS + set + seed) % one_of != 0)
                    continue;
                printf("%s of %c, values %d\n", calls[i].name, dtypes[d].letter, set);
                const char *why = check(i, w, d, set);
                tried++;
                if (why)
                    printf("BAD: %s of %s, values %d: %s\n", calls[i].name,
                           lz_dtype_name(dtypes[d].dtype), set, why),
                        bad++;
            }
    }
    printf("%d passed, %d failed\n", tried - bad, bad);
    return bad != 0;
}
