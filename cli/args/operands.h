/* What the user gave where a command expects result directories, or instead of a command: a spec, a model, a
 * file of a directory, a name that is nearly right. */
#ifndef CLI_ARGS_OPERANDS_H
#define CLI_ARGS_OPERANDS_H

#include "cli/args/options.h"

/* PDNN_INVALID with a line that says what was probably meant, if an operand of a command that reads result
 * directories is not a directory, or if KIND does not come first. */
enum pdnn_status pdnn_operands_check(const struct pdnn_arguments *arguments, struct pdnn_err *err);

/* "unknown command 'x'" and what was probably meant: a command of nearly that name, or one for the file,
 * directory or model that x is. Returns PDNN_INVALID. */
enum pdnn_status pdnn_command_unknown(const char *name, struct pdnn_err *err);

#endif
