/* The backends of the build's list. Only the worker program links them. */
#include "runtime/backend/backend.h"

#include "lists.h"

#include <stddef.h>

#define DECLARE(name) extern const struct pdnn_backend_def pdnn_backend_##name;
#define ADDRESS(name) &pdnn_backend_##name,

PDNN_BACKENDS(DECLARE)

const struct pdnn_backend_def *const pdnn_backends[] = {PDNN_BACKENDS(ADDRESS) NULL};
