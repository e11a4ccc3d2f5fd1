/* The commands, in the order of the list in the build. A command's file is cmd_<name>.c and defines
 * the row pdnn_command_<name>. */
#ifndef CLI_ARGS_REGISTRY_H
#define CLI_ARGS_REGISTRY_H

#include "cli/args/options.h"

/* NULL-terminated. */
extern const struct pdnn_command_def *const pdnn_commands[];

/* NULL if there is none of that name. */
const struct pdnn_command_def *pdnn_command_find(const char *name);

/* Declared here so that each command's file sees the name it must define. */
#include "lists.h"
#define PDNN_DECLARE_COMMAND(name) extern const struct pdnn_command_def pdnn_command_##name;
PDNN_COMMANDS(PDNN_DECLARE_COMMAND)

#endif
