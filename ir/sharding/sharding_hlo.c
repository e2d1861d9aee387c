/* sharding_hlo.c - shardings as HLO writes them. A string says for every tile which device has it:
 * a list of devices, or an iota that is reshaped and transposed, over tiles in row-major order. It
 * is read as the strides that a step along each dimension of tiles makes, which are those of the
 * mesh's factors; then the two maps from devices to tiles are compared.
 * Threads: thread-safe. */
#include "base/text.h"
#include "ir/sharding/sharding.h"
#include <inttypes.h>
#include <string.h>

typedef enum subgroup { SUB_REPLICATED, SUB_MANUAL, SUB_UNREDUCED } subgroup;
enum {
    MOST_DIMS = 2 * LZ_MAX_RANK,
    MOST_IOTA = 32,
    MOST_DEVICES = 1 << 16 /* a string is looked at device by device */
};

/* What a string says. */
typedef struct tiling {
    enum { IS_REPLICATED, IS_OPEN, IS_ALL, IS_TILED } is; /* IS_ALL: one subgroup, `sub[0]` */
    int ndim, nsub; /* of tiles, subgroups of the last ones among them */
    int64_t dims[MOST_DIMS], n;
    subgroup sub[LZ_MAX_RANK];
    int64_t *ids; /* of n: the device of each tile */
} tiling;

typedef struct cursor {
    const char *p, *end;
} cursor;

/* ---- reading ---- */

static bool eat(cursor *c, const char *s)
{
    size_t n = strlen(s);
    while (c->p < c->end && *c->p == ' ')
        c->p++;
    bool is = (size_t)(c->end - c->p) >= n && memcmp(c->p, s, n) == 0;
    c->p += is ? n : 0;
    return is;
}

static lz_status wrong(const cursor *c, const char *what)
{
    int n = (int)(c->end - c->p < 40 ? c->end - c->p : 40);
    return LZ_FAIL(LZ_EPARSE, "HLO sharding: expected %s, not '%.*s'", what, n, c->p);
}

static lz_status number(cursor *c, int64_t *out)
{
    uint64_t v;
    (void)eat(c, "");
    size_t n = lz_text_digits(c->p, (size_t)(c->end - c->p), &v);
    if (n == 0 || v > MOST_DEVICES)
        return wrong(c, "a number");
    c->p += n;
    *out = (int64_t)v;
    return LZ_OK;
}

/* 2,1,4] */
static lz_status list(cursor *c, const char *close, int most, int64_t *out, int *n)
{
    *n = 0;
    do {
        if (*n == most)
            return LZ_FAIL(LZ_EUNSUPPORTED, "HLO sharding: more than %d dimensions", most);
        LZ_TRY(number(c, &out[(*n)++]));
    } while (eat(c, ","));
    return eat(c, close) ? LZ_OK : wrong(c, close);
}

static lz_status product(const int64_t *v, int n, int64_t *out)
{
    *out = 1;
    for (int i = 0; i < n; i++) {
        if (v[i] < 1 || v[i] > MOST_DEVICES / *out)
            return LZ_FAIL(LZ_EINVAL, "HLO sharding: %" PRId64 " tiles of %" PRId64, v[i], *out);
        *out *= v[i];
    }
    return LZ_OK;
}

/* The numbers of an iota of shape `v`, its dimensions permuted. */
static void iota(const int64_t *v, const int64_t *perm, int n, int64_t total, int64_t *ids)
{
    int64_t stride[MOST_IOTA], s = 1, at[MOST_IOTA] = {0};
    for (int i = n - 1; i >= 0; i--) {
        stride[i] = s;
        s *= v[i];
    }
    for (int64_t k = 0; k < total; k++) {
        ids[k] = 0;
        for (int i = 0; i < n; i++)
            ids[k] += at[i] * stride[perm[i]];
        for (int i = n - 1; i >= 0 && ++at[i] == v[perm[i]]; i--)
            at[i] = 0;
    }
}

