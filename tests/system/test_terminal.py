"""A service that is started by hand: on a terminal it says in words where it is, and Ctrl-C ends it."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

from loadtest.service_process import KeptPort
from model_store.local.store import Store
from model_store.transfer.publish import publish
from tests.support.service import START_SECONDS, environment
from tests.support.tiny_models import make_model


def shown_until(terminal: int, words: str, seconds: float) -> str:
    """What a terminal shows until these words stand there."""
    end, shown = time.monotonic() + seconds, ""
    while words not in shown and (left := end - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            shown += os.read(terminal, 65_536).decode()
    return shown


def test_a_person_sees_lines_of_text_and_the_address(tmp_path: Path) -> None:
    publish(make_model(tmp_path / "tiny"), "tiny", Store(tmp_path / "store"))
    port = KeptPort()
    terminal, screen = pty.openpty()
    command = [sys.executable, "-m", "service.cli", "serve", "--host", "127.0.0.1", "--port", str(port.number)]
    with subprocess.Popen(
        command, env=environment(tmp_path, MODELS="tiny", DTYPE="float32"), stderr=screen, start_new_session=True
    ) as process:
        os.close(screen)
        try:
            shown = shown_until(terminal, "Ctrl-C stops it.", START_SECONDS)
            assert f"http://127.0.0.1:{port.number}/docs" in shown
            assert not [line for line in shown.splitlines() if line.startswith("{")]
            process.send_signal(2)
            assert "drained" in shown_until(terminal, "drained", 30.0)
            assert process.wait(30.0) == 0
        finally:
            process.kill()
    os.close(terminal)
