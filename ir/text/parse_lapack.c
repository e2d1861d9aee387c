/* parse_lapack.c - custom calls of decompositions as JAX writes them: LAPACK's routines for CPUs in
 * three generations, and XLA's own for TPUs. What a call means is its name, its options and its
 * operands:
 *
 *     lapack_strsm_ffi(a, b)      options are letters in mhlo.backend_config (or
 *                                 backend_config): {side = 76 : ui8, ..}
 *     lapack_sgetrf(a)            the same, with results for work space
 *     blas_strsm(1, 0, .., a, b)  options and sizes are constants before the arrays;
 *                                 results for work space too
 *     Eigh(a)                     options are text: "lower,sort,iterations,tolerance"
 *
 * A layout says how an array lies in memory and changes no value, so it is ignored. Work space
 * is 0.
 * Source: LAPACK Users' Guide; jax/_src/lax/linalg.py. Threads: thread-compatible. */
#include "ir/build_matrix.h"
#include "ir/text/parse_chlo.h"
#include <string.h>

enum { MAX_OPTIONS = 4, MAX_ARRAYS = 4, MAX_OUT = 6 };

/* A letter: in older calls letters[constant number `place`]. */
typedef struct option {
    /* letters NULL: a truth value, as the letter T or F; none: a number from 0 on */
    const char *key, *letters;
    int place;       /* -1: not a constant */
    char by_default; /* 0: must be there */
} option;

/* What only some have: a factor of the arrays, which BLAS's have; constants before the arrays that
 * say more than sizes; options as text; as its last array the matrix; of real matrices eigenvalues
 * in two results, the real and the imaginary parts; a square matrix. */
enum { FACTOR = 1, MODES = 2, TEXT = 4, LAST = 8, PARTS = 16, SQUARE = 32 };

typedef struct lapack_call lapack_call;
typedef struct routine {
    const char *name, *alias; /* alias: of complex numbers */
    int arrays, constants;    /* operands; constants before them in older calls */
    int results;              /* without what older calls have beside them */
    lz_status (*fn)(lapack_call *c);
    int has;
    option options[MAX_OPTIONS];
} routine;

struct lapack_call {
    lz_parser *p;
    lz_func *f;
    lz_stmt *t;
    lz_slice target;
    const routine *r;
    lz_bm b; /* of the first array */
    lz_val x[MAX_ARRAYS];
    int64_t lead[8]; /* the constants; as many as r->constants in an older call, else none */
    bool older;
    char option[MAX_OPTIONS]; /* of a number the letter #, once it is there */
    int64_t number[MAX_OPTIONS];
    int results; /* r->results, or one less of complex numbers */
    lz_val out[MAX_OUT];
};

static lz_status wrong(const lapack_call *c, const char *what)
{
    return lz_lex_fail(&c->p->c, c->t->at, LZ_EPARSE, "custom_call: @" LZ_SLICE_FMT ": %s",
                       LZ_SLICE_ARG(c->target), what);
}

/* ---- what each is ---- */

static lz_status getrf(lapack_call *c)
{
    lz_bm_getrf(&c->b, c->x[0], c->out);
    return LZ_OK;
}

/* XLA's: rows are counted from 0, and their order is a result too. */
static lz_status lu(lapack_call *c)
{
    lz_build_all_results(c->f, lz_build(c->f, LZ_OP_LU, NULL, c->x, 1), 3, c->out);
    return LZ_OK;
}

static lz_status geqrf(lapack_call *c)
{
    lz_build_all_results(c->f, lz_build(c->f, LZ_OP_GEQRF, NULL, c->x, 1), 2, c->out);
    return LZ_OK;
}

