/* parse_loc.c - where an instruction comes from: its line in the text, or what MLIR's loc(..) says.
 * Of a name that stands for a location (#name = loc(..)) that is found once, however many
 * instructions have it. Threads: thread-compatible. */
#include "ir/text/parse.h"
#include <string.h>

/* ---- lines ---- */

typedef struct text_site {
    lz_intern_node node;
    lz_site site;
} text_site;
static lz_intern sites = LZ_INTERN_INIT;

static bool same_site(const lz_intern_node *n, const void *key)
{
    const lz_site *a = &((const text_site *)(const void *)n)->site, *b = key;
    return a->file == b->file && a->line == b->line;
}

/* Regions keep it for the life of the process. */
static const lz_site *site_get(const char *file, int line)
{
    const lz_site key = {.file = lz_string_get(file, strlen(file)), .line = line};
    const struct {
        const char *file;
        int64_t line;
    } bytes = {key.file, line};
    lz_hash h = lz_hash_bytes(&bytes, sizeof bytes);
    text_site *found = (text_site *)(void *)lz_intern_find(&sites, h, same_site, &key);
    if (found || !key.file)
        return found ? &found->site : NULL;
    text_site *fresh = lz_calloc(1, sizeof *fresh);
    if (!fresh)
        return NULL;
    fresh->node.hash = h;
    fresh->site = key;
    found = (text_site *)(void *)lz_intern_add(&sites, &fresh->node, same_site, &key, NULL);
    if (found != fresh)
        lz_free(fresh);
    return &found->site;
}

/* Mostly asked for in the order of the text. */
static int line_of(lz_parser *p, const char *at)
{
    if (!p->line_at || at < p->line_at) {
        p->line_at = p->c.text;
        p->line = 1;
    }
    for (; p->line_at < at && p->line_at < p->c.end; p->line_at++)
        p->line += *p->line_at == '\n';
    return p->line;
}

/* ---- MLIR's locations ---- */

/* A location by name; the first of two counts. */
lz_status lz_parse_note_place(lz_parser *p, lz_slice name)
{
    lz_place place = {.name = {name.s + 1, name.n - 1}};
    lz_lex_skip(&p->c);
    place.at = p->c.p;
    if (lz_names_find(&p->place_index, p->places.data, sizeof place, place.name))
        return LZ_OK;
    LZ_TRY(lz_vec_push(&p->places, place));
    return lz_names_add(&p->place_index, p->places.data, sizeof place, p->places.len - 1);
}

/* After '#'; NULL: nothing has this name. */
static lz_place *find_place(const lz_parser *p, lz_lexer *c)
{
    const char *at = c->p;
    (void)lz_lex_word(c);
    uint32_t i = lz_names_find(&p->place_index, p->places.data, sizeof *p->places.data,
                               (lz_slice){at, (size_t)(c->p - at)});
    return i ? &p->places.data[i - 1] : NULL;
}

/* "name", "name"(location) or "file":line:column; *more: what the brackets hold is next. */
static bool read_named(lz_lexer *c, lz_location *out, bool *more)
{
    const char *text;
    int64_t line;
    if (lz_lex_text(c, &text) != LZ_OK)
        return false;
    if (lz_lex_eat(c, ":")) {
        if (lz_lex_digits(c, &line) != LZ_OK || line < 0 || line > INT32_MAX)
            return false;
        out->site = site_get(text, (int)line);
        return true;
    }
    out->scope = out->scope ? out->scope : text;
    *more = lz_lex_eat(c, "(");
    return true;
}

/* What was followed to get to a location, and the name that was found before it. */
enum { DEEPEST = 64 };
typedef struct link {
    lz_place *place;
    const char *scope;
} link;

/* One piece of a location; *more: there is another, to which c goes on, and *to is it if that is
 * one by name that was not read yet. False: the text is no location. */
static bool read_piece(const lz_parser *p, lz_lexer *c, lz_location *out, lz_place **to, bool *more)
{
    *more = false;
    *to = NULL;
    if (lz_lex_sees(c, "\""))
        return read_named(c, out, more);
    if (lz_lex_eat(c, "#")) {
        lz_place *place = find_place(p, c);
        if (place && place->was_read) {
            out->scope = out->scope ? out->scope : place->is.scope;
            out->site = place->is.site;
            return !place->bad;
        }
        *to = place;
        *more = place != NULL;
    } else if (lz_lex_eat_word(c, "callsite")) {
        *more = lz_lex_eat(c, "(");
    } else if (lz_lex_eat_word(c, "fused")) {
        if (lz_lex_sees(c, "<") && lz_lex_group(c) != LZ_OK)
            return false;
        *more = lz_lex_eat(c, "[");
    }
    return true;
}

/* What is deeper than DEEPEST, as a location within itself is, is nowhere. */
static bool read_location(const lz_parser *p, lz_lexer c, lz_location *out)
{
    link links[DEEPEST];
    int n = 0;
    bool good = true, more = lz_lex_eat_word(&c, "loc") && lz_lex_eat(&c, "(");
    if (!more)
        return false;
    for (int depth = 0; good && more && depth < DEEPEST; depth++) {
        lz_place *to;
        good = read_piece(p, &c, out, &to, &more);
        if (!to)
            continue;
        links[n++] = (link){to, out->scope};
        out->scope = NULL;
        c.p = to->at;
        more = lz_lex_eat_word(&c, "loc") && lz_lex_eat(&c, "(");
    }
    while (n-- > 0) {
        links[n].place->was_read = true;
        links[n].place->bad = !good;
        links[n].place->is = *out;
        out->scope = links[n].scope ? links[n].scope : out->scope;
    }
    return good;
}

static void set_locations(lz_parser *p, lz_scope *s, lz_val first)
{
    lz_location at = {0};
    bool is = false;
    LZ_QUIETLY /* what does not read as one is passed over, as any location is */
        is = read_location(p, p->c, &at);
    for (lz_val v = first; is && v < s->f->ninst; v++) {
        lz_inst *in = &s->f->insts[v];
        in->scope = in->site || in->scope ? in->scope : at.scope;
        in->site = in->site ? in->site : at.site;
    }
}

void lz_parse_set_sites(lz_parser *p, lz_scope *s, lz_val first, const char *at)
{
    const lz_site *site = NULL;
    if (p->about.locations)
        set_locations(p, s, first);
    if (!p->marked)
        return;
    for (lz_val v = first; v < s->f->ninst; v++) {
        if (s->f->insts[v].site)
            continue;
        if (!site)
            site = site_get(p->c.name, line_of(p, at));
        s->f->insts[v].site = site;
    }
}
