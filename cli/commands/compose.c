#include "base/units.h"
#include "base/visible.h"
#include "cli/job.h"
#include "cli/print/output.h"
#include "session/compose/compose.h"
#include "base/memory.h"
#include "base/stats.h"
#include "session/compose/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const char description[] =
    "Gives the times of models without running most of them, as a result directory like that of sweep. Every model is "
    "compiled as its backend would run it, which says which operators it consists of (paradnn ops); each distinct "
    "operator is measured once per round, behind the steps that precede it in a model, as many as fill the caches; a "
    "model's time is the sum over its operators. The column method of results.csv says which rows are direct and "
    "which composed. Models whose memory fits into the last-level cache run directly.\n\n"
    "With --budget, a balanced sample of the models is composed, as far as it goes by what compiling and measuring "
    "are guessed to take. An operator that is left out for that, or that cannot be measured, is interpolated in utilization between "
    "measured ones of other sizes, of the same implementation and state of the caches, if there are larger and "
    "smaller ones; such rows are predicted, and their interval has the error of leaving out measured ones. A row with "
    "another operator that could not be measured is unpredicted, with the reason.\n\n"
    "The models that --calibrate runs, between the rounds of the operators, say how far composed times are off, which "
    "makes 90 % intervals: ci_low_ns and ci_high_ns. It takes at least 9 models for intervals, and with 9 in each "
    "family and mode these have their own. Without it, the interval of a composed row says how well its sum repeats "
    "between rounds, and nothing of the method's error. --validate prints the error of each model that it runs, "
    "beside how far its direct runs differ; no model calibrates and validates.\n\n"
    "Measured operators are synced one by one. Run again, the command goes on where it ended; another spec measures "
    "only what is not measured yet. Times count only for the same program, library, processor, threads and binding.";

enum { COUNT_MAX = 100000 };

static const struct pdnn_option_def options[] = {
    {"output", 'o', "DIR",
     .help =
         "the result directory (default: NAME.composed in the current directory, with the spec's name, or "
         "NAME.I-of-N.composed for a shard; required for an ID)"},
    {"operators", 0, "DIR", .former = "library",
     .help = "the directory of operators.csv (default: the result directory)"},
    {"validate", 0, "N", .kind = PDNN_OPTION_WHOLE, .least = 1, .most = COUNT_MAX,
     .help = "also run N composed models and say how far their times were off"},
    {"calibrate", 0, "N", .kind = PDNN_OPTION_WHOLE, .least = 1, .most = COUNT_MAX,
     .help = "also run N others, to find the intervals of composed times"},
    {"budget", 0, "TIME",
     .help = "what the command may take, as limits.budget: a balanced sample of the models is composed, and "
             "operators predicted from measured neighbours"},
    {"dry-run", .excludes = "operators,retry,validate,calibrate",
     .help =
         "say what there is to measure, how long it takes and what the budget buys; nothing is compiled or written"},
    {"retry",
     .help = "measure operators again that failed in an earlier run, and run models again that failed"},
    PDNN_OPTIONS_SHARD,
    PDNN_OPTIONS_MEASURE,
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn compose sweeps/fc.yaml --validate 5",
     "the sweep from its operators, and five models to compare"},
    {"paradnn compose sweeps/table2.yaml --calibrate 40 --validate 20",
     "with intervals by 40 models that run, and 20 more to see how good that is"},
    {"paradnn compose other.yaml -o other -l fc.composed", "another spec, with the operators of the first"},
    {"paradnn compose sweeps/table2.yaml --budget 1h --dry-run", "what an hour buys of a large sweep"},
    {"paradnn plot roofline fc.composed", "its results are like any others"},
};

enum { FATES = PDNN_FATE_PREDICTED + 1 };

#define PERCENT(digits) "%", PDNN_KIND_NUMBER, PDNN_SHOW_PERCENT, .decimals = digits

static const struct pdnn_column_def summary_columns[] = {
    {"models", .help = "family and mode"}, {"number", .kind = PDNN_KIND_COUNT},
    {"median error", NULL, PERCENT(1)},    {"median |error|", NULL, PERCENT(1)},
    {"95 % |error|", NULL, PERCENT(1)},    {"within 10 %", NULL, PERCENT(0)},
    {"in interval", NULL, PERCENT(0)},     {"median |repeat|", NULL, PERCENT(1)},
};
static const struct pdnn_table_def summary_def = {"strata", "errors by family and mode", summary_columns, 8};

