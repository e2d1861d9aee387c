/* t_exchange.c - collectives among several processes, without processes: what each would send is
 * handed over in memory, and all results are those of one process, bit for bit: every kind, several
 * operands and dtypes, groups in any order, members spread anyhow. */
#include "backends/distributed/exchange.h"
#include "ir/attr.h"
#include "ir/func.h"
#include "suite.h"
#include "support/rnd.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, OPERANDS = 3, KINDS = 7, ROUNDS = 40 };

typedef struct sample {
    const lz_sig *sig;
    uint32_t n, nproc, nop;
    uint32_t proc[MOST], from[MOST], self[MOST], zero[MOST], start[2], all_from[MOST];
    char *in[MOST][OPERANDS], *want[MOST][OPERANDS], *got[MOST][OPERANDS];
} sample;

static void fill(lz_rnd *r, const lz_type *t, char *p)
{
    for (int64_t i = 0; i < t->nelem; i++) {
        uint32_t v = (uint32_t)lz_rnd_u64(r);
        static const float special[] = {0.f, -0.f, 1e-40f, 3e38f, -3e38f};
        float f = v % 11 == 0 ? special[v / 11 % 5] : ((float)(v % 100003) - 5e4f) / 7;
        if (t->dtype == LZ_F32)
            memcpy(p + 4 * i, &f, 4);
        else if (t->dtype == LZ_F64)
            memcpy(p + 8 * i, &(double){f * 1.0000001}, 8);
        else if (t->dtype == LZ_BF16)
            memcpy(p + 2 * i, (char *)&f + 2, 2);
        else
            memcpy(p + (size_t)i * lz_dtype_size(t->dtype), &v, lz_dtype_size(t->dtype));
    }
}

