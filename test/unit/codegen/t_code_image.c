/* t_code_image.c - the format of linked code: written and opened again, damaged in every byte, cut
 * off anywhere, joined, placed. */
#include "codegen/code_image.h"
#include "suite.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { CODE = 100 };

static const char names[] = "lz_run\0cos\0lz_shared0\0lz_shared1";
enum { COS = 7, SHARED0 = 11, SHARED1 = 22 };

static lz_code_image sample(uint32_t machine, const uint8_t *code)
{
    bool arm = machine == EM_AARCH64;
    lz_code_image im = {.machine = machine,
                        .align = arm ? 4096 : 64,
                        .ncode = CODE,
                        .nslot = 4,
                        .nfunc = 1,
                        .nnames = sizeof names,
                        .code = code,
                        .names = names,
                        .funcs = {{16, 0}},
                        .slots = {{80, LZ_CODE_WORD_EXTERN, COS},
                                  {88, LZ_CODE_WORD_INTERN, 24},
                                  {0, LZ_CODE_WORD_EXTERN, SHARED0},
                                  {8, LZ_CODE_WORD_EXTERN, SHARED1}}};
    if (arm)
        for (int i = 0; i < 3; i += 2) {
            im.slots[i].at = i ? 20 : 60;
            im.slots[i].kind = LZ_CODE_MOVW_EXTERN;
        }
    return im;
}

static const uint8_t *some_code(void)
{
    static uint8_t code[CODE];
    for (int i = 0; i < CODE; i++)
        code[i] = (uint8_t)(i + 1);
    return code;
}

static lz_buf bytes_of(uint32_t machine)
{
    lz_code_image im = sample(machine, some_code());
    lz_buf b = {0};
    lz_code_write(&im, &b);
    ck_assert(!b.failed);
    return b;
}

static int reached;

static void *resolve(const char *name)
{
    if (strcmp(name, "cos") == 0)
        return (void *)(uintptr_t)0x1122334455667788;
    return strncmp(name, "lz_shared", 9) == 0 ? (void *)&reached : NULL;
}

static void opens(const lz_buf *b, lz_code_image *im)
{
    const char *wrong = lz_code_open(b->data, b->len, im);
    ck_assert_msg(!wrong, "%s", wrong);
}

static const uint32_t machines[] = {EM_X86_64, EM_AARCH64};

START_TEST(written_and_opened)
{
    lz_buf b = bytes_of(machines[_i]), again = {0};
    lz_code_image im, was = sample(machines[_i], some_code());
    opens(&b, &im);
    ck_assert_uint_eq(lz_code_nbytes(b.data), b.len);
    ck_assert_uint_eq(im.ncode, CODE);
    ck_assert_int_eq(memcmp(im.code, was.code, CODE), 0);
    ck_assert_int_eq(memcmp(im.slots, was.slots, 4 * sizeof *im.slots), 0);
    ck_assert_uint_eq(lz_code_find(&im, "lz_run"), 16);
    ck_assert_uint_eq(lz_code_find(&im, "lz_grid"), UINT32_MAX);
    lz_code_write(&im, &again);
    ck_assert(again.len == b.len && memcmp(again.data, b.data, b.len) == 0);
    lz_buf_free(&b);
    lz_buf_free(&again);
}
END_TEST

static uint64_t word_at(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* The address that four instructions load: their 16-bit pieces. */
static uint64_t quad_at(const uint8_t *p)
{
    uint64_t v = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t in;
        memcpy(&in, p + 4 * i, 4);
        v = v << 16 | (in >> 5 & 0xffff);
    }
    return v;
}

START_TEST(slots_are_filled)
{
    lz_buf b = bytes_of(machines[_i]);
    lz_code_image im;
    uint8_t mem[CODE];
    opens(&b, &im);
    ck_assert_ptr_null(lz_code_place(&im, mem, 0x5000, resolve));
    bool arm = machines[_i] == EM_AARCH64;
    ck_assert(arm ? quad_at(mem + 60) == 0x1122334455667788
                  : word_at(mem + 80) == 0x1122334455667788);
    ck_assert_uint_eq(word_at(mem + 88), 0x5000 + 24);
    ck_assert_uint_eq(arm ? quad_at(mem + 20) : word_at(mem), (uintptr_t)&reached);
    ck_assert_int_eq(memcmp(mem + 96, im.code + 96, CODE - 96), 0); /* nothing else is changed */
    char *cosine = memmem(b.data, b.len, "\0cos\0", 5);
    cosine[1] = 'z';
    const char *unknown = lz_code_place(&im, mem, 0x5000, resolve);
    ck_assert_ptr_nonnull(unknown);
    ck_assert_str_eq(unknown, "zos");
    lz_buf_free(&b);
}
END_TEST

/* What was accepted can be placed, and lies in its memory. */
static bool holds(const void *bytes, size_t nbytes)
{
    lz_code_image im;
    if (lz_code_open(bytes, nbytes, &im))
        return false;
    uint8_t *mem = malloc(im.ncode); /* of its exact size: overruns are seen */
    (void)lz_code_place(&im, mem, (uintptr_t)mem, resolve);
    for (uint32_t i = 0; i < im.nfunc; i++)
        ck_assert_uint_lt(im.funcs[i].at, im.ncode);
    free(mem);
    return true;
}

