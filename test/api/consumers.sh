#!/usr/bin/env bash
# consumers.sh - projects that use Lazuli as others do, test/consumers: pkg-config, CMake's find_package and FetchContent, meson with
# the installed library and as a subproject. Each is built and run, against an installed tree and against the same tree moved; the
# CMake package and lazuli.pc say the same. Where cmake or meson is missing, their projects are left out.
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
# shellcheck source=test/steps.bash
. test/steps.bash
if grep -q -- '-fsanitize=' "$BUILD/flags"; then
    echo 'consumers: built as a user builds them, not under a sanitizer'
    exit 77
fi
root=$PWD
build=$(realpath "$BUILD")
for word in $CC; do case $word in -*) ;; *) compiler=$word ;; esac; done # gcc of "ccache gcc -m64", for CMake
same() { # what, one, the other
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && printf '%s: "%s" and "%s"\n' "$@"; fi
}
make_it() { eval "make -s BUILD='$BUILD' ${MAKE_VARS:-} $*"; }
runs() { # a program: the right sum
    [ "$(env -u LD_LIBRARY_PATH "$1" | cut -d' ' -f2)" = 54 ]
}
work=$tmp/work
cp -r test/consumers "$work"

pkg_config_project() { # prefix
    export PKG_CONFIG_PATH=$1/lib/pkgconfig
    rm -f "$work/pkg-config/shared" "$work/pkg-config/static"
    for p in shared static; do
        step "pkg-config, $1: $p" make -s -C "$work/pkg-config" CC="$CC" $p && step "pkg-config, $1: $p runs" runs "$work/pkg-config/$p"
    done
}
cmake_project() { # prefix
    rm -rf "$work/cmake/b"
    step "cmake, $1" cmake -S "$work/cmake" -B "$work/cmake/b" -DCMAKE_PREFIX_PATH="$1" -DCMAKE_C_COMPILER="$compiler" || return
    step "cmake, $1: builds" cmake --build "$work/cmake/b" || return
    for p in shared static; do step "cmake, $1: $p runs" runs "$work/cmake/b/$p"; done
    while IFS='|' read -r target version include location libs; do
        same "$target: version" "$version" "$(pkg-config --modversion lazuli)"
        same "$target: headers" "$include" "$(realpath "$(pkg-config --variable=includedir lazuli)")"
        same "$target: folder" "$(dirname "$location")" "$(realpath "$(pkg-config --variable=libdir lazuli)")"
        [ "$target" = lazuli_static ] && same "$target: libraries" "$(tr ';' '\n' <<<"$libs" | sort -u | xargs)" \
            "$(pkg-config --static --libs-only-l lazuli | tr ' ' '\n' | sed -n 's/^-l//p' | grep -vx lazuli | sort -u | xargs)"
    done <"$work/cmake/b/targets.txt"
}
meson_project() { # prefix
    export PKG_CONFIG_PATH=$1/lib/pkgconfig
    rm -rf "$work/meson/b"
    step "meson, $1" env CC="$CC" meson setup "$work/meson/b" "$work/meson" && step "meson, $1: builds" ninja -C "$work/meson/b" &&
        step "meson, $1: runs" runs "$work/meson/b/consumer"
}
cmake=no meson=no
command -v cmake >/dev/null && cmake=yes || echo 'consumers: cmake is not installed, its projects are left out'
command -v meson >/dev/null && command -v ninja >/dev/null && meson=yes || echo 'consumers: meson is not installed, its projects are left out'

# ---- an installed tree, and the same elsewhere ----
step 'make install' make_it "PREFIX='$tmp/first' install" || exit 1
for at in first moved; do
    [ $at = moved ] && mv "$tmp/first" "$tmp/moved"
    pkg_config_project "$tmp/$at"
    [ $cmake = yes ] && cmake_project "$tmp/$at"
    [ $meson = yes ] && meson_project "$tmp/$at"
done

# ---- valgrind has nothing to say of a first run, which compiles ----
if [ -n "${LZ_TEST_WHOLE:-}" ] && command -v valgrind >/dev/null; then
    step 'valgrind' env LAZULI_CACHE_DIR="$tmp/cold" valgrind --error-exitcode=9 --leak-check=full \
        --suppressions="$tmp/moved/share/lazuli/valgrind.supp" "$work/pkg-config/shared"
fi

