"""The commands of `gleaner loadtest`, one per module: a scenario, the knee, a comparison, a synthetic day."""
