"""Rules find entities by grammar and checksums, without a model, and merge them with the model's."""