/* [2,4]T(1,0), or [8] */
static lz_status iota_of(cursor *c, tiling *t)
{
    int64_t v[MOST_IOTA], perm[MOST_IOTA], total;
    int n, np;
    uint64_t seen = 0;
    if (!eat(c, "["))
        return wrong(c, "'['");
    LZ_TRY(list(c, "]", MOST_IOTA, v, &n));
    LZ_TRY(product(v, n, &total));
    np = n;
    for (int i = 0; i < n; i++)
        perm[i] = i;
    if (eat(c, "T("))
        LZ_TRY(list(c, ")", MOST_IOTA, perm, &np));
    for (int i = 0; i < np; i++)
        seen |= perm[i] < n ? UINT64_C(1) << perm[i] : 0;
    if (np != n || seen != (UINT64_C(1) << n) - 1)
        return LZ_FAIL(LZ_EINVAL, "HLO sharding: T(..) is no permutation of %d dimensions", n);
    if (total != t->n)
        return LZ_FAIL(LZ_EINVAL, "HLO sharding: %" PRId64 " devices for %" PRId64 " tiles", total,
                       t->n);
    iota(v, perm, n, total, t->ids);
    return LZ_OK;
}

/* Each device once. */
static lz_status check_devices(const tiling *t)
{
    uint8_t *seen = lz_calloc((size_t)t->n, 1);
    lz_status s = seen ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %" PRId64 " devices", t->n);
    for (int64_t i = 0; i < t->n && s == LZ_OK; i++) {
        if (t->ids[i] >= t->n || seen[t->ids[i]])
            s = LZ_FAIL(LZ_EINVAL, "HLO sharding: device %" PRId64 " is %s", t->ids[i],
                        t->ids[i] >= t->n ? "one too many" : "there twice");
        else
            seen[t->ids[i]] = 1;
    }
    lz_free(seen);
    return s;
}

static lz_status devices_of(cursor *c, tiling *t)
{
    LZ_TRY(list(c, "]", MOST_DIMS, t->dims, &t->ndim));
    LZ_TRY(product(t->dims, t->ndim, &t->n));
    t->ids = lz_calloc((size_t)t->n, sizeof *t->ids);
    if (!t->ids)
        return LZ_FAIL(LZ_EMEM, "no memory for %" PRId64 " devices", t->n);
    if (eat(c, "<="))
        return iota_of(c, t);
    for (int64_t i = 0; i < t->n; i++) {
        if (i && !eat(c, ","))
            return wrong(c, "','");
        LZ_TRY(number(c, &t->ids[i]));
    }
    return check_devices(t);
}

static bool subgroup_of(cursor *c, subgroup *out)
{
    static const char *const words[] = {"replicated", "manual", "unreduced"};
    for (int i = 0; i < 3; i++)
        if (eat(c, words[i])) {
            *out = (subgroup)i;
            return true;
        }
    return false;
}

/* last_tile_dim_replicate, or last_tile_dims={manual, replicated} */
static lz_status subgroups_of(cursor *c, tiling *t)
{
    if (eat(c, "last_tile_dim_replicate")) {
        t->nsub = 1;
        t->sub[0] = SUB_REPLICATED;
    } else if (eat(c, "last_tile_dims={")) {
        do {
            if (t->nsub == LZ_MAX_RANK || !subgroup_of(c, &t->sub[t->nsub]))
                return wrong(c, "manual, replicated or unreduced");
            t->nsub++;
        } while (eat(c, ","));
        if (!eat(c, "}"))
            return wrong(c, "'}'");
    }
    return t->nsub <= t->ndim ? LZ_OK : wrong(c, "as many dimensions");
}

static lz_status body_of(cursor *c, tiling *t)
{
    int64_t device;
    if (eat(c, "devices=[")) {
        t->is = IS_TILED;
        LZ_TRY(devices_of(c, t));
        return subgroups_of(c, t);
    }
    if (eat(c, "maximal device=")) /* whoever has it has all of it */
        return number(c, &device);
    if (eat(c, "unknown")) {
        t->is = IS_OPEN;
        return LZ_OK;
    }
    if (!subgroup_of(c, &t->sub[0]))
        return wrong(c, "replicated, manual, maximal or devices");
    t->is = t->sub[0] == SUB_REPLICATED ? IS_REPLICATED : IS_ALL;
    return LZ_OK;
}

