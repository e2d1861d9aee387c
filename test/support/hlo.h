/* hlo.h - the programs of test/hlo: StableHLO as JAX lowers it, arguments, and what XLA answers
 * (test/hlo/make.py).
 * Tests run in the root of the tree. Threads: thread-compatible. */
#ifndef LZ_TEST_HLO_H
#define LZ_TEST_HLO_H
#include "ir/module.h"

typedef struct lz_hlo_case {
    char name[64];
    double tol; /* 0: exact; else |got - want| <= tol * (1 + |want|) */
    lz_func *f;
    lz_literal **args; /* f->nparam */
    lz_literal **want; /* f->nresult */
} lz_hlo_case;

/* lines of test/hlo/cases.txt; 0 when it is not there */
int lz_hlo_count(void);
lz_status lz_hlo_load(int index, lz_hlo_case *out); /* on failure nothing is left to free */
void lz_hlo_free(lz_hlo_case *c);
bool lz_hlo_met(const lz_hlo_case *c, lz_literal *const *got, char *msg, size_t nmsg);

/* Reads a .npy file of type t, version 1, little-endian, row-major. */
lz_literal *lz_test_npy(const char *path, const lz_type *t);
#endif
