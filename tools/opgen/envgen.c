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
    puts(
        "\n## Code variants\n\n"
        "A code variant is one way to generate a kernel. "
        "`LAZULI_VARIANTS=-col_reduction,+nontemporal` "
        "switches "
        "a\n"
        "variant off (`-`) or uses it wherever it is correct, also where the cost model would not\n"
        "(`+`). Without it a more general variant is generated. This finds out which one is wrong, "
        "or\n"
        "slow. They are variants of CPU code; on a GPU `radix_sort` is the only one.\n\n"
        "| variant | |\n|---|---|");
#define VARIANT(name, of, tried, doc) printf("| `%s` | %s |\n", #name, doc);
#include "codegen/variants.def"
    return 0;
}
