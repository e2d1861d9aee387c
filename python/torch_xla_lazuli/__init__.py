"""Lazuli as a device of torch_xla: `pip install torch-xla-lazuli`, then `PJRT_DEVICE=LAZULI python prog.py`.

torch_xla finds the package by its entry point (group torch_xla.plugins) when it is imported.
LAZULI_PJRT_PLUGIN names another library than the one in this package; LAZULI_PJRT_PLATFORM another of
Lazuli's platforms than the CPU.
"""
import os
import pathlib

from torch_xla.experimental import plugins

__version__ = "0.0.0"  # the wheel has the library's


def library_path():
    """The library that torch_xla, or any other host of PJRT plugins, loads."""
    return os.environ.get("LAZULI_PJRT_PLUGIN") or str(pathlib.Path(__file__).parent / "libpjrt_lazuli.so")


class LazuliPlugin(plugins.DevicePlugin):
    """Lazuli's devices, as many as CPU_NUM_DEVICES says."""

    def __init__(self):
        super().__init__()
        if os.environ.get("PJRT_DEVICE", "").upper() == "LAZULI":  # Lazuli reads StableHLO, not HLO
            os.environ.setdefault("XLA_STABLEHLO_COMPILE", "1")

    def library_path(self):
        return library_path()

    def physical_chip_count(self):
        return 1

    def client_create_options(self):
        platform = os.environ.get("LAZULI_PJRT_PLATFORM")
        return {"platform": platform} if platform else {}
