/* graph_profile.c - measured times of a program's launches, from the JSON that `lazuli profile`
 * writes. A row names its launch at its end: "dot_general 99% net.c:7 (fc1)  dot_general_add
 * 0b12fd59 program 1 step 2". Rows of a program are in the order of its launches. */
#include "base/text.h"
#include "data/json.h"
#include "tools/lazuli/graph.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    char *text;
    char kernel[9];
    uint64_t program, index;
    int64_t calls, ns, least_ns;
} row;
typedef struct rows {
    LZ_VEC(row) list;
    int64_t flop_s, byte_s;
} rows;

/* ---- launches of the plan ---- */

static lz_hash key_of(const lz_step *s)
{
    return lz_hash_bytes(&s, sizeof(const lz_step *));
}

static lz_status add_launch(graph *g, const lz_plan *p, const lz_step *s)
{
    graph_launch l = {.step = s, .top = p == g->plan, .kernel = "--------"};
    char hex[33];
    if (s->kind == LZ_STEP_KERNEL) {
        lz_hash_hex(p->kernels[s->kernel]->hash, hex);
        memcpy(l.kernel, hex, 8);
    }
    LZ_TRY(lz_vec_push(&g->launches, l));
    return lz_map_put(&g->launch_of, key_of(s), (void *)(uintptr_t)g->launches.len);
}

/* As deep as regions nest. */
static lz_status add_launches(graph *g, const lz_plan *p)
{
    for (uint32_t i = 0; i < p->nstep; i++)
        if (p->steps[i].kind == LZ_STEP_KERNEL || p->steps[i].kind == LZ_STEP_ROUTINE)
            LZ_TRY(add_launch(g, p, &p->steps[i]));
    for (uint32_t i = 0; i < p->nsub; i++)
        LZ_TRY(add_launches(g, p->subs[i]));
    return LZ_OK;
}

lz_status graph_find_launches(graph *g)
{
    return add_launches(g, g->plan);
}

void graph_free_launches(graph *g)
{
    lz_vec_free(&g->launches);
    lz_map_free(&g->launch_of);
}

const graph_launch *graph_launch_of(const graph *g, const lz_step *s)
{
    uintptr_t i = (uintptr_t)lz_map_get(&g->launch_of, key_of(s));
    return i ? &g->launches.data[i - 1] : NULL;
}

double graph_estimate(const graph *g, const lz_step *s)
{
    if (!(g->limits.flop_s > 0 && g->limits.byte_s > 0))
        return 0;
    double f = (double)s->flops / g->limits.flop_s, b = (double)s->bytes / g->limits.byte_s;
    return (f > b ? f : b) * 1e9;
}

/* ---- rows of the report ---- */

/* The number behind the last `word` of the text; *end: where the word begins. */
static bool number_at_end(const char *s, const char *end, const char *word, uint64_t *out,
                          const char **begin)
{
    size_t n = strlen(word);
    const char *digits = end;
    while (digits > s && lz_is_digit(digits[-1]))
        digits--;
    *begin = digits - n;
    return digits < end && (size_t)(digits - s) >= n && memcmp(*begin, word, n) == 0 &&
           lz_text_u64(digits, (size_t)(end - digits), 10, UINT32_MAX, out) == LZ_OK;
}

/* "...  0b12fd59 program 1 step 2" */
static bool place_of(const char *s, size_t n, row *r)
{
    const char *at;
    if (!number_at_end(s, s + n, " step ", &r->index, &at) ||
        !number_at_end(s, at, " program ", &r->program, &at) || at - s < 8)
        return false;
    memcpy(r->kernel, at - 8, 8);
    r->kernel[8] = '\0';
    return true;
}

static lz_status read_row(lz_json *j, rows *out)
{
    char key[32], text[2048];
    size_t n, len = 0, item = 0;
    bool whole;
    row r = {0};
    if (!lz_json_want(j, '{'))
        return LZ_OK;
    while (lz_json_item(j, '}', &item)) {
        if (!lz_json_short(j, key, sizeof key, &n) || !lz_json_want(j, ':'))
            return LZ_OK;
        int64_t *to = strcmp(key, "calls") == 0      ? &r.calls
                      : strcmp(key, "ns") == 0       ? &r.ns
                      : strcmp(key, "least_ns") == 0 ? &r.least_ns
                                                     : NULL;
        if (strcmp(key, "step") == 0)
            (void)lz_json_short(j, text, sizeof text, &len);
        else if (to)
            (void)lz_json_number(j, to, &whole);
        else
            (void)lz_json_skip(j);
    }
    /* one that is longer has lost its end */
    if (j->why || !len || len >= sizeof text || !place_of(text, len, &r) || r.calls <= 0)
        return LZ_OK;
    r.text = lz_strdup(text);
    if (r.text && lz_vec_push(&out->list, r) == LZ_OK)
        return LZ_OK;
    lz_free(r.text);
    return LZ_FAIL(LZ_EMEM, "no memory for a profile");
}

static lz_status read_rows(lz_json *j, rows *out)
{
    size_t item = 0;
    if (!lz_json_want(j, '['))
        return LZ_OK;
    while (lz_json_item(j, ']', &item))
        LZ_TRY(read_row(j, out));
    return LZ_OK;
}

