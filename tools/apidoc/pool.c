/* pool.c - text that lives as long as the program, and splitting it. */
#include "tools/apidoc/apidoc.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static LZ_VEC(char *) pool;

const char *keep_n(const char *s, size_t n)
{
    char *p = malloc(n + 1);
    if (!p || lz_vec_push(&pool, p) != LZ_OK)
        abort();
    memcpy(p, s, n);
    p[n] = 0;
    return p;
}

const char *keep(const char *s)
{
    return keep_n(s, strlen(s));
}

const char *keep_buf(lz_buf *b)
{
    const char *s = keep(lz_buf_str(b));
    lz_buf_free(b);
    *b = (lz_buf){0};
    return s;
}

void pool_free(void)
{
    for (uint32_t i = 0; i < pool.len; i++)
        free(pool.data[i]);
    lz_vec_free(&pool);
}

const char *trimmed(const char *s, size_t n)
{
    while (n && lz_is_space(*s))
        s++, n--;
    while (n && lz_is_space(s[n - 1]))
        n--;
    return keep_n(s, n);
}

const char *collapsed(const char *s)
{
    lz_buf b = {0};
    for (; *s; s++)
        if (!lz_is_space(*s))
            lz_buf_putc(&b, *s);
        else if (b.len && s[1] && !lz_is_space(s[1]))
            lz_buf_putc(&b, ' ');
    return keep_buf(&b);
}

const char *read_all(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return NULL;
    }
    lz_buf b = {0};
    char chunk[4096];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        lz_buf_put(&b, chunk, n);
    fclose(f);
    return keep_buf(&b);
}

void split_list(const char *s, size_t n, strings *out)
{
    int depth = 0;
    size_t from = 0;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && s[i] == '/' && s[i + 1] == '*') {
            const char *end = strstr(s + i + 2, "*/");
            i = end ? (size_t)(end - s) + 1 : n - 1;
            continue;
        }
        if (i < n && s[i] == '"') {
            while (i + 1 < n && s[i + 1] != '"')
                i += s[i + 1] == '\\' ? 2 : 1;
            i++;
        } else if (i < n && strchr("([{", s[i]))
            depth++;
        else if (i < n && strchr(")]}", s[i]))
            depth--;
        else if (i == n || (s[i] == ',' && depth == 0)) {
            const char *one = trimmed(s + from, i - from);
            if (*one || i < n)
                (void)lz_vec_push(out, one);
            from = i + 1;
        }
    }
}
