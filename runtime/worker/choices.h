/* Choices kept between processes: what a backend's tune (runtime/backend/tune.h) has measured, in a file of
 * the user's cache directory. An entry is trusted only where everything in runtime/host/environment_key.h is
 * as it was, the caches that the host reports among that. */
#ifndef RUNTIME_WORKER_CHOICES_H
#define RUNTIME_WORKER_CHOICES_H

#include "base/paths/kept.h"
#include "models/instance.h"
#include "runtime/backend/tune.h"
#include "runtime/host/environment_key.h"
#include "runtime/protocol/visit.h"

/* Enters what the file in the directory has into tune, and adds to the file what tune measures from now on.
 * *file must outlive tune. "": does nothing. */
void pdnn_choices_keep(struct pdnn_tune *tune, struct pdnn_kept *file, const char *directory,
                       const struct pdnn_environment_key *context);

/* What tune has chosen for the instance (pdnn_tune.chosen): the questions are those of all instances that
 * differ in isa or library alone, while this instruction set is in effect. */
struct pdnn_visit_choices pdnn_choices_made(const struct pdnn_tune *tune,
                                            const struct pdnn_instance *instance, const char *effective_isa);

#endif
