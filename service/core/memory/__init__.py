"""Memory budget: the bytes that a batch takes and the tokens that fit, as pure functions."""
