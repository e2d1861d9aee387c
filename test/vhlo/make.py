#!/usr/bin/env python3
"""Makes the files *.mlirbc here: programs as VHLO bytecode, as JAX hands them to a plugin.

    pip install jax && python3 test/vhlo/make.py

hlo/NAME.mlirbc is test/hlo/NAME/prog.mlir. Where it has operations that only JAX's own way of writing takes (of chlo and sdy),
which moves constants on the way, hlo/NAME.mlir is what was written, as text; those with more than 32 KB of it are left out.
own/NAME-VERSION.mlirbc is own/NAME.mlir at each version that its first line names: "// versions: 0.9.0 1.13.0". With
"// mixed" in the second line it has more dialects than VHLO has.
The files are committed; nothing in the tests needs Python."""
import glob
import io
import os
import jax._src.interpreters.mlir as jax_mlir
from jax._src.lib import _jax
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy, stablehlo  # noqa: F401

here = os.path.dirname(os.path.abspath(__file__))
context = jax_mlir.make_ir_context()


def mixed(module, version):
    f = io.BytesIO()
    module.operation.write_bytecode(f)
    return _jax.mlir.serialize_portable_artifact(f.getvalue(), version, True)


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def of_hlo(path):
    name = os.path.basename(os.path.dirname(path))
    module = ir.Module.parse(open(path).read())
    try:
        data = stablehlo.serialize_portable_artifact(module, "1.13.0")
    except Exception:
        data = mixed(module, "1.13.0")
        text = _jax.mlir.deserialize_portable_artifact(data).operation.get_asm(enable_debug_info=False)
        if len(text) > 32768:
            return
        write(os.path.join(here, "hlo", name + ".mlir"), text.encode() + b"\n")
    write(os.path.join(here, "hlo", name + ".mlirbc"), data)


def of_own(path):
    text = open(path).read()
    lines = text.split("\n")
    module = ir.Module.parse(text)
    for version in lines[0].split(":")[1].split():
        make = mixed if lines[1] == "// mixed" else stablehlo.serialize_portable_artifact
        write(path[: -len(".mlir")] + f"-{version}.mlirbc", make(module, version))


with context:
    for path in sorted(glob.glob(os.path.join(here, "../hlo/*/prog.mlir"))):
        of_hlo(path)
    for path in sorted(glob.glob(os.path.join(here, "own/*.mlir"))):
        of_own(path)
