/* Text made from the registries: the program's --help, and how a parameter's range is
 * written. The manual pages (cli/args/man) share its sentences. */
#ifndef CLI_ARGS_HELP_H
#define CLI_ARGS_HELP_H

#include "base/str.h"

#include <stddef.h>

struct pdnn_instance;
struct pdnn_param_def;

struct pdnn_help_row {
    const char *name, *help;
};

extern const char pdnn_purpose[];                   /* what the program does */
extern const char pdnn_spec_purpose[];              /* what SPEC and ID are */
extern const struct pdnn_help_row pdnn_exit_rows[]; /* exit statuses; the last row is empty */

/* Appends what `paradnn --help` prints. */
void pdnn_help_format(struct pdnn_str *out, size_t width);

/* Appends "1..8192", "all, 1..1024", "none, relu" or "list of 1..64". */
void pdnn_param_range_format(struct pdnn_str *out, const struct pdnn_param_def *param);

/* Appends a hyper-parameter's help and when it applies: "hidden layers; with block=plain". */
void pdnn_hyper_help_format(struct pdnn_str *out, const struct pdnn_instance *defaults, size_t param);

/* The width to fill text to: that of the terminal on stdout, clamped to 40..100, or 80 without one. */
size_t pdnn_help_width(void);

#endif
