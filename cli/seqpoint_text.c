#include "cli/seqpoint_text.h"

#include "base/units.h"
#include "base/fill.h"
#include "cli/terminal.h"
#include "results/table/sheet.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* SeqPoints that are listed; more only say how many. */
enum { LISTED = 24, PATH_TEXT = 4096 };

static void append_epoch(struct pdnn_str *out, const struct pdnn_seqpoint_result *result) {
    const struct pdnn_seqpoint_epoch *made = result->made;
    const struct pdnn_epoch *epoch = &made->epoch;
    bool is_stream = epoch->sampler == PDNN_SAMPLER_STREAM;
    pdnn_str_printf(out, "lengths  %s: %zu %s", made->rules.lengths,
                    is_stream ? made->lengths.count : epoch->n_iterations * (size_t)epoch->batch,
                    epoch->columns > 1 ? "pairs" : "examples");
    if (epoch->left_over)
        pdnn_str_printf(out, ", %zu more %s", epoch->left_over,
                        is_stream ? "steps than fill iterations" : "in no full minibatch");
    if (made->lengths.left_out)
        pdnn_str_printf(out, ", %zu too long", made->lengths.left_out);
    pdnn_str_printf(out, "\nepoch    %zu iterations of %" PRIu64 ", %s; %zu distinct %s, padding %.1f %%\n",
                    epoch->n_iterations, epoch->batch, pdnn_samplers[epoch->sampler], epoch->n_kinds,
                    epoch->columns > 1 ? "pairs of lengths" : "lengths", 100 * epoch->all_waste);
    if (epoch->n_kinds == 1)
        pdnn_str_printf(out,
                        "         one distinct length: a single iteration stands for the epoch exactly\n");
}

static void append_choice(struct pdnn_str *out, const struct pdnn_seqpoint_result *result) {
    const struct pdnn_seqpoints *seqpoints = &result->seqpoints;
    const struct pdnn_seqpoint_epoch *made = result->made;
    static const char *const statistics[] = {"length", "FLOP", "time"};
    if (!seqpoints->points.count) {
        pdnn_str_printf(out, "chosen   no SeqPoints yet: not every length is measured\n");
        return;
    }
    pdnn_str_printf(out, "chosen   %zu SeqPoints", seqpoints->points.count);
    if (result->points_from)
        pdnn_str_printf(out, " in %s\n", result->points_from);
    else if (!seqpoints->bins)
        pdnn_str_printf(out, ": every distinct length\n");
    else
        pdnn_str_printf(out, " of %zu lengths (%s), %zu bins; %s to %+.2f %%\n", seqpoints->distinct,
                        pdnn_seqpoint_keys[made->rules.key], seqpoints->bins,
                        statistics[made->rules.statistic], 100 * seqpoints->error);
}

static void add_time(struct pdnn_sheet *table, double ns) {
    char text[PDNN_UNIT_TEXT];
    pdnn_sheet_cell(table, "%s", isnan(ns) ? "" : pdnn_format_ns(text, ns));
}

static void append_points(struct pdnn_str *out, const struct pdnn_seqpoint_result *result, size_t width) {
    static const struct pdnn_sheet_column columns[] = {
        {"source", PDNN_ALIGN_RIGHT},     {"target", PDNN_ALIGN_RIGHT | PDNN_SPARE(1)},
        {"iterations", PDNN_ALIGN_RIGHT}, {"weight", PDNN_ALIGN_RIGHT},
        {"FLOP", PDNN_ALIGN_RIGHT},       {"time", PDNN_ALIGN_RIGHT},
        {"% of epoch", PDNN_ALIGN_RIGHT},
    };
    const struct pdnn_epoch *epoch = &result->made->epoch;
    const struct pdnn_points *points = &result->seqpoints.points;
    struct pdnn_sheet table;
    char text[PDNN_UNIT_TEXT];
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < points->count && i < LISTED; i++) {
        const struct pdnn_point *point = &points->point[i];
        const struct pdnn_epoch_kind *kind = &epoch->kind[point->kind];
        double time_ns = result->time_ns ? result->time_ns[point->kind] : NAN;
        pdnn_sheet_cell(&table, "%" PRId64, kind->length[0]);
        if (epoch->columns > 1)
            pdnn_sheet_cell(&table, "%" PRId64, kind->length[1]);
        else
            pdnn_sheet_cell(&table, "%s", "");
        pdnn_sheet_cell(&table, "%" PRIu64, kind->count);
        pdnn_sheet_number(&table, point->weight, 0, "");
        pdnn_sheet_cell(&table, "%s", pdnn_format_si(text, result->made->flop_count[point->kind], "FLOP"));
        add_time(&table, time_ns);
        pdnn_sheet_number(&table, 100 * point->weight * time_ns / result->projections.of[0].total_ns, 1, "");
    }
    pdnn_str_printf(out, "\n");
    pdnn_sheet_format(&table, width, out);
    if (points->count > LISTED)
        pdnn_str_printf(out, "... and %zu more, in seqpoint.csv\n", points->count - LISTED);
    pdnn_sheet_finish(&table);
}

