"""Programs of tests in front of a machine's own, which note how they were called."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

DIGEST = f"sha256:{'0' * 64}"
"""That of an image in the tests."""
PROGRAM = """#!/bin/bash
echo "${{0##*/}} $*" >> {calls}
{does}
"""


@dataclass
class StubPrograms:
    """Programs in a folder, with what each of them does."""

    folder: Path

    def has(self, name: str, does: str = "") -> None:
        path = self.folder / name
        path.write_text(PROGRAM.format(calls=self.folder / "calls", does=does))
        path.chmod(0o755)

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", **variables}
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def calls(self, words: str = "") -> list[str]:
        """The calls in their order in which these words are."""
        path = self.folder / "calls"
        return [line for line in path.read_text().splitlines() if words in line] if path.exists() else []
