/* t_dlpack.c - zero-copy exchange by DLPack: every dtype, strides, alignment, ownership,
 * refusals. */
#include "rt.h"
#include "support/mock.h"

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

START_TEST(every_dtype_goes_out_and_in)
{
    unsigned char raw[12 * 16], back[12 * 16];
    size_t size = lz_dtype_size(types[_i].dtype);
    for (size_t i = 0; i < sizeof raw; i++)
        raw[i] = types[_i].dtype == LZ_BOOL ? (unsigned char)(rt_random() & 1)
                                            : (unsigned char)rt_random();
    lz_tensor *t = lz_from_host(types[_i].dtype, LZ_SHAPE(3, 4), raw), *u;
    for (int copy = 0; copy < 2; copy++) {
        DLManagedTensorVersioned *m;
        OK(lz_to_dlpack(t, copy, &m));
        ck_assert_uint_eq(m->version.major, 1);
        ck_assert_uint_eq(m->flags,
                          copy ? DLPACK_FLAG_BITMASK_IS_COPIED : DLPACK_FLAG_BITMASK_READ_ONLY);
        ck_assert_int_eq(m->dl_tensor.device.device_type, kDLCPU);
        ck_assert_int_eq(m->dl_tensor.ndim, 2);
        ck_assert_int_eq(m->dl_tensor.shape[0], 3);
        ck_assert_int_eq(m->dl_tensor.strides[0], 4);
        ck_assert_int_eq(m->dl_tensor.strides[1], 1);
        ck_assert_uint_eq(m->dl_tensor.dtype.code, types[_i].code);
        ck_assert_uint_eq(m->dl_tensor.dtype.bits, types[_i].bits);
        ck_assert_uint_eq((uintptr_t)m->dl_tensor.data % 64, 0);
        ck_assert_int_eq(memcmp(m->dl_tensor.data, raw, 12 * size), 0);
        u = lz_from_dlpack(m, false); /* aligned: the same memory again */
        OK(lz_to_host(u, back, sizeof back));
        ck_assert_int_eq(memcmp(back, raw, 12 * size), 0);
        ck_assert_int_eq(lz_dtype_of(u), types[_i].dtype);
        DLManagedTensor *l;
        OK(lz_to_dlpack_legacy(u, copy, &l));
        ck_assert_int_eq(memcmp(l->dl_tensor.data, raw, 12 * size), 0);
        u = lz_from_dlpack_legacy(l, true);
        OK(lz_to_host(u, back, sizeof back));
        ck_assert_int_eq(memcmp(back, raw, 12 * size), 0);
    }
}
END_TEST

START_TEST(lent_memory_outlives_the_tensor)
{
    DLManagedTensorVersioned *m;
    OK(lz_scope_begin());
    lz_tensor *t = lz_mul_scalar(lz_iota(LZ_F32, LZ_SHAPE(5), 0), 2);
    OK(lz_to_dlpack(t, false, &m)); /* computes it */
    OK(lz_scope_end());
    OK(lz_mark_step());
    const float *p = m->dl_tensor.data;
    for (int i = 0; i < 5; i++)
        ck_assert_float_eq(p[i], 2.0f * (float)i);
    m->deleter(m);
    OK(lz_to_dlpack(lz_scalar(LZ_F64, 2.5), false, &m)); /* a number is in no buffer: a copy */
    ck_assert_double_eq(*(double *)m->dl_tensor.data, 2.5);
    ck_assert_uint_eq(m->flags, DLPACK_FLAG_BITMASK_IS_COPIED);
    m->deleter(m);
}
END_TEST

/* What a program made of a tensor before is not used again once others may write to its memory. */
START_TEST(lent_memory_is_read_anew)
{
    float w[6] = {1, 2, 3, 4, 5, 6}, y;
    OK(lz_config_set("LAZULI_CONSTANT_CACHE", "2"));
    lz_tensor *t = lz_from_host(LZ_F32, LZ_SHAPE(6), w);
    DLManagedTensor *m = NULL;
    for (int i = 0; i < 12; i++) {
        if (i == 6)
            OK(lz_to_dlpack_legacy(t, false, &m));
        if (i >= 6)
            w[i - 6] = ((float *)m->dl_tensor.data)[i - 6] = (float)(10 * i);
        OK(lz_scope_begin());
        float v = (float)i, want = 0;
        for (int k = 0; k < 6; k++) /* in how many of the sums each is */
            want += v * w[k] * (float)(6 - k);
        lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(1), &v);
        OK(lz_to_host(lz_sum(lz_mul(x, lz_cumsum(t, 0))), &y, sizeof y));
        ck_assert_float_eq(y, want);
        OK(lz_scope_end());
    }
    m->deleter(m);
}
END_TEST

