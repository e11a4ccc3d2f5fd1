#include "cli/args/registry.h"

#include <stddef.h>
#include <string.h>

#define COMMAND(name) &pdnn_command_##name,
#define TABLE(word)   &pdnn_##word##_def,

const struct pdnn_command_def *const pdnn_commands[] = {PDNN_COMMANDS(COMMAND) NULL};

const struct pdnn_table_def *const pdnn_table_defs[] = {PDNN_FILES(TABLE) PDNN_TABLES(TABLE)};

const struct pdnn_command_def *pdnn_command_find(const char *name) {
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}
