/* parse.h - between the files that read StableHLO text. Threads: thread-compatible. */
#ifndef LZ_IR_TEXT_PARSE_H
#define LZ_IR_TEXT_PARSE_H
#include "ir/sharding/sharding.h"
#include "ir/text/check.h"
#include "ir/text/lexer.h"
#include "ir/text/names.h"
#include "ir/xla_meaning.h"

enum {
    LZ_PARSE_CALL_DEPTH = 64,
    LZ_PARSE_MAX_INLINED = 1 << 21, /* operations that are copies */
    LZ_PARSE_MAX_AGAIN = 1 << 26    /* bytes of text that is read again */
};

/* A function of the module; parsed when it is first called. Lists of values may be nested in
 * tuples: a form says how, and is empty where they are not (parse_tuple.c). */
typedef struct lz_pfunc {
    lz_slice name;  /* first: see names.h */
    const char *at; /* its '(' */
    size_t size;    /* of its text from there */
    bool is_private, has_body, busy;
    bool generic;   /* in MLIR's generic form (parse_generic.c) */
    bool takes_any; /* has parameters */
    bool was_read;
    bool draws;            /* random numbers, others in every call */
    bool parallel;         /* f has other participants */
    bool marked;           /* f has its marks */
    uint32_t manual;       /* axes along which its types are local */
    lz_func *f;            /* NULL: not read, or taken */
    lz_slice takes, gives; /* forms of parameters and results */
} lz_pfunc;

/* sdy.mesh @name = <...>, read when it is asked for. */
typedef struct lz_pmesh {
    lz_slice name;
    const char *at;      /* '<' */
    const lz_mesh *mesh; /* NULL: not asked for yet */
} lz_pmesh;

/* A value that a conformance program has written down under a name. */
typedef struct lz_probe {
    lz_slice id;
    const lz_func *f;
    lz_val v;
} lz_probe;

/* What MLIR's locations say, as far as one line and one name go: of several that were fused the
 * first, of a call the callee. */
typedef struct lz_location {
    const char *scope;
    const lz_site *site;
} lz_location;
/* #name = loc(..), read when an instruction is there first. */
typedef struct lz_place {
    lz_slice name;  /* first: see names.h; without its '#' */
    const char *at; /* loc(..) */
    bool was_read, bad;
    lz_location is;
} lz_place;

typedef struct lz_parser {
    lz_lexer c;
    LZ_VEC(lz_pfunc) funcs;
    lz_names func_index;
    lz_aliases aliases;
    lz_slice module;
    const char *entry;  /* the function to run; NULL: @main, or the only one that may be meant */
    int calls, regions; /* how deep */
    bool parallel;      /* what is read has other participants */
    bool marked;        /* marks of shardings are kept */
    bool as_specified;  /* operations mean their rows, not what XLA does (xla_meaning.h) */
    bool borders;       /* some are between GSPMD's full shapes and shard shapes */
    uint32_t manual;    /* axes along which the types of what is read are local */
    int64_t ndevice;    /* of HLO's shardings; 0: not known */
    const lz_mesh *hlo_mesh; /* of theirs; NULL: not asked for yet */
    LZ_VEC(lz_pmesh) meshes;
    lz_partitions about;
    LZ_VEC(lz_place) places; /* where locations are asked for */
    lz_names place_index;
    const char *line_at; /* the line at a place of the text; NULL: none is known */
    int line;
    uint64_t inlined; /* instructions */
    uint64_t again;   /* bytes */
    uint64_t draws;   /* of random numbers so far */
    LZ_VEC(lz_check) checks;
    LZ_VEC(lz_val) checked; /* two values of the function for each check */
    LZ_VEC(lz_probe) probes;
    lz_arena arena; /* of forms */
} lz_parser;

/* The values that a function's or region's text may name. */
typedef struct lz_binding {
    lz_slice name;         /* first: see names.h */
    uint32_t first, count; /* in vals */
    lz_slice form;
} lz_binding;
/* Where a parameter or a result is to be. */
typedef struct lz_pmark {
    uint32_t at; /* in vals, or the result's number */
    const char *text;
    const lz_sharding *s;
} lz_pmark;
typedef LZ_VEC(lz_pmark) lz_pmarks;
typedef struct lz_scope {
    lz_func *f;
    struct lz_scope *outer; /* of a region; NULL for a function */
    lz_names names;         /* of bindings */
    LZ_VEC(lz_binding) bindings;
    LZ_VEC(lz_val) vals;
    bool returned;
    lz_slice takes, gives; /* forms of parameters and of what was returned */
    lz_pmarks params_at, results_at;
} lz_scope;

