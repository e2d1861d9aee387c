/* difference.c - see difference.h. Both graphs are nodes in post-order: the keys of capture.c are
 * taken apart again, with the signatures and lines that the program has kept. The first node that
 * is not alike is told; a parameter or constant of another type only when no operation says more,
 * and a value that is of another kind by who reads it. */
#include "runtime/debug/difference.h"
#include "ir/attr.h"
#include "runtime/exec/tensor_text.h"
#include <stdio.h>
#include <string.h>

/* A graph: the capture's, or the program's. */
typedef struct graph {
    const lz_capture *c; /* NULL: p's */
    const lz_program *p;
    const uint32_t *key, *end; /* words; `end`: behind those of the nodes */
    uint32_t n, nknown;        /* nodes; those whose notes there are */
    uint32_t *at;              /* per known node: its words in key */
} graph;

typedef struct node {
    const lz_sig *sig;
    const lz_site *site;
    bool leaf;           /* a parameter, whatever once computed it */
    const uint32_t *key; /* its words */
} node;

static node node_of(const graph *g, uint32_t i)
{
    if (!g->c)
        return (node){g->p->notes[i].sig, g->p->notes[i].site, g->p->notes[i].leaf,
                      g->key + g->at[i]};
    const lz_node *n = g->c->nodes.data[i];
    return (node){n->sig, n->site, g->c->notes.data[i].leaf != UINT32_MAX, g->key + g->at[i]};
}

/* ---- keys, as capture.c writes them ---- */

enum { KEY_LEAF, KEY_CONST, KEY_OP, TYPE_WORDS = 2, TAIL_WORDS = 4 };

static uint32_t words_of(const node *n)
{
    return n->key[0] == KEY_LEAF    ? 1 + TYPE_WORDS
           : n->key[0] == KEY_CONST ? 1 + TYPE_WORDS + LZ_NODE_IMM / 4
                                    : 1 + n->sig->nopnd;
}

/* false: no memory. */
static bool take_apart(graph *g)
{
    uint32_t at = 0;
    g->at = lz_alloc(((size_t)g->nknown + 1) * sizeof *g->at);
    for (uint32_t i = 0; g->at && i < g->nknown; i++) {
        g->at[i] = at;
        node n = node_of(g, i);
        at += words_of(&n);
    }
    g->end = g->nknown == g->n ? g->key + at : NULL;
    return g->at != NULL;
}

/* ---- texts ---- */

static const char *op_text(const node *n)
{
    return n->leaf ? "parameter" : lz_op_get(n->sig->op)->text;
}

static const char *site_text(const lz_site *s, char *buf, size_t n)
{
    buf[0] = '\0';
    if (s && s->file)
        snprintf(buf, n, " at %s:%d", s->file, s->line);
    return buf;
}

static const char *node_text(const node *n, char *buf, size_t room)
{
    char at[160];
    snprintf(buf, room, "%s%s", op_text(n), site_text(n->site, at, sizeof at));
    return buf;
}

static bool same_line(const lz_site *a, const lz_site *b)
{
    return a == b ||
           (a && b && a->line == b->line && a->file && b->file && strcmp(a->file, b->file) == 0);
}

/* "add at a.c:9 (then at a.c:3)": a node that both graphs have. */
static const char *both_text(const node *is, const node *was, char *buf, size_t room)
{
    char then[160];
    (void)node_text(is, buf, room);
    size_t n = strlen(buf);
    if (!same_line(is->site, was->site) && *site_text(was->site, then, sizeof then))
        snprintf(buf + n, room - n, " (then%s)", then);
    return buf;
}

static void tell(lz_difference *d, lz_difference_kind kind, const node *is, const node *was,
                 const char *text)
{
    d->kind = kind;
    d->is = is ? is->site : NULL;
    d->was = was ? was->site : NULL;
    snprintf(d->text, sizeof d->text, "%s", text);
}

static void attr_text(const lz_attr *a, char *buf, size_t n)
{
    lz_buf b = {0};
    lz_attr_print(&b, a);
    snprintf(buf, n, "%s", lz_buf_str(&b));
    lz_buf_free(&b);
}

/* The element of a constant. */
static void value_text(const node *n, char *buf, size_t room)
{
    _Alignas(16) unsigned char bytes[LZ_NODE_IMM];
    lz_buf b = {0};
    memcpy(bytes, n->key + 1 + TYPE_WORDS, sizeof bytes);
    lz_array_text(n->sig->result[0], bytes, 0, &b);
    snprintf(buf, room, "%s", lz_buf_str(&b));
    lz_buf_free(&b);
}

