"""Metrics of a GPU."""

from __future__ import annotations

from service.core.gpu_reading import THROTTLE_REASONS, GpuReading
from service.metrics.kinds import counter, gauge


class GpuMetrics:
    """Metrics of one GPU, as NVML reports them."""

    def __init__(self) -> None:
        self.utilization_ratio = gauge("gleaner_gpu_utilization_ratio", "Share of time in which a kernel ran.")
        self.memory_used_bytes = gauge("gleaner_gpu_memory_used_bytes", "Bytes of the GPU that are in use by all.")
        self.memory_total_bytes = gauge("gleaner_gpu_memory_total_bytes", "Bytes of the GPU.")
        self.temperature_celsius = gauge("gleaner_gpu_temperature_celsius", "Temperature of the GPU.")
        self.power_watts = gauge("gleaner_gpu_power_watts", "Power that the GPU draws.")
        self.power_limit_watts = gauge("gleaner_gpu_power_limit_watts", "Power that the GPU may draw.")
        self.clock_hertz = gauge("gleaner_gpu_clock_hertz", "Clock of the GPU's parts.", "clock")
        self.throttled = gauge("gleaner_gpu_throttled", "1 while this keeps the GPU's clocks down.", "reason")
        self.ecc_errors = gauge("gleaner_gpu_ecc_errors", "Memory errors since the driver started.", "kind")
        self.xid_errors = counter("gleaner_gpu_xid_errors", "Driver errors by number.", "xid")

    def update(self, reading: GpuReading) -> None:
        """Set the gauges that the reading has values for, and count its new driver errors."""
        for instrument, value in (
            (self.utilization_ratio, reading.utilization_ratio),
            (self.memory_used_bytes, reading.memory_used_bytes),
            (self.memory_total_bytes, reading.memory_total_bytes),
            (self.temperature_celsius, reading.temperature_celsius),
            (self.power_watts, reading.power_watts),
            (self.power_limit_watts, reading.power_limit_watts),
        ):
            if value is not None:
                instrument.set(value)
        for clock, hertz in reading.clocks_hertz.items():
            self.clock_hertz.labels(clock).set(hertz)
        for reason in THROTTLE_REASONS:
            self.throttled.labels(reason).set(float(reason in reading.throttled))
        for kind, count in reading.ecc_errors.items():
            self.ecc_errors.labels(kind).set(count)
        for xid in reading.xids:
            self.xid_errors.labels(str(xid)).inc()
