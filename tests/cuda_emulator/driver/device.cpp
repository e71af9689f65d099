#include "device.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::string text(const char *key) {
    const char *all = getenv("CUDA_EMULATOR");
    std::string settings = std::string(";") + (all ? all : ""), start = std::string(";") + key + "=";
    size_t at = settings.find(start);
    if (at == std::string::npos) {
        fprintf(stderr, "the GPU emulator's CUDA_EMULATOR does not say %s\n", key);
        abort();
    }
    size_t from = at + start.size();
    return settings.substr(from, settings.find(';', from) - from);
}

double number(const char *key) { return atof(text(key).c_str()); }

}  // namespace

const Device &device() {
    static const Device *only = new Device{
        text("name"),
        int(number("sm")),
        int(number("multiprocessors")),
        size_t(number("memory_bytes")),
        size_t(number("context_bytes")),
        number("l2_bytes"),
        number("half_flops"),
        number("single_flops"),
        number("byte_flops"),
        number("memory_rate"),
        number("bus_rate"),
        number("launch_ns"),
        number("least_kernel_ns"),
    };
    return *only;
}

API int cudaGetDeviceCount(int *count) { return *count = 1, SUCCESS; }
API int cudaGetDevice(int *number) { return *number = 0, SUCCESS; }
API int cudaDriverGetVersion(int *version) { return *version = 13000, SUCCESS; }
API int cudaRuntimeGetVersion(int *version) { return *version = 13000, SUCCESS; }
API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { return *least = 0, *greatest = -5, SUCCESS; }
API int cudaDeviceCanAccessPeer(int *can, int, int) { return *can = 0, SUCCESS; }
API int cudaProfilerStart() { return SUCCESS; }
API int cudaProfilerStop() { return SUCCESS; }

API int cudaDeviceGetPCIBusId(char *name, int length, int) {
    snprintf(name, size_t(length), "0000:00:1e.0");
    return SUCCESS;
}

API int cudaGetDeviceProperties(DeviceProperties *found, int) {
    const Device &gpu = device();
    memset(found, 0, sizeof *found);
    snprintf(found->name, sizeof found->name, "%s", gpu.name.c_str());
    for (int i = 0; i < 16; i++) found->uuid[i] = char(i + 1);
    found->major = gpu.sm / 10, found->minor = gpu.sm % 10;
    found->total_memory = gpu.memory_bytes;
    found->multiprocessors = gpu.multiprocessors;
    found->l2_bytes = int(gpu.l2_bytes);
    found->warp_size = 32, found->threads_per_block = 1024;
    found->threads_per_multiprocessor = gpu.sm == 75 ? 1024 : gpu.sm == 86 || gpu.sm == 89 ? 1536 : 2048;
    found->blocks_per_multiprocessor = 16;
    found->registers_per_block = found->registers_per_multiprocessor = 65536;
    found->shared_per_block = 49152, found->shared_per_block_optin = gpu.shared_bytes();
    found->shared_per_multiprocessor = gpu.shared_bytes() + 1024;
    for (int i = 0; i < 3; i++) {
        found->threads_dim[i] = i == 2 ? 64 : 1024;
        found->grid_size[i] = i == 0 ? 2147483647 : 65535;
    }
    found->unified_addressing = found->concurrent_kernels = 1;
    found->async_engines = 2, found->memory_bus_width = 384, found->texture_alignment = 512;
    return SUCCESS;
}

API int cudaDeviceGetAttribute(int *value, int attribute, int) {
    DeviceProperties gpu;
    cudaGetDeviceProperties(&gpu, 0);
    switch (attribute) {
        case 1: *value = gpu.threads_per_block; break;
        case 2: case 3: *value = 1024; break;
        case 4: *value = 64; break;
        case 5: *value = gpu.grid_size[0]; break;
        case 6: case 7: *value = gpu.grid_size[1]; break;
        case 8: *value = int(gpu.shared_per_block); break;
        case 10: *value = gpu.warp_size; break;
        case 16: *value = gpu.multiprocessors; break;
        case 39: *value = gpu.threads_per_multiprocessor; break;
        case 75: *value = gpu.major; break;
        case 76: *value = gpu.minor; break;
        case 81: *value = int(gpu.shared_per_multiprocessor); break;
        case 97: *value = int(gpu.shared_per_block_optin); break;
        default: *value = 1;  // Of the other attributes torch asks whether something can be done.
    }
    return SUCCESS;
}
