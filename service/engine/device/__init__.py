"""The device that computes: its selection, its floating-point format, and its readings by NVML."""
