/* sig.c - what one writes to call a function: the macros of the headers, expanded by the compiler's
 * preprocessor with marks in place of their arguments, say which parameter of the plain function
 * each argument becomes. */
#include "tools/apidoc/apidoc.h"
#include <stdio.h>
#include <string.h>

static bool is_call(const macro *m)
{
    return strncmp(m->name, "lz_", 3) == 0 && m->params.len;
}

/* One line for each macro: STUB name = name(ARG_x, ARG_y, ARGS). The macros that take options and
 * lists become marks. */
void api_stubs(const api *a)
{
    for (uint32_t h = 0; h < a->headers.len; h++)
        printf("#include <lazuli/%s>\n", a->headers.data[h].name);
    puts("#undef LZ_OPTIONS_OF\n#undef LZ_DEFAULTED\n#undef LZ_OVERRIDING\n#undef LZ_DIMS\n#undef "
         "LZ_DIM\n#undef LZ_DIMS_BEFORE_LAST\n#undef "
         "LZ_SHAPE\n"
         "#undef LZ_SITE\n#undef LZ_HOST_BYTES\n#undef LZ_HOST_TYPE\n"
         "#define LZ_OPTIONS_OF(type, ...) OPTIONS type\n"
         "#define LZ_DEFAULTED(type, ...) OPTIONS type\n"
         "#define LZ_OVERRIDING(call) call\n"
         "#define LZ_DIMS(...) DIMS\n"
         "#define LZ_DIM(...) DIMS\n"
         "#define LZ_DIMS_BEFORE_LAST(...) DIMS OR NONE\n"
         "#define LZ_SHAPE(...) SHAPE\n"
         "#undef LZ_TENSORS\n#define LZ_TENSORS(...) TENSORS\n"
         "#define LZ_HOST_BYTES(...) HOST_BYTES\n"
         "#define LZ_HOST_TYPE(...) HOST_TYPE\n"
         "#define LZ_SITE SITE");
    for (uint32_t h = 0; h < a->headers.len; h++)
        for (uint32_t i = 0; i < a->headers.data[h].macros.len; i++) {
            const macro *m = &a->headers.data[h].macros.data[i];
            if (!is_call(m))
                continue;
            printf("STUB %s = %s(", "\"\"", m->call); /* "" keeps the name from being expanded */
            for (uint32_t k = 0; k < m->params.len; k++)
                printf("%s%s%s", k ? ", " : "",
                       strcmp(m->params.data[k], "...") == 0 ? "ARGS" : "ARG_",
                       strcmp(m->params.data[k], "...") == 0 ? "" : m->params.data[k]);
            puts(")");
        }
}

/* An argument of the expanded call without the brackets around it. */
static const char *bare(const char *arg)
{
    size_t n = strlen(arg);
    while (n > 1 && arg[0] == '(' && arg[n - 1] == ')') {
        arg = trimmed(arg + 1, n - 2);
        n = strlen(arg);
    }
    return arg;
}

static void add(lz_buf *b, const char *param)
{
    lz_buf_printf(b, "%s%s", b->len ? ", " : "", param);
}

/* The parameter of d that the macro's parameter `name` becomes, in *out; all of them but the call
 * site for ARGS alone. */
static bool add_param(lz_buf *b, decl *d, const strings *args, const char *name)
{
    bool rest = strcmp(name, "...") == 0;
    char mark[96];
    snprintf(mark, sizeof mark, "ARG_%s", name);
    for (uint32_t i = 0; i < args->len; i++) {
        const char *arg = bare(args->data[i]);
        if (!rest && strcmp(arg, mark) == 0 && i < d->params.len) {
            add(b, d->params.data[i]);
            return true;
        }
        if (rest && strncmp(arg, "OPTIONS ", 8) == 0) {
            d->options = keep(arg + 8);
            return true;
        }
        if (rest && (strstr(arg, "DIMS") || strcmp(arg, "SHAPE") == 0)) {
            add(b, *arg != 'S' ? "int64_t dim..." : "int64_t extent...");
            return true;
        }
        if (rest && strcmp(arg, "TENSORS") == 0) {
            add(b, "lz_tensor *x...");
            return true;
        }
        if (rest && strcmp(arg, "ARGS") == 0) {
            for (uint32_t k = i; k + (args->len - i) <= d->params.len; k++)
                add(b, d->params.data[k]);
            return true;
        }
    }
    return false;
}

