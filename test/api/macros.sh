#!/usr/bin/env bash
# macros.sh - a call of every public macro, without its optional arguments and with one (the program is made from the headers:
# tools/apidoc/calls.c), compiles in every version of C and C++ with -pedantic-errors and no warning; what a wrong call is told is
# about the call.
set -u
CC=${CC:-gcc}
BUILD=${BUILD:?}
[ -x "$BUILD/tools/apidoc/apidoc" ] || exit 77
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

# A compiler forgives a system's header much: here they are headers as any other.
mkdir "$tmp/include" && cp -r include/lazuli "$tmp/include/" && sed -i '/^#pragma GCC system_header$/d' "$tmp"/include/lazuli/*.h || exit 1
BUILD=$BUILD CC=$CC tools/apidoc.sh calls >"$tmp/calls.c" || exit 1
cp "$tmp/calls.c" "$tmp/calls.cc"
calls=$(grep -c '^    {' "$tmp/calls.c")
[ "$calls" -gt 1200 ] || { echo "only $calls calls in the program"; failed=1; }

clean() { # COMPILER STANDARD FILE LANGUAGE
    command -v "$1" >/dev/null || return
    echo 'int main(void) { return 0; }' | "$1" "-std=$2" -fsyntax-only -x "$4" - 2>/dev/null || return # it has no such version
    if "$1" "-std=$2" -pedantic-errors -Wall -Wextra -Werror -I"$tmp/include" -fsyntax-only "$3" 2>"$tmp/log"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)) && echo "$1 -std=$2:" && head -20 "$tmp/log"
    fi
}
for cc in gcc clang; do
    for std in c11 c17 c2x; do clean $cc $std "$tmp/calls.c" c; done
done
for cxx in g++ clang++; do
    for std in c++17 c++20 c++2b; do clean $cxx $std "$tmp/calls.cc" c++; done
done

# A wrong call: how many errors gcc and clang may give; gcc shows no line of a macro.
told() { # ERRORS CALL
    printf '#include <lazuli/lazuli.h>\nvoid wrong(lz_tensor *x);\nvoid wrong(lz_tensor *x)\n{\n    (void)x;\n    (void)%s;\n}\n' "$2" >"$tmp/wrong.c"
    for cc in gcc clang; do
        command -v $cc >/dev/null || continue
        LC_ALL=C $cc -std=c11 -Wall -Wextra -Iinclude -fsyntax-only "$tmp/wrong.c" 2>"$tmp/log"
        errors=$(grep -cE ':6:[0-9]+: (error|warning): ' "$tmp/log")
        if [ "$errors" -gt 0 ] && [ "$errors" -le "$1" ] && { [ $cc = clang ] || ! grep -q 'in expansion of\|in definition of' "$tmp/log"; }; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1)) && echo "$cc says of $2:" && head -30 "$tmp/log"
        fi
    done
}
# A lost status loses data: a call that nobody looks at is warned of, and of nothing else.
unused() { # WARNINGS CALL
    printf '#include <lazuli/lazuli.h>\nvoid wrong(lz_tensor *x, float *v);\nvoid wrong(lz_tensor *x, float *v)\n{\n    (void)x, (void)v;\n    %s;\n}\n' "$2" >"$tmp/unused.c"
    cp "$tmp/unused.c" "$tmp/unused.cc"
    for cc in 'gcc -std=c11' 'clang -std=c11' 'g++ -std=c++17' 'clang++ -std=c++17'; do
        command -v "${cc%% *}" >/dev/null || continue
        file=$tmp/unused.c && case $cc in *++*) file=$tmp/unused.cc ;; esac
        # shellcheck disable=SC2086
        LC_ALL=C $cc -Wall -Iinclude -c -o /dev/null "$file" 2>"$tmp/log"
        if [ "$(grep -c 'unused-result' "$tmp/log")" = "$1" ] && [ "$(grep -cE ': (error|warning): ' "$tmp/log")" = "$1" ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1)) && echo "$cc says of $2:" && head -30 "$tmp/log"
        fi
    done
}
unused 1 'lz_to_host(x, v, 4)'
unused 1 'lz_save_safetensors("f", NULL, &x, 1, NULL, 0)'
unused 1 'lz_checkpoint_load("f", NULL)'
unused 1 'lz_npy_write("f", NULL)'
unused 0 'lz_mark_step()'
unused 0 'lz_mark_step(.wait = true)'
unused 0 'lz_assign(x, x)'
unused 0 'lz_optim_step(NULL)'
told 1 'lz_sum(3.0)'
told 1 'lz_sum()'
told 1 'lz_var(3.0)'
told 1 'lz_var("text", .correction = 0)'
told 1 'lz_matmul(x, 3.0)'
told 1 'lz_mul_scalar(x, x)'
told 1 'lz_conv2d(x, x)'
told 1 'lz_permute("text", 0, 1)'
told 1 'lz_mse_loss(x, 1.0)'
told 4 'lz_from_host(LZ_F32, LZ_SHAPE(1), x, x)' # two for the comma that is no list
told 2 'lz_from_host(LZ_F32, LZ_SHAPE(1), 3.0)'
told 2 'lz_matmul(x)' # the macro is given too little, and then is no name
told 2 'lz_matmul(x, x, x)'
told 3 'lz_sum(x, .dimz = 1)' # clang goes on with the value
told 3 'lz_var(x, .dimz = 1)'
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
