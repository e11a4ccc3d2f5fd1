/* Choices kept between processes: what a backend's tune (runtime/backend/tune.h) has measured, in a file of
 * the user's cache directory. An entry is trusted only where everything in runtime/host/environment_key.h is
 * as it was, the caches that the host reports among that. */
#ifndef RUNTIME_WORKER_CHOICES_H
#define RUNTIME_WORKER_CHOICES_H

#include "base/paths/kept.h"
#include "runtime/backend/tune.h"
#include "runtime/host/environment_key.h"

/* Enters what the file in the directory has into tune, and adds to the file what tune measures from now on.
 * *file must outlive tune. "": does nothing. */
void pdnn_choices_keep(struct pdnn_tune *tune, struct pdnn_kept *file, const char *directory,
                       const struct pdnn_environment_key *context);

#endif
