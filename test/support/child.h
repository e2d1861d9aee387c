/* child.h - a part of a test in a process of its own, whose result comes back. Threads: any. */
#ifndef LZ_TEST_CHILD_H
#define LZ_TEST_CHILD_H
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls fn in a forked child, which ends without exit handlers: `out`, n bytes that fn finds as
 * they are here, then is what fn made of it. Fails the test when the child ends before, or not all
 * of `out` comes back. */
static inline void lz_in_child(void (*fn)(void *arg, void *out), void *arg, void *out, size_t n)
{
    int ends[2], status = -1;
    size_t has = 0;
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    fflush(NULL); /* or the child has it to write, too */
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        fn(arg, out);
        fflush(NULL);
        _exit(write(ends[1], out, n) == (ssize_t)n ? 0 : 1);
    }
    close(ends[1]);
    for (ssize_t got; has < n && (got = read(ends[0], (char *)out + has, n - has)) > 0;)
        has += (size_t)got;
    close(ends[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(has == n && status == 0, "%zu of %zu bytes of a child, its status is 0x%x", has,
                  n, (unsigned)status);
}
#endif
