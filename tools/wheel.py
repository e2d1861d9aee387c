#!/usr/bin/env python3
"""wheel.py VERSION LIBRARY FOLDER - the package of python/ with the library in it, as FOLDER/jax_lazuli-VERSION-...whl.

A wheel is a zip with a list of its files; nothing has to be installed to write one. The same input gives the same bytes.
"""
import base64
import hashlib
import pathlib
import platform
import sys
import zipfile

version, library, folder = sys.argv[1:]
tag = f"py3-none-linux_{platform.machine()}"
info = f"jax_lazuli-{version}.dist-info"
source = pathlib.Path(__file__).resolve().parent.parent / "python" / "jax_lazuli"
files = {f"jax_lazuli/{p.name}": p.read_bytes() for p in sorted(source.glob("*.py"))}
files["jax_lazuli/__init__.py"] = files["jax_lazuli/__init__.py"].replace(b'"0.0.0"', f'"{version}"'.encode())
files["jax_lazuli/libpjrt_lazuli.so"] = pathlib.Path(library).read_bytes()
files[f"{info}/METADATA"] = f"""Metadata-Version: 2.1
Name: jax-lazuli
Version: {version}
Summary: Lazuli as a device of JAX
Requires-Python: >=3.10
Requires-Dist: jax>=0.7
""".encode()
files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: lazuli\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
files[f"{info}/entry_points.txt"] = b"[jax_plugins]\nlazuli = jax_lazuli\n"
digest = {n: base64.urlsafe_b64encode(hashlib.sha256(b).digest()).rstrip(b"=").decode() for n, b in files.items()}
record = "".join(f"{n},sha256={digest[n]},{len(b)}\n" for n, b in files.items()) + f"{info}/RECORD,,\n"
files[f"{info}/RECORD"] = record.encode()
out = pathlib.Path(folder) / f"jax_lazuli-{version}-{tag}.whl"
out.parent.mkdir(parents=True, exist_ok=True)
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
    for name, data in files.items():
        entry = zipfile.ZipInfo(name)  # of 1980, whenever it is written
        entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        z.writestr(entry, data)
print(out)
