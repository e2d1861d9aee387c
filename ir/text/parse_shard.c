/* parse_shard.c - where values are to be: meshes, and marks of shardings on parameters, results and
 * operations, in the dialect sdy and as HLO's strings. For one device they mean nothing and are
 * read over; where they are kept each becomes sdy.sharding_constraint on the value.
 * Threads: thread-compatible. */
#include "ir/text/parse.h"
#include <string.h>

/* ---- meshes ---- */

/* Once one device runs it, a mesh is one device, whatever it is called. */
lz_status lz_parse_mesh(lz_parser *p)
{
    lz_pmesh m = {0};
    LZ_TRY(lz_lex_symbol(&p->c, &m.name));
    LZ_TRY(lz_lex_want(&p->c, "="));
    if (!lz_lex_sees(&p->c, "<"))
        return lz_lex_want(&p->c, "<");
    m.at = p->c.p;
    LZ_TRY(lz_vec_push(&p->meshes, m));
    LZ_TRY(lz_lex_group(&p->c));
    LZ_TRY(lz_lex_braces(&p->c));
    return lz_lex_location(&p->c);
}

/* about.mesh takes the place of all of them. */
static const lz_mesh *read_mesh(const lz_parser *p, lz_pmesh *m)
{
    if (p->about.mesh)
        return p->about.mesh;
    if (!m->mesh)
        m->mesh = lz_mesh_read(m->at, (size_t)(p->c.end - m->at), NULL);
    return m->mesh;
}

static const lz_mesh *find_mesh(void *user, const char *name, size_t n)
{
    const lz_parser *p = user;
    for (uint32_t i = 0; i < p->meshes.len; i++) {
        lz_pmesh *m = &p->meshes.data[i];
        if (m->name.n == n && memcmp(m->name.s, name, n) == 0)
            return read_mesh(p, m);
    }
    (void)LZ_FAIL(LZ_EINVAL, "there is no mesh @%.*s", (int)(n < 80 ? n : 80), name);
    return NULL;
}

/* Every string of the text says something of the one mesh of all. */
static lz_status find_strings(const lz_parser *p, lz_buf *out)
{
    static const char key[] = "mhlo.sharding = \"";
    lz_lexer c = p->c;
    for (c.p = c.text; (size_t)(c.end - c.p) > sizeof key; c.p++) {
        lz_slice text;
        if (*c.p != 'm' || memcmp(c.p, key, sizeof key - 1) != 0)
            continue;
        c.p += sizeof key - 2;
        LZ_TRY(lz_lex_string(&c, &text));
        c.p--;
        for (uint32_t k = 0; k < 1000; k++) {
            lz_hlo_text e;
            if (!lz_sharding_hlo_element(text.s, text.n, k, &e.s, &e.n))
                break;
            if (e.n > 9 && memcmp(e.s, "{devices=", 9) == 0)
                lz_buf_put(out, &e, sizeof e);
        }
    }
    return out->failed ? LZ_FAIL(LZ_EMEM, "no memory for the shardings of a text") : LZ_OK;
}

/* Of all strings; that of the text's first mesh where it has one. */
static lz_status hlo_mesh(lz_parser *p, const lz_mesh **out)
{
    lz_buf texts = {0};
    *out = p->hlo_mesh;
    if (p->hlo_mesh)
        return LZ_OK;
    if (p->about.mesh) {
        *out = p->hlo_mesh = p->about.mesh;
        return LZ_OK;
    }
    if (p->meshes.len) {
        *out = p->hlo_mesh = read_mesh(p, &p->meshes.data[0]);
        return *out ? LZ_OK : lz_error_get()->status;
    }
    lz_status s = find_strings(p, &texts);
    if (s == LZ_OK) {
        *out = lz_sharding_hlo_mesh((const lz_hlo_text *)(const void *)texts.data,
                                    (uint32_t)(texts.len / sizeof(lz_hlo_text)),
                                    p->about.partitions > 1 ? p->about.partitions : p->ndevice);
        s = *out ? LZ_OK : lz_error_get()->status;
    }
    lz_buf_free(&texts);
    p->hlo_mesh = *out;
    return s;
}

