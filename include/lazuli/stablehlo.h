/* stablehlo.h - programs given as StableHLO text, as JAX's jax.jit(f).lower(...).as_text() prints
 * it, or as the bytecode that JAX hands to a compiler (StableHLO's portable artifacts, VHLO 0.9.0
 * to 1.20.0): read once, then called like any operation.
 *
 * A call records the program's operations, so they are compiled together with the operations around
 * them, lz_grad goes through it, and lz_function_trace keeps it from being recorded again.
 * Thread rule: a program is immutable; threads may call it at the same time.
 * Implemented in: runtime/region/stablehlo.c. */
#ifndef LAZULI_STABLEHLO_H
#define LAZULI_STABLEHLO_H
#include <lazuli/tensor.h>
LZ_EXTERN_C_BEGIN

typedef struct lz_stablehlo lz_stablehlo;
typedef struct lz_stablehlo_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_stablehlo_options));
    /* name of the function that is the program, without @; NULL: main, or the only public one */
    const char *entry LZ_DEFAULT(nullptr);
} lz_stablehlo_options;
/* Reads a module of n bytes, text or bytecode; o (NULL: the defaults) says which function it is.
 * name stands for the file in messages (NULL: "<text>"). Constants too large to be recorded (16
 * bytes) are uploaded to the thread's default device, where the program then has to be called. NULL
 * with an error recorded: LZ_ENULL; LZ_EPARSE and, for an operation that there is not,
 * LZ_EUNSUPPORTED, both with "name:line:column: what is wrong", where bytecode has the lines of the
 * text that it stands for, or "bytecode: byte 12: what is wrong"; LZ_EMEM, LZ_EDEVMEM,
 * LZ_EUNAVAILABLE. */
LZ_API lz_stablehlo *lz_stablehlo_parse_at(const char *text, size_t n, const char *name,
                                           const lz_stablehlo_options *o, const lz_site *site);
/* Ends a program. What was recorded by calls of it stays. NULL is fine. */
LZ_API void lz_stablehlo_free(lz_stablehlo *p);
/* How many inputs the program has; -1 for NULL. */
LZ_API int lz_stablehlo_num_inputs(const lz_stablehlo *p);
/* How many outputs the program has; -1 for NULL. */
LZ_API int lz_stablehlo_num_outputs(const lz_stablehlo *p);
/* Type of input i; dtype and shape may be NULL. LZ_ENULL, LZ_ERANGE. */
LZ_API lz_status lz_stablehlo_input(const lz_stablehlo *p, int i, lz_dtype *dtype, lz_shape *shape);
/* Type of output i; dtype and shape may be NULL. LZ_ENULL, LZ_ERANGE. */
LZ_API lz_status lz_stablehlo_output(const lz_stablehlo *p, int i, lz_dtype *dtype,
                                     lz_shape *shape);
/* out[k], handles of the innermost scope: the program on the nin tensors of `in`, which have its
 * inputs' types; nothing is promoted or broadcast. Errors, after which every out[k] is an error
 * tensor: LZ_ENULL; LZ_EINVAL (another number of inputs or outputs, tensors of two devices);
 * LZ_EDTYPE, LZ_ESHAPE naming the input; the error of an input; LZ_EMEM. */
LZ_API lz_status lz_stablehlo_call_at(const lz_stablehlo *p, lz_tensor *const *in, int nin,
                                      lz_tensor **out, int nout, const lz_site *site);
#define lz_stablehlo_parse(...) LZ_ARGS_stablehlo_parse(__VA_ARGS__, )
#define LZ_ARGS_stablehlo_parse(text, n, name, ...)                                                \
    lz_stablehlo_parse_at(text, n, name, LZ_OPTIONS_OF(lz_stablehlo_options, __VA_ARGS__), LZ_SITE)
#define lz_stablehlo_call(...) lz_stablehlo_call_at(__VA_ARGS__, LZ_SITE)
LZ_EXTERN_C_END
#endif
