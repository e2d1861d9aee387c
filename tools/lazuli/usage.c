/* usage.c - reads the usage line of a subcommand. */
#include "tools/lazuli/usage.h"
#include <string.h>

/* A part of the line between blanks, brackets and bars before an option. */
typedef struct part {
    const char *at;
    size_t len;
    bool closed; /* a bracket or a bar ends it: what follows is not its value */
} part;

static bool next_part(const char **s, part *p)
{
    const char *at = *s + strspn(*s, " [|");
    size_t n = 0;
    while (at[n] && at[n] != ' ' && at[n] != ']' && !(at[n] == '|' && at[n + 1] == '-'))
        n++;
    *p = (part){at, n, at[n] && at[n] != ' '};
    *s = at + n;
    *s += strspn(*s, "].");
    return n > 0;
}

/* Whether it ends so, dots that mean repetition aside. */
static bool ends(const part *p, const char *with)
{
    size_t n = p->len, k = strlen(with);
    while (n && p->at[n - 1] == '.')
        n--;
    return n >= k && memcmp(p->at + n - k, with, k) == 0;
}

static bool is_words(const part *p)
{
    bool bar = false;
    for (size_t i = 0; i < p->len; i++) {
        bar = bar || p->at[i] == '|';
        if (p->at[i] != '|' && p->at[i] != '-' && p->at[i] != '_' &&
            !(p->at[i] >= 'a' && p->at[i] <= 'z'))
            return false;
    }
    return bar;
}

static void put_value(usage_item *item, const part *p)
{
    item->value = USAGE_ANY;
    if (is_words(p) && p->len < sizeof item->words) {
        item->value = USAGE_WORDS;
        memcpy(item->words, p->at, p->len);
        for (char *c = item->words; *c; c++)
            if (*c == '|')
                *c = ' ';
    } else if (ends(p, "FILE") || ends(p, ".mlir") || ends(p, ".npy"))
        item->value = USAGE_FILE;
    else if (ends(p, "DIR"))
        item->value = USAGE_DIR;
    else if (ends(p, "PROGRAM"))
        item->value = USAGE_PROGRAM;
}

lz_status usage_parse(const char *usage, usage_items *out)
{
    part p, value;
    while (next_part(&usage, &p)) {
        usage_item item = {0};
        if (p.len > 2 && memcmp(p.at, "--", 2) == 0) {
            size_t n = strcspn(p.at + 2, "= ]|");
            memcpy(item.option, p.at + 2, n < sizeof item.option ? n : 0);
            if (n + 2 < p.len) /* --emit=a|b */
                put_value(&item, &(part){p.at + n + 3, p.len - n - 3, false});
            else if (!p.closed && *usage == ' ' && usage[1] != '[' && next_part(&usage, &value))
                put_value(&item, &value);
        } else if (p.at[0] == '-') { /* -o FILE, or -- */
            if (p.len > 2 || p.closed || !next_part(&usage, &value))
                continue;
            put_value(&item, &value);
        } else
            put_value(&item, &p);
        LZ_TRY(lz_vec_push(out, item));
    }
    return LZ_OK;
}