typedef struct lz_parse_entry { /* of an attribute dictionary */
    lz_slice key;
    const char *value; /* NULL: a unit */
} lz_parse_entry;
typedef struct lz_types { /* a LZ_VEC, and the form of the list */
    const lz_type **data;
    uint32_t len, cap;
    lz_slice form;
} lz_types;

/* Values of the scope around a region that it uses; bindings number `vals` here. */
typedef struct lz_captures {
    LZ_VEC(lz_binding) names;
    LZ_VEC(lz_val) vals;
    lz_map seen; /* names among them */
} lz_captures;

/* One operation while it is read. */
typedef struct lz_stmt {
    const char *at; /* its name */
    lz_slice name;
    bool generic;
    bool named;  /* its results have names */
    bool tuples; /* may take and give them */
    lz_op op;
    LZ_VEC(lz_val) opnd;
    LZ_VEC(lz_parse_entry) dict;
    lz_slice words[2]; /* LT and SIGNED of compare */
    int nword;
    lz_op applies; /* reduce(...) applies op */
    bool reducer;  /* reduce(...) whose region follows the types */
    const lz_func *region, *region2;
    uint32_t nregion;
    lz_captures captured; /* what the regions use behind their own parameters */
    lz_types opnd_types, result_types, listed; /* listed: types without an arrow */
    bool has_arrow;
    LZ_VEC(lz_val) results;
    lz_slice opnd_form, result_form;
} lz_stmt;

typedef struct lz_block_arg {
    lz_slice name;
    const lz_type *type; /* NULL: a token */
} lz_block_arg;
typedef LZ_VEC(lz_block_arg) lz_block_args;

/* parse.c */
lz_status lz_parse_body(lz_parser *p, lz_scope *s); /* statements up to and with '}' */
/* {attributes} of a parameter that will be `param`, or of a result: NULL */
lz_status lz_parse_param_attributes(lz_parser *p, lz_pmarks *marks, uint32_t at,
                                    const lz_type *type, const lz_val *param);
/* Parameters, after '('. list: their attributes where they are not beside them, else NULL. */
lz_status lz_parse_params(lz_parser *p, lz_scope *s, lz_types *types, lz_buf *form, lz_lexer *list);
lz_status lz_parse_call(lz_parser *p, lz_scope *s, lz_stmt *t, lz_slice callee);
/* The function of that name, which stays the parser's; parsed when it has not been, or when it
 * would now be another one. */
lz_status lz_parse_function(lz_parser *p, lz_slice name, const lz_pfunc **out);
/* The same read anew, as the caller's own: *f. */
lz_status lz_parse_take(lz_parser *p, lz_slice name, const lz_pfunc **out, lz_func **f);
/* The same as a region, in which all is refused that is in those of the text. */
lz_status lz_parse_function_region(lz_parser *p, lz_slice name, const lz_func **out);
/* Counts n operations that are copies of others, of which there is a limit. */
lz_status lz_parse_charge(lz_parser *p, const char *at, uint64_t n);
/* scopes */
lz_status lz_scope_use(lz_parser *p, lz_scope *s, lz_val *out); /* reads %name */
lz_status lz_scope_bind(lz_parser *p, lz_scope *s, lz_slice name, const lz_val *v, uint32_t n);
/* The name that c is at stands for v from here on, when it is one of s alone. */
lz_status lz_scope_rebind(lz_parser *p, lz_scope *s, const char *at, lz_val v);
/* The same of values in tuples. */
lz_status lz_scope_bind_form(lz_parser *p, lz_scope *s, lz_slice name, const lz_val *v, uint32_t n,
                             lz_slice form);
