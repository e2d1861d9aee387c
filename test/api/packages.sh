#!/usr/bin/env bash
# packages.sh - what is packaged: debian/ is in step with the tree, and the wheel has what it lists, installs, and serves a C
# program.  LZ_TEST_WHOLE=1: the Debian packages are built, and lintian has nothing to say (debhelper, lintian, dpkg-dev).
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
# shellcheck source=test/steps.bash
. test/steps.bash

# ---- debian/ ----
step 'debian/ is in step' tools/package/debian.sh check
symbols() { # those of the library are those of the symbols file, with their version
    tools/package/debian.sh symbols | sed -n 's/^ \(lz_[^ ]*\|__[^ ]*\) .*/\1/p' >"$tmp/symbols" &&
        nm -D --defined-only "$BUILD/liblazuli.so" | awk '$2 != "A" { sub(/@@/, "@", $3); print $3 }' |
        grep -vE '^(__asan|__ubsan|__odr_asan|__tsan)' | LC_ALL=C sort | diff "$tmp/symbols" -
}
step 'the symbols file is the library' symbols
staged() { # every file that an .install names is there
    eval "make -s BUILD='$BUILD' ${MAKE_VARS:-} DESTDIR='$tmp/stage' PREFIX=/usr LIBDIR=/usr/lib/x ZSHDIR=/usr/share/zsh/vendor-completions install" || return 1
    mkdir "$tmp/stage/usr/lib/x/lazuli" && mv "$tmp/stage/usr/lib/x/libpjrt_lazuli.so" "$tmp/stage/usr/lib/x/lazuli/" # as debian/rules does
    local pattern
    while read -r pattern; do
        # shellcheck disable=SC2086  # patterns
        (cd "$tmp/stage" && ls -d $pattern >/dev/null) || return 1
    done <<<"$(cat debian/*.install)"
}
step 'what the packages install' staged
dry() { # make -n changes nothing, although it has recursive lines
    eval "make -n BUILD='$BUILD' ${MAKE_VARS:-} PREFIX='$tmp/dry' install" && [ ! -e "$tmp/dry" ]
}
step 'make -n install' dry
for f in debian/tests/consumers debian/tests/command debian/rules; do step "$f can be run" test -x $f; done
if command -v dpkg-parsechangelog >/dev/null; then step 'debian/changelog' dpkg-parsechangelog; fi

# ---- tools/package/abidiff.sh: another function more is fine, another parameter is not ----
if command -v abidiff >/dev/null; then
    version() { # name, what its header says
        mkdir -p "$tmp/$1" && echo "$2" >"$tmp/$1/h.h" &&
            sed 's/;/ { return 0; }/' "$tmp/$1/h.h" >"$tmp/$1/h.c" && gcc -g -shared -fPIC "$tmp/$1/h.c" -o "$tmp/$1/l.so"
    }
    same_abi() { tools/package/abidiff.sh "$tmp/one/l.so" "$tmp/one" "$tmp/$1/l.so" "$tmp/$1"; }
    not() { ! "$@"; }
    version one 'int f(int a);' && version more "$(printf 'int f(int a);\nint g(int a);')" && version other 'int f(long a);' && version less 'int e(int a);'
    step 'the same version' same_abi one
    step 'one that has more' same_abi more
    step 'one with another parameter' not same_abi other
    step 'one without the function' not same_abi less
fi

# ---- the valgrind file, as far as it can be seen without ----
if command -v valgrind >/dev/null; then
    step 'valgrind.supp' valgrind --suppressions=tools/package/valgrind.supp --error-exitcode=9 true
fi

# ---- the wheel ----
whole=${LZ_TEST_WHOLE:-}
wheel() {
    # the tree that make wheel-lazuli fills, with the library that is there
    mkdir -p "$tmp/tree/lib" "$tmp/tree/bin" "$tmp/tree/include" && cp -R include/lazuli "$tmp/tree/include/" &&
        objcopy --strip-unneeded "$(realpath "$BUILD/liblazuli.so")" "$tmp/tree/lib/$(basename "$(realpath "$BUILD/liblazuli.so")")" &&
        objcopy --strip-unneeded "$BUILD/lazuli" "$tmp/tree/bin/lazuli" &&
        LDLIBS='' tools/package/configs.sh /lazuli /lazuli/lib "$(tools/package/version.sh)" "$tmp/tree/lib" &&
        python3 tools/wheel.py lazuli "$(tools/package/version.sh)" "$tmp/tree" "$tmp/dist"
}
unpacked() { # as pip does
    cat >"$tmp/unpack.py" <<'PY'
import base64, csv, hashlib, io, os, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
record = next(n for n in z.namelist() if n.endswith(".dist-info/RECORD"))
rows = {r[0]: r for r in csv.reader(io.StringIO(z.read(record).decode()))}
assert sorted(rows) == sorted(z.namelist()), set(rows) ^ set(z.namelist())
for name, digest, size in rows.values():
    data = z.read(name)
    if name != record:
        assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), name
        assert int(size) == len(data), name
    path = os.path.join(sys.argv[2], name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "wb").write(data)
    os.chmod(path, z.getinfo(name).external_attr >> 16 & 0o777)
PY
    python3 "$tmp/unpack.py" "$tmp"/dist/lazuli-*.whl "$tmp/site"
}
config() { PYTHONPATH=$tmp/site python3 -m lazuli "$@"; }
if command -v python3 >/dev/null && ! grep -q -- '-fsanitize=' "$BUILD/flags"; then
    step 'the wheel' wheel && step 'what it lists is what it has' unpacked
    once() { mv "$tmp"/dist/*.whl "$tmp/once.whl" && wheel && cmp "$tmp/once.whl" "$tmp"/dist/*.whl; }
    step 'the same input gives the same bytes' once
    compiles() { # shellcheck disable=SC2046  # lists of flags
        $CC test/consumers/main.c $(config --cflags --libs) -o "$tmp/prog"
    }
    step 'a program compiles with it' compiles
    runs() { [ "$("$tmp/prog" | cut -d' ' -f2)" = 54 ]; }
    step 'and runs' runs
    same() { [ "$(PKG_CONFIG_PATH=$(config --pkgconfigdir) pkg-config --modversion lazuli)" = "$(config --version)" ] && [ -f "$(config --cmakedir)/LazuliConfig.cmake" ]; }
    step 'its files for build systems' same
    command_runs() { PYTHONPATH=$tmp/site python3 -c 'import lazuli.__main__ as m; m.command()' --version | grep -q '^lazuli '; }
    step 'the command runs' command_runs
    asked() { config --frob; [ $? -eq 2 ]; }
    step 'lazuli-config with an unknown option' asked
fi

# ---- the Debian packages themselves ----
if [ -n "$whole" ] && command -v dpkg-buildpackage >/dev/null && command -v lintian >/dev/null && command -v dh >/dev/null; then
    mkdir -p "$tmp/deb/lazuli"
    git ls-files -co --exclude-standard | xargs -d '\n' cp --parents -t "$tmp/deb/lazuli"
    build() { (cd "$tmp/deb/lazuli" && DEB_BUILD_OPTIONS="parallel=$(nproc)" dpkg-buildpackage -us -uc -b); }
    lintian_says() { [ -z "$(lintian --fail-on none "$tmp"/deb/*.changes | tee /dev/stderr)" ]; }
    step 'dpkg-buildpackage' build && step 'lintian' lintian_says
fi
total
