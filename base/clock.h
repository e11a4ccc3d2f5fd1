/* Clocks: monotonic nanoseconds, and the time of day. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Monotonic, ns; about 30 ns a call. */
uint64_t pdnn_clock_ns(void);

/* Milliseconds since 1970, UTC. */
int64_t pdnn_clock_unix_ms(void);

/* The measured median cost of one clock read. */
uint64_t pdnn_clock_read_cost_ns(void);

/* What took the time between two clock reads, without the cost of one; at least 1, since it took some. */
static inline uint64_t pdnn_clock_net_ns(uint64_t between_ns, uint64_t read_cost_ns) {
    return between_ns > read_cost_ns ? between_ns - read_cost_ns : 1;
}

#endif