# ---- which versions serve whom ----
version() { # words of find_package
    mkdir -p "$work/version"
    printf 'cmake_minimum_required(VERSION 3.19)\nproject(v C)\nfind_package(Lazuli %s)\nmessage("found ${Lazuli_FOUND}.")\n' "$1" >"$work/version/CMakeLists.txt"
    cmake -S "$work/version" -B "$work/version/b" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$2" 2>&1 | sed -n 's/^found \(.\).*/\1/p'
}
if [ $cmake = yes ]; then
    v=$(tools/package/version.sh)
    same 'the version' "$v" "$(pkg-config --modversion lazuli)"
    for row in '1:' '1:0' "1:${v%.*}" "1:$v" "1:$v EXACT" '0:0.0' '0:0.99' '0:1' '0:99' "1:${v%.*}...0.99" '0:0.98...0.99' '0:0.0...<0.0.1' '0:COMPONENTS nothing'; do
        same "find_package(Lazuli ${row#*:})" "$(version "${row#*:}" "$tmp/moved")" "${row%%:*}"
    done
    rm "$tmp/moved/lib/liblazuli.a"
    same 'without liblazuli.a' "$(version '' "$tmp/moved")" 1
    same 'COMPONENTS static without liblazuli.a' "$(version 'COMPONENTS static' "$tmp/moved")" 0
fi

# ---- a staged tree, as packages have it ----
multi=/usr/lib/$($CC -dumpmachine)
step 'make install DESTDIR' make_it "DESTDIR='$tmp/stage' PREFIX=/usr LIBDIR='$multi' install"
export PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$tmp/stage$multi/pkgconfig
same 'libdir of packages' "$(pkg-config --variable=libdir lazuli)" "$multi"
same 'includedir of packages' "$(pkg-config --variable=includedir lazuli)" /usr/include
same 'no rpath below /usr' "$(pkg-config --libs lazuli | xargs)" -llazuli
grep -rl "$tmp" "$tmp/stage" >"$tmp/names"
same 'files that name the stage' "$(cat "$tmp/names")" ''
if [ $cmake = yes ]; then
    cat >"$work/version/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.14)
project(v C)
find_package(Lazuli REQUIRED)
get_target_property(l Lazuli::lazuli IMPORTED_LOCATION)
message("at ${l}")
CMAKE
    rm -rf "$work/version/b"
    at=$(cmake -S "$work/version" -B "$work/version/b" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$tmp/stage/usr" 2>&1 | sed -n 's/^at //p')
    same 'find_package of packages' "$at" "$(realpath "$tmp/stage")$multi/liblazuli.so.0"
fi
unset PKG_CONFIG_LIBDIR PKG_CONFIG_PATH

# ---- Lazuli built with the project: with what is built already, or from nothing in the long test ----
if [ -n "${LZ_TEST_WHOLE:-}" ]; then
    cmake_vars=() meson_vars=()
else
    args="CC=$CC"
    [ -z "${MAKE_VARS:-}" ] || eval "set -- ${MAKE_VARS}" && for a; do case $a in BUILD=*) ;; *) args+=";$a" ;; esac; done
    cmake_vars=(-DLAZULI_BUILD_DIR="$build" -DLAZULI_MAKE_ARGS="$args")
    meson_vars=(-Dlazuli:build_dir="$build" -Dlazuli:make_args="$(sed "s/;/','/g; s/.*/['&']/" <<<"$args")")
fi
before=$(stat -L -c %y "$build/liblazuli.so")
if [ $cmake = yes ]; then
    for g in 'Unix Makefiles' Ninja; do
        command -v ninja >/dev/null || [ "$g" != Ninja ] || continue
        rm -rf "$work/fetchcontent/b"
        step "FetchContent, $g" cmake -G "$g" -S "$work/fetchcontent" -B "$work/fetchcontent/b" -DCMAKE_C_COMPILER="$compiler" \
            -DFETCHCONTENT_SOURCE_DIR_LAZULI="$root" ${cmake_vars[@]+"${cmake_vars[@]}"} &&
            step "FetchContent, $g: builds" cmake --build "$work/fetchcontent/b" &&
            for p in shared static; do step "FetchContent, $g: $p runs" runs "$work/fetchcontent/b/$p"; done
    done
fi
if [ $meson = yes ]; then
    mkdir -p "$work/meson/subprojects"
    ln -s "$root" "$work/meson/subprojects/lazuli"
    rm -rf "$work/meson/b"
    step 'meson subproject' env CC="$CC" PKG_CONFIG_PATH= meson setup --force-fallback-for=lazuli ${meson_vars[@]+"${meson_vars[@]}"} "$work/meson/b" "$work/meson" &&
        step 'meson subproject: builds' ninja -C "$work/meson/b" && step 'meson subproject: runs' runs "$work/meson/b/consumer"
fi
same 'what is built stays' "$(stat -L -c %y "$build/liblazuli.so")" "$before" # other tests are running it
total
