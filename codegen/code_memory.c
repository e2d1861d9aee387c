/* code_memory.c - see code_memory.h. Executable memory: many kernels packed into few regions, never
 * writable and executable at one address. A region is a piece of a memory file mapped twice, once
 * writable and once executable, so adding a kernel costs no system call and a process with
 * thousands of kernels has a handful of mappings. Where such files may not be executed, and for
 * perf, which takes a file's names from the file, a region is anonymous memory whose pages are
 * switched from writable to executable once they hold a kernel; kernels then begin on pages of
 * their own. An empty region is unmapped, except the last one.
 * Units: bytes. Threads: thread-safe. */
#include "codegen/code_memory.h"
#include "codegen/code_image.h"
#include "codegen/codegen.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/file_io.h"
#include "base/thread.h"
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__aarch64__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#endif

#if defined(__aarch64__)
enum { GRAIN = 4096 }; /* adrp counts in pages */
#else
enum { GRAIN = 64 };
#endif
enum { REGION = 1 << 20, MAX_HOLES = 1 << 16 };

/* A free piece of a region; holes are sorted by offset and never touch. */
typedef struct hole {
    size_t offset, nbytes;
} hole;

typedef struct region {
    struct region *next;
    uint8_t *write, *exec; /* the same bytes twice; equal when pages are switched */
    size_t nbytes, live, grain;
    hole *holes;
    uint32_t nhole, cap;
    uint32_t kernels;
} region;

static lz_mutex lock = LZ_MUTEX_INIT("code_memory");
static region *regions;
static bool no_memfd; /* tried, refused */

static size_t page_bytes(void)
{
    static _Atomic size_t n;
    if (!n)
        n = (size_t)sysconf(_SC_PAGESIZE);
    return n;
}

/* ---- mapping ---- */

