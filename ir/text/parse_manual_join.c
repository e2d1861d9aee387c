/* parse_manual_join.c - GSPMD's manual regions. In its texts single values go into a region of
 * shard shapes and out of it, and nothing says where the region ends: it is what depends on values
 * that went in, up to those that go out. Each connected piece becomes one manual computation.
 * Values that depend on no argument (constants, the partition's number) are made anew inside, since
 * there they are the device's own; other values of around are operands, whole on each device.
 * Threads: thread-compatible. */
#include "ir/attr.h"
#include "ir/func.h"
#include "ir/text/parse.h"
#include <string.h>

typedef enum part { GLOBAL, LEAF, ENTERS, LEAVES, INSIDE } part;

typedef struct joiner {
    const lz_func *f;
    lz_func *to;
    uint8_t *part;   /* of each instruction: a `part` */
    bool *need;      /* LEAF: something global uses it */
    uint32_t *piece; /* ENTERS, LEAVES, INSIDE: union-find */
    lz_val *map;     /* into `to`; behind it room for the operands of one instruction */
    lz_val *inner;   /* into the body that is being made; the same room */
    bool *inner_need;
    uint64_t work;
} joiner;

static lz_status refuse(const char *why)
{
    return LZ_FAIL(LZ_EUNSUPPORTED, "manual region: %s", why);
}

/* ---- which instruction is what ---- */

static part part_of(const joiner *j, uint32_t i)
{
    const lz_inst *in = &j->f->insts[i];
    bool leaf = in->sig->op != LZ_OP_PARAMETER, inside = false;
    if (in->sig->op == LZ_OP_MANUAL_COMPUTATION) {
        const lz_func *body = LZ_ATTR(manual, in->sig->attr)->body;
        if (in->sig->nopnd == 1 && body->ninst == 1)
            return ENTERS;
        if (in->sig->nopnd == 1 && body->ninst == 2 &&
            body->insts[1].sig->op == LZ_OP_PROPAGATION_BARRIER)
            return LEAVES;
    }
    for (uint32_t k = 0; k < in->sig->nopnd; k++) {
        part of = (part)j->part[in->opnd[k]];
        leaf &= of == LEAF;
        inside |= of == INSIDE || of == ENTERS;
    }
    return inside ? INSIDE : leaf ? LEAF : GLOBAL;
}

static uint32_t root(const joiner *j, uint32_t i)
{
    while (j->piece[i] != i)
        i = j->piece[i] = j->piece[j->piece[i]];
    return i;
}

static bool is_of_piece(const joiner *j, uint32_t i, uint32_t piece)
{
    return j->part[i] >= ENTERS && root(j, i) == piece;
}

static lz_status classify(joiner *j)
{
    for (uint32_t i = 0; i < j->f->ninst; i++) {
        const lz_inst *in = &j->f->insts[i];
        j->part[i] = (uint8_t)part_of(j, i);
        j->piece[i] = i;
        for (uint32_t k = 0; k < in->sig->nopnd; k++) {
            uint32_t o = in->opnd[k];
            bool inside = j->part[o] == INSIDE || j->part[o] == ENTERS;
            if (inside && j->part[i] == ENTERS)
                return refuse("a value goes into it twice");
            if (inside)
                j->piece[root(j, i)] = root(j, o);
        }
        if (j->part[i] == LEAVES && j->part[in->opnd[0]] == GLOBAL)
            return refuse("a value leaves that never went in");
    }
    for (uint32_t k = 0; k < j->f->nresult; k++)
        if (j->part[j->f->results[k]] == INSIDE || j->part[j->f->results[k]] == ENTERS)
            return refuse("a value of it is returned");
    return LZ_OK;
}

/* Which leaves something global uses. */
static void find_needs(joiner *j)
{
    for (uint32_t k = 0; k < j->f->nresult; k++)
        j->need[j->f->results[k]] = true;
    for (uint32_t i = j->f->ninst; i-- > 0;) {
        const lz_inst *in = &j->f->insts[i];
        bool uses =
            j->part[i] == GLOBAL || j->part[i] == ENTERS || (j->part[i] == LEAF && j->need[i]);
        for (uint32_t k = 0; k < in->sig->nopnd && uses; k++)
            j->need[in->opnd[k]] = true;
    }
}

/* ---- one piece ---- */

typedef struct piece {
    uint32_t root;
    int64_t axes; /* -1: not known yet */
    const lz_mesh *mesh;
    LZ_VEC(lz_val) opnd, leaves; /* of the old function */
    LZ_VEC(const lz_sharding *) in, out;
    lz_func *body;
} piece;

