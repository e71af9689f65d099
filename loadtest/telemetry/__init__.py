"""What is measured of the service during a run: its metrics and its processes."""
