/* The tables that `paradnn project` prints as CSV. */
#include "results/analysis/projection.h"
#include "results/tables/columns.h"

#include <stddef.h>

#define WORD(field)   PDNN_COLUMN_WORD, AT(field)
#define NUMBER(field) PDNN_COLUMN_NUMBER, AT(field), .digits = PDNN_DIGITS_TABLE
#define COUNT(field)  PDNN_COLUMN_COUNT, AT(field)
#define BEFORE        PDNN_HARDWARE_MEASURED
#define AFTER         PDNN_HARDWARE_PROJECTED
#define METHOD                                                                                               \
    { "method", "", WORD(method), .help = "projected: no row of this table was measured" }

#define AT(field) .offset = offsetof(struct pdnn_projected, field)
static const struct pdnn_column models[] = {
    {"id", "", WORD(id), .help = "the instance"},
    {"family", "", WORD(family), .help = "model family"},
    METHOD,
    {"time_ns_median", "ns", NUMBER(time_ns), .help = "the measured step, as in results.csv"},
    {"projected_ns", "ns", NUMBER(projected_ns), .help = "the step on the other hardware"},
    {"speedup", "", NUMBER(speedup), .help = "time_ns_median over projected_ns"},
    {"compute_pct", "%", NUMBER(bound_pct[BEFORE][PDNN_BOUND_COMPUTE]),
     .help = "of the measured time of all ops: of those bound by compute"},
    {"memory_pct", "%", NUMBER(bound_pct[BEFORE][PDNN_BOUND_MEMORY]), .help = "the same, by memory"},
    {"overhead_pct", "%", NUMBER(bound_pct[BEFORE][PDNN_BOUND_OVERHEAD]), .help = "the same, by overhead"},
    {"projected_compute_pct", "%", NUMBER(bound_pct[AFTER][PDNN_BOUND_COMPUTE]),
     .help = "of the projected time of all ops: of those then bound by compute"},
    {"projected_memory_pct", "%", NUMBER(bound_pct[AFTER][PDNN_BOUND_MEMORY]), .help = "the same, by memory"},
    {"projected_overhead_pct", "%", NUMBER(bound_pct[AFTER][PDNN_BOUND_OVERHEAD]),
     .help = "the same, by overhead"},
    {"moved_pct", "%", NUMBER(moved_pct),
     .help = "of the measured time of all ops: of those that get another bound"},
    {"unknown_pct", "%", NUMBER(unknown_pct),
     .help = "of the measured time of all ops: of those without a roof, whose time stays"},
};
#undef AT

static void get_moves(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_projected_op *op = row;
    pdnn_str_printf(cell, "%d", op->moves);
}

#define AT(field) .offset = offsetof(struct pdnn_projected_op, field)
static const struct pdnn_column ops[] = {
    {"id", "", WORD(id), .help = "the instance"},
    {"op_index", "", COUNT(op_index), .help = "as in ops.csv"},
    {"layer", "", WORD(layer), .help = "as in ops.csv"},
    {"op", "", WORD(op), .help = "registered op, or reorder"},
    {"op_pass", "", WORD(pass), .help = "as in ops.csv"},
    {"op_shape", "", WORD(shape), .help = "as in ops.csv"},
    {"kind", "", WORD(kind), .help = "what limits are summed by: --by"},
    METHOD,
    {"executions", "", COUNT(count), .help = "executions in one step; times cover all of them"},
    {"time_ns_median", "ns", NUMBER(time_ns), .help = "measured, as in ops.csv"},
    {"projected_ns", "ns", NUMBER(projected_ns), .help = "on the other hardware, with the same efficiency"},
    {"speedup", "", NUMBER(speedup), .help = "time_ns_median over projected_ns"},
    {"bound", "", WORD(bound[BEFORE]), .help = "what limits the measured roof; empty without one"},
    {"projected_bound", "", WORD(bound[AFTER]), .help = "the same on the other hardware"},
    {"roof_level", "", WORD(level[BEFORE]), .help = "where most of the memory time goes"},
    {"projected_level", "", WORD(level[AFTER]), .help = "the same on the other hardware"},
    {"moves", "", PDNN_COLUMN_WHOLE, .get = get_moves, .help = "1: it gets another bound"},
};
#undef AT

#define AT(field) .offset = offsetof(struct pdnn_projected_move, field)
static const struct pdnn_column moves[] = {
    {"family", "", WORD(family), .help = "model family"},
    {"op", "", WORD(op), .help = "registered op, or reorder"},
    {"op_pass", "", WORD(pass), .help = "as in ops.csv"},
    METHOD,
    {"bound", "", WORD(bound[BEFORE]), .help = "what limits the measured roof"},
    {"projected_bound", "", WORD(bound[AFTER]), .help = "what limits that of the other hardware"},
    {"instances", "", COUNT(instances), .help = "instances in which such an op changes so"},
    {"share_pct", "%", NUMBER(share_pct), .help = "share of those ops in the measured steps, mean"},
    {"speedup", "", NUMBER(speedup), .help = "of those ops, geometric mean"},
};
#undef AT

#define AT(field) .offset = offsetof(struct pdnn_projected_limit, field)
static const struct pdnn_column limits[] = {
    {"family", "", WORD(family), .help = "model family"},
    {"kind", "", WORD(kind), .help = "ops summed up: --by"},
    METHOD,
    {"instances", "", COUNT(instances), .help = "instances that have such ops"},
    {"share_pct", "%", NUMBER(share_pct[BEFORE]), .help = "share of the measured step, mean"},
    {"amdahl_limit", "", NUMBER(limit[BEFORE]),
     .help =
         "speed-up of the measured step if these ops took no time (Amdahl), geometric mean over the steps "
         "that have others too"},
    {"projected_share_pct", "%", NUMBER(share_pct[AFTER]), .help = "share of the projected step, mean"},
    {"projected_limit", "", NUMBER(limit[AFTER]), .help = "the limit of the projected step"},
};
#undef AT

#define TABLE(name) sizeof name / sizeof name[0]

const struct pdnn_columns pdnn_projected_columns = {"projection", models, TABLE(models)};
const struct pdnn_columns pdnn_projected_ops_columns = {"projection-ops", ops, TABLE(ops)};
const struct pdnn_columns pdnn_projected_moves_columns = {"projection-moves", moves, TABLE(moves)};
const struct pdnn_columns pdnn_projected_limits_columns = {"projection-limits", limits, TABLE(limits)};
