#include "world.h"
#include "device.h"
#include "state.h"
#include <algorithm>
#include <ctime>
#include <unistd.h>

size_t Regions::remove(void *start) {
    auto found = sizes_.find(static_cast<char *>(start));
    if (found == sizes_.end()) return 0;
    size_t bytes = found->second;
    sizes_.erase(found);
    return bytes;
}

bool Regions::holds(const void *address) const {
    auto *wanted = static_cast<char *>(const_cast<void *>(address));
    auto after = sizes_.upper_bound(wanted);
    if (after == sizes_.begin()) return false;
    auto region = std::prev(after);
    return wanted < region->first + region->second;
}

World &world() {
    static World *only = new World;  // Never destroyed: threads may still call while the process ends.
    return *only;
}

Stream *World::stream(void *handle) {
    return reinterpret_cast<size_t>(handle) <= 2 ? &legacy : static_cast<Stream *>(handle);  // 1 and 2 name it too.
}

Error World::dead() {
    State present = state();
    if (present.serial() == state_serial_) return dead_;
    state_serial_ = present.serial(), launches_before_ = counts.launches;
    die(Error(int(present.number("dead", SUCCESS))));
    return dead_;
}

void World::die(Error error) {
    if (dead_ == SUCCESS) dead_ = error;
}

size_t World::used_bytes() {
    return device_bytes + device().context_bytes + size_t(state().number("others_bytes", 0));
}

bool World::has_room(size_t bytes) { return used_bytes() + bytes <= device().memory_bytes; }

void World::hold(size_t bytes) {
    device_bytes += bytes;
    counts.device_peak = std::max(counts.device_peak, device_bytes);
}

bool World::strikes(const Work &work) {
    double after = state().number("dies_after_launches", -1);
    return (work.engine == Engine::COMPUTE && after >= 0 && counts.launches - launches_before_ > after) ||
           (work.engine == Engine::TO_DEVICE && state().number("dies_in_copy", 0));
}

Error World::enqueue(Stream *target, Work work) {
    if (Error error = dead()) return say(error);
    bool fatal = strikes(work);
    queue(target, work);
    if (fatal) queued_.emplace(target->busy_until, [this] { die(LAUNCH_FAILED); });
    advance();
    return SUCCESS;
}

void World::queue(Stream *target, const Work &work) {
    Nanoseconds &engine = engine_busy_[int(work.engine)];
    Nanoseconds begins = std::max({now(), target->busy_until, engine});
    target->busy_until = engine = begins + work.takes;
    if (work.engine == Engine::COMPUTE) counts.computed += work.takes;
    if (work.effect) queued_.emplace(target->busy_until, work.effect);
}

Nanoseconds World::busy_until() { return *std::max_element(engine_busy_, engine_busy_ + 3); }

void World::advance() {
    Nanoseconds present = now();
    while (dead_ == SUCCESS && !queued_.empty() && queued_.begin()->first <= present) {
        Effect effect = queued_.begin()->second;
        queued_.erase(queued_.begin());
        effect();
    }
}

Nanoseconds now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return Nanoseconds(time.tv_sec) * 1000000000 + Nanoseconds(time.tv_nsec);
}

HostTime::HostTime(int launches) : end_(now() + Nanoseconds(launches * device().launch_ns)) { refresh_state(); }

HostTime::~HostTime() {
    while (now() < end_) {
    }
}

void hang() {
    for (refresh_state(); state().number("hang", 0); refresh_state()) usleep(10000);
}

void wait_until(Nanoseconds due, bool sleeping) {
    hang();
    Nanoseconds begun = now();
    for (Nanoseconds present = begun; present < due; present = now()) {
        if (!sleeping) continue;
        timespec left{time_t((due - present) / 1000000000), long((due - present) % 1000000000)};
        nanosleep(&left, nullptr);
    }
    LOCKED;
    (sleeping ? world().counts.slept : world().counts.spun) += now() - begun;
    world().advance();
    keep_report();
}
