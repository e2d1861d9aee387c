/* t_checkpoint_manifest.c - the manifest of a checkpoint: what is written is read again, and K11,
 * what somebody else may have written is refused, before memory is taken for it. */
#include "base/alloc.h"
#include "data/checkpoint_file.h"
#include "suite.h"
#include <lazuli/device.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static uint32_t keep(lz_manifest *m, const char *s)
{
    return lz_manifest_keep(m, s, strlen(s));
}

static void add_shard(lz_manifest *m, uint32_t file, const int64_t *dims, int n)
{
    ck_assert_int_eq(lz_vec_push(&m->shards, ((lz_manifest_shard){file, m->dims.len})), LZ_OK);
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(lz_vec_push(&m->dims, dims[i]), LZ_OK);
    m->tensors.data[m->tensors.len - 1].nshard++;
}

static void add_tensor(lz_manifest *m, const char *name, lz_dtype d, lz_shape shape)
{
    lz_manifest_tensor t = {keep(m, name), d, shape, m->shards.len, 0};
    ck_assert_int_eq(lz_vec_push(&m->tensors, t), LZ_OK);
}

/* Two processes, a tensor in four pieces, a scalar, one without elements. */
static void fill(lz_manifest *m)
{
    *m = (lz_manifest){.step = 12, .block = LZ_MANIFEST_BLOCK, .processes = 2};
    const lz_manifest_pair p = {keep(m, "lazuli.lr"), keep(m, "0x1p-3 \"\\\n\xc3\xa9")};
    const lz_manifest_metric loss = {keep(m, "loss"), 0.1}, none = {keep(m, "none"), NAN};
    ck_assert_int_eq(lz_vec_push(&m->metadata, p), LZ_OK);
    ck_assert_int_eq(lz_vec_push(&m->metrics, loss), LZ_OK);
    ck_assert_int_eq(lz_vec_push(&m->metrics, none), LZ_OK);
    for (uint32_t i = 0; i < 2; i++) {
        lz_manifest_file f = {i, i ? LZ_MANIFEST_BLOCK + 5 : 900, m->digests.len, i ? 2 : 1};
        ck_assert_int_eq(lz_vec_push(&m->files, f), LZ_OK);
        for (uint32_t k = 0; k < f.ndigest; k++)
            ck_assert_int_eq(lz_vec_push(&m->digests, lz_hash_bytes(&k, 4)), LZ_OK);
    }
    add_tensor(m, "a", LZ_F32, LZ_SHAPE(5, 7));
    add_shard(m, 0, (int64_t[]){0, 0, 3, 4}, 4);
    add_shard(m, 0, (int64_t[]){0, 4, 3, 3}, 4);
    add_shard(m, 1, (int64_t[]){3, 0, 2, 4}, 4);
    add_shard(m, 1, (int64_t[]){3, 4, 2, 3}, 4);
    add_tensor(m, "a.b", LZ_I64, LZ_SCALAR);
    add_shard(m, 1, NULL, 0);
    add_tensor(m, "empty", LZ_BOOL, LZ_SHAPE(0, 3));
}

