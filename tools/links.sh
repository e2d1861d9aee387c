#!/usr/bin/env bash
# links.sh - no relative link of a tracked Markdown page is dead: the file exists, and where the link
# names a heading (#anchor), the page has it. Prints each that is dead; exit status 1 if there is one.
# Anchors are made as GitHub makes them: lower case, blanks to hyphens, all else but letters, digits,
# hyphens and underscores dropped. Code blocks are not looked at.
set -u
pages=$(git ls-files '*.md' 2>/dev/null)
[ -n "$pages" ] || pages=$(find . -name '*.md' ! -path './build/*' ! -path './.git/*')
found=$(mktemp) || exit 1
trap 'rm -f "$found"' EXIT
# shellcheck disable=SC2086  # a list of names without blanks
awk '
    FNR == 1 { code = 0; dir = FILENAME; if (!sub(/\/[^\/]*$/, "", dir)) dir = "." }
    /^ *```/ { code = !code; next }
    code { next }
    /^#+ / {
        slug = tolower($0); sub(/^#+ +/, "", slug); sub(/ +$/, "", slug)
        gsub(/[^a-z0-9 _-]/, "", slug); gsub(/ /, "-", slug)
        heading[FILENAME "#" slug (seen[FILENAME "#" slug]++ ? "-" seen[FILENAME "#" slug] - 1 : "")]
    }
    {
        line = $0
        gsub(/`[^`]*`/, "", line)
        while (match(line, /\]\([^) ]+\)/)) {
            url = substr(line, RSTART + 2, RLENGTH - 3)
            line = substr(line, RSTART + RLENGTH)
            if (url !~ /^[a-z]+:/)
                print FILENAME ":" FNR "\t" (url ~ /^#/ ? FILENAME : dir "/" url) "\t" url >links
        }
    }
    END {
        close(links)
        while ((getline <links) > 0) {
            split($0, f, "\t"); path = f[2]; url = f[3]; anchor = ""
            if (match(url, /#.*/)) { anchor = substr(url, RSTART + 1); sub(/#.*/, "", path) }
            while (sub(/[^\/]+\/\.\.\//, "", path)) ;
            sub(/^(\.\/)+/, "", path)
            if (!(path in exists)) exists[path] = !system("test -e \"" path "\"")
            if (!exists[path]) print "links: " f[1] ": " url " does not exist"
            else if (anchor != "" && path ~ /\.md$/ && !((path "#" anchor) in heading))
                print "links: " f[1] ": " path " has no heading for #" anchor
            else continue
            bad = 1
        }
        exit bad
    }' links="$found" $pages
