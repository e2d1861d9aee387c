/* run.c - lazuli run: runs StableHLO programs on a device, from .npy to .npy, and compares the
 * results with the reference interpreter when asked, and with the results stated in the program
 * itself. */
#include "backends/backend.h"
#include "base/timeline/timeline.h"
#include "ir/eval/agreement.h"
#include "ir/participants.h"
#include "ir/text/check.h"
#include "lower/plan/plan.h"
#include "tools/lazuli/run.h"
#include "base/text.h"
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- inputs ---- */
static void fill_random(lz_literal *l, uint64_t *r)
{
    lz_dtype part;
    int64_t n = l->type->nelem * lz_components(l->type, &part);
    bool flt = lz_dtype_is_float(part);
    for (int64_t i = 0; i < n; i++) {
        *r = *r * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = *r >> 11;
        if (flt)
            lz_elem_set_f64(part, l->data, i, (double)bits / 4503599627370496.0 - 1);
        else
            lz_elem_set_i64(part, l->data, i, (int64_t)(bits % (part == LZ_BOOL ? 2 : 8)));
    }
}

lz_status run_load_inputs(const run_options *o, const lz_func *f, lz_literal **in)
{
    bool random = o->random || (o->ninput == 0 && o->compare);
    uint64_t r = o->seed;
    if (!random && (uint32_t)o->ninput != f->nparam)
        return LZ_FAIL(LZ_EINVAL,
                       "the program takes %u inputs, not %d (--input F.npy for each, or --random "
                       "SEED)",
                       f->nparam, o->ninput);
    for (uint32_t i = 0; i < f->nparam; i++) {
        const lz_type *t = lz_val_type(f, i);
        if (random) {
            if (!(in[i] = lz_literal_new(t)))
                return LZ_FAIL(LZ_EMEM, "no memory for input %u", i);
            fill_random(in[i], &r);
            continue;
        }
        LZ_TRY(tool_npy_read(o->input[i], t->dtype, &in[i]));
        char have[96], want[96];
        if (in[i]->type != t)
            return LZ_FAIL(LZ_ESHAPE, "%s: is %s, argument %u is %s", o->input[i],
                           lz_type_short(in[i]->type, have, sizeof have), i,
                           lz_type_short(t, want, sizeof want));
    }
    return LZ_OK;
}

/* ---- execution ---- */
static lz_status run_again(const lz_backend *b, lz_exec *x, lz_device_buffer **in,
                           const bool *donated, lz_device_buffer **out, uint32_t nout)
{
    lz_event *done = NULL;
    lz_status s = b->execute(x, 0, in, donated, true, out, &done);
    if (s == LZ_OK)
        s = lz_event_wait(done);
    for (uint32_t i = 0; i < nout; i++) {
        lz_device_buffer_release(out[i]);
        out[i] = NULL;
    }
    lz_event_release(done);
    return s;
}

/* The results of the last of `times` runs. */
static lz_status run_backend(const lz_backend *b, const lz_func *f, uint64_t times,
                             lz_literal *const *in, lz_literal **out)
{
    lz_device_buffer **bin = lz_calloc(f->nparam + 1, sizeof *bin),
                     **bout = lz_calloc(f->nresult + 1, sizeof *bout);
    bool *donated = lz_calloc(f->nparam + 1, sizeof *donated);
    lz_exec *x = NULL;
    lz_event *done = NULL;
    lz_compile_options co = {.dump_name = "run"};
    lz_status s = bin && bout && donated ? b->init() : LZ_EMEM;
    for (uint32_t i = 0; i < f->nparam && s == LZ_OK; i++) {
        s = b->alloc(0, in[i]->nbytes, &bin[i]);
        if (s == LZ_OK)
            s = b->copy_in(bin[i], in[i]->data, in[i]->nbytes);
    }
    int64_t t0 = lz_timeline_begin();
    if (s == LZ_OK)
        s = b->compile(0, f, &co, &x);
    lz_timeline_end(t0, .name = "compile program", .category = "compile");
    for (uint64_t i = 1; i < times && s == LZ_OK; i++)
        s = run_again(b, x, bin, donated, bout, f->nresult);
    if (s == LZ_OK)
        s = b->execute(x, 0, bin, donated, true, bout, &done);
    if (s == LZ_OK)
        s = lz_event_wait(done);
    for (uint32_t i = 0; i < f->nresult && s == LZ_OK; i++) {
        out[i] = lz_literal_new(lz_val_type(f, f->results[i]));
        s = out[i] ? b->copy_out(bout[i], out[i]->data, out[i]->nbytes) : LZ_EMEM;
    }
    for (uint32_t i = 0; bin && i < f->nparam; i++)
        lz_device_buffer_release(bin[i]);
    for (uint32_t i = 0; bout && i < f->nresult; i++)
        lz_device_buffer_release(bout[i]);
    lz_event_release(done);
    if (x)
        b->exec_free(x);
    lz_free(bin);
    lz_free(bout);
    lz_free(donated);
    return s;
}

