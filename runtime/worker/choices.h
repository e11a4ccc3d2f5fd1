/* Choices kept between processes: what a backend's tune (runtime/backend/tune.h) has measured, in a file of
 * the user's cache directory. An entry is trusted only where everything in runtime/host/environment_key.h is
 * as it was. The shape is in the entry's key, and the entry says how large the last-level cache was found to
 * be: up to four times or a quarter of that size, it is trusted. */
#ifndef RUNTIME_WORKER_CHOICES_H
#define RUNTIME_WORKER_CHOICES_H

#include "base/paths/kept.h"
#include "runtime/backend/tune.h"
#include "runtime/host/environment_key.h"

/* The open file. */
struct pdnn_choices {
    struct pdnn_kept file;
    uint64_t cache_bytes;
};

/* Enters what the file in the directory has into tune, and adds to the file what tune measures from now on.
 * cache_bytes: of the last-level cache, as measured; 0: not measured. *choices must outlive tune. "": does
 * nothing. */
void pdnn_choices_keep(struct pdnn_tune *tune, struct pdnn_choices *choices, const char *directory,
                       const struct pdnn_environment_key *context, uint64_t cache_bytes);

#endif
