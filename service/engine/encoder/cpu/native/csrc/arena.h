/* An arena: memory for one call, allocated once and handed out piece by piece. */
#ifndef GLEANER_ARENA_H
#define GLEANER_ARENA_H

#include <stddef.h>
#include <stdint.h>

enum { LINE = 64 };

/* The arena's next bytes, aligned to a cache line. Starting from 0, `arena` ends as the size that all pieces need. */
static inline void *take(uintptr_t *arena, size_t bytes) {
    void *found = (void *)*arena;
    *arena += (bytes + LINE - 1) / LINE * LINE;
    return found;
}

#endif
