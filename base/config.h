/* config.h - every option, declared once in config.def, read from the environment (base/env.h) at
 * first use.
 * A former name (LZ_OPT_WAS) works with a warning, once. An unknown LAZULI_* variable, or a value
 * that does not parse, is warned about once and ignored. Threads: reading is thread-safe;
 * lz_config_set is for start-up and tests. */
#ifndef LZ_BASE_CONFIG_H
#define LZ_BASE_CONFIG_H
#include "base/status.h"

typedef enum lz_opt {
#define LZ_OPT_BOOL(id, env, def, doc) LZ_OPT_##id,
#define LZ_OPT_INT(id, env, def, min, max, doc) LZ_OPT_##id,
#define LZ_OPT_STR(id, env, def, doc) LZ_OPT_##id,
#include "base/config.def"
#undef LZ_OPT_BOOL
#undef LZ_OPT_INT
#undef LZ_OPT_STR
    LZ_OPT_COUNT
} lz_opt;
bool lz_cfg_bool(lz_opt o);
int64_t lz_cfg_int(lz_opt o);
/* never NULL; "" when unset. Lives for the process. */
const char *lz_cfg_str(lz_opt o);
/* given by the environment or lz_config_set */
bool lz_cfg_is_set(lz_opt o);
/* value NULL: back to the default */
lz_status lz_config_set(const char *env_name, const char *value);
/* warns about unknown LAZULI_* names; called at init */
void lz_config_check_unknown(void);
/* Row i of the table, for documentation and `lazuli env`; false past the end. */
bool lz_config_row(int i, const char **env, const char **type, const char **def, const char **doc);
/* The next number of a list of numbers between 0 and 1, as XLA_METRICS_PERCENTILES is one:
 * 0.5:0.9. False at its end, and where it has something else. */
bool lz_fraction_next(const char **list, double *out);
/* Whether `name` is an item of a comma-separated list. */
bool lz_list_has(const char *list, const char *name);
#endif
