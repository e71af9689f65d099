#include "state.h"
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

std::mutex lock;
std::map<std::string, double, std::less<>> *values = new std::map<std::string, double, std::less<>>;
std::string *path = new std::string;
const volatile unsigned long long *serial = nullptr;
unsigned long long seen = 0;

// The file's serial number, in memory: to ask the file system at each call would take as long as a launch.
void map_serial() {
    int file = open((*path + ".serial").c_str(), O_RDONLY | O_CLOEXEC);
    struct stat found;
    bool whole = file >= 0 && !fstat(file, &found) && size_t(found.st_size) >= sizeof(seen);
    void *start = whole ? mmap(nullptr, sizeof(seen), PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
    if (file >= 0) close(file);
    if (start != MAP_FAILED) serial = static_cast<const volatile unsigned long long *>(start);
}

void forget() {  // What is known of the file before.
    if (serial) munmap(const_cast<unsigned long long *>(serial), sizeof(seen));
    serial = nullptr, seen = 0;
    values->clear();
}

void read() {
    std::ifstream file(*path);
    std::string key;
    double value;
    values->clear();
    while (file >> key >> value) (*values)[key] = value;
}

}  // namespace

State state() { return {}; }

void refresh_state() {
    const char *named = getenv("CUDA_EMULATOR_STATE");
    if (!named) return;
    std::lock_guard<std::mutex> held(lock);
    if (*path != named) *path = named, forget();
    if (!serial) map_serial();
    unsigned long long present = serial ? *serial : seen;
    if (present != seen) read(), seen = present;
}

double State::number(const char *key, double otherwise) const {
    std::lock_guard<std::mutex> held(lock);
    auto found = values->find(std::string_view(key));
    return found == values->end() ? otherwise : found->second;
}

unsigned long long State::serial() const {
    std::lock_guard<std::mutex> held(lock);
    return seen;
}
