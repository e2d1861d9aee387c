#!/usr/bin/env python3
"""wheel.py - writes Python packages. A wheel is a zip with a list of its files; nothing has to be installed to write one. The
same input gives the same bytes.
  wheel.py jax VERSION LIBRARY FOLDER    FOLDER/jax_lazuli-...whl: python/jax_lazuli with the PJRT plugin in it
  wheel.py torch VERSION LIBRARY FOLDER  FOLDER/torch_xla_lazuli-...whl: the same for torch_xla, python/torch_xla_lazuli
  wheel.py lazuli VERSION PREFIX FOLDER  FOLDER/lazuli-...whl: python/lazuli with include, lib and bin of PREFIX, an installed tree
  wheel.py llvm LIBRARY FOLDER           FOLDER/lazuli_llvm-...whl: libLLVM, and what it links that not every Linux has
The tag says which glibc the libraries in it need, and that they need nothing else that a system may lack (PEP 600); libraries that
do need such a thing are tagged for this machine's kind alone, with a message.
"""
import base64
import hashlib
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What every system has (PEP 600, as auditwheel lists it), of what can come up here.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6", "libz.so.1",
          "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], check=True, capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/local/bin"}).stdout


def needed(path):
    return re.findall(r"\(NEEDED\)\s+Shared library: \[([^]]+)\]", readelf("-d", path))


def platform_tag(binaries):
    """Of the files in `binaries` (name: path)."""
    machine = platform.machine()
    glibc = max((tuple(map(int, v.split("."))) for p in binaries.values() for v in re.findall(r"\bGLIBC_(\d+\.\d+)", readelf("-V", p))),
                default=(2, 17))
    inside = {pathlib.PurePath(n).name for n in binaries}
    lacking = sorted({l for p in binaries.values() for l in needed(p)} - SYSTEM - inside)
    if lacking:
        print(f"wheel.py: not a manylinux package: it needs {', '.join(lacking)}", file=sys.stderr)
        return f"linux_{machine}"
    return f"manylinux_{max(glibc, (2, 17))[0]}_{max(glibc, (2, 17))[1]}_{machine}"


def write(name, version, tag, files, folder, metadata, entry_points="", executable=()):
    info = f"{name}-{version}.dist-info"
    lines = "".join(f"{k}: {v}\n" for k, v in metadata)
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n{lines}".encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: lazuli\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    if entry_points:
        files[f"{info}/entry_points.txt"] = entry_points.encode()
    digest = {n: base64.urlsafe_b64encode(hashlib.sha256(b).digest()).rstrip(b"=").decode() for n, b in files.items()}
    record = "".join(f"{n},sha256={digest[n]},{len(b)}\n" for n, b in files.items()) + f"{info}/RECORD,,\n"
    files[f"{info}/RECORD"] = record.encode()
    out = pathlib.Path(folder) / f"{name}-{version}-{tag}.whl"
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)  # of 1980, whenever it is written
            entry.external_attr = (0o100755 if ".so" in path or path in executable else 0o100644) << 16  # a regular file
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
    print(out)


def sources(package, version):
    files = {f"{package}/{p.name}": p.read_bytes() for p in sorted((ROOT / "python" / package).glob("*.py"))}
    init = f"{package}/__init__.py"
    files[init] = files[init].replace(b'"0.0.0"', f'"{version}"'.encode())
    return files


def plugin(package, host, python, requires, entry_points, version, library, folder):
    files = sources(package, version)
    files[f"{package}/libpjrt_lazuli.so"] = pathlib.Path(library).read_bytes()
    write(package, version, f"py3-none-linux_{platform.machine()}", files, folder,
          [("Summary", f"Lazuli as a device of {host}"), ("Requires-Python", python), ("Requires-Dist", requires)], entry_points)


def jax(*args):
    plugin("jax_lazuli", "JAX", ">=3.10", "jax>=0.7", "[jax_plugins]\nlazuli = jax_lazuli\n", *args)


def torch(*args):
    plugin("torch_xla_lazuli", "torch_xla", ">=3.9", "torch_xla>=2.7", "[torch_xla.plugins]\nlazuli = torch_xla_lazuli:LazuliPlugin\n", *args)


