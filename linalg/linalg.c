/* linalg.c - see linalg.h: the instances, and which of them is used. */
#include "linalg/instance.h"
#include "base/host_isa.h"

static const lz_linalg_instance *const instances[][2] = {
    {&lz_linalg_f32_base, &lz_linalg_f64_base},
#ifdef __x86_64__
    {&lz_linalg_f32_avx2, &lz_linalg_f64_avx2},
    {&lz_linalg_f32_avx512, &lz_linalg_f64_avx512},
#endif
};

static const lz_linalg_instance *instance_of(const lz_linalg_task *t)
{
    return instances[lz_host_isa()][t->wide != 0];
}

size_t lz_linalg_scratch(const lz_linalg_task *t)
{
    /* matrices in scratch memory: at most 16 of (largest side + 80) squared complex numbers */
    double side = (double)(t->m > t->n ? t->m : t->n);
    side = (side > (double)t->k ? side : (double)t->k) + 80;
    if (side * side * 16 * 16 + 4e6 > (double)(SIZE_MAX / 4))
        return SIZE_MAX;
    return instances[0][t->wide != 0]->scratch(t);
}

double lz_linalg_flops(const lz_linalg_task *t)
{
    double m = (double)t->m, n = (double)t->n, k = (double)t->k, least = m < n ? m : n,
           most = m < n ? n : m, f = 0;
    switch ((lz_linalg_op)t->op) {
    case LZ_LINALG_CHOLESKY:
        f = n * n * n / 3;
        break;
    case LZ_LINALG_SOLVE:
        f = n * n * k;
        break;
    case LZ_LINALG_LU:
        f = least * least * (most - least / 3);
        break;
    case LZ_LINALG_QR:
    case LZ_LINALG_GEQRF:
        f = 2 * least * least * (most - least / 3) * (t->op == LZ_LINALG_QR ? 2 : 1);
        break;
    case LZ_LINALG_EIGH:
        f = 9 * n * n * n;
        break;
    case LZ_LINALG_SVD:
        f = 14 * least * least * most + 8 * least * least * least;
        break;
    case LZ_LINALG_HESSENBERG:
        f = 10 * n * n * n / 3;
        break;
    case LZ_LINALG_TRIDIAGONAL:
        f = 4 * n * n * n / 3;
        break;
    case LZ_LINALG_PIVOTED:
        f = 2 * least * least * (most - least / 3);
        break;
    case LZ_LINALG_GTSV:
        f = 8 * m * n;
        break;
    case LZ_LINALG_SCHUR:
    case LZ_LINALG_EIG:
        f = 25 * n * n * n;
        break;
    case LZ_LINALG_NOPS:
        break;
    }
    return t->complex_ ? 4 * f : f;
}

static int buffers_of(const lz_linalg_task *t)
{
    static const int n[LZ_LINALG_NOPS] = {2, 3, 4, 3, 3, 3, 4, 3, 5, 5, 8, 3, 2};
    int more = t->op == LZ_LINALG_SCHUR ? t->k != 0
               : t->op == LZ_LINALG_EIG ? (t->k != 0) + (t->left != 0)
                                        : 0;
    return n[t->op] + more;
}

/* Bytes of one matrix of buffer i. */
static size_t bytes_of(const lz_linalg_task *t, int i)
{
    size_t value = (t->wide ? 8 : 4) * (size_t)(t->complex_ ? 2 : 1), real = t->wide ? 8 : 4;
    size_t m = (size_t)t->m, n = (size_t)t->n, k = (size_t)t->k, least = m < n ? m : n;
    switch ((lz_linalg_op)t->op) {
    case LZ_LINALG_CHOLESKY:
        return n * n * value;
    case LZ_LINALG_SOLVE:
        return (i == 1 ? n * n : n * k) * value;
    case LZ_LINALG_LU:
        return i == 1 ? least * 4 : i == 2 ? m * 4 : m * n * value;
    case LZ_LINALG_QR:
        return (i == 0 ? m * k : i == 1 ? k * n : m * n) * value;
    case LZ_LINALG_GEQRF:
        return (i == 1 ? least : m * n) * value;
    case LZ_LINALG_EIGH:
        return i == 1 ? n * real : n * n * value;
    case LZ_LINALG_SVD:
        return i == 0   ? m * (m < k ? m : k) * value
               : i == 1 ? least * real
               : i == 2 ? n * (n < k ? n : k) * value
                        : m * n * value;
    case LZ_LINALG_HESSENBERG:
        return (i == 1 ? n - 1 : n * n) * value;
    case LZ_LINALG_TRIDIAGONAL:
        return i == 1   ? n * real
               : i == 2 ? (n - 1) * real
               : i == 3 ? (n - 1) * value
                        : n * n * value;
    case LZ_LINALG_PIVOTED:
        return i == 1 || i == 4 ? n * 4 : i == 2 ? least * value : m * n * value;
    case LZ_LINALG_GTSV:
        return (i % 4 == 0 ? m * n : m) * value;
    case LZ_LINALG_SCHUR:
        return i == 1 + (k != 0) ? n * 2 * real : n * n * value;
    case LZ_LINALG_EIG:
        return i == 0 ? n * 2 * real : n * n * (i == buffers_of(t) - 1 ? value : 2 * real);
    case LZ_LINALG_NOPS:
        break;
    }
    return 0;
}

void lz_linalg_run(void *const *bufs, const int64_t *task, int64_t begin, int64_t end,
                   void *scratch)
{
    const lz_linalg_task *t = (const lz_linalg_task *)(const void *)task;
    const lz_linalg_instance *x = instance_of(t);
    int n = buffers_of(t);
    for (int64_t b = begin; b < end; b++) {
        void *own[8];
        for (int i = 0; i < n; i++)
            own[i] = (char *)bufs[i] + (size_t)b * bytes_of(t, i);
        x->fn[t->op](t, own, scratch);
    }
}
