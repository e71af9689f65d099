// Copies and fills. They come true when they are due, not when they are queued, in the order of their stream.
#include "device.h"
#include "world.h"
#include <cstring>
#include <memory>
#include <vector>

namespace {

constexpr Nanoseconds COPY_LATENCY = 1500;
constexpr size_t SCALAR_BYTES = 8;  // What `.item()` copies: the result of a reduction, which no kernel computed.

enum class Direction { HOST, TO_DEVICE, TO_HOST, DEVICE };

Direction direction(const void *to, const void *from) {
    bool to_device = world().on_device.holds(to), from_device = world().on_device.holds(from);
    if (to_device) return from_device ? Direction::DEVICE : Direction::TO_DEVICE;
    return from_device ? Direction::TO_HOST : Direction::HOST;
}

Work work(void *to, const void *from, size_t bytes, Direction where, bool pinned) {
    double rate = where == Direction::DEVICE ? device().memory_rate / 2 : device().bus_rate;
    Nanoseconds takes = Nanoseconds(double(bytes) / rate * 1e9) + COPY_LATENCY;
    if (where == Direction::TO_DEVICE && !pinned) {  // The caller may change its memory at once.
        auto kept = std::make_shared<std::vector<char>>(static_cast<const char *>(from),
                                                        static_cast<const char *>(from) + bytes);
        return {Engine::TO_DEVICE, takes, [=] { memcpy(to, kept->data(), bytes); }};
    }
    if (where == Direction::TO_HOST && bytes <= SCALAR_BYTES)
        return {Engine::TO_HOST, takes, [=] { memset(to, 0, bytes); }};
    Engine engine = where == Direction::TO_DEVICE ? Engine::TO_DEVICE
                    : where == Direction::TO_HOST ? Engine::TO_HOST
                                                  : Engine::COMPUTE;
    return {engine, takes, [=] { memmove(to, from, bytes); }};
}

Error copy(void *to, const void *from, size_t bytes, void *handle, bool blocking) {
    Direction where;
    bool pinned;
    {
        LOCKED;
        where = direction(to, from);
        pinned = world().pinned.holds(where == Direction::TO_DEVICE ? from : to);
    }
    if (where == Direction::HOST) return memmove(to, from, bytes), SUCCESS;
    if (bytes == 0) return SUCCESS;
    HostTime spent;
    Stream *stream = world().stream(handle);
    {
        LOCKED;
        world().counts.copies++;
        if (Error error = world().enqueue(stream, work(to, from, bytes, where, pinned))) return error;
    }
    if (!blocking && (pinned || where != Direction::TO_HOST)) return SUCCESS;
    Nanoseconds due;
    {
        LOCKED;
        due = stream->busy_until;
    }
    wait_until(due, false);
    LOCKED;
    return say(world().dead());
}

Error fill(void *start, int value, size_t bytes, void *handle) {
    HostTime spent;
    LOCKED;
    double takes = std::max(device().least_kernel_ns, double(bytes) / device().memory_rate * 1e9);
    Work work{Engine::COMPUTE, Nanoseconds(takes), [=] { memset(start, value, bytes); }};
    return world().enqueue(world().stream(handle), work);
}

}  // namespace

API int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int, void *stream) {
    COUNTED;
    return copy(to, from, bytes, stream, false);
}

API int cudaMemcpy(void *to, const void *from, size_t bytes, int) {
    COUNTED;
    return copy(to, from, bytes, nullptr, true);
}

API int cudaMemsetAsync(void *start, int value, size_t bytes, void *stream) {
    COUNTED;
    return fill(start, value, bytes, stream);
}

API int cudaMemset(void *start, int value, size_t bytes) {
    COUNTED;
    return fill(start, value, bytes, nullptr);
}

API int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int) { return SUCCESS; }

API int cudaGetSymbolAddress(void **address, const void *) {
    static char anything[1 << 16];
    return *address = anything, SUCCESS;
}
