# shellcheck shell=bash
# steps.bash - what the scripts of test/api share: sourced by them, from the project's folder. Sets CC, BUILD, tmp (a folder that goes
# with the script), and counts what passed.
CC=${CC:-gcc}
BUILD=${BUILD:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
step() { # NAME, command...: its status is 0, or what it printed is shown
    local name=$1
    shift
    if "$@" >"$tmp/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$name failed:"
        tail -20 "$tmp/log"
        return 1
    fi
}
total() {
    echo "$passed passed, $failed failed"
    [ $failed -eq 0 ]
}
