/* dir.c - the order of places, and why there may be none. Never /tmp by itself: in a directory that
 * everybody can write to, the first to make the name owns the cache of all others. */
#include "cache/dir.h"
#include "base/config.h"
#include "base/env.h"
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

static bool given(const char *s)
{
    return s && *s;
}

/* A relative path counts from the folder the program is in now. */
static lz_status put_absolute(lz_buf *out, const char *path)
{
    if (path[0] != '/') {
        char cwd[PATH_MAX];
        if (!getcwd(cwd, sizeof cwd))
            return LZ_FAIL(LZ_EUNAVAILABLE,
                           "persistent cache: off, %s is relative to a folder that is gone", path);
        lz_buf_puts(out, cwd);
        lz_buf_putc(out, '/');
    }
    lz_buf_puts(out, path);
    return LZ_OK;
}

lz_status lz_dir_choose(const lz_dir_env *e, lz_buf *out)
{
    if (e->off)
        return LZ_FAIL(LZ_EUNAVAILABLE, "persistent cache: switched off by LAZULI_CACHE");
    if (e->secure)
        return LZ_FAIL(LZ_EUNAVAILABLE,
                       "persistent cache: off, the program runs with raised privileges");
    if (given(e->given))
        LZ_TRY(put_absolute(out, e->given));
    else if (given(e->xla))
        LZ_TRY(put_absolute(out, e->xla));
    else if (given(e->lazuli))
        LZ_TRY(put_absolute(out, e->lazuli));
    else if (e->xdg && e->xdg[0] == '/')
        lz_buf_printf(out, "%s/lazuli", e->xdg);
    else if (e->home && e->home[0] == '/')
        lz_buf_printf(out, "%s/.cache/lazuli", e->home);
    else if (e->pw_home && e->pw_home[0] == '/')
        lz_buf_printf(out, "%s/.cache/lazuli", e->pw_home);
    else
        return LZ_FAIL(LZ_EUNAVAILABLE,
                       "persistent cache: off, no home directory is known; set LAZULI_CACHE_DIR");
    if (out->failed)
        return LZ_FAIL(LZ_EMEM, "persistent cache: no memory for its path");
    /* with a trailing slash the system would follow a symlink in the last component */
    while (out->len > 1 && out->data[out->len - 1] == '/')
        out->data[--out->len] = '\0';
    return LZ_OK;
}

lz_status lz_dir_default(const char *program_path, lz_buf *out)
{
    lz_dir_env e = {
        .secure = lz_env_is_foreign(),
        .off = !lz_cfg_bool(LZ_OPT_CACHE),
        .given = program_path,
        .xla = lz_cfg_str(LZ_OPT_PERSISTENT_CACHE_PATH),
        .lazuli = lz_cfg_str(LZ_OPT_CACHE_DIR),
        .xdg = lz_env_get("XDG_CACHE_HOME"),
        .home = lz_env_get("HOME"),
    };
    char buf[4096];
    struct passwd pw, *found = NULL;
    bool have = given(e.given) || given(e.xla) || given(e.lazuli) || (e.xdg && e.xdg[0] == '/') ||
                (e.home && e.home[0] == '/');
    if (!have && !e.off && getpwuid_r(geteuid(), &pw, buf, sizeof buf, &found) == 0 && found)
        e.pw_home = found->pw_dir;
    return lz_dir_choose(&e, out);
}
