/* ops.csv: one row per instance, op and pass. */
#include "results/store/columns.h"
#include "results/table/csv.h"
#include "results/store/record.h"

#include <string.h>

static void get_bound(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_op_record *op = row;
    pdnn_str_printf(cell, "%s", pdnn_bound_name(op->place.bound));
}

static bool put_bound(const struct pdnn_column *column, void *row, const char *text) {
    (void)column;
    struct pdnn_op_record *op = row;
    op->place.bound = PDNN_BOUND_UNKNOWN;
    while (op->place.bound < PDNN_BOUND_COUNT && strcmp(pdnn_bound_name(op->place.bound), text) != 0)
        op->place.bound++;
    return op->place.bound != PDNN_BOUND_COUNT;
}

/* The columns of the instance are those of results.csv. They are written and not read: who reads an op has
 * its instance's row. */
static void get_model(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_op_record *op = row;
    if (op->of)
        pdnn_str_append(cell, op->of->id, op->of->model_length);
}

static void get_family(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_op_record *op = row;
    if (op->of)
        pdnn_column_family(op->of->id, cell);
}

static void get_mode(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_op_record *op = row;
    const struct pdnn_param_def *mode = &pdnn_settings[PDNN_SETTING_MODE];
    char text[PDNN_PARAM_TEXT];
    if (!op->of || !op->of->parsed)
        return;
    struct pdnn_value value = pdnn_value_of(op->of->instance.setting[PDNN_SETTING_MODE]);
    pdnn_str_printf(cell, "%s", pdnn_param_format(mode, value, text));
}

static void get_status(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_op_record *op = row;
    if (op->of)
        pdnn_str_printf(cell, "%s", pdnn_outcome_name(op->of->outcome));
}

static bool put_nothing(const struct pdnn_column *column, void *row, const char *text) {
    (void)column, (void)row, (void)text;
    return true;
}

#define AT(field)     .offset = offsetof(struct pdnn_op_record, field)
#define TEXT(field)   PDNN_COLUMN_TEXT, AT(field), sizeof((struct pdnn_op_record *)0)->field
#define WORD(field)   PDNN_COLUMN_WORD, AT(field)
#define NUMBER(field) PDNN_COLUMN_NUMBER, AT(field), .digits = PDNN_DIGITS_TABLE
#define COUNT(field)  PDNN_COLUMN_COUNT, AT(field)
#define OF(getter)    PDNN_COLUMN_WORD, .get = getter, .put = put_nothing

static const struct pdnn_column columns[] = {
    {"id", "", WORD(id), .help = "the instance"},
    {"model", "", OF(get_model), .help = "the id without run settings, as in results.csv"},
    {"family", "", OF(get_family), .help = "model family"},
    {"run_mode", "", OF(get_mode), .help = "infer or train, as in results.csv"},
    {"status", "", OF(get_status), .help = "of the instance; ops have rows where it is ok"},
    {"op_index", "", COUNT(op_index), .help = "order of first execution in the step; reorders come last"},
    {"layer", "", TEXT(layer), .help = "where in the model; first..last if identical ops share the row"},
    {"op", "", TEXT(op), .help = "registered op, or reorder"},
    {"category", "", WORD(category), .help = "kind of work, as in `paradnn ops`"},
    {"op_pass", "", WORD(pass),
     .help = "forward, recompute (forward repeated, with checkpoint), backward-data, "
             "backward-weights or update"},
    {"dtype", "", WORD(dtype),
     .help = "element type that it computes in, that of its first input; sets its compute roof"},
    {"op_shape", "", TEXT(shape),
     .help = "inputs and outputs, dims joined by x; nonzero attributes, written once if the same for both "
             "directions of an image; the dtype unless f32; +op for each op fused into it"},
    {"executions", "", COUNT(count), .help = "executions in one step; costs and time cover all of them"},
    {"flop_count", "FLOP", COUNT(flop_count),
     .help =
         "2 per multiply-add, 1 per other operation; windows over an image are counted with all their taps"},
    {"in_bounds_flop_count", "FLOP", COUNT(in_bounds_flop_count),
     .help = "flop_count without the taps on padding; rates use this"},
    {"byte_count", "bytes", COUNT(byte_count),
     .help = "compulsory traffic: inputs read once, outputs written once"},
    {"time_ns_median", "ns", NUMBER(time_ns_median),
     .help = "time in one stamped step: median over the visits"},
    {"share_pct", "%", NUMBER(share_pct), .help = "share of the sum of all ops' times"},
    {"gflops", "1e9 FLOP/s", NUMBER(place.gflops), .help = "in_bounds_flop_count over time_ns_median"},
    {"bw_gbs", "1e9 B/s", NUMBER(place.bw_gbs), .help = "byte_count over time_ns_median"},
    {"intensity_flop_per_byte", "FLOP/byte", NUMBER(place.intensity_flop_per_byte),
     .help = "in_bounds_flop_count over byte_count"},
    {"attainable_gflops", "1e9 FLOP/s", NUMBER(place.attainable_gflops),
     .help = "the op's roof, as in results.csv, for its dtype; empty without FLOP"},
    {"pct_of_roof", "%", NUMBER(place.pct_of_roof),
     .help = "gflops over attainable_gflops; without FLOP, the same ratio of bandwidths"},
    {"bound", "", PDNN_COLUMN_WORD, .get = get_bound, .put = put_bound, .words = pdnn_bound_words,
     .help = "what limits the roof"},
    {"roof_level", "", TEXT(place.roof_level),
     .help =
         "L1, L2, L3 or DRAM: where most of the memory time goes; link: averaging over ranks takes longer"},
    {"implementation", "", TEXT(implementation),
     .help = "what ran: paradnn: and the kernel, or the library and its own name for it"},
    {"extrapolated", "", COUNT(extrapolated),
     .help = "1: with layers_run, fewer ran than count says, and the time is scaled up from theirs"},
};

const struct pdnn_columns pdnn_ops_columns = {"ops.csv", columns, sizeof columns / sizeof columns[0]};