/* ---- nodes ---- */

static lz_difference_kind type_difference(const lz_type *is, const lz_type *was)
{
    return is->dtype != was->dtype ? LZ_DIFFERS_DTYPE : LZ_DIFFERS_SHAPE;
}

/* How two signatures of the same operation differ. */
static lz_difference_kind sig_difference(const lz_sig *is, const lz_sig *was, char *buf, size_t n)
{
    char a[160], b[160];
    if (is->nopnd != was->nopnd) {
        snprintf(buf, n, "%u operands, was %u", is->nopnd, was->nopnd);
        return LZ_DIFFERS_OPERAND;
    }
    for (uint32_t k = 0; k < is->nopnd; k++)
        if (is->opnd[k] != was->opnd[k]) {
            snprintf(buf, n, "operand %u is %s, was %s", k, lz_type_short(is->opnd[k], a, sizeof a),
                     lz_type_short(was->opnd[k], b, sizeof b));
            return type_difference(is->opnd[k], was->opnd[k]);
        }
    if (is->attr != was->attr && is->nopnd) {
        attr_text(is->attr, a, sizeof a);
        attr_text(was->attr, b, sizeof b);
        snprintf(buf, n, "%s, was %s", a, b);
        return LZ_DIFFERS_ATTRIBUTE;
    }
    snprintf(buf, n, "is %s, was %s", lz_type_short(is->result[0], a, sizeof a),
             lz_type_short(was->result[0], b, sizeof b));
    return type_difference(is->result[0], was->result[0]);
}

static bool same_op(const node *a, const node *b)
{
    return a->leaf == b->leaf && (a->leaf || a->sig->op == b->sig->op);
}

static bool same_sig(const node *a, const node *b)
{
    return same_op(a, b) && (a->leaf ? a->sig->result[0] == b->sig->result[0] : a->sig == b->sig);
}

/* It has no operands here: another operation that reads it says more. */
static bool is_source(const node *n)
{
    return n->leaf || n->sig->nopnd == 0;
}

/* The first operation behind node i that reads it; *k: as its k-th operand. UINT32_MAX: none. */
static uint32_t reader_of(const graph *g, uint32_t i, uint32_t *k)
{
    for (uint32_t at = i + 1; at < g->nknown; at++) {
        node n = node_of(g, at);
        if (n.key[0] < KEY_OP)
            continue;
        for (*k = 0; *k < n.sig->nopnd; (*k)++)
            if (n.key[1 + *k] == i)
                return at;
    }
    return UINT32_MAX;
}

/* Operand k of an operation that both graphs have. */
static void operand_difference(const graph *a, const graph *b, const node *is, const node *was,
                               uint32_t k, lz_difference_kind kind, lz_difference *d)
{
    char text[LZ_DIFFERENCE_TEXT], op[360], x[240], y[240];
    node now = node_of(a, is->key[1 + k]), then = node_of(b, was->key[1 + k]);
    snprintf(text, sizeof text, "%s: operand %u is %s, was %s", both_text(is, was, op, sizeof op),
             k, node_text(&now, x, sizeof x), node_text(&then, y, sizeof y));
    tell(d, kind, is, was, text);
}

/* Node i of both is not the same kind of node, and at least one is a parameter or a constant: the
 * operation that reads it is told, where both have it. */
static bool told_by_reader(const graph *a, const graph *b, uint32_t i, lz_difference *d)
{
    node x = node_of(a, i), y = node_of(b, i);
    uint32_t k = 0, l = 0, ra = is_source(&x) ? reader_of(a, i, &k) : i,
             rb = is_source(&y) ? reader_of(b, i, &l) : i;
    if (ra >= a->nknown || rb >= b->nknown)
        return false;
    node is = node_of(a, ra), was = node_of(b, rb);
    k = is_source(&x) ? k : l;
    if (!same_op(&is, &was) || is.key[0] < KEY_OP || was.key[0] < KEY_OP || k >= is.sig->nopnd ||
        k >= was.sig->nopnd)
        return false;
    operand_difference(a, b, &is, &was, k, LZ_DIFFERS_OPERAND, d);
    return true;
}