START_TEST(damaged)
{
    lz_buf b = bytes_of(machines[_i]);
    for (size_t n = 0; n < b.len; n++) { /* cut off, in memory of its exact size */
        uint8_t *cut = malloc(n + 1);
        memcpy(cut, b.data, n);
        ck_assert(!holds(cut, n));
        free(cut);
    }
    uint8_t *bad = malloc(b.len + 1);
    memcpy(bad, b.data, b.len);
    ck_assert(holds(bad, b.len));
    ck_assert(!holds(bad, b.len + 1)); /* something behind */
    for (size_t i = 0; i < b.len; i++)
        for (int bit = 0; bit < 8; bit++) {
            bad[i] ^= (uint8_t)(1 << bit);
            bool good = holds(bad, b.len);
            ck_assert_msg(!good || i >= 16, "byte %zu", i); /* magic, machine, size */
            bad[i] ^= (uint8_t)(1 << bit);
        }
    uint64_t x = 99;
    for (int i = 0; i < 100000; i++) {
        memcpy(bad, b.data, b.len);
        for (int k = 0; k <= i % 4; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            bad[(x >> 33) % b.len] = (uint8_t)(x >> 25);
        }
        (void)holds(bad, b.len);
    }
    free(bad);
    lz_buf_free(&b);
}
END_TEST

static void refuses(lz_code_image im, const char *why)
{
    lz_buf b = {0};
    lz_code_image out;
    lz_code_write(&im, &b);
    const char *wrong = lz_code_open(b.data, b.len, &out);
    ck_assert_msg(wrong && strstr(wrong, why), "%s, not %s", wrong ? wrong : "nothing", why);
    lz_buf_free(&b);
}

START_TEST(out_of_range)
{
    const lz_code_image good = sample(EM_X86_64, some_code());
    static const lz_code_slot bad[] = {{CODE - 4, LZ_CODE_WORD_EXTERN, COS},
                                       {96, LZ_CODE_WORD_EXTERN, COS},
                                       {4, LZ_CODE_WORD_EXTERN, COS},
                                       {UINT32_MAX - 7, LZ_CODE_WORD_EXTERN, COS},
                                       {0, LZ_CODE_WORD_EXTERN, sizeof names},
                                       {0, LZ_CODE_WORD_INTERN, CODE},
                                       {0, LZ_CODE_MOVW_EXTERN, COS},
                                       {0, LZ_CODE_KINDS, 0},
                                       {0, UINT32_MAX, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lz_code_image im = good;
        im.slots[1] = bad[i];
        refuses(im, "slot");
    }
    lz_code_image im = sample(EM_AARCH64, some_code());
    im.slots[0].at = 88; /* 16 bytes of instructions */
    refuses(im, "slot");
    im.slots[0].at = 58;
    refuses(im, "slot");
    im = good, im.funcs[0].at = CODE;
    refuses(im, "function");
    im = good, im.funcs[0].name = sizeof names;
    refuses(im, "function");
    im = good, im.nfunc = 0;
    refuses(im, "nothing");
    im = good, im.nnames = sizeof names - 1;
    refuses(im, "end");
    im = good, im.align = 32;
    refuses(im, "header");
    im = good, im.machine = EM_386;
    refuses(im, "machine");
}
END_TEST

static const char *shared_name(uint32_t i)
{
    return i ? "lz_shared1" : "lz_shared0";
}

START_TEST(joined)
{
    lz_code_image own = sample(machines[_i], some_code()), all;
    lz_code_image part[2] = {own, own};
    part[0].nslot = part[1].nslot = 2; /* cos, and a place of its own */
    lz_buf b = {0};
    ck_assert_ptr_null(lz_code_join(&own, part, 2, shared_name, &b));
    opens(&b, &all);
    uint32_t apart = own.align == 64 ? 128 : 4096;
    ck_assert_uint_eq(all.ncode, 2 * apart + CODE);
    ck_assert_uint_eq(all.nslot, 8);
    ck_assert_uint_eq(all.nfunc, 3); /* those that were joined are named, for debuggers */
    uint8_t *mem = calloc(1, all.ncode);
    ck_assert_ptr_null(lz_code_place(&all, mem, 0x10000, resolve));
    bool arm = machines[_i] == EM_AARCH64;
    ck_assert_uint_eq(arm ? quad_at(mem + 20) : word_at(mem), 0x10000 + apart + 16);
    ck_assert_uint_eq(word_at(mem + 8), 0x10000 + 2 * apart + 16);
    ck_assert_uint_eq(word_at(mem + 88), 0x10000 + 24);
    ck_assert_uint_eq(word_at(mem + 2 * apart + 88), 0x10000 + 2 * apart + 24);
    free(mem);
    lz_buf_free(&b);
    part[1].nfunc = 2;
    ck_assert_ptr_nonnull(lz_code_join(&own, part, 2, shared_name, &b));
    part[1].nfunc = 1;
    part[1].machine ^= EM_X86_64 ^ EM_AARCH64;
    ck_assert_ptr_nonnull(lz_code_join(&own, part, 2, shared_name, &b));
    ck_assert_uint_eq(b.len, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("code_image");
    TCase *t = tcase_create("code_image");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, written_and_opened, 0, 2);
    tcase_add_loop_test(t, slots_are_filled, 0, 2);
    tcase_add_loop_test(t, damaged, 0, 2);
    tcase_add_test(t, out_of_range);
    tcase_add_loop_test(t, joined, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
