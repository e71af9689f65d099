"""Parked kernels, compiled for CPUs with AVX512-BF16 and VNNI: an encoder's attention, linear layers, and whole layers.

Optional: without a C compiler at installation, and on any other processor, torch's operators compute. No further work
is done here; `encoder/acceleration.py` imports `kernels.py` and nothing else does, so the folder can be removed.
"""
