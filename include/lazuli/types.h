/* types.h - the value types every other header uses: status, dtype, shape, call site.
 * Usable from C11 and C++17. Nothing here allocates.
 * Implemented in: base/status.c, base/dtype.c, runtime/exec/host_transfer.c. */
#ifndef LAZULI_TYPES_H
#define LAZULI_TYPES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of these headers; lz_version() (device.h) tells that of the library. */
#define LZ_VERSION_MAJOR 0
#define LZ_VERSION_MINOR 1
#define LZ_VERSION_PATCH 0

#ifdef __cplusplus
#define LZ_EXTERN_C_BEGIN extern "C" {
#define LZ_EXTERN_C_END }
#else
#define LZ_EXTERN_C_BEGIN
#define LZ_EXTERN_C_END
#endif
#define LZ_API __attribute__((visibility("default")))
/* On functions whose result is all that tells lost data from kept data: they save, load and copy
 * out. The compiler warns of a call that does not look at it. Not on those whose error the next
 * lz_mark_step or read reports again. */
#define LZ_MUST_USE __attribute__((warn_unused_result))

LZ_EXTERN_C_BEGIN

/* Result of every call that does not return a tensor. LZ_OK is 0. */
typedef enum lz_status {
#define LZ_STATUS(name, value, doc) LZ_##name = value,
#include <lazuli/status.def>
#undef LZ_STATUS
} lz_status;

/* One complex64 element: real part, imaginary part. */
typedef struct lz_c64 {
    float re, im;
} lz_c64;
/* One complex128 element. */
typedef struct lz_c128 {
    double re, im;
} lz_c128;

/* Element type of a tensor. 0 (LZ_DTYPE_NONE) is not a type. */
typedef enum lz_dtype {
    LZ_DTYPE_NONE = 0,
#define LZ_DTYPE(NAME, value, name, text, nbytes, cls, ctype) LZ_##NAME = value,
#include <lazuli/dtypes.def>
#undef LZ_DTYPE
    LZ_DTYPE_COUNT
} lz_dtype;

/* For the compiler what follows is a system's: a message about a call shows the call, not the
 * macros that it is made of. So it is with the headers of operations. After the last #include, for
 * what a system's header includes is no dependency to gcc -MMD. */
#pragma GCC system_header

LZ_EXTERN_C_END
/* Options structs: LZ_OPTIONS(type, .field = ...) is the address of one. LZ_DEFAULT(x) is the value
 * of a field that is left out. C++ has it in the struct; in C the macro that takes the options
 * writes the defaults first and the caller's fields over them, which -Woverride-init would report
 * between these two.
 * A macro whose last arguments may be left out is two: lz_sum(...) gives its arguments and an empty
 * one to LZ_ARGS_sum(x, ...), for C before C23 and C++ before C++20 want something for the `...`;
 * the empty one is the comma that may end an initialiser. LZ_OPTIONS_OF and LZ_DEFAULTED take such
 * a list; LZ_ARGS_ are not for programs. */
#define LZ_OPTIONS(...) LZ_OPTIONS_OF(__VA_ARGS__, )
#ifdef __cplusplus
#define LZ_DEFAULT(x) = x
#define LZ_OPTIONS_OF(type, ...) lz_temporary(__extension__ type{__VA_ARGS__})
/* The address of a temporary, which lives until the end of the full expression. */
template <class T> inline const T *lz_temporary(const T &v)
{
    return &v;
}
#define LZ_OVERRIDE_BEGIN
#define LZ_OVERRIDE_END
#define LZ_DEFAULTED(type, defaults, ...) LZ_OPTIONS_OF(type, __VA_ARGS__)
#define LZ_OVERRIDING(call) call
#else
#define LZ_DEFAULT(x)
#define LZ_OPTIONS_OF(type, ...) (&(type){.struct_size = sizeof(type), __VA_ARGS__})
#define LZ_OVERRIDE_BEGIN                                                                          \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Woverride-init\"")
#define LZ_OVERRIDE_END _Pragma("GCC diagnostic pop")
/* LZ_DEFAULTED(type, .field = default, caller's fields): LZ_OPTIONS_OF with defaults that are not
 * 0. The call that takes it stands in LZ_OVERRIDING, which gives the call's result. */
#define LZ_DEFAULTED(type, defaults, ...)                                                          \
    (&(type){.struct_size = sizeof(type), defaults, __VA_ARGS__})
#define LZ_OVERRIDING(call)                                                                        \
    __extension__({                                                                                \
        LZ_OVERRIDE_BEGIN call;                                                                    \
        LZ_OVERRIDE_END                                                                            \
    })
