"""Load tests, benchmarks and a rehearsal of autoscaling. They use a service over HTTP and import only its signals."""
