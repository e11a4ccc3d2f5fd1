#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/registry.h"
#include "cli/sweep_directory.h"
#include "results/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const paragraphs[] = {
    "Runs every instance of the specs and writes a result directory: results.csv with one row per instance, "
    "whatever happened "
    "to it, ops.csv with one row per instance and operator, and the journal, roofs and facts they come from.",
    "Each instance is visited several times, spread over the whole sweep, so that a machine that wanders "
    "shows in the interval "
    "instead of in the order. A visit that crashes, hangs or runs out of memory becomes the status of its "
    "row.",
    "Started again with the same directory, it goes on where it ended: visits that are there are kept, only "
    "what is missing "
    "runs. What failed stays so, unless --retry is given.",
    NULL,
};

static const struct pdnn_option_def options[] = {
    {"output", 'o', "DIR", NULL, false,
     "the result directory (default: NAME.results here, NAME being the spec's)"},
    PDNN_OPTION_SET,
    PDNN_OPTION_CEILINGS,
    {"retry", 0, NULL, NULL, false, "visit again what failed in an earlier run"},
};

static const struct pdnn_example examples[] = {
    {"paradnn sweep sweeps/fc.yaml", "the main job: the tables are in fc.results afterwards"},
    {"paradnn sweep sweeps/fc.yaml --set run.threads=1 -o fc1.results", "the same on one thread"},
};

/* The directory: -o, or the spec's name. Heap. */
static char *directory_name(const struct pdnn_arguments *arguments, const struct pdnn_session *session) {
    const char *given = pdnn_argument(arguments, "output");
    struct pdnn_str name = {0};
    pdnn_str_printf(&name, "%s%s", given ? given : session->spec.name, given ? "" : ".results");
    if (name.failed)
        pdnn_str_finish(&name);
    return name.text;
}

static void print_summary(const struct pdnn_sweep_directory *sweep, bool budget_spent) {
    fprintf(stderr, "%zu instances:", sweep->session->n_tasks);
    const char *separator = " ";
    for (int outcome = 0; outcome < PDNN_OUTCOME_COUNT; outcome++) {
        if (sweep->counts[outcome])
            fprintf(stderr, "%s%zu %s", separator, sweep->counts[outcome],
                    pdnn_outcome_name((enum pdnn_outcome)outcome));
        separator = sweep->counts[outcome] ? ", " : separator;
    }
    if (budget_spent)
        fprintf(stderr, "; the budget is spent");
    fprintf(stderr, "\ntables: %s/results.csv, %s/ops.csv\n", sweep->path, sweep->path);
    if (sweep->counts[PDNN_OUTCOME_INTERRUPTED])
        fprintf(stderr, "go on:  the same command again\n");
    if (sweep->counts[PDNN_OUTCOME_OK])
        fprintf(stderr, "next:   paradnn plot roofline %s\n", sweep->path);
}

static enum pdnn_status visit_all(struct pdnn_sweep_directory *sweep, bool *budget_spent,
                                  struct pdnn_err *err) {
    struct pdnn_session *session = sweep->session;
    struct pdnn_sweep_rules rules = pdnn_session_rules(session);
    const struct pdnn_sweep_hooks hooks = {sweep, pdnn_sweep_directory_visited,
                                           pdnn_sweep_directory_progress};
    struct pdnn_sweep_result result = {0};
    pdnn_progress_init(&sweep->bar, stderr);
    enum pdnn_status status =
        pdnn_sweep_run(&session->host, session->tasks, session->n_tasks, &rules, &hooks, &result, err);
    pdnn_progress_clear(&sweep->bar);
    *budget_spent = result.budget_spent;
    if (result.visits)
        fprintf(stderr, "%zu visits, %.2f ms of the driver's own time each", result.visits,
                (double)result.overhead_ns / (double)result.visits * 1e-6);
    if (result.workers_lost)
        fprintf(stderr, ", %zu workers lost", result.workers_lost);
    if (result.visits)
        fputc('\n', stderr);
    return status;
}

/* Measures, and leaves tables behind however that ends. */
static enum pdnn_status measure(struct pdnn_sweep_directory *sweep, const char *ceilings, bool retry,
                                bool *budget_spent, struct pdnn_err *err) {
    const volatile int *stop = pdnn_interrupt_watch();
    if (pdnn_sweep_directory_resume(sweep, retry, err) != PDNN_OK)
        return err->status;
    enum pdnn_status status = pdnn_sweep_directory_ceilings(sweep, ceilings, err);
    if (status == PDNN_OK && *stop)
        status = pdnn_fail(err, PDNN_INTERRUPTED, "interrupted");
    if (status == PDNN_OK)
        status = visit_all(sweep, budget_spent, err);
    struct pdnn_err tables = {0};
    if (pdnn_sweep_directory_write(sweep, &tables) != PDNN_OK && status == PDNN_OK)
        status = pdnn_fail(err, tables.status, "%s", tables.text);
    return status;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    struct pdnn_session session = {0};
    struct pdnn_sweep_directory sweep = {0};
    const char **sets = NULL, *ceilings = pdnn_argument(arguments, "ceilings");
    char *path = NULL;
    size_t n_sets;
    bool budget_spent = false;
    enum pdnn_status status = pdnn_argument_all(arguments, "set", &sets, &n_sets, err);
    if (status == PDNN_OK)
        status = pdnn_session_open(&session, arguments->operands, arguments->n_operands, sets, n_sets, err);
    if (status == PDNN_OK && ceilings)
        status = pdnn_ceilings_read(ceilings, &session.ceilings, err);
    if (status == PDNN_OK && !(path = directory_name(arguments, &session)))
        status = pdnn_fail(err, PDNN_NO_MEMORY, "out of memory");
    if (status == PDNN_OK)
        status = pdnn_sweep_directory_open(&sweep, path, &session, err);
    if (status == PDNN_OK) {
        status = measure(&sweep, ceilings, pdnn_argument(arguments, "retry"), &budget_spent, err);
        if (sweep.written)
            print_summary(&sweep, budget_spent);
    }
    for (int outcome = 0; outcome < PDNN_OUTCOME_COUNT; outcome++)
        if (pdnn_outcome_is_failure((enum pdnn_outcome)outcome) && sweep.counts[outcome])
            *some_failed = true;
    pdnn_sweep_directory_close(&sweep);
    pdnn_session_finish(&session);
    free(path);
    free(sets);
    return status;
}

const struct pdnn_command_def pdnn_command_sweep = {
    .name = "sweep",
    .summary = "Runs all instances of specs and writes their tables.",
    .operands = "SPEC...",
    .min_operands = 1,
    .max_operands = PDNN_OPERANDS_ANY,
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .run = run,
};
