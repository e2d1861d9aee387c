/* html.c - the reference as one HTML file that needs nothing else: a list of names, sections by
 * header, a search over names and text by a few lines of script. */
#include "tools/apidoc/apidoc.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

static const api *the_api;

static void put_escaped(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] == '<')
            fputs("&lt;", stdout);
        else if (s[i] == '>')
            fputs("&gt;", stdout);
        else if (s[i] == '&')
            fputs("&amp;", stdout);
        else if (s[i] == '"')
            fputs("&quot;", stdout);
        else
            putchar(s[i]);
}

/* Types may have the name of a function (struct lz_checkpoint). */
static const char *id_of(const decl *d)
{
    lz_buf b = {0};
    lz_buf_printf(&b, "%s%s", d->kind == DECL_TYPE ? "type-" : "", d->name);
    return keep_buf(&b);
}

/* What a word of the text is the name of: its id on the page, or NULL. */
static const char *target(const char *word)
{
    for (uint32_t h = 0; h < the_api->headers.len; h++) {
        const header *hd = &the_api->headers.data[h];
        if (strcmp(hd->name, word) == 0)
            return word;
        for (uint32_t b = 0; b < hd->blocks.len; b++)
            for (uint32_t i = 0; i < hd->blocks.data[b].decls.len; i++) {
                const decl *d = &hd->blocks.data[b].decls.data[i];
                if (d->name &&
                    (strcmp(d->name, word) == 0 || (d->plain && strcmp(d->plain, word) == 0)))
                    return id_of(d);
            }
    }
    return NULL;
}

/* Text in which names of the reference are links and `code` is code; self is the block's own name,
 * which is none. */
static void put_linked(const char *s, const char *self)
{
    bool code = false;
    while (*s) {
        size_t n = 0;
        while (lz_is_alnum(s[n]) || s[n] == '_' ||
               (s[n] == '.' && s[n + 1] == 'h' && !lz_is_alnum(s[n + 2])))
            n++;
        const char *word = keep_n(s, n);
        const char *to = n > 3 && (strncmp(word, "lz_", 3) == 0 || strncmp(word, "LZ_", 3) == 0 ||
                                   strstr(word, ".h"))
                             ? target(word)
                             : NULL;
        if (to && strcmp(to, self ? self : "") != 0)
            printf("<a href=\"#%s\"><code>%s</code></a>", to, word);
        else if (n && (strncmp(word, "lz_", 3) == 0 || strncmp(word, "LZ_", 3) == 0) && !code)
            printf("<code>%s</code>", word);
        else
            put_escaped(s, n);
        s += n;
        if (!n) {
            if (*s == '`') {
                fputs(code ? "</code>" : "<code>", stdout);
                code = !code;
            } else
                put_escaped(s, 1);
            s++;
        }
    }
    if (code)
        fputs("</code>", stdout);
}

static void put_text(const char *text, const char *self)
{
    paragraphs ps = {0};
    paragraphs_of(text, &ps);
    for (uint32_t i = 0; i < ps.len; i++) {
        const paragraph *p = &ps.data[i];
        if (p->kind == PARA_CODE) {
            fputs("<pre>", stdout);
            put_escaped(p->text, strlen(p->text));
            puts("</pre>");
            continue;
        }
        fputs(p->kind == PARA_ITEM ? "<p class=item>" : "<p>", stdout);
        put_linked(p->text, self);
        puts("</p>");
    }
    lz_vec_free(&ps);
}

static void put_options(const record *r)
{
    printf("<table><caption>Options (<a href=\"#type-%s\"><code>%s</code></a>)</caption>\n",
           r->name, r->name);
    for (uint32_t i = 0; i < r->fields.len; i++) {
        const field *f = &r->fields.data[i];
        printf("<tr><td><code>.%s</code><td><code>", f->name);
        put_escaped(f->type, strlen(f->type));
        fputs("</code><td>", stdout);
        put_linked(f->text, NULL);
        puts("");
    }
    puts("</table>");
}

/* The name in bold within its signature. */
static void put_signature(const char *sig, const char *name)
{
    const char *at = strstr(sig, name);
    while (at && (lz_is_alnum(at[strlen(name)]) || at[strlen(name)] == '_'))
        at = strstr(at + 1, name);
    size_t n = at ? (size_t)(at - sig) : 0;
    put_escaped(sig, n);
    if (at) {
        printf("<b>%s</b>", name);
        n += strlen(name);
    }
    put_escaped(sig + n, strlen(sig + n));
}

