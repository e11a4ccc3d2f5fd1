/* What a sweep ran on and with: the facts in environment.yaml. */
#ifndef SESSION_ENVIRONMENT_H
#define SESSION_ENVIRONMENT_H

#include "base/arena.h"
#include "session/session.h"
#include "results/store/tables.h"

/* Facts about host, software, effective settings and limits, in the arena. Starts a worker to get them: only
 * it links the libraries, and only it can see where threads really run. */
enum pdnn_status pdnn_environment_facts(const struct pdnn_session *session, struct pdnn_arena *arena,
                                        struct pdnn_fact **facts, size_t *n_facts, struct pdnn_err *err);

#endif