static void piece_free(piece *x)
{
    lz_vec_free(&x->opnd);
    lz_vec_free(&x->leaves);
    lz_vec_free(&x->in);
    lz_vec_free(&x->out);
    lz_func_free(x->body);
}

/* A border's sharding, which must be of the piece's mesh and axes. */
static lz_status border(piece *x, const lz_inst *in, bool enters, const lz_sharding **out)
{
    const lz_attr_manual *a = LZ_ATTR(manual, in->sig->attr);
    *out = lz_sharding_parse(enters ? a->in_shardings : a->out_shardings);
    if (!*out)
        return lz_error_get()->status;
    if (x->axes >= 0 && (x->axes != a->manual_axes || x->mesh != (*out)->mesh))
        return refuse("its borders differ in their manual axes");
    x->axes = a->manual_axes;
    x->mesh = (*out)->mesh;
    return LZ_OK;
}

static lz_status add_param(joiner *j, piece *x, lz_val outer, lz_val v, const lz_type *type,
                           const lz_sharding *at)
{
    j->inner[v] = lz_build_param(x->body, type);
    if (j->inner[v] == LZ_NOVAL)
        return lz_error_get()->status;
    LZ_TRY(lz_vec_push(&x->opnd, outer));
    return lz_vec_push(&x->in, at);
}

/* Parameters: values that go in, then those that are used from around. */
static lz_status take_in(joiner *j, piece *x)
{
    const lz_func *f = j->f;
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_sharding *at;
        if (!is_of_piece(j, i, x->root) || j->part[i] == INSIDE)
            continue;
        LZ_TRY(border(x, &f->insts[i], j->part[i] == ENTERS, &at));
        if (j->part[i] == ENTERS) {
            LZ_TRY(add_param(j, x, f->insts[i].opnd[0], i, f->insts[i].sig->result[0], at));
        } else {
            LZ_TRY(lz_vec_push(&x->leaves, i));
            LZ_TRY(lz_vec_push(&x->out, at));
        }
    }
    for (uint32_t i = 0; i < f->ninst; i++)
        for (uint32_t k = 0; k < f->insts[i].sig->nopnd; k++) {
            lz_val o = f->insts[i].opnd[k];
            lz_sharding any;
            if (!is_of_piece(j, i, x->root) || j->part[i] != INSIDE || j->inner[o] != LZ_NOVAL ||
                (j->part[o] != GLOBAL && j->part[o] != LEAVES))
                continue;
            lz_sharding_init(&any, x->mesh, lz_val_type(f, o)->shape.rank, true);
            const lz_sharding *at = lz_sharding_get(&any);
            LZ_TRY(at ? add_param(j, x, o, o, lz_val_type(f, o), at) : lz_error_get()->status);
        }
    return LZ_OK;
}

static lz_status fill_body(joiner *j, piece *x)
{
    const lz_func *f = j->f;
    LZ_VEC(lz_val) results = {0};
    memset(j->inner_need, 0, f->ninst);
    for (uint32_t i = f->ninst; i-- > 0;) {
        bool uses = j->inner_need[i] ||
                    (is_of_piece(j, i, x->root) && (j->part[i] == INSIDE || j->part[i] == LEAVES));
        for (uint32_t k = 0; k < f->insts[i].sig->nopnd && uses; k++)
            j->inner_need[f->insts[i].opnd[k]] |= j->part[f->insts[i].opnd[k]] == LEAF;
    }
    for (uint32_t i = 0; i < f->ninst; i++) {
        bool own = is_of_piece(j, i, x->root) && j->part[i] == INSIDE;
        if (!own && !j->inner_need[i])
            continue;
        j->inner[i] = lz_build_copy_inst(x->body, &f->insts[i], j->inner, j->inner + f->ninst);
        if (j->inner[i] == LZ_NOVAL)
            return lz_error_get()->status;
    }
    lz_status s = LZ_OK;
    for (uint32_t k = 0; k < x->leaves.len && s == LZ_OK; k++)
        s = lz_vec_push(&results, j->inner[f->insts[x->leaves.data[k]].opnd[0]]);
    if (s == LZ_OK)
        s = lz_func_set_results(x->body, results.data, results.len);
    lz_vec_free(&results);
    return s;
}

static lz_status build_piece(joiner *j, piece *x)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_manual);
    a.as_manual.in_shardings = lz_shardings_text(x->in.data, x->in.len);
    a.as_manual.out_shardings = lz_shardings_text(x->out.data, x->out.len);
    a.as_manual.manual_axes = x->axes;
    a.as_manual.body = lz_region_intern(x->body);
    if (!a.as_manual.in_shardings || !a.as_manual.out_shardings || !a.as_manual.body)
        return lz_error_get()->status;
    for (uint32_t k = 0; k < x->opnd.len; k++)
        x->opnd.data[k] = j->map[x->opnd.data[k]];
    lz_val v = lz_build(j->to, LZ_OP_MANUAL_COMPUTATION, &a.head, x->opnd.data, x->opnd.len);
    for (uint32_t k = 0; k < x->leaves.len && v != LZ_NOVAL; k++)
        j->map[x->leaves.data[k]] = lz_build_result(j->to, v, k);
    return v == LZ_NOVAL || j->to->status != LZ_OK ? lz_error_get()->status : LZ_OK;
}

