/* main.c - apidoc, a program of the build: tools/apidoc.sh runs it.
 *   apidoc stubs HEADER...                       on standard output what the preprocessor is to
 *                                                expand
 *   apidoc check EXPANDED EXPORTS HEADER...      complains about exported functions and options
 *                                                without a comment
 *   apidoc calls EXPANDED HEADER...              on standard output a program that calls each macro
 *   apidoc html EXPANDED VERSION HEADER...       one page, on standard output
 *   apidoc man EXPANDED VERSION DIR HEADER...    man pages of section 3 in DIR
 *   apidoc overview EXPANDED VERSION HEADER...   the page lazuli(7), on standard output
 *   apidoc command VERSION HELP                  the man page of the command, from the file HELP:
 *                                                what `lazuli --help` prints */
#include "tools/apidoc/apidoc.h"
#include <stdio.h>
#include <string.h>

static bool scan_all(api *a, int n, char **paths)
{
    bool ok = n > 0;
    for (int i = 0; i < n; i++)
        ok = api_scan(a, paths[i]) && ok;
    return ok;
}

static void api_free(api *a)
{
    for (uint32_t h = 0; h < a->headers.len; h++) {
        header *hd = &a->headers.data[h];
        for (uint32_t b = 0; b < hd->blocks.len; b++) {
            for (uint32_t i = 0; i < hd->blocks.data[b].decls.len; i++)
                lz_vec_free(&hd->blocks.data[b].decls.data[i].params);
            lz_vec_free(&hd->blocks.data[b].decls);
        }
        for (uint32_t i = 0; i < hd->macros.len; i++)
            lz_vec_free(&hd->macros.data[i].params);
        lz_vec_free(&hd->blocks);
        lz_vec_free(&hd->macros);
    }
    for (uint32_t r = 0; r < a->records.len; r++)
        lz_vec_free(&a->records.data[r].fields);
    lz_vec_free(&a->headers);
    lz_vec_free(&a->records);
    pool_free();
}

static bool run(api *a, int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    if (strcmp(verb, "command") == 0 && argc == 4)
        return command_man(argv[2], argv[3]);
    if (strcmp(verb, "stubs") == 0 && argc > 2) {
        bool ok = scan_all(a, argc - 2, argv + 2);
        api_stubs(a);
        return ok;
    }
    int first = strcmp(verb, "man") == 0 ? 5 : strcmp(verb, "calls") == 0 ? 3 : 4;
    if (argc <= first || !scan_all(a, argc - first, argv + first) || !api_expand(a, argv[2]))
        return false;
    if (strcmp(verb, "calls") == 0)
        return api_calls(a);
    if (strcmp(verb, "check") == 0)
        return api_check(a, argv[3]);
    if (strcmp(verb, "html") == 0) {
        api_html(a, argv[3]);
        return true;
    }
    if (strcmp(verb, "overview") == 0)
        return api_overview(a, argv[3]);
    return strcmp(verb, "man") == 0 && api_man(a, argv[3], argv[4]);
}

int main(int argc, char **argv)
{
    api a = {0};
    bool ok = run(&a, argc, argv);
    if (ferror(stdout) || fflush(stdout))
        ok = false;
    api_free(&a);
    return ok ? 0 : 1;
}
