/* shared_code.c - see shared_code.h. An entry is in the table while its object is still made, so
 * threads that want the same at the same time make it once. Entries stay: programs have few
 * different tiles, and a process that has too many makes the rest anew. */
#include "codegen/shared_code.h"
#include "base/alloc.h"
#include "base/thread.h"
#include <stdatomic.h>
#include <string.h>

enum { MOST_KEPT = 256 };
static const char magic[8] = "LZOBJS1";

/* ---- what is kept ---- */

typedef struct entry {
    lz_latch made;
    lz_buf key;    /* target and module */
    lz_buf object; /* empty: it could not be made */
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
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
    pthread_mutex_lock(&lock);
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
    pthread_mutex_unlock(&lock);
    return x;
}

static lz_status make_object(lz_status (*make)(void *, lz_buf *), void *user, lz_buf *out)
{
    lz_status s = make(user, out);
    if (s == LZ_OK && out->failed)
        s = LZ_FAIL(LZ_EMEM, "no memory for the code of a shared function");
    if (s == LZ_OK)
        atomic_fetch_add(&made, 1);
    return s;
}

lz_status lz_shared_object(const lz_target *t, const void *module, size_t nbytes,
                           lz_status (*make)(void *user, lz_buf *out), void *user, lz_buf *out,
                           bool *busy)
{
    lz_buf key = {0};
    bool mine = false;
    make_key(t, module, nbytes, &key);
    entry *x = key.failed ? NULL : find(&key, &mine);
    lz_buf_free(&key);
    if (busy && x && !mine && !lz_latch_is_set(&x->made)) {
        *busy = true;
        return LZ_OK;
    }
    if (mine) {
        lz_status s = make_object(make, user, &x->object);
        if (s != LZ_OK)
            lz_buf_free(&x->object);
        lz_latch_set(&x->made);
        LZ_TRY(s);
    } else if (x) {
        (void)lz_latch_wait(&x->made, -1);
    }
    if (!x || !x->object.len)
        return make_object(make, user, out);
    lz_buf_put(out, x->object.data, x->object.len);
    return LZ_OK;
}

/* ---- several objects as one: magic, how many (8 bytes), their sizes (8 bytes each), then each
 * from a multiple of 8 on ---- */

void lz_objects_join(const lz_object *o, uint32_t n, lz_buf *out)
{
    static const char zero[8];
    lz_buf_put(out, magic, sizeof magic);
    lz_buf_u64(out, n);
    for (uint32_t i = 0; i < n; i++)
        lz_buf_u64(out, o[i].nbytes);
    for (uint32_t i = 0; i < n; i++) {
        lz_buf_put(out, o[i].at, o[i].nbytes);
        lz_buf_put(out, zero, LZ_ALIGN_UP(o[i].nbytes, 8) - o[i].nbytes);
    }
}

static uint64_t number(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

bool lz_objects_split(const void *bytes, size_t nbytes, lz_object o[LZ_OBJECTS], uint32_t *n)
{
    const unsigned char *p = bytes;
    size_t head = sizeof magic + 8;
    o[0] = (lz_object){bytes, nbytes};
    *n = 1;
    if (nbytes < head || memcmp(p, magic, sizeof magic) != 0)
        return true;
    uint64_t count = number(p + sizeof magic);
    if (count == 0 || count > LZ_OBJECTS || nbytes - head < count * 8)
        return false;
    size_t at = head + (size_t)count * 8;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t size = number(p + head + i * 8);
        if (size > nbytes - at || LZ_ALIGN_UP(size, 8) > nbytes - at)
            return false;
        o[i] = (lz_object){p + at, (size_t)size};
        at += LZ_ALIGN_UP((size_t)size, 8);
    }
    *n = (uint32_t)count;
    return at == nbytes;
}
