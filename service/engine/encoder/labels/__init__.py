"""Models with free labels: their heads over the hidden states of a trunk."""
