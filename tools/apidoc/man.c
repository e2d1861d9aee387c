/* man.c - man pages: one of section 3 for each block of functions (their other names lead to it),
 * one for each header, the overview, and that of the command. */
#include "tools/apidoc/apidoc.h"
#include "base/config.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_roff(FILE *f, const char *s)
{
    for (bool start = true; *s; s++) {
        if (start && (*s == '.' || *s == '\''))
            fputs("\\&", f);
        if (*s == '\\')
            fputs("\\e", f);
        else if (*s == '-')
            fputs("\\-", f);
        else if (*s == '`')
            ;
        else
            putc(*s, f);
        start = *s == '\n';
    }
}

/* first: behind a heading, which begins a paragraph itself */
static void put_text(FILE *f, const char *text, bool first)
{
    paragraphs ps = {0};
    paragraphs_of(text, &ps);
    for (uint32_t i = 0; i < ps.len; i++) {
        const paragraph *p = &ps.data[i];
        if (p->kind != PARA_ITEM && !(first && i == 0))
            fputs(".PP\n", f);
        fputs(p->kind == PARA_CODE ? ".nf\n" : p->kind == PARA_ITEM ? ".IP \\(bu 2\n" : "", f);
        put_roff(f, p->text);
        fputs(p->kind == PARA_CODE ? ".fi\n" : "\n", f);
    }
    lz_vec_free(&ps);
}

/* A signature in lines of at most 76 columns, broken behind commas. */
static void put_signature(FILE *f, const char *sig)
{
    enum { WIDTH = 76 };
    size_t column = 0;
    fputs("\\fB", f);
    while (*sig) {
        size_t n = 0, depth = 0;
        while (sig[n] && !(sig[n] == ',' && depth == 0) && sig[n] != '\n') {
            depth += sig[n] == '{';
            depth -= sig[n] == '}' && depth;
            n++;
        }
        n += sig[n] == ',';
        if (column && column + n > WIDTH && sig[-1] != '\n') {
            fputs("\n    ", f);
            column = 4;
            sig += *sig == ' ', n -= n && sig[-1] == ' ';
        }
        put_roff(f, keep_n(sig, n));
        column += n;
        sig += n;
        if (*sig == '\n') {
            putc('\n', f);
            column = 0;
            sig++;
        }
    }
    fputs("\\fP\n", f);
}

static FILE *open_page(const char *dir, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.3", dir, name);
    FILE *f = fopen(path, "w");
    if (!f)
        perror(path);
    return f;
}

static void put_title(FILE *f, const char *version, const char *name, const char *section,
                      const char *book)
{
    const char *date = getenv("DATE"); /* of the sources, from tools/apidoc.sh */
    fprintf(f,
            ".\\\" Written by tools/apidoc from the headers.\n.TH \"%s\" %s \"%s\" \"Lazuli %s\" "
            "\"%s\"\n.ad l\n.nh\n",
            name, section, date ? date : "", version, book);
}

static const decl *first_name(const block *b)
{
    for (uint32_t i = 0; i < b->decls.len; i++)
        if (b->decls.data[i].kind == DECL_FUNC || b->decls.data[i].kind == DECL_ALIAS)
            return &b->decls.data[i];
    return NULL;
}

static void put_options(FILE *f, const record *r)
{
    fprintf(f, ".SS Options (%s)\n", r->name);
    for (uint32_t i = 0; i < r->fields.len; i++) {
        const field *o = &r->fields.data[i];
        fputs(".TP\n\\fB.", f);
        put_roff(f, o->name);
        fputs("\\fP  (", f);
        put_roff(f, o->type);
        fputs(")\n", f);
        put_roff(f, collapsed(*o->text ? o->text : "see above"));
        putc('\n', f);
    }
}