/* Runs the plan with the loop-IR interpreter: the compiler without code generation. */
static lz_status run_loops(const lz_func *f, lz_literal *const *in, lz_literal **out)
{
    lz_plan *p = NULL;
    LZ_TRY(lz_lower(f, &(lz_lower_options){.b2b = LZ_B2B_PROFITABLE}, &p));
    const void **bin = lz_calloc(f->nparam + 1, sizeof *bin);
    void **bout = lz_calloc(f->nresult + 1, sizeof *bout);
    lz_status s = bin && bout ? LZ_OK : LZ_EMEM;
    for (uint32_t i = 0; i < f->nparam && s == LZ_OK; i++)
        bin[i] = in[i]->data;
    for (uint32_t i = 0; i < f->nresult && s == LZ_OK; i++) {
        out[i] = lz_literal_new(lz_val_type(f, f->results[i]));
        s = out[i] ? LZ_OK : LZ_EMEM;
        if (out[i])
            bout[i] = out[i]->data;
    }
    if (s == LZ_OK)
        s = lz_plan_run(p, bin, bout);
    lz_free(bin);
    lz_free(bout);
    lz_plan_free(p);
    return s;
}

static lz_status execute(const char *device, const lz_func *f, uint64_t times,
                         lz_literal *const *in, lz_literal **out)
{
    if (strcmp(device, "loop") == 0)
        return run_loops(f, in, out);
    return run_backend(lz_backend_get(device), f, times, in, out);
}

/* ---- comparison ---- */
static lz_status run_other(void *user, const lz_func *f, lz_literal *const *in, lz_literal **out)
{
    return execute(user, f, 1, in, out);
}

/* Whether result k is the same; prints the first element that is not. */
static bool same_result(const run_options *o, const lz_literal *got, const lz_literal *want,
                        const lz_moves *m, uint32_t k)
{
    int64_t i;
    lz_dtype d;
    if (lz_agrees(m, k, got, want, o->rtol, o->atol, &i))
        return true;
    uint32_t parts = lz_components(got->type, &d);
    lz_fprintf(stderr, "lazuli: result %u element %" PRId64 ": %s gives %.17g, %s gives %.17g\n", k,
               i / parts, o->device, lz_elem_get_f64(d, got->data, i), o->compare,
               lz_elem_get_f64(d, want->data, i));
    return false;
}

static int compare(const run_options *o, const lz_func *f, lz_literal *const *in,
                   lz_literal *const *got)
{
    int bad = 0;
    lz_moves m = {0};
    lz_literal **want = lz_calloc(f->nresult + 1, sizeof *want);
    if (!want || execute(o->compare, f, 1, in, want) != LZ_OK ||
        (o->rtol < 0 && o->atol < 0 &&
         lz_moves_measure(&m, f, in, want, run_other, (void *)(uintptr_t)o->compare) != LZ_OK))
        bad = tool_fail(o->compare);
    for (uint32_t k = 0; k < f->nresult && !bad; k++)
        bad = !same_result(o, got[k], want[k], &m, k);
    lz_moves_free(&m);
    for (uint32_t k = 0; want && k < f->nresult; k++)
        lz_literal_release(want[k]);
    lz_free(want);
    if (!bad)
        printf("%u results agree with %s\n", f->nresult, o->compare);
    return bad;
}

