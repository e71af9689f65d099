"""The encoder runs a Hugging Face model as a function from packed sequences to logits."""