static lz_status whole_number(const lz_parser *p, const lz_stmt *t, const char *key, int64_t *out)
{
    const lz_parse_entry *e = lz_stmt_find(t, key);
    lz_lexer c = p->c;
    if (!e)
        return LZ_OK;
    c.p = e->value;
    return lz_lex_i64(&c, out);
}

lz_status lz_parse_module_attributes(lz_parser *p)
{
    lz_stmt t = {0};
    if (!p->marked)
        return lz_lex_braces(&p->c);
    if (!lz_lex_eat(&p->c, "{"))
        return LZ_OK;
    lz_status s = lz_parse_dictionary(p, &t);
    if (s == LZ_OK)
        s = whole_number(p, &t, "mhlo.num_partitions", &p->about.partitions);
    if (s == LZ_OK)
        s = whole_number(p, &t, "mhlo.num_replicas", &p->about.replicas);
    lz_vec_free(&t.dict);
    return s;
}

/* ---- shardings ---- */

lz_status lz_parse_sharding(lz_parser *p, lz_lexer *c, const lz_sharding **out)
{
    const lz_mesh_names names = {find_mesh, p};
    size_t used;
    lz_lex_skip(c);
    *out = lz_sharding_read(c->p, (size_t)(c->end - c->p), &names, &used);
    if (!*out)
        return lz_lex_wrap(c, c->p);
    const char *at = c->p;
    c->p += used;
    uint32_t manual = p->manual & lz_mesh_all((*out)->mesh); /* a mesh may have fewer factors */
    if (((*out)->manual & manual) == manual)
        return LZ_OK;
    lz_sharding s = **out;
    if (lz_sharding_used(&s) & manual)
        return lz_lex_fail(c, at, LZ_EPARSE,
                           "the sharding uses an axis that is manual in this region");
    s.manual |= manual;
    s.replicated &= ~manual;
    *out = lz_sharding_get(&s);
    return *out ? LZ_OK : lz_lex_wrap(c, at);
}

lz_status lz_parse_axes(lz_lexer *c, const lz_mesh *mesh, uint32_t *out)
{
    size_t used;
    lz_lex_skip(c);
    if (lz_sharding_read_axes(mesh, c->p, (size_t)(c->end - c->p), out, &used) != LZ_OK)
        return lz_lex_wrap(c, c->p);
    c->p += used;
    return LZ_OK;
}

/* unspecified_dims=[0,1] */
static uint32_t unspecified(const lz_parser *p, const lz_stmt *t)
{
    const lz_parse_entry *e = t ? lz_stmt_find(t, "backend_config") : NULL;
    lz_lexer c = p->c;
    lz_slice text;
    uint32_t dims = 0;
    static const char key[] = "unspecified_dims=[";
    if (!e)
        return 0;
    c.p = e->value;
    if (!lz_lex_sees(&c, "\"") || lz_lex_string(&c, &text) != LZ_OK)
        return 0;
    for (const char *s = text.s; s + sizeof key <= text.s + text.n; s++)
        if (memcmp(s, key, sizeof key - 1) == 0) {
            int64_t d;
            c.p = s + sizeof key - 1;
            c.end = text.s + text.n;
            while (lz_lex_digits(&c, &d) == LZ_OK) {
                dims |= d >= 0 && d < LZ_MAX_RANK ? UINT32_C(1) << d : 0;
                if (!lz_lex_eat(&c, ","))
                    break;
            }
            break;
        }
    return dims;
}

