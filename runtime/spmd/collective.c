/* collective.c - collectives among replicas, and who they are: <lazuli/replicas.h>. They name
 * replicas, as PyTorch/XLA's do; ir/bind_partitions.c makes partitions of them.
 * Threads: thread-safe. */
#include "runtime/exec/assign.h"
#include "runtime/exec/runtime_device.h"
#include "runtime/graph/trace_builder.h"
#include <inttypes.h>
#include <lazuli/replicas.h>
#include <lazuli/tensor_ops.h>
#include <string.h>

/* ---- who there is ---- */

/* The device of the thread, and among how many: -1 with the error of `op`. */
static int world(const char *op, lz_dev **d)
{
    *d = lz_dev_current();
    if (*d)
        return (*d)->be->device_count();
    lz_error_annotate(op, NULL);
    return -1;
}

int lz_world_size(void)
{
    LZ_PUBLIC(-1);
    lz_dev *d;
    return world("lz_world_size", &d);
}

int lz_global_ordinal(void)
{
    LZ_PUBLIC(-1);
    lz_dev *d;
    return world("lz_global_ordinal", &d) < 0 ? -1 : d->ordinal;
}

int lz_local_ordinal(void)
{
    LZ_PUBLIC(-1);
    lz_dev *d;
    return world("lz_local_ordinal", &d) < 0 ? -1 : d->ordinal;
}

/* ---- a call ---- */

/* What a collective is among. */
typedef struct among {
    int64_t n, size, ngroup; /* replicas; members of a group */
    const char *text;        /* of the groups, interned */
    double scale;
} among;

static const lz_collective_options defaults = {.struct_size = sizeof defaults, .scale = 1};

static bool check_device(lz_tracer *c, const lz_node *x, int64_t *n)
{
    lz_dev *d = lz_tracer_dev(c, x);
    if (!d)
        return false;
    *n = d->be->device_count();
    if (d->be->partitions)
        LZ_FAIL(LZ_EUNSUPPORTED,
                "the tensor is on %s, where the compiler places collectives: replicas are threads "
                "with devices of their own",
                d->name);
    else if (*n > 1 && !d->be->meets)
        LZ_FAIL(LZ_EUNSUPPORTED, "the devices of %s run alone", d->be->name);
    else
        return true;
    return false;
}

/* Each replica is in one group. */
static bool check_groups(const lz_collective_options *o, int64_t n)
{
    uint8_t seen[LZ_DEV_MAX] = {0};
    if (n > LZ_DEV_MAX || o->ngroups < 1 || o->group_size < 1 || o->ngroups > n ||
        o->group_size != n / o->ngroups || n % o->ngroups) {
        LZ_FAIL(LZ_EINVAL, "groups: %" PRId64 " of %" PRId64 " replicas, there are %" PRId64,
                o->ngroups, o->group_size, n);
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t q = o->groups[i];
        if (q < 0 || q >= n || seen[q]) {
            LZ_FAIL(LZ_EINVAL,
                    q >= 0 && q < n ? "groups: replica %" PRId64 " occurs twice"
                                    : "groups: there is no replica %" PRId64,
                    q);
            return false;
        }
        seen[q] = 1;
    }
    return true;
}

/* [[0, 1], [2, 3]]; each group begins with its member number `first`. */
static const char *groups_text(const lz_collective_options *o, const among *a, int64_t first)
{
    lz_buf b = {0};
    for (int64_t g = 0; g < a->ngroup; g++)
        for (int64_t i = 0; i < a->size; i++) {
            int64_t k = i == 0 ? first : i <= first ? i - 1 : i;
            int64_t q = o->groups ? o->groups[g * a->size + k] : k;
            lz_buf_printf(&b, "%s%" PRId64 "%s",
                          i   ? ", "
                          : g ? ", ["
                              : "[[",
                          q, i == a->size - 1 ? "]" : "");
        }
    lz_buf_puts(&b, "]");
    const char *text = b.failed ? NULL : lz_string_get(b.data, b.len);
    if (!text)
        LZ_FAIL(LZ_EMEM, "no memory for groups of %" PRId64 " replicas", a->n);
    lz_buf_free(&b);
    return text;
}

static bool find_among(lz_tracer *c, const lz_node *x, const lz_collective_options *o,
                       int64_t first, among *a)
{
    if (!x || !check_device(c, x, &a->n))
        return false;
    o = o ? o : &defaults;
    if (o->struct_size < sizeof *o) {
        LZ_FAIL(LZ_EINVAL, "struct_size is %zu: fill the options by their macro", o->struct_size);
        return false;
    }
    if (o->groups && !check_groups(o, a->n))
        return false;
    a->ngroup = o->groups ? o->ngroups : 1;
    a->size = a->n / a->ngroup;
    a->scale = o->scale;
    if (first < 0 || first >= a->size) {
        LZ_FAIL(LZ_EINVAL, "root %" PRId64 ": groups have %" PRId64 " members", first, a->size);
        return false;
    }
    a->text = groups_text(o, a, first);
    return a->text != NULL;
}

