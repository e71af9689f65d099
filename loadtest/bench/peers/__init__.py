"""`python -m loadtest.bench.peers`: our service beside other servers: same weights, documents, client, machine."""
