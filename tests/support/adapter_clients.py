"""Other people's clients: each a program of tests/system/adapters/clients, run unmodified in an environment of its own.

`make test-all` makes that environment, `.venv/adapter-clients`. A program is given its cases as JSON on its standard
input, and prints what its client made of each.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "system" / "adapters" / "clients"
PYTHON = Path(sys.prefix) / "adapter-clients" / "bin" / "python"
SECONDS = 240.0

FREE, POOR = "AKIAFREE0KEY", "AKIAPOOR0KEY"
"""Two keys of the service with all adapters: without limits, and in debt after one document."""


def key_line(client: str, key: str, limits: str = "") -> str:
    """A line of a keys file."""
    return f"{client} {hashlib.sha256(key.encode()).hexdigest()} {limits}\n"


def run_client(name: str, url: str, cases: Any) -> Any:
    """What the client of an adapter printed."""
    assert PYTHON.exists(), "`make .venv/.adapter-clients` makes the environment of other people's clients"
    command = [str(PYTHON), str(FOLDER / f"{name}_client.py"), url]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr[-3_000:]
    return json.loads(done.stdout)
