/* dlpack.h - tensors shared with other libraries without a copy, by DLPack's ABI 1.1
 * (https://dmlc.github.io/dlpack). The structs below are the ABI's; when the program has included
 * DLPack's own header first, those are used.
 * Implemented in: runtime/exec/dlpack.c. */
#ifndef LAZULI_DLPACK_H
#define LAZULI_DLPACK_H
#include <lazuli/tensor.h>

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 1
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED (1UL << 2UL)
LZ_EXTERN_C_BEGIN
typedef struct DLPackVersion {
    uint32_t major, minor;
} DLPackVersion;
#ifdef __cplusplus
typedef enum : int32_t {
#else
typedef enum {
#endif
    kDLCPU = 1,
    kDLCUDA = 2,
    kDLCUDAHost = 3,
    kDLOpenCL = 4,
    kDLVulkan = 7,
    kDLMetal = 8,
    kDLVPI = 9,
    kDLROCM = 10,
    kDLROCMHost = 11,
    kDLExtDev = 12,
    kDLCUDAManaged = 13,
    kDLOneAPI = 14,
    kDLWebGPU = 15,
    kDLHexagon = 16,
    kDLMAIA = 17
} DLDeviceType;
typedef struct DLDevice {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;
typedef enum {
    kDLInt = 0,
    kDLUInt = 1,
    kDLFloat = 2,
    kDLOpaqueHandle = 3,
    kDLBfloat = 4,
    kDLComplex = 5,
    kDLBool = 6,
    kDLFloat8_e3m4 = 7,
    kDLFloat8_e4m3 = 8,
    kDLFloat8_e4m3b11fnuz = 9,
    kDLFloat8_e4m3fn = 10,
    kDLFloat8_e4m3fnuz = 11,
    kDLFloat8_e5m2 = 12,
    kDLFloat8_e5m2fnuz = 13,
    kDLFloat8_e8m0fnu = 14,
    kDLFloat6_e2m3fn = 15,
    kDLFloat6_e3m2fn = 16,
    kDLFloat4_e2m1fn = 17
} DLDataTypeCode;
typedef struct DLDataType {
    uint8_t code, bits;
    uint16_t lanes;
} DLDataType;
typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: row-major */
    uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;
LZ_EXTERN_C_END
#endif

LZ_EXTERN_C_BEGIN
/* Computes t, waits for it, and lends its memory: *out is the caller's until it calls its deleter
 * (any thread, also after t is gone). The memory must not be written (READ_ONLY is set; the legacy
 * struct cannot say so). copy: a private copy on the host instead, which may be written
 * (IS_COPIED). Memory of a GPU is lent as kDLCUDA with the device's number; what t is made of has
 * been computed, and what the borrower does with it must be over before it calls the deleter.
 * Errors: LZ_ENULL, LZ_EHANDLE, LZ_ESTALE, LZ_EMEM, LZ_EUNSUPPORTED (the device's memory has no
 *   name in DLPack), t's own error. On error *out is NULL. */
LZ_MUST_USE LZ_API lz_status lz_to_dlpack_at(lz_tensor *t, bool copy,
                                             struct DLManagedTensorVersioned **out,
                                             const lz_site *site);
/* As lz_to_dlpack, in the struct of DLPack before 1.0, which cannot say that the memory must not be
 * written. */
LZ_MUST_USE LZ_API lz_status lz_to_dlpack_legacy_at(lz_tensor *t, bool copy,
                                                    struct DLManagedTensor **out,
                                                    const lz_site *site);
/* Takes over m: its deleter is called exactly once when Lazuli needs the memory no longer, also on
 * error, under the conditions of lz_from_borrowed's release. No copy is made when the memory is
 * row-major, 64-byte aligned and of the device; otherwise one is when allow_copy, else LZ_EINVAL.
 * Memory of a GPU (kDLCUDA) becomes a tensor on that GPU, whatever the current device is, without a
 * copy: it must be row-major and aligned to its elements, and what computes it must have ended. The
 * memory must not change meanwhile. Errors: LZ_ENULL, LZ_EINVAL, LZ_ESHAPE, LZ_EDTYPE, LZ_ENOENT
 * (no such device), LZ_EUNAVAILABLE (it does not start), LZ_EUNSUPPORTED (other kinds of devices, a
 * newer major version). */
LZ_API lz_tensor *lz_from_dlpack_at(struct DLManagedTensorVersioned *m, bool allow_copy,
                                    const lz_site *site);
/* As lz_from_dlpack, of the struct of DLPack before 1.0. */
LZ_API lz_tensor *lz_from_dlpack_legacy_at(struct DLManagedTensor *m, bool allow_copy,
                                           const lz_site *site);
#define lz_to_dlpack(t, copy, out) lz_to_dlpack_at(t, copy, out, LZ_SITE)
#define lz_to_dlpack_legacy(t, copy, out) lz_to_dlpack_legacy_at(t, copy, out, LZ_SITE)
#define lz_from_dlpack(m, allow_copy) lz_from_dlpack_at(m, allow_copy, LZ_SITE)
#define lz_from_dlpack_legacy(m, allow_copy) lz_from_dlpack_legacy_at(m, allow_copy, LZ_SITE)
LZ_EXTERN_C_END
#endif
