/* passtest.h - a pass whose memory runs out at every point: it says so, gives all back, and makes
 * it the next time. */
#ifndef LZ_PASSTEST_H
#define LZ_PASSTEST_H
#include "base/alloc.h"
#include "lower/pass.h"
#include "suite.h"

/* Frees f. The pass runs once before, so that what it interns is there and counts as nothing that
 * is lost. */
static inline void lz_check_failing_memory(lz_func *f, const char *passes)
{
    lz_func *g;
    ck_assert_int_eq(lz_passes_run(f, passes, NULL, &g), LZ_OK);
    lz_func_free(g);
    for (int n = 1;; n++) {
        int64_t live = lz_alloc_live_bytes_hint();
        lz_alloc_fail_at(n, false);
        lz_status s = lz_passes_run(f, passes, NULL, &g);
        lz_alloc_fail_at(0, false);
        if (s == LZ_OK)
            break;
        ck_assert_msg(s == LZ_EMEM, "allocation %d: %s: %s", n, lz_status_name(s),
                      lz_error_get()->message);
        ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    }
    lz_func_free(g);
    lz_func_free(f);
}
#endif
