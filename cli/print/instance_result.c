#include "cli/print/instance_result.h"

#include "base/units.h"
#include "base/memory.h"
#include "cli/print/output.h"
#include "models/varying.h"
#include "results/table/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASS_TEXT = 32 };

/* "bwd-data" for "backward-data". */
static const char *format_pass(char text[PASS_TEXT], const struct pdnn_op_record *op) {
    bool is_backward = strncmp(op->pass, "backward", 8) == 0;
    snprintf(text, PASS_TEXT, "%s%s", is_backward ? "bwd" : op->pass, is_backward ? op->pass + 8 : "");
    return text;
}

/* A line of the head, filled to the terminal; may hold text from outside. Frees the text. */
static void append_fact(struct pdnn_str *out, const char *name, struct pdnn_str *text) {
    enum { FACTS_COLUMN = 11 };
    pdnn_str_printf(out, "  %-*s", FACTS_COLUMN - 2, name);
    pdnn_line_append(out, text, FACTS_COLUMN, SIZE_MAX);
}

static void append_time(struct pdnn_str *out, const struct pdnn_result *row) {
    char time[PDNN_UNIT_TEXT], low[PDNN_UNIT_TEXT], high[PDNN_UNIT_TEXT];
    struct pdnn_str text = {0};
    const double low_ns = pdnn_result_number(row, PDNN_RESULT_CI_LOW_NS),
                 high_ns = pdnn_result_number(row, PDNN_RESULT_CI_HIGH_NS);
    const uint64_t rounds = pdnn_result_count(row, PDNN_RESULT_ROUNDS);
    const unsigned flags = pdnn_result_flags(row);
    pdnn_str_printf(&text, "%s%s%s per step", flags & PDNN_FLAG_UNUSABLE ? "unusable" : "",
                    !(flags & PDNN_FLAG_UNUSABLE) ? ""
                    : flags & PDNN_FLAG_PREEMPTED ? ", the machine is busy: "
                                                  : ": ",
                    pdnn_format_ns(time, pdnn_result_number(row, PDNN_RESULT_TIME_NS_MEDIAN)));
    if (!isnan(low_ns) && !isnan(high_ns))
        pdnn_str_printf(&text, ", 95 %% interval %s to %s", pdnn_format_ns(low, low_ns),
                        pdnn_format_ns(high, high_ns));
    pdnn_str_printf(&text, " (%" PRIu64 " visit%s, %" PRIu64 " samples)", rounds, rounds == 1 ? "" : "s",
                    pdnn_result_count(row, PDNN_RESULT_SAMPLES));
    append_fact(out, "time", &text);
    pdnn_str_printf(&text, "%s", pdnn_format_ns(time, pdnn_result_number(row, PDNN_RESULT_PREPARE_NS)));
    append_fact(out, "prepare", &text);
}

/* What differed between the visits, where that is known to matter. */
static void append_states(struct pdnn_str *out, const struct pdnn_result *row) {
    const double far_pct = pdnn_result_number(row, PDNN_RESULT_FAR_PCT);
    const char *varied = pdnn_result_text(row, PDNN_RESULT_VARIED);
    struct pdnn_str text = {0};
    if (!isnan(far_pct))
        pdnn_str_printf(&text, "the threads were near in %.0f %% of the visits and far apart in %.0f %%",
                        100 - far_pct, far_pct);
    if (strcmp(varied, "none") == 0)
        pdnn_str_printf(&text,
                        "noisy, though distance, clock and share of the cores were alike in all visits");
    else if (*varied)
        pdnn_str_printf(&text, "%snoisy, with differing %s", text.length ? "; " : "", varied);
    if (text.length)
        append_fact(out, "state", &text);
    pdnn_str_finish(&text);
}

