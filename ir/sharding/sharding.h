/* sharding.h - how a tensor is spread over a mesh. Each dimension has a list of the mesh's factors
 * (mesh.h), major to minor; along the factors of no dimension the tensor is the same everywhere,
 * or, along the unreduced ones, a part of a sum (or of a maximum, ...) that is still to be formed.
 * A dimension of d elements over n devices is cut into tiles of t = ceil(d / n): tile k has the
 * elements from k t to min(d, (k + 1) t), so that the last ones may be short or empty, as
 * torch.chunk cuts. Local arrays have all t elements; what is behind the end is padding of any
 * value.
 * Threads: interned for the life of the process, immutable: pointer equality is equality. */
#ifndef LZ_IR_SHARDING_SHARDING_H
#define LZ_IR_SHARDING_SHARDING_H
#include "ir/op.h"
#include "ir/sharding/mesh.h"

/* Factors of a mesh, major to minor. */
typedef struct lz_axis_list {
    uint8_t n;
    uint8_t at[LZ_MESH_FACTORS];
} lz_axis_list;

typedef struct lz_sharding {
    const lz_mesh *mesh;
    int32_t rank;
    uint32_t open;       /* bit d: propagation may give dimension d more */
    uint32_t replicated; /* factors that no dimension may get */
    uint32_t unreduced;  /* factors along which it is a part of a reduction by `reduction` */
    lz_op reduction;     /* ADD, MAXIMUM, MINIMUM, MULTIPLY, AND, OR; NONE when unreduced is 0 */
    uint32_t manual;     /* factors along which the type is a local one already */
    uint8_t priority[LZ_MAX_RANK]; /* of users, 0 is first */
    lz_axis_list dims[LZ_MAX_RANK];
} lz_sharding;

/* Sharding groups of these numbers are wishes: where the marks of their values contradict each
 * other, each is where its own says. */
#define LZ_SHARDING_WISHES (INT64_C(1) << 40)

/* ---- making them ---- */

/* Nothing but the mesh and the rank; open: all dimensions are. */
void lz_sharding_init(lz_sharding *s, const lz_mesh *mesh, int rank, bool open);
/* The interned copy. Errors: LZ_EINVAL (a factor used twice), LZ_EMEM. */
const lz_sharding *lz_sharding_get(const lz_sharding *s);
/* The interned one of no factor at all, closed. */
const lz_sharding *lz_sharding_replicated(const lz_mesh *mesh, int rank);
/* The same with all dimensions closed, no priorities and no list `replicated`: the placement. Two
 * placements are equal when their pointers are. */
const lz_sharding *lz_sharding_placement(const lz_sharding *s);
/* The same with nothing unreduced. */
const lz_sharding *lz_sharding_reduced(const lz_sharding *s);

/* ---- asking them ---- */

static inline uint32_t lz_axis_list_mask(const lz_axis_list *a)
{
    uint32_t m = 0;
    for (int i = 0; i < a->n; i++)
        m |= UINT32_C(1) << a->at[i];
    return m;
}
lz_axis_list lz_axis_list_of(uint32_t mask); /* in the mesh's order */
bool lz_axis_list_eq(const lz_axis_list *a, const lz_axis_list *b);
/* How many of the first factors both have. */
int lz_axis_list_common(const lz_axis_list *a, const lz_axis_list *b);
void lz_axis_list_push(lz_axis_list *a, int factor);
int64_t lz_axis_list_size(const lz_mesh *m, const lz_axis_list *a); /* the product */
/* The number of the tile that a partition has: its coordinates along a, major to minor. */
int64_t lz_axis_list_tile(const lz_mesh *m, const lz_axis_list *a, int64_t partition);
/* Factors of all dimensions; with those that are unreduced: lz_sharding_used. */
uint32_t lz_sharding_dims_mask(const lz_sharding *s);
static inline uint32_t lz_sharding_used(const lz_sharding *s)
{
    return lz_sharding_dims_mask(s) | s->unreduced;
}
bool lz_sharding_same_dims(const lz_sharding *a, const lz_sharding *b); /* of one rank */
/* Whether every partition has the same elements by both placements, which may be of two meshes. */
bool lz_sharding_same_place(const lz_sharding *a, const lz_sharding *b);
bool lz_sharding_is_replicated(const lz_sharding *s); /* no dimension has factors; reduced */
/* ceil(extent / tiles) */
static inline int64_t lz_tile_extent(int64_t extent, int64_t tiles)
{
    return extent / tiles + (extent % tiles != 0);
}
/* The type of one partition's part. NULL with an error. */
const lz_type *lz_sharding_local(const lz_sharding *s, const lz_type *global);
/* The same for the shape alone. */
void lz_sharding_local_shape(const lz_sharding *s, const lz_shape *global, lz_shape *out);