static void append_methods(struct pdnn_str *out, const struct pdnn_seqpoint_result *result, size_t width) {
    static const struct pdnn_sheet_column columns[] = {
        {"method", PDNN_ALIGN_LEFT},  {"iterations", PDNN_ALIGN_RIGHT}, {"lengths", PDNN_ALIGN_RIGHT},
        {"epoch", PDNN_ALIGN_RIGHT},  {"error", PDNN_ALIGN_RIGHT},      {"fewer", PDNN_ALIGN_RIGHT},
        {"serial", PDNN_ALIGN_RIGHT}, {"parallel", PDNN_ALIGN_RIGHT},
    };
    const struct pdnn_projections *projections = &result->projections;
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < PDNN_PROJECTIONS; i++) {
        const struct pdnn_projection *of = &projections->of[i];
        bool is_range = strcmp(of->method, "random") == 0;
        pdnn_sheet_cell(&table, "%s", of->method);
        pdnn_sheet_cell(&table, "%" PRIu64, of->runs);
        pdnn_sheet_cell(&table, "%zu", of->points.count);
        add_time(&table, of->total_ns);
        if (isnan(of->error))
            pdnn_sheet_cell(&table, "%s", "");
        else if (is_range)
            pdnn_sheet_cell(&table, "95%%: %.2f %%", 100 * of->error);
        else
            pdnn_sheet_cell(&table, "%+.2f %%", 100 * of->error);
        pdnn_sheet_number(&table, of->reduction.count, of->reduction.count < 10 ? 1 : 0, "x");
        pdnn_sheet_number(&table, of->reduction.serial, of->reduction.serial < 10 ? 1 : 0, "x");
        pdnn_sheet_number(&table, of->reduction.parallel, of->reduction.parallel < 10 ? 1 : 0, "x");
    }
    pdnn_sheet_cell(&table, "truth");
    pdnn_sheet_cell(&table, "%zu", result->made->epoch.n_iterations);
    pdnn_sheet_cell(&table, "%zu", result->made->epoch.n_kinds);
    add_time(&table, projections->truth_ns);
    for (int i = 0; i < 4; i++)
        pdnn_sheet_cell(&table, "%s", "");
    pdnn_str_printf(out, "\n");
    pdnn_sheet_format(&table, width, out);
    pdnn_sheet_finish(&table);
}

