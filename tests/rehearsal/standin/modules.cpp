// The driver's way to kernels: modules loaded from memory (what NVRTC or nvcc made), functions by name, launches.
#include "device.h"
#include "kernels.h"
#include <cstring>
#include <elf.h>

namespace {

constexpr int ATTRIBUTE_MAX_THREADS = 0, ATTRIBUTE_REGISTERS = 4;

struct Module {
    std::string image;
};

struct Function {
    std::string name;
};

size_t image_bytes(const void *image) {  // A cubin is an ELF file whose section headers stand last; PTX is text.
    auto *start = static_cast<const char *>(image);
    if (memcmp(start, ELFMAG, SELFMAG) != 0) return strlen(start);
    Elf64_Ehdr header;
    memcpy(&header, start, sizeof header);
    return header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
}

int load(void **module, const void *image) {
    LOCKED;
    if (Error error = world().dead()) return say(error);
    *module = new Module{std::string(static_cast<const char *>(image), image_bytes(image))};
    return SUCCESS;
}

int find(void **function, void *module, const char *name) {
    if (static_cast<Module *>(module)->image.find(name) == std::string::npos) return NOT_FOUND;
    return *function = new Function{name}, SUCCESS;
}

}  // namespace

API int cuModuleLoadData(void **module, const void *image) {
    COUNTED;
    return load(module, image);
}

API int cuModuleLoadDataEx(void **module, const void *image, unsigned, void *, void **) {
    COUNTED;
    return load(module, image);
}

API int cuModuleGetFunction(void **function, void *module, const char *name) { return find(function, module, name); }
API int cuModuleUnload(void *module) { return delete static_cast<Module *>(module), SUCCESS; }

API int cuLibraryLoadData(void **library, const void *image, void *, void **, unsigned, void *, void **, unsigned) {
    COUNTED;
    return load(library, image);
}

API int cuLibraryGetKernel(void **kernel, void *library, const char *name) { return find(kernel, library, name); }
API int cuLibraryUnload(void *library) { return delete static_cast<Module *>(library), SUCCESS; }
API int cuKernelGetFunction(void **function, void *kernel) { return *function = kernel, SUCCESS; }

API int cuFuncGetAttribute(int *value, int attribute, void *) {
    *value = attribute == ATTRIBUTE_MAX_THREADS ? 1024 : attribute == ATTRIBUTE_REGISTERS ? 64 : 0;
    return SUCCESS;
}

API int cuFuncSetAttribute(void *function, int attribute, int value) {
    if (attribute != FUNCTION_MAX_DYNAMIC_SHARED) return SUCCESS;
    if (size_t(value) > device().shared_bytes()) return INVALID_VALUE;
    allow_dynamic_shared(static_cast<Function *>(function)->name, size_t(value));
    return SUCCESS;
}

API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *, int, size_t) { return *blocks = 2, SUCCESS; }

API int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **, void **) {
    HostTime spent;
    COUNTED;
    Dim3 grid{grid_x, grid_y, grid_z}, block{block_x, block_y, block_z};
    return launch({static_cast<Function *>(function)->name, grid, block, shared, stream});
}

API int cuLaunchKernelEx(const DriverLaunchConfig *shape, void *function, void **, void **) {
    HostTime spent;
    COUNTED;
    const std::string &name = static_cast<Function *>(function)->name;
    return launch({name, shape->grid, shape->block, shape->dynamic_shared, shape->stream});
}
