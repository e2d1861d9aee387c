/* locales.h - locales whose numbers or letters differ from those of C. main makes those that the
 * machine does not have, with localedef, and says which it cannot have; the tests take the others.
 */
#ifndef LZ_TEST_LOCALES_H
#define LZ_TEST_LOCALES_H
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A comma for the decimal point and a point in groups of digits; letters beyond ASCII in one byte;
 * an i whose capital is no I. */
static const char *const lz_test_locales[] = {"de_DE.UTF-8", "tr_TR.UTF-8", "de_DE.ISO-8859-1",
                                              "tr_TR.ISO-8859-9"};
enum { LZ_TEST_LOCALES = sizeof lz_test_locales / sizeof *lz_test_locales };

static struct {
    char folder[300];                  /* of those that were made; "": none yet */
    const char *name[LZ_TEST_LOCALES]; /* those that there are */
    bool made[LZ_TEST_LOCALES];        /* in the folder */
    int n;
} lz_test_have;

/* The program's locale from now on is the i-th of lz_test_have. */
static inline bool lz_test_set_locale(int i)
{
    if (lz_test_have.made[i] && setenv("LOCPATH", lz_test_have.folder, 1) != 0)
        return false;
    return setlocale(LC_ALL, lz_test_have.name[i]) != NULL;
}

static inline bool lz_test_make_locale(const char *name)
{
    char command[1000], *folder = lz_test_have.folder;
    const char *tmp = getenv("TMPDIR");
    if (!*folder) {
        snprintf(folder, sizeof lz_test_have.folder, "%s/locales-XXXXXX", tmp ? tmp : "/tmp");
        if (!mkdtemp(folder))
            abort();
    }
    snprintf(command, sizeof command,
             "n=%s d='%s'; localedef -i ${n%%.*} -f ${n#*.} \"$d/$n\" >\"$d/log\" 2>&1", name,
             folder);
    return system(command) == 0;
}

/* In main, before any test: how many there are. The locale and the environment are as before. */
static inline int lz_test_make_locales(void)
{
    char *locale = strdup(setlocale(LC_ALL, NULL));
    const char *env = getenv("LOCPATH");
    char *path = env ? strdup(env) : NULL;
    for (int k = 0; k < LZ_TEST_LOCALES; k++) {
        int i = lz_test_have.n;
        const char *name = lz_test_locales[k];
        lz_test_have.name[i] = name;
        lz_test_have.made[i] = !setlocale(LC_ALL, name) && lz_test_make_locale(name);
        if (lz_test_set_locale(i))
            lz_test_have.n++;
        else
            printf("no locale %s here, and localedef cannot make it: its tests are left out\n",
                   name);
        if (path)
            setenv("LOCPATH", path, 1);
        else
            unsetenv("LOCPATH");
        setlocale(LC_ALL, locale);
    }
    free(path);
    free(locale);
    return lz_test_have.n;
}

/* At the end of main. */
static inline void lz_test_remove_locales(void)
{
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", lz_test_have.folder);
    if (*lz_test_have.folder && system(command) != 0)
        abort();
}
#endif