/* A group of values that have one sharding means nothing here; nor does metadata. */
static lz_status rest_of(cursor *c)
{
    int64_t group;
    if (eat(c, "shard_as") || eat(c, "shard_like"))
        LZ_TRY(number(c, &group));
    if (eat(c, "metadata={")) {
        for (int depth = 1; c->p < c->end && depth; c->p++)
            depth += (*c->p == '{') - (*c->p == '}');
    }
    if (!eat(c, "}"))
        return wrong(c, "'}'");
    (void)eat(c, "");
    return c->p == c->end ? LZ_OK : wrong(c, "the end");
}

/* t->ids is the caller's to free, whatever comes back. */
static lz_status read_tiling(const char *text, size_t n, tiling *t)
{
    cursor c = {text, text + n};
    memset(t, 0, sizeof *t);
    if (!eat(&c, "{"))
        return wrong(&c, "'{'");
    LZ_TRY(body_of(&c, t));
    return rest_of(&c);
}

bool lz_sharding_hlo_element(const char *text, size_t n, uint32_t k, const char **at, size_t *len)
{
    cursor c = {text, text + n};
    const char *inner;
    int depth = 0;
    *at = text;
    *len = n;
    if (!eat(&c, "{") || !(inner = c.p, eat(&c, "{")))
        return k == 0;
    for (const char *p = inner, *from = inner; p < c.end; p++) {
        depth += (*p == '{') - (*p == '}');
        if (*p == '{' && depth == 1)
            from = p;
        if (*p == '}' && depth == 0 && k-- == 0) {
            *at = from;
            *len = (size_t)(p + 1 - from);
            return true;
        }
    }
    return false;
}

/* ---- as factors of a mesh ---- */

static int factor_of_stride(const lz_mesh *m, int64_t stride)
{
    for (int k = 0; k < m->nfactor; k++)
        if (m->factors[k].stride == stride)
            return k;
    return -1;
}

/* The partition of tile k; place: of each device its partition. */
static int64_t partition_of(const tiling *t, const int64_t *place, int64_t k)
{
    return place ? place[t->ids[k]] : t->ids[k];
}

/* The same of the first of those that repeat tile k, which may be listed in any order. */
static int64_t first_partition_of(const tiling *t, const int64_t *place, int64_t k)
{
    bool repeats = t->nsub && t->sub[t->nsub - 1] == SUB_REPLICATED;
    int64_t least = partition_of(t, place, k);
    for (int64_t i = 1; repeats && i < t->dims[t->ndim - 1]; i++) {
        int64_t p = partition_of(t, place, k + i);
        least = p < least ? p : least;
    }
    return least;
}

/* The factors along dimension d of tiles, major to minor: found from the minor end on. */
static bool factors_of(const tiling *t, const lz_mesh *m, const int64_t *place, int d,
                       lz_axis_list *out)
{
    lz_axis_list reversed = {0};
    int64_t step = 1, base = first_partition_of(t, place, 0);
    for (int i = d + 1; i < t->ndim; i++)
        step *= t->dims[i];
    for (int64_t have = 1; have < t->dims[d];) {
        int k = factor_of_stride(m, first_partition_of(t, place, have * step) - base);
        if (k < 0 || t->dims[d] % (have * m->factors[k].size) != 0)
            return false;
        lz_axis_list_push(&reversed, k);
        have *= m->factors[k].size;
    }
    for (int i = reversed.n - 1; i >= 0; i--)
        lz_axis_list_push(out, reversed.at[i]);
    return true;
}

/* The coordinate of tile k along dimension d. */
static int64_t tile_coordinate(const tiling *t, int64_t k, int d)
{
    for (int i = t->ndim - 1; i > d; i--)
        k /= t->dims[i];
    return k % t->dims[d];
}

/* Whether each device has the tile that the text says; lists: of the dimensions of tiles. */
static bool same_tiles(const tiling *t, const lz_mesh *m, const int64_t *place,
                       const lz_axis_list *lists)
{
    for (int64_t k = 0; k < t->n; k++)
        for (int d = 0; d < t->ndim; d++) {
            bool whole =
                d >= t->ndim - t->nsub && t->sub[d - (t->ndim - t->nsub)] == SUB_REPLICATED;
            if (!whole && tile_coordinate(t, k, d) !=
                              lz_axis_list_tile(m, &lists[d], partition_of(t, place, k)))
                return false;
        }
    return true;
}

