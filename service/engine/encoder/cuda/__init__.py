"""BERT's kind of model on CUDA devices: fused layers without transformers' code between them, checked at load."""