/* *ready: its operands are there, and it has been built. */
static lz_status try_piece(joiner *j, uint32_t at, bool *ready)
{
    enum { MOST = 1 << 28 };
    piece x = {.root = at, .axes = -1, .body = lz_func_new("manual")};
    lz_status s = x.body ? LZ_OK : LZ_EMEM;
    *ready = true;
    j->work += j->f->ninst;
    if (s == LZ_OK && j->work > MOST)
        s = refuse("too many of them");
    memset(j->inner, 0xff, j->f->ninst * sizeof *j->inner); /* LZ_NOVAL */
    if (s == LZ_OK)
        s = take_in(j, &x);
    for (uint32_t k = 0; k < x.opnd.len; k++)
        *ready &= j->map[x.opnd.data[k]] != LZ_NOVAL;
    if (s == LZ_OK && *ready)
        s = fill_body(j, &x);
    if (s == LZ_OK && *ready)
        s = build_piece(j, &x);
    piece_free(&x);
    return s;
}

/* ---- the function ---- */

static lz_status try_inst(joiner *j, uint32_t i, bool *ready)
{
    const lz_inst *in = &j->f->insts[i];
    if (j->part[i] == LEAVES)
        return try_piece(j, root(j, i), ready);
    *ready = true;
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        *ready &= j->map[in->opnd[k]] != LZ_NOVAL;
    if (!*ready)
        return LZ_OK;
    j->map[i] = in->sig->op == LZ_OP_PARAMETER
                    ? lz_build_param(j->to, in->sig->result[0])
                    : lz_build_copy_inst(j->to, in, j->map, j->map + j->f->ninst);
    return j->map[i] == LZ_NOVAL ? lz_error_get()->status : LZ_OK;
}

/* In the old order, but for what uses a piece that must wait for one of its operands. */
static lz_status rebuild(joiner *j)
{
    const lz_func *f = j->f;
    LZ_VEC(lz_val) results = {0};
    bool waiting = true, went_on = true, ready;
    while (waiting && went_on) {
        waiting = went_on = false;
        for (uint32_t i = 0; i < f->ninst; i++) {
            if (j->map[i] != LZ_NOVAL || j->part[i] == INSIDE || j->part[i] == ENTERS ||
                (j->part[i] == LEAF && !j->need[i]))
                continue;
            LZ_TRY(try_inst(j, i, &ready));
            waiting |= !ready;
            went_on |= ready;
        }
    }
    if (waiting)
        return refuse("it waits for a value that it gives");
    lz_status s = LZ_OK;
    for (uint32_t k = 0; k < f->nresult && s == LZ_OK; k++)
        s = lz_vec_push(&results, j->map[f->results[k]]);
    if (s == LZ_OK)
        s = lz_func_set_results(j->to, results.data, results.len);
    lz_vec_free(&results);
    return s;
}

lz_status lz_manual_join(lz_func **f)
{
    uint32_t n = (*f)->ninst, wide = lz_func_widest(*f);
    joiner j = {.f = *f,
                .to = lz_func_new((*f)->name),
                .part = lz_calloc((size_t)n + 1, 1),
                .need = lz_calloc((size_t)n + 1, 1),
                .inner_need = lz_calloc((size_t)n + 1, 1),
                .piece = lz_calloc((size_t)n + 1, sizeof *j.piece),
                .map = lz_calloc((size_t)n + wide, sizeof *j.map),
                .inner = lz_calloc((size_t)n + wide, sizeof *j.inner)};
    lz_status s = j.to && j.part && j.need && j.inner_need && j.piece && j.map && j.inner
                      ? LZ_OK
                      : LZ_FAIL(LZ_EMEM, "no memory for manual regions");
    if (s == LZ_OK) {
        memset(j.map, 0xff, n * sizeof *j.map);
        s = classify(&j);
    }
    if (s == LZ_OK) {
        find_needs(&j);
        s = rebuild(&j);
    }
    lz_free(j.part);
    lz_free(j.need);
    lz_free(j.inner_need);
    lz_free(j.piece);
    lz_free(j.map);
    lz_free(j.inner);
    lz_func_free(s == LZ_OK ? *f : j.to);
    *f = s == LZ_OK ? j.to : *f;
    return s;
}