static void set_subgroup(lz_sharding *s, subgroup sub, uint32_t factors)
{
    if (sub == SUB_MANUAL)
        s->manual |= factors;
    if (sub == SUB_UNREDUCED && factors) {
        s->unreduced |= factors;
        s->reduction = LZ_OP_ADD;
    }
}

/* False: not a sharding of that mesh. */
static bool tiles_in(const tiling *t, const lz_mesh *m, const int64_t *place, lz_sharding *s)
{
    lz_axis_list lists[MOST_DIMS] = {{0}};
    int rank = t->ndim - t->nsub;
    if (t->n != m->ndevice)
        return false;
    for (int d = 0; d < t->ndim; d++) {
        subgroup sub = d < rank ? SUB_MANUAL : t->sub[d - rank];
        if (sub == SUB_REPLICATED)
            continue;
        if (!factors_of(t, m, place, d, &lists[d]))
            return false;
        if (d < rank)
            s->dims[d] = lists[d];
        else
            set_subgroup(s, sub, lz_axis_list_mask(&lists[d]));
    }
    return same_tiles(t, m, place, lists);
}

/* Of each device its partition; *out NULL: the same number. */
static lz_status places_of(const lz_mesh *m, int64_t **out)
{
    *out = NULL;
    if (!m->device_ids)
        return LZ_OK;
    if (!(*out = lz_calloc((size_t)m->ndevice, sizeof **out)))
        return LZ_FAIL(LZ_EMEM, "no memory for %" PRId64 " devices", m->ndevice);
    for (int64_t p = 0; p < m->ndevice; p++)
        (*out)[m->device_ids[p]] = p;
    return LZ_OK;
}

static lz_status sharding_of(const tiling *t, const char *text, size_t n, int rank,
                             const lz_mesh *m, lz_sharding *s)
{
    int64_t *place;
    lz_sharding_init(s, m, rank, t->is == IS_OPEN);
    if (t->is == IS_ALL)
        set_subgroup(s, t->sub[0], lz_mesh_all(m));
    if (t->is != IS_TILED)
        return LZ_OK;
    if (t->ndim - t->nsub != rank)
        return LZ_FAIL(LZ_EINVAL, "HLO sharding %.*s: %d dimensions for a tensor of rank %d",
                       (int)(n < 80 ? n : 80), text, t->ndim - t->nsub, rank);
    LZ_TRY(places_of(m, &place));
    bool is = tiles_in(t, m, place, s);
    lz_free(place);
    return is ? LZ_OK
              : LZ_FAIL(LZ_EINVAL, "HLO sharding %.*s: none of the mesh of %" PRId64 " devices",
                        (int)(n < 80 ? n : 80), text, m->ndevice);
}

const lz_sharding *lz_sharding_from_hlo(const char *text, size_t n, int rank, int64_t ndevice,
                                        const lz_mesh *mesh, uint32_t unspecified)
{
    tiling t;
    lz_sharding s;
    lz_status st = read_tiling(text, n, &t);
    if (st == LZ_OK && !mesh)
        mesh = lz_sharding_hlo_mesh(&(lz_hlo_text){text, n}, 1, ndevice);
    if (st == LZ_OK && rank < 0)
        rank = t.is == IS_TILED ? t.ndim - t.nsub : 0;
    if (st == LZ_OK && (rank < 0 || rank > LZ_MAX_RANK))
        st = LZ_FAIL(LZ_EINVAL, "HLO sharding %.*s: %d dimensions", (int)(n < 80 ? n : 80), text,
                     rank);
    if (st == LZ_OK)
        st = mesh ? sharding_of(&t, text, n, rank, mesh, &s) : lz_error_get()->status;
    lz_free(t.ids);
    if (st != LZ_OK)
        return NULL;
    s.open |= unspecified & (uint32_t)((UINT64_C(1) << rank) - 1);
    return lz_sharding_get(&s);
}

/* ---- a mesh for strings ---- */

static const lz_mesh *mesh_of_sizes(const int64_t *sizes, int n, const int64_t *ids)
{
    lz_mesh_axis axes[LZ_MESH_FACTORS];
    char names[LZ_MESH_FACTORS][16];
    for (int i = 0; i < n; i++) {
        lz_snprintf(names[i], sizeof names[i], "axis_%d", i);
        axes[i] = (lz_mesh_axis){names[i], sizes[i]};
    }
    return lz_mesh_get(axes, n, ids);
}

