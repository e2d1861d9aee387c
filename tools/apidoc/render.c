/* render.c - what the HTML page and the man pages have in common: signatures, paragraphs. */
#include "tools/apidoc/apidoc.h"
#include <string.h>

/* A default as one writes it in C. */
static const char *value_text(const char *v)
{
    static const char *const words[][2] = {
        {"nullptr", "NULL"}, {"{}", "{0}"}, {"__builtin_nan(\"\")", "NAN"}, {"'\\0'", "0"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(v, words[i][0]) == 0)
            return words[i][1];
    return v;
}

const char *signature(const api *a, const decl *d, bool plain)
{
    lz_buf b = {0};
    if (d->kind != DECL_FUNC)
        return d->source;
    if (plain || (!d->written && !d->options))
        return d->source;
    lz_buf_printf(&b, "%s%s(%s", d->result, d->name, d->written);
    const record *r = api_record(a, d->options);
    for (uint32_t i = 0; r && i < r->fields.len; i++) {
        const field *f = &r->fields.data[i];
        lz_buf_printf(&b, "%s.%.*s = %s", i || *d->written ? ", " : "", (int)strcspn(f->name, "["),
                      f->name, value_text(f->value));
    }
    if (d->options && !r)
        lz_buf_puts(&b, ", ...");
    lz_buf_puts(&b, ");");
    return keep_buf(&b);
}

/* Whether a sentence, or its first part, ends at p; dots of ".." do not. */
static bool sentence_end(const char *text, const char *p)
{
    if (!strchr(".;", *p) || (p[1] && p[1] != ' ' && p[1] != '\n'))
        return strncmp(p, "\n\n", 2) == 0;
    return p == text || p[-1] != '.';
}

const char *first_sentence(const char *text)
{
    size_t n = 0;
    int depth = 0;
    for (; text[n] && !(depth <= 0 && sentence_end(text, text + n)); n++)
        depth += text[n] == '(' ? 1 : text[n] == ')' ? -1 : 0;
    return collapsed(keep_n(text, n));
}

static bool label(const char *line)
{
    size_t n = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz ");
    return n && n < 16 && line[n] == ':' && line[0] >= 'A' && line[0] <= 'Z' && line[n + 1] == ' ';
}

static void add_paragraph(paragraphs *out, int kind, lz_buf *b)
{
    if (b->len) {
        const char *s = keep_buf(b);
        paragraph p = {.kind = kind, .text = kind == PARA_CODE ? s : collapsed(s)};
        (void)lz_vec_push(out, p);
    }
}

/* Paragraphs end at empty lines and before "Errors: ", "- " and indented code (4 blanks and more).
 */
void paragraphs_of(const char *text, paragraphs *out)
{
    lz_buf b = {0};
    int kind = PARA_TEXT;
    while (*text) {
        size_t n = strcspn(text, "\n");
        const char *line = keep_n(text, n);
        bool code = strncmp(line, "    ", 4) == 0,
             item = strncmp(line, "- ", 2) == 0 || strncmp(line, "* ", 2) == 0;
        if (!n || item || label(line) || code != (kind == PARA_CODE)) {
            add_paragraph(out, kind, &b);
            kind = code ? PARA_CODE : item ? PARA_ITEM : PARA_TEXT;
        }
        if (n) {
            lz_buf_puts(&b, item ? line + 2 : line);
            lz_buf_putc(&b, '\n');
        }
        text += n + (text[n] == '\n');
    }
    add_paragraph(out, kind, &b);
}

/* The options structs of a block's functions, each once: call with *i 0 first; NULL at the end. */
const record *block_options(const api *a, const block *b, uint32_t *i)
{
    for (; *i < b->decls.len; (*i)++) {
        const decl *d = &b->decls.data[*i];
        const record *r = api_record(a, d->options);
        for (uint32_t k = 0; r && k < *i; k++)
            if (b->decls.data[k].options && strcmp(b->decls.data[k].options, r->name) == 0)
                r = NULL;
        if (r) {
            (*i)++;
            return r;
        }
    }
    return NULL;
}
