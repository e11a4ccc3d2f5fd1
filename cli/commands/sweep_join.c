#include "cli/commands/sweep_join.h"

#include "base/clock.h"
#include "base/visible.h"
#include "cli/print/console.h"

#include <stdio.h>

static void print_here(const struct pdnn_join_request *request, const struct pdnn_join_result *result) {
    char shown[PDNN_VISIBLE_TEXT], outcomes[PDNN_OUTCOMES_TEXT];
    const struct pdnn_visit_spent *spent = &result->sweep.spent;
    double wall = (double)(pdnn_clock_ns() - request->sweep.session->started_ns);
    double timed = (double)(spent->samples_ns + spent->stamped_ns);
    size_t n_instances = 0;
    for (int outcome = 0; outcome < PDNN_OUTCOME_COUNT; outcome++)
        n_instances += result->counts[outcome];
    fprintf(stderr, "part: %s/parts/%s\n", pdnn_visible(shown, request->sweep.path), result->part);
    fprintf(stderr, "here: %zu visits in %zu lease%s; finished %zu instances%s%s", result->sweep.visits,
            result->leases, result->leases == 1 ? "" : "s", n_instances, n_instances ? ":" : "",
            pdnn_outcomes_format(result->counts, outcomes));
    if (result->lost)
        fprintf(stderr, "; %zu lease%s taken over by others", result->lost, result->lost == 1 ? "" : "s");
    if (result->sweep.workers_lost)
        fprintf(stderr, "; %zu workers lost", result->sweep.workers_lost);
    if (result->sweep.out_of_time)
        fprintf(stderr, "; %s", pdnn_session_end_text(request->sweep.session));
    fprintf(stderr, "\n%.1f s, %.0f %% in timed steps\n", wall * 1e-9, 100 * timed / wall);
}

static void print_all(const struct pdnn_join_request *request, const struct pdnn_join_result *result) {
    const char *path = request->sweep.path;
    if (!*result->part)
        fprintf(stderr, "nothing to do: ");
    fprintf(stderr, "%zu of %zu instances are done", result->done, result->instances);
    if (result->held)
        fprintf(stderr, ", %zu are being measured by %zu other%s", result->held, result->n_holders,
                result->n_holders == 1 ? "" : "s");
    if (result->free)
        fprintf(stderr, ", %zu are left to claim", result->free);
    fprintf(stderr, "\n");
    if (result->done == result->instances)
        pdnn_console_next("merge * -o *", path);
    else if (result->free)
        fprintf(stderr, "resume: run the same command again, anywhere\n");
    else
        pdnn_console_next("status *", path);
}

enum pdnn_status pdnn_cli_join(const struct pdnn_join_request *request, bool quiet, bool *some_failed,
                               struct pdnn_err *err) {
    struct pdnn_join_result result = {.part = ""};
    enum pdnn_status status = pdnn_join_run(request, &result, err);
    if (*result.part && !quiet)
        print_here(request, &result);
    if ((status == PDNN_OK || status == PDNN_INTERRUPTED) && !quiet)
        print_all(request, &result);
    /* A process that came too late to measure anything has not failed. */
    result.counts[PDNN_OUTCOME_OK]++;
    *some_failed = pdnn_session_has_failed(result.counts);
    return status;
}
