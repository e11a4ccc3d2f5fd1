#include "cli/print/composition.h"

#include "base/memory.h"
#include "cli/print/output.h"
#include "cli/print/progress.h"
#include "base/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { FATES = PDNN_FATE_PREDICTED + 1 };

#define PERCENT(digits) "%", PDNN_KIND_NUMBER, PDNN_SHOW_PERCENT, .decimals = digits

static const struct pdnn_column_def summary_columns[] = {
    {"models", .help = "family and mode"}, {"number", .kind = PDNN_KIND_COUNT},
    {"median error", NULL, PERCENT(1)},    {"median |error|", NULL, PERCENT(1)},
    {"95 % |error|", NULL, PERCENT(1)},    {"within 10 %", NULL, PERCENT(0)},
    {"in interval", NULL, PERCENT(0)},     {"median |repeat|", NULL, PERCENT(1)},
};
static const struct pdnn_table_def summary_def = {"strata", "errors by family and mode", summary_columns, 8};

static double median_of(double *values, size_t count) {
    return count ? pdnn_median(values, count) : NAN;
}

/* Of these models, or all. */
static void add_stratum(struct pdnn_table *summary, const char *name, const struct pdnn_table *models,
                        const struct pdnn_row_list *rows) {
    double *errors = pdnn_alloc(rows->count, sizeof *errors);
    double *sizes = pdnn_alloc(rows->count, sizeof *sizes);
    double *repeats = pdnn_alloc(rows->count, sizeof *repeats);
    size_t n_repeats = 0, near = 0, n_intervals = 0, covered = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const size_t row = rows->at[i];
        double direct = pdnn_table_number(models, row, PDNN_VALIDATED_DIRECT);
        double low = pdnn_table_number(models, row, PDNN_VALIDATED_LOW);
        double high = pdnn_table_number(models, row, PDNN_VALIDATED_HIGH);
        double repeat = pdnn_table_number(models, row, PDNN_VALIDATED_REPEAT);
        errors[i] = pdnn_table_number(models, row, PDNN_VALIDATED_ERROR);
        sizes[i] = fabs(errors[i]);
        near += sizes[i] <= 10;
        n_intervals += low < high;
        covered += low <= direct && direct <= high;
        if (!isnan(repeat))
            repeats[n_repeats++] = fabs(repeat);
    }
    const double size = median_of(sizes, rows->count); /* sorts */
    const double numbers[] = {median_of(errors, rows->count),
                              size,
                              pdnn_quantile_sorted(sizes, rows->count, 0.95),
                              100 * (double)near / (double)rows->count,
                              n_intervals ? 100 * (double)covered / (double)n_intervals : NAN,
                              median_of(repeats, n_repeats)};
    const size_t row = pdnn_table_add_row(summary);
    pdnn_table_set_text(summary, row, 0, name);
    pdnn_table_set_count(summary, row, 1, rows->count);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        pdnn_table_set_number(summary, row, 2 + i, numbers[i]);
    free(errors);
    free(sizes);
    free(repeats);
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

/* What of the models' own steps is in none of their ops, and so in no sum. */
static void append_outside(struct pdnn_str *out, const struct pdnn_table *models) {
    double *outside = pdnn_alloc(models->n_rows, sizeof *outside);
    size_t count = 0;
    for (size_t row = 0; row < models->n_rows; row++)
        if (!pdnn_table_is_empty(models, row, PDNN_VALIDATED_OUTSIDE))
            outside[count++] = pdnn_table_number(models, row, PDNN_VALIDATED_OUTSIDE);
    if (count)
        pdnn_str_printf(out, "\noutside of their operators: %.2f %% of the models' steps (median of %zu)\n",
                        pdnn_median(outside, count), count);
    free(outside);
}

void pdnn_validation_text(struct pdnn_str *out, struct pdnn_table *models) {
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
    append_outside(out, models);
    pdnn_rows_finish(&rows);
}

void pdnn_compose_plan_text(struct pdnn_str *out, const struct pdnn_compose_plan *plan,
                            const struct pdnn_compose_choice *choice, const struct pdnn_table *operators) {
    const struct pdnn_choose *choose = &choice->choose;
    const struct pdnn_session *session = plan->session;
    char compile[PDNN_DURATION_TEXT], run[PDNN_DURATION_TEXT], measure[PDNN_DURATION_TEXT],
        budget[PDNN_DURATION_TEXT], taken[PDNN_DURATION_TEXT];
    size_t fate[FATES] = {0}, small[FATES] = {0}, n_small = 0, predicted = 0;
    double compile_seconds = 0, run_seconds = 0, measure_seconds = 0;
    for (size_t i = 0; i < choose->n_models; i++) {
        const struct pdnn_planned_model *model = &plan->models[choice->task_of[i]];
        n_small += model->is_small;
        (model->is_small ? small : fate)[choose->models[i].fate]++;
        *(model->is_small ? &run_seconds : &compile_seconds) += model->seconds;
    }
    for (size_t row = 0; row < operators->n_rows; row++) {
        measure_seconds += pdnn_table_number(operators, row, PDNN_PLANNED_ALL_SECONDS);
        predicted += pdnn_table_count(operators, row, PDNN_PLANNED_PREDICTED);
    }
    pdnn_str_printf(out,
                    "%zu instances: %zu cannot run, such as for lack of memory, or need not; %zu are small "
                    "enough to run; %zu to compose of %zu operators, before layouts and states of caches\n",
                    session->n_tasks, session->n_tasks - choose->n_models, n_small,
                    choose->n_models - n_small, choose->n_operators);
    pdnn_str_printf(out, "all of it: %s to compile, %s for %" PRId64 " rounds of operators, %s to run\n",
                    pdnn_duration_format(compile, compile_seconds),
                    pdnn_duration_format(measure, measure_seconds), session->spec.measure.rounds,
                    pdnn_duration_format(run, run_seconds));
    if (isinf(choose->budget_seconds))
        pdnn_str_printf(out, "without a budget: ");
    else
        pdnn_str_printf(out, "in %s: ", pdnn_duration_format(budget, choose->budget_seconds));
    pdnn_str_printf(
        out, "%zu run, %zu composed, %zu predicted with %zu interpolated operators; %zu left; takes %s\n\n",
        small[PDNN_FATE_MEASURED], fate[PDNN_FATE_MEASURED], fate[PDNN_FATE_PREDICTED], predicted,
        small[PDNN_FATE_LEFT] + fate[PDNN_FATE_LEFT], pdnn_duration_format(taken, choose->seconds));
}
