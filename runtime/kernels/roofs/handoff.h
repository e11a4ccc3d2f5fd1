/* How far apart the threads are: the round trip of a cache line between neighbouring ones. Where a host moves
 * virtual processors about, this explains most of how a model's times scatter. */
#ifndef RUNTIME_KERNELS_ROOFS_HANDOFF_H
#define RUNTIME_KERNELS_ROOFS_HANDOFF_H

#include <stdint.h>

/* ns a round trip takes between the two neighbours that are farthest apart: threads 0 and 1, 2 and 3, ... at
 * once, then 1 and 2, 3 and 4, ...; the median of three runs of 100 trips. 0: there is one thread. */
double pdnn_handoff_ns(int64_t threads);

#endif
