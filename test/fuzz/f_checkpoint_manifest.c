/* f_checkpoint_manifest.c - the manifest of a checkpoint, from a hostile place, with a digest that
 * fits: what it says of tensors is within them, and all that is read lies in the one file that is
 * there, or is refused. */
#include "data/checkpoint_file.h"
#include "fuzz/arrays.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[400];
static lz_ckpt_dir dir;
static const float values[6] = {1, 2, 3, 4, 5, 6};

static const char *path_of(const char *name)
{
    static char path[500];
    snprintf(path, sizeof path, "%s/step_3/%s", folder, name);
    return path;
}

static void sweep(void)
{
    unlink(path_of("manifest.json"));
    unlink(path_of("rank-00000.safetensors"));
    rmdir(path_of(""));
    rmdir(folder);
}

/* A tensor in two pieces, and one in one. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *tmp = getenv("TMPDIR");
    lz_ckpt_part p[] = {
        {.name = "w", .dtype = LZ_F32, .shape = LZ_SHAPE(2, 3), .data = values},
        {.name = "w", .dtype = LZ_F32, .shape = LZ_SHAPE(2, 3), .data = values},
        {.name = "x", .dtype = LZ_I16, .shape = LZ_SHAPE(3), .data = values},
    };
    p[0].box = (lz_box){.rank = 2, .offset = {0, 0}, .extent = {2, 2}};
    p[1].box = (lz_box){.rank = 2, .offset = {0, 2}, .extent = {2, 1}};
    p[2].box = (lz_box){.rank = 1, .offset = {0}, .extent = {3}};
    const lz_ckpt_metric loss = {"loss", 0.5};
    const char *const metadata[] = {"lazuli.step", "3"};
    lz_ckpt_content c = {.step = 3,
                         .parts = p,
                         .nparts = 3,
                         .metadata = metadata,
                         .nmetadata = 1,
                         .metrics = &loss,
                         .nmetrics = 1};
    (void)argc;
    (void)argv;
    snprintf(folder, sizeof folder, "%s/fuzz-manifest-XXXXXX", tmp ? tmp : "/tmp");
    must(mkdtemp(folder) != NULL && atexit(sweep) == 0);
    must(lz_ckpt_dir_open(folder, false, &dir) == LZ_OK && lz_ckpt_write(&dir, &c) == LZ_OK);
    return 0;
}

/* Writes the text with the digest that it needs, where it has one. */
static void write_manifest(const uint8_t *data, size_t size)
{
    static const char key[] = "\"digest\":\"";
    enum { TAIL = sizeof key - 1 + 32 + 3 };
    char hex[33];
    char *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data, size);
    if (size > TAIL && memcmp(text + size - TAIL, key, sizeof key - 1) == 0) {
        lz_hash_hex(lz_hash_bytes(text, size - TAIL), hex);
        memcpy(text + size - TAIL + sizeof key - 1, hex, 32);
    }
    int fd = open(path_of("manifest.json"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    must(fd >= 0 && write(fd, text, size) == (ssize_t)size && close(fd) == 0);
    free(text);
}

static void read_all(lz_ckpt_reader *r)
{
    const lz_manifest *m = lz_ckpt_manifest(r);
    for (uint32_t i = 0; i < m->tensors.len; i++) {
        const lz_manifest_tensor *t = &m->tensors.data[i];
        lz_array a;
        lz_box all = {.rank = t->shape.rank};
        memcpy(all.extent, t->shape.dims, (size_t)t->shape.rank * sizeof *all.extent);
        must(lz_data_new(t->dtype, &t->shape, "x", &a) == LZ_OK && a.nbytes <= sizeof values);
        must(lz_ckpt_read_box(r, t, &all, a.data) == LZ_OK);
        touch(&a);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lz_manifest m;
    if (lz_manifest_parse((const char *)data, size, "x", &m) == LZ_OK) {
        lz_buf again = {0};
        for (uint32_t i = 0; i < m.tensors.len; i++)
            must(lz_manifest_find(&m, lz_manifest_text(&m, m.tensors.data[i].name)) ==
                 &m.tensors.data[i]);
        must(lz_manifest_put(&m, "x", &again) == LZ_OK);
        lz_buf_free(&again);
        lz_manifest_free(&m);
    }
    write_manifest(data, size);
    int fd = lz_ckpt_dir_open_step(&dir, 3);
    lz_ckpt_reader *r = lz_ckpt_open(fd, -1, "x");
    if (r)
        read_all(r);
    lz_ckpt_close(r);
    must(close(fd) == 0);
    return 0;
}
