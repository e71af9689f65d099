"""Load generator: HTTP client, generator processes, records of requests, and the run that joins them to a service."""
