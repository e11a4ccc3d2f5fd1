#include "cli/report.h"

#include "base/units.h"
#include "base/visible.h"
#include "results/analysis/roofline.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct pdnn_table_column columns[] = {
    {"layer", PDNN_ALIGN_CUT},          {"op", PDNN_ALIGN_CUT},
    {"pass", PDNN_ALIGN_LEFT},          {"count", PDNN_ALIGN_RIGHT},
    {"time", PDNN_ALIGN_RIGHT},         {"share", PDNN_ALIGN_RIGHT},
    {"GFLOP/s", PDNN_ALIGN_RIGHT},      {"GB/s", PDNN_ALIGN_RIGHT},
    {"% roof", PDNN_ALIGN_RIGHT},       {"bound", PDNN_ALIGN_LEFT},
    {"implementation", PDNN_ALIGN_CUT}, {"shape", PDNN_ALIGN_LEFT},
};

enum { PASS_TEXT = 32, BOUND_TEXT = PDNN_LEVEL_TEXT + 16 };

/* "bwd-data" for "backward-data". */
static const char *format_pass(char text[PASS_TEXT], const struct pdnn_op_record *op) {
    bool is_backward = strncmp(op->pass, "backward", 8) == 0;
    snprintf(text, PASS_TEXT, "%s%s", is_backward ? "bwd" : op->pass, is_backward ? op->pass + 8 : "");
    return text;
}

/* "memory L2". */
static const char *format_bound(char text[BOUND_TEXT], const struct pdnn_placement *place) {
    bool by_memory = place->bound == PDNN_BOUND_MEMORY;
    snprintf(text, BOUND_TEXT, "%s%s%s", pdnn_bound_name(place->bound), by_memory ? " " : "",
             by_memory ? place->roof_level : "");
    return text;
}

static bool is_above_roof(double pct_of_roof) {
    return pct_of_roof > PDNN_ABOVE_ROOF_PCT;
}

void pdnn_report_pct_of_roof(struct pdnn_table *table, double pct_of_roof) {
    if (is_above_roof(pct_of_roof))
        pdnn_table_cell(table, "above");
    else
        pdnn_table_number(table, pct_of_roof, 0, "");
}

static void add_op(struct pdnn_table *table, const struct pdnn_op_record *op) {
    char time[PDNN_UNIT_TEXT], pass[PASS_TEXT], bound[BOUND_TEXT];
    pdnn_table_cell(table, "%s", op->layer);
    pdnn_table_cell(table, "%s", op->op);
    pdnn_table_cell(table, "%s", format_pass(pass, op));
    pdnn_table_cell(table, "%" PRIu64, op->count);
    pdnn_table_cell(table, "%s", isnan(op->time_ns_median) ? "" : pdnn_format_ns(time, op->time_ns_median));
    pdnn_table_number(table, op->share_pct, 1, " %");
    pdnn_table_number(table, op->place.gflops, 1, "");
    pdnn_table_number(table, op->place.bw_gbs, 1, "");
    pdnn_report_pct_of_roof(table, op->place.pct_of_roof);
    pdnn_table_cell(table, "%s", format_bound(bound, &op->place));
    pdnn_table_cell(table, "%s", op->implementation);
    pdnn_table_cell(table, "%s", op->shape);
}

static void append_time(struct pdnn_str *out, const struct pdnn_record *record) {
    char time[PDNN_UNIT_TEXT], low[PDNN_UNIT_TEXT], high[PDNN_UNIT_TEXT];
    pdnn_str_printf(out, "  time     %s per step", pdnn_format_ns(time, record->time_ns_median));
    if (!isnan(record->ci_low_ns) && !isnan(record->ci_high_ns))
        pdnn_str_printf(out, ", 95 %% interval %s to %s", pdnn_format_ns(low, record->ci_low_ns),
                        pdnn_format_ns(high, record->ci_high_ns));
    pdnn_str_printf(out, " (%" PRIu64 " visit%s, %" PRIu64 " samples)\n", record->rounds,
                    record->rounds == 1 ? "" : "s", record->samples);
    pdnn_str_printf(out, "  prepare  %s\n", pdnn_format_ns(time, (double)record->prepare_ns));
}

