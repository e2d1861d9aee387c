"""Lazuli as a device of JAX: `pip install jax-lazuli`, then `JAX_PLATFORMS=lazuli python prog.py`.

JAX finds the package by its entry point (group jax_plugins) and calls initialize() before the first
use of a device. LAZULI_PJRT_PLUGIN names another library than the one in this package;
LAZULI_PJRT_PLATFORM another of Lazuli's platforms than the CPU.
"""
import os
import pathlib

import jax

from . import private

__version__ = "0.0.0"  # the wheel has the library's


def library_path():
    """The library that JAX, or any other host of PJRT plugins, loads."""
    return os.environ.get("LAZULI_PJRT_PLUGIN") or str(pathlib.Path(__file__).parent / "libpjrt_lazuli.so")


def initialize():
    """Called by JAX."""
    options = {}
    if os.environ.get("LAZULI_PJRT_PLATFORM"):
        options["platform"] = os.environ["LAZULI_PJRT_PLATFORM"]
    private.register("lazuli", library_path(), options)
    # callbacks get arrays of the CPU, whatever calls them
    platforms = (jax.config.jax_platforms or "").split(",")
    if "lazuli" in platforms and "cpu" not in platforms:
        jax.config.update("jax_platforms", ",".join([*platforms, "cpu"]))
