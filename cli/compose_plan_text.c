#include "cli/compose_plan_text.h"

#include "base/memory.h"
#include "results/table/sheet.h"
#include "results/table/csv.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FATES = PDNN_FATE_PREDICTED + 1 };

/* Operators of one op and pass. */
struct row {
    size_t count, fate[FATES], too_large;
    double seconds, all_seconds; /* of those that are measured; of all that can be */
};

static const char *op_of(const char *key, char text[64]) {
    const char *at = strstr(key, " isa=");
    at = at ? strchr(at + 1, ' ') : NULL;
    at = at ? at + 1 : key;
    const char *pass = strchr(at, '/'), *end = pass ? strchr(pass + 1, '/') : NULL;
    snprintf(text, 64, "%.*s", end ? (int)(end - at) : (int)strlen(at), at);
    return text;
}

static void count_ops(const struct pdnn_choose *choose, struct pdnn_texts *ops, struct row **rows) {
    *rows = pdnn_alloc(choose->n_operators + 1, sizeof **rows);
    for (size_t i = 0; i < choose->n_operators; i++) {
        const struct pdnn_choose_operator *one = &choose->operators[i];
        char text[64];
        size_t number = pdnn_texts_add(ops, op_of(one->key, text));
        struct row *row = &(*rows)[number];
        row->count++;
        row->fate[one->fate]++;
        if (isinf(one->seconds)) {
            row->too_large += one->fate == PDNN_FATE_LEFT;
            continue;
        }
        row->all_seconds += one->seconds;
        row->seconds += one->fate == PDNN_FATE_MEASURED ? one->seconds : 0;
    }
}

static void format_csv(const struct pdnn_texts *ops, const struct row *rows, struct pdnn_str *out) {
    static const char *const header[] = {"op",        "operators", "measured",    "predicted", "left",
                                         "too_large", "seconds",   "all_seconds", NULL};
    struct pdnn_csv_writer writer = {.out = out};
    pdnn_csv_put_header(&writer, header);
    for (size_t i = 0; i < ops->count; i++) {
        pdnn_csv_put_text(&writer, ops->text[i]);
        pdnn_csv_put_u64(&writer, rows[i].count);
        pdnn_csv_put_u64(&writer, rows[i].fate[PDNN_FATE_MEASURED]);
        pdnn_csv_put_u64(&writer, rows[i].fate[PDNN_FATE_PREDICTED]);
        pdnn_csv_put_u64(&writer, rows[i].fate[PDNN_FATE_LEFT] - rows[i].too_large);
        pdnn_csv_put_u64(&writer, rows[i].too_large);
        pdnn_csv_put_number(&writer, rows[i].seconds, PDNN_DIGITS_TABLE);
        pdnn_csv_put_number(&writer, rows[i].all_seconds, PDNN_DIGITS_TABLE);
        pdnn_csv_end_row(&writer);
    }
}

static void add_table(const struct pdnn_texts *ops, const struct row *rows, struct pdnn_str *out) {
    static const struct pdnn_sheet_column columns[] = {
        {"op", PDNN_ALIGN_LEFT},         {"operators", PDNN_ALIGN_RIGHT}, {"measured", PDNN_ALIGN_RIGHT},
        {"predicted", PDNN_ALIGN_RIGHT}, {"left", PDNN_ALIGN_RIGHT},      {"too large", PDNN_ALIGN_RIGHT},
        {"takes s", PDNN_ALIGN_RIGHT},   {"all take s", PDNN_ALIGN_RIGHT}};
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < ops->count; i++) {
        pdnn_sheet_cell(&table, "%s", ops->text[i]);
        pdnn_sheet_cell(&table, "%zu", rows[i].count);
        pdnn_sheet_cell(&table, "%zu", rows[i].fate[PDNN_FATE_MEASURED]);
        pdnn_sheet_cell(&table, "%zu", rows[i].fate[PDNN_FATE_PREDICTED]);
        pdnn_sheet_cell(&table, "%zu", rows[i].fate[PDNN_FATE_LEFT] - rows[i].too_large);
        pdnn_sheet_cell(&table, "%zu", rows[i].too_large);
        pdnn_sheet_number(&table, rows[i].seconds, 0, "");
        pdnn_sheet_number(&table, rows[i].all_seconds, 0, "");
    }
    pdnn_sheet_format(&table, 0, out);
    pdnn_sheet_finish(&table);
}

static void add_models(const struct pdnn_compose_plan *plan, const struct pdnn_compose_choice *choice,
                       const struct row *rows, size_t n_rows, struct pdnn_str *out) {
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
    for (size_t i = 0; i < n_rows; i++) {
        measure_seconds += rows[i].all_seconds;
        predicted += rows[i].fate[PDNN_FATE_PREDICTED];
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

void pdnn_compose_plan_format(const struct pdnn_compose_plan *plan, const struct pdnn_compose_choice *choice,
                              bool csv, struct pdnn_str *out) {
    struct pdnn_texts ops = {0};
    struct row *rows;
    count_ops(&choice->choose, &ops, &rows);
    if (csv)
        format_csv(&ops, rows, out);
    if (!csv) {
        add_models(plan, choice, rows, ops.count, out);
        add_table(&ops, rows, out);
    }
    free(rows);
    pdnn_texts_finish(&ops);
}
