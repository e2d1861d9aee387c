/* fuzz_main.c - drives a libFuzzer target without libFuzzer: replays files, then mutates them by a
 * fixed seed.
 *   PROGRAM [-runs=N] [-max_total_time=SECONDS] [-seed=S] [-max_len=BYTES] [FILE|FOLDER]...
 * Without files: test/fuzz/corpus/<name of the program>. Without limits: 2,000 mutations (400 with
 *   LZ_TEST_QUICK). The bytes of the run under way are kept in $TMPDIR/fuzz-<name>.crash, so a
 *   crash leaves its input behind; the same seed gives the same inputs on every machine. */
#include "base/thread.h"
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

typedef struct input {
    uint8_t *data;
    size_t n;
} input;

static input *corpus;
static size_t num_inputs, cap_inputs;
static uint64_t rng_state;
static uint8_t
    *crash_bytes; /* shared mapping of the crash file: its length in 8 bytes, then the input */
static size_t crash_cap;
static char crash_path[1024];

static uint64_t rnd(void)
{
    uint64_t z = rng_state += 0x9E3779B97F4A7C15u; /* SplitMix64 */
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static size_t below(size_t n)
{
    return n ? (size_t)(rnd() % n) : 0;
}

static void *must(void *p)
{
    if (!p) {
        fprintf(stderr, "fuzz: out of memory\n");
        exit(2);
    }
    return p;
}

static void add_input(const uint8_t *data, size_t n)
{
    if (num_inputs == cap_inputs) {
        cap_inputs = cap_inputs ? cap_inputs * 2 : 64;
        corpus = must(realloc(corpus, cap_inputs * sizeof *corpus));
    }
    uint8_t *copy = must(malloc(n + 1));
    if (n)
        memcpy(copy, data, n);
    corpus[num_inputs++] = (input){copy, n};
}

static void add_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(2);
    }
    static uint8_t buf[(1 << 20) + 8];
    size_t n = fread(buf, 1, sizeof buf, f), len, m = strlen(path);
    fclose(f);
    if (n >= 8 && m > 6 && strcmp(path + m - 6, ".crash") == 0 && /* what an earlier crash left */
        (memcpy(&len, buf, 8), len <= n - 8))
        add_input(buf + 8, len);
    else
        add_input(buf, n);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void add_path(const char *path, bool must_exist)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        if (must_exist) {
            perror(path);
            exit(2);
        }
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        add_file(path);
        return;
    }
    struct dirent **names;
    int n = scandir(path, &names, NULL, by_name);
    for (int i = 0; i < n; i++) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && stat(file, &st) == 0 && S_ISREG(st.st_mode))
            add_file(file);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
}

/* The input lies in a block of exactly its size, so that the address sanitizer sees a read past its
 * end. */
static void run_one(const uint8_t *data, size_t n)
{
    if (crash_bytes && n <= crash_cap) {
        memcpy(crash_bytes + 8, data, n);
        memcpy(crash_bytes, &n, sizeof n);
    }
    uint8_t *exact = must(malloc(n ? n : 1));
    if (n)
        memcpy(exact, data, n);
    (void)LLVMFuzzerTestOneInput(exact, n);
    free(exact);
}

static const uint64_t interesting[] = {
    0,         1,     2,         7,           8,          9,         16,
    64,        127,   128,       255,         256,        32767,     32768,
    65535,     65536, INT32_MAX, 0x80000000u, UINT32_MAX, INT64_MAX, UINT64_C(1) << 63,
    UINT64_MAX};

