"""Which device computes, in which precision, and what NVML says of it."""
