/* scan.c - reads a public header into blocks: comments, and the declarations that they are about.
 * The form of the headers is that of clang-format, so a scanner suffices; C++'s branches of
 * conditionals are left out. */
#include "tools/apidoc/apidoc.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

typedef struct scanner {
    api *a;
    header *h;
    const char *text, *p;
    const char *pending; /* a comment that waits for what follows, or NULL */
    bool gap;            /* an empty line since the last thing */
    block *run;          /* the block that takes further declarations, or NULL */
} scanner;

/* ---- conditionals ---- */

/* The text without the lines that only C++ sees; their newlines stay. */
static const char *without_cplusplus(const char *s)
{
    enum { MAX_DEPTH = 16 };
    bool skip[MAX_DEPTH] = {false}, cpp[MAX_DEPTH] = {false};
    int depth = 0;
    lz_buf b = {0};
    while (*s) {
        size_t n = strcspn(s, "\n");
        bool directive = false;
        if (strncmp(s, "#if", 3) == 0 && depth + 1 < MAX_DEPTH) {
            bool is_cpp = strncmp(s, "#ifdef __cplusplus", 18) == 0;
            depth++;
            cpp[depth] = is_cpp;
            skip[depth] = skip[depth - 1] || is_cpp;
            directive = true;
        } else if (strncmp(s, "#else", 5) == 0 && depth) {
            skip[depth] = skip[depth - 1] || !cpp[depth];
            directive = true;
        } else if (strncmp(s, "#endif", 6) == 0 && depth) {
            depth--;
            directive = true;
        }
        if (!directive && !skip[depth])
            lz_buf_put(&b, s, n);
        s += n;
        if (*s)
            lz_buf_putc(&b, *s++);
    }
    return keep_buf(&b);
}

/* ---- comments ---- */

/* The text of a comment: without its stars, trailing blanks and the column it stands in. */
static const char *comment_text(const char *s, size_t n)
{
    lz_buf b = {0};
    size_t i = 2;
    n -= 2;
    while (i < n) {
        size_t end = i;
        while (end < n && s[end] != '\n')
            end++;
        size_t last = end;
        while (last > i && lz_is_space(s[last - 1]))
            last--;
        if (b.len)
            lz_buf_putc(&b, '\n');
        if (last > i)
            lz_buf_put(&b, s + i, last - i);
        i = end + 1;
        while (i < n && s[i] == ' ')
            i++;
        if (i < n && s[i] == '*')
            i++;
        if (i < n && s[i] == ' ')
            i++;
    }
    const char *text = keep_buf(&b);
    return trimmed(text, strlen(text));
}

static block *add_block(scanner *s, int kind, const char *title, const char *text)
{
    block b = {.kind = kind, .title = title, .text = text};
    (void)lz_vec_push(&s->h->blocks, b);
    s->run = NULL;
    return &s->h->blocks.data[s->h->blocks.len - 1];
}

static void flush_pending(scanner *s)
{
    if (s->pending)
        add_block(s, BLOCK_NOTE, NULL, s->pending);
    s->pending = NULL;
}

/* "---- title ---- text", where the title may go on behind a colon. */
static void add_section(scanner *s, const char *text)
{
    text += strspn(text, "- ");
    const char *end = strstr(text, "----");
    size_t n = end ? (size_t)(end - text) : strlen(text);
    const char *title = collapsed(trimmed(text, n));
    const char *rest = end ? end + strspn(end, "-") : "";
    const char *colon = strpbrk(title, ":;");
    lz_buf b = {0};
    if (colon) {
        lz_buf_puts(&b, colon + 1 + strspn(colon + 1, " "));
        title = keep_n(title, (size_t)(colon - title));
    }
    if (*rest) {
        if (b.len)
            lz_buf_puts(&b, ". ");
        lz_buf_puts(&b, trimmed(rest, strlen(rest)));
    }
    add_block(s, BLOCK_SECTION, title, keep_buf(&b));
}

/* ---- declarations ---- */

static int line_of(const scanner *s, const char *at)
{
    int n = 1;
    for (const char *p = s->text; p < at; p++)
        n += *p == '\n';
    return n;
}

/* The end of a declaration: behind its ';', or behind the '}' of a function. */
static const char *decl_end(const char *p, bool body)
{
    int depth = 0;
    for (; *p; p++) {
        if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            p = end ? end + 1 : p + strlen(p) - 1;
        } else if (strchr("({[", *p))
            depth++;
        else if (strchr(")}]", *p)) {
            depth--;
            if (body && depth == 0 && *p == '}')
                return p + 1;
        } else if (*p == ';' && depth == 0)
            return p + 1;
    }
    return p;
}

