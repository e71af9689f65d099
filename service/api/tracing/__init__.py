"""OpenTelemetry tracing: spans are made of a request that has been answered. Off: nothing is imported."""
