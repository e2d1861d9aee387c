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

/* The device of the thread, the number of the process's first one, and among how many: -1 with the
 * error of `op`. */
static int world(const char *op, lz_dev **d, int *first)
{
    int n;
    *d = lz_dev_current();
    if (*d && lz_dev_world(*d, &n, first) == LZ_OK)
        return n;
    lz_error_annotate(op, NULL);
    return -1;
}

int lz_world_size(void)
{
    LZ_PUBLIC(-1);
    lz_dev *d;
    int first;
    return world("lz_world_size", &d, &first);
}

int lz_global_ordinal(void)
{
    LZ_PUBLIC(-1);
    lz_dev *d;
    int first;
    return world("lz_global_ordinal", &d, &first) < 0 ? -1 : first + d->ordinal;
}

int lz_local_ordinal(void)
{
    LZ_PUBLIC(-1);
    lz_dev *d = lz_dev_current();
    if (d)
        return d->ordinal;
    lz_error_annotate("lz_local_ordinal", NULL);
    return -1;
}

/* ---- a call ---- */

/* What a collective is among. */
typedef struct among {
    int64_t n, size, ngroup; /* replicas; members of a group */
    const char *text;        /* of the groups, interned */
    double scale, cap;       /* bytes of a combined one */
} among;

static const lz_collective_options defaults = {.struct_size = sizeof defaults,
                                               LZ_COLLECTIVE_DEFAULTS};

