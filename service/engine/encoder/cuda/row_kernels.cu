// What a layer does row by row between its products: one warp computes one row, and nothing waits for another warp.
//
// Compiled at load (nvrtc.py) with no header, for NUMBER (float32, float16 or bfloat16), the numbers' format. All sums
// are in float32 and in one order, so a row's result depends on the row alone. Rows begin where 16 bytes may be read at
// once, and COLUMNS, the size of a normalised row, is a multiple of as many numbers.
//
// ON_HOST: a host's compiler gives the words of CUDA that are used here (the tests of the arithmetic do that).

constexpr int LANES = 32, WARPS = 4;  // Of a warp, and rows of a block.

struct float32 { float value; };
struct float16 { unsigned short bits; };
struct bfloat16 { unsigned short bits; };

#ifndef ON_HOST
__device__ float half_to_float(unsigned short bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

__device__ unsigned short float_to_half(float value) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
#endif

__device__ float read(float32 from) { return from.value; }
__device__ float read(float16 from) { return half_to_float(from.bits); }
__device__ float read(bfloat16 from) { return __uint_as_float(unsigned(from.bits) << 16); }

__device__ void write(float32 &to, float value) { to.value = value; }
__device__ void write(float16 &to, float value) { to.bits = float_to_half(value); }
__device__ void write(bfloat16 &to, float value) {  // To the nearest, ties to even; NaN stays NaN.
    unsigned bits = __float_as_uint(value);
    bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    to.bits = is_nan ? 0x7fff : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

constexpr int WIDTH = 16 / sizeof(NUMBER);
struct alignas(16) Vector { NUMBER at[WIDTH]; };

__device__ float sum_of_warp(float value) {
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

__device__ float peak_of_warp(float value) {
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
    return value;
}

// rows = norm(rows + residual) * weight + bias, in place; each [count, COLUMNS].
extern "C" __global__ void __launch_bounds__(LANES * WARPS)
add_norm(Vector *rows, const Vector *residual, const Vector *weight, const Vector *bias, int count, float epsilon) {
    constexpr int VECTORS = COLUMNS / WIDTH, OF_LANE = (VECTORS + LANES - 1) / LANES;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES, lane = threadIdx.x % LANES;
    if (row >= count) return;
    Vector *own = rows + size_t(row) * VECTORS;
    const Vector *added = residual + size_t(row) * VECTORS;
    float values[OF_LANE][WIDTH], sum = 0;
#pragma unroll
    for (int i = 0; i < OF_LANE; i++) {
        const int place = i * LANES + lane;
        if (place >= VECTORS) break;
        const Vector one = own[place], other = added[place];
#pragma unroll
        for (int j = 0; j < WIDTH; j++) sum += values[i][j] = read(one.at[j]) + read(other.at[j]);
    }
    const float mean = sum_of_warp(sum) / COLUMNS;
    float squares = 0;
#pragma unroll
    for (int i = 0; i < OF_LANE; i++) {
        if (i * LANES + lane >= VECTORS) break;
#pragma unroll
        for (int j = 0; j < WIDTH; j++) squares += (values[i][j] - mean) * (values[i][j] - mean);
    }
    const float scale = 1 / sqrtf(sum_of_warp(squares) / COLUMNS + epsilon);
#pragma unroll
    for (int i = 0; i < OF_LANE; i++) {
        const int place = i * LANES + lane;
        if (place >= VECTORS) break;
        const Vector by = weight[place], plus = bias[place];
        Vector result;
#pragma unroll
        for (int j = 0; j < WIDTH; j++)
            write(result.at[j], (values[i][j] - mean) * scale * read(by.at[j]) + read(plus.at[j]));
        own[place] = result;
    }
}

#if defined(ON_HOST) || __CUDA_ARCH__ >= 890
constexpr float LARGEST = 448, TINY = 1e-12f;  // Of float8 (e4m3fn); of a row's peak.

#ifndef ON_HOST
__device__ unsigned short two_to_float8(float low, float high) {
    unsigned short bits;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(high), "f"(low));
    return bits;
}
#endif

struct alignas(WIDTH) Bytes { unsigned short pairs[WIDTH / 2]; };

__device__ float activated(float value, int gelu) {
    return gelu ? 0.5f * value * (1 + erff(value * 0.70710678118654752f)) : value;
}

// Rows of 8 bits and the scale of each, from rows or from GELU of them; a row is read twice, the second time from cache.
extern "C" __global__ void __launch_bounds__(LANES * WARPS)
quantize(const Vector *rows, Bytes *bytes, float *scales, int count, int columns, int gelu) {
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES, lane = threadIdx.x % LANES, vectors = columns / WIDTH;
    if (row >= count) return;
    const Vector *own = rows + size_t(row) * vectors;
    float peak = TINY;
    for (int place = lane; place < vectors; place += LANES) {
        const Vector some = own[place];
#pragma unroll
        for (int j = 0; j < WIDTH; j++) peak = fmaxf(peak, fabsf(activated(read(some.at[j]), gelu)));
    }
    peak = peak_of_warp(peak);
    if (lane == 0) scales[row] = peak / LARGEST;
    const float inverse = LARGEST / peak;
    for (int place = lane; place < vectors; place += LANES) {
        const Vector some = own[place];
        Bytes result;
#pragma unroll
        for (int j = 0; j < WIDTH; j += 2)
            result.pairs[j / 2] = two_to_float8(activated(read(some.at[j]), gelu) * inverse,
                                                activated(read(some.at[j + 1]), gelu) * inverse);
        bytes[size_t(row) * vectors + place] = result;
    }
}
#endif
