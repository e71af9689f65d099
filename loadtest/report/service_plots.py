"""The charts of the service's own metrics and processes, specified from the samples of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadtest.report.chart import Chart, Points, Series
from loadtest.results.result import Result
from loadtest.telemetry.sampler import MetricsSample, rates

SECONDS = "seconds since the start"
MEBIBYTE = 2.0**20


@dataclass(frozen=True, slots=True)
class GaugeChart:
    """A chart of gauges. `lines`: the name, the sampled value and the colour of each."""

    key: str
    title: str
    caption: str
    y_label: str
    lines: tuple[tuple[str, str, str], ...]
    divisor: float = 1.0

    def chart(self, samples: Sequence[MetricsSample]) -> Chart:
        """The chart of these samples."""
        series = (Series(name, gauge(samples, value, self.divisor), colour) for name, value, colour in self.lines)
        return Chart(self.key, self.title, self.caption, SECONDS, self.y_label, tuple(series))


BEFORE_DEVICE = (
    GaugeChart("queue", "Queue depth", "Admitted documents that wait for the device.", "documents",
               (("queued documents", "queue_documents", "blue"),)),
    GaugeChart("backlog", "Backlog",
               "Seconds of queued or recently refused work, and the age of the oldest queued document.", "seconds",
               (("backlog", "backlog_seconds", "navy"), ("age of the oldest", "oldest_age_seconds", "teal"))),
)  # fmt: skip
AFTER_DEVICE = (
    GaugeChart("memory", "Memory of the processes", "All processes together, shared pages once.", "MiB",
               (("processes", "memory_bytes", "blue"),), MEBIBYTE),
    GaugeChart("gpu-memory", "Memory of the GPU", "Used on the device by all processes.", "MiB",
               (("GPU", "gpu_memory_bytes", "purple"),), MEBIBYTE),
    GaugeChart("files", "Open files", "File descriptors of all the service's processes.", "open files",
               (("open files", "open_files", "teal"),)),
)  # fmt: skip


def service_plots(result: Result) -> list[Chart]:
    """All charts of the samples, in reading order."""
    before, after = ([each.chart(result.samples) for each in charts] for charts in (BEFORE_DEVICE, AFTER_DEVICE))
    return [*before, device(result.samples), *after]


def device(samples: Sequence[MetricsSample]) -> Chart:
    return Chart(
        "device",
        "Device and processor",
        "Share of the time in which a batch ran; GPU utilization where there is one; CPU cores that the service used.",
        SECONDS,
        "busy share, cores",
        (
            Series("engine busy", tuple(rates(list(samples), "busy_seconds")), "blue"),
            Series("GPU utilization", gauge(samples, "gpu_utilization"), "purple"),
            Series("CPU cores used", tuple(rates(list(samples), "cpu_seconds")), "orange"),
        ),
    )


def gauge(samples: Sequence[MetricsSample], name: str, divisor: float = 1.0) -> Points:
    """A sampled value over time, from the start of the run on."""
    known = [sample for sample in samples if name in sample.values and sample.at >= 0]
    return tuple((sample.at, sample.values[name] / divisor) for sample in known)