/* ---- reductions ---- */

static lz_op combiner(const char *reduce_type)
{
    static const struct {
        const char *name;
        lz_op op;
    } all[] = {{"sum", LZ_OP_ADD}, {"mul", LZ_OP_MULTIPLY}, {"and", LZ_OP_AND},
               {"or", LZ_OP_OR},   {"min", LZ_OP_MINIMUM},  {"max", LZ_OP_MAXIMUM}};
    for (size_t i = 0; reduce_type && i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].name, reduce_type) == 0)
            return all[i].op;
    if (reduce_type)
        LZ_FAIL(LZ_EINVAL, "reduce_type \"%.40s\": sum, mul, and, or, min and max are",
                reduce_type);
    else
        LZ_FAIL(LZ_ENULL, "reduce_type is NULL");
    return LZ_OP_NONE;
}

/* The region; NULL: there is none for the dtype. */
static const lz_func *computation(lz_op op, const lz_node *x, double scale)
{
    lz_dtype d = lz_node_type(x)->dtype;
    bool logic = op == LZ_OP_AND || op == LZ_OP_OR,
         fits = logic ? d == LZ_BOOL || (!lz_dtype_is_float(d) && !lz_dtype_is_complex(d))
                      : d != LZ_BOOL;
    if (!fits || (scale != 1 && !lz_dtype_is_float(d) && !lz_dtype_is_complex(d))) {
        LZ_FAIL(LZ_EDTYPE, "%s of %s%s", lz_op_get(op)->text, lz_dtype_name(d),
                fits ? ": only floats are scaled" : "");
        return NULL;
    }
    return lz_region_binary(op, d);
}

static lz_node *scaled(lz_tracer *c, lz_node *x, double scale)
{
    if (!x || scale == 1)
        return x;
    lz_node *s = lz_tracer_const(c, lz_node_type(x)->dtype, scale, x);
    return lz_tracer_ew2(c, LZ_OP_MULTIPLY, x, lz_tracer_fill(c, s, &lz_node_type(x)->shape));
}

/* n operands of one dtype; their results replace them. */
static bool all_reduce(lz_tracer *c, lz_op op, lz_node **xs, uint32_t n, const among *a)
{
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_all_reduce);
    at.as_all_reduce.replica_groups = a->text;
    at.as_all_reduce.computation = computation(op, xs[0], a->scale);
    if (!at.as_all_reduce.computation)
        return false;
    lz_node *all = a->size > 1 ? lz_tracer_op(c, LZ_OP_ALL_REDUCE, &at.head, xs, n) : xs[0];
    for (uint32_t k = 0; k < n && all; k++) {
        lz_node *r = a->size == 1 ? xs[k] : n == 1 ? all : lz_tracer_result(c, all, k);
        xs[k] = scaled(c, r, a->scale);
        all = xs[k] ? all : NULL;
    }
    return all != NULL;
}

lz_tensor *lz_all_reduce_at(const char *reduce_type, lz_tensor *x, const lz_collective_options *o,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    among a;
    lz_tracer_begin(&c, "lz_all_reduce", site);
    lz_op op = combiner(reduce_type);
    lz_node *n = op != LZ_OP_NONE ? lz_tracer_in(&c, x) : NULL;
    bool ok = find_among(&c, n, o, 0, &a) && all_reduce(&c, op, &n, 1, &a);
    return lz_tracer_end(&c, ok ? n : NULL);
}

/* Those of the dtype of the first that is not done yet, until all are. */
static lz_status reduce_by_dtype(lz_tracer *c, lz_op op, lz_node **xs, lz_node **some, size_t n,
                                 bool *done, const lz_collective_options *o)
{
    among a;
    for (size_t first = 0; first < n; first++) {
        uint32_t m = 0;
        for (size_t i = first; i < n && !done[first]; i++)
            if (lz_node_type(xs[i])->dtype == lz_node_type(xs[first])->dtype)
                some[m++] = xs[i];
        if (m == 0)
            continue;
        if (!find_among(c, some[0], o, 0, &a) || !all_reduce(c, op, some, m, &a))
            return lz_error_get()->status;
        m = 0;
        lz_dtype d = lz_node_type(xs[first])->dtype;
        for (size_t i = first; i < n; i++)
            if (!done[i] && lz_node_type(xs[i])->dtype == d) {
                xs[i] = some[m++];
                done[i] = true;
            }
    }
    return LZ_OK;
}

