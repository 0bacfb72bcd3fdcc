/* server/queue/bounds.h -- how much of each thing a server takes from outside: bounds.def. */
#ifndef SERVER_QUEUE_BOUNDS_H
#define SERVER_QUEUE_BOUNDS_H

#include <stdint.h>

/* Each in the unit of its row. */
struct serve_bounds {
#define BOUND(name, flag, value, least, most, unit, answer, meaning) int64_t name;
#define FIXED(value, unit, answer, meaning)
#include "server/queue/bounds.def"
#undef BOUND
#undef FIXED
};

#endif
