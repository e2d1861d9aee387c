#!/usr/bin/env bash
# faults.sh - the table of faults in docs/security.md: it has each label once, and every test that it names is there: in a C file a
# START_TEST, in a script the text. Prints what is not; exit status 1 if there is any.
set -u
page=docs/security.md bad=0
complain() { echo "$page: $*"; bad=1; }
want=$(for n in $(seq -w 1 26); do echo "C$n"; done; for n in $(seq -w 1 26); do echo "A$n"; done
    for n in $(seq -w 1 12); do echo "K$n"; done; echo D01; echo D02)
have=$(sed -nE 's/^\| ([CAKD][0-9]{2}) \|.*/\1/p' "$page")
[ "$have" = "$want" ] || complain "the labels are not C01-C26, A01-A26, K01-K12, D01, D02, each once and in order"
found=$(mktemp) || exit 1
trap 'rm -f "$found"' EXIT
# label, file, name: the names behind a file are in it
sed -nE 's/^\| ([CAKD][0-9]{2}) \|.*\|([^|]*)\|$/\1|\2/p' "$page" | awk -F'|' '{
    file = ""; n = split($2, part, "`"); any = 0
    for (i = 2; i <= n; i += 2)
        if (part[i] ~ /^(test|tools)\//) file = part[i]
        else { print $1 "\t" file "\t" part[i]; any = 1 }
    if (!any && $2 !~ /not tried: /) print $1 "\t\t"
}' >"$found"
while IFS=$'\t' read -r label file name; do
    if [ -z "$file" ]; then
        complain "$label names no test, and does not say \"not tried: \" why"
    elif [ ! -f "$file" ]; then
        complain "$label: there is no $file"
    elif [[ $file == *.c && $name != START_TEST ]]; then
        grep -qF "START_TEST($name)" "$file" || complain "$label: $file has no test $name"
    else
        grep -qF -- "$name" "$file" || complain "$label: $file does not have \"$name\""
    fi
done <"$found"
exit $bad
