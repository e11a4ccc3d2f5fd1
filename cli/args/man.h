/* The manual pages, made from the registries as mdoc(7) source: paradnn(1), and paradnn-<command>(1) for each
 * command. The build writes them to files. */
#ifndef CLI_ARGS_MAN_H
#define CLI_ARGS_MAN_H

#include "base/str.h"

struct pdnn_command_def;

/* Appends the command's page, or that of the whole program if command is NULL. */
void pdnn_man_format(struct pdnn_str *out, const struct pdnn_command_def *command);

#endif
