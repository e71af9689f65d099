// cuBLASLt: one product with its epilogue, which its name in the report says (4: bias, 36: bias and GELU).
#include "products.h"
#include <cstring>
#include <map>

namespace {

struct Description {
    std::map<int, uint64_t> attributes;
    uint64_t operator[](int attribute) const {
        auto found = attributes.find(attribute);
        return found == attributes.end() ? 0 : found->second;
    }
};

struct Layout {
    int type;
    uint64_t rows, columns;
    int64_t stride;
};

struct Preference {};

}  // namespace

API size_t cublasLtGetVersion() { return 130100; }

API int cublasLtMatmulDescCreate(void **made, int, int) { return *made = new Description, BLAS_OK; }
API int cublasLtMatmulDescDestroy(void *made) { return delete static_cast<Description *>(made), BLAS_OK; }

API int cublasLtMatmulDescSetAttribute(void *description, int attribute, const void *value, size_t bytes) {
    uint64_t kept = 0;
    memcpy(&kept, value, bytes < sizeof kept ? bytes : sizeof kept);
    static_cast<Description *>(description)->attributes[attribute] = kept;
    return BLAS_OK;
}

API int cublasLtMatrixLayoutCreate(void **made, int type, uint64_t rows, uint64_t columns, int64_t stride) {
    return *made = new Layout{type, rows, columns, stride}, BLAS_OK;
}
API int cublasLtMatrixLayoutDestroy(void *made) { return delete static_cast<Layout *>(made), BLAS_OK; }
API int cublasLtMatrixLayoutSetAttribute(void *, int, const void *, size_t) { return BLAS_OK; }

API int cublasLtMatmulPreferenceCreate(void **made) { return *made = new Preference, BLAS_OK; }
API int cublasLtMatmulPreferenceDestroy(void *made) { return delete static_cast<Preference *>(made), BLAS_OK; }
API int cublasLtMatmulPreferenceSetAttribute(void *, int, const void *, size_t) { return BLAS_OK; }

API int cublasLtMatmulAlgoGetHeuristic(void *, void *, void *, void *, void *, void *, void *, int, Heuristic *found,
                                       int *count) {
    memset(found, 0, sizeof *found);
    return *count = 1, BLAS_OK;
}

API int cublasLtMatmul(void *, void *description, const void *, const void *, void *left, const void *, void *,
                       const void *, const void *, void *, void *out, void *result, const void *, void *, size_t,
                       void *stream) {
    const auto &how = *static_cast<Description *>(description);
    const auto &a = *static_cast<Layout *>(left), &d = *static_cast<Layout *>(result);
    std::string kernel = "cublasLtMatmul epilogue " + std::to_string(how[MATMUL_EPILOGUE]);
    double depth = double(how[MATMUL_TRANSPOSE_A] ? a.rows : a.columns);
    Effect effect = fill_columns(out, d.type, d.rows, d.columns, size_t(d.stride));
    Error error = launch_product(kernel, double(d.rows), double(d.columns), depth, bits_of(a.type), stream, effect);
    return error ? BLAS_FAILED : BLAS_OK;
}
