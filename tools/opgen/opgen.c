/* opgen.c - writes what is generated from ir/ops.def and ops/user_ops.def to standard output:
 *   opgen doc      docs/reference/ops.md, the table of operations
 *   opgen header   include/lazuli/ops.h, the public elementwise functions
 * Everything printed is a word of the tables, so the program needs no library. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct op_row {
    const char *name, *text, *cls, *arity, *attr, *dtypes, *flags, *vjp, *batch, *tol, *doc;
} op_row;

static const op_row ops[] = {
#define LZ_EW(E, text, arity, attr, dtypes, flags, infer, vjp, eval, emit, tol, cost, doc)         \
    {#E, #text, "EW", #arity, #attr, #dtypes, #flags, #vjp, "elementwise", #tol, doc},
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, jvp, batch, eval, loops,       \
              shard, tol, doc)                                                                     \
    {#E, #text, #cls, #arity, #attr, #dtypes, #flags, #vjp, #batch, #tol, doc},
#include "ir/ops.def"
};
enum { NUM_OPS = sizeof ops / sizeof *ops };

/* Worst errors found in f16, bf16, f32 and f64. */
static const struct {
    const char *text;
    int ulps[4];
} measured[] = {
#define LZ_MEASURED(text, f16, bf16, f32, f64) {text, {f16, bf16, f32, f64}},
#include "ir/measured.def"
};
enum { NUM_MEASURED = sizeof measured / sizeof *measured };

typedef struct user_row {
    const char *name, *op, *kind, *takes, *doc; /* op NULL: made of several */
    int nopnd;
} user_row;

static const user_row users[] = {
#define LZ_UNARY(name, OP, kind, doc) {#name, #OP, #kind, NULL, doc, 1},
#define LZ_BINARY(name, OP, kind, part, doc) {#name, #OP, #kind, NULL, doc, 2},
#define LZ_COMPARE(name, DIR, doc) {#name, "COMPARE", #DIR, NULL, doc, 2},
#define LZ_UNARY_OF(name, kind, part, takes, doc) {#name, NULL, #kind, takes, doc, 1},
#define LZ_BINARY_OF(name, kind, part, takes, doc) {#name, NULL, #kind, takes, doc, 2},
#include "ops/user_ops.def"
};
enum { NUM_USERS = sizeof users / sizeof *users };

static const char *const scalars[] = {
#define LZ_UNARY(...)
#define LZ_BINARY(...)
#define LZ_COMPARE(...)
#define LZ_WITH_SCALAR(name, range) #name,
#include "ops/user_ops.def"
};
enum { NUM_SCALARS = sizeof scalars / sizeof *scalars };

static const op_row *find_op(const char *name)
{
    for (int i = 0; i < NUM_OPS; i++)
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    return NULL;
}

/* ---- docs/reference/ops.md ---- */

static const struct {
    const char *cls, *title;
} classes[] = {
    {"EW", "Elementwise"},
    {"LEAF", "Leaves"},
    {"MOVE", "Data movement"},
    {"INDEX", "Data-dependent addresses"},
    {"REDUCE", "Reductions"},
    {"DOT", "Products"},
    {"FFT", "Fourier transforms"},
    {"LINALG", "Linear algebra"},
    {"SORT", "Order"},
    {"WINDOW", "Windows"},
    {"RNG", "Random numbers"},
    {"CONTROL", "Control flow"},
    {"CALL", "Functions of the program's own"},
    {"COLLECTIVE", "Among participants"},
    {"META", "Structure"},
};

static const char *dtypes_text(const char *word)
{
    static const char *const words[][2] = {
        {"NUM", "numbers"},
        {"REAL", "integers, floats"},
        {"FLT", "floats"},
        {"FLC", "floats, complex"},
        {"PART", "f32, f64"},
        {"PCX", "f32, f64, complex"},
        {"INT", "integers"},
        {"SGN", "signed integers, floats"},
        {"SGC", "signed integers, floats, complex"},
        {"BIT", "boolean, integers"},
        {"PRED", "boolean"},
        {"VAL", "any but 8-bit floats"},
        {"ANY", "any"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], word) == 0)
            return words[i][1];
    return word;
}

static const char *gradient_text(const char *vjp)
{
    return strcmp(vjp, "zero") == 0 ? "zero" : strcmp(vjp, "none") == 0 ? "-" : "yes";
}