/* The next order of the sizes; false: it was the last. */
static bool next_order(int64_t *v, int n)
{
    int i = n - 1, k = n - 1;
    while (i > 0 && v[i - 1] >= v[i])
        i--;
    if (i <= 0)
        return false;
    while (v[k] <= v[i - 1])
        k--;
    int64_t x = v[i - 1];
    v[i - 1] = v[k];
    v[k] = x;
    for (k = n - 1; i < k; i++, k--) {
        x = v[i];
        v[i] = v[k];
        v[k] = x;
    }
    return true;
}

static int count_in(const tiling *t, uint32_t n, const lz_mesh *m)
{
    int count = 0;
    for (uint32_t i = 0; i < n; i++) {
        lz_sharding s;
        lz_sharding_init(&s, m, 0, false);
        count += t[i].is != IS_TILED || tiles_in(&t[i], m, NULL, &s);
    }
    return count;
}

/* The order of prime factors in which most of the strings are shardings. */
static const lz_mesh *best_mesh(const tiling *t, uint32_t n, int64_t ndevice)
{
    enum { TRIES = 200, WORK = 1 << 22 };
    int64_t sizes[LZ_MESH_FACTORS];
    const lz_mesh *best = NULL;
    int nsize = lz_mesh_primes(ndevice, sizes), most = -1, tries = 0;
    do {
        const lz_mesh *m = mesh_of_sizes(sizes, nsize, NULL);
        int count = m ? count_in(t, n, m) : -1;
        if (!m)
            return NULL;
        if (count > most) {
            best = m;
            most = count;
        }
    } while (most < (int)n && ++tries < TRIES && tries * ndevice * n < WORK &&
             next_order(sizes, nsize));
    return best;
}

const lz_mesh *lz_sharding_hlo_mesh(const lz_hlo_text *texts, uint32_t n, int64_t ndevice)
{
    tiling *t = lz_calloc((size_t)n + 1, sizeof *t);
    const lz_mesh *m = NULL;
    lz_status st = t ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %u shardings", n);
    for (uint32_t i = 0; i < n && st == LZ_OK; i++) {
        st = read_tiling(texts[i].s, texts[i].n, &t[i]);
        ndevice = st == LZ_OK && ndevice == 0 && t[i].is == IS_TILED ? t[i].n : ndevice;
    }
    if (st == LZ_OK && (ndevice < 1 || ndevice > MOST_DEVICES))
        st = LZ_FAIL(LZ_EINVAL, "HLO sharding: over %" PRId64 " devices", ndevice);
    if (st == LZ_OK)
        m = best_mesh(t, n, ndevice);
    for (uint32_t i = 0; t && i < n; i++)
        lz_free(t[i].ids);
    lz_free(t);
    return m;
}

const lz_mesh *lz_sharding_hlo_own_mesh(const char *text, size_t n, int64_t ndevice)
{
    tiling t;
    int64_t sizes[LZ_MESH_FACTORS];
    int count = 0;
    const lz_mesh *m = NULL;
    if (read_tiling(text, n, &t) == LZ_OK) {
        if (t.is != IS_TILED)
            m = mesh_of_sizes(sizes, lz_mesh_primes(ndevice, sizes), NULL);
        else if (ndevice && t.n != ndevice)
            (void)LZ_FAIL(LZ_EINVAL, "HLO sharding %.*s: over %" PRId64 " devices, not %" PRId64,
                          (int)(n < 80 ? n : 80), text, t.n, ndevice);
        else {
            for (int d = 0; d < t.ndim; d++)
                count += lz_mesh_primes(t.dims[d], sizes + count);
            m = mesh_of_sizes(sizes, count, t.ids);
        }
    }
    lz_free(t.ids);
    return m;
}

/* ---- writing ---- */

/* Factors in the order of the tiles: those of dimensions, manual, unreduced, the rest. */
typedef struct order {
    lz_axis_list all;
    int64_t sub[3]; /* devices of each subgroup, in the order of `subs` */
} order;
static const subgroup subs[3] = {SUB_MANUAL, SUB_UNREDUCED, SUB_REPLICATED};

