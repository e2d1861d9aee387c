/* kernels_sort_radix.c - LSD radix sort by the bytes of the key: one pass makes all histograms,
 * then one scatter pass per byte. Bytes that are equal in the whole row are skipped. See
 * kernels_sort.h.
 * Threads: belongs to one thread. */
#include "codegen/loops/kernels_sort.h"

static unsigned digits(const ksort *t)
{
    return t->col_size[SORT_KEY];
}

uint64_t kern_sort_counters(const ksort *t)
{
    return t->keyed ? digits(t) * SORT_DIGITS * 8 : 0;
}

int64_t kern_sort_radix_from(const ksort *t)
{
    return 64 + 96 * (int64_t)digits(t);
}

/* Address of the counter of a digit in the table at `counts`. */
static Val counter(kern *c, Val counts, Val key, Val shift)
{
    em *e = c->e;
    Val digit = AND(LSHR(key, shift), em_ci(LLVMTypeOf(key), SORT_DIGITS - 1));
    if (em_bits(e, LLVMTypeOf(key)) < 64)
        digit = LLVMBuildZExt(e->b, digit, e->i64, "");
    return em_at(e, counts, digit, 8);
}

/* How often every byte value occurs at every place. */
static void count(kern *c, const ksort *t)
{
    em *e = c->e;
    em_loop l;
    Ty zeros = em_vec(e->i64, 8);
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, (int64_t)kern_sort_counters(t)), em_c64(e, 64), 0,
                  NULL);
    em_store(e, LLVMConstNull(zeros), em_at(e, t->counts, l.i, 1), 8);
    em_loop_end(e, &l, NULL);
    em_loop_begin(e, &l, em_c64(e, 0), t->n, em_c64(e, 1), 0, NULL);
    Val key = kern_sort_load(c, t, t->set, SORT_KEY, l.i);
    for (unsigned d = 0; d < digits(t); d++) {
        Val table = em_at(e, t->counts, em_c64(e, (int64_t)d * SORT_DIGITS), 8);
        Val p = counter(c, table, key, em_ci(LLVMTypeOf(key), 8 * (int64_t)d));
        em_store(e, ADD(em_load(e, e->i64, p, 8), em_c64(e, 1)), p, 8);
    }
    em_loop_end(e, &l, NULL);
}

/* Counts become where the elements of a digit begin. */
static void starts(kern *c, Val table)
{
    em *e = c->e;
    em_loop l;
    Val zero = em_c64(e, 0);
    em_loop_begin(e, &l, zero, em_c64(e, SORT_DIGITS), em_c64(e, 1), 1, &zero);
    Val p = em_at(e, table, l.i, 8), n = em_load(e, e->i64, p, 8);
    em_store(e, l.phi[0], p, 8);
    Val next = ADD(l.phi[0], n);
    em_loop_end(e, &l, &next);
}

static void distribute(kern *c, const ksort *t, Val table, Val shift, Val src, Val dst)
{
    em *e = c->e;
    em_loop l;
    em_loop_begin(e, &l, em_c64(e, 0), t->n, em_c64(e, 1), 0, NULL);
    Val key = kern_sort_load(c, t, src, SORT_KEY, l.i);
    Val p = counter(c, table, key, shift), to = em_load(e, e->i64, p, 8);
    em_store(e, ADD(to, em_c64(e, 1)), p, 8);
    kern_sort_store(c, t, dst, SORT_KEY, to, key);
    for (uint32_t k = 1; k < t->ncol; k++)
        kern_sort_store(c, t, dst, k, to, kern_sort_load(c, t, src, k, l.i));
    em_loop_end(e, &l, NULL);
}

Val kern_sort_radix(kern *c, const ksort *t)
{
    em *e = c->e;
    Ty k = kern_sort_type(e, t, SORT_KEY);
    count(c, t);
    em_loop l;
    Val sets[2] = {t->set, t->set2};
    em_loop_begin(e, &l, em_c64(e, 0), em_c64(e, digits(t)), em_c64(e, 1), 2, sets);
    Val src = l.phi[0], dst = l.phi[1];
    Val table = em_at(e, t->counts, l.i, SORT_DIGITS * 8), shift = SHL(l.i, em_c64(e, 3));
    if (em_bits(e, k) < 64)
        shift = LLVMBuildTrunc(e->b, shift, k, "");
    Val first = kern_sort_load(c, t, src, SORT_KEY, em_c64(e, 0));
    Val all = em_load(e, e->i64, counter(c, table, first, shift), 8);
    em_if differ;
    em_if_begin(e, &differ, ICMP(SLT, all, t->n));
    starts(c, table);
    distribute(c, t, table, shift, src, dst);
    Val next[2];
    em_if_end(e, &differ, 2, (Val[]){dst, src}, (Val[]){src, dst}, next);
    em_loop_end(e, &l, next);
    return l.phi[0];
}
