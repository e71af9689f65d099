"""A Hugging Face encoder as a function from packed sequences to logits."""