/* "{devices=..}", or element k of a tuple of them. *out NULL: says nothing of it. */
static lz_status hlo_sharding(lz_parser *p, const lz_stmt *t, const char *at, uint32_t k, int rank,
                              const lz_sharding **out)
{
    const lz_mesh *mesh;
    lz_lexer c = p->c;
    lz_slice text;
    const char *one;
    size_t n;
    *out = NULL;
    c.p = at;
    LZ_TRY(lz_lex_string(&c, &text));
    if (text.n == 0 || !lz_sharding_hlo_element(text.s, text.n, k, &one, &n))
        return LZ_OK;
    if (hlo_mesh(p, &mesh) != LZ_OK)
        return lz_lex_wrap(&p->c, at);
    uint32_t open = unspecified(p, t);
    *out = lz_sharding_from_hlo(one, n, rank, mesh->ndevice, mesh, open);
    if (*out || lz_error_get()->status != LZ_EINVAL)
        return *out ? LZ_OK : lz_lex_wrap(&p->c, at);
    if (p->about.mesh)
        return lz_lex_wrap(&p->c, at);
    /* of another order of devices, or wrong */
    const lz_mesh *own = lz_sharding_hlo_own_mesh(one, n, mesh->ndevice);
    *out = own ? lz_sharding_from_hlo(one, n, rank, own->ndevice, own, open) : NULL;
    return *out ? LZ_OK : lz_lex_wrap(&p->c, at);
}

/* #sdy.sharding<..>, #sdy.sharding_per_value<[<..>, <..>]> or HLO's string, of value k. */
static lz_status sharding_at(lz_parser *p, const lz_stmt *t, const char *at, uint32_t k, int rank,
                             const lz_sharding **out)
{
    lz_lexer c = p->c;
    c.p = at;
    *out = NULL;
    if (lz_lex_sees(&c, "\""))
        return hlo_sharding(p, t, at, k, rank, out);
    if (!lz_lex_eat(&c, "#sdy.sharding_per_value")) {
        (void)lz_lex_eat(&c, "#sdy.sharding");
        return k == 0 ? lz_parse_sharding(p, &c, out) : LZ_OK;
    }
    LZ_TRY(lz_lex_want(&c, "<"));
    LZ_TRY(lz_lex_want(&c, "["));
    do {
        if (!lz_lex_sees(&c, "<"))
            return lz_lex_want(&c, "<");
        if (k == 0)
            return lz_parse_sharding(p, &c, out);
        LZ_TRY(lz_lex_group(&c));
    } while (k-- > 0 && lz_lex_eat(&c, ","));
    return LZ_OK;
}

static const lz_parse_entry *find_mark(const lz_stmt *t)
{
    const lz_parse_entry *e = lz_stmt_find(t, "sdy.sharding");
    return e ? e : lz_stmt_find(t, "mhlo.sharding");
}

lz_val lz_parse_constrain(lz_scope *s, lz_val v, const lz_sharding *sharding)
{
    lz_attr_sharding a = {.kind = LZ_ATTR_sharding, .sharding = lz_sharding_text(sharding)};
    if (!a.sharding)
        return LZ_NOVAL;
    return lz_build(s->f, LZ_OP_SHARDING_CONSTRAINT, (const lz_attr *)(const void *)&a, &v, 1);
}

/* ---- of parameters and results ---- */

lz_status lz_parse_value_attributes(lz_parser *p, lz_pmarks *marks, uint32_t at,
                                    const lz_type *type)
{
    lz_stmt t = {0};
    if (!p->marked || !type)
        return lz_lex_braces(&p->c);
    if (!lz_lex_eat(&p->c, "{"))
        return LZ_OK;
    lz_status s = lz_parse_dictionary(p, &t);
    const lz_parse_entry *e = s == LZ_OK ? find_mark(&t) : NULL;
    if (e) {
        lz_pmark m = {at, e->value, NULL};
        s = sharding_at(p, NULL, e->value, 0, type->shape.rank, &m.s);
        if (s == LZ_OK && m.s)
            s = lz_vec_push(marks, m);
    }
    lz_vec_free(&t.dict);
    return s;
}

lz_status lz_parse_mark_params(lz_parser *p, lz_scope *s)
{
    for (uint32_t i = 0; i < s->params_at.len; i++) {
        const lz_pmark *m = &s->params_at.data[i];
        lz_val first = s->f->ninst, v = lz_parse_constrain(s, s->vals.data[m->at], m->s);
        if (v == LZ_NOVAL)
            return lz_lex_wrap(&p->c, m->text);
        lz_parse_set_sites(p, s, first, m->text);
        s->vals.data[m->at] = v;
    }
    return LZ_OK;
}

