/* The clock of the cores, without any counter: in a chain of dependent additions of registers, each takes one
 * cycle on every processor with a kernel here. */
#ifndef RUNTIME_KERNELS_ROOFS_CHAIN_H
#define RUNTIME_KERNELS_ROOFS_CHAIN_H

#include <stdint.h>

/* Six chains of about 4 us on each of the threads at once. GHz of the slowest thread's core, by the median of
 * its chains; the first, in which a core still has the clock of wide vectors, does not count. clock_cost_ns:
 * of one clock read. 0: there is no kernel for this processor. */
double pdnn_chain_ghz(int64_t threads, uint64_t clock_cost_ns);

#endif
