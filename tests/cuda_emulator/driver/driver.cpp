// The driver's calls that torch makes itself: the device, its context, and segments of memory that grow.
#include "device.h"
#include "world.h"
#include <cstring>
#include <sys/mman.h>

namespace {

constexpr size_t GRANULARITY = 2 << 20;

struct Physical {
    size_t bytes;
};

void *context() {
    static int anything;
    return &anything;
}

void *address(unsigned long long pointer) { return reinterpret_cast<void *>(pointer); }

int unknown() { return NOT_SUPPORTED; }

}  // namespace

API int cudaDeviceGetAttribute(int *value, int attribute, int);

API int cuInit(unsigned) { return SUCCESS; }
API int cuDriverGetVersion(int *version) { return *version = 13000, SUCCESS; }
API int cuDeviceGet(int *device, int) { return *device = 0, SUCCESS; }
API int cuDeviceGetCount(int *count) { return *count = 1, SUCCESS; }
API int cuDeviceGetAttribute(int *value, int attribute, int) { return cudaDeviceGetAttribute(value, attribute, 0); }
API int cuDevicePrimaryCtxGetState(int, unsigned *flags, int *active) { return *flags = 0, *active = 1, SUCCESS; }
API int cuDevicePrimaryCtxRetain(void **found, int) { return *found = context(), SUCCESS; }
API int cuDevicePrimaryCtxRelease(int) { return SUCCESS; }
API int cuCtxGetCurrent(void **found) { return *found = context(), SUCCESS; }
API int cuCtxSetCurrent(void *) { return SUCCESS; }
API int cuCtxGetDevice(int *device) { return *device = 0, SUCCESS; }

API int cuPointerGetAttribute(void *value, int, unsigned long long) { return memset(value, 0, 8), SUCCESS; }

// Layouts of tensors for sm 90's copy engine: made on the host, read by kernels, which here read nothing.
API int cuTensorMapEncodeTiled(void *map, ...) { return memset(map, 0, 128), SUCCESS; }

API int cuMemAddressReserve(unsigned long long *pointer, size_t bytes, size_t, unsigned long long, unsigned long long) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *start = mmap(nullptr, bytes, PROT_NONE, flags, -1, 0);
    if (start == MAP_FAILED) return OUT_OF_MEMORY;
    LOCKED;
    world().on_device.add(start, bytes);
    return *pointer = reinterpret_cast<unsigned long long>(start), SUCCESS;
}

API int cuMemAddressFree(unsigned long long pointer, size_t bytes) {
    LOCKED;
    world().on_device.remove(address(pointer));
    munmap(address(pointer), bytes);
    return SUCCESS;
}

API int cuMemCreate(unsigned long long *handle, size_t bytes, const void *, unsigned long long) {
    COUNTED;
    hang();
    LOCKED;
    if (Error error = world().dead()) return error;
    if (!world().has_room(bytes)) return OUT_OF_MEMORY;
    world().hold(bytes);
    return *handle = reinterpret_cast<unsigned long long>(new Physical{bytes}), SUCCESS;
}

API int cuMemRelease(unsigned long long handle) {
    LOCKED;
    auto *held = static_cast<Physical *>(address(handle));
    world().release(held->bytes);
    delete held;
    return SUCCESS;
}

API int cuMemMap(unsigned long long pointer, size_t bytes, size_t, unsigned long long, unsigned long long) {
    return mprotect(address(pointer), bytes, PROT_READ | PROT_WRITE) ? INVALID_VALUE : SUCCESS;
}

API int cuMemSetAccess(unsigned long long, size_t, const void *, size_t) {
    COUNTED;
    return SUCCESS;
}

API int cuMemUnmap(unsigned long long pointer, size_t bytes) {
    COUNTED;
    LOCKED;
    if (Error error = world().dead()) return error;
    world().advance();
    madvise(address(pointer), bytes, MADV_DONTNEED);
    return mprotect(address(pointer), bytes, PROT_NONE) ? INVALID_VALUE : SUCCESS;
}

API int cuMemGetAllocationGranularity(size_t *bytes, const void *, int) { return *bytes = GRANULARITY, SUCCESS; }

API int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned, unsigned long long, int *found);
API int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *found) {
    return cudaGetDriverEntryPointByVersion(name, function, 13000, flags, found);
}

API int cuGetErrorString(int, const char **);

API int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned, unsigned long long, int *found) {
#define ENTRY(function) {#function, reinterpret_cast<void *>(function)}
    static const std::map<std::string, void *> known = {
        ENTRY(cuGetErrorString),
        ENTRY(cuDeviceGet),
        ENTRY(cuDeviceGetAttribute),
        ENTRY(cuCtxGetCurrent),
        ENTRY(cuCtxSetCurrent),
        ENTRY(cuMemAddressReserve),
        ENTRY(cuMemAddressFree),
        ENTRY(cuMemCreate),
        ENTRY(cuMemRelease),
        ENTRY(cuMemMap),
        ENTRY(cuMemSetAccess),
        ENTRY(cuMemUnmap),
        ENTRY(cuMemGetAllocationGranularity),
        ENTRY(cuTensorMapEncodeTiled),
    };
    auto entry = known.find(name);
    *function = entry == known.end() ? reinterpret_cast<void *>(unknown) : entry->second;
    if (found) *found = SUCCESS;
    return SUCCESS;
}
