/* nn_internal.h - what nn/ uses below the public interface, the error record and the heap; and how
 * layers add their parameters. */
#ifndef LZ_NN_NN_INTERNAL_H
#define LZ_NN_NN_INTERNAL_H
#include "base/alloc.h"
#include "base/fork.h"
#include "base/status.h"
#include "base/unseen_error.h"
#include <lazuli/nn.h>

/* Gives the status of a function that is called for its effect: a failure is noted. */
static inline lz_status lz_nn_given(lz_status s)
{
    if (s != LZ_OK)
        lz_unseen_given(lz_error_get());
    return s;
}
/* Records the error as one of `op`, called at `site` (NULL: unknown), and gives the status back. */
static inline lz_status lz_nn_annotated(lz_status s, const char *op, const lz_site *site)
{
    lz_error_annotate(op, site);
    return lz_nn_given(s);
}
/* lz_status_of for `op` itself: the program has not looked at the failure. */
static inline lz_status lz_nn_status_of(const lz_tensor *t, const char *op)
{
    const char *outer = lz_error_speak_for(op);
    lz_status s = lz_status_of(t);
    (void)lz_error_speak_for(outer);
    return s;
}
#define LZ_NN_FAIL(status, op, site, ...)                                                          \
    lz_nn_annotated(LZ_FAIL((status), __VA_ARGS__), (op), (site))
/* Zeros, or ones of a floating-point dtype, in device memory of their own; lz_zeros of one step
 * would share memory. So each is updated in place from the first step on, and the first step traces
 * and compiles the same graph as all later ones. */
lz_tensor *lz_nn_filled(lz_dtype dtype, lz_shape shape, bool ones, const lz_site *site);
/* The same zeros retained. On failure *out stays. */
lz_status lz_nn_zeros(lz_tensor **out, lz_dtype dtype, lz_shape shape, const char *op,
                      const lz_site *site);
/* "[2, 3]" in text, which has room for 160 bytes. */
const char *lz_nn_shape_text(const lz_shape *s, char *text);

/* layer_scope.c: the tensor is a list's under this name, or no longer; the name scope of the layer
 * that has this weight (NULL: none), open until its end. */
void lz_nn_name(const lz_tensor *t, const char *param);
void lz_nn_unname(const lz_tensor *t, const char *param);
typedef struct lz_nn_layer {
    bool open;
    const char *outer;
    char name[256];
} lz_nn_layer;
void lz_nn_layer_begin(lz_nn_layer *l, const lz_tensor *weight);
void lz_nn_layer_end(lz_nn_layer *l);

/* Adds the parameters of one layer to a list under "<layer>.<what>": all of them or, after a
 * failure, none. Calls after a failure give NULL. */
typedef struct lz_module {
    lz_params *ps;
    const char *layer, *op;
    const lz_site *site;
    size_t before;
    lz_status status;
    bool open;
} lz_module;
void lz_module_begin(lz_module *m, lz_params *ps, const char *layer, const char *op,
                     const lz_site *site);
lz_tensor *lz_module_param(lz_module *m, const char *what, lz_tensor *t);
lz_tensor *lz_module_buffer(lz_module *m, const char *what, lz_tensor *t);
lz_status lz_module_end(lz_module *m);
#endif