int run_deliver(const run_options *o, lz_literal *const *out, uint32_t n)
{
    if (o->output_dir && mkdir(o->output_dir, 0777) != 0 && access(o->output_dir, W_OK) != 0) {
        fprintf(stderr, "lazuli: %s: %m\n", o->output_dir);
        return 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        char path[4096];
        if (!o->output_dir) {
            tool_print_literal(stdout, out[i]);
            continue;
        }
        if (snprintf(path, sizeof path, "%s/%u.npy", o->output_dir, i) >= (int)sizeof path)
            return tool_usage("the output directory's name is too long");
        if (tool_npy_write(path, out[i]) != LZ_OK)
            return tool_fail("run");
    }
    return 0;
}

static bool is_way(const char *option, const char *name)
{
    if (strcmp(name, "loop") == 0 || lz_backend_get(name))
        return true;
    tool_usage("%s takes a device (lazuli devices lists them) or loop, not '%s'", option, name);
    return false;
}

static int parse(int argc, char **argv, run_options *o)
{
    static const struct option names[] = {{"device", 1, 0, 'd'},
                                          {"input", 1, 0, 'i'},
                                          {"output-dir", 1, 0, 'o'},
                                          {"compare", 1, 0, 'c'},
                                          {"random", 1, 0, 'r'},
                                          {"rtol", 1, 0, 'R'},
                                          {"atol", 1, 0, 'A'},
                                          {"times", 1, 0, 't'},
                                          {"trace", 1, 0, 'T'},
                                          {"entry", 1, 0, 'E'},
                                          {"devices", 1, 0, 'N'},
                                          {"print-collectives", 0, 0, 'C'},
                                          {0}};
    *o = (run_options){.device = "cpu", .rtol = -1, .atol = -1, .seed = 1, .times = 1};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;)
        switch (c) {
        case 'd':
            if (!is_way("--device", o->device = optarg))
                return 2;
            break;
        case 'i':
            if (o->ninput == RUN_MAX_INPUTS)
                return tool_usage("more than %d inputs", RUN_MAX_INPUTS);
            o->input[o->ninput++] = optarg;
            break;
        case 'o':
            o->output_dir = optarg;
            break;
        case 'c':
            if (!is_way("--compare", o->compare = optarg))
                return 2;
            break;
        case 'r':
            o->random = true;
            if (!tool_uint("--random", optarg, 0, UINT64_MAX, &o->seed))
                return 2;
            break;
        case 't':
            if (!tool_uint("--times", optarg, 1, 1000000, &o->times))
                return 2;
            break;
        case 'T':
            o->trace = optarg;
            break;
        case 'E':
            o->entry = optarg;
            break;
        case 'N':
            if (!tool_uint("--devices", optarg, 1, LZ_MAX_PARTITIONS, &o->devices))
                return 2;
            break;
        case 'C':
            o->print_collectives = true;
            break;
        case 'R':
            if (!tool_tolerance("--rtol", optarg, &o->rtol))
                return 2;
            break;
        case 'A':
            if (!tool_tolerance("--atol", optarg, &o->atol))
                return 2;
            break;
        default:
            return 2;
        }
    if (optind + 1 != argc)
        return tool_usage("one FILE.mlir is needed");
    if (o->random && o->ninput)
        return tool_usage("--random and --input exclude each other");
    if (!o->compare && (o->rtol >= 0 || o->atol >= 0))
        return tool_usage("--rtol and --atol belong to --compare");
    if (o->print_collectives && !o->devices)
        return tool_usage("--print-collectives belongs to --devices");
    if (o->compare && o->devices)
        return tool_usage("--compare and --devices exclude each other");
    o->file = argv[optind];
    return 0;
}

/* ---- functions with checks ---- */
/* [1, 2] of element i. */
static void print_index(FILE *f, const lz_shape *s, int64_t i)
{
    int64_t at[LZ_MAX_RANK];
    for (int d = s->rank; d-- > 0; i /= s->dims[d])
        at[d] = i % s->dims[d];
    fputc('[', f);
    for (int d = 0; d < s->rank; d++)
        fprintf(f, "%s%" PRId64, d ? ", " : "", at[d]);
    fputc(']', f);
}

