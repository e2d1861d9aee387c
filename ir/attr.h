/* attr.h - what is derived from attrs.def beside the structs: a list of a record's fields, over
 * which everything else is written once (hash, equality, printing, parsing, serialising). Threads:
 * thread-safe. */
#ifndef LZ_IR_ATTR_H
#define LZ_IR_ATTR_H
#include "ir/op.h"

typedef enum lz_field_type {
    LZ_FIELD_I64,
    LZ_FIELD_BOOL,
    LZ_FIELD_INTS,
    LZ_FIELD_SHAPE,
    LZ_FIELD_DTYPE,
    LZ_FIELD_ENUM,
    LZ_FIELD_REGION,
    LZ_FIELD_STR
} lz_field_type;

/* One field of one record; `at` points into it. */
typedef struct lz_attr_field {
    const char *name;
    const char *table; /* of enums */
    lz_field_type type;
    union {
        void *at;
        int64_t *i64;
        bool *flag;
        lz_ints *ints;
        lz_shape *shape;
        lz_dtype *dtype;
        int32_t *value;
        const struct lz_func **region;
        const char **str;
    };
} lz_attr_field;
enum { LZ_ATTR_MAX_FIELDS = 20 };

/* Room for a record of any kind. */
typedef union lz_attr_any {
    lz_attr head;
#define ATTR(kind_, fields) lz_attr_##kind_ as_##kind_;
#include "ir/attrs.def"
} lz_attr_any;

/* Fields in the order of attrs.def; returns how many. `a` is only written through the list. */
int lz_attr_fields(const lz_attr *a, lz_attr_field out[LZ_ATTR_MAX_FIELDS]);
const char *lz_attr_kind_name(lz_attr_kind k);
bool lz_attr_eq(const lz_attr *a, const lz_attr *b);
extern const lz_attr lz_attr_empty; /* the interned record of kind `none` */

/* its REGION field number k; NULL when it has no more */
const struct lz_func *lz_attr_region(const lz_attr *a, int k);

/* A record of the kind with every field at its initial value: zeros. */
void lz_attr_init(lz_attr_any *a, lz_attr_kind kind);

/* Fields into a record of zeros with room for the kind; what follows the end of a list is 0. */
void lz_attr_copy(lz_attr *to, const lz_attr *from);

const char *lz_attr_enum_name(const char *table, int32_t value); /* NULL when it is none */
bool lz_attr_enum_value(const char *table, const char *name, size_t n, int32_t *value);
/* "dimensions = [0, 1], precision = HIGH": every field that is neither a region nor an empty
 * list. */
void lz_attr_print(lz_buf *b, const lz_attr *a);
void lz_attr_field_print(lz_buf *b,
                         const lz_attr_field *f); /* the value alone; nothing for a region */
/* The value in bytes. Not for regions: nothing is written, and reading one fails. Reading sets
 * r->failed for what no field of its type can be. */
void lz_attr_field_put(lz_buf *b, const lz_attr_field *f);
void lz_attr_field_take(lz_rd *r, const lz_attr_field *f);
void lz_ints_print(lz_buf *b, const lz_ints *v); /* [0, 1] */
#endif
