/* An NVML for tests: answers from a text file of "key number" lines, read anew at each call, so that a test can change
   the GPU while a service watches it. Path: the environment variable NVML_STUB_STATE. The GPU's name: NVML_STUB_UUID.

   fail_fabric N  the question about links between GPUs is answered with error N
   mig 1        the device is a part of a GPU: `MIG-0001`, not `GPU-0001`; the whole GPU has twice its memory
   recovery N   the recovery action that the driver recommends; no_recovery 1: a driver that has no such field
   fail N       every question about the device is answered with error N (15: GPU is lost, 16: reset required)
   no_KEY 1     the question for KEY is not supported
   xid N        one driver error N, reported once for each change of xid_serial */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TIMEOUT = 10 };

typedef struct { unsigned gpu, memory; } Utilization;
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned field, scope; long long time, latency; int type, result; union { double d; unsigned u; unsigned long long l; } value; } Field;
typedef struct { void *device; unsigned long long type, data; unsigned instance, compute; } Event;

#define PART ((void *)99)
#define PART_OR_WHOLE (state("mig", 0) ? PART : (void *)1)

static unsigned long long state(const char *key, unsigned long long fallback) {
    const char *path = getenv("NVML_STUB_STATE");
    FILE *file = path ? fopen(path, "r") : NULL;
    unsigned long long value, found = fallback;
    char name[64];
    if (!file) return fallback;
    while (fscanf(file, "%63s %llu", name, &value) == 2)
        if (!strcmp(name, key)) found = value;
    fclose(file);
    return found;
}

static int answer(const char *key) {
    char missing[80];
    int failure = (int)state("fail", OK);
    snprintf(missing, sizeof missing, "no_%s", key);
    return failure ? failure : state(missing, 0) ? NOT_SUPPORTED : OK;
}

#define NUMBER(function, type, key, fallback)                                                                          \
    int function(void *device, type *number) {                                                                         \
        (void)device;                                                                                                  \
        *number = (type)state(key, fallback);                                                                          \
        return answer(key);                                                                                            \
    }

int nvmlInitWithFlags(unsigned flags) { (void)flags; return (int)state("fail_init", OK); }
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) { return code == 15 ? "GPU is lost" : "an error"; }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    *device = (void *)(size_t)(index + 1);
    return index < state("count", 1) ? OK : NOT_FOUND;
}
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
    const char *ours = getenv("NVML_STUB_UUID");
    *device = PART_OR_WHOLE;
    return strcmp(uuid, ours ? ours : state("mig", 0) ? "MIG-0001" : "GPU-0001") ? NOT_FOUND : OK;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *part, void **device) {
    *device = (void *)1;
    return part == PART ? OK : INVALID_ARGUMENT;
}
int nvmlDeviceGetCount_v2(unsigned *count) {
    *count = (unsigned)state("count", 1);
    return (int)state("fail", OK);
}
int nvmlDeviceGetGpuFabricInfoV(void *device, void *fabric) {
    (void)device;
    *(unsigned char *)fabric = 0;
    return (int)state("fail_fabric", OK);
}
int nvmlDeviceGetFieldValues(void *device, int count, Field *fields) {
    (void)device;
    for (int i = 0; i < count; i++) {
        fields[i].result = fields[i].field == 230 && !state("no_recovery", 0) ? OK : NOT_SUPPORTED;
        fields[i].value.u = (unsigned)state("recovery", 0);
    }
    return answer("fields");
}
int nvmlDeviceGetUtilizationRates(void *device, Utilization *use) {
    use->gpu = (unsigned)state("utilization", 0);
    use->memory = 0;
    return device == PART ? NOT_SUPPORTED : answer("utilization");
}
int nvmlDeviceGetMemoryInfo(void *device, Memory *memory) {
    memory->total = state("memory_total", 0) * (state("mig", 0) && device != PART ? 2 : 1);
    memory->used = state("memory_used", 0);
    memory->free = memory->total - memory->used;
    return answer("memory");
}
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius) {
    (void)device, (void)sensor;
    *celsius = (unsigned)state("temperature", 0);
    return answer("temperature");
}
NUMBER(nvmlDeviceGetPowerUsage, unsigned, "power", 0)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned, "power_limit", 0)
NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, "throttled", 0)
int nvmlDeviceGetClockInfo(void *device, int domain, unsigned *megahertz) {
    const char *key = domain == 1 ? "clock_sm" : "clock_memory";
    (void)device;
    *megahertz = (unsigned)state(key, 0);
    return answer(key);
}
int nvmlDeviceGetTotalEccErrors(void *device, int kind, int counter, unsigned long long *count) {
    const char *key = kind == 0 ? "ecc_corrected" : "ecc_uncorrected";
    (void)device, (void)counter;
    *count = state(key, 0);
    return answer(key);
}
int nvmlEventSetCreate(void **events) { *events = (void *)1; return answer("events"); }
int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *events) {
    (void)device, (void)types, (void)events;
    return answer("events");
}
int nvmlEventSetWait_v2(void *events, Event *event, unsigned milliseconds) {
    static unsigned long long reported = 0;
    unsigned long long serial = state("xid_serial", 0);
    (void)events, (void)milliseconds;
    if (serial == reported) return TIMEOUT;
    reported = serial;
    memset(event, 0, sizeof *event);
    event->device = (void *)1;
    event->type = 8;
    event->data = state("xid", 0);
    return OK;
}
