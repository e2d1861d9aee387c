/* atengen.c - writes docs/reference/core_aten.md from ops/core_aten.def: atengen doc, in the root
 * of the tree. Refuses a row whose function is not in abi/exports.txt or whose test does not name
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    const char *op, *fn, *dtypes, *gradient, *test, *note; /* op NULL: fn is a title */
} row;

static const row rows[] = {
#define LZ_ATEN_GROUP(title) {NULL, title, NULL, NULL, NULL, NULL},
#define LZ_ATEN(op, fn, dtypes, gradient, test, note) {op, #fn, dtypes, #gradient, test, note},
#include "ops/core_aten.def"
};
enum { NUM_ROWS = sizeof rows / sizeof *rows };

/* The whole file; NULL when there is none. */
static char *read_all(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    size_t n = 0, room = 1 << 21;
    char *s = malloc(room);
    if (s)
        n = fread(s, 1, room - 1, f);
    fclose(f);
    if (s)
        s[n] = 0;
    return s;
}

/* `name` as a whole line of text. */
static int has_line(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p += n)
        if ((p == text || p[-1] == '\n') && (p[n] == '\n' || p[n] == 0))
            return 1;
    return 0;
}

/* `name` as a word: letters and digits beside it belong to another one ("lz_" before it does
 * not). */
static int has_word(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p += n) {
        char after = p[n], before = p == text ? ' ' : p[-1];
        int lz = p >= text + 3 && strncmp(p - 3, "lz_", 3) == 0;
        int in_word = (before >= 'a' && before <= 'z') || before == '_';
        int longer = (after >= 'a' && after <= 'z') || (after >= '0' && after <= '9') ||
                     (after == '_' && strncmp(p + n, "_at", 3) != 0);
        if ((lz || !in_word) && !longer)
            return 1;
    }
    return 0;
}

static int check(const row *r, const char *exports)
{
    char name[160];
    if (!*r->fn)
        return 0;
    snprintf(name, sizeof name, "lz_%s_at", r->fn);
    if (!has_line(exports, name)) {
        fprintf(stderr, "atengen: %s: there is no function %s\n", r->op, name);
        return 1;
    }
    snprintf(name, sizeof name, "test/unit/%s.c", r->test);
    char *text = read_all(name);
    if (!text) {
        snprintf(name, sizeof name, "test/%s.c", r->test);
        text = read_all(name);
    }
    int bad = !text || !has_word(text, r->fn);
    if (bad)
        fprintf(stderr, "atengen: %s: %s does not test %s\n", r->op, name, r->fn);
    free(text);
    return bad;
}

static void print_row(const row *r)
{
    if (!*r->fn) {
        printf("| `%s` | **missing** | | | | %s |\n", r->op, r->note);
        return;
    }
    const char *dir = strncmp(r->test, "fault/", 6) == 0 ? "" : "unit/";
    printf("| `%s` | `lz_%s` | %s | %s | [%s](../../test/%s%s.c) | %s |\n", r->op, r->fn, r->dtypes,
           strcmp(r->gradient, "none") == 0 ? "-" : r->gradient, strrchr(r->test, '/') + 1, dir,
           r->test, r->note);
}

int main(int argc, char **argv)
{
    int served = 0, total = 0, bad = 0;
    char *exports = read_all("abi/exports.txt");
    if (argc != 2 || strcmp(argv[1], "doc") != 0 || !exports)
        return 1;
    for (int i = 0; i < NUM_ROWS; i++)
        if (rows[i].op) {
            bad |= check(&rows[i], exports);
            total++;
            served += *rows[i].fn != 0;
        }
    free(exports);
    if (bad)
        return 1;
    printf("<!-- Written by tools/opgen from ops/core_aten.def: edit that, then `make regen`. "
           "-->\n"
           "# The core ATen operators\n\n"
           "Which function serves each operator of ATen's core set (PyTorch 2.7, "
           "`torch.compiler_ir`, without its functions of "
           "symbolic sizes):\n"
           "%d of %d. In-place and `out` forms are the same function and `lz_assign`. What single "
           "operators mean is in the "
           "headers of\n"
           "`include/lazuli/`; what differs from ATen, in [semantics.md](semantics.md).\n\n"
           "* **dtypes** it takes; *others as f32*: integers and booleans are converted first.\n"
           "* **gradient**: yes, zero (nothing flows back) or - (the result has none).\n"
           "* **test**: where its values are compared; gradients are compared in "
           "`test/unit/autodiff/`.\n",
           served, total);
    for (int i = 0; i < NUM_ROWS; i++)
        if (rows[i].op)
            print_row(&rows[i]);
        else
            printf("\n## %s\n\n| operator | function | dtypes | gradient | test | "
                   "|\n|---|---|---|---|---|---|\n",
                   rows[i].fn);
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
