"""The adapters in service/API.md: each of their commands is answered, through the adapter that it is for."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest

from service.signals.routes import ADAPTERS
from tests.documentation import ROOT
from tests.support.adapter_clients import FREE
from tests.support.service import Service

PAGE = (ROOT / "service" / "API.md").read_text().partition("## Protocol adapters")[2].partition("## Console")[0]
COMMANDS = re.findall(r"^```console\n(curl .+)\n```$", PAGE, re.MULTILINE)


def test_every_adapter_has_a_command_and_a_row() -> None:
    adapters = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert set(adapters) == ADAPTERS.keys()
    assert len(COMMANDS) == len(adapters)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: shlex.split(command)[2])
def test_a_command_is_answered(opened: Service, command: str) -> None:
    words = shlex.split(command.replace("http://127.0.0.1:8080", opened.url).replace("MODEL", "tiny"))
    done = subprocess.run(
        [*words, "-H", f"X-API-Key: {FREE}", "-w", "%{http_code}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.endswith("200"), done.stdout[-500:]
