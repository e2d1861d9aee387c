/* t_updates_random.c - random programs that update arrays: slices of the old and the new array,
 * which loops carry, branches change and callers donate. The results are those of the reference
 * interpreter, and no kernel that may write over what it reads has a point that reads what another
 * one writes, in whatever order the points run and wherever computed indices lead. */
#include "base/alloc.h"
#include "ir/eval/eval.h"
#include "lower/plan/plan.h"
#include "suite.h"
#include "support/lit.h"
#include "support/rnd.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define OK(expr) ck_assert_msg((expr) == LZ_OK, "%s: %s", #expr, lz_error_get()->message)

/* Programs are longer than Check's messages may be. */
#define CHECK(cond, text, ...)                                                                     \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fputs(text, stderr);                                                                   \
            ck_abort_msg(__VA_ARGS__);                                                             \
        }                                                                                          \
    } while (0)

enum { SEEDS = 60, PROGRAMS = 12, VALUES = 128, MOST_RANK = 3 };

/* ---- programs ---- */

typedef struct value {
    char name[16];
    int64_t dims[MOST_RANK];
} value;

typedef struct writer {
    lz_rnd r;
    lz_buf out;
    int rank, n, depth, next; /* n: values that may be used */
    value v[VALUES];
    value array, other; /* the array as it is now; one of the same shape */
    char index[8][16];
    int nindex;
} writer;

static int64_t range(writer *w, int64_t lo, int64_t hi)
{
    return lz_rnd_range(&w->r, lo, hi);
}

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *form, ...)
{
    char text[512];
    va_list a;
    va_start(a, form);
    vsnprintf(text, sizeof text, form, a);
    va_end(a);
    lz_buf_puts(&w->out, text);
}

typedef struct type_text {
    char s[64];
} type_text;

static type_text type_of(const writer *w, const int64_t *dims)
{
    type_text t;
    char *p = t.s + sprintf(t.s, "tensor<");
    for (int d = 0; d < w->rank; d++)
        p += sprintf(p, "%dx", (int)dims[d]);
    sprintf(p, "i32>");
    return t;
}

static value *fresh(writer *w)
{
    value *v = &w->v[w->n < VALUES - 1 ? w->n++ : VALUES - 1];
    sprintf(v->name, "%%v%d", w->next++);
    return v;
}

static const value *some(writer *w)
{
    return &w->v[range(w, 0, w->n - 1)];
}

static const value *some_array(writer *w)
{
    int k = (int)range(w, 0, 3);
    return k == 0 ? &w->other : k == 1 ? &w->v[0] : &w->array; /* 0: as it was at first */
}

static void put_indices(writer *w)
{
    for (int d = 0; d < w->rank; d++)
        put(w, ", %s", w->index[range(w, 0, w->nindex - 1)]);
}

static void put_index_types(writer *w)
{
    for (int d = 0; d < w->rank; d++)
        put(w, ", tensor<i32>");
}

static void slice(writer *w)
{
    const value from = *some_array(w);
    value *v = fresh(w);
    for (int d = 0; d < w->rank; d++)
        v->dims[d] = range(w, 0, 1) ? 1 : range(w, 1, from.dims[d]);
    if (range(w, 0, 2)) {
        put(w, "%s = stablehlo.dynamic_slice %s", v->name, from.name);
        put_indices(w);
        put(w, ", sizes = [");
        for (int d = 0; d < w->rank; d++)
            put(w, "%s%d", d ? ", " : "", (int)v->dims[d]);
        put(w, "] : (%s", type_of(w, from.dims).s);
        put_index_types(w);
        put(w, ") -> %s\n", type_of(w, v->dims).s);
        return;
    }
    put(w, "%s = stablehlo.slice %s [", v->name, from.name);
    for (int d = 0; d < w->rank; d++) {
        int64_t at = range(w, 0, from.dims[d] - v->dims[d]);
        put(w, "%s%d:%d", d ? ", " : "", (int)at, (int)(at + v->dims[d]));
    }
    put(w, "] : (%s) -> %s\n", type_of(w, from.dims).s, type_of(w, v->dims).s);
}