def lazuli(version, prefix, folder):
    prefix = pathlib.Path(prefix)
    files, binaries = sources("lazuli", version), {}
    for part in ("include/lazuli", "lib", "bin"):
        for p in sorted((prefix / part).rglob("*")):
            name = f"lazuli/{p.relative_to(prefix)}"
            if not p.is_file() or p.is_symlink() or p.suffix == ".a" or p.name.startswith("libpjrt"):
                continue
            if re.search(r"liblazuli\.so\.\d+\.", name):  # a wheel has no links: the library is under its soname
                name = f"lazuli/lib/liblazuli.so.{name.split('.so.')[1].split('.')[0]}"
                files["lazuli/lib/liblazuli.so"] = f"INPUT({pathlib.PurePath(name).name})\n".encode()
            files[name] = p.read_bytes()
            if files[name][:4] == b"\x7fELF":
                binaries[name] = p
    info = f"lazuli-{version}.dist-info"
    files[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    write("lazuli", version, f"py3-none-{platform_tag(binaries)}", files, folder,
          [("Summary", "Lazy-tensor engine for C: library, headers and command"), ("License", "Apache-2.0"),
           ("License-File", "LICENSE"), ("Requires-Python", ">=3.8"), ("Provides-Extra", "llvm"),
           ("Requires-Dist", "lazuli-llvm>=19,<20; extra == 'llvm'")],
          "[console_scripts]\nlazuli = lazuli.__main__:command\nlazuli-config = lazuli.__main__:config\n", ("lazuli/bin/lazuli",))


def llvm(library, folder):
    listed = subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", listed, re.M))
    library = pathlib.Path(library).resolve()
    paths = {f"lazuli_llvm/lib/{n}": p for n, p in found.items() if n not in SYSTEM}
    soname = re.search(r"\(SONAME\)\s+Library soname: \[([^]]+)\]", readelf("-d", library)).group(1)
    paths[f"lazuli_llvm/lib/{soname}"] = library
    origins = dict(paths)
    version = re.search(rb"LLVM version (19\.\d+\.\d+)|\b(19\.\d+\.\d+)\b", library.read_bytes())
    version = next(v for v in version.groups() if v).decode()
    with tempfile.TemporaryDirectory() as folder_of_copies:  # each finds the others beside itself
        for n, p in paths.items():
            paths[n] = pathlib.Path(shutil.copy(p, pathlib.Path(folder_of_copies) / pathlib.PurePath(n).name))
            subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", paths[n]], check=True)
        write_llvm(version, origins, paths, folder)


def write_llvm(version, origins, paths, folder):
    files = {"lazuli_llvm/__init__.py": b'"""libLLVM 19 for Lazuli, which finds it beside itself."""\n'}
    files.update((n, pathlib.Path(p).read_bytes()) for n, p in sorted(paths.items()))
    info = f"lazuli_llvm-{version}.dist-info"
    for n, p in sorted(origins.items()):
        file = str(pathlib.Path(p).resolve())  # dpkg may know it by the name it had before /lib was a link
        owners = [subprocess.run(["dpkg", "-S", f], capture_output=True, text=True).stdout for f in (file, file.removeprefix("/usr"))]
        package = next((o.split(":")[0] for o in owners if o), "")
        copyright = pathlib.Path("/usr/share/doc") / package / "copyright"
        if package and copyright.is_file():
            files[f"{info}/licenses/{package}.txt"] = copyright.read_bytes()
        else:
            print(f"wheel.py: no licence found for {n}: add it before this is handed on", file=sys.stderr)
    write("lazuli_llvm", version, f"py3-none-{platform_tag(paths)}", files, folder,
          [("Summary", "libLLVM 19 for Lazuli"), ("License", "Apache-2.0 WITH LLVM-exception, and those of what it links"),
           ("Requires-Python", ">=3.8")])


if __name__ == "__main__":
    {"jax": jax, "torch": torch, "lazuli": lazuli, "llvm": llvm}[sys.argv[1]](*sys.argv[2:])
