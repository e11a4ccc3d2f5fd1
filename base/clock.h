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

#endif