/* ---- texts (sharding_text.c). Attributes hold the canonical one ---- */

/* #sdy.sharding's: <@mesh, [{"x"}, {"y", ?}p1], replicated={"z"}, unreduced={"w"}>. name: of the
 * mesh; NULL: mesh<["x"=2, "y"=4]>, which is the canonical text. */
void lz_sharding_print(lz_buf *b, const lz_sharding *s, const char *name);
/* The interned canonical text; NULL with LZ_EMEM. */
const char *lz_sharding_text(const lz_sharding *s);
/* The sharding of a canonical text (untrusted: of a module or an entry). NULL: LZ_EINVAL, LZ_EMEM.
 */
const lz_sharding *lz_sharding_parse(const char *text);

/* n canonical texts joined by "; ": of an attribute that has a sharding for each value. */
lz_status lz_shardings_parse(const char *text, const lz_sharding **out, uint32_t n);
const char *lz_shardings_text(const lz_sharding *const *s, uint32_t n); /* interned */

/* ---- reading them (sharding_read.c) ---- */

/* What the names of meshes stand for. find gives NULL with the error recorded. */
typedef struct lz_mesh_names {
    const lz_mesh *(*find)(void *user, const char *name, size_t n);
    void *user;
} lz_mesh_names;
/* The sharding that text[0..n) begins with, as above or with what Shardy may write otherwise (sum,
 * axes in another order); names NULL: the mesh must be said. *used (may be NULL): its length.
 * Errors: LZ_EPARSE; LZ_EINVAL naming the axis (none of the mesh, used twice, no such part);
 * LZ_EUNSUPPORTED (a part that is no product of prime factors in order); LZ_EMEM. */
const lz_sharding *lz_sharding_read(const char *text, size_t n, const lz_mesh_names *names,
                                    size_t *used);
/* The same of a mesh, <["x"=2, "y"=4], device_ids=[..]>. */
const lz_mesh *lz_mesh_read(const char *text, size_t n, size_t *used);
/* The same of a set of axes, {"x", "y":(1)2}, as a mask of factors. */
lz_status lz_sharding_read_axes(const lz_mesh *mesh, const char *text, size_t n, uint32_t *out,
                                size_t *used);

/* ---- HLO's texts (sharding_hlo.c) ---- */

typedef struct lz_hlo_text {
    const char *s;
    size_t n;
} lz_hlo_text;
/* {devices=[2,1,4]<=[8] last_tile_dim_replicate}, {replicated}; versions 1 and 2 are read, 2 is
 * written where there is one. mesh: of what it must be a sharding; NULL: that of the text alone
 * (below). What is on one device (maximal) is replicated; {unknown} is open. Errors: LZ_EPARSE,
 * LZ_EINVAL (rank; not of that mesh: order of devices; more than 65,536 devices). rank -1: that of
 * the text. unspecified:
 * dimensions that stay open. */
const lz_sharding *lz_sharding_from_hlo(const char *text, size_t n, int rank, int64_t ndevice,
                                        const lz_mesh *mesh, uint32_t unspecified);
void lz_sharding_print_hlo(lz_buf *b, const lz_sharding *s);
/* A mesh of ndevice (0: as many as the first text that says it) whose axes are its prime factors,
 * "axis_0" and on, in the order in which most of the texts are shardings of it. */
const lz_mesh *lz_sharding_hlo_mesh(const lz_hlo_text *texts, uint32_t n, int64_t ndevice);
/* The mesh in whose order of devices the text is a sharding: for one that no other mesh has. */
const lz_mesh *lz_sharding_hlo_own_mesh(const char *text, size_t n, int64_t ndevice);
/* Element k of "{{..}, {..}}", which results of an operation have; of any other text, itself for k
 * 0. False: there is none. */
bool lz_sharding_hlo_element(const char *text, size_t n, uint32_t k, const char **at, size_t *len);
#endif
