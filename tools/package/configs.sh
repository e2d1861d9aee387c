#!/usr/bin/env bash
# configs.sh - what build systems read: lazuli.pc and the CMake package, of the same values, into OUT/pkgconfig and OUT/cmake/Lazuli.
#   LDLIBS='-lzstd -lz -lm' tools/package/configs.sh PREFIX LIBDIR VERSION OUT
# LDLIBS: what the library links, which programs need that link liblazuli.a. Both files say where they are relative to themselves,
# so that an installed tree can be moved; a lazuli.pc below /usr, and one whose LIBDIR is not below PREFIX, have absolute paths.
set -eu
prefix=$1 libdir=$2 version=$3 out=$4
here=$(dirname "$0")

up() { realpath -ms --relative-to="$1" "$2"; } # from one folder to another, by their names alone
packages='' libs='' links=''
for l in $LDLIBS; do
    case $l in
    -lzstd) packages+=' libzstd' ;;
    -lz) packages+=' zlib' ;;
    *) libs+=" $l" ;;
    esac
    links+=";${l#-l}"
done
# shellcheck disable=SC2016  # variables of the files
case $libdir in
"$prefix"/*)
    below=${libdir#"$prefix"/}
    pc_prefix='${pcfiledir}/'$(up "$libdir/pkgconfig" "$prefix") pc_libdir='${prefix}/'$below
    [ "$prefix" != /usr ] || pc_prefix=/usr
    cmake_prefix='${_lazuli_here}/'$(up "$libdir/cmake/Lazuli" "$prefix") cmake_libdir='${_lazuli_prefix}/'$below
    ;;
*) pc_prefix=$prefix pc_libdir=$libdir cmake_prefix=$prefix cmake_libdir=$libdir ;;
esac
# Programs find a library outside of the loader's own folders without LD_LIBRARY_PATH. (CMake does this by itself.)
# shellcheck disable=SC2016
case $libdir in
/lib/* | /usr/lib | /usr/lib/* | /usr/lib64 | /usr/local/lib) rpath= ;;
*) rpath=' -Wl,-rpath,${libdir}' ;;
esac

fill() {
    sed -e "s|@PC_PREFIX@|$pc_prefix|; s|@PC_LIBDIR@|$pc_libdir|; s|@RPATH@|$rpath|; s|@PACKAGES@|${packages# }|; s|@LIBS@|${libs# }|" \
        -e "s|@CMAKE_PREFIX@|$cmake_prefix|; s|@CMAKE_LIBDIR@|$cmake_libdir|; s|@LINKS@|${links#;}|" \
        -e "s|@VERSION@|$version|; s|@SOVERSION@|${SOVERSION:-0}|" "$here/$1"
}
mkdir -p "$out/pkgconfig" "$out/cmake/Lazuli"
fill lazuli.pc.in >"$out/pkgconfig/lazuli.pc"
fill LazuliConfig.cmake.in >"$out/cmake/Lazuli/LazuliConfig.cmake"
fill LazuliConfigVersion.cmake.in >"$out/cmake/Lazuli/LazuliConfigVersion.cmake"
