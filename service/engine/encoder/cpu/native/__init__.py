"""Kernels compiled for CPUs with AVX512-BF16 and VNNI: an encoder's attention, its linear layers, and whole layers.

Optional: an installation without a C compiler, and any other processor, goes on with torch's operators.
"""
