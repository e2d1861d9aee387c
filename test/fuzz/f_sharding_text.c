/* f_sharding_text.c - shardings from anywhere: Shardy's, canonical ones and HLO's. What is accepted
 * is written and read back as the same sharding. The first byte chooses the rank. */
#include "ir/sharding/sharding.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool x)
{
    if (!x)
        abort();
}

static const lz_mesh *find(void *user, const char *name, size_t n)
{
    static const lz_mesh_axis axes[] = {{"x", 2}, {"y", 4}, {"z", 6}};
    (void)user;
    (void)name;
    if (n == 1)
        return lz_mesh_get(axes, 3, NULL);
    (void)LZ_FAIL(LZ_EINVAL, "there is no such mesh");
    return NULL;
}

static void must_have_failed(void)
{
    must(lz_error_get()->status != LZ_OK && lz_error_get()->status != LZ_EINTERNAL);
}

static void shardy(const char *text, size_t n)
{
    const lz_mesh_names names = {find, NULL};
    size_t used = 0;
    const lz_sharding *s = lz_sharding_read(text, n, &names, &used);
    if (!s) {
        must_have_failed();
        return;
    }
    must(used <= n && lz_sharding_parse(lz_sharding_text(s)) == s);
}

static void hlo(const char *text, size_t n, int rank)
{
    lz_buf b = {0};
    const lz_sharding *s = lz_sharding_from_hlo(text, n, rank, 8, NULL, 0);
    if (!s) {
        must_have_failed();
        return;
    }
    const lz_sharding *placement = lz_sharding_placement(s);
    lz_sharding_print_hlo(&b, placement);
    must(lz_sharding_from_hlo(b.data, b.len, rank, s->mesh->ndevice, s->mesh, 0) == placement);
    lz_buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *at;
    size_t n;
    if (size == 0)
        return 0;
    lz_error_clear();
    shardy(text + 1, size - 1);
    hlo(text + 1, size - 1, *data % 5);
    if (lz_sharding_hlo_element(text + 1, size - 1, 1, &at, &n))
        hlo(at, n, *data % 5);
    return 0;
}