#endif

LZ_EXTERN_C_BEGIN

enum { LZ_MAX_RANK = 16 };

/* Extents of a tensor, outermost first; row-major. rank 0 is a scalar. Extents may be 0. */
typedef struct lz_shape {
    int32_t rank;
    int64_t dims[LZ_MAX_RANK];
} lz_shape;

/* LZ_SHAPE(2, 3) is the shape 2x3; LZ_SCALAR is the shape of a scalar.
 * More than LZ_MAX_RANK extents give a rank above it, which every function refuses with
 * LZ_ESHAPE. */
#define LZ_SCALAR (lz_shape_make(0, NULL))
#ifdef __cplusplus
#define LZ_SHAPE(...) (lz_shape_of_extents(__VA_ARGS__))
#else
#define LZ_SHAPE(...)                                                                              \
    (lz_shape_make((int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                \
                   (const int64_t[]){__VA_ARGS__}))
#endif

static inline lz_shape lz_shape_make(int rank, const int64_t *dims)
{
    lz_shape s;
    s.rank = rank;
    for (int i = 0; i < LZ_MAX_RANK; i++)
        s.dims[i] = i < rank ? dims[i] : 0;
    return s;
}

/* ---- functions of the program's own, called by custom_call (lazuli/ffi.h) ---- */

/* An array in host memory: dense, row-major, aligned to its element. */
typedef struct lz_ffi_buffer {
    lz_dtype dtype;
    lz_shape shape;
    size_t nbytes;
    void *data; /* not NULL, also when nbytes is 0 */
} lz_ffi_buffer;

enum { LZ_FFI_MESSAGE = 256 };
typedef struct lz_ffi_call {
    const char *target;         /* name it was registered under */
    const char *backend_config; /* the program's text for it; "" without */
    uint32_t nargs, nrets;
    const lz_ffi_buffer *args; /* only read */
    const lz_ffi_buffer *rets; /* their data is to be written, all of it; it overlaps no argument */
    char *message;             /* room for LZ_FFI_MESSAGE characters: the error message */
} lz_ffi_call;
/* Called on a thread of the device, one call of a program after the other. Returns LZ_OK, or what
 * the program fails with. Must not wait for the device it is called from. */
typedef lz_status lz_ffi_handler(const lz_ffi_call *call, void *user);

/* A place in the caller's source. Public operations record one (static, so it costs a pointer). */
typedef struct lz_site {
    const char *file;
    const char *func;
    int line;
} lz_site;
#define LZ_SITE                                                                                    \
    __extension__({                                                                                \
        static const lz_site lz_site_here_ = {__FILE__, __func__, __LINE__};                       \
        &lz_site_here_;                                                                            \
    })

/* Name of a status: "LZ_ESHAPE"; "LZ_?" for an unknown value. Never NULL. */
LZ_API const char *lz_status_name(lz_status s);
/* What a status means in a line. Never NULL. */
LZ_API const char *lz_status_message(lz_status s);
/* Name of a dtype: "f32"; "?" for an unknown value. Never NULL. */
LZ_API const char *lz_dtype_name(lz_dtype d);
/* Bytes of one element; 0 for an unknown value. */
LZ_API size_t lz_dtype_size(lz_dtype d);

LZ_EXTERN_C_END

#ifdef __cplusplus
template <class... T> inline lz_shape lz_shape_of_extents(T... extent)
{
    const int64_t dims[] = {static_cast<int64_t>(extent)...};
    return lz_shape_make(static_cast<int>(sizeof...(extent)), dims);
}
#endif

/* ---- what lz_from_host and lz_from_borrowed know of the data that they are given: the type of its
 * elements, and how many bytes there are. The call is told both, so that a dtype that is a variable
 * is checked, too. Nothing of data is evaluated twice ---- */

/* Bytes at data of an object that the compiler sees, to its end: m[0] of float m[2][3] has 24. */
#define LZ_HOST_OBJECT_SIZE(...) __builtin_object_size((__VA_ARGS__), 0)
/* C types of more than one byte, and the dtype of the same elements. */
#define LZ_HOST_TYPES(_)                                                                           \
    _(float, LZ_F32)                                                                               \
    _(double, LZ_F64)                                                                              \
    _(lz_c64, LZ_C64)                                                                              \
    _(lz_c128, LZ_C128)                                                                            \
    _(short, LZ_I16)                                                                               \
    _(unsigned short, LZ_U16)                                                                      \
    _(int, LZ_I32)                                                                                 \
    _(unsigned int, LZ_U32)                                                                        \
    _(long, sizeof(long) == 8 ? LZ_I64 : LZ_I32)                                                   \
    _(unsigned long, sizeof(long) == 8 ? LZ_U64 : LZ_U32)                                          \
    _(long long, LZ_I64)                                                                           \
    _(unsigned long long, LZ_U64)

#ifdef __cplusplus
#define LZ_HOST_BYTES(...) LZ_HOST_OBJECT_SIZE(__VA_ARGS__)
/* The dtype of the elements of an array of T; LZ_DTYPE_NONE: any. */
template <class T> struct lz_host_type {
    static constexpr lz_dtype dtype = LZ_DTYPE_NONE;
};
#define LZ_HOST_TYPE_OF(ctype, type)                                                               \
    template <> struct lz_host_type<ctype> {                                                       \
        static constexpr lz_dtype dtype = type;                                                    \
    };
LZ_HOST_TYPES(LZ_HOST_TYPE_OF)
#undef LZ_HOST_TYPE_OF
#else
/* Bytes that are at data; (size_t)-1: unknown. To gcc a compound literal is no object of known
 * size, but it begins with a bracket, and its type has one; other arrays may have none (extern
 * const float weights[];). */
#define LZ_HOST_BYTES(...)                                                                         \
    LZ_HOST_BYTES_OF(LZ_HOST_SECOND(LZ_HOST_PROBE LZ_HOST_FIRST(__VA_ARGS__, 0), 0, 0), __VA_ARGS__)
#define LZ_HOST_FIRST(first, ...) first
#define LZ_HOST_PROBE(...) 0, 1,
#define LZ_HOST_SECOND(...) LZ_HOST_SECOND_BY(__VA_ARGS__) /* once for FIRST, once for PROBE */
#define LZ_HOST_SECOND_BY(...) LZ_HOST_SECOND_OF(__VA_ARGS__)
#define LZ_HOST_SECOND_OF(first, second, ...) second
#define LZ_HOST_BYTES_OF(bracket, ...) LZ_HOST_BYTES_BY(bracket, __VA_ARGS__)
#define LZ_HOST_BYTES_BY(bracket, ...) LZ_HOST_BYTES_##bracket(__VA_ARGS__)
#define LZ_HOST_BYTES_0(...) LZ_HOST_OBJECT_SIZE(__VA_ARGS__)
#define LZ_HOST_BYTES_1(...)                                                                       \
    (__builtin_types_compatible_p(__typeof__(__VA_ARGS__),                                         \
                                  __typeof__(1 ? (__VA_ARGS__) : (__VA_ARGS__)))                   \
         ? LZ_HOST_OBJECT_SIZE(__VA_ARGS__)                                                        \
         : sizeof(__typeof__(__VA_ARGS__)))
/* The dtype of the elements that data points to; LZ_DTYPE_NONE: any. */
#define LZ_HOST_TYPE(...)                                                                          \
    (_Generic((__VA_ARGS__),                                                                       \
              LZ_HOST_TYPES(LZ_HOST_TYPE_OF) LZ_HOST_TYPE_OF(float _Complex, LZ_C64)               \
                  LZ_HOST_TYPE_OF(double _Complex, LZ_C128) default                                \
              : LZ_DTYPE_NONE))
#define LZ_HOST_TYPE_OF(ctype, type) ctype * : (type), const ctype * : (type),
#endif

#ifdef __cplusplus
#define lz_from_host(dtype, shape, ...)                                                            \
    lz_from_host_cxx(dtype, shape, __VA_ARGS__, LZ_HOST_BYTES(__VA_ARGS__), LZ_SITE)
#define lz_from_borrowed(dtype, shape, data, release, user)                                        \
    lz_from_borrowed_cxx(dtype, shape, data, LZ_HOST_BYTES(data), release, user, LZ_SITE)
#else
#define lz_from_host(dtype, shape, ...)                                                            \
    lz_from_host_typed_at(dtype, shape, __VA_ARGS__, LZ_HOST_BYTES(__VA_ARGS__),                   \
                          LZ_HOST_TYPE(__VA_ARGS__), LZ_SITE)
#define lz_from_borrowed(dtype, shape, data, release, user)                                        \
    lz_from_borrowed_typed_at(dtype, shape, data, LZ_HOST_BYTES(data), LZ_HOST_TYPE(data),         \
                              release, user, LZ_SITE)
#endif
#endif