/* Rows where the elements of a value say. */
static void gather(writer *w)
{
    const value at = *some(w), from = *some_array(w);
    int64_t n = 1;
    for (int d = 0; d < w->rank; d++)
        n *= at.dims[d];
    if (n > 8)
        return;
    value *v = fresh(w);
    memcpy(v->dims, from.dims, sizeof v->dims);
    v->dims[0] = n;
    put(w, "%s_k = stablehlo.reshape %s : (%s) -> tensor<%dx1xi32>\n", v->name, at.name,
        type_of(w, at.dims).s, (int)n);
    put(w,
        "%s = \"stablehlo.gather\"(%s, %s_k) <{dimension_numbers = #stablehlo.gather<"
        "offset_dims = [%s], collapsed_slice_dims = [0], start_index_map = [0], "
        "index_vector_dim = 1>, slice_sizes = array<i64: 1",
        v->name, from.name, v->name,
        w->rank == 1   ? ""
        : w->rank == 2 ? "1"
                       : "1, 2");
    for (int d = 1; d < w->rank; d++)
        put(w, ", %d", (int)from.dims[d]);
    put(w, ">}> : (%s, tensor<%dx1xi32>) -> %s\n", type_of(w, from.dims).s, (int)n,
        type_of(w, v->dims).s);
}

static void combine(writer *w)
{
    static const char *const ops[] = {"add", "subtract", "multiply", "maximum"};
    const value a = *some(w);
    const value *b = &a;
    for (int k = 0; k < 8; k++) {
        const value *c = some(w);
        if (memcmp(c->dims, a.dims, sizeof a.dims) == 0)
            b = c;
    }
    const value other = *b;
    value *v = fresh(w);
    memcpy(v->dims, a.dims, sizeof a.dims);
    put(w, "%s = stablehlo.%s %s, %s : %s\n", v->name, ops[range(w, 0, 3)], a.name, other.name,
        type_of(w, v->dims).s);
}

static const char *dims_of(const writer *w)
{
    return w->rank == 1 ? "0" : w->rank == 2 ? "0, 1" : "0, 1, 2";
}

static void spread(writer *w, const value *a, const value *to)
{
    put(w, "%s = stablehlo.broadcast_in_dim %s, dims = [%s] : (%s) -> %s\n", to->name, a->name,
        dims_of(w), type_of(w, a->dims).s, type_of(w, to->dims).s);
}

/* The sums along a dimension, in every place of it. */
static void sum(writer *w, const value *a, int d, const value *to)
{
    char line[64], *p = line + sprintf(line, "tensor<");
    for (int k = 0; k < w->rank; k++)
        if (k != d)
            p += sprintf(p, "%dx", (int)a->dims[k]);
    sprintf(p, "i32>");
    put(w,
        "%s_r = stablehlo.reduce(%s init: %%c0) applies stablehlo.add across dimensions = [%d] : "
        "(%s, tensor<i32>) -> %s\n",
        to->name, a->name, d, type_of(w, a->dims).s, line);
    put(w, "%s = stablehlo.reshape %s_r : (%s) -> %s\n", to->name, to->name, line,
        type_of(w, to->dims).s);
}

/* A row less its sum. */
static void normalize(writer *w)
{
    const value a = *some(w);
    value *s = fresh(w);
    memcpy(s->dims, a.dims, sizeof a.dims);
    int d = (int)range(w, 0, w->rank - 1);
    s->dims[d] = 1;
    sum(w, &a, d, s);
    value *b = fresh(w), *v = fresh(w);
    memcpy(b->dims, a.dims, sizeof a.dims);
    memcpy(v->dims, a.dims, sizeof a.dims);
    spread(w, s, b);
    put(w, "%s = stablehlo.subtract %s, %s : %s\n", v->name, a.name, b->name, type_of(w, a.dims).s);
}

/* Another order, more of the same, or sums. */
static void move(writer *w)
{
    static const char *const turned[] = {"0", "1, 0", "1, 2, 0"};
    const value a = *some(w);
    value *v = fresh(w);
    int d = (int)range(w, 0, w->rank - 1), kind = (int)range(w, 0, 3);
    memcpy(v->dims, a.dims, sizeof a.dims);
    if (kind == 0) {
        put(w, "%s = stablehlo.reverse %s, dims = [%d] : %s\n", v->name, a.name, d,
            type_of(w, a.dims).s);
    } else if (kind == 1) {
        for (int k = 0; k < w->rank; k++)
            v->dims[k] = a.dims[(k + 1) % w->rank];
        put(w, "%s = stablehlo.transpose %s, dims = [%s] : (%s) -> %s\n", v->name, a.name,
            turned[w->rank - 1], type_of(w, a.dims).s, type_of(w, v->dims).s);
    } else if (kind == 2) {
        for (int k = 0; k < w->rank; k++)
            v->dims[k] = a.dims[k] == 1 ? range(w, 1, w->array.dims[k]) : a.dims[k];
        spread(w, &a, v);
    } else {
        v->dims[d] = 1;
        sum(w, &a, d, v);
    }
}

