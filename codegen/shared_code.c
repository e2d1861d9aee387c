/* shared_code.c - cache of micro-kernels: see shared_code.h. An entry is in the table while its
 * image is being compiled, so threads that want the same one wait and it is compiled once. Nothing
 * is evicted: programs have few different register tiles; beyond MOST_KEPT they are compiled anew.
 * Threads: thread-safe. */
#include "codegen/shared_code.h"
#include "base/alloc.h"
#include "base/thread.h"
#include <stdatomic.h>
#include <string.h>

enum { MOST_KEPT = 256 };

/* ---- what is kept ---- */

typedef struct entry {
    lz_latch made;
    lz_buf key;   /* target and module */
    lz_buf image; /* empty: it could not be made */
} entry;

static lz_mutex lock = LZ_MUTEX_INIT("shared_code");
static lz_map table;
static _Atomic uint64_t made;

uint64_t lz_shared_made(void)
{
    return atomic_load(&made);
}

static void make_key(const lz_target *t, const void *module, size_t nbytes, lz_buf *key)
{
    lz_buf_lstr(key, t->triple);
    lz_buf_lstr(key, t->cpu);
    lz_buf_lstr(key, t->features);
    lz_buf_put(key, module, nbytes);
}

/* The entry of a key; a new one, *mine, takes the key over. NULL: it is not kept. */
static entry *find(lz_buf *key, bool *mine)
{
    lz_hash h = lz_hash_bytes(key->data, key->len);
    *mine = false;
    lz_mutex_lock(&lock);
    entry *x = lz_map_get(&table, h);
    if (x && (x->key.len != key->len || memcmp(x->key.data, key->data, key->len) != 0)) {
        x = NULL;
    } else if (!x && table.len < MOST_KEPT && (x = lz_calloc(1, sizeof *x)) != NULL) {
        if (lz_map_put(&table, h, x) == LZ_OK) {
            *mine = true;
            x->key = *key;
            *key = (lz_buf){0};
        } else {
            lz_free(x);
            x = NULL;
        }
    }
    lz_mutex_unlock(&lock);
    return x;
}

static lz_status make_image(lz_status (*make)(void *, lz_buf *), void *user, lz_buf *out)
{
    lz_status s = make(user, out);
    if (s == LZ_OK && out->failed)
        s = LZ_FAIL(LZ_EMEM, "no memory for the code of a shared function");
    if (s == LZ_OK)
        atomic_fetch_add(&made, 1);
    return s;
}

lz_status lz_shared_image(const lz_target *t, const void *module, size_t nbytes,
                          lz_status (*make)(void *user, lz_buf *out), void *user, lz_buf *out,
                          bool *busy)
{
    lz_buf key = {0};
    bool mine = false;
    make_key(t, module, nbytes, &key);
    lz_put_off_begin(); /* others may wait for what this thread makes */
    entry *x = key.failed ? NULL : find(&key, &mine);
    lz_buf_free(&key);
    if (busy && x && !mine && !lz_latch_is_set(&x->made)) {
        *busy = true;
        lz_put_off_end();
        return LZ_OK;
    }
    lz_status s = LZ_OK;
    if (mine) {
        s = make_image(make, user, &x->image);
        if (s != LZ_OK)
            lz_buf_free(&x->image);
        lz_latch_set(&x->made);
    } else if (x) {
        (void)lz_latch_wait(&x->made, -1);
    }
    lz_put_off_end();
    LZ_TRY(s);
    if (!x || !x->image.len)
        return make_image(make, user, out);
    lz_buf_put(out, x->image.data, x->image.len);
    return LZ_OK;
}
