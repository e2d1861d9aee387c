/* usage.h - what the usage line of a subcommand says, for programs: its options, their values, and
 * its other arguments. The line is what `lazuli --help` prints and the shells complete from. */
#ifndef LZ_TOOLS_LAZULI_USAGE_H
#define LZ_TOOLS_LAZULI_USAGE_H
#include "base/vec.h"
#include <stdbool.h>

typedef enum usage_value {
    USAGE_NONE,   /* an option without a value */
    USAGE_ANY,    /* NAME, N, X: nothing to complete */
    USAGE_WORDS,  /* cpu|ref|loop: one of these */
    USAGE_FILE,   /* FILE, F.npy */
    USAGE_DIR,    /* DIR */
    USAGE_PROGRAM /* PROGRAM: a command, then its own arguments */
} usage_value;

typedef struct usage_item {
    char option[32]; /* without the dashes; "": an argument that is no option */
    char words[96];  /* of USAGE_WORDS, with blanks between */
    usage_value value;
} usage_item;
typedef LZ_VEC(usage_item) usage_items;

/* "FILE [--device cpu|ref] [--input F.npy].. [--json|--svg]", in order. A part that does not fit an
 * item is left out of it. LZ_EMEM. */
lz_status usage_parse(const char *usage, usage_items *out);
#endif