/* The interval, the order's effect, and what the run took. */
static void append_notes(struct pdnn_str *out, const struct pdnn_seqpoint_result *result) {
    const struct pdnn_projections *projections = &result->projections;
    const struct pdnn_epoch *epoch = &result->made->epoch;
    const struct pdnn_epoch_estimate *estimate = &projections->estimate;
    char low[PDNN_UNIT_TEXT], high[PDNN_UNIT_TEXT], total[PDNN_UNIT_TEXT];
    pdnn_str_printf(out, "\n");
    if (projections->has_estimate)
        pdnn_str_printf(out, "model-assisted: %s, 95 %% %s to %s (+-%.2f %%), from %zu iterations\n",
                        pdnn_format_ns(total, estimate->total), pdnn_format_ns(low, estimate->low),
                        pdnn_format_ns(high, estimate->high), 100 * pdnn_assisted_half_width(estimate),
                        result->draws);
    const double target = result->made->rules.target_error;
    if (projections->has_estimate && target > 0)
        pdnn_str_printf(out, "target +-%.3g %%: %s with %zu iterations\n", 100 * target,
                        pdnn_assisted_half_width(estimate) <= target ? "reached" : "not reached",
                        result->draws);
    if (isnan(projections->truth_ns) && result->time_ns)
        pdnn_str_printf(out, "no errors without the truth: --ground-truth runs every distinct length\n");
    else if (!isnan(projections->truth_ns) && !result->every)
        pdnn_str_printf(out, "truth: each length's median times its iterations; --every runs them all\n");
    pdnn_str_printf(out, "prior: %d consecutive iterations; %s\n", PDNN_PRIOR_ITERATIONS,
                    epoch->sampler == PDNN_SAMPLER_SHUFFLED
                        ? "a shuffled epoch is alike everywhere, so they do well here"
                    : epoch->sampler == PDNN_SAMPLER_STREAM ? "all iterations have one length"
                                                            : "in this order they may be far off");
    if (result->ran_ns) {
        const struct pdnn_visit_spent *spent = &result->spent;
        double epoch_ns = isnan(projections->truth_ns) ? projections->of[0].total_ns : projections->truth_ns;
        char wall[PDNN_UNIT_TEXT], prepare[PDNN_UNIT_TEXT], timed[PDNN_UNIT_TEXT];
        pdnn_str_printf(out, "ran now: %s wall time, %s of it preparing, %s timed",
                        pdnn_format_ns(wall, (double)result->ran_ns),
                        pdnn_format_ns(prepare, (double)spent->prepare_ns),
                        pdnn_format_ns(timed, (double)(spent->samples_ns + spent->stamped_ns)));
        if (!isnan(epoch_ns))
            pdnn_str_printf(out, "; the epoch takes %.3gx", epoch_ns / (double)result->ran_ns);
        pdnn_str_printf(out, "\n");
    }
}

void pdnn_seqpoint_text(struct pdnn_str *out, const struct pdnn_seqpoint_result *result, size_t width) {
    append_epoch(out, result);
    append_choice(out, result);
    append_points(out, result, width);
    append_methods(out, result, width);
    append_notes(out, result);
}

static void append_number(struct pdnn_str *out, double value) {
    if (isnan(value))
        pdnn_str_printf(out, ",");
    else
        pdnn_str_printf(out, ",%.9g", value);
}

void pdnn_seqpoint_csv(struct pdnn_str *out, const struct pdnn_seqpoint_result *result) {
    const struct pdnn_projections *projections = &result->projections;
    pdnn_str_printf(out, "method,iterations,lengths,epoch_ns,low_ns,high_ns,truth_ns,error,fewer_iterations,"
                         "serial_reduction,parallel_reduction\n");
    for (int i = 0; i < PDNN_PROJECTIONS; i++) {
        const struct pdnn_projection *of = &projections->of[i];
        const double values[] = {
            of->total_ns, of->low_ns,          of->high_ns,          projections->truth_ns,
            of->error,    of->reduction.count, of->reduction.serial, of->reduction.parallel};
        pdnn_str_printf(out, "%s,%" PRIu64 ",%zu", of->method, of->runs, of->points.count);
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            append_number(out, values[k]);
        pdnn_str_printf(out, "\n");
    }
}

/* The same kinds in the same order, or PDNN_INVALID. */
static enum pdnn_status check_same(const char *const directory[2], const struct pdnn_seqpoint_table table[2],
                                   struct pdnn_err *err) {
    bool same = table[0].n_rows == table[1].n_rows;
    for (size_t i = 0; same && i < table[0].n_rows; i++) {
        const struct pdnn_seqpoint_row *a = &table[0].row[i], *b = &table[1].row[i];
        same = a->source_length == b->source_length && a->target_length == b->target_length &&
               a->iterations == b->iterations;
    }
    return same ? PDNN_OK
                : pdnn_fail(err, PDNN_INVALID, "%s and %s are of different epochs", directory[0],
                            directory[1]);
}