static const char *groups_text(uint32_t n)
{
    static char text[128];
    int at = snprintf(text, sizeof text, "[[");
    for (uint32_t i = 0; i < n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%u", i ? ", " : "", i);
    snprintf(text + at, sizeof text - (size_t)at, "]]");
    return lz_string_get(text, strlen(text));
}

/* A signature of the kind: three dimensions, the cut one divisible. */
static const lz_sig *make_sig(lz_rnd *r, int kind, uint32_t n, uint32_t nop)
{
    static const lz_dtype dtypes[] = {LZ_F32, LZ_F64, LZ_BF16, LZ_I32, LZ_U8};
    static const lz_op ops[KINDS] = {
        LZ_OP_ALL_REDUCE, LZ_OP_ALL_REDUCE,         LZ_OP_REDUCE_SCATTER,      LZ_OP_ALL_GATHER,
        LZ_OP_ALL_TO_ALL, LZ_OP_COLLECTIVE_PERMUTE, LZ_OP_COLLECTIVE_BROADCAST};
    lz_dtype d = dtypes[lz_rnd_u64(r) % 5];
    const lz_type *t[OPERANDS];
    lz_attr_any a;
    int cut = (int)(lz_rnd_u64(r) % 3), join = (int)(lz_rnd_u64(r) % 3);
    for (uint32_t k = 0; k < nop; k++) {
        lz_shape s = {.rank = 3};
        for (int i = 0; i < 3; i++)
            s.dims[i] = (int64_t)(1 + lz_rnd_u64(r) % (kind == 0 ? 40 : 5));
        s.dims[cut] *= n;
        if (lz_rnd_u64(r) % 13 == 0)
            s.dims[(cut + 1) % 3] = 0;
        t[k] = lz_type_get(d, &s);
    }
    lz_attr_init(&a, lz_op_get(ops[kind])->attr);
    const lz_func *f = lz_region_binary(kind == 1 ? LZ_OP_MAXIMUM : LZ_OP_ADD, d);
    const char *g = groups_text(n);
    switch (ops[kind]) {
    case LZ_OP_ALL_REDUCE:
        a.as_all_reduce.replica_groups = g;
        a.as_all_reduce.computation = f;
        break;
    case LZ_OP_REDUCE_SCATTER:
        a.as_reduce_scatter.replica_groups = g;
        a.as_reduce_scatter.participants = n;
        a.as_reduce_scatter.scatter_dimension = cut;
        a.as_reduce_scatter.computation = f;
        break;
    case LZ_OP_ALL_GATHER:
        a.as_all_gather.replica_groups = g;
        a.as_all_gather.participants = n;
        a.as_all_gather.all_gather_dim = join;
        break;
    case LZ_OP_ALL_TO_ALL:
        a.as_all_to_all.replica_groups = g;
        a.as_all_to_all.split_count = n;
        a.as_all_to_all.split_dimension = cut;
        a.as_all_to_all.concat_dimension = join;
        break;
    case LZ_OP_COLLECTIVE_PERMUTE:
        a.as_collective_permute.source_target_pairs = lz_string_get("[[0, 1]]", 8);
        break;
    default:
        a.as_collective_broadcast.replica_groups = g;
    }
    const lz_sig *sig = lz_sig_get(ops[kind], &a.head, t, nop);
    ck_assert_msg(sig, "%s", lz_error_get()->message);
    return sig;
}

static void make(sample *s, lz_rnd *r, int kind)
{
    memset(s, 0, sizeof *s);
    bool lists = kind <= 3;
    s->n = 2 + (uint32_t)(lz_rnd_u64(r) % (MOST - 1));
    s->nproc = 2 + (uint32_t)(lz_rnd_u64(r) % (s->n - 1));
    s->nop = lists ? 1 + (uint32_t)(lz_rnd_u64(r) % OPERANDS) : 1;
    s->sig = make_sig(r, kind, s->n, s->nop);
    s->start[1] = s->n;
    for (uint32_t i = 0; i < s->n; i++) { /* each process has one at least */
        s->proc[i] = i < s->nproc ? i : (uint32_t)(lz_rnd_u64(r) % s->nproc);
        s->self[i] = i;
        s->from[i] =
            kind == 5 ? (uint32_t)(lz_rnd_u64(r) % 4 ? (i + 1) % s->n : LZ_NO_PARTITION) : 0;
        for (uint32_t k = 0; k < s->nop; k++) {
            s->in[i][k] = malloc(s->sig->opnd[k]->nbytes + 1);
            s->want[i][k] = calloc(1, s->sig->result[k]->nbytes + 1);
            s->got[i][k] = calloc(1, s->sig->result[k]->nbytes + 1);
            fill(r, s->sig->opnd[k], s->in[i][k]);
        }
    }
}

static void bufs_of(sample *s, char *result[MOST][OPERANDS], bool alias,
                    void *bufs[MOST][2 * OPERANDS], void *const *at[MOST])
{
    for (uint32_t i = 0; i < s->n; i++) {
        for (uint32_t k = 0; k < s->nop; k++) {
            bufs[i][k] = result[i][k];
            bufs[i][s->nop + k] = alias ? result[i][k] : s->in[i][k];
        }
        at[i] = bufs[i];
    }
}

static void in_one(sample *s)
{
    void *bufs[MOST][2 * OPERANDS];
    void *const *at[MOST];
    bufs_of(s, s->want, false, bufs, at);
    lz_step_collective c = {.sig = s->sig,
                            .who = {.n = s->n,
                                    .ngroup = 1,
                                    .largest = s->n,
                                    .member = s->self,
                                    .start = s->start,
                                    .group = s->zero,
                                    .place = s->self,
                                    .from = s->from}};
    ck_assert_int_eq(lz_collective_run(&c, at, 0, lz_collective_units(&c)), LZ_OK);
}

/* One round of all processes: messages are packed, or taken where they are, then handed over. */
static void round_of(lz_exchange *x, uint32_t nproc, int round)
{
    void *message[MOST][MOST] = {{NULL}};
    for (uint32_t p = 0; p < nproc; p++)
        for (uint32_t q = 0; q < nproc; q++) {
            size_t n = lz_exchange_sends(&x[p], round, q);
            ck_assert_uint_eq(n, lz_exchange_receives(&x[q], round, p));
            message[p][q] = malloc(n + 1);
            const void *whole = n ? lz_exchange_whole(&x[p], round, q) : NULL;
            if (n)
                lz_exchange_pack(&x[p], round, q, message[p][q]);
            if (whole)
                ck_assert(memcmp(whole, message[p][q], n) == 0);
        }
    for (uint32_t q = 0; q < nproc; q++) {
        const void *came[MOST];
        for (uint32_t p = 0; p < nproc; p++)
            came[p] = message[p][q];
        ck_assert_int_eq(lz_exchange_finish(&x[q], round, came), LZ_OK);
    }
    for (uint32_t p = 0; p < nproc; p++)
        for (uint32_t q = 0; q < nproc; q++)
            free(message[p][q]);
}

/* The operand's memory becomes the result's where `alias`. */
static void in_several(sample *s, bool alias)
{
    void *bufs[MOST][2 * OPERANDS];
    void *const *at[MOST];
    lz_exchange x[MOST];
    for (uint32_t i = 0; i < s->n && alias; i++)
        for (uint32_t k = 0; k < s->nop; k++)
            memcpy(s->got[i][k], s->in[i][k], s->sig->opnd[k]->nbytes);
    bufs_of(s, s->got, alias, bufs, at);
    for (uint32_t p = 0; p < s->nproc; p++) {
        x[p] = (lz_exchange){.sig = s->sig,
                             .n = s->n,
                             .nproc = s->nproc,
                             .self = p,
                             .proc = s->proc,
                             .from = s->from,
                             .bufs = at};
        ck_assert_int_eq(lz_exchange_begin(&x[p]), LZ_OK);
    }
    for (int round = 0; round <= x[0].sliced; round++)
        round_of(x, s->nproc, round);
    for (uint32_t p = 0; p < s->nproc; p++)
        lz_exchange_end(&x[p]);
}

START_TEST(bits)
{
    lz_rnd r = {1000 + (uint64_t)_i};
    int sliced = 0;
    for (int i = 0; i < ROUNDS; i++) {
        sample s;
        make(&s, &r, _i);
        in_one(&s);
        in_several(&s, s.sig->op == LZ_OP_ALL_REDUCE && i % 2);
        for (uint32_t q = 0; q < s.n; q++)
            for (uint32_t k = 0; k < s.nop; k++) {
                ck_assert_msg(memcmp(s.got[q][k], s.want[q][k], s.sig->result[k]->nbytes) == 0,
                              "%s, round %d, member %u, result %u", lz_op_get(s.sig->op)->text, i,
                              q, k);
                sliced += s.sig->opnd[k]->nbytes >= 16384;
                free(s.in[q][k]);
                free(s.want[q][k]);
                free(s.got[q][k]);
            }
    }
    ck_assert(_i != 0 || sliced);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("exchange");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, bits, 0, KINDS);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