static void node_difference(const graph *a, const graph *b, uint32_t i, lz_difference *d)
{
    char text[LZ_DIFFERENCE_TEXT], op[360], what[400], x[240], y[240];
    node is = node_of(a, i), was = node_of(b, i);
    if (!same_op(&is, &was)) {
        if ((is_source(&is) || is_source(&was)) && told_by_reader(a, b, i, d))
            return;
        snprintf(text, sizeof text, "%s, was %s", node_text(&is, x, sizeof x),
                 node_text(&was, y, sizeof y));
        tell(d, LZ_DIFFERS_OPERATION, &is, &was, text);
        return;
    }
    lz_difference_kind kind;
    if (is.leaf) {
        snprintf(what, sizeof what, "is %s, was %s", lz_type_short(is.sig->result[0], x, sizeof x),
                 lz_type_short(was.sig->result[0], y, sizeof y));
        kind = type_difference(is.sig->result[0], was.sig->result[0]);
    } else {
        kind = sig_difference(is.sig, was.sig, what, sizeof what);
    }
    snprintf(text, sizeof text, "%s: %s", both_text(&is, &was, op, sizeof op), what);
    tell(d, kind, &is, &was, text);
}

/* The first node whose signature differs. */
static bool by_nodes(const graph *a, const graph *b, uint32_t len, lz_difference *d)
{
    uint32_t at = len, source = len;
    for (uint32_t i = 0; i < len && at == len; i++) {
        node is = node_of(a, i), was = node_of(b, i);
        if (same_sig(&is, &was))
            continue;
        if (same_op(&is, &was) && is_source(&is)) {
            if (source == len)
                source = i;
        } else {
            at = i;
        }
    }
    at = at == len ? source : at;
    if (at < len)
        node_difference(a, b, at, d);
    return at < len;
}

/* The same signatures: the first constant that is another number, or operand that is another
 * value. */
static bool by_values(const graph *a, const graph *b, uint32_t len, lz_difference *d)
{
    char text[LZ_DIFFERENCE_TEXT], op[360], x[80], y[80];
    for (uint32_t i = 0; i < len; i++) {
        node is = node_of(a, i), was = node_of(b, i);
        uint32_t words = words_of(&is);
        if (words != words_of(&was) || memcmp(is.key, was.key, words * sizeof *is.key) == 0)
            continue;
        if (is.key[0] == KEY_CONST) {
            value_text(&is, x, sizeof x);
            value_text(&was, y, sizeof y);
            snprintf(text, sizeof text, "%s: is %s, was %s", both_text(&is, &was, op, sizeof op), x,
                     y);
            tell(d, LZ_DIFFERS_CONSTANT, &is, &was, text);
            return true;
        }
        for (uint32_t k = 0; is.key[0] >= KEY_OP && k < is.sig->nopnd; k++)
            if (is.key[1 + k] != was.key[1 + k]) {
                operand_difference(a, b, &is, &was, k, LZ_DIFFERS_CONNECTION, d);
                return true;
            }
    }
    return false;
}

static bool by_count(const graph *a, const graph *b, uint32_t len, lz_difference *d)
{
    char text[LZ_DIFFERENCE_TEXT], x[240];
    const graph *longer = a->n > b->n ? a : b;
    if (a->n == b->n)
        return false;
    uint32_t more = longer->n - (a->n > b->n ? b->n : a->n);
    node first = {0};
    bool known = len < longer->nknown;
    if (known)
        first = node_of(longer, len);
    snprintf(text, sizeof text, "%u operations %s%s%s", more, longer == a ? "more" : "fewer",
             known ? ", the first is " : "", known ? node_text(&first, x, sizeof x) : "");
    tell(d, LZ_DIFFERS_OPERATION, known && longer == a ? &first : NULL,
         known && longer == b ? &first : NULL, text);
    return true;
}

/* ---- what is behind the nodes ---- */

typedef struct tail {
    const uint32_t *becomes, *roots, *donate, *device;
    uint32_t nbecome, nroot, ndonate;
} tail;

static uint32_t leaves_of(const graph *g)
{
    return g->c ? g->c->leaves.len : g->p->nparam;
}

static tail tail_of(const graph *g)
{
    const uint32_t *end = g->key + (g->c ? g->c->key.len : g->p->nkey) - TAIL_WORDS;
    tail t = {.device = end + 2,
              .nroot = g->c ? g->c->roots.len : g->p->nroot,
              .ndonate = (leaves_of(g) + 31) / 32};
    t.donate = end - t.ndonate;
    t.roots = t.donate - t.nroot;
    t.becomes = g->end;
    t.nbecome = (uint32_t)(t.roots - t.becomes);
    return t;
}

static bool has(const uint32_t *roots, uint32_t n, uint32_t i)
{
    while (n && roots[n - 1] != i)
        n--;
    return n > 0;
}

