/* Memory for the time of a call, taken piece by piece. */
#ifndef GLEANER_ROOM_H
#define GLEANER_ROOM_H

#include <stddef.h>
#include <stdint.h>

enum { LINE = 64 };

/* The next so many bytes of the room, from a cache's line on. From no room at all: how much of it that takes. */
static inline void *take(uintptr_t *room, size_t bytes) {
    void *found = (void *)*room;
    *room += (bytes + LINE - 1) / LINE * LINE;
    return found;
}

#endif
