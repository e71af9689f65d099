"""How many bytes a batch takes and how many tokens fit: the memory budget as pure functions."""
