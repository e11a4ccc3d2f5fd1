/* Session hooks for a terminal: warnings and a progress bar on stderr; signals (cli/interrupt.h) end the
 * session. */
#ifndef CLI_CONSOLE_H
#define CLI_CONSOLE_H

#include "cli/progress.h"
#include "session/hooks.h"

/* Hooks that draw with this bar, which must outlive them. */
struct pdnn_session_hooks pdnn_console_hooks(struct pdnn_progress *bar);

/* Prints lines on stderr, each filled to the terminal but for commands ("next: ..."), which are copied. */
void pdnn_console_say(const char *text);

#endif
