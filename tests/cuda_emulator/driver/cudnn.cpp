// A cuDNN that is there, so that torch chooses it where it prefers it (attention on sm 90); its other functions fail.
#include "cuda_types.h"

API size_t cudnnGetVersion() { return 92000; }
API const char *cudnnGetErrorString(int) { return "CUDNN_STATUS_NOT_INITIALIZED"; }
API void cudnnGetLastErrorString(char *text, size_t bytes) {
    if (bytes) *text = 0;
}
