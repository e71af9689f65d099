// The device that is modelled: read once from CUDA_EMULATOR, "name=A10G;sm=86;…" (the table is ../devices.py).
#pragma once
#include "cuda_types.h"
#include <string>

struct Device {
    std::string name;
    int sm, multiprocessors;
    size_t memory_bytes, context_bytes;
    double l2_bytes;
    double half_flops, single_flops, byte_flops;  // A second, of products in 16, 32 and 8 bits.
    double memory_rate, bus_rate;                 // Bytes a second.
    double launch_ns, least_kernel_ns;  // Of the host's time, and of the device's.

    size_t shared_bytes() const {  // Most that one block may ask for.
        return sm == 75 ? 65536 : sm == 86 || sm == 89 ? 101376 : sm == 80 ? 166912 : 232448;
    }
    double flops(int bits) const { return bits == 32 ? single_flops : bits == 8 ? byte_flops : half_flops; }
};

const Device &device();
