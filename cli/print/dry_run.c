#include "cli/print/dry_run.h"

#include "base/clock.h"
#include "cli/print/progress.h"
#include "session/estimate.h"

#include <stdio.h>

static const double roof_seconds = 2;

/* And what keeps the first of each kind from running, but for what the user left out. */
static void print_counts(const struct pdnn_session *session, size_t n_open) {
    size_t counts[PDNN_OUTCOME_COUNT] = {0};
    const char *reasons[PDNN_OUTCOME_COUNT] = {NULL};
    for (size_t i = session->n_tasks; i-- > 0;) {
        enum pdnn_outcome outcome = session->rows[i].outcome;
        counts[outcome] += session->tasks[i].closed;
        reasons[outcome] = session->tasks[i].closed ? session->rows[i].reason : reasons[outcome];
    }
    fprintf(stderr, "%zu instances: %zu to run", session->n_tasks, n_open);
    for (int outcome = 0; outcome < PDNN_OUTCOME_COUNT; outcome++) {
        if (!counts[outcome])
            continue;
        fprintf(stderr, ", %zu %s", counts[outcome], pdnn_outcome_name((enum pdnn_outcome)outcome));
        if (outcome != PDNN_OUTCOME_FILTERED)
            fprintf(stderr, " (%s)", reasons[outcome]);
    }
    fputc('\n', stderr);
}

static enum pdnn_status get_roofs(struct pdnn_session *session, const char *ceilings_file,
                                  struct pdnn_err *err) {
    struct pdnn_err cause = {0};
    if (ceilings_file) {
        pdnn_session_warn_ceilings(session, ceilings_file);
        return PDNN_OK;
    }
    enum pdnn_status status = pdnn_session_measure_ceilings(session, roof_seconds, &cause);
    if (status == PDNN_INTERRUPTED)
        return pdnn_fail(err, status, "%s", cause.text);
    if (status != PDNN_OK)
        pdnn_session_warn(session, "estimating at nominal speed: %s", cause.text);
    return PDNN_OK;
}

/* The budget, or the time left, counts from here: the time that this command took does not count. */
static void print_reach(struct pdnn_session *session, size_t n_open) {
    char duration[PDNN_DURATION_TEXT];
    uint64_t now_ns = pdnn_clock_ns();
    session->started_ns = now_ns;
    const struct pdnn_sweep_rules rules = pdnn_session_rules(session);
    if (!rules.deadline_ns)
        return;
    uint64_t left_ns = rules.deadline_ns > now_ns ? rules.deadline_ns - now_ns : 0;
    size_t reached = pdnn_sweep_reach(session->tasks, session->n_tasks, &rules, left_ns);
    fprintf(stderr, "within %s: all visits to about %zu of the %zu instances, %s\n",
            pdnn_duration_format(duration, (double)left_ns * 1e-9), reached, n_open,
            reached == n_open                    ? "which is all of them"
            : rules.reach == PDNN_REACH_SMALLEST ? "the shortest first"
                                                 : "spread over the spec");
}

enum pdnn_status pdnn_dry_run(struct pdnn_session *session, const char *ceilings_file, struct pdnn_err *err) {
    struct pdnn_str text = {0};
    size_t n_open = 0;
    for (size_t i = 0; i < session->n_tasks; i++)
        n_open += !session->tasks[i].closed;
    print_counts(session, n_open);
    enum pdnn_status status = get_roofs(session, ceilings_file, err);
    if (status != PDNN_OK)
        return status;
    struct pdnn_estimate *estimate =
        pdnn_estimate_create(&session->spec, &session->host, "", session->ceilings);
    for (size_t i = 0; i < session->n_tasks && status == PDNN_OK; i++)
        if (!session->tasks[i].closed)
            status = pdnn_estimate_add(estimate, &session->tasks[i].instance, &session->rows[i].totals, err);
    if (status == PDNN_OK && n_open) {
        pdnn_estimate_format(estimate, &text);
        fprintf(stderr, "%s\n", pdnn_str_text(&text));
        pdnn_session_predict(session);
        print_reach(session, n_open);
    }
    pdnn_str_finish(&text);
    pdnn_estimate_destroy(estimate);
    return status;
}
