#include "cli/compose_text.h"

#include "base/memory.h"
#include "results/table/sheet.h"
#include "results/table/csv.h"
#include "runtime/facts/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRATUM_TEXT = 64 };

/* Family and mode of an id: "fc infer". */
static void name_stratum(const char *id, char *text, size_t room) {
    struct pdnn_instance instance;
    snprintf(text, room, "?");
    if (pdnn_instance_parse(id, &instance, NULL) == PDNN_OK)
        snprintf(text, room, "%s %s", instance.family->name,
                 instance.setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN ? "train" : "infer");
}

static void format_csv(const struct pdnn_validation *validation, struct pdnn_str *out) {
    static const char *const header[] = {
        "id",        "stratum",         "plan_bytes", "composed_ns", "low_ns",   "high_ns",  "direct_ns",
        "error_pct", "uncorrected_pct", "repeat_pct", "outside_pct", "worst_op", "worst_ns", NULL};
    struct pdnn_csv_writer writer = {.out = out};
    pdnn_csv_put_header(&writer, header);
    for (size_t i = 0; i < validation->count; i++) {
        const struct pdnn_validated *model = &validation->model[i];
        char stratum[STRATUM_TEXT];
        name_stratum(model->id, stratum, sizeof stratum);
        pdnn_csv_put_text(&writer, model->id);
        pdnn_csv_put_text(&writer, stratum);
        pdnn_csv_put_u64(&writer, model->plan_bytes);
        pdnn_csv_put_number(&writer, model->composed_ns, PDNN_DIGITS_TABLE);
        pdnn_csv_put_number(&writer, model->low_ns, PDNN_DIGITS_TABLE);
        pdnn_csv_put_number(&writer, model->high_ns, PDNN_DIGITS_TABLE);
        pdnn_csv_put_number(&writer, model->direct_ns, PDNN_DIGITS_TABLE);
        pdnn_csv_put_number(&writer, model->error * 100, PDNN_DIGITS_TABLE);
        pdnn_csv_put_number(&writer, model->uncorrected * 100, PDNN_DIGITS_TABLE);
        pdnn_csv_put_number(&writer, model->repeat * 100, PDNN_DIGITS_TABLE);
        pdnn_csv_put_number(&writer, model->outside * 100, PDNN_DIGITS_TABLE);
        pdnn_csv_put_text(&writer, model->worst_op);
        pdnn_csv_put_number(&writer, model->worst_ns, PDNN_DIGITS_TABLE);
        pdnn_csv_end_row(&writer);
    }
}

static int by_error(const void *a, const void *b) {
    double x = fabs((*(const struct pdnn_validated *const *)a)->error);
    double y = fabs((*(const struct pdnn_validated *const *)b)->error);
    return (x < y) - (x > y);
}

static void add_models(const struct pdnn_validation *validation, struct pdnn_str *out) {
    static const struct pdnn_sheet_column columns[] = {
        {"error", PDNN_ALIGN_RIGHT},       {"repeat", PDNN_ALIGN_RIGHT},
        {"composed ms", PDNN_ALIGN_RIGHT}, {"direct ms", PDNN_ALIGN_RIGHT},
        {"off by ms", PDNN_ALIGN_RIGHT},   {"in", PDNN_ALIGN_CUT | PDNN_SPARE(1)},
        {"model", PDNN_ALIGN_LEFT}};
    const struct pdnn_validated **sorted = pdnn_alloc(validation->count + 1, sizeof *sorted);
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < validation->count; i++)
        sorted[i] = &validation->model[i];
    qsort(sorted, validation->count, sizeof *sorted, by_error);
    for (size_t i = 0; i < validation->count; i++) {
        pdnn_sheet_number(&table, sorted[i]->error * 100, 1, " %");
        pdnn_sheet_number(&table, sorted[i]->repeat * 100, 1, " %");
        pdnn_sheet_number(&table, sorted[i]->composed_ns * 1e-6, 3, "");
        pdnn_sheet_number(&table, sorted[i]->direct_ns * 1e-6, 3, "");
        pdnn_sheet_number(&table, sorted[i]->worst_ns * 1e-6, 3, "");
        pdnn_sheet_cell(&table, "%s", sorted[i]->worst_op);
        pdnn_sheet_cell(&table, "%s", sorted[i]->id);
    }
    pdnn_sheet_format(&table, 0, out);
    pdnn_sheet_finish(&table);
    free(sorted);
}

struct summary {
    double *error, *absolute, *repeat; /* room for all models */
    size_t count, n_repeats, within_10_pct, n_intervals, covered;
};

