/* completions.c - lazuli completions: prints what bash, zsh or fish completes of this command, from
 * its table of subcommands and their usage lines. */
#include "ir/op.h"
#include "lower/pass.h"
#include "shard/cost/cost_model.h"
#include "tools/lazuli/tool.h"
#include "tools/lazuli/usage.h"
#include <string.h>

typedef struct command {
    const char *name, *doc;
    usage_items items;
} command;
typedef LZ_VEC(command) command_list;

/* A description up to its first stop, in single quotes of all three shells. */
static void put_doc(lz_buf *b, const char *doc, const char *also_not)
{
    for (; *doc && *doc != ';' && *doc != ':' && strncmp(doc, ". ", 2) != 0; doc++)
        if (*doc != '\'' && *doc != '\\' && !strchr(also_not, *doc))
            lz_buf_putc(b, *doc);
}

/* What else there is to choose from than the usage line can say; false: nothing. */
static bool put_names(lz_buf *b, const command *c, const usage_item *item, const char *between)
{
    if (strcmp(c->name, "ops") == 0 && !*item->option)
        for (int op = 1; op < LZ_OP_COUNT; op++)
            lz_buf_printf(b, "%s%s", op > 1 ? between : "", lz_op_get((lz_op)op)->text);
    else if (strcmp(item->option, "passes") == 0) {
        const lz_pass *p;
        for (int i = 0; (p = lz_pass_at(i)); i++)
            lz_buf_printf(b, "%s%s", i ? between : "", p->name);
    } else if (strcmp(item->option, "simulate") == 0) {
        const lz_cost_machine *m;
        for (int i = 0; (m = lz_cost_machine_at(i)); i++)
            lz_buf_printf(b, "%s%s", i ? between : "", m->name);
    } else
        return false;
    return true;
}

/* The words of an item, with blanks between; false: it has none. */
static bool put_words(lz_buf *b, const command *c, const usage_item *item)
{
    if (item->value == USAGE_WORDS)
        lz_buf_puts(b, item->words);
    return item->value == USAGE_WORDS || put_names(b, c, item, " ");
}

static void put_all_names(lz_buf *b, const command_list *all)
{
    for (uint32_t i = 0; i < all->len; i++)
        lz_buf_printf(b, "%s ", all->data[i].name);
    lz_buf_puts(b, "help");
}

/* ---- bash ---- */

static void bash_value(lz_buf *b, const command *c, const usage_item *item)
{
    lz_buf words = {0};
    if (put_words(&words, c, item))
        lz_buf_printf(b, "_lazuli_add -W '%s'", lz_buf_str(&words));
    else
        lz_buf_puts(b, item->value == USAGE_FILE      ? "_lazuli_add -f"
                       : item->value == USAGE_DIR     ? "_lazuli_add -d"
                       : item->value == USAGE_PROGRAM ? "_lazuli_add -c -f"
                                                      : ":");
    lz_buf_free(&words);
}

static void bash_command(lz_buf *b, const command *c)
{
    lz_buf_printf(b, "    %s)\n        case $prev in\n", c->name);
    for (uint32_t i = 0; i < c->items.len; i++) {
        const usage_item *item = &c->items.data[i];
        if (!*item->option || item->value == USAGE_NONE)
            continue;
        lz_buf_printf(b, "        --%s) ", item->option);
        bash_value(b, c, item);
        lz_buf_puts(b, "; return ;;\n");
    }
    lz_buf_puts(b, "        esac\n        case $cur in\n        -*) _lazuli_add -W '--help");
    for (uint32_t i = 0; i < c->items.len; i++)
        if (*c->items.data[i].option)
            lz_buf_printf(b, " --%s", c->items.data[i].option);
    lz_buf_puts(b, "' ;;\n        *)\n            :\n");
    for (uint32_t i = 0; i < c->items.len; i++)
        if (!*c->items.data[i].option) {
            lz_buf_puts(b, "            ");
            bash_value(b, c, &c->items.data[i]);
            lz_buf_putc(b, '\n');
        }
    lz_buf_puts(b, "            ;;\n        esac\n        ;;\n");
}