static void put_block(const block *b)
{
    const decl *first = &b->decls.data[0];
    fputs("<article>\n", stdout);
    bool plain = false;
    for (uint32_t i = 0; i < b->decls.len; i++) {
        const decl *d = &b->decls.data[i];
        const char *sig = signature(the_api, d, false);
        printf("<pre class=%s id=\"%s\">", d->kind == DECL_FUNC ? "sig" : "type", id_of(d));
        put_signature(sig, d->name);
        puts("</pre>");
        plain |= d->written != NULL;
    }
    put_text(b->text, first->name);
    uint32_t at = 0;
    for (const record *r; (r = block_options(the_api, b, &at));)
        put_options(r);
    if (plain) {
        fputs("<details><summary>the plain function</summary>", stdout);
        for (uint32_t i = 0; i < b->decls.len; i++)
            if (b->decls.data[i].written) {
                fputs("<pre class=sig>", stdout);
                put_escaped(b->decls.data[i].source, strlen(b->decls.data[i].source));
                puts("</pre>");
            }
        puts("</details>");
    }
    puts("</article>");
}

static void put_nav(void)
{
    puts("<nav><input id=q type=search placeholder=\"Search (press /)\" autocomplete=off><p "
         "id=count></p>");
    for (uint32_t h = 0; h < the_api->headers.len; h++) {
        const header *hd = &the_api->headers.data[h];
        printf("<details><summary><a href=\"#%s\">%s</a></summary>\n", hd->name, hd->name);
        for (uint32_t b = 0; b < hd->blocks.len; b++)
            for (uint32_t i = 0; i < hd->blocks.data[b].decls.len; i++) {
                const decl *d = &hd->blocks.data[b].decls.data[i];
                printf("<a href=\"#%s\"%s>%s</a>\n", id_of(d),
                       d->kind == DECL_FUNC ? "" : " class=t", d->name);
            }
        puts("</details>");
    }
    puts("</nav>");
}

static void put_header(const header *h)
{
    printf("<section><h2 id=\"%s\">%s</h2>\n<p class=lead>", h->name, h->name);
    put_linked(h->title, NULL);
    puts("</p>");
    printf("<pre class=sig>#include &lt;lazuli/%s&gt;</pre>\n", h->name);
    put_text(h->text, NULL);
    for (uint32_t i = 0; i < h->blocks.len; i++) {
        const block *b = &h->blocks.data[i];
        if (b->kind == BLOCK_SECTION) {
            fputs("<h3>", stdout);
            putchar(lz_to_upper(b->title[0]));
            put_escaped(b->title + 1, strlen(b->title + 1));
            puts("</h3>");
            put_text(b->text, NULL);
        } else if (b->kind == BLOCK_NOTE) {
            puts("<div class=note>");
            put_text(b->text, NULL);
            puts("</div>");
        } else
            put_block(b);
    }
    puts("</section>");
}

static const char style[] =
    ":root{--fg:#1c2330;--dim:#5a6472;--bg:#fff;--side:#f5f6f8;--line:#dde1e7;--sig:#f0f3f8;--link:"
    "#0b57b0}\n"
    "@media(prefers-color-scheme:dark){:root{--fg:#d8dee8;--dim:#98a2b1;--bg:#14181f;--side:#"
    "191e27;--line:#2c3442;--sig:#1e2530;--link:#7fb3f5}}\n"
    "*{box-sizing:border-box}html{scroll-padding-top:1rem}\n"
    "body{margin:0;color:var(--fg);background:var(--bg);font:16px/1.5 system-ui,sans-serif}\n"
    "a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}\n"
    "nav{position:fixed;inset:0 auto 0 "
    "0;width:19rem;overflow:auto;padding:1rem;background:var(--side);border-right:1px solid "
    "var(--line);font-size:14px}\n"
    "nav details>a{display:block;padding-left:1.1rem;overflow-wrap:anywhere}nav .t{opacity:.75}\n"
    "nav input{width:100%;padding:.5rem;font:inherit;color:inherit;background:var(--bg);border:1px "
    "solid var(--line);border-radius:6px}\n"
    "#count{color:var(--dim);margin:.4rem 0;min-height:1.4em}\n"
    "main{margin-left:19rem;padding:1rem 2.5rem 6rem;max-width:66rem}\n"
    "h2{margin:3rem 0 .2rem;padding-top:1rem;border-top:2px solid var(--line)}h3{margin:2.2rem 0 "
    ".4rem}\n"
    ".lead{font-size:1.1rem;margin:.2rem 0 "
    ".8rem;color:var(--dim)}.lead::first-letter{text-transform:uppercase}\n"
    "article{margin:1.3rem 0 1.8rem}article p,.note p{margin:.4rem "
    "0}\n"
    "code,pre{font:13.5px/1.5 "
    "ui-monospace,Menlo,Consolas,monospace}pre{margin:0;white-space:pre-wrap;overflow-wrap:"
    "anywhere}\n"
    ".sig,.type{background:var(--sig);padding:.15rem .7rem .15rem "
    "2.7rem;text-indent:-2rem;border-left:3px solid var(--link)}\n"
    ".type{padding-left:.7rem;text-indent:0;border-color:var(--dim)}article>pre:first-child{"
    "padding-top:.4rem}\n"
    "p.item{padding-left:1.2rem;text-indent:-1rem}p.item::before{content:'\\2022\\a0\\a0'}\n"
    "table{border-collapse:collapse;margin:.6rem "
    "0;font-size:15px}caption{text-align:left;color:var(--dim)}\n"
    "td{padding:.15rem .9rem .15rem 0;vertical-align:top;border-top:1px solid "
    "var(--line)}td:first-child{white-space:nowrap}\n"
    "article details{margin-top:.4rem;color:var(--dim);font-size:14px}summary{cursor:pointer}\n"
    ".note{color:var(--dim)}.hide{display:none!important}:target{outline:2px solid var(--link)}\n"
    "@media(max-width:50rem){nav{position:static;width:auto;max-height:40vh}main{margin:0;padding:"
    "1rem}}\n";

