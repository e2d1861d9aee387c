/* envgen.c - prints docs/reference/env.md from base/config.def. A program of the build: `make
 * regen` runs it. */
#include "base/config.h"
#include <stdio.h>
#include <string.h>

/* In a Markdown table a bar would end the cell. */
static void cell(const char *s)
{
    for (; *s; s++)
        printf(*s == '|' ? "\\|" : "%c", *s);
}

static void rows(bool ours)
{
    const char *env, *type, *def, *doc;
    puts("| variable | type | default | meaning |\n|---|---|---|---|");
    for (int i = 0; lz_config_row(i, &env, &type, &def, &doc); i++) {
        if ((strncmp(env, "LAZULI_", 7) == 0) != ours)
            continue;
        printf("| `%s` | %s | ", env, type);
        printf(def[0] ? "`%s`" : "%s", def);
        printf(" | ");
        cell(doc);
        printf(" |\n");
    }
}

int main(void)
{
    puts("# Environment variables\n\n"
         "Generated from `base/config.def` by `make regen`. The library reads each variable once, "
         "at its first use; an\n"
         "empty value is the same as none. A value that does not parse, and an unknown `LAZULI_*` "
         "name, is warned about and\n"
         "ignored. `lazuli env` prints the values in force. A set-user-ID program ignores them "
         "all.\n\n"
         "A bool is `true`, `on`, `yes`, `false`, `off`, `no` or a number, of which 0 is false.\n\n"
         "## Lazuli's own\n");
    rows(true);
    puts("\n## Those that PyTorch/XLA users know\n");
    rows(false);
    puts("\n## Forms of generated code\n\n"
         "`LAZULI_VARIANTS=-col_reduction,+nontemporal` leaves a form out (`-`) or uses it "
         "wherever it is "
         "right, "
         "also where it does not\n"
         "pay (`+`). What is left out is done in a more general way. It is for finding out which "
         "form is wrong, or slow. These are\n"
         "forms of the CPU's code; on a GPU `digits` is the only one.\n\n"
         "| form | |\n|---|---|");
#define VARIANT(name, of, tried, doc) printf("| `%s` | %s |\n", #name, doc);
#include "codegen/variants.def"
    return 0;
}
