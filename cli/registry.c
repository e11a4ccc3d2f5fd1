#include "cli/registry.h"

#include <stddef.h>

#define ADDRESS(name) &pdnn_command_##name,

const struct pdnn_command_def *const pdnn_commands[] = {PDNN_COMMANDS(ADDRESS) NULL};