/* The row's place against its roof and, if it is below that, against the peak. */
static void append_roof(struct pdnn_str *out, const struct pdnn_placement *place) {
    const bool is_above = place->pct_of_roof > PDNN_ABOVE_ROOF_PCT;
    struct pdnn_str text = {0};
    if (is_above)
        pdnn_str_printf(&text, "above its roof, at %.3g times", place->pct_of_roof / 100);
    else
        pdnn_str_printf(&text, "%.0f %% of", place->pct_of_roof);
    pdnn_str_printf(&text, " the %.1f GFLOP/s attainable there, bound by %s", place->attainable_gflops,
                    pdnn_bound_name(place->bound));
    if (place->bound & PDNN_BOUND_MEMORY)
        pdnn_str_printf(&text, " (%s)", place->roof_level);
    if (!isnan(place->roof_low))
        pdnn_str_printf(&text, "; that roof is known from %.1f to %.1f", place->roof_low, place->roof_high);
    if (is_above)
        pdnn_str_printf(&text, ": a count or a roof is wrong");
    else if (!isnan(place->pct_of_peak))
        pdnn_str_printf(&text, "; %.0f %% of the peak", place->pct_of_peak);
    append_fact(out, "roof", &text);
}

static void append_rates(struct pdnn_str *out, const struct pdnn_result *row) {
    const struct pdnn_placement place = pdnn_result_placement(row);
    const double examples_per_s = pdnn_result_number(row, PDNN_RESULT_EXAMPLES_PER_S);
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "%.1f GFLOP/s, %.1f GB/s, %.4g FLOP/byte", place.gflops, place.bw_gbs,
                    place.intensity_flop_per_byte);
    pdnn_str_printf(&text, isnan(examples_per_s) ? "" : ", ");
    pdnn_number_format(&text, examples_per_s, 4);
    pdnn_str_printf(&text, isnan(examples_per_s) ? "" : " examples/s");
    append_fact(out, "rate", &text);
    if (!isnan(place.pct_of_roof))
        append_roof(out, &place);
}

static void append_model(struct pdnn_str *out, const struct pdnn_result *row) {
    char number[PDNN_UNIT_TEXT];
    struct pdnn_str text = {0};
    const uint64_t flop = pdnn_result_count(row, PDNN_RESULT_FLOP_COUNT),
                   in_bounds_flop = pdnn_result_count(row, PDNN_RESULT_IN_BOUNDS_FLOP_COUNT);
    const double state_bytes = pdnn_result_number(row, PDNN_RESULT_STATE_BYTES),
                 memory_bytes = pdnn_result_number(row, PDNN_RESULT_MEMORY_BYTES);
    pdnn_str_printf(&text, "%" PRIu64 " params, %s", pdnn_result_count(row, PDNN_RESULT_PARAMS),
                    pdnn_format_si(number, (double)flop, "FLOP"));
    if (in_bounds_flop != flop)
        pdnn_str_printf(&text, " (%s in bounds)", pdnn_format_si(number, (double)in_bounds_flop, "FLOP"));
    pdnn_str_printf(&text, " and %s",
                    pdnn_format_si(number, pdnn_result_number(row, PDNN_RESULT_BYTE_COUNT), "B"));
    if (state_bytes > 0)
        pdnn_str_printf(&text, " (%s of state)", pdnn_format_si(number, state_bytes, "B"));
    pdnn_str_printf(&text, " per step");
    if (memory_bytes > 0)
        pdnn_str_printf(&text, ", %s of memory", pdnn_format_bytes(number, memory_bytes));
    append_fact(out, "model", &text);
}

void pdnn_report_op(struct pdnn_str *out, const struct pdnn_op_record *op) {
    char pass[PASS_TEXT];
    pdnn_str_printf(out, "%s%s%s", op->op, *op->pass ? " " : "", format_pass(pass, op));
    if (*op->layer)
        pdnn_str_printf(out, " of %s", op->layer);
}