decl *find_function(const api *a, const char *plain)
{
    for (uint32_t h = 0; h < a->headers.len; h++)
        for (uint32_t b = 0; b < a->headers.data[h].blocks.len; b++) {
            block *k = &a->headers.data[h].blocks.data[b];
            for (uint32_t i = 0; i < k->decls.len; i++)
                if (k->decls.data[i].kind == DECL_FUNC &&
                    strcmp(k->decls.data[i].plain, plain) == 0)
                    return &k->decls.data[i];
        }
    return NULL;
}

/* The macro of a function is that of its name without _at; where there is none, the first one that
 * calls it (lz_sgd calls lz_sgd_new_at). */
static bool expand_one(api *a, const macro *m, const char *call, bool by_name)
{
    const char *open = strchr(call, '(');
    decl *d = open ? find_function(a, keep_n(call, (size_t)(open - call))) : NULL;
    if (!d)
        return true;
    bool same = strncmp(d->plain, m->name, strlen(m->name)) == 0 &&
                strcmp(d->plain + strlen(m->name), "_at") == 0;
    if (same != by_name || (!same && d->written))
        return true;
    strings args = {0};
    const char *close = strrchr(call, ')');
    split_list(open + 1, (size_t)(close - open - 1), &args);
    lz_buf b = {0};
    bool ok = true;
    for (uint32_t i = 0; i < m->params.len; i++)
        if (!add_param(&b, d, &args, m->params.data[i])) {
            fprintf(stderr, "apidoc: %s: what becomes of its parameter %s? %s\n", m->name,
                    m->params.data[i], call);
            ok = false;
        }
    d->written = keep_buf(&b);
    d->name = m->name;
    lz_vec_free(&args);
    return ok;
}

static bool expand_all(api *a, const char *p, bool by_name)
{
    bool ok = true;
    for (uint32_t h = 0; h < a->headers.len; h++)
        for (uint32_t i = 0; i < a->headers.data[h].macros.len; i++) {
            macro *m = &a->headers.data[h].macros.data[i];
            if (!is_call(m))
                continue;
            p = strstr(p, "STUB \"\" = ");
            if (!p) {
                fprintf(stderr, "apidoc: no expansion of %s\n", m->name);
                return false;
            }
            p += strlen("STUB \"\" = ");
            const char *end = strstr(p, "STUB ");
            size_t n = end ? (size_t)(end - p) : strlen(p);
            m->expansion = collapsed(trimmed(p, n));
            ok &= expand_one(a, m, m->expansion, by_name);
        }
    return ok;
}

bool api_expand(api *a, const char *path)
{
    const char *text = read_all(path);
    return text && expand_all(a, text, true) && expand_all(a, text, false);
}

/* ---- what lint asks ---- */

static int complaint(const header *h, int line, const char *name, const char *what)
{
    fprintf(stderr, "%s:%d: %s: %s\n", h->path, line, name, what);
    return 1;
}

static int check_block(const header *h, const block *b)
{
    int bad = 0;
    for (uint32_t i = 0; i < b->decls.len; i++) {
        const decl *d = &b->decls.data[i];
        if (d->kind == DECL_FUNC && !*b->text)
            bad += complaint(h, d->line, d->plain, "no comment says what it does");
    }
    return bad;
}

/* Every name of the list of exported ones is a function of the headers. */
static int check_exports(const api *a, const char *path)
{
    int bad = 0;
    for (const char *p = read_all(path); p && *p; p += strcspn(p, "\n") + 1) {
        const char *name = keep_n(p, strcspn(p, "\n"));
        if (!find_function(a, name))
            bad++, fprintf(stderr, "%s: %s: not found in the headers\n", path, name);
        if (!p[strcspn(p, "\n")])
            break;
    }
    return bad;
}

bool api_check(const api *a, const char *exports)
{
    int bad = check_exports(a, exports);
    for (uint32_t h = 0; h < a->headers.len; h++) {
        const header *hd = &a->headers.data[h];
        if (!*hd->title)
            bad += complaint(hd, 1, hd->name, "no head comment");
        for (uint32_t b = 0; b < hd->blocks.len; b++)
            bad += check_block(hd, &hd->blocks.data[b]);
    }
    for (uint32_t r = 0; r < a->records.len; r++) {
        const record *rec = &a->records.data[r];
        for (uint32_t i = 0; rec->filled && i < rec->fields.len; i++)
            if (!*rec->fields.data[i].text) {
                fprintf(stderr, "%s.%s: no comment says what it does\n", rec->name,
                        rec->fields.data[i].name);
                bad++;
            }
    }
    return bad == 0;
}
