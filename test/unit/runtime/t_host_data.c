/* t_host_data.c - what lz_from_host and lz_from_borrowed refuse of the data they are given:
 * elements of another type, and arrays that are too short. */
#include "rt.h"

#define ANY ((size_t)-1)

/* A C type for every class and width, and the dtypes whose elements are stored so. */
typedef struct host_case {
    lz_dtype host;
    const char *name;
    uint32_t takes; /* bit of each dtype */
} host_case;

#define B(d) (UINT32_C(1) << LZ_##d)
static const host_case cases[] = {
    {LZ_F32, "float", B(F32) | B(C64)},
    {LZ_F64, "double", B(F64) | B(C128)},
    {LZ_C64, "lz_c64", B(C64)},
    {LZ_C128, "lz_c128", B(C128)},
    {LZ_I16, "int16_t", B(I16) | B(U16) | B(F16) | B(BF16)},
    {LZ_U16, "uint16_t", B(I16) | B(U16) | B(F16) | B(BF16)},
    {LZ_I32, "int32_t", B(I32) | B(U32)},
    {LZ_U32, "uint32_t", B(I32) | B(U32) | B(F32)},
    {LZ_I64, "int64_t", B(I64) | B(U64)},
    {LZ_U64, "uint64_t", B(I64) | B(U64) | B(F64)},
    {LZ_DTYPE_NONE, "", UINT32_MAX},
};

START_TEST(elements_of_another_type_are_refused)
{
    static uint64_t data[8] __attribute__((aligned(64)));
    const host_case *h = &cases[_i];
    for (lz_dtype d = (lz_dtype)1; d < LZ_DTYPE_COUNT; d++) {
        char text[128];
        snprintf(text, sizeof text, "data points to %s, but the dtype is %s", h->name,
                 lz_dtype_name(d));
        for (int borrowed = 0; borrowed < 2; borrowed++) {
            lz_tensor *t = borrowed
                               ? lz_from_borrowed_typed_at(d, LZ_SHAPE(2), data, ANY, h->host, NULL,
                                                           NULL, LZ_SITE)
                               : lz_from_host_typed_at(d, LZ_SHAPE(2), data, ANY, h->host, LZ_SITE);
            if (h->takes >> d & 1)
                OK(lz_status_of(t));
            else
                BAD(t, LZ_EDTYPE, text);
        }
    }
    OK(lz_wait_device_ops());
}
END_TEST

#define TYPED(d, ctype)                                                                            \
    do {                                                                                           \
        ctype v[4] = {0};                                                                          \
        const ctype w[4] = {0};                                                                    \
        ctype *p = v;                                                                              \
        OK(lz_status_of(lz_from_host(d, LZ_SHAPE(2), v)));                                         \
        OK(lz_status_of(lz_from_host(d, LZ_SHAPE(2), w)));                                         \
        OK(lz_status_of(lz_from_host(d, LZ_SHAPE(2), p)));                                         \
        OK(lz_status_of(lz_from_host(d, LZ_SHAPE(2), (const void *)p)));                           \
        if (sizeof(ctype) > 1)                                                                     \
            BAD(lz_from_host(LZ_U8, LZ_SHAPE(2), w), LZ_EDTYPE, "but the dtype is u8");            \
        OK(lz_status_of(lz_from_host(LZ_U8, LZ_SHAPE(2), (const void *)w)));                       \
    } while (0)

START_TEST(the_macro_tells_the_type)
{
    TYPED(LZ_F32, float);
    TYPED(LZ_C64, float);
    TYPED(LZ_F64, double);
    TYPED(LZ_C128, double);
    TYPED(LZ_C64, float _Complex);
    TYPED(LZ_C128, double _Complex);
    TYPED(LZ_C64, lz_c64);
    TYPED(LZ_C128, lz_c128);
    TYPED(LZ_BF16, short);
    TYPED(LZ_F16, unsigned short);
    TYPED(LZ_I32, int);
    TYPED(LZ_I32, unsigned);
    TYPED(LZ_U64, long);
    TYPED(LZ_I64, unsigned long);
    TYPED(LZ_I64, long long);
    TYPED(LZ_U64, unsigned long long);
    TYPED(LZ_BOOL, bool);
    TYPED(LZ_I8, char);
    TYPED(LZ_F8E5M2, signed char);
    TYPED(LZ_U4, unsigned char);
    enum colour { RED, GREEN } colours[2] = {GREEN, RED};
    OK(lz_status_of(lz_from_host(LZ_U32, LZ_SHAPE(2), colours)));
    struct pixel {
        uint8_t r, g, b;
    } pixels[2] = {{0}};
    OK(lz_status_of(lz_from_host(LZ_U8, LZ_SHAPE(2, 3), pixels)));
    double x = 1;
    BAD(lz_from_host(LZ_F32, LZ_SCALAR, &x), LZ_EDTYPE,
        "data points to double, but the dtype is f32");
    BAD(lz_from_borrowed(LZ_F32, LZ_SCALAR, &x, NULL, NULL), LZ_EDTYPE, "points to double");
    BAD(lz_from_host(LZ_F32, LZ_SHAPE(2), (double[]){1, 2}), LZ_EDTYPE, "points to double");
}
END_TEST