/* A quantile of a column, or of its sizes, over those of the rows that have a value; NaN for few. */
static double quantile(const struct pdnn_table *table, const struct pdnn_row_list *rows, size_t column,
                       bool of_sizes, double q) {
    double *values = pdnn_alloc(rows->count + 1, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        double value = pdnn_table_number(table, rows->at[i], column);
        if (!isnan(value))
            values[count++] = of_sizes ? fabs(value) : value;
    }
    pdnn_sort(values, count);
    const double found = count >= PDNN_SAMPLE_LEAST ? pdnn_quantile_sorted(values, count, q) : NAN;
    free(values);
    return found;
}

/* Of these models, or all. */
static void add_stratum(struct pdnn_table *summary, const char *name, const struct pdnn_table *models,
                        const struct pdnn_row_list *rows) {
    size_t near = 0, n_intervals = 0, covered = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const size_t row = rows->at[i];
        double direct = pdnn_table_number(models, row, PDNN_VALIDATED_DIRECT);
        double low = pdnn_table_number(models, row, PDNN_VALIDATED_LOW);
        double high = pdnn_table_number(models, row, PDNN_VALIDATED_HIGH);
        near += fabs(pdnn_table_number(models, row, PDNN_VALIDATED_ERROR)) <= 10;
        n_intervals += low < high;
        covered += low <= direct && direct <= high;
    }
    const double numbers[] = {quantile(models, rows, PDNN_VALIDATED_ERROR, false, 0.5),
                              quantile(models, rows, PDNN_VALIDATED_ERROR, true, 0.5),
                              quantile(models, rows, PDNN_VALIDATED_ERROR, true, 0.95),
                              100 * (double)near / (double)rows->count,
                              n_intervals ? 100 * (double)covered / (double)n_intervals : NAN,
                              quantile(models, rows, PDNN_VALIDATED_REPEAT, true, 0.5)};
    const size_t row = pdnn_table_add_row(summary);
    pdnn_table_set_text(summary, row, 0, name);
    pdnn_table_set_count(summary, row, 1, rows->count);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        pdnn_table_set_number(summary, row, 2 + i, numbers[i]);
}

static void append_summary(struct pdnn_str *out, const struct pdnn_table *models,
                           const struct pdnn_row_list *all) {
    static const size_t key[] = {PDNN_VALIDATED_STRATUM};
    struct pdnn_groups strata = pdnn_groups_make(models, NULL, key, 1);
    struct pdnn_table summary;
    pdnn_table_init(&summary, &summary_def);
    for (size_t i = 0; i < strata.count; i++)
        add_stratum(&summary, pdnn_table_text(models, strata.group[i].at[0], *key), models, &strata.group[i]);
    if (strata.count > 1)
        add_stratum(&summary, "all", models, all);
    pdnn_table_show(out, &summary, NULL, NULL, 0);
    pdnn_table_finish(&summary);
    pdnn_groups_finish(&strata);
}

/* Appends the models of a validation, those with the largest errors first, and a summary by family and mode;
 * a column is added. */
static void append_validation(struct pdnn_str *out, struct pdnn_table *models) {
    static const size_t columns[] = {PDNN_VALIDATED_ERROR,  PDNN_VALIDATED_REPEAT,   PDNN_VALIDATED_COMPOSED,
                                     PDNN_VALIDATED_DIRECT, PDNN_VALIDATED_WORST_NS, PDNN_VALIDATED_WORST_OP,
                                     PDNN_VALIDATED_ID};
    static const struct pdnn_column_def size = {"size", .kind = PDNN_KIND_NUMBER};
    if (!models->n_rows) {
        pdnn_str_printf(out, "no model has been both composed and run\n");
        return;
    }
    const struct pdnn_sort_key by_size = {pdnn_table_add_column(models, &size), true};
    for (size_t row = 0; row < models->n_rows; row++)
        pdnn_table_set_number(models, row, by_size.column,
                              fabs(pdnn_table_number(models, row, PDNN_VALIDATED_ERROR)));
    struct pdnn_row_list rows = pdnn_rows_all(models);
    pdnn_rows_sort(&rows, models, &by_size, 1);
    pdnn_table_show(out, models, &rows, columns, sizeof columns / sizeof *columns);
    pdnn_str_printf(out, "\n");
    append_summary(out, models, &rows);
    /* What of the models' own steps is in none of their ops, and so in no sum. */
    const double outside = quantile(models, &rows, PDNN_VALIDATED_OUTSIDE, false, 0.5);
    if (!isnan(outside))
        pdnn_str_printf(out, "\noutside of their operators: %.2f %% of the models' steps (median)\n",
                        outside);
    pdnn_rows_finish(&rows);
}