/* The first of the n roots that the others do not have. */
static uint32_t only_in(const uint32_t *roots, uint32_t n, const uint32_t *others, uint32_t nother)
{
    enum { MOST = 4096 };
    for (uint32_t i = 0; i < n && i < MOST; i++)
        if (!has(others, nother < MOST ? nother : MOST, roots[i]))
            return roots[i];
    return UINT32_MAX;
}

static bool by_results(const graph *a, const graph *b, const tail *ta, const tail *tb,
                       lz_difference *d)
{
    char text[LZ_DIFFERENCE_TEXT], x[360];
    if (ta->nroot == tb->nroot && memcmp(ta->roots, tb->roots, ta->nroot * sizeof *ta->roots) == 0)
        return false;
    uint32_t more = only_in(ta->roots, ta->nroot, tb->roots, tb->nroot),
             fewer = only_in(tb->roots, tb->nroot, ta->roots, ta->nroot),
             at = more != UINT32_MAX ? more : fewer;
    if (at == UINT32_MAX) {
        snprintf(text, sizeof text, "%u results, was %u, or their order", ta->nroot, tb->nroot);
        tell(d, LZ_DIFFERS_RESULTS, NULL, NULL, text);
        return true;
    }
    node is = node_of(a, at), was = node_of(b, at);
    snprintf(text, sizeof text, "%s: %s (%u results, was %u)", both_text(&is, &was, x, sizeof x),
             more != UINT32_MAX ? "is a result, was none" : "is no result, was one", ta->nroot,
             tb->nroot);
    tell(d, LZ_DIFFERS_RESULTS, &is, &was, text);
    return true;
}

/* Leaf number `leaf`, node i of both, is donated in one of them. Who reads it is told, since it may
 * have been made in one place. */
static void tell_donation(const graph *a, const graph *b, uint32_t i, uint32_t leaf, bool now,
                          lz_difference *d)
{
    char text[LZ_DIFFERENCE_TEXT], op[360], x[240], type[160];
    uint32_t k, ra = reader_of(a, i, &k), rb = reader_of(b, i, &k);
    node leaf_is = node_of(a, i), is = leaf_is, was = node_of(b, i);
    if (ra < a->nknown && rb < b->nknown) {
        is = node_of(a, ra);
        was = node_of(b, rb);
    }
    snprintf(text, sizeof text, "%s: input %u, %s, %s, is %sdonated, was %s",
             both_text(&is, &was, op, sizeof op), leaf, node_text(&leaf_is, x, sizeof x),
             lz_type_short(leaf_is.sig->result[0], type, sizeof type), now ? "" : "not ",
             now ? "not" : "donated");
    tell(d, LZ_DIFFERS_DONATION, &is, &was, text);
}

static bool by_donation(const graph *a, const graph *b, const tail *ta, const tail *tb,
                        uint32_t len, lz_difference *d)
{
    uint32_t leaf = 0;
    for (uint32_t i = 0; i < len; i++) {
        if (!node_of(a, i).leaf)
            continue;
        bool now = ta->donate[leaf / 32] >> leaf % 32 & 1,
             then = tb->donate[leaf / 32] >> leaf % 32 & 1;
        if (now != then) {
            tell_donation(a, b, i, leaf, now, d);
            return true;
        }
        leaf++;
    }
    return false;
}

static const char *device_of(const uint32_t *words, char *buf, size_t n)
{
    uintptr_t p = (uintptr_t)(words[0] | (uint64_t)words[1] << 32);
    const lz_dev *d;
    for (uint32_t i = 0; (d = lz_dev_at(i)); i++)
        if ((uintptr_t)d == p || (uintptr_t)d->be == p) {
            snprintf(buf, n, "%s", (uintptr_t)d == p ? d->name : d->be->name);
            return buf;
        }
    return "another device";
}

static void by_options(const graph *a, const graph *b, const tail *ta, const tail *tb,
                       lz_difference *d)
{
    char text[LZ_DIFFERENCE_TEXT], x[64], y[64];
    node is = a->nknown ? node_of(a, a->nknown - 1) : (node){0},
         was = b->nknown ? node_of(b, b->nknown - 1) : (node){0};
    if (memcmp(ta->device, tb->device, 2 * sizeof *ta->device) != 0) {
        char op[360] = "the graph";
        if (a->nknown && b->nknown)
            (void)both_text(&is, &was, op, sizeof op);
        snprintf(text, sizeof text, "%s: is compiled for %s, was for %s", op,
                 device_of(ta->device, x, sizeof x), device_of(tb->device, y, sizeof y));
        tell(d, LZ_DIFFERS_OPTIONS, &is, &was, text);
    } else if (b->p->placement || ta->nbecome != tb->nbecome ||
               memcmp(ta->becomes, tb->becomes, ta->nbecome * sizeof *ta->becomes) != 0) {
        tell(d, LZ_DIFFERS_OPTIONS, &is, &was,
             "the same graph, but its inputs are elsewhere on the mesh, or stay elsewhere");
    } else {
        tell(d, LZ_DIFFERS_NONE, NULL, NULL, "the same graph: its program is not in memory");
    }
}

