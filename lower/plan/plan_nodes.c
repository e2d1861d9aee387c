/* plan_nodes.c - from the numbers of nodes in a plan to operations, lines and name scopes of the
 * graph it runs for. A stored plan has numbers only, so a program that is found on disk names the
 * call sites of whoever found it. Numbers are not trusted: one that is no instruction of the graph
 * stays without a line.
 * Recursion: plans of regions, as deep as they nest.   Threads: before the plan is shared. */
#include "ir/attr.h"
#include "lower/plan/plan.h"

static void set(lz_step_node *n, const lz_func *f)
{
    const lz_inst *in = n->node < f->ninst ? &f->insts[n->node] : NULL;
    n->op = in ? in->sig->op : LZ_OP_NONE;
    n->type = in ? in->sig->result[0] : NULL;
    n->site = in ? in->site : NULL;
    n->scope = in ? in->scope : NULL;
}

void lz_plan_set_nodes(lz_plan *p, const lz_step_node *node)
{
    for (uint32_t i = 0; i < p->nstep; i++)
        for (uint32_t k = 0; k < p->steps[i].nnode; k++) {
            lz_step_node *n = &p->steps[i].nodes[k];
            *n = (lz_step_node){n->node, node->op, n->cost, NULL, node->site, node->scope};
        }
    for (uint32_t i = 0; i < p->nsub; i++)
        lz_plan_set_nodes(p->subs[i], node);
}

/* The plans that a step runs: those of the regions of its node, or what a pass made of a node
 * without regions. A plan that several steps run has the lines of the last. */
static void find_regions(lz_plan *p, const lz_step *s, const lz_func *f)
{
    const lz_step_node *n = s->nnode ? &s->nodes[0] : NULL;
    bool control = n && n->op != LZ_OP_NONE && lz_op_get(n->op)->cls == LZ_CLASS_CONTROL;
    for (int k = 0; k < 2 && n; k++) {
        const lz_func *r = control ? lz_attr_region(f->insts[n->node].sig->attr, k) : NULL;
        if (s->sub[k] >= p->nsub)
            continue;
        if (r)
            lz_plan_find_nodes(p->subs[s->sub[k]], r);
        else
            lz_plan_set_nodes(p->subs[s->sub[k]], n);
    }
}

/* Without memory, arguments stay without lines. */
static void find_inputs(lz_plan *p, const lz_func *f)
{
    if (!p->in_node)
        p->in_node = lz_arena_alloc(&p->arena, (p->nin + 1) * sizeof *p->in_node);
    for (uint32_t i = 0; p->in_node && i < p->nin; i++) {
        p->in_node[i].node = i;
        set(&p->in_node[i], f);
    }
}

void lz_plan_find_nodes(lz_plan *p, const lz_func *f)
{
    find_inputs(p, f);
    for (uint32_t i = 0; i < p->nstep; i++) {
        lz_step *s = &p->steps[i];
        for (uint32_t k = 0; k < s->nnode; k++)
            set(&s->nodes[k], f);
        if (s->kind == LZ_STEP_WHILE || s->kind == LZ_STEP_IF)
            find_regions(p, s, f);
    }
}

double lz_step_share(const lz_step *s, uint32_t k)
{
    double all = 0;
    for (uint32_t i = 0; i < s->nnode; i++)
        all += (double)s->nodes[i].cost;
    return all > 0 ? (double)s->nodes[k].cost / all : 0;
}

void lz_step_print_node(const lz_step *s, uint32_t k, lz_buf *out)
{
    const lz_step_node *n = k < s->nnode ? &s->nodes[k] : NULL;
    if (!n || n->op == LZ_OP_NONE)
        return;
    lz_buf_printf(out, "%s %.0f%%", lz_op_get(n->op)->text, 100 * lz_step_share(s, k));
    if (n->site && n->site->file)
        lz_buf_printf(out, " %s:%d", n->site->file, n->site->line);
    if (n->scope)
        lz_buf_printf(out, " (%s)", n->scope);
}
