/* pack_cmd.c - lazuli cache export and import: compiled programs in one file, for machines that are
 * to run them without compiling. Which kernels a program has is found out by loading it here, so it
 * is exported where it was compiled. */
#include "backends/common/program_store.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/outfile.h"
#include "base/thread.h"
#include "cache/pack.h"
#include "tools/lazuli/pack_cmd.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of entries ---- */

typedef char entry_name[LZ_STORE_NAME_LEN];
typedef struct names {
    lz_mutex lock; /* kernels are looked up by several threads */
    LZ_VEC(entry_name) list;
    bool failed;
} names;

static void add_name(const char *name, void *user)
{
    names *x = user;
    lz_mutex_lock(&x->lock);
    x->failed = lz_vec_reserve(&x->list, (uint64_t)x->list.len + 1) != LZ_OK || x->failed;
    if (!x->failed)
        (void)snprintf(x->list.data[x->list.len++], LZ_STORE_NAME_LEN, "%s", name);
    lz_mutex_unlock(&x->lock);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* In their order, each once: a kernel may be of many programs. Then a pack is the same whatever
 * order a folder gives its names in. */
static void sort_names(names *x)
{
    uint32_t n = 0;
    if (x->list.len)
        qsort(x->list.data, x->list.len, sizeof *x->list.data, by_text);
    for (uint32_t i = 0; i < x->list.len; i++)
        if (!n || strcmp(x->list.data[n - 1], x->list.data[i]) != 0)
            memmove(x->list.data[n++], x->list.data[i], sizeof *x->list.data);
    x->list.len = n;
}

/* ---- the devices of this machine ---- */

/* The backend and the first device whose programs are stored with these bytes; NULL: none. */
static const lz_backend *backend_of(const char *device, uint32_t n)
{
    const lz_backend *b;
    for (uint32_t i = 0; (b = lz_backend_at(i)); i++) {
        lz_buf key = {0};
        bool same = false;
        LZ_QUIETLY {
            if (b->deserialize && b->init() == LZ_OK) {
                b->key(0, &key);
                same = !key.failed && key.len == n && memcmp(key.data, device, n) == 0;
            }
        }
        lz_buf_free(&key);
        if (same)
            return b;
    }
    return NULL;
}

/* The first field, between semicolons, that two devices differ in. */
static void first_difference(const char *a, size_t na, const char *b, size_t nb, lz_buf *out)
{
    while (na && nb) {
        size_t i = 0, j = 0;
        while (i < na && a[i] != ';')
            i++;
        while (j < nb && b[j] != ';')
            j++;
        if (i != j || memcmp(a, b, i) != 0) {
            /* LAZULI_CPU's name is empty where the processor's own features count */
            lz_buf_printf(out, "'%.*s', and this machine is '%.*s'",
                          i ? (int)(i < 200 ? i : 200) : 6, i ? a : "native",
                          j ? (int)(j < 200 ? j : 200) : 6, j ? b : "native");
            return;
        }
        a += i + (i < na), na -= i + (i < na);
        b += j + (j < nb), nb -= j + (j < nb);
    }
    lz_buf_printf(out, "'%.*s'", (int)(na < 200 ? na : 200), a);
}

/* What a program is for that no device here is: compared with the device of the same platform. */
static lz_status for_no_device(const char *device, uint32_t n)
{
    const lz_backend *b;
    lz_buf key = {0}, what = {0};
    for (uint32_t i = 0; (b = lz_backend_at(i)); i++) {
        size_t name = strlen(b->name);
        if (!b->deserialize || n <= name || memcmp(device, b->name, name) != 0)
            continue;
        LZ_QUIETLY {
            if (b->init() == LZ_OK)
                b->key(0, &key);
        }
        if (key.len && !key.failed)
            first_difference(device, n, key.data, key.len, &what);
        break;
    }
    if (!what.len)
        lz_buf_printf(&what, "'%.*s', which this machine has not", (int)(n < 200 ? n : 200),
                      device);
    lz_status s =
        LZ_FAIL(LZ_EUNSUPPORTED, "a program is for another machine: for %s", lz_buf_str(&what));
    lz_buf_free(&key);
    lz_buf_free(&what);
    return s;
}

/* ---- export ---- */

static lz_status load_program(const lz_program_parts *p, const lz_entry *e, lz_cache *c)
{
    const lz_backend *b = backend_of(p->device, p->ndevice);
    if (!b)
        return for_no_device(p->device, p->ndevice);
    lz_compile_options o = {
        .donate = p->donate, .cache = c, .func = p->f, .look_up_branches = true};
    lz_program_set_team(&o, p->team);
    lz_buf key = {.data = (char *)e->key, .len = (size_t)e->sec[LZ_SEC_KEY].usize};
    lz_exec *x = NULL;
    lz_lease lease;
    lz_program_found found = lz_program_load(b, 0, &key, &o, &lease, &x);
    lz_cache_lease_release(c, &lease);
    if (found != LZ_PROGRAM_LOADED)
        return found == LZ_PROGRAM_MISSING ? LZ_FAIL(LZ_ENOENT, "it is not there any more")
                                           : lz_error_get()->status;
    lz_exec_info info;
    b->exec_info(x, &info);
    if (info.llvm_compiles)
        fprintf(stderr,
                "lazuli: cache export: %u kernels of a program were missing and have been "
                "compiled\n",
                info.llvm_compiles);
    b->exec_free(x);
    return LZ_OK;
}

typedef struct picked {
    lz_cache *c;
    char *const *hashes; /* none: everything */
    int nhash;
    bool *met; /* by hash */
    names all, programs;
    lz_status status;
} picked;

bool tool_is_hash(const char *h)
{
    return strlen(h) >= 4 && strlen(h) <= 35 && strspn(h, "0123456789abcdef/.p") == strlen(h);
}

bool tool_names_program(const char *h, const char *name, lz_hash graph)
{
    char own[33], hex[33], text[33];
    size_t n = strlen(h);
    (void)snprintf(own, sizeof own, "%.2s%.30s", name, name + 3);
    lz_hash_hex(graph, hex);
    (void)lz_hash_text(graph, text);
    return strncmp(own, h, n) == 0 || strncmp(hex, h, n) == 0 || strncmp(text, h, n) == 0 ||
           strcmp(name, h) == 0;
}

static bool is_named(const picked *x, const char *name, lz_hash graph)
{
    bool any = x->nhash == 0;
    for (int i = 0; i < x->nhash; i++) {
        bool yes = tool_names_program(x->hashes[i], name, graph);
        x->met[i] = x->met[i] || yes;
        any = any || yes;
    }
    return any;
}

static bool pick(const lz_cache_entry_info *info, void *user)
{
    picked *x = user;
    lz_buf bytes = {0};
    lz_entry e;
    if (!info->ok || info->foreign || (x->nhash && info->kind != LZ_CACHE_PROGRAM))
        return true;
    lz_status s = lz_cache_read_entry(x->c, info->name, &bytes, &e);
    if (s == LZ_OK &&
        is_named(x, info->name, lz_hash_bytes(e.key, (size_t)e.sec[LZ_SEC_KEY].usize)))
        add_name(info->name, x->nhash ? &x->programs : &x->all);
    lz_buf_free(&bytes);
    if (s == LZ_EMEM)
        x->status = s;
    return s != LZ_EMEM; /* one of another build, or without the MAC, is not exported */
}

/* Loads the programs, so that what they have is among the names. Where no code is read from files
 * they go without. */
static lz_status load_picked(picked *x)
{
    bool code = lz_cfg_bool(LZ_OPT_CACHE_CODE);
    for (uint32_t i = 0; !code && i < x->programs.list.len; i++)
        add_name(x->programs.list.data[i], &x->all);
    if (!code)
        return LZ_OK;
    for (uint32_t i = 0; i < x->programs.list.len; i++) {
        lz_buf bytes = {0};
        lz_entry e;
        lz_program_parts p = {0};
        lz_status s = lz_cache_read_entry(x->c, x->programs.list.data[i], &bytes, &e);
        if (s == LZ_OK)
            s = lz_program_take_apart(e.key, (size_t)e.sec[LZ_SEC_KEY].usize, &p);
        if (s == LZ_OK)
            s = load_program(&p, &e, x->c);
        lz_program_parts_free(&p);
        lz_buf_free(&bytes);
        LZ_TRY(s);
    }
    return LZ_OK;
}

static lz_status write_pack(picked *x, const char *path)
{
    lz_buf pack = {0};
    lz_outfile f;
    const char **list = lz_calloc((size_t)x->all.list.len + 1, sizeof *list);
    lz_status s = list && !x->all.failed ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for names");
    for (uint32_t i = 0; s == LZ_OK && i < x->all.list.len; i++)
        list[i] = x->all.list.data[i];
    if (s == LZ_OK)
        s = lz_cache_export(x->c, list, x->all.list.len, &pack);
    if (s == LZ_OK)
        s = lz_outfile_begin(&f, path, false);
    if (s == LZ_OK) {
        lz_outfile_put(&f, pack.data, pack.len);
        s = lz_outfile_end(&f, LZ_OK);
    }
    if (s == LZ_OK)
        printf("exported %u entries, %zu bytes\n", x->all.list.len, pack.len);
    lz_free(list);
    lz_buf_free(&pack);
    return s;
}

static lz_status export_picked(picked *x, const char *path)
{
    LZ_TRY(lz_cache_walk(x->c, false, pick, x));
    LZ_TRY(x->status);
    for (int i = 0; i < x->nhash; i++)
        if (!x->met[i])
            return LZ_FAIL(LZ_ENOENT, "no program of this build has the hash %s", x->hashes[i]);
    LZ_TRY(load_picked(x));
    if (x->all.list.len == 0)
        return LZ_FAIL(LZ_ENOENT, "the cache has nothing of this build");
    sort_names(&x->all);
    return write_pack(x, path);
}

int tool_cache_export(const char *path, char *const *hashes, int n, const char *out)
{
    picked x = {.hashes = hashes, .nhash = n};
    lz_mutex_init(&x.all.lock, "export names");
    lz_mutex_init(&x.programs.lock, "export programs");
    lz_cache_options o = {.path = path,
                          .build_id = lz_program_build(),
                          .isa_ok = lz_backend_can_run,
                          .used = add_name,
                          .user = &x.all,
                          .system = ""};
    x.met = lz_calloc((size_t)n + 1, sizeof *x.met);
    lz_status s = x.met ? lz_cache_open(&o, &x.c) : LZ_FAIL(LZ_EMEM, "no memory");
    if (s == LZ_OK)
        s = lz_cache_enabled(x.c) ? export_picked(&x, out)
                                  : LZ_FAIL(LZ_EUNAVAILABLE, "%s cannot be used", path);
    lz_cache_close(x.c);
    lz_free(x.met);
    lz_vec_free(&x.all.list);
    lz_vec_free(&x.programs.list);
    return s == LZ_OK ? 0 : tool_fail("cache export");
}

/* ---- import ---- */

static lz_status accept(const lz_entry *e, void *user)
{
    (void)user;
    if (*e->isa && !lz_backend_can_run(e->isa, NULL))
        return LZ_FAIL(LZ_EUNSUPPORTED, "a kernel is for another machine: it needs %.200s", e->isa);
    if (e->kind != LZ_CACHE_PROGRAM)
        return LZ_OK;
    lz_program_parts p;
    LZ_TRY(lz_program_take_apart(e->key, (size_t)e->sec[LZ_SEC_KEY].usize, &p));
    lz_status s = backend_of(p.device, p.ndevice) ? LZ_OK : for_no_device(p.device, p.ndevice);
    lz_program_parts_free(&p);
    return s;
}

static lz_status import(lz_cache *c, const char *file)
{
    lz_buf bytes = {0};
    lz_import_counts n;
    lz_status s = tool_read_file(file, LZ_PACK_MAX_FILE, &bytes);
    if (s == LZ_OK)
        s = lz_cache_import(c, bytes.data, bytes.len, accept, NULL, &n);
    lz_buf_free(&bytes);
    LZ_TRY(s);
    printf("imported %u programs and %u kernels; %u were there\n", n.stored[LZ_CACHE_PROGRAM],
           n.stored[LZ_CACHE_KERNEL],
           n.there[LZ_CACHE_PROGRAM] + n.there[LZ_CACHE_KERNEL] + n.there[LZ_CACHE_CHOICE]);
    return LZ_OK;
}

int tool_cache_import(const char *path, const char *file)
{
    lz_cache_options o = {
        .path = path, .build_id = lz_program_build(), .isa_ok = lz_backend_can_run, .system = ""};
    lz_cache *c = NULL;
    lz_status s = lz_cache_open(&o, &c);
    if (s == LZ_OK)
        s = lz_cache_enabled(c) ? import(c, file)
                                : LZ_FAIL(LZ_EUNAVAILABLE, "%s cannot be used", path);
    lz_cache_close(c);
    return s == LZ_OK ? 0 : tool_fail("cache import");
}
