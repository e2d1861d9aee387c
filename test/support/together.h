/* together.h - a part of a test in several processes that are one job (docs/distributed.md), each
 * with devices of its own. Threads: any. */
#ifndef LZ_TEST_TOGETHER_H
#define LZ_TEST_TOGETHER_H
#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOGETHER_MOST = 8 };
typedef struct lz_together {
    int processes, devices; /* of all: lower ranks have one more where they do not divide */
    int seconds;            /* LAZULI_COLLECTIVE_TIMEOUT */
    int dies;               /* the rank that may be killed, or stop; -1: none */
} lz_together;

/* One that is free now. */
static inline int lz_free_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert(fd >= 0 && bind(fd, (struct sockaddr *)&a, n) == 0 &&
              getsockname(fd, (struct sockaddr *)&a, &n) == 0);
    close(fd);
    return ntohs(a.sin_port);
}

static inline void lz_set_number(const char *name, int v)
{
    char text[16];
    snprintf(text, sizeof text, "%d", v);
    setenv(name, text, 1);
}

/* Calls fn(rank, arg, out + rank * n) in a child for each rank, which ends without exit handlers
 * when all others have come to their end, too. Gives whether the one that may be killed was. */
static inline bool lz_run_together(const lz_together *t, void (*fn)(int rank, void *arg, void *out),
                                   void *arg, void *out, size_t n)
{
    int ends[TOGETHER_MOST][2], go[2], port = lz_free_port(), count = t->processes;
    pid_t pid[TOGETHER_MOST];
    bool killed = false;
    ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
    fflush(NULL);
    for (int r = 0; r < count; r++) {
        ck_assert_int_eq(pipe2(ends[r], O_CLOEXEC), 0);
        pid[r] = fork();
        ck_assert_int_ge(pid[r], 0);
        if (pid[r] == 0) {
            char c;
            close(go[1]);
            setenv("LAZULI_LAUNCHER", "environment", 1);
            setenv("XLA_USE_SPMD", "1", 1);
            setenv("PJRT_DEVICE", "CPU", 1);
            setenv("MASTER_ADDR", "127.0.0.1", 1);
            lz_set_number("MASTER_PORT", port);
            lz_set_number("RANK", r);
            lz_set_number("WORLD_SIZE", count);
            lz_set_number("LAZULI_NUM_THREADS", 1);
            lz_set_number("LAZULI_COLLECTIVE_TIMEOUT", t->seconds);
            lz_set_number("CPU_NUM_DEVICES", t->devices / count + (r < t->devices % count));
            fn(r, arg, (char *)out + (size_t)r * n);
            fflush(NULL);
            if (write(ends[r][1], (char *)out + (size_t)r * n, n) != (ssize_t)n)
                _exit(1);
            _exit(read(go[0], &c, 1) == 0 ? 0 : 1);
        }
        close(ends[r][1]);
    }
    close(go[0]);
    for (int turn = 0; turn < 2; turn++) /* the one that may have stopped comes last */
        for (int r = 0; r < count; r++) {
            size_t has = 0;
            siginfo_t is = {.si_code = 0};
            if ((r == t->dies) != turn)
                continue;
            if (turn &&
                waitid(P_PID, (id_t)pid[r], &is, WSTOPPED | WEXITED | WNOHANG | WNOWAIT) == 0 &&
                is.si_code == CLD_STOPPED)
                (void)kill(pid[r], SIGKILL);
            for (ssize_t got; has < n && (got = read(ends[r][0], (char *)out + (size_t)r * n + has,
                                                     n - has)) > 0;)
                has += (size_t)got;
            close(ends[r][0]);
            killed |= turn && has < n;
            ck_assert_msg(has == n || turn, "rank %d: %zu of %zu bytes", r, has, n);
        }
    close(go[1]);
    for (int r = 0; r < count; r++) {
        int status = -1;
        ck_assert_int_eq(waitpid(pid[r], &status, 0), pid[r]);
        ck_assert_msg(status == 0 || (killed && r == t->dies), "rank %d: status 0x%x", r,
                      (unsigned)status);
    }
    return killed;
}
#endif