#define SHORT(text, ...) BAD(lz_from_host(__VA_ARGS__), LZ_ERANGE, text)

/* An extent that the compiler does not know. */
extern const float later[];
struct trailing {
    int n;
    float v[];
};

START_TEST(arrays_that_are_too_short_are_refused)
{
    float v[5] = {1, 2, 3, 4, 5}, m[2][3] = {{1, 2, 3}, {4, 5, 6}};
    static const double c[2] = {1, 2};
    SHORT("data has 20 bytes, but f32[2,3] takes 24", LZ_F32, LZ_SHAPE(2, 3), v);
    SHORT("data has 12 bytes", LZ_F32, LZ_SHAPE(2, 3), (float[]){1, 2, 3});
    SHORT("data has 12 bytes", LZ_F32, LZ_SHAPE(2, 3), ((float[]){1, 2, 3}));
    SHORT("data has 8 bytes", LZ_F32, LZ_SHAPE(3), (const float[]){1, 2});
    SHORT("data has 16 bytes", LZ_F64, LZ_SHAPE(3), c);
    SHORT("data has 16 bytes", LZ_F32, LZ_SHAPE(5), v + 1);
    SHORT("data has 4 bytes", LZ_F32, LZ_SHAPE(2), &v[4]);
    SHORT("data has 4 bytes", LZ_U8, LZ_SHAPE(5), "abc");
    BAD(lz_from_borrowed(LZ_F32, LZ_SHAPE(6), v, NULL, NULL), LZ_ERANGE, "data has 20 bytes");
    BAD(lz_from_host_at(LZ_F32, LZ_SHAPE(3), v, 11, LZ_SITE), LZ_ERANGE, "data has 11 bytes");
    rt_expect(lz_from_host(LZ_F32, LZ_SHAPE(2, 3), m), (float[]){1, 2, 3, 4, 5, 6}, 6, 0);
    rt_expect(lz_from_host(LZ_F32, LZ_SHAPE(2, 3), m[0]), (float[]){1, 2, 3, 4, 5, 6}, 6, 0);
    rt_expect(lz_from_host(LZ_F32, LZ_SHAPE(2), v), (float[]){1, 2}, 2, 0);
    rt_expect(lz_from_host(LZ_F32, LZ_SHAPE(3), later), (float[]){7, 8, 9}, 3, 0);
    struct trailing *t = malloc(sizeof *t + 2 * sizeof(float));
    ck_assert_ptr_nonnull(t);
    t->v[0] = 1, t->v[1] = 2;
    rt_expect(lz_from_host(LZ_F32, LZ_SHAPE(2), t->v), (float[]){1, 2}, 2, 0);
    free(t);
    const float *p = v;
    rt_expect(lz_from_host(LZ_F32, LZ_SHAPE(2), p++), (float[]){1, 2}, 2, 0);
    ck_assert_ptr_eq(p, v + 1); /* evaluated once */
    OK(lz_status_of(lz_from_host(LZ_F32, LZ_SHAPE(0), NULL)));
}
END_TEST

const float later[] = {7, 8, 9};

/* An error still calls release, once. */
static void count(void *user)
{
    ++*(int *)user;
}

START_TEST(refused_memory_is_released)
{
    int n = 0;
    double x[2] = {0};
    BAD(lz_from_borrowed(LZ_F32, LZ_SHAPE(2), x, count, &n), LZ_EDTYPE, "lz_from_borrowed");
    ck_assert_int_eq(n, 1);
    BAD(lz_from_borrowed(LZ_F64, LZ_SHAPE(3), x, count, &n), LZ_ERANGE, "lz_from_borrowed");
    ck_assert_int_eq(n, 2);
}
END_TEST

int main(void)
{
    rt_use("CPU");
    Suite *s = suite_create("host data");
    TCase *t = tcase_create("checks");
    tcase_add_loop_test(t, elements_of_another_type_are_refused, 0,
                        (int)(sizeof cases / sizeof *cases));
    tcase_add_test(t, the_macro_tells_the_type);
    tcase_add_test(t, arrays_that_are_too_short_are_refused);
    tcase_add_test(t, refused_memory_is_released);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
