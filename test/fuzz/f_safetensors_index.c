/* f_safetensors_index.c - the index of a checkpoint in several files, from a hostile place: it
 * names no file outside of its folder, and every tensor that it gives lies in one of the two files
 * that are there. */
#include "fuzz/arrays.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[400];

static const char *path_of(const char *name)
{
    static char path[500];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *data, size_t n)
{
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    must(fd >= 0 && write(fd, data, n) == (ssize_t)n && close(fd) == 0);
}

/* Two tensors of four bytes. */
static void write_shard(const char *name, const char *first, const char *second)
{
    char file[400] = {0};
    int n = snprintf(file + 8, sizeof file - 8,
                     "{\"%s\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                     "\"%s\":{\"dtype\":\"I16\",\"shape\":[2,1],\"data_offsets\":[4,8]}}",
                     first, second);
    uint64_t header = (uint64_t)n;
    memcpy(file, &header, 8);
    write_file(name, file, 8 + (size_t)n + 8);
}

static void sweep(void)
{
    static const char *const names[] = {"a.safetensors", "b.safetensors",
                                        "model.safetensors.index.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *tmp = getenv("TMPDIR");
    (void)argc;
    (void)argv;
    snprintf(folder, sizeof folder, "%s/fuzz-index-XXXXXX", tmp ? tmp : "/tmp");
    must(mkdtemp(folder) != NULL && atexit(sweep) == 0);
    write_shard("a.safetensors", "w", "b");
    write_shard("b.safetensors", "w2", "b2");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const known[] = {"w", "b", "w2", "b2"};
    write_file("model.safetensors.index.json", data, size);
    lz_archive *a = lz_safetensors_open_at(path_of("model.safetensors.index.json"), NULL);
    for (size_t i = 0; a && i < lz_archive_len(a); i++) {
        lz_array x;
        const char *name = lz_archive_name(a, i);
        bool one = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            one |= strcmp(name, known[k]) == 0;
        must(one && lz_archive_read_at(a, name, &x, NULL) == LZ_OK && x.nbytes == 4);
        touch(&x);
    }
    lz_archive_close(a);
    return 0;
}