/* Reads %name, which may be a tuple: its values become operands of t, its form is appended. */
lz_status lz_scope_use_any(lz_parser *p, lz_scope *s, lz_stmt *t, lz_buf *form);
/* NULL: none */
const lz_binding *lz_scope_find(const lz_scope *s, lz_slice name, const lz_scope **there);
void lz_scope_free(lz_scope *s);
/* regions: the statements after '{'; captured (may be NULL) become parameters behind
 * args. gives: the form of what it returns, which may be nothing: then out gives lz_parse_nothing;
 * NULL: it takes and gives values only. */
lz_status lz_parse_block_args(lz_parser *p, lz_block_args *out); /* after '(' */
lz_status lz_parse_region_with(lz_parser *p, lz_scope *outer, const lz_block_args *args,
                               const lz_captures *captured, const lz_func **out, lz_slice *gives);
/* A loop has a parameter; where all are tokens, one that is lz_parse_nothing. */
lz_status lz_parse_carry_nothing(lz_block_args *args);

/* parse_generic.c */
lz_status lz_parse_generic_module(lz_parser *p);     /* after "builtin.module", up to its '{' */
lz_status lz_parse_generic_module_end(lz_parser *p); /* after its '}' */
lz_status lz_parse_generic_mesh(lz_parser *p);       /* after "sdy.mesh" */
/* After "func.func": what is said of it, stepping over the rest. */
lz_status lz_parse_generic_note(lz_parser *p, lz_pfunc *f);
/* After "func.func" up to its first statement: parameters are bound, *types are its results. */
lz_status lz_parse_generic_opening(lz_parser *p, lz_scope *s, lz_types *types, lz_buf *form);
/* The next of the list, of a value of this type; param: as below. */
lz_status lz_parse_generic_attributes(lz_parser *p, lz_lexer *list, lz_pmarks *marks, uint32_t at,
                                      const lz_type *type, const lz_val *param);

/* parse_capture.c: regions of scalars (reduce, scatter, sort, ...) */
/* Adds the values of s, but constants, that are named between c and end. */
lz_status lz_captures_find(lz_captures *k, const lz_scope *s, lz_lexer c, const char *end);
/* The names between c and end are a region's own, whatever has them around it. */
lz_status lz_captures_shadow(lz_captures *k, lz_lexer c, const char *end);
void lz_captures_free(lz_captures *k);
/* Before the operation is built: what its region uses from around it becomes operands, and operands
 * get the wider element types that the region computes in. */
lz_status lz_parse_fit_region(lz_parser *p, lz_scope *s, lz_stmt *t);

/* parse.c: the parts of reading a module, whose text p->c stands before. */
lz_status lz_parse_note_functions(lz_parser *p);
/* The entry that was asked for, or @main: its number + 1; 0: there is none. */
uint32_t lz_parse_main_index(const lz_parser *p);
/* That, or else the only function that is not private, or the only one. */
lz_status lz_parse_find_main(lz_parser *p, uint32_t *index);
/* The function, no longer the parser's. Its checks are p's. */
lz_status lz_parse_take_function(lz_parser *p, uint32_t index, lz_func **out);
/* Bytecode is read as its text, which is in `own` then. */
lz_status lz_parse_as_text(const char **text, size_t *n, lz_buf *own);
void lz_parser_free(lz_parser *p);

/* Instructions from `first` on that have no site get the one, and the scope, that loc(..) here
 * says, where that is asked for; then, where marks are kept, the text's at `at`
 * (parse_loc.c). */
void lz_parse_set_sites(lz_parser *p, lz_scope *s, lz_val first, const char *at);
/* After "#name =", where locations are asked for. */
lz_status lz_parse_note_place(lz_parser *p, lz_slice name);

/* parse_stmt.c */
lz_status lz_parse_statement(lz_parser *p, lz_scope *s);
const lz_parse_entry *lz_stmt_find(const lz_stmt *t, const char *key);
/* %a, %b up to ')' or what is no value */
lz_status lz_parse_operands(lz_parser *p, lz_scope *s, lz_stmt *t);
/* after '{' */
lz_status lz_parse_region(lz_parser *p, lz_scope *outer, const lz_captures *captured,
                          const lz_func **out, lz_slice *gives);
/* after `reducer` */
lz_status lz_parse_reducer(lz_parser *p, lz_scope *outer, uint32_t n, const lz_captures *captured,
                           const lz_func **out);
