"""What grammar and checksums find in a text without a model, and how that is put together with what the model found."""