static const value *some_that_fits(writer *w)
{
    for (int k = 0; k < 12; k++) {
        const value *v = some(w);
        bool fits = true;
        for (int d = 0; d < w->rank; d++)
            fits = fits && v->dims[d] <= w->array.dims[d];
        if (fits)
            return v;
    }
    return NULL;
}

static void update(writer *w)
{
    const value *part = some_that_fits(w);
    if (!part)
        return;
    const value p = *part, old = w->array;
    value *v = fresh(w);
    memcpy(v->dims, old.dims, sizeof old.dims);
    w->array = *v;
    if (range(w, 0, 3)) {
        put(w, "%s = stablehlo.dynamic_update_slice %s, %s", v->name, old.name, p.name);
        put_indices(w);
        put(w, " : (%s, %s", type_of(w, old.dims).s, type_of(w, p.dims).s);
        put_index_types(w);
        put(w, ") -> %s\n", type_of(w, old.dims).s);
        return;
    }
    put(w, "%s_k = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>\n", v->name,
        w->index[range(w, 0, w->nindex - 1)]);
    put(w,
        "%s = \"stablehlo.scatter\"(%s, %s_k, %s) ({\n^bb0(%%p: tensor<i32>, %%q: tensor<i32>):\n"
        "%%s = stablehlo.add %%p, %%q : tensor<i32>\nstablehlo.return %%s : tensor<i32>\n}) "
        "{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [%s], "
        "scatter_dims_to_operand_dims = [0]>, indices_are_sorted = false, unique_indices = false} ",
        v->name, old.name, v->name, p.name, dims_of(w));
    put(w, ": (%s, tensor<1xi32>, %s) -> %s\n", type_of(w, old.dims).s, type_of(w, p.dims).s,
        type_of(w, old.dims).s);
}

/* An index that the array has. */
static void data_index(writer *w)
{
    const value from = *some_array(w);
    if (w->nindex == 8)
        return;
    char *name = w->index[w->nindex++];
    sprintf(name, "%%k%d", w->next++);
    const int64_t one[MOST_RANK] = {1, 1, 1};
    put(w, "%s_s = stablehlo.slice %s [0:1%s] : (%s) -> %s\n", name, from.name,
        w->rank == 1   ? ""
        : w->rank == 2 ? ", 0:1"
                       : ", 0:1, 0:1",
        type_of(w, from.dims).s, type_of(w, one).s);
    put(w, "%s = stablehlo.reshape %s_s : (%s) -> tensor<i32>\n", name, name, type_of(w, one).s);
}

static void statements(writer *w, int n);

/* The array of a branch, or as it is. */
static void branch(writer *w)
{
    const writer before = *w;
    int id = w->next++;
    put(w,
        "%%p%d = stablehlo.compare LT, %s, %s : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "%%b%d = \"stablehlo.if\"(%%p%d) ({\n",
        id, w->index[range(w, 0, w->nindex - 1)], w->index[range(w, 0, w->nindex - 1)], id, id);
    statements(w, 2);
    const type_text t = type_of(w, w->array.dims);
    put(w, "stablehlo.return %s : %s\n}, {\nstablehlo.return %s : %s\n}) : (tensor<i1>) -> %s\n",
        w->array.name, t.s, before.array.name, t.s, t.s);
    w->n = before.n;
    w->nindex = before.nindex;
    w->array = before.array;
    w->other = before.other;
    sprintf(w->array.name, "%%b%d", id);
    *fresh(w) = w->array;
}

