/* Whether this processor has what our kernels are compiled for. */
#include "simd.h"

int gleaner_kernels_work(void) {
#ifdef GLEANER_SIMD
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni");
#else
    return 0;
#endif
}