void pdnn_report_most(struct pdnn_str *out, const struct pdnn_share *share) {
    const struct pdnn_op_record *op = &share->most;
    const bool by_memory = op->place.bound & PDNN_BOUND_MEMORY;
    const char *bound = pdnn_bound_name(op->place.bound);
    const uint64_t extra = op->extra.read_bytes + op->extra.written_bytes;
    char moved[PDNN_UNIT_TEXT], compulsory[PDNN_UNIT_TEXT];
    pdnn_report_op(out, op);
    pdnn_str_printf(out, " would save %.1f %% of the step at its roof; it runs at %.0f %% of it",
                    share->most_lost_pct, op->place.pct_of_roof);
    if (*bound)
        pdnn_str_printf(out, " (%s%s%s)", bound, by_memory ? " " : "", by_memory ? op->place.roof_level : "");
    if (extra && op->byte_count != PDNN_ABSENT)
        pdnn_str_printf(out, ", moving %s of which %s are compulsory",
                        pdnn_format_si(moved, (double)(op->byte_count + extra), "B"),
                        pdnn_format_si(compulsory, (double)op->byte_count, "B"));
    if (*op->implementation)
        pdnn_str_printf(out, ": %s", op->implementation);
}

/* The ops above their roofs lose no time that is known. */
static void append_above(struct pdnn_str *out, const struct pdnn_op_record *ops, size_t n_ops,
                         double step_ns) {
    const struct pdnn_op_record *longest = NULL;
    size_t count = 0;
    double sum_ns = 0;
    for (size_t i = 0; i < n_ops; i++) {
        if (!(ops[i].place.pct_of_roof > PDNN_ABOVE_ROOF_PCT))
            continue;
        if (!longest || ops[i].time_ns_median > longest->time_ns_median)
            longest = &ops[i];
        sum_ns += ops[i].time_ns_median;
        count++;
    }
    if (!count)
        return;
    struct pdnn_str text = {0};
    pdnn_report_op(&text, longest);
    if (count > 1)
        pdnn_str_printf(&text, " and %zu more", count - 1);
    pdnn_str_printf(&text, ": %.1f %% of the step in ops above their roofs; what they lose is unknown",
                    sum_ns / step_ns * 100);
    append_fact(out, "above", &text);
}

/* Parts of the step, the time in no op included. */
static void append_where(struct pdnn_str *out, const struct pdnn_share *shares, size_t n_shares) {
    struct pdnn_str text = {0};
    for (size_t i = 0; i < n_shares; i++) {
        const struct pdnn_share *share = &shares[i];
        if (share->is_residual && share->work.share_pct < 0)
            pdnn_str_printf(&text, "; run one by one, the ops take %.1f %% more than the step",
                            -share->work.share_pct);
        else
            pdnn_str_printf(&text, "%s%s %.1f %%", i ? ", " : "of the step: ",
                            share->is_residual ? "in no op" : share->key[PDNN_BY_CATEGORY],
                            share->work.share_pct);
    }
    if (n_shares)
        append_fact(out, "where", &text);
}

void pdnn_report_id(struct pdnn_str *out, const char *id) {
    struct pdnn_str line = {0};
    struct pdnn_instance instance;
    char name[PDNN_ID_TEXT];
    const bool is_known = pdnn_instance_parse(id, &instance, NULL) == PDNN_OK;
    pdnn_str_printf(&line, "%s", is_known ? pdnn_instance_name(&instance, name) : id);
    pdnn_line_append(out, &line, 2, SIZE_MAX);
}

/* Where the time goes, and the table of the ops as people see it: shares are those of the step, as everywhere
 * above the table; ops.csv has those of the ops' sum. */
