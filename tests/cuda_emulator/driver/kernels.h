// Kernels: counted by name, checked against the device's limits, and given the time that their threads' memory takes.
#pragma once
#include "world.h"

struct Launch {
    const std::string &kernel;
    Dim3 grid, block;
    size_t dynamic_shared;
    void *stream;
};

Error launch(const Launch &wanted);
Error launch_product(const std::string &kernel, double rows, double columns, double depth, int bits, void *stream,
                     Effect effect);
void allow_dynamic_shared(const std::string &kernel, size_t bytes);
