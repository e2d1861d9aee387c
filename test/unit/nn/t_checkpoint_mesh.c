/* t_checkpoint_mesh.c - K08: checkpoints of trainings on meshes: each byte is written once,
 * whatever is cut and repeated, and each mesh loads what any other has saved, to the same bits,
 * those of the next loss too. Each mesh is a process of its own, as the number of devices is, or
 * several. */
#include "checkpointtest.h"
#include "data/checkpoint_file.h"
#include "support/child.h"
#include "support/together.h"

enum { ROWS = 12, IN = 10, HIDDEN = 17, STATES = 2 };

/* "": one device, without a mesh. */
static const struct {
    int64_t size[3];
    int naxis, devices;
    const char *weight[2], *bias; /* axes of the first weight, and of its bias */
} meshes[] = {
    {{0}, 0, 1, {NULL, NULL}, NULL},    {{2}, 1, 2, {"x", NULL}, "x"},
    {{3}, 1, 3, {NULL, "x"}, NULL},     {{8}, 1, 8, {"x", NULL}, "x"},
    {{2, 2}, 2, 4, {"x", "y"}, "y"},    {{2, 4}, 2, 8, {"y", NULL}, NULL},
    {{4, 2}, 2, 8, {"x,y", NULL}, "x"}, {{2, 2, 2}, 3, 8, {"z", "y,x"}, "z"},
};
enum { MESHES = sizeof meshes / sizeof *meshes };
static const char *const axes[] = {"x", "y", "z"};

typedef struct net {
    lz_params ps;
    lz_linear_layer a, b;
    lz_tensor *table, *none; /* fewer rows than some meshes have devices; no elements */
    lz_optim *o;
    lz_checkpoint c;
    lz_mesh *mesh;
} net;

static void use_mesh(net *n, int k)
{
    char devices[8];
    snprintf(devices, sizeof devices, "%d", meshes[k].devices);
    setenv("PJRT_DEVICE", "CPU", 1);
    setenv("LAZULI_NUM_THREADS", "1", 1);
    if (!meshes[k].naxis)
        return;
    if (!getenv("WORLD_SIZE"))
        setenv("CPU_NUM_DEVICES", devices, 1);
    setenv("XLA_USE_SPMD", "1", 1);
    n->mesh = lz_mesh_new(NULL, meshes[k].size, axes, meshes[k].naxis);
    ck_assert_msg(n->mesh != NULL, "%s", lz_last_error_text());
}

static void init(net *n, int k, uint64_t seed)
{
    *n = (net){.c = {.struct_size = sizeof n->c}};
    use_mesh(n, k);
    OK(lz_manual_seed(seed));
    OK(lz_linear_layer_init(&n->a, &n->ps, "a", IN, HIDDEN, true, LZ_F32));
    OK(lz_linear_layer_init(&n->b, &n->ps, "b", HIDDEN, IN, true, LZ_F32));
    n->table = lz_randn(LZ_F32, LZ_SHAPE(3, IN));
    OK(lz_params_add(&n->ps, "table", n->table));
    n->none = lz_zeros(LZ_F32, LZ_SHAPE(0, 4));
    OK(lz_params_add_buffer(&n->ps, "none", n->none));
    if (n->mesh) {
        OK(lz_mark_sharding(n->a.weight, n->mesh,
                            LZ_SPEC(meshes[k].weight[0], meshes[k].weight[1])));
        OK(lz_mark_sharding(n->a.bias, n->mesh, LZ_SPEC(meshes[k].bias)));
        OK(lz_mark_sharding(n->table, n->mesh, LZ_SPEC("x", NULL)));
    }
    OK(lz_mark_step());
    n->o = lz_adam(&n->ps, .lr = 0.01);
    n->c.params = &n->ps;
    n->c.optim = n->o;
}

static float train(net *n)
{
    float value;
    lz_scope_begin();
    lz_tensor *x = lz_randn(LZ_F32, LZ_SHAPE(ROWS, IN));
    lz_tensor *h = lz_tanh(lz_linear_layer_forward(&n->a, x));
    lz_tensor *y = lz_matmul(lz_linear_layer_forward(&n->b, h), lz_transpose(n->table, 0, 1));
    lz_tensor *loss = lz_mean(lz_mul(y, y));
    OK(lz_backward(loss));
    OK(lz_optim_step(n->o));
    OK(lz_optim_zero_grad(n->o));
    OK(lz_mark_step());
    OK(lz_to_host(loss, &value, sizeof value));
    lz_scope_end();
    n->c.step++;
    return value;
}