static void order_of(const lz_sharding *s, order *o)
{
    uint32_t used = lz_sharding_used(s) | s->manual,
             masks[3] = {s->manual, s->unreduced, lz_mesh_all(s->mesh) & ~used};
    memset(o, 0, sizeof *o);
    for (int d = 0; d < s->rank; d++)
        for (int i = 0; i < s->dims[d].n; i++)
            lz_axis_list_push(&o->all, s->dims[d].at[i]);
    for (int j = 0; j < 3; j++) {
        o->sub[j] = lz_mesh_mask_size(s->mesh, masks[j]);
        for (int k = 0; k < s->mesh->nfactor; k++)
            if (masks[j] >> k & 1)
                lz_axis_list_push(&o->all, k);
    }
}

/* <=[2,4]T(1,0): neighbours of the mesh that stay neighbours are one dimension. */
static void print_iota(lz_buf *b, const lz_mesh *m, const lz_axis_list *all)
{
    int run[LZ_MESH_FACTORS] = {0}, n = 0; /* run: of each factor, numbered in the mesh's order */
    bool follows[LZ_MESH_FACTORS] = {false};
    for (int i = 1; i < all->n; i++)
        follows[all->at[i]] = all->at[i] == all->at[i - 1] + 1;
    for (int k = 0; k < m->nfactor; k++) {
        n += !follows[k];
        run[k] = n - 1;
    }
    if (n <= 1) {
        lz_buf_printf(b, "<=[%" PRId64 "]", m->ndevice);
        return;
    }
    for (int r = 0; r < n; r++) {
        int64_t size = 1;
        for (int k = 0; k < m->nfactor; k++)
            size *= run[k] == r ? m->factors[k].size : 1;
        lz_buf_printf(b, "%s%" PRId64, r ? "," : "<=[", size);
    }
    for (int i = 0; i < all->n; i++)
        if (!follows[all->at[i]])
            lz_buf_printf(b, "%s%d", i ? "," : "]T(", run[all->at[i]]);
    lz_buf_puts(b, ")");
}

/* Devices of the tiles in row-major order. */
static void print_devices(lz_buf *b, const lz_mesh *m, const lz_axis_list *all)
{
    for (int64_t k = 0; k < m->ndevice; k++) {
        int64_t left = k, partition = 0;
        for (int i = all->n - 1; i >= 0; i--) {
            const lz_mesh_factor *f = &m->factors[all->at[i]];
            partition += left % f->size * f->stride;
            left /= f->size;
        }
        lz_buf_printf(b, "%s%" PRId64, k ? "," : "", m->device_ids[partition]);
    }
}

static void print_subgroups(lz_buf *b, const order *o)
{
    static const char *const words[] = {"manual", "unreduced", "replicated"};
    const char *comma = "";
    if (o->sub[0] == 1 && o->sub[1] == 1) {
        lz_buf_puts(b, o->sub[2] > 1 ? " last_tile_dim_replicate" : "");
        return;
    }
    lz_buf_puts(b, " last_tile_dims={");
    for (int j = 0; j < 3; j++)
        if (o->sub[j] > 1) {
            lz_buf_printf(b, "%s%s", comma, words[j]);
            comma = ", ";
        }
    lz_buf_putc(b, '}');
}

void lz_sharding_print_hlo(lz_buf *b, const lz_sharding *s)
{
    order o;
    order_of(s, &o);
    for (int j = 0; j < 3; j++)
        if (o.sub[j] == s->mesh->ndevice && (o.sub[j] > 1 || subs[j] == SUB_REPLICATED)) {
            static const char *const words[] = {"{manual}", "{unreduced}", "{replicated}"};
            lz_buf_puts(b, words[j]);
            return;
        }
    const char *comma = "{devices=[";
    for (int d = 0; d < s->rank; d++, comma = ",")
        lz_buf_printf(b, "%s%" PRId64, comma, lz_axis_list_size(s->mesh, &s->dims[d]));
    for (int j = 0; j < 3; j++)
        if (o.sub[j] > 1) {
            lz_buf_printf(b, "%s%" PRId64, comma, o.sub[j]);
            comma = ",";
        }
    lz_buf_putc(b, ']');
    if (s->mesh->device_ids)
        print_devices(b, s->mesh, &o.all);
    else
        print_iota(b, s->mesh, &o.all);
    print_subgroups(b, &o);
    lz_buf_putc(b, '}');
}
