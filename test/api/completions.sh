#!/usr/bin/env bash
# completions.sh - what the shells complete of the lazuli command: simulated in bash, and in fish where that is installed; zsh reads
# its file. They come from the usage lines, so every option that the command takes is in these.
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
# shellcheck source=test/steps.bash
. test/steps.bash
tool=$(realpath "${LZ_TOOL:-$BUILD/lazuli}")
expect() { # what, output, pattern: the output between blanks has it
    if [[ " $2 " == *$3* ]]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "$1: no '$3' in: $2"; fi
}
for s in bash zsh fish; do step "completions $s" "$tool" completions $s; cp "$tmp/log" "$tmp/$s"; done

# ---- every option is in the usage line, with a value exactly when it takes one ----
declare -A source=([run]=run.c [opt]=opt.c [shard]=shard_cmd.c [cache]=cache_cmd.c [profile]=profile_cmd.c [capture]=capture_cmd.c [top]=top_cmd.c)
for c in "${!source[@]}"; do
    usage=$("$tool" help $c | head -1)
    options=$(tr '\n' ' ' <tools/lazuli/"${source[$c]}" | grep -oE '\{"[a-z_-]+", *(0|1|2|no_argument|required_argument),' | tr -d '{",' )
    [ -n "$options" ] || { failed=$((failed + 1)); echo "no options found in ${source[$c]}"; }
    while read -r name takes; do
        case $takes in
        0 | no_argument) expect "usage of $c" "$(tr ']|' '  ' <<<"$usage ")" "--$name " ;;
        *) expect "usage of $c" "$(grep -oE -- "--${name}[= ][^] -][^] ]*" <<<"$usage")" "--$name" ;;
        esac
    done <<<"$options"
done
"$tool" --help | sed -n 's/^  lazuli \([a-z][a-z]*\).*/\1/p' >"$tmp/commands"

# ---- bash ----
complete_bash() { # word...: what bash offers for the last one
    # shellcheck disable=SC2016  # the inner shell's variables
    (cd "$tmp/files" && bash --norc -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _lazuli; printf "%s\n" "${COMPREPLY[@]}"' \
        sh "$tmp/bash" "$@" 2>&1 | LC_ALL=C sort | tr '\n' ' ')
}
mkdir -p "$tmp/files/sub dir"
: >"$tmp/files/a prog.mlir"
step 'bash registers it' bash --norc -c '. "$1" && complete -p lazuli' sh "$tmp/bash"
while read -r c; do expect 'bash: lazuli' "$(complete_bash lazuli '')" " $c "; done <"$tmp/commands"
expect 'bash: lazuli ru' "$(complete_bash lazuli ru)" ' run '
expect 'bash: run --dev' "$(complete_bash lazuli run --dev)" '--device --devices '
expect 'bash: run --device' "$(complete_bash lazuli run --device '')" ' cpu loop ref '
expect 'bash: run --device=' "$(complete_bash lazuli run --device =)" ' cpu loop ref '
expect 'bash: shard --simulate' "$(complete_bash lazuli shard --simulate '')" ' a100 '
expect 'bash: opt --emit=st' "$(complete_bash lazuli opt --emit = st)" ' stablehlo '
expect 'bash: opt --passes' "$(complete_bash lazuli opt --passes = fus)" ' fuse_loops '
expect 'bash: cache' "$(complete_bash lazuli cache v)" ' verify '
expect 'bash: ops' "$(complete_bash lazuli ops dot_)" 'dot_general '
expect 'bash: a file with a blank' "$(complete_bash lazuli run a)" ' a prog.mlir '
expect 'bash: a folder' "$(complete_bash lazuli cache --path '')" ' sub dir '
expect 'bash: help' "$(complete_bash lazuli help sh)" ' shard '
expect 'bash: a number' "$(complete_bash lazuli run --times '')" '   '
expect 'bash: profile' "$(complete_bash lazuli profile bas)" ' bash '

# ---- zsh, fish ----
if command -v zsh >/dev/null; then
    step 'zsh reads it' zsh -fn "$tmp/zsh"
    step 'zsh registers it' zsh -fc "autoload -Uz compinit && compinit -D && source '$tmp/zsh' && [ \"\$_comps[lazuli]\" = _lazuli ]"
fi
while read -r c; do expect 'zsh' "$(tr '\n' ' ' <"$tmp/zsh")" " '$c:"; done <"$tmp/commands"
if command -v fish >/dev/null; then
    complete_fish() { (cd "$tmp/files" && fish --no-config -c "source '$tmp/fish'; complete -C '$1'" 2>&1 | cut -f1 | tr '\n' ' '); }
    step 'fish reads it' fish --no-config -n "$tmp/fish"
    while read -r c; do expect 'fish: lazuli' "$(complete_fish 'lazuli ')" " $c "; done <"$tmp/commands"
    expect 'fish: run --device' "$(complete_fish 'lazuli run --device ')" ' cpu loop ref '
    expect 'fish: opt --emit=st' "$(complete_fish 'lazuli opt --emit=st')" 'stablehlo '
    expect 'fish: cache' "$(complete_fish 'lazuli cache v')" ' verify '
    expect 'fish: a file' "$(complete_fish 'lazuli run a')" ' a\ prog.mlir '
fi
total