static bool map_twice(region *r)
{
    int fd = memfd_create("lazuli-code", MFD_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = LZ_NO_EINTR(ftruncate(fd, (off_t)r->nbytes)) == 0;
    void *w = MAP_FAILED, *x = MAP_FAILED;
    if (ok)
        w = mmap(NULL, r->nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (w != MAP_FAILED)
        x = mmap(NULL, r->nbytes, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    (void)lz_file_close(fd);
    if (x == MAP_FAILED) {
        if (w != MAP_FAILED)
            munmap(w, r->nbytes);
        return false;
    }
    /* a forked child may run the code, but must not change the parent's */
    (void)madvise(w, r->nbytes, MADV_DONTFORK);
    r->write = w;
    r->exec = x;
    r->grain = GRAIN;
    return true;
}

static bool map_once(region *r)
{
    void *p = mmap(NULL, r->nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    r->write = r->exec = p;
    r->grain = page_bytes();
    return true;
}

static void unmap(region *r)
{
    if (r->write)
        munmap(r->write, r->nbytes);
    if (r->exec && r->exec != r->write)
        munmap(r->exec, r->nbytes);
    lz_free(r->holes);
    lz_free(r);
}

/* It takes a file's names from the file. */
static bool is_for_perf(void)
{
    return lz_cfg_bool(LZ_OPT_PERF) || *lz_cfg_str(LZ_OPT_JITDUMP);
}

static region *region_new(size_t need)
{
    region *r = lz_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->cap = 16;
    r->holes = lz_alloc(r->cap * sizeof *r->holes);
    r->nbytes = LZ_ALIGN_UP(need > REGION ? need : REGION, page_bytes());
    if (r->holes && !no_memfd && !is_for_perf() && !map_twice(r))
        no_memfd = true;
    if (!r->holes || (!r->exec && !map_once(r))) {
        unmap(r);
        return NULL;
    }
    r->holes[0] = (hole){0, r->nbytes};
    r->nhole = 1;
    r->next = regions;
    regions = r;
    return r;
}

/* ---- pieces of a region ---- */

static bool cut(region *r, size_t nbytes, size_t *offset)
{
    for (uint32_t i = 0; i < r->nhole; i++) {
        hole *h = &r->holes[i];
        if (h->nbytes < nbytes)
            continue;
        *offset = h->offset;
        h->offset += nbytes;
        h->nbytes -= nbytes;
        if (h->nbytes == 0) {
            r->nhole--;
            memmove(h, h + 1, (r->nhole - i) * sizeof *h);
        }
        r->live += nbytes;
        return true;
    }
    return false;
}

static bool more_holes(region *r)
{
    if (r->nhole < r->cap)
        return true;
    hole *h = r->cap < MAX_HOLES ? lz_realloc(r->holes, r->cap * 2 * sizeof *h) : NULL;
    if (!h)
        return false;
    r->holes = h;
    r->cap *= 2;
    return true;
}

/* Gives a piece back. When there is no memory to note it, the piece is lost until its region is
 * empty. */
static void mend(region *r, size_t offset, size_t nbytes)
{
    uint32_t i = 0;
    r->live -= nbytes;
    while (i < r->nhole && r->holes[i].offset < offset)
        i++;
    bool left = i > 0 && r->holes[i - 1].offset + r->holes[i - 1].nbytes == offset;
    bool right = i < r->nhole && offset + nbytes == r->holes[i].offset;
    if (left && right) {
        r->holes[i - 1].nbytes += nbytes + r->holes[i].nbytes;
        r->nhole--;
        memmove(&r->holes[i], &r->holes[i + 1], (r->nhole - i) * sizeof *r->holes);
    } else if (left) {
        r->holes[i - 1].nbytes += nbytes;
    } else if (right) {
        r->holes[i].offset = offset;
        r->holes[i].nbytes += nbytes;
    } else if (more_holes(r)) {
        memmove(&r->holes[i + 1], &r->holes[i], (r->nhole - i) * sizeof *r->holes);
        r->holes[i] = (hole){offset, nbytes};
        r->nhole++;
    }
    if (r->live == 0) {
        r->holes[0] = (hole){0, r->nbytes};
        r->nhole = 1;
    }
}

static void drop_if_empty(region *r)
{
    if (r->live || (regions == r && !r->next))
        return;
    for (region **p = &regions; *p; p = &(*p)->next)
        if (*p == r) {
            *p = r->next;
            unmap(r);
            return;
        }
}

static region *find_room(size_t nbytes, size_t *offset, size_t *rounded)
{
    for (region *r = regions; r; r = r->next) {
        *rounded = LZ_ALIGN_UP(nbytes, r->grain);
        if (cut(r, *rounded, offset))
            return r;
    }
    region *r = region_new(nbytes);
    if (!r)
        return NULL;
    *rounded = LZ_ALIGN_UP(nbytes, r->grain);
    return cut(r, *rounded, offset) ? r : NULL;
}

/* Pages of a region that is mapped once: writable to link into, executable to run. */
static bool protect(const region *r, size_t offset, size_t nbytes, int prot)
{
    return r->write != r->exec || mprotect(r->exec + offset, nbytes, prot) == 0;
}

/* ---- kernels ---- */

/* The function of a kernel that has none. */
static int64_t no_scratch(const int64_t *args)
{
    (void)args;
    return 0;
}

static bool take_functions(const lz_code_image *im, const uint8_t *exec, lz_code *out)
{
    uint32_t run = lz_code_find(im, "lz_run"), grid = lz_code_find(im, "lz_grid"),
             scratch = lz_code_find(im, "lz_scratch");
    if (run == UINT32_MAX || grid == UINT32_MAX)
        return false;
    out->run = (lz_run_fn)(uintptr_t)(exec + run);
    out->grid = (lz_size_fn)(uintptr_t)(exec + grid);
    out->scratch = scratch == UINT32_MAX ? no_scratch : (lz_size_fn)(uintptr_t)(exec + scratch);
    return true;
}

/* A place may have held another kernel. Clearing caches does not reach the instructions of it that
 * another core has fetched already: on AArch64 each core has to synchronise by itself, which the
 * system has all those do that run this process (Linux 4.16; without it, what is fetched is
 * forgotten at the next system call or interrupt of such a core). */
static void forget_fetched(void)
{
#if defined(__aarch64__)
    const int sync = MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE,
              ask = MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE;
    if (syscall(SYS_membarrier, sync, 0, 0) != 0 && errno == EPERM &&
        syscall(SYS_membarrier, ask, 0, 0) == 0)
        (void)syscall(SYS_membarrier, sync, 0, 0);
#endif
}

/* Puts the image where `out` says; gives what is wrong, or NULL. */
static const char *install(region *r, const lz_code_image *im, lz_code *out)
{
    uint8_t *exec = r->exec + out->offset;
    if (!protect(r, out->offset, out->nbytes, PROT_READ | PROT_WRITE))
        return "its memory cannot be made writable";
    const char *err = lz_code_place(im, r->write + out->offset, (uintptr_t)exec, lz_jit_symbol);
    if (!protect(r, out->offset, out->nbytes, PROT_READ | PROT_EXEC))
        return "its memory cannot be made executable";
    __builtin___clear_cache((char *)exec, (char *)exec + out->nbytes);
    forget_fetched();
    return err ? "it calls an external function that there is not" : NULL;
}

static bool is_for_host(const lz_code_image *im)
{
#if defined(__x86_64__)
    return im->machine == EM_X86_64;
#elif defined(__aarch64__)
    return im->machine == EM_AARCH64;
#else
    return false;
#endif
}

static lz_status refuse(const char *err, size_t nbytes)
{
    return LZ_FAIL(LZ_ECORRUPT, "the code of a kernel (%zu bytes) cannot be used: %s", nbytes, err);
}

static lz_status load_locked(const lz_code_image *im, size_t nbytes, lz_code *out)
{
    region *r = find_room(im->ncode, &out->offset, &out->nbytes);
    if (!r)
        return LZ_FAIL(LZ_EMEM, "no executable memory for a kernel of %zu bytes", nbytes);
    const char *err = install(r, im, out);
    if (!err && !take_functions(im, r->exec + out->offset, out))
        err = "it does not define the functions of a kernel";
    if (err) {
        mend(r, out->offset, out->nbytes);
        drop_if_empty(r);
        return refuse(err, nbytes);
    }
    out->region = r;
    out->at = r->exec + out->offset;
    r->kernels++;
    return LZ_OK;
}

lz_status lz_code_load(const void *image, size_t nbytes, lz_code *out)
{
    lz_code_image im;
    memset(out, 0, sizeof *out);
    const char *err = lz_code_open(image, nbytes, &im);
    if (!err && !is_for_host(&im))
        err = "it is for another processor";
    if (err)
        return refuse(err, nbytes);
    lz_mutex_lock(&lock);
    lz_status s = load_locked(&im, nbytes, out);
    lz_mutex_unlock(&lock);
    if (s != LZ_OK)
        memset(out, 0, sizeof *out);
    return s;
}

void lz_code_free(lz_code *c)
{
    region *r = c->region;
    if (!r)
        return;
    lz_mutex_lock(&lock);
    r->kernels--;
    mend(r, c->offset, c->nbytes);
    drop_if_empty(r);
    lz_mutex_unlock(&lock);
    memset(c, 0, sizeof *c);
}

void lz_code_get_stats(lz_code_stats *out)
{
    memset(out, 0, sizeof *out);
    lz_mutex_lock(&lock);
    for (region *r = regions; r; r = r->next) {
        out->live_bytes += r->live;
        out->mapped_bytes += r->nbytes;
        out->kernels += r->kernels;
        out->regions++;
    }
    lz_mutex_unlock(&lock);
}