static void put_bash(lz_buf *b, const command_list *all)
{
    lz_buf_puts(
        b, "# bash completion of lazuli, written by `lazuli completions bash`\n"
           "_lazuli_add() { # arguments of compgen\n"
           "    local line\n"
           "    case $1 in -f | -d | -c) compopt -o filenames 2>/dev/null ;; esac\n"
           "    while IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen \"$@\" -- "
           "\"$cur\")\n"
           "}\n"
           "_lazuli()\n{\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    COMPREPLY=()\n"
           "    # --option=value is three words\n"
           "    if [ \"$cur\" = = ]; then cur=; "
           "elif [ \"$prev\" = = ] && [ \"$COMP_CWORD\" -gt 2 ]; then "
           "prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        _lazuli_add -W '--help --version ");
    put_all_names(b, all);
    lz_buf_puts(b, "'\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n"
                   "    help) _lazuli_add -W '");
    put_all_names(b, all);
    lz_buf_puts(b, "' ;;\n");
    for (uint32_t i = 0; i < all->len; i++)
        bash_command(b, &all->data[i]);
    lz_buf_puts(b, "    esac\n}\ncomplete -F _lazuli lazuli\n");
}

/* ---- zsh ---- */

static void zsh_action(lz_buf *b, const command *c, const usage_item *item)
{
    lz_buf words = {0};
    if (put_words(&words, c, item))
        lz_buf_printf(b, "(%s)", lz_buf_str(&words));
    else
        lz_buf_puts(b, item->value == USAGE_FILE      ? "_files"
                       : item->value == USAGE_DIR     ? "_files -/"
                       : item->value == USAGE_PROGRAM ? "_normal"
                                                      : "");
    lz_buf_free(&words);
}

static void zsh_command(lz_buf *b, const command *c)
{
    lz_buf_printf(b, "            %s)\n                _arguments '(- *)--help[say what it does]'",
                  c->name);
    for (uint32_t i = 0; i < c->items.len; i++) {
        const usage_item *item = &c->items.data[i];
        if (!*item->option)
            continue;
        lz_buf_printf(b, " \\\n                    '*--%s%s", item->option,
                      item->value == USAGE_NONE ? "" : "=:value:");
        if (item->value != USAGE_NONE)
            zsh_action(b, c, item);
        lz_buf_putc(b, '\'');
    }
    bool rest = false; /* one action for all arguments that are no options: the first's */
    for (uint32_t i = 0; i < c->items.len && !rest; i++)
        if (!*c->items.data[i].option) {
            rest = true;
            lz_buf_printf(b, " \\\n                    '%s:argument:",
                          c->items.data[i].value == USAGE_PROGRAM ? "*:" : "*");
            zsh_action(b, c, &c->items.data[i]);
            lz_buf_putc(b, '\'');
        }
    lz_buf_puts(b, "\n                ;;\n");
}

static void put_zsh(lz_buf *b, const command_list *all)
{
    lz_buf_puts(b, "#compdef lazuli\n"
                   "# zsh completion of lazuli, written by `lazuli completions zsh`\n"
                   "_lazuli() {\n    local curcontext=$curcontext state\n    local -a subcommands\n"
                   "    subcommands=(\n");
    for (uint32_t i = 0; i < all->len; i++) {
        lz_buf_printf(b, "        '%s:", all->data[i].name);
        put_doc(b, all->data[i].doc, ":");
        lz_buf_puts(b, "'\n");
    }
    lz_buf_puts(b, "        'help:say what a command does'\n    )\n"
                   "    _arguments -C '(- *)--help[list the commands]' "
                   "'(- *)--version[print the version]' \\\n"
                   "        '1:command:->command' '*::argument:->arguments' && return\n"
                   "    case $state in\n"
                   "    command) _describe -t commands command subcommands ;;\n"
                   "    arguments)\n        case $words[1] in\n"
                   "            help) _describe -t commands command subcommands ;;\n");
    for (uint32_t i = 0; i < all->len; i++)
        zsh_command(b, &all->data[i]);
    lz_buf_puts(b, "        esac\n        ;;\n    esac\n}\n"
                   "if [ \"$funcstack[1]\" = _lazuli ]; then _lazuli \"$@\"; "
                   "else compdef _lazuli lazuli; fi\n");
}

