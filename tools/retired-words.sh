#!/usr/bin/env bash
# retired-words.sh - no name, comment or page uses a word that docs/dev/glossary.md has retired.
# Prints each use; exit status 1 if there is one. The list is the glossary's blocks "retired names"
# and "retired pages": a regular expression, two blanks or more, what to write instead.
set -u
GLOSSARY=docs/dev/glossary.md
bad=0
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo 'retired-words: no git repository, not checked'; exit 0; }
list=$(mktemp) || exit 1 # no <(...): it needs /proc, which a bare root has not
trap 'rm -f "$list"' EXIT

look() { # kind, and the paths where its words are looked for
    local kind=$1 line pattern instead in paths hits
    shift
    awk -v kind="$kind" '/^```/ { inside = $0 == "```retired " kind; next } inside' "$GLOSSARY" >"$list"
    [ -s "$list" ] || { echo "$GLOSSARY: no block \"retired $kind\""; bad=1; }
    while IFS= read -r line; do
        pattern=${line%%  *}
        instead=$(sed 's/^.*[^ ]   *//' <<<"$line")
        paths=("$@")
        case $instead in *' (in '*)
            in=${instead##*(in }
            in=${in%)}
            instead=${instead% (in*}
            paths=("$in/*.c" "$in/*.h" "$in/*.def") ;;
        esac
        hits=$(git grep -nwEI "$pattern" -- "${paths[@]}" | cut -d: -f1,2 | head -10)
        [ -z "$hits" ] && continue
        bad=1
        sed "s|^|retired: |; s|\$|: write $instead instead of $(tr -d '\\|&' <<<"$pattern")|" <<<"$hits"
    done <"$list"
}

look names '*.c' '*.h' '*.def' '*.sh' '*.py' Makefile ':!base/config.def' ':!tools/retired-words.sh'
look pages '*.md' ":!$GLOSSARY" ':!docs/notes' ':!CHANGELOG.md'
exit $bad
