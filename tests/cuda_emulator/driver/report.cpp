// What was counted, as JSON: kept in CUDA_EMULATOR_REPORTS/<process>.json, at most 0.2 s old, or asked for.
#include "world.h"
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <unistd.h>

namespace {

template <typename Number>
std::string object(const std::map<std::string, Number> &counts) {
    std::ostringstream text;
    const char *comma = "";
    for (const auto &[name, count] : counts) text << comma << '"' << name << "\":" << count, comma = ",";
    return "{" + text.str() + "}";
}

std::string report() {
    LOCKED;
    const Counts &counts = world().counts;
    std::ostringstream text;
    text << "{\"pid\":" << getpid() << ",\"launches\":" << counts.launches << ",\"copies\":" << counts.copies
         << ",\"spun_seconds\":" << double(counts.spun) / 1e9
         << ",\"slept_seconds\":" << double(counts.slept) / 1e9
         << ",\"computed_seconds\":" << double(counts.computed) / 1e9
         << ",\"device_bytes\":" << world().device_bytes << ",\"device_peak_bytes\":" << counts.device_peak
         << ",\"pinned_bytes\":" << world().pinned_bytes << ",\"pinned_peak_bytes\":" << counts.pinned_peak
         << ",\"calls\":" << object(counts.calls) << ",\"kernels\":" << object(counts.kernels)
         << ",\"refused\":" << object(counts.refused)
         << ",\"violations\":" << object(counts.violations) << "}\n";
    return text.str();
}

// The service's engine ends by _exit, which runs no destructor: so what is there is kept while it works.
constexpr Nanoseconds KEEP_EVERY = 200000000;

void keep() {
    const char *folder = getenv("CUDA_EMULATOR_REPORTS");
    if (!folder || world().counts.calls.empty()) return;
    std::string path = std::string(folder) + "/" + std::to_string(getpid()) + ".json", fresh = path + ".new";
    FILE *file = fopen(fresh.c_str(), "w");
    if (!file) return;
    fputs(report().c_str(), file);
    fclose(file);
    rename(fresh.c_str(), path.c_str());
}

__attribute__((destructor)) void at_exit() { keep(); }

}  // namespace

void keep_report() {
    static Nanoseconds kept_at = 0;
    LOCKED;
    if (now() < kept_at + KEEP_EVERY) return;
    kept_at = now();
    keep();
}

API const char *emulator_report() {
    static thread_local std::string kept;
    return (kept = report()).c_str();
}

// Called by the functions of libraries that are not here (stubs.py): they fail, and it is counted which.
API int emulator_refuse(const char *name) {
    LOCKED;
    world().counts.refused[name]++;
    return 1;
}
