"""The README's requests and the answers that it prints, so that a test can ask again.

An example is a console block whose first lines, after `$ `, are a command, and whose rest is the answer, laid out for
reading. `python -m tests.examples URL` asks a running service and writes the answers anew.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
URL = "http://127.0.0.1:8080"
_BLOCK = re.compile(r"```console\n\$ (curl .*?)\n(\{.*?\n)?```\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """One command and the answer that the README prints; None where there is none yet."""

    command: str
    answer: dict[str, Any] | None


def examples() -> list[Example]:
    """All of the README's examples, in order."""
    found = _BLOCK.findall(README.read_text())
    return [Example(command, json.loads(answer) if answer else None) for command, answer in found]


def ask(command: str, url: str) -> dict[str, Any]:
    """The answer of a service at `url` to an example's command."""
    asked = command.replace(URL, url)
    ended = subprocess.run(["bash", "-c", asked], cwd=ROOT, capture_output=True, timeout=120, check=True)
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def laid_out(answer: dict[str, Any]) -> str:
    """An answer as JSON with a line for each entity."""
    lines = []
    for document in answer["documents"]:
        rest = {name: value for name, value in document.items() if name != "entities"}
        entities = ",\n   ".join(_compact(entity) for entity in document["entities"])
        lines.append(f'{_compact(rest)[:-1]}, "entities": [\n   {entities}]}}')
    model, timing = _compact(answer["model"]), _compact(answer["timing"])
    documents = ",\n  ".join(lines)
    return f'{{"model": {model},\n "documents": [\n  {documents}],\n "timing": {timing}}}\n'


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def main() -> None:
    """Ask again for every answer that is printed, and write it into the README."""

    def fill(block: re.Match[str]) -> str:
        answer = laid_out(ask(block[1], sys.argv[1])) if block[2] else ""
        return f"```console\n$ {block[1]}\n{answer}```\n"

    README.write_text(_BLOCK.sub(fill, README.read_text()))


if __name__ == "__main__":
    main()
