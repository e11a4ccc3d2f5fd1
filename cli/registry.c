/* The registries that only the program can fill, since it alone links every backend and command. */
#include "cli/registry.h"

#include "runtime/core/backend.h"

#include <stddef.h>

#define DECLARE_BACKEND(name) extern const struct pdnn_backend_def pdnn_backend_##name;
#define ADDRESS_BACKEND(name) &pdnn_backend_##name,
#define ADDRESS_COMMAND(name) &pdnn_command_##name,

PDNN_BACKENDS(DECLARE_BACKEND)

const struct pdnn_backend_def *const pdnn_backends[] = {PDNN_BACKENDS(ADDRESS_BACKEND) NULL};
const struct pdnn_command_def *const pdnn_commands[] = {PDNN_COMMANDS(ADDRESS_COMMAND) NULL};