/* taus[.., k] of reflections of at least k rows */
static lz_status check_taus(const lapack_call *c, int64_t most)
{
    const lz_type *t = lz_val_type(c->f, c->x[1]);
    bool fits = t->dtype == c->b.d && t->shape.rank == c->b.batch.rank + 1;
    for (int d = 0; fits && d < c->b.batch.rank; d++)
        fits = t->shape.dims[d] == c->b.batch.dims[d];
    fits = fits && t->shape.dims[t->shape.rank - 1] <= most;
    return fits ? LZ_OK : wrong(c, "the scalar factors do not fit the reflections");
}

static lz_status orgqr(lapack_call *c)
{
    if (c->b.n > c->b.m)
        return wrong(c, "a has more columns than rows");
    LZ_TRY(check_taus(c, c->b.n));
    c->out[0] = lz_bm_orgqr(&c->b, c->x[0], c->x[1]);
    return LZ_OK;
}

static lz_status ormqr(lapack_call *c)
{
    const lz_type *t = lz_val_type(c->f, c->x[2]);
    bool left = c->option[0] == 'T';
    LZ_TRY(check_taus(c, c->b.m < c->b.n ? c->b.m : c->b.n));
    bool fits = t->dtype == c->b.d && t->shape.rank == c->b.batch.rank + 2;
    for (int d = 0; fits && d < c->b.batch.rank; d++)
        fits = t->shape.dims[d] == c->b.batch.dims[d];
    if (!fits || t->shape.dims[t->shape.rank - (left ? 2 : 1)] != c->b.m)
        return wrong(c, "the matrix that is multiplied does not fit the reflections");
    c->out[0] = lz_bm_ormqr(&c->b, c->x[0], c->x[1], c->x[2], left, c->option[1] == 'T');
    return LZ_OK;
}

static lz_status potrf(lapack_call *c)
{
    lz_bm_potrf(&c->b, c->x[0], c->option[0] == 'L', c->out);
    return LZ_OK;
}

static lz_status syevd(lapack_call *c)
{
    lz_bm_syevd(&c->b, c->x[0], c->option[0] == 'L', c->out);
    c->out[2] = lz_bm_no_info(&c->b);
    return LZ_OK;
}

/* XLA's: "lower,sort,iterations,tolerance"; these are always sorted, and as exact as they can
 * be. */
static lz_status eigh(lapack_call *c)
{
    const lz_parse_entry *e = lz_stmt_find(c->t, "backend_config");
    lz_slice s = {0};
    lz_lexer at = c->p->c;
    if (e) {
        at.p = e->value;
        LZ_TRY(lz_lex_string(&at, &s));
    }
    int commas = 0;
    for (size_t i = 0; i < s.n; i++)
        commas += s.s[i] == ',';
    if (s.n < 4 || (s.s[0] != '0' && s.s[0] != '1') || s.s[1] != ',' || commas != 3)
        return wrong(c, "backend_config is not \"lower,sort,iterations,tolerance\"");
    lz_bm_syevd(&c->b, c->x[0], s.s[0] == '1', c->out);
    return LZ_OK;
}

/* Results: what is left of a (here a itself), s, u, v^H, info. */
static lz_status gesdd(lapack_call *c)
{
    char mode = c->option[0];
    lz_val usv[3] = {LZ_NOVAL, LZ_NOVAL, LZ_NOVAL};
    if (c->older)
        mode = !c->lead[1] ? 'N' : c->lead[0] ? 'A' : 'S';
    lz_bm_gesdd(&c->b, c->x[0], mode == 'A', usv);
    c->out[0] = c->x[0];
    c->out[1] = usv[1];
    c->out[2] = usv[0];
    c->out[3] = usv[2];
    for (uint32_t k = 2; k < 4 && mode == 'N' && k < c->t->result_types.len; k++)
        c->out[k] = lz_build_splat(c->f, c->t->result_types.data[k], 0);
    c->out[4] = lz_bm_no_info(&c->b);
    return LZ_OK;
}

