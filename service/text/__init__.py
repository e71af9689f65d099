"""From text to token ids, and from logits to entities. Front workers and the golden check share it."""