static bool check_device(lz_tracer *c, const lz_node *x, int64_t *n)
{
    lz_dev *d = lz_tracer_dev(c, x);
    if (!d)
        return false;
    int all, first;
    if (lz_dev_world(d, &all, &first) != LZ_OK)
        return false;
    *n = all;
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
    uint8_t seen[LZ_REPLICAS_MAX] = {0};
    if (n > LZ_REPLICAS_MAX || o->ngroups < 1 || o->group_size < 1 || o->ngroups > n ||
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
    if (o->struct_size < offsetof(lz_collective_options, bucket_cap_mb)) {
        LZ_FAIL(LZ_EINVAL, "struct_size is %zu: fill the options by their macro", o->struct_size);
        return false;
    }
    if (o->groups && !check_groups(o, a->n))
        return false;
    a->ngroup = o->groups ? o->ngroups : 1;
    a->size = a->n / a->ngroup;
    a->scale = o->scale;
    double mb = o->struct_size < sizeof *o ? defaults.bucket_cap_mb : o->bucket_cap_mb;
    a->cap = mb * 1024 * 1024;
    if (!(mb >= 0)) {
        LZ_FAIL(LZ_EINVAL, "bucket_cap_mb is %g", mb);
        return false;
    }
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

/* What a list of tensors goes through. */
typedef struct kind {
    lz_op op, combiner;
    int64_t dim;
} kind;

static bool describe(const kind *k, const lz_node *x, const among *a, lz_attr_any *at)
{
    const lz_func *f = NULL;
    lz_attr_init(at, lz_op_get(k->op)->attr);
    if (k->combiner != LZ_OP_NONE && !(f = computation(k->combiner, x, a->scale)))
        return false;
    if (k->op == LZ_OP_ALL_REDUCE) {
        at->as_all_reduce.replica_groups = a->text;
        at->as_all_reduce.computation = f;
    } else if (k->op == LZ_OP_REDUCE_SCATTER) {
        at->as_reduce_scatter.replica_groups = a->text;
        at->as_reduce_scatter.participants = a->size;
        at->as_reduce_scatter.scatter_dimension = k->dim;
        at->as_reduce_scatter.computation = f;
    } else {
        at->as_all_gather.replica_groups = a->text;
        at->as_all_gather.participants = a->size;
        at->as_all_gather.all_gather_dim = k->dim;
    }
    return true;
}

/* n operands of one dtype; their results replace them. */
static bool combined(lz_tracer *c, const kind *k, lz_node **xs, uint32_t n, const among *a)
{
    lz_attr_any at;
    if (!describe(k, xs[0], a, &at))
        return false;
    lz_node *all = a->size > 1 ? lz_tracer_op(c, k->op, &at.head, xs, n) : xs[0];
    for (uint32_t i = 0; i < n && all; i++) {
        lz_node *r = a->size == 1 ? xs[i] : n == 1 ? all : lz_tracer_result(c, all, i);
        xs[i] = k->combiner != LZ_OP_NONE ? scaled(c, r, a->scale) : r;
        all = xs[i] ? all : NULL;
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
    const kind k = {LZ_OP_ALL_REDUCE, op, 0};
    bool ok = find_among(&c, n, o, 0, &a) && combined(&c, &k, &n, 1, &a);
    return lz_tracer_end(&c, ok ? n : NULL);
}

/* ---- lists: tensors of one dtype, and in one dimension, are combined, as many as fit into a
 *      bucket ---- */

typedef struct list {
    lz_tracer *c;
    kind k;
    const lz_collective_options *o;
    size_t n;
    lz_node **in, **some; /* [n]: what is not done yet, or its result; of a bucket */
    int64_t *dim;         /* [n] */
    bool *done;
} list;

static bool divides(const lz_node *x, int64_t dim, int64_t size);
static bool find_dim(const lz_node *x, int64_t dim, int64_t *out);

/* Of the kind of the first, in the order of the list; a bucket has one at least. */
static uint32_t fill_bucket(const list *l, size_t first, double cap, size_t *which)
{
    const lz_type *t = lz_node_type(l->in[first]);
    uint32_t m = 0;
    double bytes = 0;
    for (size_t i = first; i < l->n; i++) {
        const lz_type *u = lz_node_type(l->in[i]);
        if (l->done[i] || u->dtype != t->dtype || l->dim[i] != l->dim[first])
            continue;
        bytes += (double)u->nbytes;
        if (m && cap > 0 && bytes > cap)
            break;
        which[m] = i;
        l->some[m++] = l->in[i];
    }
    return m;
}

static lz_status run_list(list *l, size_t *which)
{
    among a;
    for (size_t first = 0; first < l->n; first++) {
        if (l->done[first])
            continue;
        if (!find_among(l->c, l->in[first], l->o, 0, &a))
            return lz_error_get()->status;
        uint32_t m = fill_bucket(l, first, a.cap, which);
        l->k.dim = l->dim[first];
        for (uint32_t i = 0; i < m && l->k.op == LZ_OP_REDUCE_SCATTER; i++)
            if (!divides(l->some[i], l->k.dim, a.size))
                return lz_error_get()->status;
        if (!combined(l->c, &l->k, l->some, m, &a))
            return lz_error_get()->status;
        for (uint32_t i = 0; i < m; i++) {
            l->in[which[i]] = l->some[i];
            l->done[which[i]] = true;
        }
    }
    return LZ_OK;
}

static lz_status begin_list(list *l, lz_tensor *const *xs, int64_t dim)
{
    for (size_t i = 0; i < l->n; i++) {
        if (!(l->in[i] = lz_tracer_in(l->c, xs[i])))
            return lz_error_get()->status != LZ_OK ? lz_error_get()->status : LZ_EINVAL;
        if (l->k.op != LZ_OP_ALL_REDUCE && !find_dim(l->in[i], dim, &l->dim[i]))
            return lz_error_get()->status;
    }
    return LZ_OK;
}

/* out: the results, of the scope. */
static lz_status through_list(lz_tracer *c, kind k, lz_tensor *const *xs, lz_tensor **out, size_t n,
                              const lz_collective_options *o)
{
    list l = {.c = c, .k = k, .o = o, .n = n};
    l.in = lz_calloc(2 * n + 1, sizeof *l.in);
    l.dim = lz_calloc(n + 1, sizeof *l.dim);
    l.done = lz_calloc(n + 1, sizeof *l.done);
    size_t *which = lz_calloc(n + 1, sizeof *which);
    l.some = l.in ? l.in + n : NULL;
    lz_status s = l.in && l.dim && l.done && which
                      ? begin_list(&l, xs, k.dim)
                      : LZ_FAIL(LZ_EMEM, "no memory for %zu tensors", n);
    if (s == LZ_OK)
        s = run_list(&l, which);
    for (size_t i = 0; i < n && s == LZ_OK; i++)
        if (!(out[i] = lz_trace_tensor_of(l.in[i], c->site)))
            s = lz_error_get()->status;
    lz_free(which);
    lz_free(l.done);
    lz_free(l.dim);
    lz_free(l.in);
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
        const kind k = {LZ_OP_ALL_REDUCE, combiner(reduce_type), 0};
        lz_tracer_begin(&c, "lz_all_reduce_in_place", site);
        s = k.combiner == LZ_OP_NONE ? lz_error_get()->status : through_list(&c, k, xs, out, n, o);
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
    kind k = {LZ_OP_REDUCE_SCATTER, op, 0};
    if (!find_dim(x, dim, &k.dim) || !find_among(c, x, o, 0, &a) || !divides(x, k.dim, a.size))
        return NULL;
    return combined(c, &k, &x, 1, &a) ? x : NULL;
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
    kind k = {LZ_OP_ALL_GATHER, LZ_OP_NONE, 0};
    if (!find_dim(x, dim, &k.dim) || !find_among(c, x, o, 0, &a))
        return NULL;
    return combined(c, &k, &x, 1, &a) ? x : NULL;
}

lz_tensor *lz_all_gather_at(lz_tensor *x, int64_t dim, const lz_collective_options *o,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    lz_tracer_begin(&c, "lz_all_gather", site);
    return lz_tracer_end(&c, all_gather(&c, lz_tracer_in(&c, x), dim, o));
}

/* Lists whose results are new tensors. */
static lz_status bucketized(const char *op, kind k, lz_tensor *const *xs, size_t n, lz_tensor **out,
                            const lz_collective_options *o, const lz_site *site)
{
    lz_tracer c;
    lz_api_frame f = lz_api_enter(op, site);
    lz_tensor **made = lz_calloc(n + 1, sizeof *made);
    lz_node **r = lz_calloc(n + 1, sizeof *r);
    lz_status s = !made || !r     ? LZ_FAIL(LZ_EMEM, "no memory for %zu tensors", n)
                  : n && !xs      ? LZ_FAIL(LZ_ENULL, "the list of tensors is NULL")
                  : n && !out     ? LZ_FAIL(LZ_ENULL, "out is NULL")
                  : n > INT32_MAX ? LZ_FAIL(LZ_ERANGE, "%zu tensors", n)
                                  : lz_scope_begin();
    if (s == LZ_OK) {
        lz_tracer_begin(&c, op, site);
        s = through_list(&c, k, xs, made, n, o);
        lz_tracer_drop(&c);
        for (size_t i = 0; i < n && s == LZ_OK; i++)
            if (!(r[i] = lz_trace_node_of(made[i])))
                s = lz_error_get()->status;
        LZ_QUIETLY {
            (void)lz_scope_end();
        }
    }
    s = lz_api_results(&f, lz_api_status(s), out, out ? (int)n : 0, r, site);
    for (size_t i = 0; r && i < n; i++)
        lz_node_release(r[i]);
    lz_free(r);
    lz_free(made);
    return lz_api_leave(&f, s);
}

lz_status lz_all_gather_bucketized_at(lz_tensor *const *xs, size_t n, int64_t dim, lz_tensor **out,
                                      const lz_collective_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    const kind k = {LZ_OP_ALL_GATHER, LZ_OP_NONE, dim};
    return bucketized("lz_all_gather_bucketized", k, xs, n, out, o, site);
}

lz_status lz_reduce_scatter_bucketized_at(const char *reduce_type, lz_tensor *const *xs, size_t n,
                                          int64_t dim, lz_tensor **out,
                                          const lz_collective_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_reduce_scatter_bucketized";
    const kind k = {LZ_OP_REDUCE_SCATTER, combiner(reduce_type), dim};
    if (k.combiner != LZ_OP_NONE)
        return bucketized(op, k, xs, n, out, o, site);
    lz_error_annotate(op, site);
    return lz_error_get()->status;
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
