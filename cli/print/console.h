/* Session hooks for a terminal: warnings and a progress bar on stderr; signals (cli/interrupt.h) end the
 * session. */
#ifndef CLI_PRINT_CONSOLE_H
#define CLI_PRINT_CONSOLE_H

#include "cli/print/progress.h"
#include "runtime/facts/visit.h"
#include "session/hooks.h"

/* Hooks that draw with this bar, which must outlive them. */
struct pdnn_session_hooks pdnn_console_hooks(struct pdnn_progress *bar);

/* Prints lines on stderr, each filled to the terminal but for commands ("next: ..."), which are copied. */
void pdnn_console_say(const char *text);

/* " 12 ok, 2 oom", or "" where nothing is counted; returns the text. */
enum { PDNN_OUTCOMES_TEXT = 512 };
const char *pdnn_outcomes_format(const size_t counts[PDNN_OUTCOME_COUNT], char text[PDNN_OUTCOMES_TEXT]);

#endif