static const char script[] =
    "const q=document.getElementById('q'),count=document.getElementById('count');\n"
    "const "
    "arts=[...document.querySelectorAll('article')].map(e=>[e,e.textContent.toLowerCase()]);\n"
    "const links=[...document.querySelectorAll('nav "
    "details>a')].map(e=>[e,e.textContent.toLowerCase()]);\n"
    "const rest=[...document.querySelectorAll('main h3,main .note,main section>p,main "
    "section>pre,main section>div,#about')];\n"
    "const secs=[...document.querySelectorAll('main "
    "section')],navs=[...document.querySelectorAll('nav details')];\n"
    "function search(){\n"
    "  const words=q.value.toLowerCase().split(/\\s+/).filter(Boolean),on=words.length>0;let n=0;\n"
    "  const ids=new Set();\n"
    "  for(const[e,t]of arts){const "
    "hit=!on||words.every(w=>t.includes(w));e.classList.toggle('hide',!hit);\n"
    "    if(hit){n++;if(on)e.querySelectorAll('pre[id]').forEach(p=>ids.add(p.id));}}\n"
    "  for(const[e,t]of links)e.classList.toggle('hide',on&&!ids.has(e.hash.slice(1)));\n"
    "  for(const e of rest)e.classList.toggle('hide',on);\n"
    "  for(const s of secs)s.classList.toggle('hide',on&&!s.querySelector('article:not(.hide)'));\n"
    "  for(const d of navs){const some=d.querySelector('a:not(.hide)~a,summary~a:not(.hide)');\n"
    "    d.classList.toggle('hide',on&&!d.querySelector('summary~a:not(.hide)'));d.open=on;}\n"
    "  count.textContent=on?n+(n==1?' entry':' entries'):'';\n"
    "  "
    "history.replaceState(null,'',on?'?q='+encodeURIComponent(q.value):location.pathname+location."
    "hash);\n"
    "}\n"
    "q.addEventListener('input',search);\n"
    "document.addEventListener('keydown',e=>{if(e.key=='/"
    "'&&document.activeElement!=q){e.preventDefault();q.focus();q.select();}\n"
    "  if(e.key=='Escape'){q.value='';search();q.blur();}});\n"
    "document.querySelector('nav').addEventListener('click',e=>{const a=e.target.closest('a');\n"
    "  if(a&&q.value){q.value='';search();location.hash=a.hash;}});\n"
    "const given=new "
    "URLSearchParams(location.search).get('q');if(given){q.value=given;search();}\n";

void api_html(const api *a, const char *version)
{
    the_api = a;
    uint32_t functions = 0;
    for (uint32_t h = 0; h < a->headers.len; h++)
        for (uint32_t b = 0; b < a->headers.data[h].blocks.len; b++)
            for (uint32_t i = 0; i < a->headers.data[h].blocks.data[b].decls.len; i++)
                functions += a->headers.data[h].blocks.data[b].decls.data[i].kind == DECL_FUNC;
    printf("<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
           "content=\"width=device-width\">\n"
           "<title>Lazuli %s: API reference</title>\n<style>\n%s</style>\n<body>\n",
           version, style);
    put_nav();
    printf("<main><h1>Lazuli %s: API reference</h1>\n<div id=about><p>%u functions by header. "
           "Signatures are those one writes. Most "
           "are macros that add the call site: options are given by name at the end and may be "
           "left out, as in "
           "<code>lz_sum(x, .dims = LZ_DIM(0), .keepdim = true)</code>. Under each macro is a "
           "plain function, for other "
           "languages: it takes the options as a pointer to a struct (<code>struct_size</code> "
           "first; NULL where the text says "
           "so) and the call site, which may be NULL.</p>\n"
           "<p>A function that returns a <code>lz_tensor *</code> always returns a handle. When it "
           "fails, that is an error "
           "tensor, which carries the first error to the next call that returns a status or a "
           "number.</p></div>\n",
           version, functions);
    for (uint32_t h = 0; h < a->headers.len; h++)
        put_header(&a->headers.data[h]);
    printf("</main>\n<script>\n%s</script>\n</body></html>\n", script);
}
