// What a test does to the device while it runs: a file of "key value" lines, read again once it was replaced and the
// number in the file beside it (`….serial`, 8 bytes) is another one, as `DeviceState.set` of devices.py sees to.
//
//   others_bytes N          other processes hold N bytes of the device's memory
//   pinned_limit_bytes N    the host gives no more than N bytes of pinned memory
//   dead CODE               the device is broken from now on; every call says CODE (719: unspecified launch failure)
//   dies_after_launches N   the kernel after the next N breaks the device, when it is computed, with CODE 719
//   dies_in_copy 1          the same at the next copy to the device
//   hang 1                  calls that wait for the device or ask it do not return while this stands here
//
// NVML's keys (../../support/nvml/stub.c) may stand in the same file.
#pragma once
#include <string>

class State {
public:
    double number(const char *key, double otherwise) const;
    unsigned long long serial() const;  // Grows each time the file was replaced.
};

State state();       // As it was read last.
void refresh_state();  // Reads it again if it was replaced.