/* What a process says: of all values, bit for bit; and of the step after. */
typedef struct said {
    uint64_t values[MESHES];
    float loss[MESHES];
    uint64_t elements; /* bytes in the files */
} said;

static uint64_t hash_of(const lz_params *ps)
{
    uint64_t h = 7;
    char v[4096];
    for (size_t i = 0; i < ps->len; i++) {
        OK(lz_to_host(ps->tensors[i], v, sizeof v));
        h = h * 31 + lz_hash_bytes(v, lz_nbytes(ps->tensors[i])).lo;
    }
    return h;
}

static const char *folder(int k)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%d", kt_base, k);
    return path;
}

/* All bytes of elements, of shards as the manifest has them. */
static uint64_t bytes_in(int k)
{
    lz_ckpt_dir d;
    uint64_t n = 0;
    ck_assert_int_eq(lz_ckpt_dir_open(folder(k), false, &d), LZ_OK);
    int fd = lz_ckpt_dir_open_step(&d, 2);
    lz_ckpt_reader *r = lz_ckpt_open(fd, 2, "step");
    ck_assert_msg(r != NULL, "%s", lz_last_error_text());
    const lz_manifest *m = lz_ckpt_manifest(r);
    for (uint32_t i = 0; i < m->tensors.len; i++)
        for (uint32_t s = 0; s < m->tensors.data[i].nshard; s++) {
            const lz_manifest_tensor *t = &m->tensors.data[i];
            lz_box b = lz_manifest_box(m, t, &m->shards.data[t->shard + s]);
            n += (uint64_t)lz_box_volume(&b) * lz_dtype_size(t->dtype);
        }
    lz_ckpt_close(r);
    close(fd);
    lz_ckpt_dir_close(&d);
    return n;
}

static void save_on(void *mesh, void *out)
{
    net n;
    int k = *(int *)mesh;
    said *s = out;
    init(&n, k, 3);
    train(&n);
    train(&n);
    lz_checkpoint_manager *m = kt_manager_of(lz_checkpoint_manager_new(folder(k)));
    OK(k % 2 ? lz_checkpoint_manager_save(m, 2, &n.c)
             : lz_checkpoint_manager_save_async(m, 2, &n.c));
    lz_checkpoint_manager_free(m);
    s->values[k] = hash_of(&n.ps);
    char path[500];
    snprintf(path, sizeof path, "%s/model.safetensors", folder(k));
    if (!getenv("WORLD_SIZE"))
        OK(lz_params_save(&n.ps, path));
    s->loss[k] = train(&n);
    s->elements = bytes_in(k);
}

static void load_on(void *mesh, void *out)
{
    int k = *(int *)mesh;
    said *s = out;
    net n;
    init(&n, k, 55);
    train(&n);
    for (int from = 0; from < MESHES; from++) {
        lz_checkpoint_manager *m = kt_manager_of(lz_checkpoint_manager_new(folder(from)));
        char before[2][100], after[2][100];
        lz_get_sharding(n.a.weight, before[0], 100);
        lz_get_sharding(n.table, before[1], 100);
        OK(lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, &n.c));
        ck_assert_int_eq(n.c.step, 2);
        OK(lz_mark_step());
        lz_get_sharding(n.a.weight, after[0], 100);
        lz_get_sharding(n.table, after[1], 100);
        ck_assert_str_eq(before[0], after[0]);
        ck_assert_str_eq(before[1], after[1]);
        s->values[from] = hash_of(&n.ps);
        char path[500];
        snprintf(path, sizeof path, "%s/model.safetensors", folder(from));
        if (kt_exists(path)) /* a file as others write it: by parts, too */
            OK(lz_params_load(&n.ps, folder(from)));
        OK(lz_mark_step());
        ck_assert(hash_of(&n.ps) == s->values[from]);
        lz_get_sharding(n.a.weight, after[0], 100);
        ck_assert_str_eq(before[0], after[0]);
        if (getenv("WORLD_SIZE"))
            continue; /* a restore on which the steps of all ranks agree is enough */
        int64_t compiled = lz_counter_value("UncachedCompile");
        s->loss[from] = train(&n);
        ck_assert_msg(lz_counter_value("UncachedCompile") == compiled, "%d on %d compiles", from,
                      k);
        lz_checkpoint_manager_free(m);
    }
}