/* Memory of a GPU goes out and in as it is, on the mock driver. */
START_TEST(device_memory)
{
    if (getenv("LZ_TEST_GPU"))
        return; /* looks at the memory */
    OK(lz_mock_use());
    OK(lz_set_device("CUDA:1"));
    float raw[6] = {1, 2, 3, 4, 5, 6}, back[6];
    lz_tensor *t = lz_from_host(LZ_F32, LZ_SHAPE(2, 3), raw), *u;
    DLManagedTensorVersioned *m, *again;
    OK(lz_to_dlpack(t, false, &m));
    ck_assert_int_eq(m->dl_tensor.device.device_type, kDLCUDA);
    ck_assert_int_eq(m->dl_tensor.device.device_id, 1);
    ck_assert_uint_eq(m->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
    const void *at = m->dl_tensor.data;
    OK(lz_set_device("CPU:0"));
    u = lz_from_dlpack(m, false);
    OK(lz_to_dlpack(u, false, &again));
    ck_assert_ptr_eq(again->dl_tensor.data, at);
    again->deleter(again);
    u = lz_add(u, u);
    OK(lz_to_host(u, back, sizeof back));
    for (int i = 0; i < 6; i++)
        ck_assert_float_eq(back[i], 2 * raw[i]);
    OK(lz_to_dlpack(t, true, &m)); /* a copy is on the host */
    ck_assert_int_eq(m->dl_tensor.device.device_type, kDLCPU);
    ck_assert_int_eq(memcmp(m->dl_tensor.data, raw, sizeof raw), 0);
    m->deleter(m);
}
END_TEST

static int deleted;
static void count_delete(DLManagedTensorVersioned *m)
{
    (void)m;
    deleted++;
}

static DLManagedTensorVersioned foreign(void *data, int ndim, int64_t *shape, int64_t *strides)
{
    return (DLManagedTensorVersioned){
        .version = {1, 1},
        .deleter = count_delete,
        .dl_tensor = {data, {kDLCPU, 0}, ndim, {kDLFloat, 32, 1}, shape, strides, 0}};
}

/* What cannot be taken of device memory; the deleter is called all the same. */
START_TEST(device_memory_refused)
{
    static const struct {
        int type, id;
        int64_t stride;
        int offset;
        lz_status want;
    } cases[] = {{kDLROCM, 0, 1, 0, LZ_EUNSUPPORTED},
                 {kDLCUDA, 9, 1, 0, LZ_ENOENT},
                 {kDLCUDA, 0, 2, 0, LZ_EINVAL},
                 {kDLCUDA, 0, 1, 2, LZ_EINVAL}};
    if (getenv("LZ_TEST_GPU"))
        return;
    OK(lz_mock_use());
    float data[8];
    int64_t shape = 3;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t stride = cases[i].stride;
        DLManagedTensorVersioned m = foreign(data, 1, &shape, &stride);
        m.dl_tensor.device = (DLDevice){(DLDeviceType)cases[i].type, cases[i].id};
        m.dl_tensor.byte_offset = (uint64_t)cases[i].offset;
        deleted = 0;
        lz_tensor *t = lz_from_dlpack(&m, true);
        ck_assert_int_eq(lz_to_host(t, data, 0), cases[i].want);
        ck_assert_int_eq(deleted, 1);
    }
}
END_TEST

START_TEST(strided_and_unaligned_memory_is_copied_when_allowed)
{
    static float mem[64] __attribute__((aligned(64)));
    int64_t shape[2] = {3, 2}, across[2] = {1, 3}, wide[2] = {8, 1}, back[2] = {-2, 1};
    for (int i = 0; i < 64; i++)
        mem[i] = (float)i;
    DLManagedTensorVersioned m = foreign(mem, 2, shape, across);
    BAD(lz_from_dlpack(&m, false), LZ_EINVAL, "row-major");
    ck_assert_int_eq(deleted, 1);
    rt_expect(lz_from_dlpack(&m, true), (float[]){0, 3, 1, 4, 2, 5}, 6, 0);
    ck_assert_int_eq(deleted, 2);
    m = foreign(mem, 2, shape, wide);
    rt_expect(lz_from_dlpack(&m, true), (float[]){0, 1, 8, 9, 16, 17}, 6, 0);
    m = foreign(mem + 4, 2, shape, back);
    rt_expect(lz_from_dlpack(&m, true), (float[]){4, 5, 2, 3, 0, 1}, 6, 0);
    m = foreign(mem, 2, shape, NULL);
    m.dl_tensor.byte_offset = 4;
    BAD(lz_from_dlpack(&m, false), LZ_EINVAL, "aligned");
    rt_expect(lz_from_dlpack(&m, true), (float[]){1, 2, 3, 4, 5, 6}, 6, 0);
    m = foreign(mem, 2, shape, (int64_t[]){2, 1});
    deleted = 0;
    OK(lz_scope_begin());
    lz_tensor *t = lz_from_dlpack(&m, false), *u = lz_retain(lz_add(t, t));
    OK(lz_scope_end());
    ck_assert_int_eq(deleted, 0); /* the pending sum reads the memory itself */
    mem[5] = 100;
    rt_expect(u, (float[]){0, 2, 4, 6, 8, 200}, 6, 0);
    (void)lz_mark_step(.wait = true); /* it reports the refusals above */
    OK(lz_release(u));
    OK(lz_wait_device_ops());
    ck_assert_int_eq(deleted, 1);
}
END_TEST

