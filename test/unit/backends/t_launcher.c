/* t_launcher.c - which of how many processes this is, as each launcher's variables say: the first
 * that matches counts, and what is wrong is named by its variable. */
#include "backends/distributed/launcher.h"
#include "base/config.h"
#include "suite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Variables of a test: "NAME=value NAME=value"; all others of the table are not set. */
static void set(const char *text)
{
    static const char *const more[] = {"MASTER_ADDR", "MASTER_PORT", "SLURM_NNODES",
                                       "SLURM_STEP_ID"};
    char copy[512];
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        unsetenv(more[i]);
    for (lz_launcher l = LZ_LAUNCHER_NONE + 1; l < LZ_LAUNCHER_COUNT; l++)
        for (const char *const *v = lz_launcher_variables(l); *v; v++) {
            snprintf(copy, sizeof copy, "%s", *v);
            for (char *save, *at = strtok_r(copy, "|", &save); at; at = strtok_r(NULL, "|", &save))
                unsetenv(at);
        }
    snprintf(copy, sizeof copy, "%s", text);
    for (char *save, *at = strtok_r(copy, " ", &save); at; at = strtok_r(NULL, " ", &save)) {
        char *value = strchr(at, '=');
        *value = 0;
        setenv(at, value + 1, 1);
    }
}

static const struct good {
    const char *set;
    lz_launcher launcher;
    int index, count, local_index, local_count, host;
    const char *address;
    int port; /* 0: made of the job */
} goods[] = {
    {"", LZ_LAUNCHER_NONE, 0, 1, -1, -1, -1, "", 0},
    {"RANK=3", LZ_LAUNCHER_NONE, 0, 1, -1, -1, -1, "", 0},
    {"RANK=0 WORLD_SIZE=1", LZ_LAUNCHER_NONE, 0, 1, -1, -1, -1, "", 0},
    {"WORLD_SIZE=1", LZ_LAUNCHER_NONE, 0, 1, -1, -1, -1, "", 0},
    {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 "
     "OMPI_COMM_WORLD_LOCAL_SIZE=4 PMIX_NAMESPACE=12 PMI_RANK=2 PMI_SIZE=3 RANK=7 WORLD_SIZE=8",
     LZ_LAUNCHER_OPENMPI, 1, 4, 1, 4, -1, "127.0.0.1", 0},
    {"PMI_RANK=2 PMI_SIZE=3 MPI_LOCALRANKID=2 MPI_LOCALNRANKS=3 RANK=7 WORLD_SIZE=8",
     LZ_LAUNCHER_MPICH, 2, 3, 2, 3, -1, "127.0.0.1", 0},
    {"PMI_RANK=2 PMI_SIZE=3 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=1 MASTER_ADDR=node0 MASTER_PORT=77",
     LZ_LAUNCHER_MPICH, 2, 3, 0, 1, -1, "node0", 77},
    {"RANK=7 WORLD_SIZE=8 LOCAL_RANK=3 LOCAL_WORLD_SIZE=4 GROUP_RANK=1 MASTER_ADDR=10.0.0.1 "
     "MASTER_PORT=29400 SLURM_PROCID=1 SLURM_NTASKS=2",
     LZ_LAUNCHER_ENVIRONMENT, 7, 8, 3, 4, 1, "10.0.0.1", 29400},
    {"RANK=1 WORLD_SIZE=2", LZ_LAUNCHER_ENVIRONMENT, 1, 2, -1, -1, -1, "127.0.0.1", 29500},
    {"SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_LOCALID=1 SLURM_NODEID=1 SLURM_NNODES=2 "
     "MASTER_ADDR=node0",
     LZ_LAUNCHER_SLURM, 5, 8, 1, -1, 1, "node0", 0},
    {"SLURM_PROCID=1 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=2 SLURM_NNODES=1", LZ_LAUNCHER_SLURM, 1, 2,
     -1, -1, -1, "127.0.0.1", 0},
    {"SLURM_PROCID=0 SLURM_NTASKS=1", LZ_LAUNCHER_NONE, 0, 1, -1, -1, -1, "", 0},
    {"SLURM_NTASKS=8", LZ_LAUNCHER_NONE, 0, 1, -1, -1, -1, "", 0},
};
enum { GOODS = sizeof goods / sizeof *goods };

START_TEST(matches)
{
    const struct good *g = &goods[_i];
    lz_process_info p, again;
    set(g->set);
    ck_assert_msg(lz_process_info_read(&p) == LZ_OK, "%s: %s", g->set, lz_error_get()->message);
    ck_assert_int_eq(p.launcher, g->launcher);
    ck_assert_int_eq(p.index, g->index);
    ck_assert_int_eq(p.count, g->count);
    ck_assert_int_eq(p.local_index, g->local_index);
    ck_assert_int_eq(p.local_count, g->local_count);
    ck_assert_int_eq(p.host_index, g->host);
    ck_assert_str_eq(p.address, g->address);
    if (g->count > 1 && g->port == 0)
        ck_assert(p.port >= 20000 && p.port < 32000);
    else
        ck_assert_int_eq(p.port, g->port);
    ck_assert_int_eq(lz_process_info_read(&again), LZ_OK);
    ck_assert(again.job == p.job && again.port == p.port);
}
END_TEST

