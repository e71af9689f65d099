// The words of CUDA that row_kernels.cu uses, for a host's compiler. A warp is 32 contexts that take turns: each runs up
// to its next shuffle, where it shows its value; by its next turn all others have shown theirs.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ucontext.h>

#define ON_HOST
#define __global__
#define __device__ static inline
#define __launch_bounds__(threads)

constexpr int WARP = 32, STACK_BYTES = 1 << 18;
struct Index { unsigned x; };
static Index threadIdx, blockIdx;

struct Lane {
    ucontext_t context;
    bool ended;
    unsigned shuffles;  // So far; the parity says where it shows, so that who is ahead overwrites nothing.
    char stack[STACK_BYTES];
};
static Lane lanes[WARP];
static ucontext_t scheduler;
static int current;
static float shown[2][WARP];
static std::function<void()> kernel_of_lane;

static float __shfl_xor_sync(unsigned, float value, int step) {
    int lane = current;
    unsigned parity = lanes[lane].shuffles++ % 2;
    shown[parity][lane] = value;
    swapcontext(&lanes[lane].context, &scheduler);
    return shown[parity][lane ^ step];
}

static float __uint_as_float(unsigned bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static unsigned __float_as_uint(float value) {
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float half_to_float(unsigned short bits) {
    _Float16 value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static unsigned short float_to_half(float value) {
    _Float16 rounded = value;
    unsigned short bits;
    memcpy(&bits, &rounded, sizeof bits);
    return bits;
}

static unsigned to_float8(float value) {  // e4m3fn: to the nearest, ties to even, beyond the largest the largest.
    unsigned sign = __float_as_uint(value) >> 31 << 7;
    float size = fabsf(value);
    if (std::isnan(value)) return sign | 0x7f;
    if (size >= 448) return sign | 0x7e;
    int exponent = size < 0x1p-6f ? -6 : std::ilogb(size);
    unsigned steps = unsigned(std::nearbyint(std::ldexp(size, 3 - exponent)));  // Of an eighth; 8 to 16 if normal.
    return sign | (unsigned(exponent + 6) * 8 + steps);
}

static unsigned short two_to_float8(float low, float high) {
    return static_cast<unsigned short>(to_float8(high) << 8 | to_float8(low));
}

static void run_lane() {
    kernel_of_lane();
    lanes[current].ended = true;
}

static void run_warp(unsigned block, unsigned warp) {
    for (Lane &lane : lanes) {
        lane.ended = false, lane.shuffles = 0;
        getcontext(&lane.context);
        lane.context.uc_stack.ss_sp = lane.stack, lane.context.uc_stack.ss_size = STACK_BYTES;
        lane.context.uc_link = &scheduler;
        makecontext(&lane.context, run_lane, 0);
    }
    for (bool running = true; running;) {
        running = false;
        for (current = 0; current < WARP; current++) {
            if (lanes[current].ended) continue;
            blockIdx.x = block, threadIdx.x = warp * WARP + unsigned(current);
            swapcontext(&scheduler, &lanes[current].context);
            running |= !lanes[current].ended;
        }
    }
}

// Runs a kernel for all warps of a grid, one after the other: those of the last block beyond the rows too.
static void run(int count, std::function<void()> kernel) {
    kernel_of_lane = kernel;
    for (unsigned row = 0; row < unsigned(count + 3) / 4 * 4; row++) run_warp(row / 4, row % 4);
}
