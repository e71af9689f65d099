"""Infrastructure around the service: scaling policy, AWS stacks, container image, Prometheus rules and dashboards."""
