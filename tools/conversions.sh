#!/usr/bin/env bash
# conversions.sh - conversions between text and numbers, and classes of characters, are those of base/text.h, which do not depend
# on the locale: names every other use in the library and the tools. Exit status 1 when there is one.
set -u
bad=0
files=$(find base linalg ir cache lower codegen backends runtime ops autodiff data nn tools -name '*.[ch]' ! -path 'base/text.[ch]' | sort)

number='strto(d|f|ld|l|ll|ul|ull|imax|umax)(_l)?|ato(i|l|ll|f)|v?[fs]?scanf'
class='is(alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit)|to(lower|upper)|strn?casecmp|strcoll|strxfrm'
locale='setlocale|localeconv|newlocale|duplocale|uselocale|nl_langinfo|(mbs|wcs)[a-z]*|v(s|sn|f|d|as)?printf'
# shellcheck disable=SC2086  # files is a list
hits=$(grep -nE "(^|[^_[:alnum:]])($number|$class|$locale)\(" $files | grep -vE '^[^:]*:[0-9]*:[[:space:]]*(/?\*|//)')
if [ -n "$hits" ]; then
    echo "$hits" | cut -d: -f1,2 | sed 's/$/: depends on the locale: use base\/text.h/'
    bad=1
fi

# A call of libc's printf, which may go over several lines, with a conversion of a float or with digits in groups.
# shellcheck disable=SC2086
awk '
    FNR == 1 { call = "" }
    call == "" && /(^|[^_[:alnum:]])(f|s|sn|d|as)?printf\(/ { call = " "; line = FNR }
    call == "" { next }
    {
        call = call $0
        if ($0 !~ /[;{]$/)
            next
        gsub(/%%/, "", call)
        if (call ~ /%[-+ #0]*([0-9]+|\*)?(\.([0-9]+|\*)?)?[lL]?[aAeEfFgG]/ || call ~ /%[-+ #0]*\047/) {
            print FILENAME ":" line ": prints a float as the locale says: use lz_snprintf, lz_fprintf or lz_buf_printf"
            found = 1
        }
        call = ""
    }
    END { exit found }' $files || bad=1
exit $bad