/* The comment behind the declaration that ends at p, in its line; NULL when there is none. */
static const char *trailing_comment(scanner *s)
{
    const char *p = s->p + strspn(s->p, " ");
    if (p[0] != '/' || p[1] != '*')
        return NULL;
    const char *end = strstr(p, "*/");
    if (!end)
        return NULL;
    s->p = end + 2;
    return comment_text(p, (size_t)(end + 2 - p));
}

static void add_decl(scanner *s, decl d)
{
    const char *own = trailing_comment(s);
    if (own && !s->pending) { /* of this one alone; the run goes on behind it */
        block *run = s->run;
        size_t at = run ? (size_t)(run - s->h->blocks.data) : 0;
        block *b = add_block(s, BLOCK_DECLS, NULL, own);
        (void)lz_vec_push(&b->decls, d);
        s->run = run ? &s->h->blocks.data[at] : NULL;
        return;
    }
    if (own) {
        lz_buf b = {0};
        lz_buf_printf(&b, "%s\n%s", s->pending, own);
        s->pending = keep_buf(&b);
    }
    if (s->pending || s->gap || !s->run)
        s->run = add_block(s, BLOCK_DECLS, NULL, s->pending ? s->pending : "");
    s->pending = NULL;
    (void)lz_vec_push(&s->run->decls, d);
}

static void scan_function(scanner *s)
{
    const char *from = s->p + strlen("LZ_API"), *end = decl_end(from, false);
    decl d = {.kind = DECL_FUNC, .line = line_of(s, from)};
    d.source = collapsed(trimmed(from, (size_t)(end - from)));
    const char *open = strchr(d.source, '(');
    const char *name = open;
    while (name && name > d.source && (lz_is_alnum(name[-1]) || name[-1] == '_'))
        name--;
    s->p = end;
    if (!open)
        return;
    d.plain = d.name = keep_n(name, (size_t)(open - name));
    d.result = keep_n(d.source, (size_t)(name - d.source));
    size_t n = strlen(open);
    split_list(open + 1, n - 3, &d.params);
    add_decl(s, d);
}

/* The rows of the table that an enum includes, as "LZ_NAME = value, comment" lines. */
static void put_rows(lz_buf *b, const char *line)
{
    char path[128] = "include/";
    const char *from = strchr(line, '<'), *to = from ? strchr(from, '>') : NULL;
    if (!to || to - from > 100)
        return;
    memcpy(path + 8, from + 1, (size_t)(to - from) - 1);
    const char *text = read_all(path);
    for (const char *p = text; p && (p = strstr(p, "\nLZ_")); p++) {
        const char *open = strchr(p, '('), *close = open;
        while (close && *close && !(close[0] == ')' && (close[1] == '\n' || !close[1])))
            close++;
        if (!close || !*close)
            break;
        strings cells = {0};
        split_list(open + 1, (size_t)(close - open - 1), &cells);
        if (cells.len >= 3) {
            bool dtype = cells.len > 3; /* name, value, lower-case name, text, ... */
            const char *doc = cells.data[dtype ? 3 : 2];
            size_t len = strlen(doc);
            lz_buf_printf(b, "    LZ_%s = %s, /* %s%.*s */\n", cells.data[0], cells.data[1],
                          dtype ? "in StableHLO text " : "", (int)(len > 2 ? len - 2 : 0), doc + 1);
        }
        lz_vec_free(&cells);
    }
}

/* A type as it is read: defaults and directives left out, tables spelt out. */
static const char *type_source(const char *from, const char *end)
{
    lz_buf b = {0};
    for (const char *p = from; p < end;) {
        if (strncmp(p, "LZ_DEFAULT(", 11) == 0) {
            int depth = 0;
            for (p += 10; p < end; p++)
                if ((depth += *p == '(' ? 1 : *p == ')' ? -1 : 0) == 0)
                    break;
            p++;
            while (b.len && b.data[b.len - 1] == ' ')
                b.data[--b.len] = 0;
        } else if (*p == '#') {
            put_rows(&b, p);
            p += strcspn(p, "\n");
            p += *p == '\n';
        } else
            lz_buf_putc(&b, *p++);
    }
    return keep_buf(&b);
}

/* ---- options ---- */

/* "double momentum LZ_DEFAULT(0.1), eps LZ_DEFAULT(1e-5)" with its comment. */
static void add_fields(record *r, const char *line, const char *text)
{
    strings parts = {0};
    split_list(line, strlen(line), &parts);
    const char *type = "";
    for (uint32_t i = 0; i < parts.len; i++) {
        const char *one = parts.data[i], *value = strstr(one, "LZ_DEFAULT(");
        field f = {.value = "0", .text = text};
        size_t n = value ? (size_t)(value - one) : strlen(one);
        if (value) {
            value += 11;
            size_t len = strrchr(value, ')') ? (size_t)(strrchr(value, ')') - value) : 0;
            f.value = trimmed(value, len);
        }
        const char *dcl = trimmed(one, n), *name = dcl + strlen(dcl);
        if (strchr(dcl, '(')) { /* a function pointer: (*get)(...) */
            const char *star = strstr(dcl, "(*");
            f.type = dcl;
            f.name = star ? keep_n(star + 2, strcspn(star + 2, ")")) : dcl;
        } else {
            while (name > dcl && !strchr(" *", name[-1]))
                name--;
            if (i == 0)
                type = trimmed(dcl, (size_t)(name - dcl));
            f.type = type;
            f.name = name;
        }
        if (strcmp(f.name, "struct_size") == 0)
            r->filled = true;
        else
            (void)lz_vec_push(&r->fields, f);
    }
    lz_vec_free(&parts);
}

