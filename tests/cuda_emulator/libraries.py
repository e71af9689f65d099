"""`python -m tests.cuda_emulator.libraries TORCH_LIB OUT`: makes the libraries that stand for CUDA under a CUDA torch.

The emulator itself is `libcuda.so.1`, from `driver/*.cpp`. Of every other library of NVIDIA's that torch's libraries
name, a small one is made by their own account (`readelf`, `nm`): what the emulator has is found there, every other
function fails and is counted by name. NVML lies in a folder of its own, `OUT/nvml`, so that it can be left out.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).with_name("driver")
NEEDED = re.compile(r"NEEDED.*\[(lib(?:cu|nv|nccl)[^\]]*)\]")
OURS_BY_NAME = re.compile(r"(cu|nccl|nvrtc|nvshmem|nvtx|cudnn)[A-Za-z]")
NVSHMEM = "libnvshmem_host.so.3"
DRIVER = "libcuda.so.1"
COMPLETE = "complete"
"""A file that is there once all libraries are."""


def main() -> int:
    """Make all libraries; prints what was made."""
    torch_lib, out = Path(sys.argv[1]), Path(sys.argv[2])
    (out / "nvml").mkdir(parents=True, exist_ok=True)
    complete = out / COMPLETE
    complete.unlink(missing_ok=True)
    driver = out / DRIVER
    cpp = sorted(map(str, SOURCES.glob("*.cpp")))
    _compile("g++", driver, *cpp, "-std=c++17", "-fvisibility=hidden", f"-Wl,-soname,{DRIVER}", "-pthread")
    _compile("gcc", out / "nvml" / "libnvidia-ml.so.1", str(SOURCES / "nvml.c"))
    have = set(_defined(driver))
    needed, functions = wanted(torch_lib)
    for library in sorted(needed):
        _make_failing(library, functions[library] - have, out)
    complete.touch()
    print(f"{len(have)} functions stand in; of {len(needed)} libraries the others fail")
    return 0


def wanted(torch_lib: Path) -> tuple[set[str], dict[str, set[str]]]:
    """Libraries that torch's libraries need and do not bring, and the functions that they want of each.

    A function without a version may come from any library that has none: it is wanted of all of these.
    """
    needed: set[str] = set()
    functions: dict[str, set[str]] = defaultdict(set)
    anywhere: set[str] = set()
    for library in sorted(torch_lib.glob("*.so")):
        needed |= set(NEEDED.findall(_run("readelf", "-d", str(library))))
        for name, version in _undefined(library):
            if version:
                functions[NVSHMEM if version == "NVSHMEM" else version].add(name)
            elif OURS_BY_NAME.match(name):
                anywhere.add(name)
    needed = {name for name in needed if not (torch_lib / name).exists() and name != DRIVER}
    return needed, defaultdict(lambda: anywhere, {name: functions[name] for name in needed if name in functions})


def _undefined(library: Path) -> Iterator[tuple[str, str]]:
    for line in _run("nm", "-D", "--undefined-only", str(library)).splitlines():
        name, _, version = line.split()[-1].partition("@")
        version = version.lstrip("@")
        if not version or version == "NVSHMEM" or version.startswith(("libcu", "libnv", "libnccl")):
            yield name, version


def _defined(library: Path) -> Iterator[str]:
    for line in _run("nm", "-D", "--defined-only", str(library)).splitlines():
        yield line.split()[-1].partition("@")[0]


def _make_failing(library: str, functions: set[str], out: Path) -> None:
    source, versions = out / "failing.c", out / "failing.map"
    lines = (f'int {name}(void) {{ return emulator_refuse("{name}"); }}\n' for name in sorted(functions))
    source.write_text("int emulator_refuse(const char *);\nint made_for_torch;\n" + "".join(lines))
    version = "NVSHMEM" if library == NVSHMEM else library
    versions.write_text(f"{version} {{ global: *; }};\n")
    script, soname = f"-Wl,--version-script={versions}", f"-Wl,-soname,{library}"
    _compile("gcc", out / library, str(source), script, soname, "-Wl,--no-as-needed", str(out / DRIVER))
    source.unlink()
    versions.unlink()


def _compile(compiler: str, library: Path, *arguments: str) -> None:
    """Make a library and put it in its place whole: processes may be using the one before."""
    fresh = library.with_name(library.name + ".new")
    subprocess.run([compiler, "-O2", "-Wall", "-shared", "-fPIC", "-o", str(fresh), *arguments], check=True)
    fresh.replace(library)


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
