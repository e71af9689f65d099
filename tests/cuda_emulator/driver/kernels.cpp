#include "kernels.h"
#include "device.h"
#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace {

constexpr double BYTES_A_THREAD = 16;  // Four elements of two bytes, in and out: right for elementwise kernels alone.
constexpr size_t SHARED_UNASKED = 49152;

int compiled_for() {  // Of the architectures in the wheel, the one whose code this device runs: an L4 runs sm 86's.
    int best = 0;
    for (int sm : {75, 80, 86, 90, 100, 120})
        if (sm <= device().sm) best = sm;
    return best;
}

std::unordered_map<const void *, std::string> &registered() {
    static auto *names = new std::unordered_map<const void *, std::string>;
    return *names;
}

std::map<std::string, size_t> &shared_allowed() {
    static auto *bytes = new std::map<std::string, size_t>;
    return *bytes;
}

const std::string &name_of(const void *function) {
    static const std::string unregistered = "unregistered";
    LOCKED;
    auto found = registered().find(function);
    return found == registered().end() ? unregistered : found->second;
}

Error refusal(const Launch &wanted) {
    const Dim3 &grid = wanted.grid, &block = wanted.block;
    bool in_grid = grid.count() > 0 && grid.x <= 2147483647 && grid.y <= 65535 && grid.z <= 65535;
    if (!in_grid || block.count() < 1 || block.count() > 1024) return INVALID_CONFIGURATION;
    auto allowed = shared_allowed().find(wanted.kernel);
    size_t most = allowed == shared_allowed().end() ? SHARED_UNASKED : std::max(SHARED_UNASKED, allowed->second);
    return wanted.dynamic_shared > most ? INVALID_VALUE : SUCCESS;
}

void count(const std::string &kernel) {
    world().counts.kernels[kernel]++;
    world().counts.launches++;
}

Error queue(const std::string &kernel, double takes, void *stream, Effect effect) {
    LOCKED;
    if (Error error = world().dead()) return say(error);
    count(kernel);
    Nanoseconds nanoseconds = Nanoseconds(std::max(takes, device().least_kernel_ns));
    return world().enqueue(world().stream(stream), {Engine::COMPUTE, nanoseconds, std::move(effect)});
}

}  // namespace

Error launch(const Launch &wanted) {
    HostTime spent;
    {
        LOCKED;
        if (Error error = refusal(wanted)) return say(error);
    }
    double bytes = wanted.grid.count() * wanted.block.count() * BYTES_A_THREAD;
    return queue(wanted.kernel, bytes / device().memory_rate * 1e9, wanted.stream, nullptr);
}

Error launch_product(const std::string &kernel, double rows, double columns, double depth, int bits, void *stream,
                     Effect effect) {
    HostTime spent;
    double flops = 2 * rows * columns * depth;
    double bytes = bits / 8 * (rows * columns + rows * depth + columns * depth);
    double seconds = std::max(flops / device().flops(bits), bytes / device().memory_rate);
    return queue(kernel, seconds * 1e9, stream, std::move(effect));
}

void allow_dynamic_shared(const std::string &kernel, size_t bytes) {
    LOCKED;
    shared_allowed()[kernel] = bytes;
}

// What a compiler writes around kernels: their names when a library is loaded, a launch's shape on a stack of its own.
namespace {
thread_local std::vector<LaunchConfig> shapes;
}

API void **__cudaRegisterFatBinary(void *) {
    static void *anything;
    return &anything;
}
API void __cudaRegisterFatBinaryEnd(void **) {}
API void __cudaUnregisterFatBinary(void **) {}
API void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int) {}

API void __cudaRegisterFunction(void **, const char *function, char *, const char *name, int, void *, void *, void *,
                                void *, int *) {
    LOCKED;
    registered()[function] = name;
}

API unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared, void *stream) {
    shapes.push_back({grid, block, shared, stream, nullptr, 0});
    return 0;
}

API int __cudaPopCallConfiguration(Dim3 *grid, Dim3 *block, size_t *shared, void *stream) {
    LaunchConfig shape = shapes.back();
    shapes.pop_back();
    *grid = shape.grid, *block = shape.block, *shared = shape.dynamic_shared;
    *static_cast<void **>(stream) = shape.stream;
    return SUCCESS;
}

API int __cudaGetKernel(void **kernel, const void *function) { return *kernel = const_cast<void *>(function), SUCCESS; }

API int cudaLaunchKernel(const void *function, Dim3 grid, Dim3 block, void **, size_t shared, void *stream) {
    return launch({name_of(function), grid, block, shared, stream});
}

API int __cudaLaunchKernel(void *kernel, Dim3 grid, Dim3 block, void **, size_t shared, void *stream) {
    return launch({name_of(kernel), grid, block, shared, stream});
}

API int cudaLaunchKernelExC(const LaunchConfig *shape, const void *function, void **) {
    return launch({name_of(function), shape->grid, shape->block, shape->dynamic_shared, shape->stream});
}

API int cudaLaunchCooperativeKernel(const void *function, Dim3 grid, Dim3 block, void **, size_t shared, void *stream) {
    return launch({name_of(function), grid, block, shared, stream});
}

API int cudaFuncGetAttributes(FunctionAttributes *found, const void *) {
    memset(found, 0, sizeof *found);
    found->threads_per_block = 1024, found->registers = 64;
    found->binary_version = found->ptx_version = compiled_for();
    found->max_dynamic_shared = int(SHARED_UNASKED);
    return SUCCESS;
}

API int cudaFuncSetAttribute(const void *function, int attribute, int value) {
    if (attribute != FUNCTION_MAX_DYNAMIC_SHARED) return SUCCESS;
    if (size_t(value) > device().shared_bytes()) return say(INVALID_VALUE);
    allow_dynamic_shared(name_of(function), size_t(value));
    return SUCCESS;
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int, size_t) {
    return *blocks = 2, SUCCESS;
}
API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *, int, size_t, unsigned) {
    return *blocks = 2, SUCCESS;
}
API int cudaOccupancyMaxActiveClusters(int *clusters, const void *, const LaunchConfig *) {
    return *clusters = device().multiprocessors, SUCCESS;
}
