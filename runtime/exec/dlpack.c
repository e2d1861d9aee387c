/* dlpack.c - zero-copy exchange with other libraries: include/lazuli/dlpack.h. Exported memory is
 * marked as shared, so no step donates it. Threads: deleters may run on any thread. */
#include "base/callout.h"
#include <lazuli/dlpack.h>
#include "runtime/exec/sync.h"
#include "runtime/graph/trace_builder.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- dtypes ---- */

static const struct {
    lz_dtype dtype;
    uint8_t code, bits;
} types[] = {{LZ_BOOL, kDLBool, 8},
             {LZ_I8, kDLInt, 8},
             {LZ_I16, kDLInt, 16},
             {LZ_I32, kDLInt, 32},
             {LZ_I64, kDLInt, 64},
             {LZ_U8, kDLUInt, 8},
             {LZ_U16, kDLUInt, 16},
             {LZ_U32, kDLUInt, 32},
             {LZ_U64, kDLUInt, 64},
             {LZ_F16, kDLFloat, 16},
             {LZ_F32, kDLFloat, 32},
             {LZ_F64, kDLFloat, 64},
             {LZ_BF16, kDLBfloat, 16},
             {LZ_C64, kDLComplex, 64},
             {LZ_C128, kDLComplex, 128},
             {LZ_F8E4M3FN, kDLFloat8_e4m3fn, 8},
             {LZ_F8E5M2, kDLFloat8_e5m2, 8},
             {LZ_F8E3M4, kDLFloat8_e3m4, 8},
             {LZ_F8E4M3, kDLFloat8_e4m3, 8},
             {LZ_F8E4M3B11FNUZ, kDLFloat8_e4m3b11fnuz, 8},
             {LZ_F8E4M3FNUZ, kDLFloat8_e4m3fnuz, 8},
             {LZ_F8E5M2FNUZ, kDLFloat8_e5m2fnuz, 8},
             {LZ_F8E8M0FNU, kDLFloat8_e8m0fnu, 8}};
enum { NTYPES = sizeof types / sizeof types[0] };

static DLDataType to_dl(lz_dtype d)
{
    for (int i = 0; i < NTYPES; i++)
        if (types[i].dtype == d)
            return (DLDataType){types[i].code, types[i].bits, 1};
    return (DLDataType){kDLOpaqueHandle, 0, 0};
}

static lz_dtype from_dl(DLDataType t)
{
    for (int i = 0; i < NTYPES; i++)
        if (t.lanes == 1 && types[i].code == t.code && types[i].bits == t.bits)
            return types[i].dtype;
    LZ_FAIL(LZ_EDTYPE, "DLPack type code %u, %u bits, %u lanes", t.code, t.bits, t.lanes);
    return LZ_DTYPE_NONE;
}

/* ---- out ---- */

/* An exported tensor; either struct is inside. */
typedef struct lent {
    DLManagedTensorVersioned versioned;
    DLManagedTensor legacy;
    lz_device_buffer *buf; /* held; NULL: the copy */
    void *copy;
    int64_t shape[LZ_MAX_RANK], strides[LZ_MAX_RANK];
} lent;

static void lent_free(lent *l)
{
    lz_device_buffer_release(l->buf);
    lz_free(l->copy);
    lz_free(l);
}

static void delete_versioned(struct DLManagedTensorVersioned *m)
{
    if (m && !lz_fork_happened())
        lent_free(m->manager_ctx);
}

static void delete_legacy(struct DLManagedTensor *m)
{
    if (m && !lz_fork_happened())
        lent_free(m->manager_ctx);
}

static void describe(lent *l, const lz_type *t, DLDevice home, void *data, DLTensor *out)
{
    int64_t step = 1;
    for (int i = t->shape.rank - 1; i >= 0; i--) {
        l->shape[i] = t->shape.dims[i];
        l->strides[i] = step;
        step *= t->shape.dims[i] > 0 ? t->shape.dims[i] : 1;
    }
    *out = (DLTensor){data, home, t->shape.rank, to_dl(t->dtype), l->shape, l->strides, 0};
}