START_TEST(what_is_written_is_read)
{
    lz_manifest m, again;
    lz_buf text = {0}, second = {0}, key = {0};
    fill(&m);
    ck_assert_int_eq(lz_manifest_put(&m, "x", &text), LZ_OK);
    ck_assert_int_eq(lz_manifest_check(text.data, text.len, "x"), LZ_OK);
    ck_assert_msg(lz_manifest_parse(text.data, text.len, "x", &again) == LZ_OK, "%s",
                  lz_last_error_text());
    ck_assert_int_eq(lz_manifest_put(&again, "x", &second), LZ_OK);
    ck_assert_str_eq(text.data, second.data);
    ck_assert(again.step == 12 && again.processes == 2 && again.files.len == 2);
    ck_assert(again.metrics.data[0].value == 0.1 && isnan(again.metrics.data[1].value));
    const lz_manifest_tensor *t = lz_manifest_find(&again, "a");
    ck_assert(t && t->nshard == 4 && !lz_manifest_find(&again, "a.") &&
              lz_manifest_find(&again, "empty") && lz_manifest_find(&again, "a.b"));
    ck_assert(lz_manifest_key(&again, t, &again.shards.data[t->shard + 3], &key));
    ck_assert_str_eq(key.data, "a[3:5,4:7]");
    for (size_t i = 0; i < text.len; i++) { /* each byte counts */
        text.data[i] ^= 1;
        ck_assert_int_eq(lz_manifest_check(text.data, text.len, "x"), LZ_ECORRUPT);
        text.data[i] ^= 1;
        ck_assert_int_eq(lz_manifest_check(text.data, i, "x"), LZ_ECORRUPT);
    }
    lz_buf_free(&text);
    lz_buf_free(&second);
    lz_buf_free(&key);
    lz_manifest_free(&m);
    lz_manifest_free(&again);
}
END_TEST

/* The first `from` of the text becomes `to`: with a digest that fits, as an attacker would make it.
 */
static lz_status changed(const char *from, const char *to)
{
    lz_manifest m, again;
    lz_buf text = {0}, other = {0};
    fill(&m);
    ck_assert_int_eq(lz_manifest_put(&m, "x", &text), LZ_OK);
    char *at = strstr(text.data, from);
    ck_assert_msg(at != NULL, "no %s", from);
    lz_buf_put(&other, text.data, (size_t)(at - text.data));
    lz_buf_puts(&other, to);
    lz_buf_puts(&other, at + strlen(from));
    int64_t live = lz_alloc_live_bytes_hint();
    lz_status s = lz_manifest_parse(other.data, other.len, "x", &again);
    if (s == LZ_OK)
        lz_manifest_free(&again);
    ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    lz_buf_free(&text);
    lz_buf_free(&other);
    lz_manifest_free(&m);
    return s;
}

