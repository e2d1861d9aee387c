/* ew.h - the composites of ir/userops.def: lz_ew_<name>, from prepared operands to the result. */
#ifndef LZ_RUNTIME_EW_H
#define LZ_RUNTIME_EW_H
#include "runtime/tr.h"

#define LZ_UNARY(...)
#define LZ_BINARY(...)
#define LZ_COMPARE(...)
#define LZ_UNARY_OF(name, kind, takes, doc) lz_node *lz_ew_##name(lz_tr *c, lz_node *x);
#define LZ_BINARY_OF(name, kind, takes, doc)                                                       \
    lz_node *lz_ew_##name(lz_tr *c, lz_node *a, lz_node *b);
#include "ir/userops.def"
#endif