/* DLPack packs two or four of them in a byte; here each has one. */
START_TEST(narrow_integers_are_not_lent)
{
    static const lz_dtype narrow[] = {LZ_I2, LZ_I4, LZ_U2, LZ_U4};
    static uint8_t mem[64] __attribute__((aligned(64)));
    int64_t shape = 3;
    for (int i = 0; i < 4; i++) {
        lz_tensor *t[] = {lz_from_host(narrow[i], LZ_SHAPE(3), (uint8_t[]){0, 1, 1}),
                          lz_full(narrow[i], LZ_SHAPE(3), 1)};
        for (int k = 0; k < 2; k++) {
            DLManagedTensorVersioned *m;
            DLManagedTensor *l;
            for (int copy = 0; copy < 2; copy++) {
                FAILS(lz_to_dlpack(t[k], copy, &m), LZ_EDTYPE, lz_dtype_name(narrow[i]));
                FAILS(lz_to_dlpack_legacy(t[k], copy, &l), LZ_EDTYPE, lz_dtype_name(narrow[i]));
                ck_assert(!m && !l);
            }
        }
        DLManagedTensorVersioned m = foreign(mem, 1, &shape, NULL);
        m.dl_tensor.dtype = (DLDataType){i < 2 ? kDLInt : kDLUInt, i % 2 ? 4 : 2, 1};
        deleted = 0;
        BAD(lz_from_dlpack(&m, true), LZ_EDTYPE, i % 2 ? "4 bits" : "2 bits");
        ck_assert_int_eq(deleted, 1);
    }
    (void)lz_mark_step(.wait = true); /* it reports the refusals above */
}
END_TEST

START_TEST(what_is_not_understood_is_refused_and_deleted)
{
    static float mem[16] __attribute__((aligned(64)));
    int64_t shape[LZ_MAX_RANK + 1] = {2, 2};
    for (int i = 2; i <= LZ_MAX_RANK; i++)
        shape[i] = 1;
    DLManagedTensorVersioned m = foreign(mem, LZ_MAX_RANK + 1, shape, NULL);
    BAD(lz_from_dlpack(&m, true), LZ_ESHAPE, "rank 17");
    m = foreign(mem, 2, shape, NULL);
    m.dl_tensor.device.device_type = kDLROCM;
    BAD(lz_from_dlpack(&m, true), LZ_EUNSUPPORTED, "device type 10");
    m = foreign(mem, 2, shape, NULL);
    m.dl_tensor.dtype.lanes = 4;
    BAD(lz_from_dlpack(&m, true), LZ_EDTYPE, "4 lanes");
    m = foreign(mem, 2, shape, NULL);
    m.version.major = 2;
    BAD(lz_from_dlpack(&m, true), LZ_EUNSUPPORTED, "DLPack 2");
    m = foreign(NULL, 2, shape, NULL);
    BAD(lz_from_dlpack(&m, true), LZ_ENULL, "data");
    m = foreign(mem, 2, NULL, NULL);
    BAD(lz_from_dlpack(&m, true), LZ_ENULL, "shape");
    shape[0] = -1;
    m = foreign(mem, 2, shape, NULL);
    BAD(lz_from_dlpack(&m, true), LZ_ESHAPE, "-1");
    memset(mem, 3, sizeof mem);
    shape[0] = 2;
    m = foreign(mem, 2, shape, NULL);
    m.dl_tensor.dtype = (DLDataType){kDLBool, 8, 1};
    BAD(lz_from_dlpack(&m, true), LZ_EINVAL, "0 or 1");
    ck_assert_int_eq(deleted, 8);
    m = foreign(mem, 1, (int64_t[]){0}, NULL);
    OK(lz_status_of(lz_from_dlpack(&m, false)));
    ck_assert_int_eq(deleted, 9);
}
END_TEST

int main(void)
{
    int failed = 0;
    for (int d = 0; d < 2; d++) {
        rt_use(rt_devices[d]);
        Suite *s = suite_create(rt_devices[d]);
        TCase *t = tcase_create("dlpack");
        tcase_add_loop_test(t, every_dtype_goes_out_and_in, 0, NTYPES);
        tcase_add_test(t, lent_memory_outlives_the_tensor);
        tcase_add_test(t, lent_memory_is_read_anew);
        tcase_add_test(t, device_memory);
        tcase_add_test(t, device_memory_refused);
        tcase_add_test(t, strided_and_unaligned_memory_is_copied_when_allowed);
        tcase_add_test(t, narrow_integers_are_not_lent);
        tcase_add_test(t, what_is_not_understood_is_refused_and_deleted);
        suite_add_tcase(s, t);
        failed |= lz_run_suite(s);
    }
    return failed;
}
