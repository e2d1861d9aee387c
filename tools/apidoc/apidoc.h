/* apidoc.h - the API reference from the public headers: what a header is read into, and what is
 * written of it.
 *
 * A header is a list of blocks. A block is a comment and the declarations that follow it without an
 * empty line or another comment between them: they share the text. A comment behind a declaration
 * is of that declaration alone, which then is a block of its own. A comment that no declaration
 * follows is a note; "---- title ----" begins a section. Text lives in one pool until the program
 * ends. What is wrong with a header is printed and counted (api_error). */
#ifndef LZ_TOOLS_APIDOC_APIDOC_H
#define LZ_TOOLS_APIDOC_APIDOC_H
#include "base/vec.h"
#include <stdbool.h>

typedef LZ_VEC(const char *) strings;

typedef enum decl_kind {
    DECL_FUNC,  /* an exported function */
    DECL_TYPE,  /* struct, enum, typedef, or an inline function: shown as it is written */
    DECL_CONST, /* an upper-case macro that has a comment */
    DECL_ALIAS  /* a macro that is another name of something */
} decl_kind;

typedef struct decl {
    decl_kind kind;
    const char *name;   /* of a function without _at when a macro of that name calls it */
    const char *source; /* as written, blanks collapsed for functions */
    /* of functions */
    const char *plain;  /* the exported name */
    const char *result; /* the type, ending in '*' or a blank */
    strings params;     /* of the plain function, the call site included */
    const char
        *written; /* what one writes: the macro's parameters with their types; NULL: no macro */
    const char *options; /* the struct that the trailing `.field = value` go to, or NULL */
    int line;
} decl;
typedef LZ_VEC(decl) decls;

typedef struct block {
    enum { BLOCK_SECTION, BLOCK_NOTE, BLOCK_DECLS } kind;
    const char *title; /* of a section */
    const char *text;  /* the comment; "" without one */
    decls decls;
} block;

typedef struct field {
    const char *type, *name, *value, *text;
} field;
typedef struct record { /* a struct */
    const char *name;
    bool filled; /* by the caller: it begins with struct_size */
    LZ_VEC(field) fields;
} record;

typedef struct macro {
    const char *name, *body;
    const char *call;      /* what is expanded: LZ_ARGS_sum of lz_sum, else the name */
    const char *expansion; /* of a call with ARG_x for x, from the preprocessor */
    strings params;        /* "..." is the last one of a variadic macro */
    int line;
} macro;

typedef struct header {
    const char *path, *name; /* include/lazuli/tensor.h, tensor.h */
    const char *title, *text;
    LZ_VEC(block) blocks;
    LZ_VEC(macro) macros;
} header;

typedef struct api {
    LZ_VEC(header) headers;
    LZ_VEC(record) records;
} api;

/* pool.c: text that lives as long as the program */
const char *keep_n(const char *s, size_t n);
const char *keep(const char *s);
const char *keep_buf(lz_buf *b);              /* and empties b */
const char *trimmed(const char *s, size_t n); /* without blanks around */
const char *collapsed(const char *s);         /* every run of blanks as one, none around */
const char *read_all(const char *path);       /* NULL with a message */
void pool_free(void);
/* Splits at commas outside of brackets, strings and comments. */
void split_list(const char *s, size_t n, strings *out);

/* scan.c */
bool api_scan(api *a, const char *path);
const record *api_record(const api *a, const char *name);

/* sig.c: macros are expanded by the compiler's preprocessor: api_stubs prints what it is to read,
 * api_expand takes what it made of that. */
void api_stubs(const api *a);
bool api_expand(api *a, const char *path);
bool api_check(const api *a, const char *exports);
decl *find_function(const api *a, const char *plain); /* NULL: there is none */

/* calls.c: a program that calls every macro */
bool api_calls(const api *a);

/* render.c: what both outputs print */
const char *signature(const api *a, const decl *d, bool plain);
const char *first_sentence(const char *text);
typedef struct paragraph {
    enum { PARA_TEXT, PARA_CODE, PARA_ITEM } kind;
    const char *text;
} paragraph;
typedef LZ_VEC(paragraph) paragraphs;
void paragraphs_of(const char *text, paragraphs *out);
const record *block_options(const api *a, const block *b, uint32_t *i);

/* html.c, man.c */
void api_html(const api *a, const char *version);
bool api_man(const api *a, const char *version, const char *dir);
bool api_overview(const api *a, const char *version);
bool command_man(const char *version, const char *help);
#endif
