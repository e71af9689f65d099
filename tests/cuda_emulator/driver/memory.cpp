// Device memory and pinned memory. Both are this process's own; pages of the device's are taken when they are touched.
#include "device.h"
#include "state.h"
#include "world.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace {

constexpr int NOT_YET_COPIED = 0xEE;  // Pinned memory holds it until a copy is due: who reads too early sees it.

void *map(size_t bytes) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return start == MAP_FAILED ? nullptr : start;
}

void pin(void *start, size_t bytes) {
    World &all = world();
    all.pinned.add(start, bytes);
    all.pinned_bytes += bytes;
    all.counts.pinned_peak = std::max(all.counts.pinned_peak, all.pinned_bytes);
}

bool host_has(size_t bytes) {
    return double(world().pinned_bytes + bytes) <= state().number("pinned_limit_bytes", 1e18);
}

}  // namespace

API int cudaMalloc(void **start, size_t bytes) {
    COUNTED;
    hang();
    LOCKED;
    if (Error error = world().dead()) return say(error);
    if (!world().has_room(bytes)) return say(OUT_OF_MEMORY);
    if (!(*start = map(bytes))) return say(OUT_OF_MEMORY);
    world().on_device.add(*start, bytes);
    world().hold(bytes);
    return SUCCESS;
}

API int cudaFree(void *start) {
    COUNTED;
    if (!start) return SUCCESS;
    Nanoseconds due;
    {
        LOCKED;
        if (Error error = world().dead()) return say(error);
        due = world().busy_until();
    }
    wait_until(due, false);
    LOCKED;
    if (Error error = world().dead()) return say(error);
    size_t bytes = world().on_device.remove(start);
    if (!bytes) return say(INVALID_VALUE);
    world().release(bytes);
    munmap(start, bytes);
    return SUCCESS;
}

API int cudaMemGetInfo(size_t *free, size_t *total) {
    COUNTED;
    hang();
    LOCKED;
    if (Error error = world().dead()) return say(error);
    size_t used = world().used_bytes();
    *total = device().memory_bytes;
    *free = used > *total ? 0 : *total - used;
    return SUCCESS;
}

API int cudaHostAlloc(void **start, size_t bytes, unsigned) {
    COUNTED;
    hang();
    LOCKED;
    if (Error error = world().dead()) return say(error);
    if (!host_has(bytes) || !(*start = map(bytes))) return say(OUT_OF_MEMORY);
    memset(*start, NOT_YET_COPIED, bytes);
    pin(*start, bytes);
    return SUCCESS;
}

API int cudaFreeHost(void *start) {
    COUNTED;
    Nanoseconds due;
    {
        LOCKED;
        due = world().busy_until();
    }
    wait_until(due, false);
    LOCKED;
    size_t bytes = world().pinned.remove(start);
    if (!bytes) return say(INVALID_VALUE);
    world().pinned_bytes -= bytes;
    munmap(start, bytes);
    return SUCCESS;
}

API int cudaHostRegister(void *start, size_t bytes, unsigned) {
    COUNTED;
    LOCKED;
    if (Error error = world().dead()) return say(error);
    if (!host_has(bytes)) return say(OUT_OF_MEMORY);
    pin(start, bytes);
    return SUCCESS;
}

API int cudaHostUnregister(void *start) {
    COUNTED;
    LOCKED;
    world().pinned_bytes -= world().pinned.remove(start);
    return SUCCESS;
}

API int cudaHostGetDevicePointer(void **device_pointer, void *host, unsigned) {
    return *device_pointer = host, SUCCESS;
}

API int cudaPointerGetAttributes(PointerAttributes *found, const void *address) {
    LOCKED;
    memset(found, 0, sizeof *found);
    bool on_device = world().on_device.holds(address), pinned = world().pinned.holds(address);
    found->kind = on_device ? MEMORY_DEVICE : pinned ? MEMORY_HOST : MEMORY_UNREGISTERED;
    found->device_pointer = found->host_pointer = const_cast<void *>(address);
    return SUCCESS;
}