static void put_block(FILE *f, const api *a, const header *h, const block *b)
{
    fputs(".SH NAME\n", f);
    const char *between = "";
    for (uint32_t i = 0; i < b->decls.len; i++)
        if (b->decls.data[i].kind == DECL_FUNC || b->decls.data[i].kind == DECL_ALIAS) {
            fprintf(f, "%s%s", between, b->decls.data[i].name);
            between = ", ";
        }
    fputs(" \\- ", f);
    put_roff(f, first_sentence(b->text));
    fprintf(f, "\n.SH SYNOPSIS\n.nf\n\\fB#include <lazuli/%s>\\fP\n.sp\n", h->name);
    bool plain = false;
    for (uint32_t i = 0; i < b->decls.len; i++) {
        put_signature(f, signature(a, &b->decls.data[i], false));
        plain |= b->decls.data[i].written != NULL;
    }
    fputs(".fi\n.SH DESCRIPTION\n", f);
    put_text(f, b->text, true);
    uint32_t at = 0;
    for (const record *r; (r = block_options(a, b, &at));)
        put_options(f, r);
    if (plain) {
        fputs(".SS The plain function\n.nf\n", f);
        for (uint32_t i = 0; i < b->decls.len; i++)
            if (b->decls.data[i].written)
                put_signature(f, b->decls.data[i].source);
        fputs(".fi\n", f);
    }
    fprintf(f, ".SH NOTES\nOf all functions of <lazuli/%s>:\n", h->name);
    put_text(f, h->text, false);
    fprintf(f, ".SH SEE ALSO\n.BR lazuli_%s (3),\n.BR lazuli (7)\n", h->name);
}

static bool write_block(const api *a, const header *h, const block *b, const char *version,
                        const char *dir)
{
    const decl *first = first_name(b);
    if (!first)
        return true;
    FILE *f = open_page(dir, first->name);
    if (!f)
        return false;
    put_title(f, version, first->name, "3", "Lazuli API");
    put_block(f, a, h, b);
    bool ok = fclose(f) == 0;
    for (uint32_t i = 0; i < b->decls.len; i++) {
        const decl *d = &b->decls.data[i];
        if (d == first || (d->kind != DECL_FUNC && d->kind != DECL_ALIAS))
            continue;
        f = open_page(dir, d->name);
        if (!f)
            return false;
        fprintf(f, ".so man3/%s.3\n", first->name);
        ok = fclose(f) == 0 && ok;
    }
    return ok;
}

/* The page of a header: its text, its types, and what it has, by section. */
static bool write_header(const api *a, const header *h, const char *version, const char *dir)
{
    lz_buf name = {0};
    lz_buf_printf(&name, "lazuli_%s", h->name);
    const char *page = keep_buf(&name);
    FILE *f = open_page(dir, page);
    if (!f)
        return false;
    put_title(f, version, page, "3", "Lazuli API");
    fprintf(f, ".SH NAME\n%s \\- ", page);
    put_roff(f, h->title);
    fprintf(f, "\n.SH SYNOPSIS\n.nf\n\\fB#include <lazuli/%s>\\fP\n.fi\n.SH DESCRIPTION\n",
            h->name);
    put_text(f, h->text, true);
    for (uint32_t i = 0; i < h->blocks.len; i++) {
        const block *b = &h->blocks.data[i];
        bool heading = i && b[-1].kind == BLOCK_SECTION && !*b[-1].text; /* just before */
        if (b->kind == BLOCK_SECTION) {
            fputs(".SS ", f);
            put_roff(f, b->title);
            putc('\n', f);
            put_text(f, b->text, true);
        } else if (b->kind == BLOCK_NOTE)
            put_text(f, b->text, heading);
        else if (first_name(b))
            for (uint32_t k = 0; k < b->decls.len; k++) {
                const decl *d = &b->decls.data[k];
                if (d->kind == DECL_FUNC || d->kind == DECL_ALIAS) {
                    fprintf(f, ".TP\n.BR %s (3)\n", d->name);
                    put_roff(f, first_sentence(b->text));
                    putc('\n', f);
                }
            }
        else {
            fputs(heading ? ".nf\n" : ".PP\n.nf\n", f);
            for (uint32_t k = 0; k < b->decls.len; k++)
                put_signature(f, signature(a, &b->decls.data[k], false));
            fputs(".fi\n", f);
            put_text(f, b->text, false);
        }
    }
    return fclose(f) == 0;
}

bool api_man(const api *a, const char *version, const char *dir)
{
    bool ok = true;
    for (uint32_t h = 0; h < a->headers.len; h++) {
        const header *hd = &a->headers.data[h];
        ok = write_header(a, hd, version, dir) && ok;
        for (uint32_t b = 0; b < hd->blocks.len; b++)
            if (hd->blocks.data[b].kind == BLOCK_DECLS)
                ok = write_block(a, hd, &hd->blocks.data[b], version, dir) && ok;
    }
    return ok;
}