static void append_ops(struct pdnn_str *out, const struct pdnn_op_rows *rows, struct pdnn_table *ops,
                       size_t first_op) {
    static const size_t shown[] = {
        PDNN_OPS_LAYER,          PDNN_OPS_OP,        PDNN_OPS_OP_PASS,        PDNN_OPS_EXECUTIONS,
        PDNN_OPS_TIME_NS_MEDIAN, PDNN_OPS_SHARE_PCT, PDNN_OPS_GFLOPS,         PDNN_OPS_BW_GBS,
        PDNN_OPS_PCT_OF_ROOF,    PDNN_OPS_BOUND,     PDNN_OPS_IMPLEMENTATION, PDNN_OPS_OP_SHAPE};
    struct pdnn_row_list list = {0};
    struct pdnn_arena arena = {0};
    struct pdnn_share *shares;
    struct pdnn_str text = {0};
    size_t n_shares = pdnn_shares(rows, NULL, &arena, &shares);
    const struct pdnn_share *most = pdnn_shares_most(shares, n_shares);
    append_where(out, shares, n_shares);
    if (most) {
        pdnn_report_most(&text, most);
        append_fact(out, "saving", &text);
    }
    append_above(out, rows->op, rows->count, rows->step_ns);
    pdnn_str_append(out, "\n", 1);
    for (size_t i = 0; i < rows->count; i++) {
        const struct pdnn_op_record *op = &rows->op[i];
        char pass[PASS_TEXT];
        pdnn_table_set_text(ops, first_op + i, PDNN_OPS_OP_PASS, format_pass(pass, op));
        pdnn_table_set_number(ops, first_op + i, PDNN_OPS_SHARE_PCT,
                              op->time_ns_median / rows->step_ns * 100);
        if (op->place.bound == PDNN_BOUND_MEMORY)
            pdnn_table_set_text(ops, first_op + i, PDNN_OPS_BOUND, op->place.roof_level);
        pdnn_rows_add(&list, first_op + i);
    }
    ops->column[PDNN_OPS_SHARE_PCT].def.title = "% of step";
    pdnn_table_show(out, ops, &list, shown, sizeof shown / sizeof *shown);
    pdnn_rows_finish(&list);
    pdnn_arena_finish(&arena);
    pdnn_str_append(out, "\n", 1);
}

void pdnn_report_instance(struct pdnn_str *out, const struct pdnn_result *row, struct pdnn_table *ops) {
    const char *id = pdnn_result_text(row, PDNN_RESULT_ID);
    size_t first_op = 0, count = 0;
    struct pdnn_str text = {0};
    pdnn_report_id(out, id);
    if (pdnn_result_count(row, PDNN_RESULT_PARAMS) != PDNN_ABSENT)
        append_model(out, row);
    if (pdnn_result_outcome(row) != PDNN_OUTCOME_OK) {
        pdnn_str_printf(&text, "%s: %s", pdnn_result_text(row, PDNN_RESULT_STATUS),
                        pdnn_result_text(row, PDNN_RESULT_REASON));
        append_fact(out, "status", &text);
        pdnn_str_append(out, "\n", 1);
        return;
    }
    append_time(out, row);
    append_rates(out, row);
    append_states(out, row);
    if (pdnn_result_flags(row)) {
        pdnn_str_printf(&text, "%s", pdnn_result_text(row, PDNN_RESULT_ROW_FLAGS));
        append_fact(out, "flags", &text);
    }
    if (pdnn_result_count(row, PDNN_RESULT_EXTRAPOLATED)) {
        pdnn_str_printf(
            &text, "%s of the layers ran; the times of the others are extrapolated",
            pdnn_table_text(row->table, row->row, pdnn_result_setting_at(row, PDNN_SETTING_LAYERS_RUN)));
        append_fact(out, "scaled", &text);
    }
    struct pdnn_op_record *op = pdnn_alloc(ops->n_rows + 1, sizeof *op);
    while (first_op < ops->n_rows && strcmp(pdnn_table_text(ops, first_op, PDNN_OPS_ID), id) != 0)
        first_op++;
    for (size_t at = first_op; at < ops->n_rows && strcmp(pdnn_table_text(ops, at, PDNN_OPS_ID), id) == 0;
         at++)
        op[count++] = pdnn_ops_row(ops, at);
    append_ops(out,
               &(struct pdnn_op_rows){op, count, pdnn_result_number(row, PDNN_RESULT_TIME_NS_MEDIAN), ""},
               ops, first_op);
    free(op);
}
