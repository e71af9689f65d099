"""What GLiNER and GLiNER2 share: a request gives the labels, and words of a text are scored for them."""