static lz_status lend_copy(lz_node *n, lent *l, void **data)
{
    /* 64 extra bytes for alignment: DLPack asks for 256 bytes where possible; 64 is accepted
     * everywhere */
    size_t nbytes = lz_node_type(n)->nbytes;
    l->copy = lz_alloc(nbytes + 64);
    if (!l->copy)
        return LZ_FAIL(LZ_EMEM, "no memory for a copy of %zu bytes", nbytes);
    *data = (void *)LZ_ALIGN_UP((uintptr_t)l->copy, 64);
    return lz_read_node(n, *data, LZ_CAUSE_READ);
}

static lz_status lend_memory(lz_node *n, lent *l, void **data)
{
    if (!n->dev->be->dlpack_type)
        return LZ_FAIL(LZ_EUNSUPPORTED, "the memory of %s cannot be lent", n->dev->name);
    if (!lz_node_buf(n))
        LZ_TRY(lz_sync_nodes(n->dev, &n, 1, LZ_CAUSE_READ, false));
    atomic_fetch_or(&n->flags, LZ_NODE_SHARED);
    l->buf = lz_node_buf(n);
    lz_device_buffer_retain(l->buf);
    lz_device_buffer_lent(l->buf);
    LZ_TRY(lz_dev_may_wait_for(l->buf));
    LZ_TRY(lz_event_wait(l->buf->ready));
    *data = l->buf->data;
    return LZ_OK;
}

/* Copies are made for the host. */
static DLDevice home_of(const lz_dev *d, bool copy)
{
    if (copy || d->be->host_memory)
        return (DLDevice){kDLCPU, 0};
    return (DLDevice){(DLDeviceType)d->be->dlpack_type, d->ordinal};
}

static lz_status may_lend(const lz_node *n)
{
    lz_dtype d = lz_node_type(n)->dtype;
    if (lz_dtype_is_narrow(d))
        return LZ_FAIL(LZ_EDTYPE, "DLPack packs %s, of which each has a byte here",
                       lz_dtype_name(d));
    return lz_node_not_placeholder(n);
}

