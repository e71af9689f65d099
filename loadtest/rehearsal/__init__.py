"""A rehearsal of scaling: local services as the fleet, the alarms of `infra.scaling.policy` as the judge, a five-fold
step."""