lz_status lz_parse_types(lz_parser *p, lz_stmt *t);      /* after ':' */
lz_status lz_parse_dictionary(lz_parser *p, lz_stmt *t); /* after '{' */
/* (%a, %b) <{...}> ({ region }) */
lz_status lz_parse_generic_items(lz_parser *p, lz_scope *s, lz_stmt *t);
/* dense<...> : type at `at`, as a constant of the scope */
lz_status lz_parse_dense(lz_parser *p, lz_scope *s, const lz_stmt *t, lz_lexer *at, lz_val *out,
                         const lz_type **type);

/* The types that the text gives, if it does, against those of what was read and built. */
lz_status lz_parse_check_operands(lz_parser *p, const lz_scope *s, lz_stmt *t);
lz_status lz_parse_check_results(lz_parser *p, const lz_scope *s, lz_stmt *t);
/* A product whose result is wider than its operands (bf16 x bf16 -> f32) converts them first: the
 * same value, said with more words. It is of the widest of the three dtypes. */
lz_status lz_parse_widen(lz_parser *p, lz_scope *s, lz_stmt *t);
/* The operation t->op from what was read; appends its results. */
lz_status lz_parse_build(lz_parser *p, lz_scope *s, lz_stmt *t);
lz_status lz_parse_push(lz_parser *p, lz_stmt *t, lz_val v); /* a result that was built, or not */
/* All results of v. */
lz_status lz_parse_results_of(lz_parser *p, lz_scope *s, lz_stmt *t, lz_val v);

/* parse_tuple.c: forms, and what may be of tuples */
/* The one copy that lives as long as the parser; empty when there is no tuple among the n. */
lz_status lz_form_keep(lz_parser *p, const char *s, size_t n, lz_slice *out);
bool lz_form_eq(lz_slice a, lz_slice b);
/* One tuple of a list: of these forms, or, when they are empty, of n values. */
lz_status lz_form_around(lz_parser *p, lz_slice forms, uint32_t n, lz_slice *out);
uint32_t lz_form_count(lz_slice form); /* elements */
/* Element k: its form ("*" for a value) and where its values are. False: there are not so many. */
bool lz_form_element(lz_slice form, uint32_t k, lz_slice *out, uint32_t *first, uint32_t *count);
/* Takes n elements off the form, which hold `count` values; gives their form. */
lz_slice lz_form_take(lz_slice *form, uint32_t n, uint32_t *count);
/* A type into the list; tuples are taken apart where there is a form to append to. */
lz_status lz_parse_type(lz_parser *p, lz_types *out, lz_buf *form);
/* %a, %b up to ')' or what is no value */
lz_status lz_parse_any_operands(lz_parser *p, lz_scope *s, lz_stmt *t);
/* The function of the list anew, with an array of no predicates for every token among its
 * parameters and results; itself where there is none, or other tuples. */
lz_status lz_parse_tokens_as_values(lz_parser *p, const lz_pfunc *of, lz_func **f);
bool lz_parse_is_tuple(lz_slice name);
/* An array of no predicates, which stands for a token or for no value at all. */
lz_val lz_parse_nothing(lz_func *f);
const lz_type *lz_parse_nothing_type(void);
extern const char lz_token_type[];   /* "!stablehlo.token" */
bool lz_form_is_flat(lz_slice form); /* holds values and tokens, and no other tuples */
lz_status lz_parse_tuple(lz_parser *p, lz_scope *s, lz_stmt *t);

/* parse_call.c */
lz_status lz_parse_custom_call(lz_parser *p, lz_scope *s, lz_stmt *t);
/* What the dictionary at an attribute holds, if it is one, among the others. */
lz_status lz_parse_inner_attributes(lz_parser *p, lz_stmt *t, const char *key);

/* parse_tuple.c: stablehlo.after_all and create_token, whose results say nothing but that they
 * are */
bool lz_parse_is_token(lz_slice name);
lz_status lz_parse_token(lz_parser *p, lz_scope *s, lz_stmt *t);

