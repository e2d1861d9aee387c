#!/usr/bin/env bash
# aarch64.sh - AArch64 on another machine: a folder with what is linked and run there, and a place where its programs run.
#   tools/aarch64.sh root DIR              make DIR, a Debian for AArch64 with the packages of tools/setup.sh (apt, 300 MB; the machine's own
#                                          packages stay as they are), and DIR/qemu-aarch64 where the machine's qemu is none or too old
#   tools/aarch64.sh run DIR COMMAND...    run it where programs for AArch64 run as others do: this machine is one, or executes them already
#                                          (binfmt_misc), or Linux 6.7 and user namespaces allow that for this command alone
# Under emulation LZ_TEST_EMULATED is qemu's path; tests that this cannot do say so by it.
set -u
SUITE=bookworm    # of DIR
QEMU_SUITE=trixie # its qemu-user is one static file
PACKAGES='libc6-dev libgcc-12-dev libstdc++6 libllvm19 libzstd-dev libxxhash-dev libjansson-dev zlib1g-dev check'
MIRROR=${MIRROR:-http://deb.debian.org/debian}
KEYS=/usr/share/keyrings/debian-archive-keyring.gpg

die() { echo "aarch64.sh: $*" >&2; exit 1; }

# Code that is written at one address and runs at another is not noticed by QEMU before 8.1.
new_enough() { # program
    local v
    v=$("$1" --version 2>/dev/null | sed -n 's/^qemu-aarch64 version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
    [ -n "$v" ] && [ "${v% *}" -gt 8 ] || { [ "${v% *}" = 8 ] && [ "${v#* }" -ge 1 ]; }
}

# apt with lists, a cache and installed packages (none) of its own.
own_apt() { # folder, suite, processor, apt-get's arguments
    local d=$1 suite=$2 machine=$3
    shift 3
    mkdir -p "$d/lists/partial" "$d/cache/archives/partial" && : >"$d/status" &&
        echo "deb [signed-by=$KEYS] $MIRROR $suite main" >"$d/list" &&
        apt-get -qq -o Dir::Etc::sourcelist="$d/list" -o Dir::Etc::sourceparts=/none -o Dir::State::lists="$d/lists" -o Dir::Cache="$d/cache" \
            -o Dir::State::status="$d/status" -o APT::Architecture="$machine" -o APT::Architectures="$machine" -o APT::Sandbox::User=root \
            -o Debug::NoLocking=1 "$@"
}

# Links of packages begin at the root, which is another folder here.
relative_links() { # folder
    find "$1" -type l -lname '/*' | while read -r l; do
        ln -sfn "$(realpath -m --relative-to="${l%/*}" "$1$(readlink "$l")")" "$l"
    done
}

make_root() {
    local dir=$1 new=$1.new deb
    [ -e "$dir/ready" ] && return
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || die "$dir is made of Debian's packages, by apt-get and dpkg-deb"
    rm -rf "$new" && mkdir -p "$new" || exit 1
    new=$(realpath "$new")
    echo "aarch64.sh: $dir: $PACKAGES of $SUITE for arm64, from $MIRROR" >&2
    own_apt "$new/apt" $SUITE arm64 update || die 'apt-get update failed'
    # shellcheck disable=SC2086  # a list
    own_apt "$new/apt" $SUITE arm64 install -y --no-install-recommends --download-only $PACKAGES >/dev/null || die 'apt-get failed'
    for deb in "$new"/apt/cache/archives/*.deb; do dpkg-deb -x "$deb" "$new" || exit 1; done
    rm -rf "$new/apt"
    relative_links "$new"
    if ! new_enough qemu-aarch64; then
        local here
        here=$(dpkg --print-architecture)
        own_apt "$new/apt" $QEMU_SUITE "$here" update || die 'apt-get update failed'
        (cd "$new/apt" && own_apt "$new/apt" $QEMU_SUITE "$here" download qemu-user) || die 'apt-get download failed'
        dpkg-deb --fsys-tarfile "$new"/apt/qemu-user*.deb | tar -x -O ./usr/bin/qemu-aarch64 >"$new/qemu-aarch64" && chmod +x "$new/qemu-aarch64"
        rm -rf "$new/apt"
        new_enough "$new/qemu-aarch64" || die "no qemu-aarch64 8.1 or newer from $QEMU_SUITE"
    fi
    : >"$new/ready"
    rm -rf "$dir" && mv "$new" "$dir"
}

# ---- running ----

# ELF's header of a 64-bit program for AArch64, and what of it counts.
MAGIC='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
MASK='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'

# In a user namespace of its own: binfmt_misc's list is the namespace's.
inside() {
    local i
    for ((i = 0; i < 1000; i++)); do [ "$(id -u)" = 0 ] && break; sleep 0.01; done
    mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null &&
        printf ':lazuli-aarch64:M::%s:%s:%s:OCF' "$MAGIC" "$MASK" "$LZ_TEST_EMULATED" >/proc/sys/fs/binfmt_misc/register ||
        die 'this system executes no programs for AArch64 and lets nobody change that here; install qemu-user-binfmt (QEMU 8.1 or newer)'
    exec "$@"
}

# Other users' numbers stay what they are where the caller may map them, for tests that give up root.
map_users() { # process
    local was i
    was=$(readlink /proc/self/ns/user)
    for ((i = 0; i < 1000; i++)); do [ "$(readlink "/proc/$1/ns/user")" != "$was" ] && break; sleep 0.01; done
    echo '0 0 65536' >"/proc/$1/gid_map" && echo '0 0 65536' >"/proc/$1/uid_map"
}

run() { # root, command...
    local root
    root=$(realpath "$1")
    shift
    case $(uname -m) in aarch64) exec "$@" ;; esac
    export QEMU_LD_PREFIX=$root LZ_TEST_EMULATED
    LZ_TEST_EMULATED=$root/qemu-aarch64
    [ -x "$LZ_TEST_EMULATED" ] || LZ_TEST_EMULATED=$(command -v qemu-aarch64) || die "no qemu-aarch64, in $root or elsewhere"
    "$root/lib/ld-linux-aarch64.so.1" --version >/dev/null 2>&1 && exec "$@"
    if [ "$(id -u)" = 0 ]; then
        map_users $$ &
        exec unshare --user --mount "$0" inside "$@"
    fi
    exec unshare --map-root-user --mount "$0" inside "$@"
}

case ${1:-} in
root) make_root "${2:?}" ;;
run) shift && run "$@" ;;
inside) shift && inside "$@" ;;
*) sed -n '2,/^set/s/^# //p' "$0" >&2; exit 2 ;;
esac
