// All that the emulator knows while a process runs: memory, streams, what is queued, what was counted. One lock.
#pragma once
#include "cuda_types.h"
#include "state.h"
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

using Nanoseconds = unsigned long long;
using Effect = std::function<void()>;

enum class Engine { COMPUTE, TO_DEVICE, TO_HOST };

struct Work {  // One kernel or copy: how long it takes, and what it does to memory when it is due.
    Engine engine;
    Nanoseconds takes;
    Effect effect;
};

struct Stream {
    bool blocking;
    Nanoseconds busy_until = 0;
};

class Regions {  // Memory by its first address.
public:
    void add(void *start, size_t bytes) { sizes_[static_cast<char *>(start)] = bytes; }
    size_t remove(void *start);  // Its bytes; 0 if there is none that starts there.
    bool holds(const void *address) const;

private:
    std::map<char *, size_t> sizes_;
};

struct Counts {
    std::map<std::string, unsigned long long> calls, kernels, refused, violations;
    unsigned long long launches = 0, copies = 0;
    Nanoseconds spun = 0, slept = 0, computed = 0;
    size_t device_peak = 0, pinned_peak = 0;
};

class World {
public:
    std::recursive_mutex lock;
    Regions on_device, pinned;
    size_t device_bytes = 0, pinned_bytes = 0;
    Stream legacy{true};
    std::set<Stream *> streams;
    Counts counts;

    Stream *stream(void *handle);
    Error dead();             // What broke the device, or SUCCESS; also the state file may say so.
    void die(Error error);    // From now on every call says so.
    bool has_room(size_t bytes);
    size_t used_bytes();      // Of the device: this process, its context and others.
    void hold(size_t bytes);  // Device memory; `release` gives it back.
    void release(size_t bytes) { device_bytes -= bytes; }

    Error enqueue(Stream *stream, Work work);
    Nanoseconds busy_until();  // When all that is queued is done.
    void advance();            // Lets what is due come true.

private:
    std::multimap<Nanoseconds, Effect> queued_;
    Nanoseconds engine_busy_[3] = {0, 0, 0};
    Error dead_ = SUCCESS;
    unsigned long long state_serial_ = 0, launches_before_ = 0;

    void queue(Stream *stream, const Work &work);
    bool strikes(const Work &work);
};

World &world();
Nanoseconds now();

class HostTime {  // What the driver takes to launch; what is done here while one of these lives is within that time.
public:
    explicit HostTime(int launches = 1);
    ~HostTime();  // Waits for the rest of it: to be made before any lock is held.
    HostTime(const HostTime &) = delete;

private:
    Nanoseconds end_;
};

void wait_until(Nanoseconds due, bool sleeping);       // Spins or sleeps, hangs if the device hangs, then advances.
void hang();                                           // Returns when the state file does not say so any more.
Error say(Error error);                                // Keeps it for cudaGetLastError.

void keep_report();  // Writes it to its file, if it is time to.

#define LOCKED std::lock_guard<std::recursive_mutex> locked(world().lock)
#define COUNTED                                        \
    do {                                               \
        refresh_state();                               \
        LOCKED;                                        \
        world().counts.calls[__func__]++;              \
    } while (0)
