// row_kernels.cu as functions of the host, with a warp's threads played one after the other.
#include "host_cuda.h"
#include "row_kernels.cu"

extern "C" void run_add_norm(void *rows, void *residual, void *weight, void *bias, int count, float epsilon) {
    auto vectors = [](void *start) { return static_cast<Vector *>(start); };
    run(count, [=] { add_norm(vectors(rows), vectors(residual), vectors(weight), vectors(bias), count, epsilon); });
}

extern "C" void run_quantize(void *rows, void *bytes, float *scales, int count, int columns, int gelu) {
    run(count, [=] {
        quantize(static_cast<Vector *>(rows), static_cast<Bytes *>(bytes), scales, count, columns, gelu);
    });
}
