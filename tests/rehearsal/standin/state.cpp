#include "state.h"
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <sys/stat.h>

namespace {

std::mutex lock;
std::map<std::string, double, std::less<>> *values = new std::map<std::string, double, std::less<>>;
struct stat seen = {};
unsigned long long replaced = 0;

void read(const char *path) {
    std::ifstream file(path);
    std::string key;
    double value;
    values->clear();
    while (file >> key >> value) (*values)[key] = value;
}

}  // namespace

State state() { return {}; }

void refresh_state() {
    const char *path = getenv("GPU_STANDIN_STATE");
    struct stat found;
    if (!path || stat(path, &found)) return;
    std::lock_guard<std::mutex> held(lock);
    bool same = found.st_ino == seen.st_ino && found.st_size == seen.st_size &&
                found.st_mtim.tv_sec == seen.st_mtim.tv_sec && found.st_mtim.tv_nsec == seen.st_mtim.tv_nsec;
    if (!same) read(path), seen = found, replaced++;
}

double State::number(const char *key, double otherwise) const {
    std::lock_guard<std::mutex> held(lock);
    auto found = values->find(std::string_view(key));
    return found == values->end() ? otherwise : found->second;
}

unsigned long long State::serial() const {
    std::lock_guard<std::mutex> held(lock);
    return replaced;
}
