#!/usr/bin/env bash
# install.sh - make install into an empty folder; a program built by pkg-config alone, shared and static, runs; uninstall
# leaves nothing behind.
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
# shellcheck source=test/steps.bash
. test/steps.bash
prefix=$tmp/pre
san=$(grep -o -- '-fsanitize=[a-z,]*' "$BUILD/flags" | tr '\n' ' ')
make_it() { eval "make -s BUILD='$BUILD' ${MAKE_VARS:-} PREFIX='$prefix' $1"; }

step 'make install' make_it install
for f in include/lazuli/lazuli.h include/lazuli/types.h include/lazuli/status.def lib/liblazuli.a lib/liblazuli.so \
    lib/liblazuli.so.0 lib/libpjrt_lazuli.so lib/pkgconfig/lazuli.pc share/man/man1/lazuli.1 share/man/man3/lz_matmul.3 share/man/man7/lazuli.7 share/doc/lazuli/api.html share/doc/lazuli/LICENSE \
    share/doc/lazuli/docs/tutorial.md share/doc/lazuli/examples/digits.c share/lazuli/valgrind.supp lib/cmake/Lazuli/LazuliConfig.cmake \
    lib/cmake/Lazuli/LazuliConfigVersion.cmake share/bash-completion/completions/lazuli share/zsh/site-functions/_lazuli \
    share/fish/vendor_completions.d/lazuli.fish; do
    step "installed $f" test -e "$prefix/$f"
done
cat >"$tmp/p.c" <<'C'
#include <lazuli/lazuli.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    printf("%s %s\n", lz_version(), lz_status_name(LZ_ESHAPE));
    return strcmp(lz_dtype_name(LZ_BF16), "bf16") != 0;
}
C
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
link() { # output, more flags...
    local out=$1
    shift
    # shellcheck disable=SC2046,SC2086  # lists of flags
    $CC -std=c11 -Wall -Werror $san "$tmp/p.c" -o "$out" $("$@")
}
step 'link with the shared library' link "$tmp/shared" pkg-config --cflags --libs lazuli
step 'run with the shared library' env LD_LIBRARY_PATH="$prefix/lib" "$tmp/shared"
static_flags() { pkg-config --cflags --static --libs lazuli | sed "s|-llazuli|$prefix/lib/liblazuli.a|"; }
step 'link with the static library' link "$tmp/static" static_flags
step 'run with the static library' "$tmp/static"
not_llvm() { ! readelf -d "$prefix/lib/liblazuli.so" | grep -i 'NEEDED.*LLVM'; }
step 'LLVM is not linked' not_llvm
version() { [ "$("$tmp/shared" | cut -d' ' -f1)" = "$(pkg-config --modversion lazuli)" ]; }
step 'lz_version is the package version' env LD_LIBRARY_PATH="$prefix/lib" bash -c "$(declare -f version); tmp=$tmp; version"
soname() { readelf -d "$prefix/lib/liblazuli.so" | grep -q 'SONAME.*liblazuli\.so\.0'; }
step 'the soname' soname
public_only() { # what a static program sees: lz_ names, and of those only the exported ones
    nm -g --defined-only "$prefix/lib/liblazuli.a" | awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u |
        grep -vE '^(__odr_asan|__asan|__ubsan|__tsan|__jit_debug_(descriptor|register_code)$)' >"$tmp/names"
    diff "$tmp/names" abi/exports.txt
}
[ -z "$san" ] && step 'the static library exports the same names' public_only
if [ -x "$prefix/bin/lazuli" ]; then step 'the command runs' "$prefix/bin/lazuli" --version; fi
step 'make uninstall' make_it uninstall
left() { [ -z "$(find "$prefix" ! -type d)" ]; }
step 'uninstall leaves nothing' left
total