/* PURE|COMM|ASSOC as `comm` `assoc`: every op but parameter is pure, so that word is left out. */
static void print_flags(const char *flags)
{
    const char *between = "";
    for (const char *p = flags; *p && *p != '0';) {
        size_t n = strcspn(p, "| ");
        if (n && strncmp(p, "PURE", n) != 0) {
            printf("%s", between);
            for (size_t i = 0; i < n; i++)
                putchar(p[i] >= 'A' && p[i] <= 'Z' ? p[i] + 32 : p[i]);
            between = " ";
        }
        p += n;
        p += strspn(p, "| ");
    }
}

static void print_tolerance(const op_row *o)
{
    const char *tol = o->tol;
    if (strncmp(tol, "ULP(", 4) == 0)
        printf("%.*s ulp", (int)strcspn(tol + 4, ")"), tol + 4);
    else
        printf("%s", strcmp(tol, "EXACT") == 0 ? "exact" : "sum");
    for (int i = 0; i < NUM_MEASURED; i++)
        if (strcmp(measured[i].text, o->text) == 0)
            printf(" (%d, %d, %d, %d)", measured[i].ulps[0], measured[i].ulps[1],
                   measured[i].ulps[2], measured[i].ulps[3]);
}

static const char *examples_text(const char *batch)
{
    bool none = strcmp(batch, "none") == 0 || strcmp(batch, "collective") == 0;
    return none ? "-" : strcmp(batch, "each") == 0 ? "each" : "all";
}

static void print_op(const op_row *o)
{
    printf("| `%s` | %s | %s | ", o->text, strcmp(o->arity, "VAR") == 0 ? "any" : o->arity,
           dtypes_text(o->dtypes));
    print_flags(o->flags);
    printf(" | ");
    print_tolerance(o);
    printf(" | %s | %s | %s |\n", gradient_text(o->vjp), examples_text(o->batch), o->doc);
}

static void print_doc(void)
{
    printf(
        "<!-- Written by tools/opgen from ir/ops.def and ops/user_ops.def: edit those, then `make "
        "regen`. -->\n"
        "# Operations\n\n"
        "The primitive operations of the tensor IR. Names and meanings are StableHLO's; what "
        "its specification leaves open is said here.\n\n"
        "* **dtypes** of operand 0 (of the result for leaves).\n"
        "* **tolerance** against the correctly rounded value: exact, units in the last place of "
        "the result dtype, or a bound that grows\n"
        "  with the length of the sum. In parentheses the worst that was found in f16, bf16, f32 "
        "and f64 (`make ulps`, glibc on x86-64):\n"
        "  over random arguments, beside zeros, roots, poles, multiples of pi/2 up to the largest "
        "number, ends of domains and of the dtypes,\n"
        "  and of one operand in 16 bits over all.\n"
        "* **gradient**: yes, zero (nothing flows back) or - (asking for one is an error).\n"
        "* **examples** in `lz_vmap`: all at once, each after the other, or - (a leaf is the "
        "same for "
        "all; elsewhere an error).\n"
        "* **flags**: `comm` commutes, `assoc` associates (floats: up to rounding), `idem` f(x, "
        "x) = x, `id0 id1 idmin idmax idones` has\n"
        "  that right identity, `invol` f(f(x)) = x, `relabel` moves no data, `multi` has "
        "several results, `cheap` is recomputed rather\n"
        "  than stored, `costly` never.\n");
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++) {
        printf("\n## %s\n\n| op | operands | dtypes | flags | tolerance | gradient | "
               "examples | |\n|---|---|---|---|---|---|---|---|\n",
               classes[c].title);
        for (int i = 0; i < NUM_OPS; i++)
            if (strcmp(ops[i].cls, classes[c].cls) == 0)
                print_op(&ops[i]);
    }
    printf("\n## Public elementwise functions\n\n"
           "`<lazuli/ops.h>`; operands are broadcast and promoted as in ATen. See "
           "[tensor_ops.h](../../include/lazuli/tensor_ops.h) for the rest.\n\n"
           "| function | primitive | |\n|---|---|---|\n");
    for (int i = 0; i < NUM_USERS; i++)
        printf("| `lz_%s` | %s%s%s | %s |\n", users[i].name, users[i].op ? "`" : "",
               users[i].op ? find_op(users[i].op)->text : "several", users[i].op ? "`" : "",
               users[i].doc);
    printf("\nWith a number as the second operand:");
    for (int i = 0; i < NUM_SCALARS; i++)
        printf("%s `lz_%s_scalar`", i ? "," : "", scalars[i]);
    printf(".\n");
}

/* ---- include/lazuli/ops.h ---- */

