// Capture of a stream's work as a graph, and its replay. A graph's handle is a pointer to a shared Graph.
#include "world.h"
#include <utility>

using Handle = std::shared_ptr<Graph>;

API int cudaThreadExchangeStreamCaptureMode(int *mode) {
    CaptureMode &ours = capture_mode_of_thread();
    CaptureMode before = ours;
    ours = CaptureMode(*mode);
    return *mode = before, SUCCESS;
}

API int cudaStreamBeginCapture(void *handle, int mode) {
    COUNTED;
    static unsigned long long captures = 0;
    LOCKED;
    Stream *stream = world().stream(handle);
    if (Error error = world().dead()) return say(error);
    if (stream == &world().legacy) return say(CAPTURE_UNSUPPORTED);
    if (stream->capture) return say(ILLEGAL_STATE);
    stream->capture.reset(
        new Capture{++captures, CaptureMode(mode), std::this_thread::get_id(), std::make_shared<Graph>(), false});
    return SUCCESS;
}

API int cudaStreamBeginCaptureToGraph(void *stream, void *, const void *, const void *, size_t, int mode) {
    return cudaStreamBeginCapture(stream, mode);
}

API int cudaStreamEndCapture(void *handle, void **graph) {
    COUNTED;
    LOCKED;
    *graph = nullptr;
    std::unique_ptr<Capture> capture = std::move(world().stream(handle)->capture);
    if (!capture) return say(ILLEGAL_STATE);
    if (Error error = world().dead()) return say(error);
    bool ours = capture->thread == std::this_thread::get_id();
    if (!ours && capture->mode != CAPTURE_RELAXED) return say(CAPTURE_WRONG_THREAD);
    if (capture->broken) return say(CAPTURE_INVALIDATED);
    *graph = new Handle(capture->graph);
    return SUCCESS;
}

API int cudaStreamIsCapturing(void *handle, int *status) {
    LOCKED;
    Stream *stream = world().stream(handle);
    if (stream == &world().legacy)
        for (Stream *other : world().streams)
            if (other->capture && other->blocking) return other->capture->broken = true, say(CAPTURE_IMPLICIT);
    *status = !stream->capture ? CAPTURE_NONE : stream->capture->broken ? CAPTURE_BROKEN : CAPTURE_ACTIVE;
    return SUCCESS;
}

API int cudaStreamGetCaptureInfo(void *handle, int *status, unsigned long long *id, void **graph, const void ***nodes,
                                 const void **edges, size_t *count) {
    LOCKED;
    Stream *stream = world().stream(handle);
    if (id) *id = stream->capture ? stream->capture->id : 0;
    if (graph) *graph = stream->capture ? &stream->capture->graph : nullptr;
    if (nodes) *nodes = nullptr;
    if (edges) *edges = nullptr;
    if (count) *count = 0;
    return cudaStreamIsCapturing(handle, status);
}

API int cudaGraphGetNodes(void *graph, void **, size_t *count) {
    return *count = (*static_cast<Handle *>(graph))->nodes.size(), SUCCESS;
}

API int cudaGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) {
    COUNTED;
    return *executable = new Handle(*static_cast<Handle *>(graph)), SUCCESS;
}

API int cudaGraphInstantiate(void **executable, void *graph, unsigned long long flags) {
    return cudaGraphInstantiateWithFlags(executable, graph, flags);
}

API int cudaGraphDestroy(void *graph) { return delete static_cast<Handle *>(graph), SUCCESS; }

API int cudaGraphExecDestroy(void *executable) {
    COUNTED;
    return delete static_cast<Handle *>(executable), SUCCESS;
}

API int cudaGraphLaunch(void *executable, void *stream) {
    COUNTED;
    constexpr int AS_LONG_AS_LAUNCHES = 3;
    HostTime spent(AS_LONG_AS_LAUNCHES);
    LOCKED;
    world().counts.graph_launches++;
    return world().replay(world().stream(stream), **static_cast<Handle *>(executable));
}

API int cudaGraphUpload(void *, void *) { return SUCCESS; }
API int cudaGraphDebugDotPrint(void *, const char *, unsigned) { return SUCCESS; }