/* parse_shard.c: where a value is to be: of no meaning for one device, kept where p->marked */
bool lz_parse_is_annotation(lz_slice name); /* of the dialect sdy */
lz_status lz_parse_annotation(lz_parser *p, lz_scope *s, lz_stmt *t);
/* a custom_call of such a name, its operand read */
bool lz_parse_is_annotation_call(lz_slice target);
lz_status lz_parse_annotation_call(lz_parser *p, lz_scope *s, lz_stmt *t, lz_slice target);
/* {attributes} of a parameter or result of this type, if they are there; its mark is noted. */
lz_status lz_parse_value_attributes(lz_parser *p, lz_pmarks *marks, uint32_t at,
                                    const lz_type *type);
/* The marks on the values of a scope, when all parameters are there; on its results. */
lz_status lz_parse_mark_params(lz_parser *p, lz_scope *s);
lz_status lz_parse_mark_results(lz_parser *p, lz_scope *s);
/* What attributes of an operation say of its results. */
lz_status lz_parse_mark_stmt(lz_parser *p, lz_scope *s, lz_stmt *t);
lz_status lz_parse_mesh(lz_parser *p);              /* after `sdy.mesh` */
lz_status lz_parse_module_attributes(lz_parser *p); /* after `attributes` */
/* The sharding that begins at c, and the mask of {axes}. */
lz_status lz_parse_sharding(lz_parser *p, lz_lexer *c, const lz_sharding **out);
lz_status lz_parse_axes(lz_lexer *c, const lz_mesh *mesh, uint32_t *out);
lz_val lz_parse_constrain(lz_scope *s, lz_val v, const lz_sharding *sharding);

/* parse_manual.c */
bool lz_parse_is_manual(lz_slice name);
lz_status lz_parse_manual(lz_parser *p, lz_scope *s, lz_stmt *t);
/* A value that goes into a region of shard shapes, or out of it. */
lz_status lz_parse_border(lz_parser *p, lz_scope *s, lz_stmt *t, bool enters,
                          const lz_sharding *own);
/* parse_manual_join.c: what is between such borders becomes manual computations. */
lz_status lz_manual_join(lz_func **f);

/* parse_check.c: what conformance programs expect */
bool lz_parse_is_check(lz_slice name);
lz_status lz_parse_check(lz_parser *p, lz_scope *s, lz_stmt *t);
/* a custom_call of such a name, its operands read */
lz_status lz_parse_check_call(lz_parser *p, lz_scope *s, lz_stmt *t, lz_slice name);

/* expect_eq of both operands */
lz_status lz_parse_check_equal(lz_parser *p, lz_scope *s, lz_stmt *t);

/* parse_parallel.c: interpreter.run_parallel */
lz_status lz_parse_parallel(lz_parser *p, lz_scope *s, lz_stmt *t);

/* parse_probe.c: interpreter.probe and check.expect_serialized_eq */
bool lz_parse_is_probe(lz_slice name);
lz_status lz_parse_probe(lz_parser *p, lz_scope *s, lz_stmt *t);

/* parse_control.c: while, if and case */
bool lz_parse_is_control(lz_slice name);
lz_status lz_parse_control(lz_parser *p, lz_scope *s, lz_stmt *t);
/* parse_window.c: operations on windows */
/* (%a, %b) dim_numbers = ..., window = {...} */
lz_status lz_parse_convolution_items(lz_parser *p, lz_scope *s, lz_stmt *t);
/* of reduce_window, select_and_scatter, convolution */
lz_status lz_parse_window_record(lz_parser *p, lz_stmt *t, lz_attr_any *a);

/* parse_attr.c: the record of an operation from the dictionary, words, region and types of a
 * statement */
lz_status lz_parse_record(lz_parser *p, const lz_scope *s, lz_stmt *t, lz_attr_any *a);
/* The record of a gather without its slice_sizes. */
lz_status lz_parse_gather_numbers(lz_parser *p, lz_stmt *t, lz_attr_any *a);
/* [HIGH, DEFAULT] at the entry: the higher of both */
lz_status lz_parse_precision(lz_parser *p, const lz_parse_entry *e, int32_t *out);

/* parse_expand.c: operations that are not in the table but are made of those */
typedef struct lz_expansion lz_expansion;
const lz_expansion *lz_expansion_find(lz_slice name); /* NULL: none */
lz_status lz_expansion_apply(lz_parser *p, lz_scope *s, lz_stmt *t, const lz_expansion *e);
#endif
