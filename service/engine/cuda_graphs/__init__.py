"""Small batches replayed from captured CUDA graphs; off unless asked for."""
