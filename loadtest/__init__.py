"""Load on a service, from outside: benchmarks and peers. Never imports the service; it speaks HTTP like anybody."""
