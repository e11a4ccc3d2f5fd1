/* Text made from the registries: help and manual pages, and how a parameter's range is written. */
#ifndef CLI_ARGS_HELP_H
#define CLI_ARGS_HELP_H

#include "base/str.h"

#include <stddef.h>

struct pdnn_command_def;
struct pdnn_instance;
struct pdnn_param_def;

/* Append what `paradnn --help` prints, and the mdoc(7) source of paradnn(1), or the same of a command, which
 * is not NULL then. */
void pdnn_help_format(struct pdnn_str *out, const struct pdnn_command_def *command);
void pdnn_manual_format(struct pdnn_str *out, const struct pdnn_command_def *command);

/* Appends "1..8192", "all, 1..1024", "none, relu" or "list of 1..64". */
void pdnn_param_range_format(struct pdnn_str *out, const struct pdnn_param_def *param);

/* Appends a hyper-parameter's help and when it applies: "hidden layers; with block=plain". */
void pdnn_hyper_help_format(struct pdnn_str *out, const struct pdnn_instance *defaults, size_t param);

/* The width to fill text to: that of the terminal on stdout, clamped to 40..100, or 80 without one. */
size_t pdnn_help_width(void);

#endif