/* ---- lazuli.7 ---- */

static const header *find_header(const api *a, const char *name)
{
    for (uint32_t i = 0; i < a->headers.len; i++)
        if (strcmp(a->headers.data[i].name, name) == 0)
            return &a->headers.data[i];
    return NULL;
}

bool api_overview(const api *a, const char *version)
{
    const header *model = find_header(a, "tensor.h");
    if (!model)
        return false;
    put_title(stdout, version, "lazuli", "7", "Lazuli");
    puts(".SH NAME\nlazuli \\- lazy\\-tensor engine for C\n"
         ".SH SYNOPSIS\n.nf\n\\fB#include <lazuli/lazuli.h>\\fP\n.sp\n"
         "cc prog.c $(pkg\\-config \\-\\-cflags \\-\\-libs lazuli)\n.fi\n"
         ".SH DESCRIPTION\n"
         "Tensor operations are traced into a graph. At each step the graph is optimised, fused "
         "and compiled by LLVM for CPUs or NVIDIA GPUs, once ever: compiled programs are cached in "
         "memory and on disk, and run asynchronously.");
    put_text(stdout, model->text, false);
    puts(".SH HEADERS\nEach has a page with its functions by subject, and each function has one.");
    for (uint32_t i = 0; i < a->headers.len; i++) {
        const header *h = &a->headers.data[i];
        if (strcmp(h->name, "lazuli.h") == 0)
            continue;
        printf(".TP\n.BR lazuli_%s (3)\n", h->name);
        put_roff(stdout, h->title);
        putchar('\n');
    }
    puts(".SH FILES\n.TP\n\\fI~/.cache/lazuli\\fP\n"
         "compiled programs, unless LAZULI_CACHE_DIR says another folder\n"
         ".SH ENVIRONMENT\nThe variables are listed in\n.BR lazuli (1).\n"
         ".SH SEE ALSO\n.BR lazuli (1),\n.BR lazuli_lazuli.h (3)");
    return true;
}

/* ---- lazuli.1 ---- */

static void put_commands(const char *help)
{
    while (*help) {
        size_t n = strcspn(help, "\n");
        const char *line = keep_n(help, n);
        if (strncmp(line, "  lazuli ", 9) == 0) {
            const char *word = line + 9;
            size_t len = strcspn(word, " ");
            fputs(".TP\n\\fBlazuli ", stdout);
            put_roff(stdout, keep_n(word, len));
            fputs("\\fP", stdout);
            put_roff(stdout, word + len);
            putchar('\n');
        } else if (n && *line == ' ') {
            put_roff(stdout, line + strspn(line, " "));
            putchar('\n');
        }
        help += n + (help[n] == '\n');
    }
}

static void put_environment(void)
{
    const char *env, *type, *def, *doc;
    for (int i = 0; lz_config_row(i, &env, &type, &def, &doc); i++) {
        printf(".TP\n\\fB%s\\fP  (%s", env, type);
        if (*def) {
            fputs(", default ", stdout);
            put_roff(stdout, def);
        }
        puts(")");
        put_roff(stdout, doc);
        putchar('\n');
    }
}

bool command_man(const char *version, const char *path)
{
    const char *help = read_all(path);
    if (!help || !*help)
        return false;
    put_title(stdout, version, "lazuli", "1", "Lazuli");
    puts(".SH NAME\nlazuli \\- run and compile StableHLO programs, look after the compilation "
         "cache\n"
         ".SH SYNOPSIS\n\\fBlazuli\\fP \\fICOMMAND\\fP [\\fIARGUMENT\\fP ...]\n"
         ".br\n\\fBlazuli help\\fP [\\fICOMMAND\\fP]\n"
         ".SH COMMANDS");
    put_commands(help);
    puts(".SH EXIT STATUS\n0: fine. 1: what was asked about is wrong, or failed. 2: the command "
         "line is wrong.\n"
         ".SH ENVIRONMENT\nA bool is true, on, yes, false, off, no or a number, of which 0 is "
         "false.");
    put_environment();
    puts(".SH SEE ALSO\n.BR lazuli (7)");
    return true;
}