/* A loop that carries an index, the array and the other one; in its body they are named anew. */
static void loop(writer *w)
{
    const writer before = *w;
    int id = w->next++, rounds = (int)range(w, 1, 4);
    const type_text t = type_of(w, w->array.dims);
    put(w,
        "%%w%d:3 = stablehlo.while(%%i%d = %s, %%u%d = %s, %%x%d = %s) : tensor<i32>, %s, %s\n"
        "cond {\n%%p%d = stablehlo.compare LT, %%i%d, %%c%d : (tensor<i32>, tensor<i32>) -> "
        "tensor<i1>\nstablehlo.return %%p%d : tensor<i1>\n} do {\n",
        id, id, range(w, 0, 1) ? "%c0" : "%c1", id, w->array.name, id, w->other.name, t.s, t.s, id,
        id, rounds, id);
    put(w,
        "%%n%d = stablehlo.add %%i%d, %%c1 : tensor<i32>\n"
        "%%l%d = stablehlo.subtract %%i%d, %%c1 : tensor<i32>\n",
        id, id, id, id);
    w->nindex = 2;
    static const char *const indices[] = {"%i", "%n", "%l"};
    for (int k = 0; k < 3; k++)
        sprintf(w->index[w->nindex++], "%s%d", indices[k], id);
    sprintf(w->array.name, "%%u%d", id);
    sprintf(w->other.name, "%%x%d", id);
    w->v[0] = w->array;
    w->n = 1;
    statements(w, 6);
    const value *others[] = {&w->other, &w->other, &w->v[0], &w->array};
    put(w, "stablehlo.return %%n%d, %s, %s : tensor<i32>, %s, %s\n}\n", id, w->array.name,
        others[range(w, 0, 3)]->name, t.s, t.s);
    w->n = before.n;
    w->nindex = before.nindex;
    memcpy(w->index, before.index, sizeof before.index);
    memcpy(w->v, before.v, sizeof before.v);
    sprintf(w->array.name, "%%w%d#1", id);
    sprintf(w->other.name, "%%w%d#2", id);
    *fresh(w) = w->array;
}

static void statements(writer *w, int n)
{
    slice(w);
    w->depth++;
    for (int i = 0; i < n; i++) {
        int k = (int)range(w, 0, 19);
        if (k < 4)
            slice(w);
        else if (k == 4)
            gather(w);
        else if (k == 5)
            normalize(w);
        else if (k < 8)
            combine(w);
        else if (k < 11)
            move(w);
        else if (k < 17)
            update(w);
        else if (k == 17)
            data_index(w);
        else if (w->depth < 3)
            (k == 18 ? branch : loop)(w);
    }
    update(w);
    w->depth--;
}

/* Takes an array, another one and an index; gives both, and any value. */
static void program(writer *w, lz_buf *text)
{
    w->rank = (int)range(w, 1, MOST_RANK);
    for (int d = 0; d < w->rank; d++)
        w->array.dims[d] = w->other.dims[d] = range(w, 1, w->rank == 3 ? 4 : 8);
    strcpy(w->array.name, "%a");
    strcpy(w->other.name, "%b");
    w->v[0] = w->array;
    w->n = 1;
    strcpy(w->index[0], "%c0");
    strcpy(w->index[1], "%c1");
    strcpy(w->index[2], "%i");
    w->nindex = 3;
    if (range(w, 0, 1))
        loop(w);
    else
        statements(w, 5);
    const value last = *some(w);
    const type_text t = type_of(w, w->array.dims), tl = type_of(w, last.dims);
    lz_buf_printf(text,
                  "func.func public @main(%%a: %s, %%b: %s, %%i: tensor<i32>) -> (%s, %s, %s) {\n",
                  t.s, t.s, t.s, t.s, tl.s);
    for (int k = 0; k < 5; k++)
        lz_buf_printf(text, "%%c%d = stablehlo.constant dense<%d> : tensor<i32>\n", k, k);
    lz_buf_printf(text, "%sreturn %s, %s, %s : %s, %s, %s\n}\n", lz_buf_str(&w->out), w->array.name,
                  w->other.name, last.name, t.s, t.s, tl.s);
}

/* ---- no point reads what another one writes ---- */

enum { POINTS = 512, TRIES = 6 };

/* Addresses of an access at all points of the outer and of the stage's inner loops, computed
 * indices being any. */
static int64_t addresses(const lz_kernel *k, const lz_stage *st, const lz_access *a, lz_rnd *r,
                         int64_t *at, int64_t *outer)
{
    uint32_t nloop = k->nouter + st->ninner;
    int64_t index[LZ_LOOP_MAX] = {0}, n = 0, none = 0;
    for (uint32_t l = 0; l < nloop; l++)
        none |= (l < k->nouter ? k->outer[l].v : st->extent[l - k->nouter].v) == 0;
    while (!none && n < POINTS) {
        at[n] = a->offset.v;
        outer[n] = 0;
        for (uint32_t l = 0; l < nloop; l++)
            at[n] += index[l] * a->stride[l].v;
        for (uint32_t l = 0; l < k->nouter; l++)
            outer[n] = outer[n] * k->outer[l].v + index[l];
        for (uint32_t i = 0; i < a->ndyn; i++)
            at[n] += lz_rnd_range(r, 0, 4) * a->dyn[i].stride.v;
        n++;
        uint32_t l = nloop;
        while (l-- > 0) {
            int64_t extent = l < k->nouter ? k->outer[l].v : st->extent[l - k->nouter].v;
            if (++index[l] < extent)
                break;
            index[l] = 0;
        }
        if (l == UINT32_MAX)
            break;
    }
    return n;
}