static const char *kind_text(const user_row *u, const op_row *o)
{
    if (!u->op)
        return u->takes;
    if (strcmp(u->kind, "WHOLE") == 0)
        return "floats, integers -> the same";
    if (strcmp(u->op, "COMPARE") == 0)
        return "any dtype -> bool";
    if (strcmp(u->op, "IS_FINITE") == 0)
        return "floats, others as f32 -> bool";
    if (strcmp(u->op, "COMPLEX") == 0)
        return "f32, f64 -> complex";
    if (strcmp(u->op, "REAL") == 0 || strcmp(u->op, "IMAG") == 0)
        return "floats, complex -> the dtype of the parts";
    if (strcmp(u->kind, "FLOAT") == 0)
        return strcmp(o->dtypes, "FLC") == 0 ? "floats, complex, others as f32 -> the same"
                                             : "floats, others as f32 -> the same";
    if (strcmp(u->kind, "BOOL") == 0)
        return "any dtype as x != 0 -> bool";
    if (strcmp(u->kind, "BITS") == 0)
        return "bool, integers -> the same";
    if (strcmp(u->kind, "SHIFT") == 0)
        return "integers -> the same";
    return NULL;
}

static void print_function(const user_row *u)
{
    const op_row *o = u->op ? find_op(u->op) : NULL;
    const char *kind = kind_text(u, o);
    printf("\n/* %s\n * ", u->doc);
    if (kind)
        printf("%s", kind);
    else
        printf("%s -> the same", dtypes_text(o->dtypes));
    printf(". Source: ATen %s%s%s. */\n", u->name,
           !o                     ? ""
           : strchr(o->text, '.') ? ", "
                                  : ", StableHLO ",
           o ? o->text : "");
    if (u->nopnd == 1)
        printf("LZ_API lz_tensor *lz_%s_at(lz_tensor *x, const lz_site *site);\n"
               "#define lz_%s(x) lz_%s_at(x, LZ_SITE)\n",
               u->name, u->name, u->name);
    else
        printf("LZ_API lz_tensor *lz_%s_at(lz_tensor *a, lz_tensor *b, const lz_site *site);\n"
               "#define lz_%s(a, b) lz_%s_at(a, b, LZ_SITE)\n",
               u->name, u->name, u->name);
}

static void print_header(void)
{
    printf("/* ops.h - elementwise operations, with ATen's names. Written by tools/opgen from "
           "ops/user_ops.def: edit that, then `make regen`.\n"
           " * Shapes: operands broadcast as in ATen. dtypes: two operands are promoted first "
           "(bool < integers < floats < complex; the wider wins); the\n"
           " * comment of each function then says what it takes and gives. Floats are f16, bf16, "
           "f32, f64.\n"
           " * Errors of all, as an error tensor: LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_ERANGE, "
           "LZ_EMEM; an operand that is an error tensor is\n"
           " * returned. Gradients: docs/reference/ops.md.\n"
           " * Implemented in: ops/elementwise.c. */\n"
           "#ifndef LAZULI_OPS_H\n#define LAZULI_OPS_H\n#include "
           "<lazuli/tensor.h>\n#pragma GCC system_header\nLZ_EXTERN_C_BEGIN\n");
    for (int i = 0; i < NUM_USERS; i++)
        print_function(&users[i]);
    printf("\n/* ---- with a number as the second operand: a run-time argument but for 0, 1 and "
           "-1, converted as those of tensor_ops.h ---- "
           "*/\n");
    for (int i = 0; i < NUM_SCALARS; i++)
        printf("/* lz_%s of x and the number s. */\n"
               "LZ_API lz_tensor *lz_%s_scalar_at(lz_tensor *x, double s, const lz_site *site);\n"
               "#define lz_%s_scalar(x, s) lz_%s_scalar_at(x, s, LZ_SITE)\n",
               scalars[i], scalars[i], scalars[i], scalars[i]);
    printf("\nLZ_EXTERN_C_END\n#endif\n");
}

/* Every OP of user_ops.def is a row of ops.def. */
static int check(void)
{
    for (int i = 0; i < NUM_USERS; i++)
        if (users[i].op && !find_op(users[i].op)) {
            fprintf(stderr, "opgen: lz_%s: no operation %s in ops.def\n", users[i].name,
                    users[i].op);
            return 1;
        }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2 || check())
        return 1;
    if (strcmp(argv[1], "doc") == 0)
        print_doc();
    else if (strcmp(argv[1], "header") == 0)
        print_header();
    else
        return 1;
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
