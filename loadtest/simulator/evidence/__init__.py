"""The policy's evidence: a grid of policies and demands, simulated, and the choice that follows from it by a rule."""
