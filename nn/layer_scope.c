/* layer_scope.c - name scopes of layers. A layer's struct has no name, but its parameters were
 * added to a list under one: "blocks.0.attention.in_proj_weight" is of the layer
 * "blocks.0.attention", which its forward opens as a name scope. A layer inside another one
 * ("blocks.0.attention.out_proj") has the rest of its name inside that one's scope. Threads: the
 * table of names is shared; what is open belongs to the thread. */
#include "base/hash.h"
#include "base/mutex.h"
#include "nn/nn_internal.h"
#include <lazuli/debug.h>
#include <string.h>

/* Of a handle that lists hold. */
typedef struct layer_name {
    uint32_t lists;
    char name[]; /* of the layer */
} layer_name;

static lz_mutex lock = LZ_MUTEX_INIT("layer_scope");
static lz_map names;                /* by handle */
static __thread const char *inside; /* the name of the innermost layer that is open */

static lz_hash key_of(const lz_tensor *t)
{
    return (lz_hash){(uintptr_t)t, 1};
}

/* Without memory the layer stays without a scope. */
static void name_locked(const lz_tensor *t, const char *param, size_t n)
{
    layer_name *l = lz_map_get(&names, key_of(t));
    if (l) {
        l->lists++;
        return;
    }
    if (!(l = lz_alloc(sizeof *l + n + 1)))
        return;
    l->lists = 1;
    memcpy(l->name, param, n);
    l->name[n] = '\0';
    LZ_QUIETLY {
        if (lz_map_put(&names, key_of(t), l) != LZ_OK)
            lz_free(l);
    }
}

/* Bytes of a parameter's name that are its layer's; 0: it is of no layer. */
static size_t layer_of(const char *param)
{
    const char *dot = strrchr(param, '.');
    return dot ? (size_t)(dot - param) : 0;
}

void lz_nn_name(const lz_tensor *t, const char *param)
{
    size_t n = layer_of(param);
    if (!n)
        return;
    lz_mutex_lock(&lock);
    name_locked(t, param, n);
    lz_mutex_unlock(&lock);
}

void lz_nn_unname(const lz_tensor *t, const char *param)
{
    if (!layer_of(param))
        return;
    lz_mutex_lock(&lock);
    layer_name *l = lz_map_get(&names, key_of(t));
    if (l && --l->lists == 0) {
        lz_map_del(&names, key_of(t));
        lz_free(l);
    }
    lz_mutex_unlock(&lock);
}

static bool find(const lz_tensor *weight, char *name, size_t room)
{
    lz_mutex_lock(&lock);
    const layer_name *l = weight ? lz_map_get(&names, key_of(weight)) : NULL;
    size_t n = l ? strlen(l->name) : 0;
    bool fits = l && n < room;
    if (fits)
        memcpy(name, l->name, n + 1);
    lz_mutex_unlock(&lock);
    return fits;
}

void lz_nn_layer_begin(lz_nn_layer *l, const lz_tensor *weight)
{
    l->open = false;
    if (!find(weight, l->name, sizeof l->name))
        return;
    size_t n = inside ? strlen(inside) : 0;
    bool part = n && strncmp(l->name, inside, n) == 0 && l->name[n] == '.';
    LZ_QUIETLY
        l->open = lz_name_scope_begin(l->name + (part ? n + 1 : 0)) == LZ_OK;
    l->outer = inside;
    if (l->open)
        inside = l->name;
}

void lz_nn_layer_end(lz_nn_layer *l)
{
    if (!l->open)
        return;
    inside = l->outer;
    (void)lz_name_scope_end();
}
