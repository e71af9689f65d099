"""Words of a text and their tokens, for models that are given their labels."""
