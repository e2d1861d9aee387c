#!/usr/bin/env bash
# setup.sh - find what the build needs, install what is missing (Debian and its kin, through apt), write it down for make.
#   tools/setup.sh [--install] [build/config.mk]   install what is missing, write the file
#   tools/setup.sh --ask [build/config.mk]         install nothing: when something is missing, print the command that would, and fail
#   tools/setup.sh --check                         list what is missing and its package; exit status 1 when something is
#   --lint                                         also want clang-format 14
#   --aarch64                                      also want a compiler for AArch64 (make check-aarch64; its libraries: tools/aarch64.sh)
# Every command that changes the machine is printed before it runs. `make deps` is the same as --install.
# Needs bash and coreutils, nothing else, so it runs in a root that has git and make only.
set -u
CC=${CC:-gcc}
LLVM=19
out='' mode=install want_format=no want_aarch64=no
for arg; do
    case $arg in
    --install | --ask | --check) mode=${arg#--} ;;
    --lint) want_format=yes ;;
    --aarch64) want_aarch64=yes ;;
    -*) echo "setup.sh: unknown option $arg" >&2; exit 2 ;;
    *) out=$arg ;;
    esac
done

have() { command -v "$1" >/dev/null 2>&1; }

# The absolute path of a header as the compiler finds it, or nothing. $2: an extra include folder.
header() {
    # unquoted: CC may be several words, such as "ccache gcc"
    printf '#include <%s>\n' "$1" | $CC ${2:+-isystem "$2"} -E -xc - 2>/dev/null |
        sed -n 's/^# 1 "\(\/[^"]*\)".*/\1/p' | grep -F -m1 -- "/$1"
}

llvm_includedir() {
    local d
    for d in "$(llvm-config-$LLVM --includedir 2>/dev/null)" /usr/lib/llvm-$LLVM/include /usr/lib64/llvm$LLVM/include; do
        [ -n "$d" ] && [ -f "$d/llvm-c/Core.h" ] && { echo "$d"; return; }
    done
    # a distribution's only LLVM, when it is the right one
    d=$(llvm-config --includedir 2>/dev/null) && [ "$(llvm-config --version | cut -d. -f1)" = $LLVM ] && echo "$d"
}

find_all() {
    missing=() packages=() headers=()
    need() { missing+=("$1"); packages+=("$2"); }
    have "${CC%% *}" || need "C compiler ($CC)" gcc
    have ld || need 'linker (ld)' binutils
    have pkg-config || need pkg-config pkg-config
    local h p row
    for row in stdio.h:libc6-dev zstd.h:libzstd-dev xxhash.h:libxxhash-dev jansson.h:libjansson-dev zlib.h:zlib1g-dev check.h:check; do
        h=${row%%:*}
        p=$(header "$h")
        if [ -n "$p" ]; then headers+=("$p"); else need "$h" "${row#*:}"; fi
    done
    llvm_dir=$(llvm_includedir)
    if [ -n "$llvm_dir" ]; then
        headers+=("$llvm_dir/llvm-c/Core.h")
    else
        need "LLVM $LLVM headers" "llvm-$LLVM-dev"
    fi
    if [ $want_format = yes ] && ! have clang-format-14; then need clang-format-14 clang-format-14; fi
    if [ $want_aarch64 = yes ] && ! have aarch64-linux-gnu-gcc; then need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu; fi
}

list_missing() { (IFS=,; echo "${missing[*]}" | sed 's/,/, /g'); }

# Says what is missing and what would help, and ends.
give_up() {
    echo "lazuli: missing: $(list_missing); $1" >&2
    exit 1
}

# The command that installs the packages, as one types it.
apt_line() {
    local sudo=sudo
    [ "$(id -u)" -eq 0 ] && sudo=
    echo "${sudo:+sudo }apt-get install -y --no-install-recommends ${packages[*]}"
}

ask() {
    have apt-get || give_up "install these with your package manager (Debian names: ${packages[*]})"
    echo "lazuli: missing: $(list_missing)" >&2
    echo "lazuli: nothing was installed; \`make deps\` installs them, it runs" >&2
    echo "    $(apt_line)" >&2
    exit 1
}

run() {
    echo "lazuli: $*" >&2
    "$@"
}

install_packages() {
    have apt-get || give_up "install these with your package manager (Debian names: ${packages[*]})"
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
    if [ "$(id -u)" -ne 0 ]; then
        have sudo || give_up "run as root: $(apt_line | cut -d' ' -f2-)"
        if [ -t 0 ]; then apt=(sudo "${apt[@]}"); else apt=(sudo -n "${apt[@]}"); fi
    fi
    local install=("${apt[@]}" install -y --no-install-recommends "${packages[@]}")
    echo "lazuli: missing: $(list_missing)" >&2
    echo "lazuli: ${install[*]}" >&2
    "${install[@]}" >/dev/null 2>&1 && return
    # no lists of packages yet, or old ones
    run "${apt[@]}" update >&2 || give_up 'apt-get update failed'
    run "${install[@]}" >&2 || give_up "apt-get install ${packages[*]} failed"
}

find_all
if [ ${#missing[@]} -gt 0 ]; then
    if [ $mode = check ]; then
        printf 'missing: %s (package %s)\n' "${missing[0]}" "${packages[0]}"
        for ((i = 1; i < ${#missing[@]}; i++)); do
            printf 'missing: %s (package %s)\n' "${missing[i]}" "${packages[i]}"
        done
        exit 1
    fi
    [ $mode = ask ] && ask
    install_packages
    find_all
    [ ${#missing[@]} -eq 0 ] || give_up 'still not found after the installation'
fi
[ -n "$out" ] || exit 0
mkdir -p "$(dirname "$out")"
{
    echo '# Written by tools/setup.sh: what it found on this machine.'
    echo "FOUND_HEADERS := ${headers[*]}"
    echo "LLVM_INCLUDEDIR := $llvm_dir"
    echo "CHECK_LIBS := $(pkg-config --libs check 2>/dev/null)"
} >"$out.$$" && mv -f "$out.$$" "$out"
