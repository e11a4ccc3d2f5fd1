/* The clock: monotonic nanoseconds, and the floating-point mode every measured thread runs in. Platform code
 * lives here. */
#ifndef RUNTIME_CORE_CLOCK_H
#define RUNTIME_CORE_CLOCK_H

#include <stdint.h>

/* Monotonic, ns; about 30 ns a call. */
uint64_t pdnn_clock_ns(void);

/* Milliseconds since 1970, UTC. */
int64_t pdnn_clock_unix_ms(void);

/* The median cost of one clock read, measured. */
uint64_t pdnn_clock_read_cost_ns(void);

/* Flush denormals to zero in the calling thread and in the `threads` threads of the OpenMP pool. */
void pdnn_flush_denormals(int64_t threads);

#endif