static void add_record(scanner *s, const char *name, const char *from, const char *end)
{
    const char *p = memchr(from, '{', (size_t)(end - from));
    record r = {.name = name};
    const char *text = "";
    for (p = p ? p + 1 : end; p < end && *p != '}';) {
        p += strspn(p, " \n");
        if (p[0] == '/' && p[1] == '*') {
            const char *stop = strstr(p, "*/");
            text = comment_text(p, (size_t)(stop + 2 - p));
            p = stop + 2;
            continue;
        }
        if (*p == '}')
            break;
        const char *stop = decl_end(p, false);
        const char *line = collapsed(trimmed(p, (size_t)(stop - 1 - p)));
        p = stop;
        const char *q = p + strspn(p, " ");
        if (q[0] == '/' && q[1] == '*') {
            const char *close = strstr(q, "*/");
            const char *own = comment_text(q, (size_t)(close + 2 - q));
            if (*text) {
                lz_buf b = {0};
                lz_buf_printf(&b, "%s; %s", text, own);
                own = keep_buf(&b);
            }
            text = own;
            p = close + 2;
        }
        add_fields(&r, line, text);
        text = "";
    }
    (void)lz_vec_push(&s->a->records, r);
}

const record *api_record(const api *a, const char *name)
{
    for (uint32_t i = 0; name && i < a->records.len; i++)
        if (strcmp(a->records.data[i].name, name) == 0)
            return &a->records.data[i];
    return NULL;
}

/* ---- types and macros ---- */

/* The name that a typedef or enum declares. */
static const char *type_name(const char *src)
{
    const char *end = src + strlen(src), *fn = strstr(src, "_fn(");
    const char *handler = strstr(src, "_handler(");
    if (!strchr(src, '{') && (fn || handler))
        end = fn ? fn + 3 : handler + 8;
    while (end > src && !(lz_is_alnum(end[-1]) || end[-1] == '_'))
        end--;
    const char *from = end;
    while (from > src && (lz_is_alnum(from[-1]) || from[-1] == '_'))
        from--;
    return keep_n(from, (size_t)(end - from));
}

static void scan_type(scanner *s)
{
    const char *from = s->p, *end = decl_end(from, false);
    decl d = {.kind = DECL_TYPE, .line = line_of(s, from), .source = type_source(from, end)};
    const char *brace = strchr(d.source, '{');
    if (!brace)
        d.source = collapsed(d.source);
    if (strncmp(from, "enum {", 6) == 0)
        d.name = keep_n(d.source + 7, strcspn(d.source + 7, " ="));
    else
        d.name = type_name(d.source);
    s->p = end;
    if (brace && strstr(from, "struct") == from + 8)
        add_record(s, d.name, from, end);
    add_decl(s, d);
}

static void scan_inline(scanner *s)
{
    const char *from = s->p, *end = decl_end(from, true);
    decl d = {.kind = DECL_TYPE, .line = line_of(s, from)};
    size_t n = (size_t)((const char *)memchr(from, '{', (size_t)(end - from)) - from);
    const char *sig = collapsed(trimmed(from, n));
    sig += strncmp(sig, "static inline ", 14) == 0 ? 14 : 0;
    const char *open = strchr(sig, '('), *name = open;
    while (name > sig && (lz_is_alnum(name[-1]) || name[-1] == '_'))
        name--;
    d.name = keep_n(name, (size_t)(open - name));
    lz_buf b = {0};
    lz_buf_printf(&b, "%s; /* inline */", sig);
    d.source = keep_buf(&b);
    s->p = end;
    add_decl(s, d);
}