START_TEST(k11_refused)
{
    static const struct {
        const char *from, *to;
        lz_status status;
    } bad[] = {
        {"\"step\":12", "\"step\":13", LZ_OK},
        {"rank-00000.safetensors", "/etc/passwd", LZ_EPARSE},
        {"rank-00000.safetensors", "../rank-00000.safetensors", LZ_EPARSE},
        {"rank-00000.safetensors", "rank-0.safetensors", LZ_EPARSE},
        {"rank-00000.safetensors", "rank-00001.safetensors", LZ_EPARSE}, /* twice */
        {"rank-00001.safetensors", "rank-00002.safetensors", LZ_EPARSE}, /* of two */
        {"rank-00001.safetensors", "rank-99999999999.safetensors", LZ_EPARSE},
        {"lazuli.checkpoint", "other", LZ_EPARSE},
        {"\"version\":1", "\"version\":2", LZ_EUNSUPPORTED},
        {"\"version\":1", "\"version\":1e0", LZ_EPARSE},
        {"\"step\":12", "\"step\":-1", LZ_EPARSE},
        {"\"step\":12", "\"step\":9999999999999999999", LZ_EPARSE},
        {"\"step\":12", "\"step\":12,\"step\":12", LZ_EPARSE},
        {"\"processes\":2", "\"processes\":0", LZ_EPARSE},
        {"\"processes\":2", "\"processes\":99999999", LZ_EPARSE},
        {"\"block\":4194304", "\"block\":0", LZ_EPARSE},
        {"\"block\":4194304", "\"block\":1", LZ_EPARSE}, /* not so many digests */
        {"\"block\":4194304", "\"block\":9223372036854775807", LZ_EPARSE},
        {"\"size\":900", "\"size\":0", LZ_EPARSE},
        {"\"size\":900", "\"size\":9223372036854775807", LZ_EPARSE},
        {"\"size\":900", "\"size\":4194304", LZ_OK},
        {"\"loss\":\"0.10000000000000001\"", "\"loss\":\"much\"", LZ_EPARSE},
        {"\"loss\":\"0.10000000000000001\"", "\"loss\":0.1", LZ_EPARSE},
        {"\"dtype\":\"F32\"", "\"dtype\":\"F31\"", LZ_EDTYPE},
        {"\"dtype\":\"F32\"", "\"dtype\":\"F4\"", LZ_EDTYPE},
        {"\"shape\":[5,7]", "\"shape\":[5,8]", LZ_EPARSE},
        {"\"shape\":[5,7]", "\"shape\":[6,7]", LZ_EPARSE},
        {"\"shape\":[5,7]", "\"shape\":[5]", LZ_EPARSE},
        {"\"shape\":[5,7]", "\"shape\":[5,7,1]", LZ_EPARSE},
        {"\"shape\":[5,7]", "\"shape\":[5,-7]", LZ_EPARSE},
        {"\"shape\":[5,7]", "\"shape\":[9223372036854775807,7]", LZ_ERANGE},
        {"\"shape\":[5,7]", "\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", LZ_ESHAPE},
        {"\"offset\":[0,4]", "\"offset\":[0,3]", LZ_EPARSE},
        {"\"offset\":[0,4]", "\"offset\":[0,9223372036854775807]", LZ_EPARSE},
        {"\"offset\":[3,4],\"extent\":[2,3]", "\"offset\":[0,0],\"extent\":[3,4]", LZ_EPARSE},
        {"\"offset\":[3,4],\"extent\":[2,3]", "\"offset\":[3,4],\"extent\":[1,3]", LZ_EPARSE},
        {"\"extent\":[3,4]", "\"extent\":[3,0]", LZ_EPARSE},
        {"\"extent\":[3,4]", "\"extent\":[3,9223372036854775807]", LZ_EPARSE},
        {"\"extent\":[3,4]", "\"extent\":[3,4,1]", LZ_EPARSE},
        {"\"file\":1", "\"file\":2", LZ_EPARSE},
        {"\"file\":1", "\"file\":-1", LZ_EPARSE},
        {"\"a.b\"", "\"a\"", LZ_EPARSE}, /* twice, or not in order */
        {"\"a.b\"", "\"A\"", LZ_EPARSE},
        {"\"a.b\"", "\"a\\u0000b\"", LZ_EPARSE},
        {"\"a.b\"", "\"\xff\"", LZ_EPARSE},
        {"\"tensors\":{", "\"tensors\":[", LZ_EPARSE},
        {"\"digest\":", "\"more\":1,\"digest\":", LZ_EPARSE},
        {"}\n", "}}\n", LZ_EPARSE},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lz_status s = changed(bad[i].from, bad[i].to);
        ck_assert_msg(s == bad[i].status, "%s for %s: %d, %s", bad[i].to, bad[i].from, (int)s,
                      lz_last_error_text());
    }
}
END_TEST

START_TEST(every_beginning_is_refused)
{
    lz_manifest m, again;
    lz_buf text = {0};
    fill(&m);
    ck_assert_int_eq(lz_manifest_put(&m, "x", &text), LZ_OK);
    for (size_t n = 0; n + 1 < text.len; n++) /* the last byte ends a line */
        ck_assert_int_eq(lz_manifest_parse(text.data, n, "x", &again), LZ_EPARSE);
    for (int64_t n = 1;; n++) { /* each allocation fails */
        lz_alloc_fail_at(n, false);
        uint64_t failed = lz_alloc_failed_count();
        lz_status s = lz_manifest_parse(text.data, text.len, "x", &again);
        lz_alloc_fail_at(0, false);
        ck_assert_int_eq(s, lz_alloc_failed_count() == failed ? LZ_OK : LZ_EMEM);
        if (s != LZ_OK)
            continue;
        lz_manifest_free(&again);
        break;
    }
    lz_buf_free(&text);
    lz_manifest_free(&m);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("checkpoint_manifest");
    TCase *t = tcase_create("checkpoint_manifest");
    tcase_add_test(t, what_is_written_is_read);
    tcase_add_test(t, k11_refused);
    tcase_add_test(t, every_beginning_is_refused);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