static lz_status lend(lz_tensor *t, bool copy, lent **out)
{
    void *data = NULL;
    lz_node *n = lz_trace_node_of(t);
    if (!n)
        return lz_error_get()->status;
    lent *l = lz_calloc(1, sizeof *l);
    lz_status s = l ? may_lend(n) : LZ_FAIL(LZ_EMEM, "no memory for a DLPack tensor");
    copy |= lz_node_is_host(n); /* a host scalar has no buffer */
    if (s == LZ_OK)
        s = copy ? lend_copy(n, l, &data) : lend_memory(n, l, &data);
    if (s == LZ_OK) {
        uint64_t flags = copy ? DLPACK_FLAG_BITMASK_IS_COPIED : DLPACK_FLAG_BITMASK_READ_ONLY;
        l->versioned = (DLManagedTensorVersioned){
            {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, l, delete_versioned, flags, {0}};
        describe(l, lz_node_type(n), home_of(n->dev, copy), data, &l->versioned.dl_tensor);
        l->legacy = (DLManagedTensor){l->versioned.dl_tensor, l, delete_legacy};
        *out = l;
    } else if (l) {
        lent_free(l);
    }
    lz_node_release(n);
    return s;
}

static lz_status lend_public(const char *op, lz_tensor *t, bool copy, bool have_out, lent **l,
                             const lz_site *site)
{
    lz_api_frame f = lz_api_enter(op, site);
    lz_status s = lz_api_status(have_out ? lend(t, copy, l) : LZ_FAIL(LZ_ENULL, "out is NULL"));
    return lz_api_leave_read(&f, s);
}

lz_status lz_to_dlpack_at(lz_tensor *t, bool copy, struct DLManagedTensorVersioned **out,
                          const lz_site *site)
{
    LZ_PUBLIC_AT((out ? (void)(*out = NULL) : (void)0, LZ_EFORK));
    lent *l = NULL;
    lz_status s = lend_public("lz_to_dlpack", t, copy, out != NULL, &l, site);
    if (out)
        *out = l ? &l->versioned : NULL;
    return s;
}

lz_status lz_to_dlpack_legacy_at(lz_tensor *t, bool copy, struct DLManagedTensor **out,
                                 const lz_site *site)
{
    LZ_PUBLIC_AT((out ? (void)(*out = NULL) : (void)0, LZ_EFORK));
    lent *l = NULL;
    lz_status s = lend_public("lz_to_dlpack_legacy", t, copy, out != NULL, &l, site);
    if (out)
        *out = l ? &l->legacy : NULL;
    return s;
}

/* ---- in ---- */

static void release_versioned(void *m)
{
    DLManagedTensorVersioned *v = m;
    if (v->deleter)
        v->deleter(v);
}

static void release_legacy(void *m)
{
    DLManagedTensor *v = m;
    if (v->deleter)
        v->deleter(v);
}

static bool row_major(const DLTensor *t)
{
    int64_t step = 1;
    for (int i = t->ndim - 1; t->strides && i >= 0; i--) {
        if (t->shape[i] > 1 && t->strides[i] != step)
            return false;
        step *= t->shape[i];
    }
    return true;
}

static void copy_strided(const DLTensor *t, const char *src, char *dst, size_t esize, int64_t nelem)
{
    int64_t at[LZ_MAX_RANK] = {0}, offset = 0;
    for (int64_t i = 0; i < nelem; i++) {
        memcpy(dst + (size_t)i * esize, src + offset * (int64_t)esize, esize);
        for (int d = t->ndim - 1; d >= 0; d--) {
            if (t->shape[d] == 1) /* an axis of extent 1 may have any stride */
                continue;
            offset += t->strides[d];
            if (++at[d] < t->shape[d])
                break;
            offset -= t->strides[d] * t->shape[d];
            at[d] = 0;
        }
    }
}

static bool shape_of(const DLTensor *t, lz_shape *s)
{
    *s = (lz_shape){0};
    if (t->ndim < 0 || t->ndim > LZ_MAX_RANK) {
        LZ_FAIL(LZ_ESHAPE, "rank %d: 0 to %d are allowed", t->ndim, LZ_MAX_RANK);
        return false;
    }
    if (t->ndim && !t->shape) {
        LZ_FAIL(LZ_ENULL, "shape is NULL");
        return false;
    }
    *s = lz_shape_make(t->ndim, t->shape);
    return true;
}

static bool of_host(DLDevice d)
{
    return d.device_type == kDLCPU || d.device_type == kDLCUDAHost || d.device_type == kDLROCMHost;
}

/* The device that has such memory; NULL with the error recorded. */
static lz_dev *device_of(DLDevice at)
{
    const lz_backend *be;
    char name[64];
    for (uint32_t i = 0; (be = lz_backend_at(i)); i++)
        if (!be->host_memory && be->wrap && be->dlpack_type == (int)at.device_type) {
            snprintf(name, sizeof name, "%s:%d", be->name, (int)at.device_id);
            return lz_dev_find(name);
        }
    LZ_FAIL(LZ_EUNSUPPORTED, "memory of DLPack device type %d: no device has such",
            (int)at.device_type);
    return NULL;
}

/* A buffer that wraps device memory. */
static lz_node *import_device(const DLTensor *t, const lz_type *type, void (*release)(void *),
                              void *m, bool *taken, const lz_site *site)
{
    lz_dev *d = device_of(t->device);
    char *data = (char *)t->data + t->byte_offset;
    lz_device_buffer *b = NULL;
    if (!d)
        return NULL;
    if (!row_major(t) || (uintptr_t)data % lz_dtype_size(lz_dtype_part(type->dtype))) {
        LZ_FAIL(LZ_EINVAL, "the memory of a device must be row-major and aligned to its elements");
        return NULL;
    }
    if (d->be->wrap(d->ordinal, data, type->nbytes, release, m, &b) != LZ_OK)
        return NULL;
    *taken = true;
    lz_node *n = lz_node_new_buffer(type, d, b, site);
    if (!n) {
        lz_device_buffer_release(b);
        return NULL;
    }
    atomic_fetch_or(&n->flags, LZ_NODE_SHARED);
    return n;
}

/* A buffer that wraps the memory and calls release later; or a copy. */
static lz_tensor *import(const DLTensor *t, bool allow_copy, void (*release)(void *), void *m,
                         bool *taken, const lz_site *site)
{
    lz_shape shape;
    lz_dtype d = from_dl(t->dtype);
    const lz_type *type = d != LZ_DTYPE_NONE && shape_of(t, &shape) ? lz_type_get(d, &shape) : NULL;
    if (!type)
        return lz_trace_error_tensor("lz_from_dlpack", site);
    if (!of_host(t->device)) {
        lz_tracer c;
        lz_tracer_begin(&c, "lz_from_dlpack", site);
        return lz_tracer_end(&c,
                             lz_tracer_own(&c, import_device(t, type, release, m, taken, site)));
    }
    char *data = (char *)t->data + t->byte_offset;
    bool rows = row_major(t);
    if (type->nbytes && !t->data) {
        LZ_FAIL(LZ_ENULL, "data is NULL");
        return lz_trace_error_tensor("lz_from_dlpack", site);
    }
    lz_dev *dev = lz_dev_current();
    bool direct = rows && (uintptr_t)data % 64 == 0 && dev && dev->be->host_memory && dev->be->wrap;
    if (direct && type->nbytes) {
        *taken = true;
        return lz_from_borrowed_at(d, shape, data, (size_t)-1, release, m, site);
    }
    if (!allow_copy && type->nbytes) {
        LZ_FAIL(LZ_EINVAL, "the memory is %s, and no copy is allowed",
                rows ? "not 64-byte aligned, or not usable by the device" : "not row-major");
        return lz_trace_error_tensor("lz_from_dlpack", site);
    }
    if (rows || !type->nbytes)
        return lz_from_host_at(d, shape, data, (size_t)-1, site);
    char *packed = lz_alloc(type->nbytes);
    if (!packed) {
        LZ_FAIL(LZ_EMEM, "no memory for a copy of %zu bytes", type->nbytes);
        return lz_trace_error_tensor("lz_from_dlpack", site);
    }
    copy_strided(t, data, packed, lz_dtype_size(d), type->nelem);
    lz_tensor *r = lz_from_host_at(d, shape, packed, (size_t)-1, site);
    lz_free(packed);
    return r;
}

static lz_tensor *import_public(const char *op, const DLTensor *t, uint32_t major, bool allow_copy,
                                void (*release)(void *), void *m, const lz_site *site)
{
    lz_api_frame f = lz_api_enter(op, site);
    bool taken = false;
    lz_tensor *r;
    if (major > DLPACK_MAJOR_VERSION) {
        LZ_FAIL(LZ_EUNSUPPORTED, "DLPack %u: %d is understood", major, DLPACK_MAJOR_VERSION);
        r = lz_trace_error_tensor(op, site);
    } else {
        r = import(t, allow_copy, release, m, &taken, site);
    }
    (void)lz_api_leave_with(&f, r);
    if (!taken)
        LZ_CALL_OUT("a deleter")
    release(m);
    return r;
}

static lz_tensor *null_tensor(const char *op, const lz_site *site)
{
    LZ_FAIL(LZ_ENULL, "the DLPack tensor is NULL");
    return lz_trace_error_tensor(op, site);
}

lz_tensor *lz_from_dlpack_at(struct DLManagedTensorVersioned *m, bool allow_copy,
                             const lz_site *site)
{
    LZ_PUBLIC_AT((m ? release_versioned(m) : (void)0, LZ_FORK_TENSOR));
    return m ? import_public("lz_from_dlpack", &m->dl_tensor, m->version.major, allow_copy,
                             release_versioned, m, site)
             : null_tensor("lz_from_dlpack", site);
}

lz_tensor *lz_from_dlpack_legacy_at(struct DLManagedTensor *m, bool allow_copy, const lz_site *site)
{
    LZ_PUBLIC_AT((m ? release_legacy(m) : (void)0, LZ_FORK_TENSOR));
    return m ? import_public("lz_from_dlpack_legacy", &m->dl_tensor, 1, allow_copy, release_legacy,
                             m, site)
             : null_tensor("lz_from_dlpack_legacy", site);
}