static int look_at(const run_options *o, const lz_check *c, const lz_literal *got,
                   const lz_literal *want)
{
    int64_t element, ulp;
    if (lz_check_holds(c, got, want, &element, &ulp))
        return 0;
    fprintf(stderr, "lazuli: %s:%d: %s: ", o->file, c->line, c->name);
    print_index(stderr, &got->type->shape, element);
    fputs(" is ", stderr);
    tool_print_element(stderr, got, element);
    fputs(", expected ", stderr);
    tool_print_element(stderr, want, element);
    if (c->kind == LZ_CHECK_CLOSE && ulp != INT64_MAX)
        fprintf(stderr, "; %" PRId64 " ulp apart, not %" PRId64 " to %" PRId64, ulp, c->min_ulp,
                c->max_ulp);
    fputc('\n', stderr);
    return 1;
}

static int look_at_all(const run_options *o, const lz_checked *c, lz_literal *const *out)
{
    int rc = 0;
    for (uint32_t i = 0; i < c->ncheck; i++)
        rc |= look_at(o, &c->checks[i], out[c->checks[i].got], out[c->checks[i].want]);
    if (!rc)
        printf("%s: %u check%s\n", c->name, c->ncheck, c->ncheck == 1 ? "" : "s");
    return rc;
}

/* The checked values must be computed by the device, not folded by the compiler: the text's
 * constants become arguments. */
static int run_checked(const run_options *o, const lz_checked *c)
{
    lz_func *f = NULL;
    int rc = 0;
    lz_literal **in = lz_calloc(c->f->ninst + 1, sizeof *in),
               **out = lz_calloc(c->f->nresult + 1, sizeof *out);
    if (!in || !out || run_load_inputs(o, c->f, in) != LZ_OK ||
        lz_func_free_constants(c->f, 0, &f, in + c->f->nparam) != LZ_OK ||
        execute(o->device, f, o->times, in, out) != LZ_OK) {
        fprintf(stderr, "lazuli: %s: @%s: %s\n", o->file, c->name, lz_error_get()->message);
        rc = 1;
    } else {
        rc = look_at_all(o, c, out);
        if (rc == 0 && o->output_dir)
            rc = run_deliver(o, out, c->nreturn);
    }
    for (uint32_t i = 0; in && i < c->f->nparam; i++)
        lz_literal_release(in[i]);
    for (uint32_t i = 0; out && i < c->f->nresult; i++)
        lz_literal_release(out[i]);
    lz_free(in);
    lz_free(out);
    lz_func_free(f);
    return rc;
}

static int run_plain(const run_options *o, const lz_func *f)
{
    int rc = 0;
    lz_literal **in = lz_calloc(f->nparam + 1, sizeof *in),
               **out = lz_calloc(f->nresult + 1, sizeof *out);
    if (!in || !out || run_load_inputs(o, f, in) != LZ_OK ||
        execute(o->device, f, o->times, in, out) != LZ_OK)
        rc = tool_fail(o->file);
    if (rc == 0 && o->compare)
        rc = compare(o, f, in, out);
    if (rc == 0 && (!o->compare || o->output_dir))
        rc = run_deliver(o, out, f->nresult);
    for (uint32_t i = 0; in && i < f->nparam; i++)
        lz_literal_release(in[i]);
    for (uint32_t i = 0; out && i < f->nresult; i++)
        lz_literal_release(out[i]);
    lz_free(in);
    lz_free(out);
    return rc;
}

typedef struct running {
    const run_options *o;
    int rc;
} running;

static lz_status run_one(const lz_checked *c, void *user)
{
    running *r = user;
    int rc = !c ? tool_fail("run") : c->ncheck ? run_checked(r->o, c) : run_plain(r->o, c->f);
    r->rc = rc > r->rc ? rc : r->rc;
    return LZ_OK;
}

int tool_run(int argc, char **argv)
{
    run_options o;
    lz_buf text = {0};
    int rc = parse(argc, argv, &o);
    if (rc)
        return rc;
    bool traces = run_traces(&o);
    if (traces && lz_timeline_start(o.trace, LZ_TIMELINE_EVENTS) != LZ_OK)
        return tool_fail("--trace");
    running r = {&o, 0};
    if (o.devices)
        r.rc = run_on_devices(&o);
    else if (tool_read_text(o.file, &text) != LZ_OK)
        r.rc = tool_fail("run");
    else if (lz_checked_parse(lz_buf_str(&text), text.len, o.file, o.entry, run_one, &r) != LZ_OK)
        r.rc = tool_fail("run");
    lz_buf_free(&text);
    if (traces && lz_timeline_stop() != LZ_OK)
        return tool_fail("--trace");
    return r.rc;
}