START_TEST(k08_every_mesh_loads_every_other)
{
    said saved = {.elements = 0}, loaded;
    uint64_t elements = 0;
    for (int k = 0; k < MESHES; k++) {
        lz_in_child(save_on, &k, &saved, sizeof saved);
        elements = k ? elements : saved.elements;
        ck_assert_uint_eq(saved.elements, elements); /* each byte once */
    }
    for (int k = 0; k < MESHES; k++) {
        memset(&loaded, 0, sizeof loaded);
        lz_in_child(load_on, &k, &loaded, sizeof loaded);
        for (int from = 0; from < MESHES; from++)
            ck_assert_msg(loaded.values[from] == saved.values[from], "%d on %d: other values", from,
                          k);
        /* of the same values on the same mesh */
        ck_assert_msg(memcmp(&loaded.loss[k], &saved.loss[k], sizeof(float)) == 0,
                      "%d: loss %.9g, was %.9g", k, loaded.loss[k], saved.loss[k]);
        for (int from = 0; from < MESHES; from++)
            if (saved.values[from] == saved.values[k])
                ck_assert_msg(memcmp(&loaded.loss[from], &loaded.loss[k], sizeof(float)) == 0,
                              "%d on %d: loss %.9g, not %.9g", from, k, loaded.loss[from],
                              loaded.loss[k]);
    }
}
END_TEST

/* ---- the same by several processes ---- */

/* How many save and load mesh k: not as many, and not all divide the devices. */
static int savers(int k)
{
    static const int n[MESHES] = {1, 2, 2, 4, 3, 2, 4, 3};
    return n[k];
}

static int loaders(int k)
{
    static const int n[MESHES] = {1, 2, 3, 3, 4, 4, 2, 4};
    return n[k];
}

static void save_in(int rank, void *mesh, void *out)
{
    (void)rank;
    save_on(mesh, out);
}

static void load_in(int rank, void *mesh, void *out)
{
    (void)rank;
    load_on(mesh, out);
}

static void in_processes(int n, int k, void (*fn)(int rank, void *arg, void *out),
                         void (*alone)(void *arg, void *out), said out[])
{
    const lz_together t = {n, meshes[k].devices, 60, -1};
    memset(out, 0, TOGETHER_MOST * sizeof *out);
    if (n > 1)
        (void)lz_run_together(&t, fn, &k, out, sizeof *out);
    else
        lz_in_child(alone, &k, out, sizeof *out);
}

static int files_of(int k)
{
    char name[480];
    int n = 0;
    do
        snprintf(name, sizeof name, "%s/step_2/rank-%05d.safetensors", folder(k), n);
    while (kt_exists(name) && ++n);
    return n;
}

START_TEST(k08_processes_load_what_others_saved)
{
    said saved[MESHES][TOGETHER_MOST], loaded[TOGETHER_MOST], alone = {.elements = 0};
    for (int k = 0; k < MESHES; k++) {
        in_processes(savers(k), k, save_in, save_on, saved[k]);
        ck_assert_int_eq(files_of(k), savers(k));
        for (int r = 0; r < savers(k); r++) {
            ck_assert_uint_eq(saved[k][r].elements, saved[0][0].elements); /* each byte once */
            ck_assert(saved[k][r].values[k] == saved[k][0].values[k]);
        }
    }
    for (int k = 0; k < MESHES; k++) {
        in_processes(loaders(k), k, load_in, load_on, loaded);
        for (int r = 0; r < loaders(k); r++)
            for (int from = 0; from < MESHES; from++)
                ck_assert_msg(loaded[r].values[from] == saved[from][0].values[from],
                              "%d on %d, rank %d: other values", from, k, r);
    }
    for (int k = 1; k < MESHES; k++) { /* in one process as well: the same values, and next loss */
        lz_in_child(load_on, &k, &alone, sizeof alone);
        ck_assert(alone.values[k] == saved[k][0].values[k]);
        ck_assert_msg(memcmp(&alone.loss[k], &saved[k][0].loss[k], sizeof(float)) == 0,
                      "%d: loss %.9g, was %.9g", k, alone.loss[k], saved[k][0].loss[k]);
    }
}
END_TEST