/* The weight that the method gives to a row of an epoch with so many iterations; 0: it chose none there. */
static double weight_of(const struct pdnn_seqpoint_row *row, int method, double iterations) {
    static const unsigned chosen[] = {0, 0, 0, PDNN_CHOSEN_FREQUENT, PDNN_CHOSEN_MEDIAN, PDNN_CHOSEN_WORST};
    if (method == 0)
        return (double)row->iterations;
    if (method == 1)
        return isnan(row->seqpoint_weight) ? 0 : row->seqpoint_weight;
    if (method == 2)
        return isnan(row->draws_weight) ? 0 : row->draws_weight;
    return row->chosen_by & chosen[method] ? iterations : 0;
}

enum pdnn_status pdnn_seqpoint_pair(const char *const directory[2], bool csv, struct pdnn_str *out,
                                    struct pdnn_err *err) {
    static const struct pdnn_sheet_column columns[] = {
        {"method", PDNN_ALIGN_LEFT},    {"first", PDNN_ALIGN_RIGHT}, {"second", PDNN_ALIGN_RIGHT},
        {"speed-up", PDNN_ALIGN_RIGHT}, {"error", PDNN_ALIGN_RIGHT},
    };
    static const char *const methods[] = {"truth",    "seqpoint", "model-assisted",
                                          "frequent", "median",   "worst"};
    struct pdnn_seqpoint_table table[2] = {0};
    struct pdnn_sheet text;
    double truth = NAN;
    enum pdnn_status status = PDNN_OK;
    for (int i = 0; i < 2 && status == PDNN_OK; i++) {
        char path[PATH_TEXT];
        snprintf(path, sizeof path, "%s/seqpoint.csv", directory[i]);
        status = pdnn_seqpoint_table_read(path, &table[i], err);
    }
    if (status == PDNN_OK)
        status = check_same(directory, table, err);
    double iterations = 0;
    for (size_t i = 0; status == PDNN_OK && i < table[0].n_rows; i++)
        iterations += (double)table[0].row[i].iterations;
    pdnn_sheet_init(&text, columns, sizeof columns / sizeof *columns);
    if (status == PDNN_OK && csv)
        pdnn_str_printf(out, "method,first_ns,second_ns,speedup,error\n");
    for (int method = 0; status == PDNN_OK && method < 6; method++) {
        double total[2] = {0, 0};
        for (size_t i = 0; i < table[0].n_rows; i++) {
            double weight = weight_of(&table[0].row[i], method, iterations);
            for (int k = 0; k < 2 && weight != 0; k++)
                total[k] += weight * table[k].row[i].time_ns;
        }
        double speedup = total[0] > 0 && total[1] > 0 ? total[0] / total[1] : NAN;
        truth = method ? truth : speedup;
        double error = method ? speedup / truth - 1 : NAN;
        if (csv) {
            const double values[] = {total[0], total[1], speedup, error};
            pdnn_str_printf(out, "%s", methods[method]);
            for (size_t k = 0; k < 4; k++)
                append_number(out, values[k]);
            pdnn_str_printf(out, "\n");
            continue;
        }
        pdnn_sheet_cell(&text, "%s", methods[method]);
        for (int k = 0; k < 2; k++)
            add_time(&text, total[k] > 0 ? total[k] : NAN);
        pdnn_sheet_number(&text, speedup, 4, "x");
        if (isnan(error))
            pdnn_sheet_cell(&text, "%s", "");
        else
            pdnn_sheet_cell(&text, "%+.2f %%", 100 * error);
    }
    if (status == PDNN_OK && !csv) {
        pdnn_str_printf(out, "first    %s\nsecond   %s\n\n", directory[0], directory[1]);
        pdnn_sheet_format(&text, pdnn_terminal_width(STDOUT_FILENO), out);
    }
    pdnn_sheet_finish(&text);
    for (int i = 0; i < 2; i++)
        pdnn_seqpoint_table_finish(&table[i]);
    return status;
}