lz_status lz_parse_mark_results(lz_parser *p, lz_scope *s)
{
    LZ_VEC(lz_val) v = {0};
    lz_status st = LZ_OK;
    if (s->results_at.len == 0)
        return LZ_OK;
    for (uint32_t k = 0; k < s->f->nresult && st == LZ_OK; k++)
        st = lz_vec_push(&v, s->f->results[k]);
    for (uint32_t i = 0; i < s->results_at.len && st == LZ_OK; i++) {
        const lz_pmark *m = &s->results_at.data[i];
        lz_val first = s->f->ninst;
        v.data[m->at] = lz_parse_constrain(s, v.data[m->at], m->s);
        if (v.data[m->at] == LZ_NOVAL)
            st = lz_lex_wrap(&p->c, m->text);
        else
            lz_parse_set_sites(p, s, first, m->text);
    }
    if (st == LZ_OK)
        st = lz_func_set_results(s->f, v.data, v.len);
    lz_vec_free(&v);
    return st;
}

/* ---- of operations ---- */

lz_status lz_parse_mark_stmt(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    const lz_parse_entry *e = find_mark(t);
    if (!e || t->result_form.n)
        return LZ_OK;
    for (uint32_t k = 0; k < t->results.len; k++) {
        const lz_sharding *sharding;
        lz_val v = t->results.data[k];
        LZ_TRY(sharding_at(p, t, e->value, k, lz_val_type(s->f, v)->shape.rank, &sharding));
        if (!sharding || (p->manual && !lz_mesh_all(sharding->mesh)))
            continue; /* of a device alone, which it is in this region anyway */
        v = lz_parse_constrain(s, v, sharding);
        if (v == LZ_NOVAL)
            return lz_lex_wrap(&p->c, e->value);
        t->results.data[k] = v;
    }
    return LZ_OK;
}

/* ---- operations that only say it: sdy's ---- */

bool lz_parse_is_annotation(lz_slice name)
{
    return lz_slice_is(name, "sdy.sharding_constraint") || lz_slice_is(name, "sdy.reshard") ||
           lz_slice_is(name, "sdy.sharding_group") || lz_slice_is(name, "sdy.propagation_barrier");
}

/* group_id = 3, allowed_direction = FORWARD */
static lz_status pretty_number(lz_parser *p, const char *key, const char **at)
{
    LZ_TRY(lz_lex_want(&p->c, key));
    LZ_TRY(lz_lex_want(&p->c, "="));
    lz_lex_skip(&p->c);
    *at = p->c.p;
    return lz_lex_until(&p->c, ":{");
}

static lz_status direction_of(lz_lexer *c, int64_t *out)
{
    static const char *const words[] = {"NONE", "FORWARD", "BACKWARD", "BOTH"};
    (void)lz_lex_eat(c, "#sdy<propagation_direction");
    for (int i = 0; i < 4; i++)
        if (lz_lex_eat_word(c, words[i])) {
            *out = i;
            return LZ_OK;
        }
    return lz_lex_i64(c, out);
}

/* at: of the attribute's value */
static lz_status build_mark(lz_parser *p, lz_scope *s, lz_stmt *t, const char *at, lz_val *v)
{
    lz_attr_any a;
    lz_lexer c = p->c;
    const lz_sharding *sharding;
    c.p = at;
    if (lz_slice_is(t->name, "sdy.sharding_group")) {
        lz_attr_init(&a, LZ_ATTR_group);
        t->op = LZ_OP_SHARDING_GROUP;
        LZ_TRY(lz_lex_i64(&c, &a.as_group.group_id));
    } else if (lz_slice_is(t->name, "sdy.propagation_barrier")) {
        lz_attr_init(&a, LZ_ATTR_propagation);
        t->op = LZ_OP_PROPAGATION_BARRIER;
        LZ_TRY(direction_of(&c, &a.as_propagation.allowed_direction));
    } else {
        LZ_TRY(sharding_at(p, t, at, 0, lz_val_type(s->f, *v)->shape.rank, &sharding));
        *v = sharding ? lz_parse_constrain(s, *v, sharding) : *v;
        return *v == LZ_NOVAL ? lz_lex_wrap(&p->c, t->at) : LZ_OK;
    }
    *v = lz_build(s->f, t->op, &a.head, v, 1);
    return *v == LZ_NOVAL ? lz_lex_wrap(&p->c, t->at) : LZ_OK;
}