/* Appends what a plan makes of the models; operators: its table. */
static void append_plan(struct pdnn_str *out, const struct pdnn_compose_plan *plan,
                        const struct pdnn_choose *choose, const struct pdnn_table *operators) {
    const struct pdnn_session *session = plan->session;
    char compile[PDNN_DURATION_TEXT], run[PDNN_DURATION_TEXT], measure[PDNN_DURATION_TEXT],
        budget[PDNN_DURATION_TEXT], taken[PDNN_DURATION_TEXT];
    size_t fate[2][FATES] = {0}, count[2] = {0}, predicted = 0; /* those to compose; small ones, which run */
    double seconds[2] = {0}, measure_seconds = 0;
    for (size_t i = 0; i < choose->n_models; i++) {
        const struct pdnn_planned_model *model = &plan->models[i];
        if (!model->is_open)
            continue;
        count[model->is_small]++;
        fate[model->is_small][choose->models[i].fate]++;
        seconds[model->is_small] += model->as.seconds;
    }
    for (size_t row = 0; row < operators->n_rows; row++) {
        measure_seconds += pdnn_table_number(operators, row, PDNN_PLANNED_ALL_SECONDS);
        predicted += pdnn_table_count(operators, row, PDNN_PLANNED_PREDICTED);
    }
    pdnn_str_printf(out,
                    "%zu instances: %zu cannot run, such as for lack of memory, or need not; %zu are small "
                    "enough to run; %zu to compose of %zu operators, before layouts and states of caches\n",
                    session->n_tasks, session->n_tasks - count[0] - count[1], count[1], count[0],
                    choose->n_operators);
    pdnn_str_printf(out, "all of it: %s to compile, %s for %" PRId64 " rounds of operators, %s to run\n",
                    pdnn_duration_format(compile, seconds[0]), pdnn_duration_format(measure, measure_seconds),
                    session->spec.measure.rounds, pdnn_duration_format(run, seconds[1]));
    if (isinf(choose->budget_seconds))
        pdnn_str_printf(out, "without a budget: ");
    else
        pdnn_str_printf(out, "in %s: ", pdnn_duration_format(budget, choose->budget_seconds));
    pdnn_str_printf(
        out, "%zu run, %zu composed, %zu predicted with %zu interpolated operators; %zu left; takes %s\n\n",
        fate[1][PDNN_FATE_MEASURED], fate[0][PDNN_FATE_MEASURED], fate[0][PDNN_FATE_PREDICTED], predicted,
        fate[0][PDNN_FATE_LEFT] + fate[1][PDNN_FATE_LEFT], pdnn_duration_format(taken, choose->seconds));
}

struct job {
    struct pdnn_cli_job of;
    struct pdnn_compose_request request;
    struct pdnn_compose_result result;
};

static void print_summary(const struct job *job) {
    const struct pdnn_compose_result *result = &job->result;
    char shown[PDNN_VISIBLE_TEXT], lists[PDNN_DURATION_TEXT], measures[PDNN_DURATION_TEXT];
    struct pdnn_str tally = {0};
    pdnn_tally_append(&tally, &job->of.directory.sums.tally);
    fprintf(stderr,
            "%s%s\n%zu models to compose, %zu small enough to run; %zu operators, %zu interpolated\n"
            "%zu measurements in %s, after %s for compiling; %zu visits of models\n",
            pdnn_str_text(&tally), result->out_of_time ? "; the time is up" : "", result->composed,
            result->small, result->operators, result->predicted, result->measured,
            pdnn_duration_format(measures, (double)result->measure_ns * 1e-9),
            pdnn_duration_format(lists, (double)result->list_ns * 1e-9), result->direct.visits);
    pdnn_str_finish(&tally);
    if (result->calibrated)
        fprintf(stderr, "intervals from %zu models%s\n", result->calibrated,
                result->calibrated < PDNN_CALIBRATED_LEAST ? ", which are too few" : "");
    const char *path = pdnn_visible(shown, job->of.request.path);
    fprintf(stderr, "tables: %s/results.csv, %s/ops.csv\n", path, path);
}

