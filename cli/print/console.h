/* Session hooks for a terminal: warnings and a progress bar on stderr; signals (cli/interrupt.h) end the
 * session. */
#ifndef CLI_PRINT_CONSOLE_H
#define CLI_PRINT_CONSOLE_H

#include "cli/print/progress.h"
#include "runtime/protocol/visit.h"
#include "session/hooks.h"
#include "session/session.h"

/* Hooks that draw with this bar, which must outlive them. */
struct pdnn_session_hooks pdnn_console_hooks(struct pdnn_progress *bar);

/* Prints lines on stderr, each filled to the terminal but for commands ("next: ..."), which are copied. */
void pdnn_console_say(const char *text);

/* Appends a path or an ID as one word of a command line, which is neither split nor taken for an option. */
void pdnn_word_append(struct pdnn_str *out, const char *text);

/* Appends "next:   paradnn merge fc -o fc" for "merge * -o *": each * is the path. */
void pdnn_next_append(struct pdnn_str *out, const char *format, const char *path);

/* " 12 ok, 2 oom", or "" where nothing is counted; returns the text. */
enum { PDNN_OUTCOMES_TEXT = 512 };
const char *pdnn_outcomes_format(const size_t counts[PDNN_OUTCOME_COUNT], char text[PDNN_OUTCOMES_TEXT]);

/* "30 instances: 18 ok, 12 interrupted; 5 done, 13 begun, 12 open": what all commands say of how far a sweep
 * has come. The stages follow where not all is done. */
void pdnn_tally_append(struct pdnn_str *out, const struct pdnn_tally *tally);

#endif