static void add_up(const struct pdnn_validation *validation, const char *stratum, struct summary *summary) {
    char text[STRATUM_TEXT];
    summary->count = summary->n_repeats = summary->within_10_pct = 0;
    summary->n_intervals = summary->covered = 0;
    for (size_t i = 0; i < validation->count; i++) {
        const struct pdnn_validated *model = &validation->model[i];
        name_stratum(model->id, text, sizeof text);
        if (stratum && strcmp(text, stratum) != 0)
            continue;
        summary->error[summary->count] = model->error;
        summary->absolute[summary->count++] = fabs(model->error);
        summary->within_10_pct += fabs(model->error) <= 0.1;
        summary->n_intervals += model->low_ns < model->high_ns;
        summary->covered += model->low_ns <= model->direct_ns && model->direct_ns <= model->high_ns;
        if (!isnan(model->repeat))
            summary->repeat[summary->n_repeats++] = fabs(model->repeat);
    }
}

static void add_stratum(struct pdnn_sheet *table, const char *name, struct summary *summary) {
    double repeat = summary->n_repeats ? pdnn_median(summary->repeat, summary->n_repeats) : NAN;
    double bias = pdnn_median(summary->error, summary->count);
    double median = pdnn_median(summary->absolute, summary->count); /* sorts */
    pdnn_sheet_cell(table, "%s", name);
    pdnn_sheet_cell(table, "%zu", summary->count);
    pdnn_sheet_number(table, bias * 100, 1, " %");
    pdnn_sheet_number(table, median * 100, 1, " %");
    pdnn_sheet_number(table, pdnn_quantile_sorted(summary->absolute, summary->count, 0.95) * 100, 1, " %");
    pdnn_sheet_number(table, 100 * (double)summary->within_10_pct / (double)summary->count, 0, " %");
    double covered =
        summary->n_intervals ? 100 * (double)summary->covered / (double)summary->n_intervals : NAN;
    pdnn_sheet_number(table, covered, 0, " %");
    pdnn_sheet_number(table, repeat * 100, 1, " %");
}

static void add_summary(const struct pdnn_validation *validation, struct pdnn_str *out) {
    static const struct pdnn_sheet_column columns[] = {
        {"models", PDNN_ALIGN_LEFT},        {"number", PDNN_ALIGN_RIGHT},
        {"median error", PDNN_ALIGN_RIGHT}, {"median |error|", PDNN_ALIGN_RIGHT},
        {"95 % |error|", PDNN_ALIGN_RIGHT}, {"within 10 %", PDNN_ALIGN_RIGHT},
        {"in interval", PDNN_ALIGN_RIGHT},  {"median |repeat|", PDNN_ALIGN_RIGHT}};
    struct summary summary = {.error = pdnn_alloc(validation->count + 1, sizeof(double)),
                              .absolute = pdnn_alloc(validation->count + 1, sizeof(double)),
                              .repeat = pdnn_alloc(validation->count + 1, sizeof(double))};
    struct pdnn_texts strata = {0};
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < validation->count; i++) {
        char text[STRATUM_TEXT];
        name_stratum(validation->model[i].id, text, sizeof text);
        size_t before = strata.count;
        pdnn_texts_add(&strata, text);
        if (strata.count == before)
            continue;
        add_up(validation, text, &summary);
        add_stratum(&table, text, &summary);
    }
    if (strata.count > 1) {
        add_up(validation, NULL, &summary);
        add_stratum(&table, "all", &summary);
    }
    pdnn_sheet_format(&table, 0, out);
    pdnn_sheet_finish(&table);
    pdnn_texts_finish(&strata);
    free(summary.error);
    free(summary.absolute);
    free(summary.repeat);
}

/* What of the models' own steps is in none of their ops, and so in no sum. */
static void add_outside(const struct pdnn_validation *validation, struct pdnn_str *out) {
    double *outside = pdnn_alloc(validation->count + 1, sizeof *outside);
    size_t count = 0;
    for (size_t i = 0; i < validation->count; i++)
        if (!isnan(validation->model[i].outside))
            outside[count++] = validation->model[i].outside;
    if (count)
        pdnn_str_printf(out, "\noutside of their operators: %.2f %% of the models' steps (median of %zu)\n",
                        100 * pdnn_median(outside, count), count);
    free(outside);
}

void pdnn_validation_format(const struct pdnn_validation *validation, bool csv, struct pdnn_str *out) {
    if (csv)
        format_csv(validation, out);
    else {
        if (!validation->count)
            pdnn_str_printf(out, "no model has been both composed and run\n");
        else {
            add_models(validation, out);
            pdnn_str_printf(out, "\n");
            add_summary(validation, out);
            add_outside(validation, out);
        }
    }
}