static void scan_define(scanner *s)
{
    const char *from = s->p + strlen("#define "), *p = from;
    while (*p && !(*p == '\n' && p[-1] != '\\'))
        p++;
    const char *comment = NULL;
    for (const char *q = from; q + 1 < p; q++)
        if (q[0] == '/' && q[1] == '*') {
            comment = q;
            break;
        }
    const char *end = comment ? comment : p;
    macro m = {.line = line_of(s, from)};
    size_t n = strspn(from, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    m.name = keep_n(from, n);
    const char *body = from + n;
    bool call = *body == '(';
    if (call) {
        const char *close = strchr(body, ')');
        split_list(body + 1, (size_t)(close - body - 1), &m.params);
        body = close + 1;
    }
    lz_buf b = {0};
    for (; body < end; body++)
        lz_buf_putc(&b, *body == '\\' ? ' ' : *body);
    m.body = collapsed(keep_buf(&b));
    s->p = end;
    if (strstr(m.body, "(__VA_ARGS__, ") && strncmp(m.body, "LZ_ARGS_", 8) == 0) {
        flush_pending(s);
        lz_vec_free(&m.params);
        return; /* LZ_ARGS_ of the same name, which follows, has its parameters */
    }
    m.call = m.name;
    if (strncmp(m.name, "LZ_ARGS_", 8) == 0) {
        lz_buf own = {0};
        lz_buf_printf(&own, "lz_%s", m.name + 8);
        m.name = keep_buf(&own);
    }
    (void)lz_vec_push(&s->h->macros, m);
    bool lower = strncmp(m.name, "lz_", 3) == 0;
    bool alias = lower && strncmp(m.body, "lz_", 3) == 0 && !strstr(m.body, "_at(");
    if (lower && !alias) {
        flush_pending(s);
        s->p = p;
        return;
    }
    if (!alias && !s->pending && !comment)
        return; /* a helper */
    lz_buf src = {0};
    lz_buf_puts(&src, m.name);
    for (uint32_t i = 0; i < m.params.len; i++)
        lz_buf_printf(&src, "%s%s", i ? ", " : "(", m.params.data[i]);
    if (call)
        lz_buf_puts(&src, m.params.len ? ")" : "()");
    if (alias)
        lz_buf_printf(&src, " = %s", m.body);
    add_decl(s, (decl){.kind = alias ? DECL_ALIAS : DECL_CONST,
                       .name = m.name,
                       .source = keep_buf(&src),
                       .line = m.line});
}

/* ---- the header ---- */

static bool starts(const scanner *s, const char *word)
{
    return strncmp(s->p, word, strlen(word)) == 0;
}

static void scan_comment(scanner *s)
{
    const char *end = strstr(s->p, "*/");
    size_t n = end ? (size_t)(end + 2 - s->p) : strlen(s->p);
    const char *text = comment_text(s->p, n);
    s->p += n;
    flush_pending(s);
    if (strncmp(text, "----", 4) == 0)
        add_section(s, text);
    else
        s->pending = text;
}

static void scan_thing(scanner *s)
{
    if (s->gap && s->pending)
        flush_pending(s);
    if (starts(s, "/*"))
        scan_comment(s);
    else if (starts(s, "#define "))
        scan_define(s);
    else if (starts(s, "LZ_MUST_USE "))
        s->p += strlen("LZ_MUST_USE "); /* the declaration follows */
    else if (starts(s, "LZ_API"))
        scan_function(s);
    else if (starts(s, "typedef") || starts(s, "enum"))
        scan_type(s);
    else if (starts(s, "static inline"))
        scan_inline(s);
    else
        s->p += strcspn(s->p, "\n"); /* directives, LZ_EXTERN_C_BEGIN */
}

/* "tensor.h - title.\n text" at the head of the file. */
static void take_head(scanner *s)
{
    header *h = s->h;
    if (!h->blocks.len || h->blocks.data[0].kind != BLOCK_NOTE)
        return;
    const char *text = h->blocks.data[0].text, *dash = strstr(text, " - ");
    text = dash ? dash + 3 : text;
    size_t n = 0;
    while (text[n] && !(strchr(".", text[n]) && (text[n + 1] == ' ' || text[n + 1] == '\n')) &&
           strncmp(text + n, "\n\n", 2) != 0 && !(text[n] == '.' && !text[n + 1]))
        n++;
    h->title = collapsed(keep_n(text, n));
    text += n + (text[n] == '.' || text[n] == ':');
    h->text = trimmed(text, strlen(text));
    memmove(h->blocks.data, h->blocks.data + 1, (h->blocks.len - 1) * sizeof(block));
    h->blocks.len--;
}

bool api_scan(api *a, const char *path)
{
    const char *text = read_all(path), *slash = strrchr(path, '/');
    if (!text)
        return false;
    header h = {.path = path, .name = slash ? slash + 1 : path, .title = "", .text = ""};
    scanner s = {.a = a, .h = &h, .text = without_cplusplus(text)};
    s.p = s.text;
    while (*s.p) {
        int newlines = 0;
        for (; lz_is_space(*s.p); s.p++)
            newlines += *s.p == '\n';
        s.gap = newlines > 1;
        if (*s.p)
            scan_thing(&s);
    }
    flush_pending(&s);
    take_head(&s);
    (void)lz_vec_push(&a->headers, h);
    return true;
}