static lz_status reduce_list(lz_tracer *c, lz_op op, lz_tensor *const *xs, lz_tensor **out,
                             size_t n, const lz_collective_options *o)
{
    lz_node **in = lz_calloc(2 * n + 1, sizeof *in);
    bool *done = lz_calloc(n + 1, sizeof *done);
    lz_status s = in && done ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %zu tensors", n);
    for (size_t i = 0; i < n && s == LZ_OK; i++)
        if (!(in[i] = lz_tracer_in(c, xs[i])))
            s = lz_error_get()->status != LZ_OK ? lz_error_get()->status : LZ_EINVAL;
    if (s == LZ_OK)
        s = reduce_by_dtype(c, op, in, in + n, n, done, o);
    for (size_t i = 0; i < n && s == LZ_OK; i++)
        if (!(out[i] = lz_trace_tensor_of(in[i], c->site)))
            s = lz_error_get()->status;
    lz_free(in);
    lz_free(done);
    return s;
}

static lz_status reduce_in_place(const char *reduce_type, lz_tensor *const *xs, size_t n,
                                 const lz_collective_options *o, const lz_site *site)
{
    lz_tracer c;
    lz_tensor **out = lz_calloc(n + 1, sizeof *out);
    if (!out)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu tensors", n);
    lz_status s = lz_scope_begin();
    if (s == LZ_OK) {
        lz_assignments all = {0};
        lz_op op = combiner(reduce_type);
        lz_tracer_begin(&c, "lz_all_reduce_in_place", site);
        s = op == LZ_OP_NONE ? lz_error_get()->status : reduce_list(&c, op, xs, out, n, o);
        lz_tracer_drop(&c);
        for (size_t i = 0; i < n && s == LZ_OK; i++)
            s = lz_assignments_add(&all, xs[i], out[i]);
        s = lz_assignments_end(&all, s, site);
        lz_scope_end();
    }
    lz_free(out);
    return s;
}

lz_status lz_all_reduce_in_place_at(const char *reduce_type, lz_tensor *const *xs, size_t n,
                                    const lz_collective_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_api_frame f = lz_api_enter("lz_all_reduce_in_place", site);
    lz_status s = n && !xs ? LZ_FAIL(LZ_ENULL, "the list of tensors is NULL") : LZ_OK;
    if (s == LZ_OK && n)
        s = reduce_in_place(reduce_type, xs, n, o, site);
    return lz_api_leave_update(&f, lz_api_status(s));
}

static bool divides(const lz_node *x, int64_t dim, int64_t size)
{
    const lz_type *t = lz_node_type(x);
    char text[96];
    if (t->shape.dims[dim] % size == 0)
        return true;
    LZ_FAIL(LZ_ESHAPE, "dimension %" PRId64 " of %s does not split into %" PRId64 " parts", dim,
            lz_type_short(t, text, sizeof text), size);
    return false;
}

/* A dimension of a tensor that has one. */
static bool find_dim(const lz_node *x, int64_t dim, int64_t *out)
{
    if (!x || !lz_tracer_dim(dim, lz_node_type(x)->shape.rank, out))
        return false;
    if (lz_node_type(x)->shape.rank > 0)
        return true;
    LZ_FAIL(LZ_ESHAPE, "a scalar has no dimension");
    return false;
}

static lz_node *reduce_scatter(lz_tracer *c, lz_op op, lz_node *x, int64_t dim,
                               const lz_collective_options *o)
{
    among a;
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_reduce_scatter);
    if (!find_dim(x, dim, &dim) || !find_among(c, x, o, 0, &a) || !divides(x, dim, a.size))
        return NULL;
    at.as_reduce_scatter.replica_groups = a.text;
    at.as_reduce_scatter.participants = a.size;
    at.as_reduce_scatter.scatter_dimension = dim;
    at.as_reduce_scatter.computation = computation(op, x, a.scale);
    if (!at.as_reduce_scatter.computation)
        return NULL;
    return scaled(c, a.size > 1 ? lz_tracer_op(c, LZ_OP_REDUCE_SCATTER, &at.head, &x, 1) : x,
                  a.scale);
}

lz_tensor *lz_reduce_scatter_at(const char *reduce_type, lz_tensor *x, int64_t dim,
                                const lz_collective_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    lz_tracer_begin(&c, "lz_reduce_scatter", site);
    lz_op op = combiner(reduce_type);
    lz_node *n = op != LZ_OP_NONE ? lz_tracer_in(&c, x) : NULL;
    return lz_tracer_end(&c, n ? reduce_scatter(&c, op, n, dim, o) : NULL);
}

/* ---- moves ---- */