/* ---- boxes, without a training ---- */

/* A device's part is read by the blocks that have some of it, and no others. */
START_TEST(only_what_is_needed_is_read)
{
    enum { N = 3 << 20 }; /* 12 MiB: three blocks and a header */
    float *v = malloc(N * sizeof *v), part[16];
    lz_ckpt_dir d;
    ck_assert_int_eq(lz_ckpt_dir_open(kt_dir, true, &d), LZ_OK);
    for (int i = 0; i < N; i++)
        v[i] = (float)i;
    lz_ckpt_part p[2] = {{"big", LZ_F32, LZ_SHAPE(N / 16, 16), .data = v},
                         {"small", LZ_F32, LZ_SHAPE(4), .data = v}};
    p[0].box = (lz_box){.rank = 2, .extent = {N / 16, 16}};
    p[1].box = (lz_box){.rank = 1, .extent = {4}};
    lz_ckpt_content c = {.step = 0, .parts = p, .nparts = 2};
    ck_assert_int_eq(lz_ckpt_write(&d, &c), LZ_OK);
    int fd = lz_ckpt_dir_open_step(&d, 0);
    lz_ckpt_reader *r = lz_ckpt_open(fd, 0, "step");
    ck_assert_msg(r != NULL, "%s", lz_last_error_text());
    ck_assert_uint_eq(lz_ckpt_blocks_read(r), 1);
    const lz_manifest_tensor *t = lz_manifest_find(lz_ckpt_manifest(r), "big");
    const lz_box last = {.rank = 2, .offset = {N / 16 - 1, 0}, .extent = {1, 16}};
    ck_assert_int_eq(lz_ckpt_read_box(r, t, &last, part), LZ_OK);
    ck_assert(part[0] == (float)(N - 16) && part[15] == (float)(N - 1));
    ck_assert_uint_eq(lz_ckpt_blocks_read(r), 2);
    ck_assert_int_eq(lz_ckpt_read_box(r, t, &last, part), LZ_OK);
    ck_assert_uint_eq(lz_ckpt_blocks_read(r), 2);
    ck_assert_int_eq(lz_ckpt_verify(r), LZ_OK);
    ck_assert_uint_eq(lz_ckpt_blocks_read(r), 4);
    lz_ckpt_close(r);
    close(fd);
    lz_ckpt_dir_close(&d);
    free(v);
}
END_TEST

/* Copies of boxes between arrays that are dense in other boxes. */
START_TEST(boxes)
{
    static int from[6][5][4], to[6][5][4];
    int value = 0;
    unsigned seed = 1;
    const lz_box all = {.rank = 3, .extent = {6, 5, 4}};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 4; k++)
                from[i][j][k] = value++;
    for (int t = 0; t < 2000; t++) {
        lz_box b = {.rank = 3};
        int part[120];
        for (int d = 0; d < 3; d++) {
            b.offset[d] = rand_r(&seed) % (all.extent[d] + 1);
            b.extent[d] = rand_r(&seed) % (all.extent[d] - b.offset[d] + 1);
        }
        memset(to, 0xff, sizeof to);
        lz_box_copy(&b, sizeof(int), &all, from, &b, part);
        lz_box_copy(&b, sizeof(int), &b, part, &all, to);
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 5; j++)
                for (int k = 0; k < 4; k++) {
                    bool in = i >= b.offset[0] && i < b.offset[0] + b.extent[0] &&
                              j >= b.offset[1] && j < b.offset[1] + b.extent[1] &&
                              k >= b.offset[2] && k < b.offset[2] + b.extent[2];
                    ck_assert_int_eq(to[i][j][k], in ? from[i][j][k] : -1);
                }
    }
    const lz_box scalar = {.rank = 0};
    lz_box_copy(&scalar, sizeof(int), &scalar, &from[0][0][3], &scalar, &to[0][0][0]);
    ck_assert_int_eq(to[0][0][0], 3);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("checkpoint_mesh");
    TCase *t = tcase_create("checkpoint_mesh");
    tcase_add_checked_fixture(t, kt_setup, kt_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, k08_every_mesh_loads_every_other);
    tcase_add_test(t, k08_processes_load_what_others_saved);
    tcase_add_test(t, only_what_is_needed_is_read);
    tcase_add_test(t, boxes);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