/* The row's place against its roof and, if it is below that, against the peak. */
static void append_roof(struct pdnn_str *out, const struct pdnn_placement *place) {
    if (is_above_roof(place->pct_of_roof))
        pdnn_str_printf(out, "  roof     above its roof, at %.3g times", place->pct_of_roof / 100);
    else
        pdnn_str_printf(out, "  roof     %.0f %% of", place->pct_of_roof);
    pdnn_str_printf(out, " the %.1f GFLOP/s attainable there, bound by %s", place->attainable_gflops,
                    pdnn_bound_name(place->bound));
    if (place->bound == PDNN_BOUND_MEMORY)
        pdnn_str_printf(out, " (%s)", place->roof_level);
    if (is_above_roof(place->pct_of_roof))
        pdnn_str_printf(out, ": a count or a roof is wrong");
    else if (!isnan(place->pct_of_peak))
        pdnn_str_printf(out, "; %.0f %% of the peak", place->pct_of_peak);
    pdnn_str_append(out, "\n", 1);
}

static void append_rates(struct pdnn_str *out, const struct pdnn_record *record) {
    const struct pdnn_placement *place = &record->place;
    pdnn_str_printf(out, "  rate     %.1f GFLOP/s, %.1f GB/s, %.4g FLOP/byte", place->gflops, place->bw_gbs,
                    place->intensity_flop_per_byte);
    if (!isnan(record->examples_per_s))
        pdnn_str_printf(out, ", %.4g examples/s", record->examples_per_s);
    pdnn_str_append(out, "\n", 1);
    if (!isnan(place->pct_of_roof))
        append_roof(out, place);
}

static void append_model(struct pdnn_str *out, const struct pdnn_record *record) {
    char text[PDNN_UNIT_TEXT];
    const struct pdnn_totals *totals = &record->totals;
    const struct pdnn_cost *cost = &totals->cost;
    pdnn_str_printf(out, "  model    %" PRIu64 " params, %s", totals->params,
                    pdnn_format_si(text, (double)cost->flop_count, "FLOP"));
    if (cost->in_bounds_flop_count != cost->flop_count)
        pdnn_str_printf(out, " (%s in bounds)",
                        pdnn_format_si(text, (double)cost->in_bounds_flop_count, "FLOP"));
    pdnn_str_printf(out, " and %s", pdnn_format_si(text, (double)cost->byte_count, "B"));
    if (cost->state_bytes)
        pdnn_str_printf(out, " (%s of state)", pdnn_format_si(text, (double)cost->state_bytes, "B"));
    pdnn_str_append(out, " per step, ", 11);
    pdnn_str_printf(out, "%s of memory\n", pdnn_format_bytes(text, (double)totals->memory_bytes));
}

/* "conv2d forward of block1..block3". */
static void append_name(struct pdnn_str *out, const struct pdnn_op_record *op) {
    char pass[PASS_TEXT];
    format_pass(pass, op);
    pdnn_str_printf(out, "%s%s%s", op->op, *pass ? " " : "", pass);
    if (*op->layer)
        pdnn_str_printf(out, " of %s", op->layer);
}

/* Appends text that comes from a table, and frees it. */
static void append_visible(struct pdnn_str *out, struct pdnn_str *text) {
    pdnn_visible_append(out, pdnn_str_text(text), text->length, "");
    out->failed = out->failed || text->failed;
    pdnn_str_finish(text);
}

void pdnn_report_most(struct pdnn_str *out, const struct pdnn_share *share) {
    const struct pdnn_op_record *op = share->most;
    char bound[BOUND_TEXT];
    struct pdnn_str text = {0};
    append_name(&text, op);
    pdnn_str_printf(&text, ": %.1f %% of the step, at %.0f %% of its roof (%s), %s", share->most_lost_pct,
                    op->place.pct_of_roof, format_bound(bound, &op->place), op->implementation);
    append_visible(out, &text);
}

