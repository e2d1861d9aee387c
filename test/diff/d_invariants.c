/* d_invariants.c - runs that leave launches out because some arguments stay the same
 * (lower/plan/plan_invariant.h) against whole runs, bit for bit: with random choices of what stays,
 * other values of everything else, and rubbish where the temporaries of the run before were. */
#include "lower/plan/plan_exec.h"
#include "suite.h"
#include "support/diff.h"
#include "support/rnd.h"
#include <string.h>

enum { MAX_IO = 256 };

/* A program of the slow executor and the memory of its runs. */
typedef struct machine {
    lz_plan_exec g;
    const lz_plan *p;
    void **state, *temp, *kept;
    lz_invariants *keep;
} machine;

static void machine_end(machine *m)
{
    lz_invariants_free(m->keep);
    lz_free(m->state);
    lz_free(m->temp);
    lz_free(m->kept);
    lz_plan_exec_end(&m->g);
}

static lz_status machine_make(machine *m, const lz_plan *p, const bool *stable)
{
    m->p = p;
    LZ_TRY(lz_plan_exec_begin(&m->g, p));
    LZ_TRY(lz_plan_exec_make(&m->g, &lz_loop_ops, NULL));
    LZ_TRY(lz_invariants_find(&m->g, stable, &m->keep));
    m->state = lz_alloc(m->g.nptr * sizeof *m->state);
    m->temp = lz_alloc(p->temp_bytes + 64);
    m->kept = lz_alloc((m->keep ? m->keep->nbytes : 0) + 64);
    if (!m->state || !m->temp || !m->kept)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    lz_plan_exec_state(&m->g, m->state, 0);
    return LZ_OK;
}

static void *aligned(void *p)
{
    return (void *)LZ_ALIGN_UP((uintptr_t)p, 64);
}

static lz_status run(machine *m, lz_literal *const *args, lz_literal **got, bool keep, bool filled)
{
    lz_plan_exec_kept kept = {m->keep, aligned(m->kept), 1, filled};
    void **io = lz_plan_exec_io(&m->g, m->state);
    memset(m->temp, 0xa5, m->p->temp_bytes + 64);
    for (uint32_t i = 0; i < m->p->nin; i++)
        io[i] = args[i]->data;
    for (uint32_t k = 0; k < m->p->nout; k++) {
        int32_t a = m->p->out_alias[k];
        if (!(got[k] = lz_literal_new(m->p->out_type[k])))
            return LZ_FAIL(LZ_EMEM, "out of memory");
        io[m->p->nin + k] = got[k]->data;
        if (a >= 0 && got[k]->nbytes)
            memcpy(got[k]->data, args[a]->data, got[k]->nbytes);
    }
    return lz_plan_exec_run(&m->g, m->state, aligned(m->temp), keep ? &kept : NULL, NULL);
}

static void drop(lz_literal **l, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        lz_literal_release(l[i]);
        l[i] = NULL;
    }
}

/* The same elements, each one place further: other values of the same kind, so that indices stay
 * indices. */
static lz_literal *turned(const lz_literal *l)
{
    lz_literal *t = lz_literal_new(l->type);
    size_t each = lz_dtype_size(l->type->dtype);
    if (t && l->nbytes) {
        memcpy(t->data, (const char *)l->data + each, l->nbytes - each);
        memcpy((char *)t->data + l->nbytes - each, l->data, each);
    }
    return t;
}

/* Fills with one set of arguments, then runs with another one that shares the stable ones. */
static lz_status compare(const lz_func *f, machine *m, lz_literal *const *args,
                         lz_literal *const *others, lz_diff_result *r, bool *ok)
{
    lz_literal *first[MAX_IO] = {0}, *whole[MAX_IO] = {0}, *rest[MAX_IO] = {0};
    lz_status s = run(m, others, whole, false, false);
    if (s == LZ_OK)
        s = run(m, args, first, true, false);
    if (s == LZ_OK)
        s = run(m, others, rest, true, true);
    *ok = s == LZ_OK && lz_diff_same_bits(f, whole, rest, "launches left out:", r);
    if (*ok) { /* and back to a run of everything */
        drop(rest, m->p->nout);
        s = run(m, args, rest, false, false);
        *ok = s == LZ_OK && lz_diff_same_bits(f, first, rest, "all launches again:", r);
    }
    drop(first, m->p->nout);
    drop(whole, m->p->nout);
    drop(rest, m->p->nout);
    return s;
}

static lz_status with_stable(const lz_func *f, const lz_plan *p, lz_literal *const *args,
                             const bool *stable, lz_diff_result *r, bool *ok)
{
    machine m = {0};
    lz_literal *others[MAX_IO] = {0};
    lz_status s = machine_make(&m, p, stable);
    for (uint32_t i = 0; i < p->nin && s == LZ_OK; i++) {
        others[i] = stable[i] ? args[i] : turned(args[i]);
        s = others[i] ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
    }
    if (s == LZ_OK && m.keep)
        s = compare(f, &m, args, others, r, ok);
    for (uint32_t i = 0; i < p->nin; i++)
        if (!stable[i])
            lz_literal_release(others[i]);
    machine_end(&m);
    return s;
}

static bool by_keeping(const lz_func *f, lz_literal *const *args, const bool *donate,
                       lz_diff_result *r)
{
    enum { CHOICES = 3 };
    bool stable[MAX_IO], ok = true;
    lz_plan *p = NULL;
    lz_rnd rnd = {lz_func_hash(f).lo};
    lz_status s = lz_lower(f, &(lz_lower_options){.donate = donate, .b2b = LZ_B2B_PROFITABLE}, &p);
    for (int c = 0; c < CHOICES && s == LZ_OK && ok; c++) {
        for (uint32_t i = 0; i < f->nparam; i++)
            stable[i] = lz_rnd_chance(&rnd, 70);
        s = with_stable(f, p, args, stable, r, &ok);
    }
    lz_plan_free(p);
    if (s != LZ_OK)
        return lz_diff_failed("keeping", r);
    return ok && (lz_ref_run(f, args, r->got) == LZ_OK || lz_diff_failed("reference", r));
}

int main(int argc, char **argv)
{
    static const lz_diff_options o = {.way = by_keeping,
                                      .name = "keep",
                                      .case_stride = 2,
                                      .seeds = 14,
                                      .quick_seeds = 7,
                                      .whole_seeds = 150,
                                      .nets = 3,
                                      .quick_nets = 2,
                                      .whole_nets = 8,
                                      .stride = 61,
                                      .quick_stride = 131,
                                      .whole_stride = 1,
                                      .one_thread = true};
    return lz_diff_main(&o, argc, argv);
}