/* One random change of buf[0..*n), which never grows beyond max_len. */
static void mutate(uint8_t *buf, size_t *n, size_t max_len)
{
    size_t at = below(*n), len = 1 + below(*n - at < 64 ? *n - at : 64);
    switch (*n == 0 ? 3 : below(8)) {
    case 0:
        buf[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        buf[at] = (uint8_t)rnd();
        break;
    case 2: { /* an interesting number of some width */
        uint64_t v = interesting[below(sizeof interesting / sizeof interesting[0])];
        size_t width = (size_t)1 << below(4);
        memcpy(buf + at, &v, width < *n - at ? width : *n - at);
        break;
    }
    case 3: { /* insert random bytes */
        size_t add = 1 + below(16);
        if (*n + add > max_len)
            break;
        memmove(buf + at + add, buf + at, *n - at);
        for (size_t i = 0; i < add; i++)
            buf[at + i] = (uint8_t)rnd();
        *n += add;
        break;
    }
    case 4: /* cut a piece out */
        if (len > *n - at)
            len = *n - at;
        memmove(buf + at, buf + at + len, *n - at - len);
        *n -= len;
        break;
    case 5: { /* copy a piece over another place */
        size_t to = below(*n);
        if (len > *n - at)
            len = *n - at;
        if (len > *n - to)
            len = *n - to;
        memmove(buf + to, buf + at, len);
        break;
    }
    case 6: { /* a piece of another input */
        const input *o = &corpus[below(num_inputs)];
        size_t from = below(o->n), take = below(o->n - from + 1);
        if (take > max_len - at)
            take = max_len - at;
        if (take)
            memcpy(buf + at, o->data + from, take);
        if (at + take > *n)
            *n = at + take;
        break;
    }
    default: /* cut the end off */
        *n = at;
        break;
    }
}

static void open_crash_file(const char *name, size_t max_len)
{
    const char *dir = getenv("TMPDIR");
    snprintf(crash_path, sizeof crash_path, "%s/fuzz-%s.crash", dir ? dir : "/tmp", name);
    int fd = open(crash_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)(max_len + 8)) != 0)
        return;
    void *p = mmap(NULL, max_len + 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return;
    crash_bytes = p;
    crash_cap = max_len;
}

int main(int argc, char **argv)
{
    int64_t runs = -1, seconds = 0;
    size_t max_len = 1 << 16;
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    bool any_path = false;
    const char *locale = getenv("LZ_TEST_LOCALE");
    if (locale && !setlocale(LC_ALL, locale))
        abort();
    rng_state = 1;
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-runs=", 6) == 0)
            runs = atoll(argv[i] + 6);
        else if (strncmp(argv[i], "-max_total_time=", 16) == 0)
            seconds = atoll(argv[i] + 16);
        else if (strncmp(argv[i], "-seed=", 6) == 0)
            rng_state = strtoull(argv[i] + 6, NULL, 10);
        else if (strncmp(argv[i], "-max_len=", 9) == 0)
            max_len = strtoull(argv[i] + 9, NULL, 10);
        else if (argv[i][0] != '-' && (any_path = true))
            add_path(argv[i], access(argv[i], F_OK) == 0);
    }
    if (!any_path) {
        char dir[1024];
        snprintf(dir, sizeof dir, "test/fuzz/corpus/%s", name);
        add_path(dir, false);
    }
    max_len = max_len < 16 ? 16 : max_len > (1 << 20) ? 1 << 20 : max_len;
    open_crash_file(name, max_len);
    run_one((const uint8_t *)"", 0);
    for (size_t i = 0; i < num_inputs; i++)
        run_one(corpus[i].data, corpus[i].n);
    size_t replayed = num_inputs;
    if (num_inputs == 0)
        add_input((const uint8_t *)"", 0);
    if (runs < 0)
        runs = seconds > 0 ? INT64_MAX : getenv("LZ_TEST_QUICK") ? 400 : 2000;
    if (any_path && seconds == 0 && argc == 2 && num_inputs == 1 && replayed == 1)
        runs = 0; /* one file alone: reproduce a crash */
    int64_t start = lz_now_ns(), done = 0;
    uint8_t *buf = must(malloc(max_len + 64));
    for (; done < runs; done++) {
        if (seconds > 0 && lz_now_ns() - start > seconds * 1000000000)
            break;
        const input *o = &corpus[below(num_inputs)];
        size_t n = o->n < max_len ? o->n : max_len;
        memcpy(buf, o->data, n);
        for (size_t k = 1 + below(8); k > 0; k--)
            mutate(buf, &n, max_len);
        run_one(buf, n);
    }
    free(buf);
    for (size_t i = 0; i < num_inputs; i++)
        free(corpus[i].data);
    free(corpus);
    if (crash_bytes)
        unlink(crash_path);
    printf("%s: %zu files replayed, %" PRId64 " mutations\n", name, replayed, done);
    return 0;
}
