/* gen_call.c - random custom_calls, of a function that is registered in every test program: the
 * elements of its first operand in reverse order, and the others as they are. It moves bytes only,
 * so differences before it stay what they are. */
#include "ir/attr.h"
#include "ir/custom_call.h"
#include "support/gen_internal.h"
#include <string.h>

static lz_status reverse(const lz_ffi_call *c, void *user)
{
    (void)user;
    size_t size = lz_dtype_size(c->args[0].dtype), n = c->args[0].nbytes / size;
    for (size_t i = 0; i < n; i++)
        memcpy((char *)c->rets[0].data + i * size,
               (const char *)c->args[0].data + (n - 1 - i) * size, size);
    for (uint32_t k = 1; k < c->nrets; k++)
        memcpy(c->rets[k].data, c->args[k].data, c->args[k].nbytes);
    return LZ_OK;
}

__attribute__((constructor)) static void register_reverse(void)
{
    (void)lz_ffi_table_register("test.reverse", reverse, NULL);
}

lz_val gen_call(gen *g)
{
    enum { MOST = 3 };
    lz_val o[MOST];
    const lz_type *t[MOST];
    uint32_t n = (uint32_t)RND(1, MOST);
    for (uint32_t k = 0; k < n; k++) {
        o[k] = gen_pick(g, LZ_OP_CUSTOM_CALL);
        if (o[k] == LZ_NOVAL)
            return LZ_NOVAL;
        t[k] = lz_val_type(g->f, o[k]);
    }
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_call);
    a.as_call.call_target_name = lz_string_get("test.reverse", strlen("test.reverse"));
    if (CHANCE(30))
        a.as_call.backend_config = lz_string_get("{\"x\"}\n", 6);
    a.as_call.results = lz_ffi_results(t, n);
    return gen_build(g, LZ_OP_CUSTOM_CALL, &a, o, n);
}