/* alpha: after the arrays, or the last constant; then it has been read as an array. */
static lz_status trsm(lapack_call *c)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_triangular_solve);
    a.as_triangular_solve.left_side = c->option[0] == 'L';
    a.as_triangular_solve.lower = c->option[1] == 'L';
    a.as_triangular_solve.transpose_a = c->option[2] == 'N'   ? LZ_NO_TRANSPOSE
                                        : c->option[2] == 'T' ? LZ_TRANSPOSE
                                                              : LZ_ADJOINT;
    a.as_triangular_solve.unit_diagonal = c->option[3] == 'U';
    lz_val b = c->x[1], alpha = c->x[2];
    if (alpha != LZ_NOVAL) {
        const lz_ints none = {0};
        const lz_type *t = lz_val_type(c->f, alpha);
        if (t->shape.rank != 0 || t->dtype != c->b.d)
            return wrong(c, "alpha is no number of a's dtype");
        alpha = lz_build_broadcast(c->f, alpha, &none, &lz_val_type(c->f, b)->shape);
        b = lz_build_ew2(c->f, LZ_OP_MULTIPLY, alpha, b);
    }
    c->out[0] = lz_build(c->f, LZ_OP_TRIANGULAR_SOLVE, &a.head, (lz_val[]){c->x[0], b}, 2);
    return LZ_OK;
}

/* Results: what is reduced with the reflections, their factors, info. */
static lz_status gehrd(lapack_call *c)
{
    int64_t n = c->b.n, low = c->number[0], high = c->number[1];
    if (low < 1 || high > n || low > high + (n == 0))
        return wrong(c, "low and high are no rows of a");
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_hessenberg);
    at.as_hessenberg.leading = low - 1;
    at.as_hessenberg.trailing = n - high;
    lz_bm_forms(&c->b, LZ_OP_HESSENBERG, &at, c->x, c->out);
    c->out[2] = lz_bm_no_info(&c->b);
    return LZ_OK;
}

static lz_status sytrd(lapack_call *c)
{
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_eigh);
    at.as_eigh.lower = c->option[0] == 'L';
    lz_bm_forms(&c->b, LZ_OP_TRIDIAGONAL, &at, c->x, c->out);
    c->out[4] = lz_bm_no_info(&c->b);
    return LZ_OK;
}

static lz_status geqp3(lapack_call *c)
{
    lz_bm_forms(&c->b, LZ_OP_GEQP3, NULL, c->x, c->out);
    return LZ_OK;
}

/* dl, d, du, b; results: what is left of them, info. */
static lz_status gtsv(lapack_call *c)
{
    lz_val v[4] = {LZ_NOVAL, LZ_NOVAL, LZ_NOVAL, LZ_NOVAL};
    const lz_val opnd[] = {c->x[3], c->x[0], c->x[1], c->x[2]};
    lz_bm_forms(&c->b, LZ_OP_GTSV, NULL, opnd, v);
    for (int k = 0; k < 4; k++)
        c->out[k] = v[(k + 1) % 4];
    c->out[4] = lz_bm_zero_info(&c->b, v[2]);
    return LZ_OK;
}

/* w, or its parts of a real matrix; how many results that is. */
static int put_values(lapack_call *c, lz_val w, lz_val *out)
{
    bool real = !lz_dtype_is_complex(c->b.d);
    out[0] = real ? lz_build_ew1(c->f, LZ_OP_REAL, w) : w;
    if (real)
        out[1] = lz_build_ew1(c->f, LZ_OP_IMAG, w);
    return real ? 2 : 1;
}

/* 0, of the type that result k is said to have: what was not asked for. */
static lz_val not_asked(const lapack_call *c, int k)
{
    return (uint32_t)k < c->t->result_types.len
               ? lz_build_splat(c->f, c->t->result_types.data[k], 0)
               : LZ_NOVAL;
}

