/* A session's hooks on a terminal: warnings and a bar on stderr, SIGINT and SIGTERM as the wish to end. */
#ifndef CLI_CONSOLE_H
#define CLI_CONSOLE_H

#include "cli/progress.h"
#include "session/hooks.h"

/* Hooks that draw with this bar; it is to live as long as they. */
struct pdnn_session_hooks pdnn_console_hooks(struct pdnn_progress *bar);

#endif
