/* calls.c - a program that calls each macro of the headers once without its optional arguments and
 * once with one: what test/api/headers.sh compiles in every language. It has one function for each
 * macro, whose parameters are those of the plain function, so that every argument has its type. */
#include "tools/apidoc/apidoc.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

/* The name that a parameter declares: release of "void (*release)(void *user)". */
static const char *param_name(const char *param)
{
    const char *fn = strstr(param, "(*"), *end = fn ? fn + 2 : strchr(param, '[');
    if (fn) {
        return keep_n(end, strcspn(end, ")"));
    }
    if (!end)
        end = param + strlen(param);
    const char *from = end;
    while (from > param && (lz_is_alnum(from[-1]) || from[-1] == '_'))
        from--;
    return keep_n(from, (size_t)(end - from));
}

/* The argument of the expanded call that is the macro's parameter `name`; its index, or -1. */
static int find_arg(const strings *args, const char *name)
{
    lz_buf mark = {0};
    lz_buf_printf(&mark, "ARG_%s", name);
    const char *text = keep_buf(&mark);
    for (uint32_t i = 0; i < args->len; i++)
        if (strcmp(args->data[i], text) == 0)
            return (int)i;
    return -1;
}

/* What may stand in place of `...`: in rest[0] nothing or what has to be there, in rest[1] more. */
static bool rest_of(const api *a, const decl *d, const strings *args, const char *rest[2])
{
    for (uint32_t i = 0; i < args->len && i < d->params.len; i++) {
        const char *arg = args->data[i];
        lz_buf b = {0};
        if (strstr(arg, "DIMS") || strstr(arg, "SHAPE")) {
            rest[0] = strstr(arg, "OR NONE") ? "" : "1, 2";
            rest[1] = "0, 1";
            return true;
        }
        if (strncmp(arg, "OPTIONS ", 8) == 0) {
            const record *r = api_record(a, arg + 8);
            if (!r || !r->fields.len)
                return false;
            const char *name = r->fields.data[0].name, *extent = strchr(name, '[');
            if (extent)
                lz_buf_printf(&b, ".%s = {1}", keep_n(name, (size_t)(extent - name)));
            else
                lz_buf_printf(&b, ".%s = %s->%s", name, param_name(d->params.data[i]), name);
            rest[0] = "", rest[1] = keep_buf(&b);
            return true;
        }
        if (strcmp(arg, "TENSORS") == 0) {
            rest[0] = "";
            rest[1] = "*tensors, tensors[1]";
            return true;
        }
        if (strcmp(arg, "ARGS") == 0) {
            for (uint32_t k = i; k + (args->len - i) <= d->params.len; k++)
                lz_buf_printf(&b, "%s%s", k > i ? ", " : "", param_name(d->params.data[k]));
            rest[0] = rest[1] = keep_buf(&b);
            return true;
        }
    }
    return false;
}

static bool print_call(const api *a, const macro *m, const decl *d, const strings *args, int which)
{
    const char *rest[2] = {"", ""};
    bool isvoid = strncmp(d->result, "void ", 5) == 0, first = true;
    printf("    {%s%s%s(", isvoid ? "" : d->result, isvoid ? "" : "result = ", m->name);
    for (uint32_t i = 0; i < m->params.len; i++) {
        const char *text = m->params.data[i];
        if (strcmp(text, "...") == 0) {
            if (!rest_of(a, d, args, rest))
                return false;
            text = rest[which];
        } else {
            int at = find_arg(args, text);
            if (at < 0 || (uint32_t)at >= d->params.len)
                return false;
            text = param_name(d->params.data[at]);
        }
        if (*text)
            printf("%s%s", first ? "" : ", ", text);
        first = first && !*text;
    }
    printf(");%s}\n", isvoid ? "" : " (void)result;");
    return true;
}

static bool print_macro(const api *a, const macro *m)
{
    const char *open = m->expansion ? strchr(m->expansion, '(') : NULL;
    const decl *d =
        open ? find_function(a, keep_n(m->expansion, (size_t)(open - m->expansion))) : NULL;
    if (!d)
        return true; /* the name of another macro */
    strings args = {0};
    const char *close = strrchr(m->expansion, ')');
    split_list(open + 1, (size_t)(close - open - 1), &args);
    printf("void call_%s(", m->name);
    for (uint32_t i = 0; i < d->params.len; i++)
        printf("%s%s", i ? ", " : "", d->params.data[i]);
    puts(")\n{");
    for (uint32_t i = 0; i < d->params.len; i++)
        printf("    (void)%s;\n", param_name(d->params.data[i]));
    bool ok = print_call(a, m, d, &args, 0) && print_call(a, m, d, &args, 1);
    puts("}");
    if (!ok)
        fprintf(stderr, "apidoc: no call of %s: %s\n", m->name, m->expansion);
    lz_vec_free(&args);
    return ok;
}

bool api_calls(const api *a)
{
    bool ok = true;
    puts("#include <lazuli/lazuli.h>");
    for (uint32_t h = 0; h < a->headers.len; h++)
        for (uint32_t i = 0; i < a->headers.data[h].macros.len; i++)
            ok &= print_macro(a, &a->headers.data[h].macros.data[i]);
    return ok;
}
