/* f_dlpack.c - a DLPack tensor whose fields are anything. DLPack's promise is kept: the memory that
 * shape, strides and offset reach is there, and ends there. What is taken has the elements of that
 * memory; the deleter is called once, whatever becomes of it. */
#include "fuzz/arrays.h"
#include <lazuli/dlpack.h>
#include <lazuli/lazuli.h>
#include <string.h>

typedef struct input {
    const uint8_t *p;
    size_t n;
} input;

static uint64_t take(input *in, size_t nbytes)
{
    uint64_t v = 0;
    for (size_t i = 0; i < nbytes; i++)
        if (in->n) {
            v |= (uint64_t)*in->p++ << 8 * i;
            in->n--;
        }
    return v;
}

/* Mostly small, of either sign; 128 and above: eight bytes of anything. */
static int64_t number(input *in)
{
    int64_t v = (int64_t)take(in, 1);
    return v >= 128 ? (int64_t)take(in, 8) : v >= 96 ? 96 - v : v % 12;
}

enum { RANK = 10, ROOM = 1 << 16 };
typedef struct lent {
    DLManagedTensorVersioned versioned;
    DLManagedTensor legacy;
    int64_t shape[RANK], strides[RANK];
    char *memory;
    int deleted;
} lent;

static void delete_versioned(DLManagedTensorVersioned *m)
{
    ((lent *)m->manager_ctx)->deleted++;
}

static void delete_legacy(DLManagedTensor *m)
{
    ((lent *)m->manager_ctx)->deleted++;
}

/* Elements from the first to the one after the last that is reached, lowest: the first, in elements
 * from `data`. False: more than there is room for. */
static bool reach(const DLTensor *t, int64_t *lowest, int64_t *span)
{
    __int128 lo = 0, hi = 0, rows = 1;
    for (int i = t->ndim - 1; i >= 0; i--) {
        __int128 stride = t->strides ? t->strides[i] : rows;
        if (t->shape[i] == 0) {
            *lowest = *span = 0;
            return true;
        }
        __int128 last = (t->shape[i] - 1) * stride;
        *(last < 0 ? &lo : &hi) += last;
        rows *= t->shape[i];
        if (t->shape[i] < 0 || rows > ROOM || hi - lo > ROOM)
            return false;
    }
    *lowest = (int64_t)lo;
    *span = (int64_t)(hi - lo) + 1;
    return true;
}

static bool negative(const DLTensor *t)
{
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] < 0)
            return true;
    return false;
}

static void compare(const DLTensor *t, const char *first, lz_tensor *got, size_t esize)
{
    int64_t n = lz_numel(got), at[RANK] = {0};
    char *host = malloc((size_t)n * esize + 1);
    must(host && lz_to_host(got, host, (size_t)n * esize) == LZ_OK);
    for (int64_t i = 0; i < n; i++) {
        int64_t offset = 0, rows = 1;
        for (int d = t->ndim - 1; d >= 0; rows *= t->shape[d--])
            offset += at[d] ? at[d] * (t->strides ? t->strides[d] : rows) : 0;
        must(memcmp(host + (size_t)i * esize, first + offset * (int64_t)esize, esize) == 0);
        for (int d = t->ndim - 1; d >= 0 && ++at[d] == t->shape[d]; d--)
            at[d] = 0;
    }
    free(host);
}

static DLTensor describe(input *in, lent *l)
{
    static const DLDataType common[] = {{kDLFloat, 32, 1},
                                        {kDLInt, 64, 1},
                                        {kDLBool, 8, 1},
                                        {kDLBfloat, 16, 1},
                                        {kDLComplex, 128, 1}};
    DLTensor t = {.shape = l->shape, .strides = l->strides, .device = {kDLCPU, 0}};
    uint8_t kind = (uint8_t)take(in, 1), type = (uint8_t)take(in, 1);
    t.dtype = type % 8 < 5
                  ? common[type % 8]
                  : (DLDataType){(uint8_t)take(in, 1), (uint8_t)take(in, 1), (uint16_t)take(in, 1)};
    t.ndim = kind & 1 ? (int)(int8_t)take(in, 1) : (int)(take(in, 1) % 5);
    if (kind & 2)
        t.strides = NULL;
    if (kind & 4)
        t.device.device_type = (DLDeviceType)take(in, 1);
    if (t.device.device_type == kDLCUDA) /* a driver would believe the address */
        t.device.device_type = kDLVulkan;
    if (kind & 8)
        t.shape = NULL;
    t.byte_offset = kind & 16 ? take(in, 1) : 0;
    for (int i = 0; i < RANK; i++) {
        l->shape[i] = number(in);
        l->strides[i] = number(in);
    }
    return t;
}

/* Memory that ends where the tensor does. False: it reaches too far to be had, and is not refused
 * for another reason either. */
static bool furnish(DLTensor *t, lent *l, char **first)
{
    int64_t lowest = 0, span = 0;
    size_t esize = (t->dtype.bits + 7u) / 8;
    bool known = t->ndim >= 0 && t->ndim <= RANK && (t->shape || !t->ndim) && !negative(t);
    if (known && !reach(t, &lowest, &span))
        return false;
    size_t n = (size_t)span * esize + t->byte_offset;
    l->memory = malloc(n + 1);
    must(l->memory != NULL);
    for (size_t i = 0; i < n; i++)
        l->memory[i] = t->dtype.code == kDLBool ? (char)(i * 7 % 2) : (char)(i * 37 % 251);
    *first = l->memory + t->byte_offset - lowest * (int64_t)esize;
    t->data = *first - t->byte_offset;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size};
    lent l = {0};
    char *first;
    uint8_t how = (uint8_t)take(&in, 1);
    DLTensor t = describe(&in, &l);
    if (!furnish(&t, &l, &first))
        return 0;
    must(lz_scope_begin() == LZ_OK);
    l.versioned = (DLManagedTensorVersioned){{how & 4 ? 2 : 1, 0}, &l, delete_versioned, 0, t};
    l.legacy = (DLManagedTensor){t, &l, delete_legacy};
    lz_tensor *got =
        how & 1 ? lz_from_dlpack(&l.versioned, how & 2) : lz_from_dlpack_legacy(&l.legacy, how & 2);
    if (lz_status_of(got) == LZ_OK) {
        must(lz_numel(got) >= 0 && lz_rank_of(got) == t.ndim &&
             lz_dtype_size(lz_dtype_of(got)) == t.dtype.bits / 8u);
        compare(&t, first, got, t.dtype.bits / 8u);
    }
    lz_scope_end();
    must(lz_wait_device_ops() == LZ_OK && l.deleted == 1);
    free(l.memory);
    return 0;
}