/* Results: values, left and right vectors, info. */
static lz_status geev(lapack_call *c)
{
    lz_val v[3] = {LZ_NOVAL, LZ_NOVAL, LZ_NOVAL};
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_eig);
    at.as_eig.left = c->option[0] == 'V';
    at.as_eig.right = c->option[1] == 'V';
    lz_bm_forms(&c->b, LZ_OP_EIG, &at, c->x, v);
    int k = put_values(c, v[0], c->out);
    c->out[k] = at.as_eig.left ? v[1] : not_asked(c, k);
    c->out[k + 1] = at.as_eig.right ? v[1 + at.as_eig.left] : not_asked(c, k + 1);
    c->out[k + 2] = lz_bm_nan_info(&c->b, v[0], 1);
    return LZ_OK;
}

/* Results: t, z, values, how many were sorted to the front, info. */
static lz_status gees(lapack_call *c)
{
    lz_val v[3] = {LZ_NOVAL, LZ_NOVAL, LZ_NOVAL};
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_schur);
    at.as_schur.vectors = c->option[0] == 'V';
    lz_bm_forms(&c->b, LZ_OP_SCHUR, &at, c->x, v);
    lz_val w = v[1 + at.as_schur.vectors];
    c->out[0] = v[0];
    c->out[1] = at.as_schur.vectors ? v[1] : not_asked(c, 1);
    int k = 2 + put_values(c, w, c->out + 2);
    c->out[k] = lz_bm_no_info(&c->b);
    c->out[k + 1] = lz_bm_nan_info(&c->b, w, 1);
    return LZ_OK;
}

static const routine lapack[] = {
    {"getrf", NULL, 1, 3, 3, getrf, 0, {{0}}},
    {"geqrf", NULL, 1, 4, 2, geqrf, 0, {{0}}},
    {"orgqr", "ungqr", 2, 5, 1, orgqr, 0, {{0}}},
    {"ormqr", "unmqr", 3, 0, 1, ormqr, 0, {{"left", NULL, -1, 0}, {"transpose", NULL, -1, 0}}},
    {"potrf", NULL, 1, 3, 2, potrf, SQUARE, {{"uplo", "UL", 0, 0}}},
    {"syevd", "heevd", 1, 3, 3, syevd, SQUARE, {{"uplo", "UL", 0, 0}, {"mode", "NV", -1, 'V'}}},
    {"gesdd", NULL, 1, 6, 5, gesdd, MODES, {{"mode", "ASN", -1, 'A'}}},
    {"gesvd", NULL, 1, 0, 5, gesdd, MODES, {{"mode", "ASN", -1, 'A'}}},
    {"trsm",
     NULL,
     2,
     7,
     1,
     trsm,
     FACTOR,
     {{"side", "RL", 0, 0}, {"uplo", "UL", 1, 0}, {"trans_x", "NTC", 2, 0}, {"diag", "NU", 3, 0}}},
    {"gehrd", NULL, 1, 0, 3, gehrd, SQUARE, {{"low", "", -1, 0}, {"high", "", -1, 0}}},
    {"sytrd", "hetrd", 1, 0, 5, sytrd, SQUARE, {{"uplo", "UL", -1, 0}}},
    {"geqp3", NULL, 2, 0, 3, geqp3, 0, {{0}}},
    {"gtsv", NULL, 4, 0, 5, gtsv, LAST, {{0}}},
    {"geev",
     NULL,
     1,
     0,
     5,
     geev,
     PARTS | SQUARE,
     {{"compute_left", "NV", -1, 0}, {"compute_right", "NV", -1, 0}}},
    {"gees", NULL, 1, 0, 6, gees, PARTS | SQUARE, {{"mode", "NV", -1, 0}, {"sort", "N", -1, 'N'}}},
};
static const routine xla[] = {
    {"LuDecomposition", NULL, 1, 0, 3, lu, 0, {{0}}},
    {"Qr", NULL, 1, 0, 2, geqrf, 0, {{0}}},
    {"ProductOfElementaryHouseholderReflectors", NULL, 2, 0, 1, orgqr, 0, {{0}}},
    {"Eigh", NULL, 1, 0, 2, eigh, TEXT | SQUARE, {{0}}},
};

