/* `sweep --join`: runs it and says what came of it. */
#ifndef CLI_COMMANDS_SWEEP_JOIN_H
#define CLI_COMMANDS_SWEEP_JOIN_H

#include "session/join/join.h"

enum pdnn_status pdnn_cli_join(const struct pdnn_join_request *request, bool quiet, bool *some_failed,
                               struct pdnn_err *err);

#endif
