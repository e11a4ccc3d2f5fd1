/* Text made from the registries and the tables that specs are read with: help and manual pages, the language
 * of specs, what a shell offers, and how a parameter's range is written. */
#ifndef CLI_ARGS_HELP_H
#define CLI_ARGS_HELP_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct pdnn_command_def;
struct pdnn_instance;
struct pdnn_param_def;

/* Appends what `paradnn --help` prints, or the mdoc(7) source of paradnn(1); or the same of a command. */
void pdnn_help_format(struct pdnn_str *out, const struct pdnn_command_def *command, bool is_manual);

/* Appends the page of `paradnn help spec`, which is also doc/spec.md: every key with its values, default,
 * meaning and an example. Markdown, filled to `width` columns. */
void pdnn_spec_page_format(struct pdnn_str *out, size_t width);
extern const char pdnn_spec_text[]; /* what stands between them: spec.md, which the build embeds */

/* Appends the answer to `paradnn --complete WORD...`, which the functions in packaging/completion ask when
 * the user presses TAB after these words, the last of which is completed: a line with what files the shell
 * adds (none, files, directories or specs), then the candidates. */
void pdnn_complete(struct pdnn_str *out, int count, char **words);

/* Appends "1..8192", "all, 1..1024", "none, relu" or "list of 1..64". */
void pdnn_param_range_format(struct pdnn_str *out, const struct pdnn_param_def *param);

/* Appends a hyper-parameter's help and when it applies: "hidden layers; with block=plain". */
void pdnn_hyper_help_format(struct pdnn_str *out, const struct pdnn_instance *defaults, size_t param);

/* The width to fill text to: that of the terminal on stdout, clamped to 40..100, or 80 without one. */
size_t pdnn_help_width(void);

#endif
