/* file_io.h - reading files, and the system calls under readers and writers: one that a signal
 * interrupts (EINTR) is made again. Descriptors are close-on-exec.
 * Threads: thread-safe. */
#ifndef LZ_BASE_FILE_IO_H
#define LZ_BASE_FILE_IO_H
#include "base/vec.h"
#include <errno.h>
#include <sys/types.h>

/* Evaluates the call until no signal interrupts it. */
#define LZ_NO_EINTR(call)                                                                          \
    __extension__({                                                                                \
        __typeof__(call) r_;                                                                       \
        do                                                                                         \
            r_ = (call);                                                                           \
        while (r_ < 0 && errno == EINTR);                                                          \
        r_;                                                                                        \
    })

/* What a file's errno is as a status: LZ_ENOENT, LZ_EPERM, LZ_EMEM, else LZ_EIO. */
lz_status lz_file_status(int error);
/* open(2) for reading. -1 and errno. `flags`: more than O_RDONLY | O_CLOEXEC. */
int lz_file_open(const char *path, int flags);
/* Reads until n bytes are there or the file ends: as many as there were. -1 and errno. */
ssize_t lz_file_read(int fd, void *p, size_t n);
/* 0, or the errno of a lost write. Linux drops the descriptor whatever close says, so an
 * interrupted one is neither made again nor an error. */
int lz_file_close(int fd);
/* The folder and those above it, as `mkdir -p`: only the last must succeed, or be there. 0, or the
 * errno of the first that could not be made. make: mkdirat of some mode. *made: the last is new. */
typedef int lz_file_mkdir(int dirfd, const char *path);
int lz_file_make_path(const char *path, lz_file_mkdir *make, bool *made);
/* The same, for others too, as the umask has it. LZ_ENOENT, LZ_EPERM, LZ_EMEM, LZ_EIO; LZ_EINVAL:
 * too long. */
lz_status lz_file_make_folders(const char *path);
/* Appends all that is left in an open file, at most `limit` bytes, LZ_ERANGE beyond. LZ_EINVAL: it
 * is a directory, or a device that may have no end: a terminal and /dev/null are read. */
lz_status lz_file_slurp_fd(int fd, const char *name, size_t limit, lz_buf *out);
/* The same of the file of this name. */
lz_status lz_file_slurp(const char *path, size_t limit, lz_buf *out);
/* The beginning of a small file as a string of fewer than n bytes; false when there is nothing to
 * read. */
bool lz_file_text(const char *path, char *out, size_t n);
#endif
