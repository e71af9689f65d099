/* The NVML of the tests, with what torch asks besides: which GPU is on which bus, and its links. */
#include "../../support/nvml/stub.c"

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
    (void)bus;
    *device = (void *)1;
    return (int)state("fail", OK);
}
int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, void *processes) {
    (void)device, (void)processes;
    *count = 0;
    return OK;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type) {
    (void)device, (void)link, (void)type;
    return NOT_SUPPORTED;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, void *bus) {
    (void)device, (void)link, (void)bus;
    return NOT_SUPPORTED;
}
int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    *version = 13000;
    return OK;
}
