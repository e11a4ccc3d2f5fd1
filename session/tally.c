#include "session/tally.h"

const char *const pdnn_stage_names[PDNN_STAGE_COUNT] = {"done", "begun", "open", "of_another_spec"};

enum pdnn_stage pdnn_stage_of(const struct pdnn_session *session, size_t task,
                              const struct pdnn_standing *standing) {
    if (task == SIZE_MAX)
        return PDNN_STAGE_OTHER;
    if (session->rows[task].outcome != PDNN_OUTCOME_INTERRUPTED ||
        pdnn_standing_is_done(standing, (size_t)session->spec.measure.rounds))
        return PDNN_STAGE_DONE;
    return standing->visits ? PDNN_STAGE_BEGUN : PDNN_STAGE_OPEN;
}

enum pdnn_stage pdnn_tally_add(struct pdnn_tally *tally, const struct pdnn_session *session, size_t task,
                               const struct pdnn_standing *standing) {
    enum pdnn_stage stage = pdnn_stage_of(session, task, standing);
    tally->stage[stage]++;
    if (stage == PDNN_STAGE_OTHER)
        return stage;
    tally->instances++;
    tally->counts[standing->visits ? pdnn_standing_outcome(standing) : session->rows[task].outcome]++;
    return stage;
}