static enum pdnn_status compose(const struct pdnn_arguments *arguments, struct job *job,
                                struct pdnn_err *err) {
    const char *operators = pdnn_argument(arguments, "operators");
    struct pdnn_table models;
    struct pdnn_str text = {0};
    if (pdnn_cli_job_directory(&job->of, ".composed", err) != PDNN_OK ||
        pdnn_library_open(operators ? operators : job->of.request.path, &job->request.library, err) !=
            PDNN_OK)
        return err->status;
    enum pdnn_status status = pdnn_compose_run(&job->of.directory, &job->request, &job->result, err);
    if ((status == PDNN_OK || status == PDNN_INTERRUPTED) && job->of.directory.written)
        print_summary(job);
    if (status != PDNN_OK || !job->request.validate)
        return status;
    pdnn_compose_validate(&job->of.directory, job->result.calibrates, &models);
    if (!pdnn_wants_text(arguments))
        return pdnn_table_print(&models, arguments, err);
    append_validation(&text, &models);
    pdnn_text_print(&text, false);
    pdnn_table_finish(&models);
    return PDNN_OK;
}

/* Nothing is written, and only roofs are measured. */
static enum pdnn_status print_plan(const struct pdnn_arguments *arguments, struct job *job,
                                   struct pdnn_err *err) {
    struct pdnn_compose_plan plan = {0};
    struct pdnn_choose choice = {0};
    const uint64_t budget_ns = job->of.session.spec.limits.budget_ns;
    const double budget_seconds = budget_ns ? (double)budget_ns * 1e-9 : INFINITY;
    struct pdnn_table operators;
    struct pdnn_str text = {0};
    enum pdnn_status status = pdnn_cli_job_roofs(&job->of, err);
    if (status == PDNN_OK)
        status = pdnn_compose_plan(&plan, &job->of.session, budget_seconds, err);
    if (status == PDNN_OK) {
        pdnn_compose_plan_choose(&plan, budget_seconds, &choice);
        pdnn_compose_plan_table(&choice, &operators);
        if (pdnn_wants_text(arguments))
            append_plan(&text, &plan, &choice, &operators);
        pdnn_text_print(&text, false);
        status = pdnn_table_print(&operators, arguments, err);
    }
    pdnn_arena_finish(&choice.arena);
    pdnn_compose_plan_finish(&plan);
    return status;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct job job = {.result = {.calibrated = 0}};
    const bool is_dry = pdnn_argument(arguments, "dry-run");
    const struct pdnn_table_def *printed = is_dry                                 ? &pdnn_compose_plan_def
                                           : pdnn_argument(arguments, "validate") ? &pdnn_validation_def
                                                                                  : NULL;
    if (!printed && (pdnn_argument(arguments, "columns") || pdnn_argument(arguments, "format")))
        return pdnn_fail(err, PDNN_INVALID,
                         "--format and --columns are for the table that --validate or --dry-run prints");
    pdnn_cli_job_begin(&job.of, arguments);
    pdnn_cli_job_set(&job.of, "budget", "limits.budget", NULL);
    enum pdnn_status status = printed ? pdnn_table_check_columns(printed, arguments, err) : PDNN_OK;
    if (status == PDNN_OK)
        status = pdnn_cli_job_open(&job.of, err);
    pdnn_spec_unpair(&job.of.session.spec); /* models are visited between operators */
    job.request =
        (struct pdnn_compose_request){.validate = (size_t)pdnn_argument_whole(arguments, "validate", 0),
                                      .calibrate = (size_t)pdnn_argument_whole(arguments, "calibrate", 0),
                                      .retry = job.of.request.retry,
                                      .seed = job.of.session.spec.seed};
    if (status == PDNN_OK)
        status = (is_dry ? print_plan : compose)(arguments, &job, err);
    free(job.result.calibrates);
    pdnn_library_close(job.request.library);
    pdnn_cli_job_finish(&job.of);
    return status;
}

PDNN_COMMAND(compose, PDNN_COMMANDS_MEASURE, "SPEC...",
             "Gives the times of models as sums over their operators, measured once.", .run = run);