/* ---- fish ---- */

static void fish_command(lz_buf *b, const command *c)
{
    for (uint32_t i = 0; i < c->items.len; i++) {
        const usage_item *item = &c->items.data[i];
        lz_buf words = {0};
        bool some = put_words(&words, c, item);
        lz_buf_printf(b, "complete -c lazuli -n '__fish_seen_subcommand_from %s'", c->name);
        if (*item->option)
            lz_buf_printf(b, " -l %s", item->option);
        if (some)
            lz_buf_printf(b, " -%sa '%s'", *item->option ? "x" : "f", lz_buf_str(&words));
        else if (item->value == USAGE_DIR)
            lz_buf_puts(b, " -xa '(__fish_complete_directories)'");
        else if (item->value == USAGE_PROGRAM)
            lz_buf_puts(b, " -xa '(__fish_complete_subcommand)'");
        else if (item->value == USAGE_FILE)
            lz_buf_puts(b, *item->option ? " -rF" : " -F");
        else if (item->value == USAGE_ANY)
            lz_buf_puts(b, *item->option ? " -x" : " -f");
        lz_buf_putc(b, '\n');
        lz_buf_free(&words);
    }
}

static void put_fish(lz_buf *b, const command_list *all)
{
    lz_buf_puts(b, "# fish completion of lazuli, written by `lazuli completions fish`\n"
                   "complete -c lazuli -f\ncomplete -c lazuli -l help -d 'say what it does'\n"
                   "complete -c lazuli -n __fish_use_subcommand -l version -d "
                   "'print the version'\n");
    for (uint32_t i = 0; i < all->len; i++) {
        lz_buf_printf(b, "complete -c lazuli -n __fish_use_subcommand -a %s -d '",
                      all->data[i].name);
        put_doc(b, all->data[i].doc, "");
        lz_buf_puts(b, "'\n");
    }
    lz_buf_puts(b, "complete -c lazuli -n __fish_use_subcommand -a help -d "
                   "'say what a command does'\n"
                   "complete -c lazuli -n '__fish_seen_subcommand_from help' -a '");
    put_all_names(b, all);
    lz_buf_puts(b, "'\n");
    for (uint32_t i = 0; i < all->len; i++)
        fish_command(b, &all->data[i]);
}

static lz_status read_commands(command_list *all)
{
    const char *name, *usage, *doc;
    for (int i = 0; tool_command_row(i, &name, &usage, &doc); i++) {
        LZ_TRY(lz_vec_push(all, ((command){.name = name, .doc = doc})));
        LZ_TRY(usage_parse(usage, &all->data[i].items));
    }
    return LZ_OK;
}

int tool_completions(int argc, char **argv)
{
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    if (argc != 2)
        return tool_usage("one of bash, zsh, fish is needed");
    if (!tool_one_of("it", argv[1], shells))
        return 2;
    command_list all = {0};
    lz_buf out = {0};
    lz_status s = read_commands(&all);
    if (s == LZ_OK)
        (*argv[1] == 'b' ? put_bash : *argv[1] == 'z' ? put_zsh : put_fish)(&out, &all);
    if (out.failed)
        s = LZ_EMEM;
    if (s == LZ_OK)
        fwrite(lz_buf_str(&out), 1, out.len, stdout);
    lz_buf_free(&out);
    for (uint32_t i = 0; i < all.len; i++)
        lz_vec_free(&all.data[i].items);
    lz_vec_free(&all);
    return s == LZ_OK ? 0 : tool_fail("completions");
}