/* %a <@mesh, [{"x"}]>, %a group_id = 0, %a allowed_direction = NONE */
static lz_status annotation_items(lz_parser *p, lz_scope *s, lz_stmt *t, const char **at)
{
    static const char *const keys[] = {"sharding", "group_id", "allowed_direction"};
    lz_val v;
    *at = NULL;
    if (t->generic) {
        LZ_TRY(lz_parse_generic_items(p, s, t));
    } else {
        LZ_TRY(lz_scope_use(p, s, &v));
        LZ_TRY(lz_vec_push(&t->opnd, v));
        lz_lex_skip(&p->c);
        *at = p->c.p;
        for (int i = 1; i < 3; i++)
            if (lz_lex_sees(&p->c, keys[i]))
                LZ_TRY(pretty_number(p, keys[i], at));
        if (lz_lex_sees(&p->c, "<"))
            LZ_TRY(lz_lex_group(&p->c));
    }
    if (lz_lex_eat(&p->c, "{"))
        LZ_TRY(lz_parse_dictionary(p, t));
    for (int i = 0; i < 3 && t->generic; i++) {
        const lz_parse_entry *e = lz_stmt_find(t, keys[i]);
        *at = e ? e->value : *at;
    }
    return LZ_OK;
}

lz_status lz_parse_annotation(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    const char *at, *operand;
    lz_lexer first = p->c;
    (void)(t->generic && lz_lex_eat(&first, "("));
    lz_lex_skip(&first);
    operand = first.p;
    LZ_TRY(annotation_items(p, s, t, &at));
    LZ_TRY(lz_lex_want(&p->c, ":"));
    LZ_TRY(lz_parse_types(p, t));
    LZ_TRY(lz_parse_check_operands(p, s, t));
    if (t->opnd.len != 1)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, LZ_SLICE_FMT ": takes one value, not %u",
                           LZ_SLICE_ARG(t->name), t->opnd.len);
    lz_val v = t->opnd.data[0];
    if (p->marked && at)
        LZ_TRY(build_mark(p, s, t, at, &v));
    if (lz_slice_is(t->name, "sdy.sharding_group") && !t->named) /* gives no result in sdy */
        return lz_scope_rebind(p, s, operand, v);
    if (!t->has_arrow && t->listed.len)
        LZ_TRY(lz_vec_push(&t->result_types, t->listed.data[0]));
    LZ_TRY(lz_vec_push(&t->results, v));
    return lz_parse_check_results(p, s, t);
}

/* ---- and GSPMD's ---- */

bool lz_parse_is_annotation_call(lz_slice target)
{
    static const char *const names[] = {"Sharding",
                                        "annotate_device_placement",
                                        "LayoutConstraint",
                                        "SPMDFullToShardShape",
                                        "SPMDShardToFullShape",
                                        "xla.sdy.FuncResultSharding",
                                        "xla.sdy.GlobalToLocalShape",
                                        "xla.sdy.LocalToGlobalShape"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (lz_slice_is(target, names[i]))
            return true;
    return false;
}

lz_status lz_parse_annotation_call(lz_parser *p, lz_scope *s, lz_stmt *t, lz_slice target)
{
    const lz_sharding *sharding = NULL;
    const lz_parse_entry *e = p->marked ? find_mark(t) : NULL;
    lz_val v = t->opnd.data[0];
    bool enters = lz_slice_is(target, "SPMDFullToShardShape"),
         leaves = lz_slice_is(target, "SPMDShardToFullShape");
    if (e) {
        int rank = lz_val_type(s->f, v)->shape.rank;
        LZ_TRY(sharding_at(p, t, e->value, 0, rank, &sharding));
    }
    t->dict.len = 0; /* said once */
    if (p->marked && (enters || leaves))
        return lz_parse_border(p, s, t, enters, sharding);
    if (sharding)
        v = lz_parse_constrain(s, v, sharding);
    return v == LZ_NOVAL ? lz_lex_wrap(&p->c, t->at) : lz_vec_push(&t->results, v);
}
