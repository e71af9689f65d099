"""Linear layers laid out for a CPU: prepacked, in 8 bits, or by the parked kernels."""
