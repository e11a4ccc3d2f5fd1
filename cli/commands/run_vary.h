/* `run --vary KEY=LIST`: one model at many values of a hyper-parameter that does not affect its weights, such
 * as sequence length or minibatch. All values share the weights and one block of memory in one worker. */
#ifndef CLI_COMMANDS_RUN_VARY_H
#define CLI_COMMANDS_RUN_VARY_H

#include "cli/print/output.h"
#include "session/session.h"
#include "results/store/results.h"

struct pdnn_vary {
    struct pdnn_arena arena;
    const char *option; /* "--vary length=10,20,50": starts messages */
    const struct pdnn_param_def *def;
    size_t param;     /* index in the family */
    const char **ids; /* one per value, in the order given */
    size_t count;
    const char *largest; /* id of the task that needs most memory; the session's */
};

/* Reads the option's text for the model with the given id. On PDNN_INVALID, err says what is wrong with it.
 * Always release *vary with pdnn_vary_finish. */
enum pdnn_status pdnn_vary_read(struct pdnn_vary *vary, const char *text, const char *id,
                                struct pdnn_err *err);
void pdnn_vary_finish(struct pdnn_vary *vary);

/* Finds the largest task of a session opened on the ids. PDNN_INVALID if their
 * weights or run settings differ. */
enum pdnn_status pdnn_vary_check(struct pdnn_vary *vary, const struct pdnn_session *session,
                                 struct pdnn_err *err);

/* Prints what the values share and a table with one row per value, from those of results.csv. For programs:
 * the rows of results.csv, and what they share on stderr. */
void pdnn_vary_report(const struct pdnn_vary *vary, struct pdnn_table *results,
                      const struct pdnn_visit_set *set, const struct pdnn_arguments *arguments);

#endif
