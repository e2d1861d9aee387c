/* outfile.h - the one writer of files. A file is written beside the one it replaces and takes its
 * place, by a rename, when it is whole: until then, and after every error, the old one is there and
 * nothing else.
 * What is kept. The mode of a file that is replaced, and its owner and group where the process may
 *   give them (it was private to its owner until then; group rights that cannot be given to the
 *   group go no further than those of others). A symbolic link stays, and what it leads to is
 *   replaced, or made where nothing was. Other hard links of the old file keep the old contents.
 * What is no plain file - a pipe, a terminal, another character device, an open file under
 *   /proc/self/fd (/dev/stdout) - is written into, in order. Refused: directories and block devices
 *   (LZ_EINVAL), pipes that nobody reads and sockets (LZ_EIO), files that may not be written
 *   (LZ_EPERM).
 * Signals. Calls that one interrupts are made again. A pipe whose reader has gone is LZ_EIO, and so
 *   is a file that reaches the process's limit: neither SIGPIPE nor SIGXFSZ is seen.
 * No other source makes, replaces or renames files: tools/files.sh. (The cache, whose calls a test
 * makes fail one by one, has cache/vfs.c.)
 * Threads: thread-compatible. */
#ifndef LZ_BASE_OUTFILE_H
#define LZ_BASE_OUTFILE_H
#include "base/status.h"
#include <sys/stat.h>

typedef struct lz_outfile {
    int fd;
    const char *path; /* as given, for messages: lives as long as this */
    /* where the file is, links followed; NULL: written into as it is, or none */
    char *target, *temporary;
    char *buffer;
    size_t used;      /* bytes of the buffer */
    uint64_t written; /* of a live file: without its tail */
    struct stat old;  /* of the file that is replaced */
    bool replaces, durable, live;
    lz_status status; /* the first failure; writes after it do nothing */
} lz_outfile;

/* durable: once lz_outfile_end has said LZ_OK, the file survives a crash of the machine. An error
 * needs no lz_outfile_end. */
lz_status lz_outfile_begin(lz_outfile *f, const char *path, bool durable);
void lz_outfile_put(lz_outfile *f, const void *p, size_t n);
void lz_outfile_pad(lz_outfile *f, size_t n); /* zeros */
/* Publishes the file when s and all writes succeeded, else removes what there is of it. */
lz_status lz_outfile_end(lz_outfile *f, lz_status s);

/* For a file that grows as long as the process runs, and is to be whole whenever that is killed. It
 * takes its place now, empty, and lz_outfile_put is not used for it. What fails is said by
 * lz_outfile_end, which leaves what is there. */
void lz_outfile_live(lz_outfile *f);
/* Puts n bytes where the last ntail of the call before were, in one write. What is no plain file
 * gets its tail with the last call only. */
void lz_outfile_extend(lz_outfile *f, const void *p, size_t n, size_t ntail, bool last);
/* After one that failed (status says it): takes away what is there of it, so that the next one may
 * come in its place. What is no plain file stays failed. */
void lz_outfile_go_on(lz_outfile *f);
/* In the child of a fork: the file is the parent's. */
void lz_outfile_forget(lz_outfile *f);

/* A whole file. */
lz_status lz_outfile_write(const char *path, const void *p, size_t n, bool durable);
/* Adds to the end of a file, which is made when it is not there; what is no plain file is written
 * into. own: only to a plain file of the process's own user, and through no link. 0, or the
 * errno. */
int lz_file_append(const char *path, const void *p, size_t n, bool own);
#endif
