"""Kernels compiled for the processor, for CPUs with AVX512-BF16 and VNNI: attention and linear layers of an encoder.

Optional: an installation without a C compiler, and any other processor, goes on with torch's operators.
"""
