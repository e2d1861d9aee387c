/* print.h - between the files that print functions. */
#ifndef LZ_IR_TEXT_PRINT_H
#define LZ_IR_TEXT_PRINT_H
#include "base/vec.h"
#include "ir/module.h"
#include "ir/sharding/mesh.h"

/* What a value is called: by its number in its class of names. */
typedef struct lz_name {
    uint32_t n, n2; /* rng_bit_generator has two names */
} lz_name;
/* Where the numbering stands; a region goes on where the function around it ended. */
typedef struct lz_naming {
    uint32_t value, arg, conflict;
    bool used[4]; /* plain %cst, %c, %output_state, %output */
} lz_naming;

/* Meshes of a function's marks: the first is @mesh, then @mesh_0, ... */
typedef LZ_VEC(const lz_mesh *) lz_print_meshes;

typedef struct lz_printer {
    lz_buf *out;
    const lz_func *f;
    lz_name *names;  /* of f */
    lz_naming after; /* f's last number + 1 */
    unsigned flags;
    int indent; /* of the instructions, in spaces */
    const lz_print_meshes *meshes;
    uint32_t manual;       /* axes along which f's types are local */
    const uint8_t *folded; /* [ninst] or NULL: marks that the signature says (print_shard.c) */
    /* Of a region of control flow: its parameters from number nown on are values of the function
     * around it, called as there. */
    struct lz_printer *outer;
    const lz_val *captured;
    uint32_t nown;
    const bool *donate; /* by parameter of main: its buffer is given away; NULL: none is */
} lz_printer;

void lz_print_val(lz_printer *p, lz_val v);
void lz_print_vals(lz_printer *p, const lz_val *v, uint32_t n);          /* %0, %1 */
void lz_print_types(lz_printer *p, const lz_type *const *t, uint32_t n); /* a, b */
/* Everything of an instruction after "%n = ". */
void lz_print_op(lz_printer *p, const lz_inst *in);
/* The instructions and the return of a region, each on a line. groups: how the parameters are
 * written before it. */
void lz_print_indent(lz_printer *p);
void lz_print_if(lz_printer *p, const lz_inst *in); /* print_region.c */
void lz_print_while(lz_printer *p, const lz_inst *in);
void lz_print_region_begin(lz_printer *p, const lz_func *region, lz_printer *inner);
void lz_print_body(lz_printer *p, const char *ret);
void lz_print_region_end(lz_printer *inner);
void lz_print_generic_head(lz_printer *p, const lz_inst *in); /* "stablehlo.name"(%a, %b) <{ */
/* ({ ^bb0(args): ... }, { ... }) */
void lz_print_regions(lz_printer *p, const lz_func *const *r, int n);
void lz_print_functional_type(lz_printer *p, const lz_inst *in); /* : (a, b) -> c */
void lz_print_collective(lz_printer *p, const lz_inst *in);      /* print_region.c */
/* print_shard.c */
lz_status lz_print_find_meshes(const lz_func *f, lz_print_meshes *out);
void lz_print_mesh_lines(lz_printer *p);
/* Which marks of f its signature says, not 0 for those; NULL: none. The caller's to free. */
uint8_t *lz_print_fold_marks(const lz_func *f, bool *failed);
void lz_print_param_mark(lz_printer *p, uint32_t param); /* {sdy.sharding = ...} if there is one */
void lz_print_result_mark(lz_printer *p, uint32_t k);
void lz_print_constraint(lz_printer *p, const lz_inst *in);
void lz_print_group(lz_printer *p, const lz_inst *in);
void lz_print_propagation(lz_printer *p, const lz_inst *in);
void lz_print_manual(lz_printer *p, const lz_inst *in);
/* print_window.c */
void lz_print_convolution(lz_printer *p, const lz_inst *in);
void lz_print_reduce_window(lz_printer *p, const lz_inst *in);
void lz_print_select_and_scatter(lz_printer *p, const lz_inst *in);
void lz_print_window_view(lz_printer *p, const lz_inst *in);
void lz_print_meaning(lz_printer *p, const lz_inst *in); /* that it is not XLA's, where it is not */
#endif
