/* visualize.c - pictures of shardings, of tensors and of HLO's strings. Threads: thread-safe. */
#include "shard/picture.h"
#include "base/config.h"
#include "base/terminal.h"
#include "runtime/exec/runtime_device.h"
#include "runtime/graph/handle.h"
#include "runtime/graph/node.h"
#include "runtime/spmd/mark.h"
#include <lazuli/device.h>
#include <lazuli/spmd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned flags(bool terminal)
{
    bool dumb = terminal && !lz_terminal_is(STDOUT_FILENO);
    unsigned f = lz_terminal_is_utf8() && !dumb ? 0 : LZ_PICTURE_ASCII;
    return f | (terminal && lz_terminal_has_colour(STDOUT_FILENO) ? LZ_PICTURE_COLOUR : 0);
}

/* ---- what is shown ---- */

static const char *platform(void)
{
    const char *name = lz_cfg_str(LZ_OPT_PJRT_DEVICE);
    const lz_backend *be = *name ? lz_backend_of(name) : lz_backend_at(0);
    return be ? be->name : name;
}

static lz_status of_text(const char *text, lz_picture *p)
{
    if (!text)
        return LZ_FAIL(LZ_ENULL, "the sharding is NULL");
    int n = strstr(text, "devices=") ? 0 : lz_device_count(platform()); /* else it says them */
    *p = (lz_picture){.device = platform()};
    p->s = lz_sharding_from_hlo(text, strlen(text), -1, n, NULL, 0);
    return p->s ? LZ_OK : lz_error_get()->status;
}

static lz_status of_tensor(lz_tensor *x, lz_picture *p)
{
    lz_node *n = lz_trace_node_of(x);
    if (!n)
        return lz_error_get()->status;
    const char *text = lz_mark_of(x);
    *p = (lz_picture){.type = lz_node_type(n), .device = platform()};
    if (text)
        p->s = lz_sharding_parse(text);
    else
        (void)LZ_FAIL(LZ_ESTATE, "the tensor has no sharding: it is not marked, and not computed");
    lz_node_release(n);
    return p->s ? LZ_OK : lz_error_get()->status;
}

/* ---- the interface ---- */

static size_t give(lz_status s, const lz_picture *p, bool svg, char *buf, size_t n)
{
    lz_buf out = {0};
    if (s == LZ_OK)
        s = svg ? lz_picture_svg(p, 1, &out) : lz_picture_table(p, flags(false), &out);
    if (s != LZ_OK)
        out.len = 0;
    return lz_api_text(&out, buf, n);
}

static lz_status print(lz_status s, const lz_picture *p)
{
    lz_buf out = {0};
    if (s == LZ_OK)
        s = lz_picture_table(p, flags(isatty(STDOUT_FILENO)), &out);
    if (s == LZ_OK)
        (void)fputs(lz_buf_str(&out), stdout);
    lz_buf_free(&out);
    return s;
}

lz_status lz_visualize_sharding(const char *sharding)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_picture p;
    lz_status s = print(of_text(sharding, &p), &p);
    if (s != LZ_OK)
        lz_error_annotate("lz_visualize_sharding", NULL);
    return s;
}

lz_status lz_visualize_tensor_sharding_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_picture p;
    lz_status s = print(of_tensor(x, &p), &p);
    if (s != LZ_OK)
        lz_error_annotate("lz_visualize_tensor_sharding", site);
    return s;
}

size_t lz_sharding_table(lz_tensor *x, char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_picture p;
    return give(of_tensor(x, &p), &p, false, buf, n);
}

size_t lz_sharding_svg(lz_tensor *x, char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_picture p;
    return give(of_tensor(x, &p), &p, true, buf, n);
}

size_t lz_sharding_text_table(const char *sharding, char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_picture p;
    return give(of_text(sharding, &p), &p, false, buf, n);
}

size_t lz_sharding_text_svg(const char *sharding, char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_picture p;
    return give(of_text(sharding, &p), &p, true, buf, n);
}
