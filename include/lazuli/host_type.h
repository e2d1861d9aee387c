/* host_type.h - what lz_from_host and lz_from_borrowed know of the data that they are given: the
 * type of its elements, and how many bytes there are. The call is told both, so that a dtype that
 * is a variable is checked, too. Nothing of data is evaluated twice. Implemented in:
 * runtime/exec/host_transfer.c. */
#ifndef LAZULI_HOST_TYPE_H
#define LAZULI_HOST_TYPE_H
#include <lazuli/types.h>

/* A message about a call shows the call. */
#pragma GCC system_header

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
#define LZ_HOST_SECOND(...) LZ_HOST_SECOND_OF(__VA_ARGS__)
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