static void compare(const graph *a, const graph *b, lz_difference *d)
{
    uint32_t len = a->nknown < b->nknown ? a->nknown : b->nknown;
    if (by_nodes(a, b, len, d) || by_count(a, b, len, d) || by_values(a, b, len, d))
        return;
    if (!a->end || !b->end || leaves_of(a) != leaves_of(b)) {
        tell(d, LZ_DIFFERS_OPERATION, NULL, NULL,
             "it differs behind the operations that are remembered");
        return;
    }
    tail ta = tail_of(a), tb = tail_of(b);
    if (!by_results(a, b, &ta, &tb, d) && !by_donation(a, b, &ta, &tb, len, d))
        by_options(a, b, &ta, &tb, d);
}

void lz_difference_from(const lz_capture *c, const lz_program *p, lz_difference *out)
{
    graph a = {.c = c, .key = c->key.data, .n = c->nodes.len, .nknown = c->nodes.len},
          b = {.p = p, .key = p->key, .n = p->nnode, .nknown = p->nnote};
    *out = (lz_difference){.nearest = p->hash};
    bool ok = take_apart(&a), also = take_apart(&b);
    if (ok && also)
        compare(&a, &b, out);
    else
        tell(out, LZ_DIFFERS_OPERATION, NULL, NULL, "no memory to compare it");
    lz_free(a.at);
    lz_free(b.at);
}

/* ---- the nearest known graph ---- */

typedef struct nearest {
    const lz_capture *c;
    lz_program *best;     /* a reference */
    const lz_hash *among; /* NULL: all */
    uint32_t namong;
    int64_t score;
    uint32_t seen;
} nearest;

/* How much of the graph the program has: per node its operation and its signature, then the whole
 * key. Of equals the one that was used last. */
static int64_t likeness(const lz_capture *c, const lz_program *p)
{
    uint32_t n = c->nodes.len < p->nnote ? c->nodes.len : p->nnote;
    int64_t diff = (int64_t)c->nodes.len - p->nnote, score = -2 * (diff < 0 ? -diff : diff);
    for (uint32_t i = 0; i < n; i++) {
        node is = {c->nodes.data[i]->sig, NULL, c->notes.data[i].leaf != UINT32_MAX, NULL},
             was = {p->notes[i].sig, NULL, p->notes[i].leaf, NULL};
        score += same_op(&is, &was) + same_sig(&is, &was);
    }
    return score;
}

static bool is_among(const nearest *q, const lz_program *p)
{
    uint32_t i = 0;
    while (i < q->namong && !lz_hash_eq(q->among[i], p->capture_hash))
        i++;
    return !q->among || i < q->namong;
}

static bool look(const lz_program *p, void *user)
{
    enum { MOST = 256 };
    nearest *q = user;
    if (!is_among(q, p))
        return true;
    int64_t score = likeness(q->c, p);
    if (!q->best || score > q->score) {
        lz_program_release(q->best);
        q->best = (lz_program *)p;
        atomic_fetch_add(&q->best->refs, 1);
        q->score = score;
    }
    return ++q->seen < MOST;
}

void lz_difference_find(const lz_capture *c, lz_difference *out)
{
    lz_difference_among(c, NULL, 0, out);
}

void lz_difference_among(const lz_capture *c, const lz_hash *among, uint32_t n, lz_difference *out)
{
    nearest q = {.c = c, .among = among, .namong = n};
    lz_program_each(look, &q);
    if (q.best) {
        lz_difference_from(c, q.best, out);
    } else {
        *out = (lz_difference){0};
        tell(out, LZ_DIFFERS_FIRST, NULL, NULL, "it is the first graph");
    }
    lz_program_release(q.best);
}

const char *lz_difference_name(lz_difference_kind k)
{
    static const char *const name[] = {
#define DIFFERENCE(NAME, text) text,
        LZ_DIFFERENCES(DIFFERENCE)
#undef DIFFERENCE
    };
    return name[k];
}
