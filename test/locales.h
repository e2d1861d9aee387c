/* locales.h - locales whose numbers or letters differ from those of C, made with localedef in the
 * test's own folder where the machine does not have them. */
#ifndef LZ_TEST_LOCALES_H
#define LZ_TEST_LOCALES_H
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A comma for the decimal point and a point in groups of digits; letters beyond ASCII in one byte;
 * an i whose capital is no I. */
static const char *const lz_test_locales[] = {"de_DE.UTF-8", "tr_TR.UTF-8", "de_DE.ISO-8859-1",
                                              "tr_TR.ISO-8859-9"};
enum { LZ_TEST_LOCALES = sizeof lz_test_locales / sizeof *lz_test_locales };

/* The program's locale from now on; false: the machine cannot have it. */
static inline bool lz_test_set_locale(const char *name)
{
    char folder[300], command[1000];
    const char *tmp = getenv("TMPDIR");
    if (setlocale(LC_ALL, name))
        return true;
    snprintf(folder, sizeof folder, "%s/locales-%ld", tmp ? tmp : "/tmp", (long)getpid());
    snprintf(command, sizeof command,
             "n=%s d='%s'; mkdir -p \"$d\" && "
             "localedef -i ${n%%.*} -f ${n#*.} \"$d/$n\" >\"$d/log\" 2>&1",
             name, folder);
    if (system(command) != 0 || setenv("LOCPATH", folder, 1) != 0)
        return false;
    return setlocale(LC_ALL, name) != NULL;
}
#endif
