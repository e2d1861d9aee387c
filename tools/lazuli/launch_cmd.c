/* launch_cmd.c - lazuli launch: starts a program several times on this host, as processes of one
 * job, where there is no mpirun, torchrun or srun (PyTorch/XLA's xmp.spawn). It sets the variables
 * that torchrun sets, and listens for rank 0, which gets the socket: so no other program can take
 * the port meanwhile. Each process leads a group of its own, to which signals go; they end with the
 * launcher, however it ends. */
#include "backends/distributed/launcher.h"
#include "base/env.h"
#include "base/file_io.h"
#include "base/thread.h"
#include "tools/lazuli/tool.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = LZ_PROCESSES_MAX, GRACE_S = 3 };

typedef struct job {
    int n, port, listener;
    char name[33];
    char **argv;
    pid_t parent;
    pid_t pid[MOST]; /* 0: it has ended */
    int left, rc;    /* of the first one that failed */
} job;

/* ---- one process ---- */

static void set_number(const char *name, int v)
{
    char text[16];
    snprintf(text, sizeof text, "%d", v);
    (void)setenv(name, text, 1);
}

static void set_variables(const job *j, int rank)
{
    int cores = lz_num_cores() / j->n;
    set_number("RANK", rank);
    set_number("WORLD_SIZE", j->n);
    set_number("LOCAL_RANK", rank);
    set_number("LOCAL_WORLD_SIZE", j->n);
    set_number("GROUP_RANK", 0);
    (void)setenv("MASTER_ADDR", "127.0.0.1", 1);
    set_number("MASTER_PORT", j->port);
    (void)setenv("LAZULI_LAUNCHER", "environment", 1); /* also where mpirun started this command */
    (void)setenv("LAZULI_JOB", j->name, 1);
    if (rank == 0)
        set_number("LAZULI_MASTER_FD", j->listener);
    if (!lz_env_get("LAZULI_NUM_THREADS"))
        set_number("LAZULI_NUM_THREADS", cores > 1 ? cores : 1);
}

/* The first one reads what the launcher would, but for a terminal, which belongs to one group. */
static void set_input(int rank)
{
    if (rank == 0 && !isatty(STDIN_FILENO))
        return;
    int null = lz_file_open("/dev/null", 0);
    if (null >= 0)
        (void)dup2(null, STDIN_FILENO);
}

static void run_child(const job *j, int rank, const sigset_t *mask)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != j->parent) /* it has ended before that */
        _exit(1);
    set_variables(j, rank);
    set_input(rank);
    if (rank == 0)
        (void)fcntl(j->listener, F_SETFD, 0);
    (void)signal(SIGINT, SIG_DFL); /* a shell ignores it in what runs in the background */
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(j->argv[0], j->argv);
    fprintf(stderr, "lazuli: %s: %s\n", j->argv[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

static bool start_all(job *j, const sigset_t *mask)
{
    fflush(stdout);
    for (int r = 0; r < j->n; r++) {
        pid_t pid = fork();
        if (pid == 0)
            run_child(j, r, mask);
        if (pid < 0) {
            fprintf(stderr, "lazuli: fork: %s\n", strerror(errno));
            return false;
        }
        (void)setpgid(pid, pid); /* whoever comes first */
        j->pid[r] = pid;
        j->left++;
    }
    return true;
}

/* ---- all of them ---- */

static void signal_all(const job *j, int sig)
{
    for (int r = 0; r < j->n; r++)
        if (j->pid[r] > 0)
            (void)kill(-j->pid[r], sig);
}

/* Those that have ended; gives whether one of them failed. What they have left in their groups
 * ends, too. */
static bool reap(job *j)
{
    bool failed = false;
    for (int r = 0; r < j->n; r++) {
        int status;
        if (j->pid[r] <= 0 || waitpid(j->pid[r], &status, WNOHANG) != j->pid[r])
            continue;
        (void)kill(-j->pid[r], SIGKILL);
        bool by_signal = WIFSIGNALED(status);
        int rc = by_signal ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (rc && !j->rc) {
            j->rc = rc;
            failed = true;
            fprintf(stderr, "lazuli: rank %d of %d (pid %ld) ended with %s %d%s%s\n", r, j->n,
                    (long)j->pid[r], by_signal ? "signal" : "status",
                    by_signal ? WTERMSIG(status) : rc, by_signal ? ", " : "",
                    by_signal ? strsignal(WTERMSIG(status)) : "");
        }
        j->pid[r] = 0;
        j->left--;
    }
    return failed;
}

/* Waits for all. When one fails, the others are asked to end, and after a while made to. */
static void wait_all(job *j, const sigset_t *set)
{
    int64_t until = 0;
    while (j->left) {
        siginfo_t info;
        int64_t left = until ? until - lz_now_ns() : INT64_C(1000000000);
        if (until && left <= 0) {
            signal_all(j, SIGKILL);
            left = INT64_C(100000000);
        }
        int sig =
            sigtimedwait(set, &info, &(struct timespec){left / 1000000000, left % 1000000000});
        bool failed = reap(j);
        if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP) {
            signal_all(j, sig);
            failed = true;
        } else if (failed && !until) {
            signal_all(j, SIGTERM);
        }
        if (failed) {
            signal_all(j, SIGCONT); /* one that is stopped takes no signal */
            until = until ? until : lz_now_ns() + GRACE_S * INT64_C(1000000000);
        }
    }
}

/* ---- the command ---- */

static bool listen_for_rank_0(job *j)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    j->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (j->listener < 0 || bind(j->listener, (struct sockaddr *)&at, n) != 0 ||
        listen(j->listener, SOMAXCONN) != 0 ||
        getsockname(j->listener, (struct sockaddr *)&at, &n) != 0) {
        fprintf(stderr, "lazuli: cannot listen at 127.0.0.1: %s\n", strerror(errno));
        return false;
    }
    j->port = ntohs(at.sin_port);
    return true;
}

static void name_job(job *j)
{
    uint64_t r[2] = {(uint64_t)getpid(), (uint64_t)lz_wall_ns()};
    (void)!getrandom(r, sizeof r, GRND_NONBLOCK);
    snprintf(j->name, sizeof j->name, "%016" PRIx64 "%016" PRIx64, r[0], r[1]);
}

int tool_launch(int argc, char **argv)
{
    static const struct option options[] = {{"nproc", required_argument, NULL, 'n'},
                                            {NULL, 0, NULL, 0}};
    static job j;
    uint64_t n = 0;
    sigset_t set, old;
    for (int c; (c = getopt_long(argc, argv, "+n:", options, NULL)) >= 0;) {
        if (c == '?' || !tool_uint("-n", optarg, 1, MOST, &n))
            return 2;
    }
    if (n == 0)
        return tool_usage("-n N is needed: how many processes");
    if (optind == argc)
        return tool_usage("a program is needed");
    j.n = (int)n;
    j.argv = argv + optind;
    j.parent = getpid();
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &set, &old);
    name_job(&j);
    if (!listen_for_rank_0(&j))
        return 1;
    if (!start_all(&j, &old)) {
        j.rc = 1;
        signal_all(&j, SIGKILL);
    }
    (void)lz_file_close(j.listener);
    wait_all(&j, &set);
    return j.rc;
}