/* ---- names ---- */

static bool starts(lz_slice *s, const char *with)
{
    size_t n = strlen(with);
    if (s->n < n || memcmp(s->s, with, n) != 0)
        return false;
    *s = (lz_slice){s->s + n, s->n - n};
    return true;
}

/* [lapack_|blas_][sdcz]<name>[_ffi] */
static const routine *find(lz_slice target, lz_dtype *d)
{
    static const char letters[] = "sdcz";
    static const lz_dtype dtypes[] = {LZ_F32, LZ_F64, LZ_C64, LZ_C128};
    *d = LZ_DTYPE_NONE;
    for (size_t i = 0; i < sizeof xla / sizeof *xla; i++)
        if (lz_slice_is(target, xla[i].name))
            return &xla[i];
    bool blas = starts(&target, "blas_");
    if ((!blas && !starts(&target, "lapack_")) || target.n < 2)
        return NULL;
    const char *letter = memchr(letters, target.s[0], sizeof dtypes / sizeof *dtypes);
    if (!letter)
        return NULL;
    *d = dtypes[letter - letters];
    target = (lz_slice){target.s + 1, target.n - 1};
    if (target.n > 4 && memcmp(target.s + target.n - 4, "_ffi", 4) == 0)
        target.n -= 4;
    for (size_t i = 0; i < sizeof lapack / sizeof *lapack; i++) {
        const routine *r = &lapack[i];
        const char *name = r->alias && lz_dtype_is_complex(*d) ? r->alias : r->name;
        if (lz_slice_is(target, name) && (!blas || (r->has & FACTOR)))
            return r;
    }
    return NULL;
}

bool lz_parse_is_lapack(lz_slice target)
{
    lz_dtype d;
    return find(target, &d) != NULL;
}

/* ---- attributes ---- */