static lz_node *all_gather(lz_tracer *c, lz_node *x, int64_t dim, const lz_collective_options *o)
{
    among a;
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_all_gather);
    if (!find_dim(x, dim, &dim) || !find_among(c, x, o, 0, &a))
        return NULL;
    at.as_all_gather.replica_groups = a.text;
    at.as_all_gather.participants = a.size;
    at.as_all_gather.all_gather_dim = dim;
    return a.size > 1 ? lz_tracer_op(c, LZ_OP_ALL_GATHER, &at.head, &x, 1) : x;
}

lz_tensor *lz_all_gather_at(lz_tensor *x, int64_t dim, const lz_collective_options *o,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    lz_tracer_begin(&c, "lz_all_gather", site);
    return lz_tracer_end(&c, all_gather(&c, lz_tracer_in(&c, x), dim, o));
}

static lz_node *all_to_all(lz_tracer *c, lz_node *x, int64_t split, int64_t concat,
                           const lz_collective_options *o)
{
    among a;
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_all_to_all);
    if (!find_dim(x, split, &split) || !find_dim(x, concat, &concat) ||
        !find_among(c, x, o, 0, &a) || !divides(x, split, a.size))
        return NULL;
    at.as_all_to_all.replica_groups = a.text;
    at.as_all_to_all.split_count = a.size;
    at.as_all_to_all.split_dimension = split;
    at.as_all_to_all.concat_dimension = concat;
    return a.size > 1 ? lz_tracer_op(c, LZ_OP_ALL_TO_ALL, &at.head, &x, 1) : x;
}

lz_tensor *lz_all_to_all_at(lz_tensor *x, int64_t split_dim, int64_t concat_dim,
                            const lz_collective_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    lz_tracer_begin(&c, "lz_all_to_all", site);
    return lz_tracer_end(&c, all_to_all(&c, lz_tracer_in(&c, x), split_dim, concat_dim, o));
}

static const char *pairs_text(const int64_t *pairs, int64_t npairs, int64_t n)
{
    lz_buf b = {0};
    for (int64_t i = 0; i < npairs; i++) {
        for (int k = 0; k < 2; k++)
            if (pairs[2 * i + k] < 0 || pairs[2 * i + k] >= n) {
                lz_buf_free(&b);
                LZ_FAIL(LZ_EINVAL, "pair %" PRId64 ": there is no replica %" PRId64, i,
                        pairs[2 * i + k]);
                return NULL;
            }
        lz_buf_printf(&b, "%s[%" PRId64 ", %" PRId64 "]", i ? ", " : "[", pairs[2 * i],
                      pairs[2 * i + 1]);
    }
    lz_buf_puts(&b, "]");
    const char *text = b.failed ? NULL : lz_string_get(b.data, b.len);
    if (!text)
        LZ_FAIL(LZ_EMEM, "no memory for %" PRId64 " pairs", npairs);
    lz_buf_free(&b);
    return text;
}

static lz_node *permute(lz_tracer *c, lz_node *x, const int64_t *pairs, int64_t npairs)
{
    int64_t n;
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_collective_permute);
    if (!x || !check_device(c, x, &n))
        return NULL;
    if (npairs < 0 || npairs > n) {
        LZ_FAIL(LZ_EINVAL, "%" PRId64 " pairs of %" PRId64 " replicas", npairs, n);
        return NULL;
    }
    if (npairs && !pairs) {
        LZ_FAIL(LZ_ENULL, "pairs is NULL");
        return NULL;
    }
    if (npairs && !(at.as_collective_permute.source_target_pairs = pairs_text(pairs, npairs, n)))
        return NULL;
    if (npairs == 0)
        return lz_tracer_const_like(c, x, 0);
    return n > 1 ? lz_tracer_op(c, LZ_OP_COLLECTIVE_PERMUTE, &at.head, &x, 1) : x;
}

lz_tensor *lz_collective_permute_at(lz_tensor *x, const int64_t *pairs, int64_t npairs,
                                    const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    lz_tracer_begin(&c, "lz_collective_permute", site);
    return lz_tracer_end(&c, permute(&c, lz_tracer_in(&c, x), pairs, npairs));
}

static lz_node *broadcast(lz_tracer *c, lz_node *x, int64_t root, const lz_collective_options *o)
{
    among a;
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_collective_broadcast);
    if (!find_among(c, x, o, root, &a))
        return NULL;
    at.as_collective_broadcast.replica_groups = a.text;
    return a.size > 1 ? lz_tracer_op(c, LZ_OP_COLLECTIVE_BROADCAST, &at.head, &x, 1) : x;
}

lz_tensor *lz_collective_broadcast_at(lz_tensor *x, int64_t root, const lz_collective_options *o,
                                      const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    lz_tracer_begin(&c, "lz_collective_broadcast", site);
    return lz_tracer_end(&c, broadcast(&c, lz_tracer_in(&c, x), root, o));
}