static void check_access(const lz_kernel *k, const lz_stage *rs, const lz_access *a,
                         const lz_stage *ws, const lz_access *w, lz_rnd *r, const char *text)
{
    static int64_t read[POINTS], written[POINTS], reader[POINTS], writer_[POINTS];
    CHECK(rs <= ws, text, "%s is read after it is written", k->name);
    for (int i = 0; i < TRIES; i++) {
        int64_t n = addresses(k, rs, a, r, read, reader);
        int64_t m = addresses(k, ws, w, r, written, writer_);
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = 0; q < m; q++)
                CHECK(read[p] != written[q] || (rs == ws ? p == q : reader[p] == writer_[q]), text,
                      "%s: point %d reads what point %d writes", k->name, (int)p, (int)q);
    }
}

static int check_kernel(const lz_kernel *k, lz_rnd *r, const char *text)
{
    int n = 0;
    for (uint32_t s = 0; s < k->nstage; s++)
        for (uint32_t i = 0; i < k->stages[s].nstore; i++) {
            const lz_access *w = &k->stages[s].stores[i].at;
            const lz_kbuf *b = &k->buf[w->buf];
            for (uint32_t q = 0; b->inplace_ok && q < k->nstage; q++)
                for (uint32_t j = 0; j < k->stages[q].nacc; j++) {
                    const lz_access *a = &k->stages[q].accs[j];
                    if (a->buf != (uint32_t)b->inplace_with && a->buf != w->buf)
                        continue;
                    check_access(k, &k->stages[q], a, &k->stages[s], w, r, text);
                    n++;
                }
        }
    return n;
}

static int check_plan(const lz_plan *p, lz_rnd *r, const char *text)
{
    int n = 0;
    for (uint32_t i = 0; i < p->nkernel; i++)
        n += check_kernel(p->kernels[i], r, text);
    for (uint32_t i = 0; i < p->nsub; i++)
        n += check_plan(p->subs[i], r, text);
    return n;
}

/* ---- the tests ---- */

static void check_results(const lz_func *f, const lz_plan *p, lz_rnd *r, const char *text)
{
    lz_literal *args[3], *want[3];
    void *got[3];
    for (uint32_t i = 0; i < 3; i++) {
        args[i] = lz_literal_new(lz_val_type(f, i));
        ck_assert_ptr_nonnull(args[i]);
        for (int64_t j = 0; j < args[i]->type->nelem; j++)
            ((int32_t *)args[i]->data)[j] = (int32_t)lz_rnd_range(r, -1, i == 2 ? 3 : 5);
    }
    OK(lz_ref_run(f, args, want));
    for (uint32_t k = 0; k < 3; k++)
        got[k] = lz_alloc(want[k]->nbytes + 1);
    OK(lz_plan_run(p, (const void *[]){args[0]->data, args[1]->data, args[2]->data}, got));
    for (uint32_t k = 0; k < 3; k++)
        CHECK(memcmp(got[k], want[k]->data, want[k]->nbytes) == 0, text, "result %u differs", k);
    for (uint32_t k = 0; k < 3; k++) {
        lz_free(got[k]);
        lz_literal_release(want[k]);
        lz_literal_release(args[k]);
    }
}

START_TEST(as_reference)
{
    int in_place = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        writer w = {.r = {(uint64_t)_i * PROGRAMS + (uint64_t)i}};
        lz_buf b = {0};
        lz_func *f = NULL;
        lz_plan *p = NULL;
        program(&w, &b);
        const char *text = lz_buf_str(&b);
        CHECK(lz_func_parse(text, b.len, NULL, &f) == LZ_OK, text, "%s", lz_error_get()->message);
        bool donate[3] = {range(&w, 0, 1), range(&w, 0, 1), false};
        lz_lower_options o = {.donate = donate};
        CHECK(lz_lower(f, &o, &p) == LZ_OK, text, "%s", lz_error_get()->message);
        in_place += check_plan(p, &w.r, text);
        check_results(f, p, &w.r, text);
        lz_plan_free(p);
        lz_func_free(f);
        lz_buf_free(&b);
        lz_buf_free(&w.out);
    }
    ck_assert_msg(in_place > 0, "nothing is done in place");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("updates_random");
    TCase *t = tcase_create("updates");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, as_reference, 0, SEEDS);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
