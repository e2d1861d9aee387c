# example.bash - what the tests of examples share: a program run with its output kept, the numbers of its JSON line, and a count of what
# passed. Sourced by test/api/*.sh with BUILD set; ends the test's temporary folder with it.
# shellcheck source=test/steps.bash
. test/steps.bash
export XDG_CACHE_HOME=$tmp/cache
example() { # PROGRAM, NAME of the run, options...
    local program=$1 log=$tmp/$2
    shift 2
    timeout 1200 "$BUILD/examples/$program" --json "$@" >"$log" 2>&1 || { echo "$program $*: exit status $?"; tail -5 "$log"; return 1; }
}
# Checkpoints of a run are in $tmp/c.NAME. The training of WHOLE goes on from its checkpoint of step N, as if it had been killed right after it: in the folder PARTS.
cut_off() { # WHOLE N PARTS
    mkdir -p "$tmp/c.$3" && cp -r "$tmp/c.$1/step_$2" "$tmp/c.$3"
}
# Whether two trainings have the same checkpoint of step N, bit for bit.
same_step() { # ONE OTHER N
    cmp "$tmp/c.$1/step_$3/rank-00000.safetensors" "$tmp/c.$2/step_$3/rank-00000.safetensors" &&
        cmp "$tmp/c.$1/step_$3/manifest.json" "$tmp/c.$2/step_$3/manifest.json"
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
