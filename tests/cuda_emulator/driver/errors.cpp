// The last error of each thread, and the errors' words, which the service reads.
#include "world.h"

namespace {

thread_local Error last = SUCCESS;

struct Words {
    Error error;
    const char *name, *text;
};

const Words KNOWN[] = {
    {SUCCESS, "cudaSuccess", "no error"},
    {INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"},
    {OUT_OF_MEMORY, "cudaErrorMemoryAllocation", "out of memory"},
    {INVALID_CONFIGURATION, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {ILLEGAL_STATE, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {NOT_READY, "cudaErrorNotReady", "device not ready"},
    {ILLEGAL_ADDRESS, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {DEVICE_ASSERT, "cudaErrorAssert", "device-side assert triggered"},
    {LAUNCH_FAILED, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {NOT_SUPPORTED, "cudaErrorNotSupported", "operation not supported"},
};

const Words &words_of(int error) {
    static const Words unknown{INVALID_VALUE, "cudaErrorUnknown", "unknown error"};
    for (const Words &each : KNOWN)
        if (each.error == error) return each;
    return unknown;
}

}  // namespace

Error say(Error error) {
    if (error != SUCCESS) last = error;
    return error;
}

API int cudaPeekAtLastError() {
    LOCKED;
    Error broken = world().dead();
    return broken ? broken : last;
}

API int cudaGetLastError() {
    int error = cudaPeekAtLastError();
    last = SUCCESS;
    return error;
}

API const char *cudaGetErrorName(int error) { return words_of(error).name; }
API const char *cudaGetErrorString(int error) { return words_of(error).text; }
API int cuGetErrorString(int error, const char **text) { return *text = words_of(error).text, SUCCESS; }
API int cuGetErrorName(int error, const char **name) { return *name = words_of(error).name, SUCCESS; }
