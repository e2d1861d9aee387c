/* atengen.c - writes docs/reference/core_aten.md from ops/core_aten.def and ops/torch_names.def:
 * atengen doc, in the root of the tree. Refuses a row whose function is not in abi/exports.txt or
 * whose test does not name it, and one that says that there is none when there is. */
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

/* ---- torch's public functions ---- */

typedef enum kind { MODULE, SAME, OTHER, NOT } kind;
typedef struct list {
    kind kind;
    const char *names, *fn, *text; /* of a module: its name and its prefix */
} list;
static const list names[] = {
#define LZ_TORCH_MODULE(module, prefix) {MODULE, module, prefix, NULL},
#define LZ_TORCH(list) {SAME, list, NULL, NULL},
#define LZ_TORCH_AS(torch, function, note) {OTHER, torch, #function, note},
#define LZ_TORCH_NOT(list, reason) {NOT, list, NULL, reason},
#include "ops/torch_names.def"
};
enum { NUM_NAMES = sizeof names / sizeof *names };

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

static int exported(const char *exports, const char *prefix, const char *fn, size_t n)
{
    char text[160];
    snprintf(text, sizeof text, "lz_%s%.*s_at", prefix, (int)n, fn);
    if (has_line(exports, text))
        return 1;
    text[strlen(text) - 3] = 0;
    return has_line(exports, text);
}

/* Calls `each` for every name of the list, which blanks separate: the sum of what it gives. */
static int for_each(const char *text, int (*each)(const char *s, size_t n, const void *more),
                    const void *more)
{
    int sum = 0;
    for (const char *s = text; *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        sum += each(s, n, more);
        s += n;
    }
    return sum;
}

static const char *exports, *prefix; /* of the module */

static int count_one(const char *s, size_t n, const void *more)
{
    (void)s, (void)n, (void)more;
    return 1;
}

/* Whether a row of this kind is wrong about the name. */
static int wrong(const char *s, size_t n, const void *kind_of_row)
{
    int is_there = exported(exports, "", s, n) || exported(exports, prefix, s, n);
    int bad = is_there != (*(const kind *)kind_of_row == SAME);
    if (bad)
        fprintf(stderr, "atengen: %.*s: there is %s function of the name\n", (int)n, s,
                is_there ? "a" : "no");
    return bad;
}

static int print_name(const char *s, size_t n, const void *first)
{
    printf("%s`%.*s`", s == first ? "" : ", ", (int)n, s);
    return 0;
}

static int check_names(int count[4])
{
    int bad = 0;
    for (const list *r = names; r < names + NUM_NAMES; r++) {
        if (r->kind == MODULE) {
            prefix = r->fn;
        } else if (r->kind == OTHER) {
            bad |= wrong(r->fn, strlen(r->fn), &(kind){SAME});
            bad |= wrong(r->names, strlen(r->names), &(kind){NOT});
        } else {
            bad |= for_each(r->names, wrong, &r->kind);
        }
        count[r->kind] += for_each(r->names, count_one, NULL);
    }
    return bad;
}

static void print_names(const int count[4])
{
    static const char *const heads[] = {[OTHER] = "| torch | here | |\n|---|---|---|\n",
                                        [NOT] = "| not there | instead |\n|---|---|\n"};
    printf("\n## torch's public functions\n\nThose on tensors of PyTorch 2.7, from "
           "[torch_names.def](../../ops/torch_names.def): of %d, %d have their own name here, %d "
           "another one, %d are not there.\nNot counted: in-place forms, and what configures "
           "torch.\n",
           count[SAME] + count[OTHER] + count[NOT], count[SAME], count[OTHER], count[NOT]);
    for (const list *r = names; r < names + NUM_NAMES; r++) {
        int first = r == names || r[-1].kind != r->kind;
        if (r->kind == MODULE)
            printf("\n### %s\n", r->names);
        else if (r->kind == SAME)
            printf("%s", first ? "\n" : ",\n");
        else if (first)
            printf("\n%s", heads[r->kind]);
        if (r->kind == OTHER)
            printf("| `%s` | `lz_%s` | %s |\n", r->names, r->fn, r->text);
        if (r->kind == SAME || r->kind == NOT) {
            printf("%s", r->kind == NOT ? "| " : "");
            (void)for_each(r->names, print_name, r->names);
        }
        if (r->kind == NOT)
            printf(" | %s |\n", r->text);
        else if (r->kind == SAME && (r + 1 == names + NUM_NAMES || r[1].kind != SAME))
            printf("\n");
    }
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
    int count[4] = {0};
    char *all = read_all("abi/exports.txt");
    exports = all;
    if (argc != 2 || strcmp(argv[1], "doc") != 0 || !exports)
        return 1;
    for (int i = 0; i < NUM_ROWS; i++)
        if (rows[i].op) {
            bad |= check(&rows[i], exports);
            total++;
            served += *rows[i].fn != 0;
        }
    bad |= check_names(count);
    free(all);
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
    print_names(count);
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