static lz_status read_report(const char *text, size_t n, const char *name, rows *out)
{
    lz_json j = lz_json_of(text, n);
    char key[32];
    size_t len, item = 0;
    bool whole;
    if (lz_json_want(&j, '{'))
        while (lz_json_item(&j, '}', &item)) {
            if (!lz_json_short(&j, key, sizeof key, &len) || !lz_json_want(&j, ':'))
                break;
            if (strcmp(key, "steps") == 0)
                LZ_TRY(read_rows(&j, out));
            else if (strcmp(key, "flop_s") == 0)
                (void)lz_json_number(&j, &out->flop_s, &whole);
            else if (strcmp(key, "byte_s") == 0)
                (void)lz_json_number(&j, &out->byte_s, &whole);
            else
                (void)lz_json_skip(&j);
        }
    (void)lz_json_finish(&j);
    return lz_json_status(&j, name);
}

/* ---- which launch a row is of ---- */

static int by_place(const void *x, const void *y)
{
    const row *a = x, *b = y;
    if (a->program != b->program)
        return a->program < b->program ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* ---- what a row says of the operation ---- */

/* The text "net.c:7" of n bytes. */
static const lz_site *site_of(lz_func *f, const char *s, size_t n)
{
    uint64_t line;
    size_t colon = n;
    while (colon > 0 && s[colon - 1] != ':')
        colon--;
    if (colon < 2 || lz_text_u64(s + colon, n - colon, 10, INT32_MAX, &line) != LZ_OK)
        return NULL;
    lz_site *site = lz_arena_alloc(&f->arena, sizeof *site);
    const char *file = lz_string_get(s, colon - 1);
    if (!site || !file)
        return NULL;
    *site = (lz_site){.file = file, .line = (int)line};
    return site;
}

/* "dot_general 99% net.c:7 (fc1)  ..": gives it the costliest node of a step, if that has nothing.
 * Without memory, it goes without. */
static void give_origin(graph *g, const graph_launch *l, const char *text)
{
    const lz_step *s = l->step;
    const char *at = strstr(text, "% ");
    lz_inst *in = l->top && s->nnode && s->nodes[0].node < g->f->ninst
                      ? &g->f->insts[s->nodes[0].node]
                      : NULL;
    if (!at || !in || in->site || in->scope)
        return;
    at += 2;
    const char *end = strstr(at, "  ");
    size_t n = end ? (size_t)(end - at) : strlen(at), place = 0;
    while (place < n && !(at[place] == '(' && (place == 0 || at[place - 1] == ' ')))
        place++;
    if (place < n && at[n - 1] == ')')
        in->scope = lz_string_get(at + place + 1, n - place - 2);
    while (place > 0 && at[place - 1] == ' ')
        place--;
    in->site = site_of(g->f, at, place);
}

/* Those of one program, in order; how many there are of this one. With `take` launches get them. */
static uint32_t match(graph *g, const row *r, uint32_t n, bool take)
{
    uint32_t at = 0, found = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = at;
        while (k < g->launches.len && strcmp(g->launches.data[k].kernel, r[i].kernel) != 0)
            k++;
        if (k == g->launches.len)
            continue; /* of another program, or it is not in the report: go on where we were */
        graph_launch *l = &g->launches.data[k];
        if (take) {
            l->calls = r[i].calls;
            l->ns = (double)r[i].ns / (double)r[i].calls;
            l->least_ns = (double)r[i].least_ns / (double)r[i].calls;
            give_origin(g, l, r[i].text);
        }
        at = k + 1;
        found++;
    }
    return found;
}

static lz_status match_best(graph *g, rows *r, const char *name)
{
    uint32_t best = 0, from = 0, count = 0;
    if (r->list.len)
        qsort(r->list.data, r->list.len, sizeof *r->list.data, by_place);
    for (uint32_t i = 0, end; i < r->list.len; i = end) {
        end = i + 1;
        while (end < r->list.len && r->list.data[end].program == r->list.data[i].program)
            end++;
        uint32_t found = match(g, &r->list.data[i], end - i, false);
        if (found > best) {
            best = found;
            from = i;
            count = end - i;
        }
    }
    if (2 * (uint64_t)best < g->launches.len || best == 0)
        return LZ_FAIL(LZ_ENOENT, "%s has no run of this program: of its %u launches it has %u",
                       name, g->launches.len, best);
    (void)match(g, &r->list.data[from], count, true);
    lz_plan_find_nodes(g->plan, g->f);
    g->measured = true;
    return LZ_OK;
}

lz_status graph_read_profile(graph *g, const char *text, size_t n, const char *name)
{
    rows r = {0};
    lz_status s = read_report(text, n, name, &r);
    if (s == LZ_OK)
        s = match_best(g, &r, name);
    if (s == LZ_OK)
        g->limits = (lz_cpu_limits){(double)r.flop_s, (double)r.byte_s};
    for (uint32_t i = 0; i < r.list.len; i++)
        lz_free(r.list.data[i].text);
    lz_vec_free(&r.list);
    return s;
}
