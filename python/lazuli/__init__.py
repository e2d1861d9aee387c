"""Lazuli, a lazy-tensor engine for C, as a package: the library, its headers and the command `lazuli`.

`python -m lazuli --cflags --libs` (also the command lazuli-config) says how a program is compiled with it; prefix() is for
CMAKE_PREFIX_PATH. The compiler, libLLVM 19, is looked for when it is first needed: that of the package lazuli-llvm
(`pip install lazuli[llvm]`), else that of the system.
"""
import pathlib

__version__ = "0.0.0"  # the wheel has the library's


def prefix():
    """The folder with include/, lib/ and bin/."""
    return pathlib.Path(__file__).resolve().parent


def library_path():
    """The shared library, for ctypes."""
    return prefix() / "lib" / "liblazuli.so.0"
