// Streams and events. An event is the time at which what was queued before it is done.
#include "device.h"
#include "state.h"
#include "world.h"
#include <algorithm>

namespace {

struct Event {
    unsigned flags;
    Nanoseconds ready = 0;
};

Error failure() {
    refresh_state();
    return say(world().dead());
}

Error progress(Nanoseconds due) {
    if (state().number("hang", 0)) return say(NOT_READY);
    world().advance();
    if (Error error = world().dead()) return say(error);
    return due <= now() ? SUCCESS : say(NOT_READY);
}

Error ended(Nanoseconds due, bool sleeping) {
    wait_until(due, sleeping);
    LOCKED;
    return say(world().dead());
}

}  // namespace

API int cudaSetDevice(int number) { return number == 0 ? SUCCESS : say(INVALID_DEVICE); }

API int cudaDeviceSynchronize() {
    COUNTED;
    Nanoseconds due;
    {
        LOCKED;
        if (Error error = world().dead()) return say(error);
        due = world().busy_until();
    }
    return ended(due, false);
}

API int cudaStreamCreateWithPriority(void **stream, unsigned flags, int) {
    LOCKED;
    if (Error error = world().dead()) return say(error);
    auto *made = new Stream{!(flags & STREAM_NON_BLOCKING)};
    world().streams.insert(made);
    return *stream = made, SUCCESS;
}

API int cudaStreamCreateWithFlags(void **stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}
API int cudaStreamCreate(void **stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
API int cudaStreamGetPriority(void *, int *priority) { return *priority = 0, SUCCESS; }

API int cudaStreamDestroy(void *stream) {
    LOCKED;
    world().streams.erase(static_cast<Stream *>(stream));
    return SUCCESS;
}

API int cudaStreamSynchronize(void *handle) {
    COUNTED;
    Nanoseconds due;
    {
        LOCKED;
        Stream *stream = world().stream(handle);
        if (Error error = failure()) return error;
        due = stream->busy_until;
    }
    return ended(due, false);
}

API int cudaStreamQuery(void *handle) {
    LOCKED;
    Stream *stream = world().stream(handle);
    if (Error error = failure()) return error;
    return progress(stream->busy_until);
}

API int cudaStreamWaitEvent(void *handle, void *event, unsigned) {
    LOCKED;
    Stream *stream = world().stream(handle);
    auto *awaited = static_cast<Event *>(event);
    stream->busy_until = std::max(stream->busy_until, awaited->ready);
    return SUCCESS;
}

API int cudaLaunchHostFunc(void *handle, void (*function)(void *), void *argument) {
    LOCKED;
    return world().enqueue(world().stream(handle), {Engine::TO_HOST, 0, [=] { function(argument); }});
}

API int cudaEventCreateWithFlags(void **event, unsigned flags) {
    COUNTED;
    LOCKED;
    if (Error error = world().dead()) return say(error);
    return *event = new Event{flags}, SUCCESS;
}

API int cudaEventCreate(void **event) { return cudaEventCreateWithFlags(event, 0); }
API int cudaEventDestroy(void *event) { return delete static_cast<Event *>(event), SUCCESS; }

API int cudaEventRecordWithFlags(void *event, void *handle, unsigned) {
    LOCKED;
    if (Error error = world().dead()) return say(error);
    Stream *stream = world().stream(handle);
    auto *recorded = static_cast<Event *>(event);
    recorded->ready = std::max(stream->busy_until, now());
    return SUCCESS;
}

API int cudaEventRecord(void *event, void *stream) { return cudaEventRecordWithFlags(event, stream, 0); }

API int cudaEventQuery(void *event) {
    LOCKED;
    auto *asked = static_cast<Event *>(event);
    if (Error error = world().dead()) return say(error);
    if (Error error = failure()) return error;
    return progress(asked->ready);
}

API int cudaEventSynchronize(void *event) {
    COUNTED;
    auto *awaited = static_cast<Event *>(event);
    {
        LOCKED;
        if (Error error = failure()) return error;
    }
    return ended(awaited->ready, awaited->flags & EVENT_BLOCKING_SYNC);
}

API int cudaEventElapsedTime(float *milliseconds, void *from, void *to) {
    double taken = double(static_cast<Event *>(to)->ready) - double(static_cast<Event *>(from)->ready);
    return *milliseconds = float(taken / 1e6), SUCCESS;
}

// Nothing is captured as a graph here, but torch's allocator asks whether it is.
API int cudaThreadExchangeStreamCaptureMode(int *) { return SUCCESS; }

API int cudaStreamIsCapturing(void *, int *status) { return *status = 0, SUCCESS; }

API int cudaStreamGetCaptureInfo(void *, int *status, unsigned long long *id, void **graph, const void ***nodes,
                                 const void **edges, size_t *count) {
    *status = 0;
    if (id) *id = 0;
    if (graph) *graph = nullptr;
    if (nodes) *nodes = nullptr;
    if (edges) *edges = nullptr;
    if (count) *count = 0;
    return SUCCESS;
}
