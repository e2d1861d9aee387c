/* apply.c - a plan's marks in a function, and as bytes. See auto.h.
 * Threads: pure functions. */
#include "base/vec.h"
#include "ir/attr.h"
#include "ir/func.h"
#include "shard/auto/auto.h"
#include <inttypes.h>
#include <string.h>

/* ---- in a function ---- */

typedef struct applying {
    const lz_func *f;
    lz_func *to;
    lz_val *map, *opnd;
    const lz_sharding **param, **value, **result;
    lz_arena arena;
} applying;

static lz_status take(const lz_func *f, const lz_auto_mark *m, applying *a)
{
    uint32_t n = m->of == LZ_AUTO_PARAM   ? f->nparam
                 : m->of == LZ_AUTO_VALUE ? f->ninst
                                          : f->nresult;
    if (m->number >= n)
        return LZ_FAIL(LZ_ECORRUPT, "a plan of shardings marks number %u of %u", m->number, n);
    lz_val v = m->of == LZ_AUTO_RESULT ? f->results[m->number] : m->number;
    const lz_inst *in = &f->insts[v];
    if (in->sig->nresult != 1 || lz_val_type(f, v)->shape.rank != m->at->rank)
        return LZ_FAIL(LZ_ECORRUPT, "a plan of shardings marks %%%u with one of rank %d", v,
                       m->at->rank);
    *(m->of == LZ_AUTO_PARAM   ? &a->param[m->number]
      : m->of == LZ_AUTO_VALUE ? &a->value[m->number]
                               : &a->result[m->number]) = m->at;
    return LZ_OK;
}

static lz_val mark(applying *a, lz_val v, const lz_sharding *s)
{
    const lz_attr_sharding attr = {.kind = LZ_ATTR_sharding, .sharding = lz_sharding_text(s)};
    if (!attr.sharding)
        return lz_func_failed(a->to);
    return lz_build(a->to, LZ_OP_SHARDING_CONSTRAINT, (const lz_attr *)&attr, &v, 1);
}

static lz_status build(applying *a)
{
    const lz_func *f = a->f;
    for (lz_val v = 0; v < f->nparam; v++) {
        a->map[v] = lz_build_param(a->to, lz_val_type(f, v));
        if (a->map[v] != LZ_NOVAL)
            a->to->insts[a->map[v]].site = f->insts[v].site;
    }
    for (lz_val v = 0; v < f->ninst; v++) {
        a->to->now = lz_func_origin(f, v);
        if (v >= f->nparam)
            a->map[v] = lz_build_copy_inst(a->to, &f->insts[v], a->map, a->opnd);
        const lz_sharding *s = v < f->nparam ? a->param[v] : a->value[v];
        if (s)
            a->map[v] = mark(a, a->map[v], s);
    }
    for (uint32_t k = 0; k < f->nresult; k++) {
        lz_val v = a->map[f->results[k]];
        a->to->now = lz_func_origin(f, f->results[k]);
        a->map[f->ninst + k] = a->result[k] ? mark(a, v, a->result[k]) : v;
    }
    LZ_TRY(a->to->status);
    return lz_func_set_results(a->to, a->map + f->ninst, f->nresult);
}

static lz_status apply(applying *a, const lz_auto_mark *marks, uint32_t n)
{
    const lz_func *f = a->f;
    size_t all = (size_t)f->ninst + f->nresult + 1;
    a->to = lz_func_new(f->name);
    a->map = lz_arena_alloc(&a->arena, all * sizeof *a->map);
    a->opnd = lz_arena_alloc(&a->arena, ((size_t)lz_func_widest(f) + 1) * sizeof *a->opnd);
    a->param = lz_arena_alloc(&a->arena, all * sizeof *a->param);
    a->value = lz_arena_alloc(&a->arena, all * sizeof *a->value);
    a->result = lz_arena_alloc(&a->arena, all * sizeof *a->result);
    if (!a->to || !a->map || !a->opnd || !a->param || !a->value || !a->result)
        return LZ_FAIL(LZ_EMEM, "no memory to mark %s", f->name);
    for (uint32_t i = 0; i < n; i++)
        LZ_TRY(take(f, &marks[i], a));
    return build(a);
}

lz_status lz_auto_apply(const lz_func *f, const lz_auto_mark *marks, uint32_t n, lz_func **out)
{
    applying a = {.f = f};
    lz_status s = apply(&a, marks, n);
    lz_arena_free(&a.arena);
    *out = a.to;
    if (s != LZ_OK) {
        lz_func_free(a.to);
        *out = NULL;
    }
    return s;
}

/* ---- as bytes ---- */

void lz_auto_marks_write(lz_buf *b, const lz_auto_mark *marks, uint32_t n)
{
    lz_buf_u32(b, n);
    for (uint32_t i = 0; i < n; i++) {
        const char *text = lz_sharding_text(marks[i].at);
        b->failed |= !text;
        lz_buf_u8(b, (uint8_t)marks[i].of);
        lz_buf_u32(b, marks[i].number);
        lz_buf_lstr(b, text ? text : "");
    }
}

static lz_status read_one(lz_rd *r, const lz_mesh *mesh, lz_auto_mark *out)
{
    uint8_t of = lz_rd_u8(r);
    uint32_t number = lz_rd_u32(r), n = lz_rd_count(r, 1);
    const char *text = lz_rd_bytes(r, n);
    if (r->failed || !text || of > LZ_AUTO_RESULT)
        return LZ_FAIL(LZ_ECORRUPT, "a stored plan of shardings is damaged");
    const lz_sharding *s = lz_sharding_read(text, n, NULL, NULL);
    if (!s)
        return lz_error_get()->status == LZ_EMEM
                   ? LZ_EMEM
                   : LZ_FAIL(LZ_ECORRUPT, "a stored plan of shardings is damaged");
    if (!lz_mesh_same_factors(s->mesh, mesh))
        return LZ_FAIL(LZ_ECORRUPT, "a stored plan of shardings is of another mesh");
    *out = (lz_auto_mark){(lz_auto_mark_of)of, number, s};
    return LZ_OK;
}

lz_status lz_auto_marks_read(lz_rd *r, const lz_mesh *mesh, lz_arena *a, lz_auto_mark **out,
                             uint32_t *n)
{
    *n = lz_rd_count(r, 9);
    if (r->failed)
        return LZ_FAIL(LZ_ECORRUPT, "a stored plan of shardings is damaged");
    *out = lz_arena_alloc(a, ((size_t)*n + 1) * sizeof **out);
    if (!*out)
        return LZ_FAIL(LZ_EMEM, "no memory for a plan of shardings");
    for (uint32_t i = 0; i < *n; i++)
        LZ_TRY(read_one(r, mesh, &(*out)[i]));
    return LZ_OK;
}
