"""Linear layers for CPUs: prepacked for oneDNN, in 8-bit integers, or in the parked kernels."""
