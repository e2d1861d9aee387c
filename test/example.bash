# example.bash - what the tests of examples share: a program run with its output kept, the numbers of its JSON line, and a count of what
# passed. Sourced by test/api/*.sh with BUILD set; ends the test's temporary folder with it.
BUILD=${BUILD:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
export XDG_CACHE_HOME=$tmp/cache
example() { # PROGRAM, NAME of the run, options...
    local program=$1 log=$tmp/$2
    shift 2
    timeout 1200 "$BUILD/examples/$program" --json "$@" >"$log" 2>&1 || { echo "$program $*: exit status $?"; tail -5 "$log"; return 1; }
}
field() { sed -n "s/.*\"$2\":\([^,}]*\).*/\1/p" "$tmp/$1"; } # NAME of the run, name of the number
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }
near() { awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { d = a - b; exit !((d < 0 ? -d : d) <= e * (1 + (b < 0 ? -b : b))) }'; }
ok() { # what, command...
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $what"
    fi
}
total() {
    echo "$passed passed, $failed failed"
    [ $failed -eq 0 ]
}
