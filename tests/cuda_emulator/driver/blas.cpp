// cuBLAS: handles and the products that torch asks it for.
#include "products.h"

namespace {

constexpr size_t HANDLE_BYTES = 8 << 20;

struct Blas {
    void *stream = nullptr;
    int math = 0, pointer_mode = 0;
};

struct Product {
    const char *kernel;
    int rows, columns, depth, type;
    void *out;
    int stride, count;
    long long step;
};

int multiply(void *handle, const Product &asked) {
    size_t element = size_t(bits_of(asked.type) / 8);
    Effect effect = [=] {
        for (int i = 0; i < asked.count; i++) {
            char *out = static_cast<char *>(asked.out) + size_t(i) * size_t(asked.step) * element;
            Effect one = fill_columns(out, asked.type, size_t(asked.rows), size_t(asked.columns), size_t(asked.stride));
            if (one) one();
        }
    };
    int bits = bits_of(asked.type);
    double columns = double(asked.columns) * asked.count;
    void *stream = static_cast<Blas *>(handle)->stream;
    Error error = launch_product(asked.kernel, asked.rows, columns, asked.depth, bits, stream, effect);
    return error ? BLAS_FAILED : BLAS_OK;
}

}  // namespace

API int cublasCreate_v2(void **handle) {
    COUNTED;
    LOCKED;
    if (world().dead() || !world().has_room(HANDLE_BYTES)) return BLAS_NOT_INITIALIZED;
    return *handle = new Blas, BLAS_OK;
}

API int cublasDestroy_v2(void *handle) { return delete static_cast<Blas *>(handle), BLAS_OK; }
API int cublasSetStream_v2(void *handle, void *stream) { return static_cast<Blas *>(handle)->stream = stream, BLAS_OK; }
API int cublasSetWorkspace_v2(void *, void *, size_t) { return BLAS_OK; }
API int cublasSetMathMode(void *handle, int math) { return static_cast<Blas *>(handle)->math = math, BLAS_OK; }
API int cublasGetMathMode(void *handle, int *math) { return *math = static_cast<Blas *>(handle)->math, BLAS_OK; }
API int cublasSetPointerMode_v2(void *handle, int mode) {
    return static_cast<Blas *>(handle)->pointer_mode = mode, BLAS_OK;
}
API int cublasGetPointerMode_v2(void *handle, int *mode) {
    return *mode = static_cast<Blas *>(handle)->pointer_mode, BLAS_OK;
}
API int cublasSetSmCountTarget(void *, int) { return BLAS_OK; }
API int cublasGetVersion_v2(void *, int *version) { return *version = 130100, BLAS_OK; }

API const char *cublasGetStatusString(int status) {
    return status == BLAS_NOT_INITIALIZED ? "the library was not initialized" : "an internal operation failed";
}

API int cublasGemmEx(void *handle, int, int, int m, int n, int k, const void *, const void *, int, int, const void *,
                     int, int, const void *, void *out, int type, int stride, int, int) {
    return multiply(handle, {"cublasGemmEx", m, n, k, type, out, stride, 1, 0});
}

API int cublasSgemm_v2(void *handle, int, int, int m, int n, int k, const float *, const float *, int, const float *,
                       int, const float *, float *out, int stride) {
    return multiply(handle, {"cublasSgemm", m, n, k, F32, out, stride, 1, 0});
}

API int cublasGemmStridedBatchedEx(void *handle, int, int, int m, int n, int k, const void *, const void *, int, int,
                                   long long, const void *, int, int, long long, const void *, void *out, int type,
                                   int stride, long long step, int count, int, int) {
    return multiply(handle, {"cublasGemmStridedBatchedEx", m, n, k, type, out, stride, count, step});
}

API int cublasSgemmStridedBatched(void *handle, int, int, int m, int n, int k, const float *, const float *, int,
                                  long long, const float *, int, long long, const float *, float *out, int stride,
                                  long long step, int count) {
    return multiply(handle, {"cublasSgemmStridedBatched", m, n, k, F32, out, stride, count, step});
}