/* Those of no meaning for values. */
static bool is_known(lz_slice key)
{
    static const char *const names[] = {"call_target_name",
                                        "api_version",
                                        "has_side_effect",
                                        "backend_config",
                                        "mhlo.backend_config",
                                        "operand_layouts",
                                        "result_layouts",
                                        "output_operand_aliases",
                                        "mhlo.frontend_attributes",
                                        "called_computations",
                                        "sdy.sharding_rule",
                                        "xla_shape",
                                        "mhlo.sharding"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (lz_slice_is(key, names[i]))
            return true;
    return false;
}

static lz_status read_option(lapack_call *c, const lz_parse_entry *e)
{
    const option *o = NULL;
    int k = 0;
    for (; k < MAX_OPTIONS && c->r->options[k].key && !o; k++)
        if (lz_slice_is(e->key, c->r->options[k].key))
            o = &c->r->options[k];
    k--;
    if (!o || !e->value)
        return lz_lex_fail(&c->p->c, c->t->at, LZ_EUNSUPPORTED,
                           "custom_call: @" LZ_SLICE_FMT " has no option " LZ_SLICE_FMT,
                           LZ_SLICE_ARG(c->target), LZ_SLICE_ARG(e->key));
    lz_lexer at = c->p->c;
    int64_t v = 0;
    at.p = e->value;
    if (!o->letters) {
        bool yes;
        LZ_TRY(lz_lex_bool(&at, &yes));
        c->option[k] = yes ? 'T' : 'F';
        return LZ_OK;
    }
    LZ_TRY(lz_lex_i64(&at, &v));
    if (!*o->letters && v >= 0) {
        c->option[k] = '#';
        c->number[k] = v;
        return LZ_OK;
    }
    if (v <= 0 || v > 127 || !strchr(o->letters, (char)v))
        return lz_lex_fail(&c->p->c, e->value, LZ_EUNSUPPORTED,
                           "custom_call: @" LZ_SLICE_FMT ": %s = %lld is none of the letters %s",
                           LZ_SLICE_ARG(c->target), o->key, (long long)v, o->letters);
    c->option[k] = (char)v;
    return LZ_OK;
}

/* {uplo = 76 : ui8}, or "" */
static lz_status read_config(lapack_call *c, const char *key)
{
    const lz_parse_entry *e = lz_stmt_find(c->t, key);
    lz_lexer at = c->p->c;
    lz_slice s = {0};
    if (!e || (c->r->has & TEXT))
        return LZ_OK;
    at.p = e->value;
    if (!lz_lex_sees(&at, "{")) {
        LZ_TRY(lz_lex_string(&at, &s));
        return s.n == 0 ? LZ_OK
                        : lz_lex_fail(&c->p->c, e->value, LZ_EUNSUPPORTED,
                                      "custom_call: @" LZ_SLICE_FMT ": %s is \"" LZ_SLICE_FMT
                                      "\", and must be empty",
                                      LZ_SLICE_ARG(c->target), key, LZ_SLICE_ARG(s));
    }
    uint32_t first = c->t->dict.len;
    LZ_TRY(lz_parse_inner_attributes(c->p, c->t, key));
    for (uint32_t i = first; i < c->t->dict.len; i++)
        LZ_TRY(read_option(c, &c->t->dict.data[i]));
    return LZ_OK;
}

static lz_status read_attributes(lapack_call *c)
{
    for (uint32_t i = 0; i < c->t->dict.len; i++)
        if (!is_known(c->t->dict.data[i].key))
            return lz_lex_fail(&c->p->c, c->t->dict.data[i].key.s, LZ_EUNSUPPORTED,
                               "custom_call: @" LZ_SLICE_FMT " has no attribute " LZ_SLICE_FMT,
                               LZ_SLICE_ARG(c->target), LZ_SLICE_ARG(c->t->dict.data[i].key));
    const lz_parse_entry *e = lz_stmt_find(c->t, "has_side_effect");
    bool effect = false;
    if (e) {
        lz_lexer at = c->p->c;
        at.p = e->value;
        LZ_TRY(lz_lex_bool(&at, &effect));
    }
    if (effect)
        return lz_lex_fail(&c->p->c, e->value, LZ_EUNSUPPORTED,
                           "custom_call: @" LZ_SLICE_FMT " has no side effect",
                           LZ_SLICE_ARG(c->target));
    LZ_TRY(read_config(c, "backend_config"));
    return read_config(c, "mhlo.backend_config");
}

/* ---- operands ---- */

/* Constant k before the arrays. */
static lz_status read_constant(lapack_call *c, int k)
{
    const lz_inst *in = &c->f->insts[c->t->opnd.data[k]];
    if (lz_inst_op(in) != LZ_OP_CONSTANT || !lz_dtype_is_int(in->lit->type->dtype) ||
        in->lit->type->nelem != 1)
        return lz_lex_fail(&c->p->c, c->t->at, LZ_EUNSUPPORTED,
                           "custom_call: @" LZ_SLICE_FMT ": operand %d is no constant",
                           LZ_SLICE_ARG(c->target), k);
    c->lead[k] = lz_elem_get_i64(in->lit->type->dtype, in->lit->data, 0);
    return LZ_OK;
}

/* Of older calls: what says more than a size. */
static lz_status read_constants(lapack_call *c)
{
    if (c->r->has & MODES) {
        LZ_TRY(read_constant(c, 0));
        LZ_TRY(read_constant(c, 1));
    }
    for (int k = 0; k < MAX_OPTIONS && c->r->options[k].key; k++) {
        const option *o = &c->r->options[k];
        if (o->place < 0)
            continue;
        LZ_TRY(read_constant(c, o->place));
        int64_t v = c->lead[o->place];
        if (v < 0 || v >= (int64_t)strlen(o->letters))
            return lz_lex_fail(&c->p->c, c->t->at, LZ_EUNSUPPORTED,
                               "custom_call: @" LZ_SLICE_FMT ": %s is %lld",
                               LZ_SLICE_ARG(c->target), o->key, (long long)v);
        c->option[k] = o->letters[v];
    }
    return LZ_OK;
}

static lz_status read_operands(lapack_call *c)
{
    const routine *r = c->r;
    int n = (int)c->t->opnd.len, alpha = r->has & FACTOR;
    c->older = r->constants && n == r->constants + alpha + r->arrays;
    if (!c->older && n != r->arrays && !(alpha && n == r->arrays + 1))
        return lz_lex_fail(&c->p->c, c->t->at, LZ_EPARSE,
                           "custom_call: @" LZ_SLICE_FMT ": takes %d arrays, and has %d operands",
                           LZ_SLICE_ARG(c->target), r->arrays, n);
    int first = c->older ? r->constants + alpha : 0;
    for (int k = 0; k < MAX_ARRAYS; k++)
        c->x[k] = first + k < n ? c->t->opnd.data[first + k] : LZ_NOVAL;
    if (c->older && alpha)
        c->x[2] = c->t->opnd.data[r->constants];
    return c->older ? read_constants(c) : LZ_OK;
}

static lz_status check_first(lapack_call *c, lz_dtype d)
{
    lz_val a = c->x[c->r->has & LAST ? c->r->arrays - 1 : 0];
    const lz_type *t = lz_val_type(c->f, a);
    if (t->shape.rank < 2)
        return wrong(c, "a is no matrix");
    if (d != LZ_DTYPE_NONE && d != t->dtype)
        return lz_lex_fail(&c->p->c, c->t->at, LZ_EPARSE,
                           "custom_call: @" LZ_SLICE_FMT " is of %s, not of %s",
                           LZ_SLICE_ARG(c->target), lz_dtype_name(d), lz_dtype_name(t->dtype));
    c->b = lz_bm_of(c->f, a);
    if (c->r->has & SQUARE && c->b.m != c->b.n)
        return wrong(c, "a is not square");
    c->results = c->r->results - ((c->r->has & PARTS) && lz_dtype_is_complex(t->dtype));
    return LZ_OK;
}

/* ---- results ---- */

/* Those of the routine, then of older calls info and work space. */
static lz_status push_results(lapack_call *c)
{
    lz_stmt *t = c->t;
    t->result_form = t->result_types.form;
    for (uint32_t k = 0; k < t->result_types.len || k < (uint32_t)c->results; k++) {
        lz_val v = k < (uint32_t)c->results ? c->out[k] : LZ_NOVAL;
        if (k >= (uint32_t)c->results) {
            const lz_type *type = t->result_types.data[k];
            if (type->shape.rank > 1 && type->dtype != LZ_I32)
                return wrong(c, "has too many results");
            v = lz_build_splat(c->f, type, 0);
        }
        if (v == LZ_NOVAL)
            return lz_lex_wrap(&c->p->c, t->at);
        LZ_TRY(lz_vec_push(&t->results, v));
    }
    return LZ_OK;
}

lz_status lz_parse_lapack(lz_parser *p, lz_scope *s, lz_stmt *t, lz_slice target)
{
    lz_dtype d;
    lapack_call c = {.p = p, .f = s->f, .t = t, .target = target, .r = find(target, &d)};
    for (int k = 0; k < MAX_OUT; k++)
        c.out[k] = LZ_NOVAL;
    LZ_TRY(read_operands(&c));
    LZ_TRY(check_first(&c, d));
    LZ_TRY(read_attributes(&c));
    for (int k = 0; k < MAX_OPTIONS && c.r->options[k].key; k++) {
        const option *o = &c.r->options[k];
        if (!c.option[k])
            c.option[k] = o->by_default;
        if (!c.option[k])
            return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                               "custom_call: @" LZ_SLICE_FMT ": the option %s is missing",
                               LZ_SLICE_ARG(target), o->key);
    }
    LZ_TRY(c.r->fn(&c));
    return push_results(&c);
}