/* The ops above their roofs lose no time that is known. */
static void append_above(struct pdnn_str *out, const struct pdnn_op_record *ops, size_t n_ops,
                         double step_ns) {
    const struct pdnn_op_record *longest = NULL;
    size_t count = 0;
    double sum_ns = 0;
    for (size_t i = 0; i < n_ops; i++) {
        if (!is_above_roof(ops[i].place.pct_of_roof))
            continue;
        if (!longest || ops[i].time_ns_median > longest->time_ns_median)
            longest = &ops[i];
        sum_ns += ops[i].time_ns_median;
        count++;
    }
    if (!count)
        return;
    struct pdnn_str text = {0};
    append_name(&text, longest);
    if (count > 1)
        pdnn_str_printf(&text, " and %zu more", count - 1);
    pdnn_str_printf(out, "  above    ");
    append_visible(out, &text);
    pdnn_str_printf(out, ": %.1f %% of the step in ops above their roofs; what they lose is unknown\n",
                    sum_ns / step_ns * 100);
}

/* The residual gets a line of its own. */
static void append_shares(struct pdnn_str *out, const struct pdnn_record *record,
                          const struct pdnn_op_record *ops, size_t n_ops) {
    struct pdnn_arena arena = {0};
    struct pdnn_share *shares;
    size_t n_shares;
    const struct pdnn_op_rows rows = {ops, n_ops, record->time_ns_median, ""};
    if (pdnn_shares(&rows, NULL, &arena, &shares, &n_shares, NULL) != PDNN_OK) {
        out->failed = true;
        return;
    }
    const struct pdnn_share *most = pdnn_shares_most(shares, n_shares);
    for (size_t i = 0; i + 1 < n_shares; i++)
        pdnn_str_printf(out, "%s%s %.1f %%", i ? ", " : "  where    ", shares[i].key[PDNN_BY_CATEGORY],
                        shares[i].work.share_pct);
    pdnn_str_printf(out, "%s", n_shares ? "\n" : "");
    if (most) {
        pdnn_str_printf(out, "  loses    ");
        pdnn_report_most(out, most);
        pdnn_str_append(out, "\n", 1);
    }
    pdnn_arena_finish(&arena);
}

void pdnn_report_instance(struct pdnn_str *out, const struct pdnn_record *record,
                          const struct pdnn_op_record *ops, size_t n_ops) {
    char reason[PDNN_VISIBLE_TEXT];
    pdnn_str_printf(out, "%s\n", record->id);
    if (record->has_totals)
        append_model(out, record);
    if (record->outcome != PDNN_OUTCOME_OK) {
        pdnn_str_printf(out, "  status   %s: %s\n\n", pdnn_outcome_name(record->outcome),
                        pdnn_visible(reason, record->reason));
        return;
    }
    append_time(out, record);
    append_rates(out, record);
    char flags[PDNN_FLAGS_TEXT];
    if (record->flags)
        pdnn_str_printf(out, "  flags    %s\n", pdnn_flags_format(record->flags, flags));
    if (!isnan(record->residual_pct))
        pdnn_str_printf(out, "  residual %.1f %% of the step is in no op's time\n", record->residual_pct);
    if (record->extrapolated)
        pdnn_str_printf(
            out, "  scaled   %" PRId64 " of the layers ran; the times of the others are extrapolated\n",
            record->instance.setting[PDNN_SETTING_LAYERS_RUN]);
    append_shares(out, record, ops, n_ops);
    append_above(out, ops, n_ops, record->time_ns_median);
    pdnn_str_append(out, "\n", 1);
    struct pdnn_table table;
    pdnn_table_init(&table, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < n_ops; i++)
        add_op(&table, &ops[i]);
    if (!pdnn_table_format(&table, pdnn_terminal_width(STDOUT_FILENO), out))
        out->failed = true;
    pdnn_table_finish(&table);
    pdnn_str_append(out, "\n", 1);
}
