"""python -m lazuli --cflags --libs: how to compile a program with the library of this package; without arguments, what there is."""
import os
import sys

from . import __version__, prefix

ANSWERS = {
    "--cflags": lambda p: f"-I{p}/include",
    "--libs": lambda p: f"-L{p}/lib -llazuli -Wl,-rpath,{p}/lib",
    "--prefix": str,
    "--includedir": lambda p: f"{p}/include",
    "--libdir": lambda p: f"{p}/lib",
    "--cmakedir": lambda p: f"{p}/lib/cmake/Lazuli",
    "--pkgconfigdir": lambda p: f"{p}/lib/pkgconfig",
    "--version": lambda p: __version__,
}


def config(arguments=None):
    """The command lazuli-config: the answers on one line, 0; 2 when something else was asked."""
    asked = sys.argv[1:] if arguments is None else arguments
    unknown = [a for a in asked if a not in ANSWERS]
    if unknown or not asked:
        print("usage: lazuli-config " + " ".join(f"[{a}]" for a in ANSWERS), file=sys.stderr)
        return 2
    print(" ".join(ANSWERS[a](prefix()) for a in asked))
    return 0


def command():
    """The command lazuli."""
    program = prefix() / "bin" / "lazuli"
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(config())
