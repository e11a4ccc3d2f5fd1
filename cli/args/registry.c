#include "cli/args/registry.h"

#include <stddef.h>
#include <string.h>

#define ADDRESS(name) &pdnn_command_##name,

const struct pdnn_command_def *const pdnn_commands[] = {PDNN_COMMANDS(ADDRESS) NULL};

const struct pdnn_command_def *pdnn_command_find(const char *name) {
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}
