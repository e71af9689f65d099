"""A service that watches a GPU through NVML: its metrics follow, and when the GPU is lost it ends for replacement."""

from __future__ import annotations

import contextlib
from pathlib import Path

import httpx
import pytest

from service.logs import LogEvent
from tests.support.log_lines import log_lines
from tests.support.nvml.stub import HEALTHY, StubNvml
from tests.support.service import paused, serving, wait_until


def test_metrics_follow_the_gpu_and_its_loss_ends_the_service(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = StubNvml(tmp_path / "nvml")
    for name, value in stub.environment.items():
        monkeypatch.setenv(name, value)
    with serving(home, MODELS="tiny", GPU_WATCH="0") as service:
        wait_until(lambda: service.metric('gleaner_gpu_ecc_errors{kind="corrected"') == 3)  # Set after all others.
        assert service.metric("gleaner_gpu_utilization_ratio") == 0.73
        assert service.metric("gleaner_gpu_memory_used_bytes") == 5e9
        assert service.metric("gleaner_gpu_clock_hertz{") == 1.695e9 + 6.25e9
        assert service.metric('gleaner_gpu_throttled{reason="power_cap"') == 1
        assert service.metric('gleaner_gpu_throttled{reason="power_brake"') == 0
        stub.set(**{**HEALTHY, "utilization": 12, "xid": 31, "xid_serial": 1})
        wait_until(lambda: service.metric("gleaner_gpu_utilization_ratio") == 0.12)
        wait_until(lambda: service.metric('gleaner_gpu_xid_errors_total{xid="31"') == 1)
        assert service.metric("gleaner_gpu_lost") == 0
        assert service.is_ready()

        with paused(service.process.pid):  # The supervisor cannot end the service yet.
            stub.set(fail=15)
            wait_until(lambda: service.get("/readyz").status_code == 503)
        after_loss: list[int] = []

        def has_ended() -> bool:
            with contextlib.suppress(httpx.HTTPError):
                after_loss.append(service.get("/readyz", timeout=5.0).status_code)
            return service.process.poll() is not None

        wait_until(has_ended)
        assert service.process.returncode == 1
        assert set(after_loss) <= {503}, "it was ready again"
        events = service.events()
        assert events.count(LogEvent.GPU_LOST) == 1
        assert LogEvent.ENGINE_DIED not in events
        started = [line["part"] for line in log_lines(service.log) if line.get("event") == LogEvent.PROCESS_STARTED]
        assert started == ["engine", "api"], "the engine was started again"