/* The same job has one number in all its processes, another one has another. */
START_TEST(jobs)
{
    lz_process_info p[3];
    static const char *const sets[] = {
        "SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_JOB_ID=7 SLURM_STEP_ID=0",
        "SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_JOB_ID=7 SLURM_STEP_ID=0",
        "SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_JOB_ID=7 SLURM_STEP_ID=1"};
    for (int i = 0; i < 3; i++) {
        set(sets[i]);
        ck_assert_int_eq(lz_process_info_read(&p[i]), LZ_OK);
    }
    ck_assert(p[0].job == p[1].job && p[0].port == p[1].port);
    ck_assert(p[1].job != p[2].job);
}
END_TEST

static const struct wrong {
    const char *set, *says;
} wrongs[] = {
    {"RANK=x WORLD_SIZE=2", "RANK=x: not a number"},
    {"RANK=1.5 WORLD_SIZE=2", "RANK=1.5: not a number"},
    {"RANK=-1 WORLD_SIZE=2", "RANK=-1: not from 0"},
    {"RANK=2 WORLD_SIZE=2", "RANK=2: not less than WORLD_SIZE=2"},
    {"RANK=0 WORLD_SIZE=0", "WORLD_SIZE=0: not from 1"},
    {"RANK=0 WORLD_SIZE=-4", "WORLD_SIZE=-4: not from 1"},
    {"RANK=0 WORLD_SIZE=2000000", "WORLD_SIZE=2000000: not from 1 to 1024"},
    {"RANK=0 WORLD_SIZE=99999999999999999999", "WORLD_SIZE=99999999999999999999: not a number"},
    {"WORLD_SIZE=2", "RANK is not set, but WORLD_SIZE=2"},
    {"RANK=0 WORLD_SIZE=2 LOCAL_RANK=2", "LOCAL_RANK=2: not from 0 to 1"},
    {"RANK=0 WORLD_SIZE=2 LOCAL_RANK=1 LOCAL_WORLD_SIZE=1", "LOCAL_RANK=1: not less than"},
    {"RANK=0 WORLD_SIZE=2 MASTER_PORT=0", "MASTER_PORT=0: not from 1"},
    {"RANK=0 WORLD_SIZE=2 MASTER_PORT=http", "MASTER_PORT=http: not a number"},
    {"OMPI_COMM_WORLD_RANK=4 OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=4: not less than"},
    {"PMI_RANK=a PMI_SIZE=4", "PMI_RANK=a: not a number"},
    {"SLURM_PROCID=8 SLURM_NTASKS=8", "SLURM_PROCID=8: not less than SLURM_NTASKS=8"},
    {"SLURM_PROCID=1 SLURM_NTASKS=8 SLURM_NNODES=2", "MASTER_ADDR is not set"},
    {"PMI_RANK=2 PMI_SIZE=3 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=1", "MASTER_ADDR is not set"},
};
enum { WRONGS = sizeof wrongs / sizeof *wrongs };

START_TEST(named)
{
    lz_process_info p;
    set(wrongs[_i].set);
    ck_assert_int_eq(lz_process_info_read(&p), LZ_EINVAL);
    ck_assert_msg(strstr(lz_error_get()->message, wrongs[_i].says), "%s: %s", wrongs[_i].set,
                  lz_error_get()->message);
}
END_TEST

START_TEST(by_name)
{
    lz_process_info p;
    set("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_SIZE=4 RANK=7 "
        "WORLD_SIZE=8");
    ck_assert_int_eq(lz_config_set("LAZULI_LAUNCHER", "environment"), LZ_OK);
    ck_assert_int_eq(lz_process_info_read(&p), LZ_OK);
    ck_assert(p.launcher == LZ_LAUNCHER_ENVIRONMENT && p.index == 7);
    ck_assert_int_eq(lz_config_set("LAZULI_LAUNCHER", "none"), LZ_OK);
    ck_assert_int_eq(lz_process_info_read(&p), LZ_OK);
    ck_assert_int_eq(p.count, 1);
    ck_assert_int_eq(lz_config_set("LAZULI_LAUNCHER", "mpirun"), LZ_OK);
    ck_assert_int_eq(lz_process_info_read(&p), LZ_EINVAL);
    ck_assert(strstr(lz_error_get()->message, "LAZULI_LAUNCHER=mpirun"));
    ck_assert_int_eq(lz_config_set("LAZULI_LAUNCHER", NULL), LZ_OK);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("launcher");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, matches, 0, GOODS);
    tcase_add_test(t, jobs);
    tcase_add_loop_test(t, named, 0, WRONGS);
    tcase_add_test(t, by_name);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
