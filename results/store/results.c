#define _POSIX_C_SOURCE 200809L /* strnlen */
#include "results/store/results.h"

#include <assert.h>
#include <string.h>

#define OPTIONAL .is_optional = true
#define COUNT    .kind = PDNN_KIND_COUNT
#define NUMBER   .kind = PDNN_KIND_NUMBER

static const struct pdnn_word page_words[] = {
    {"warm", "nearly all of it: no step waits for a disk", ""},
    {"dropped", "nearly nothing: what a step reads comes from the disk, or from a cache below the kernel",
     ""},
    {"mixed", "a part of it, or a different part in different visits",
     "a data set larger than memory stays so; where pages=dropped was asked for, the file system did not drop "
     "all pages"},
    {0},
};

static const struct pdnn_column_def fixed[PDNN_RESULT_COLUMNS] = {
    [PDNN_RESULT_SCHEMA] = {"schema", COUNT, OPTIONAL, .help = "version of these tables"},
    [PDNN_RESULT_ID] = {"id", .help = "model and settings, joined by a comma; parses back"},
    [PDNN_RESULT_MODEL] =
        {"model", OPTIONAL,
         .help =
             "the id without run settings: the same model in every mode, dtype, backend and number of threads"},
    [PDNN_RESULT_SETTINGS] =
        {"settings", OPTIONAL,
         .help = "the rest of the id: threads, and the run settings that differ from their defaults"},
    [PDNN_RESULT_FAMILY] = {"family", .help = "model family"},
    [PDNN_RESULT_STATUS] = {"status", .words = pdnn_outcome_words, .help = "how it ended"},
    [PDNN_RESULT_REASON] = {"reason", OPTIONAL,
                            .help = "why it is not ok; for an ok row, what happened to visits that failed"},
    [PDNN_RESULT_PARAMS] = {"params", .unit = "elements", COUNT, OPTIONAL,
                            .help = "number of elements in all weights"},
    [PDNN_RESULT_FLOP_COUNT] =
        {"flop_count", .unit = "FLOP", COUNT, OPTIONAL,
         .help = "FLOP of one step: 2 per multiply-add, 1 per other operation; "
                 "windows over an image are counted with all their taps, as in published totals"},
    [PDNN_RESULT_IN_BOUNDS_FLOP_COUNT] =
        {"in_bounds_flop_count", .unit = "FLOP", COUNT, OPTIONAL,
         .help = "flop_count without the taps on padding, which need not be computed; rates use this"},
    [PDNN_RESULT_BYTE_COUNT] =
        {"byte_count", .unit = "bytes", COUNT, OPTIONAL,
         .help =
             "compulsory traffic of one step: every op reads each input once and writes each output once"},
    [PDNN_RESULT_WEIGHT_BYTES] = {"weight_bytes", .unit = "bytes", COUNT, OPTIONAL,
                                  .help = "part of byte_count: weights read and written"},
    [PDNN_RESULT_ACTIVATION_BYTES] = {"activation_bytes", .unit = "bytes", COUNT, OPTIONAL,
                                      .help = "part of byte_count: inputs, labels, activations"},
    [PDNN_RESULT_GRADIENT_BYTES] = {"gradient_bytes", .unit = "bytes", COUNT, OPTIONAL,
                                    .help = "part of byte_count: gradients"},
    [PDNN_RESULT_STATE_BYTES] =
        {"state_bytes", .unit = "bytes", COUNT, OPTIONAL,
         .help = "part of byte_count: what is kept between steps: optimizer state, running statistics, "
                 "a decoder's cache of keys and values"},
    [PDNN_RESULT_MEMORY_BYTES] =
        {"memory_bytes", .unit = "bytes", COUNT, OPTIONAL,
         .help = "peak memory of the tensors and of what ops need beside them, predicted"},
    [PDNN_RESULT_PLAN_BYTES] =
        {"plan_bytes", .unit = "bytes", COUNT, OPTIONAL,
         .help = "memory actually allocated: tensors in the backend's layouts, copies, scratch"},
    [PDNN_RESULT_METHOD] =
        {"method", OPTIONAL,
         .help =
             "how the times were obtained: direct: the model ran; composed: the sum of the times of its operators, "
             "each measured in the cache state that it has inside the model (paradnn compose); predicted: such a sum, "
             "with operators interpolated between measured ones"},
    [PDNN_RESULT_TIME_NS_MEDIAN] = {"time_ns_median", .unit = "ns", NUMBER,
                                    .help = "time of one step: median of the visits' medians; the headline"},
    [PDNN_RESULT_TIME_NS_MIN] = {"time_ns_min", .unit = "ns", NUMBER, OPTIONAL,
                                 .help = "fastest sample of the ok visits"},
    [PDNN_RESULT_TIME_NS_MEAN] = {"time_ns_mean", .unit = "ns", NUMBER, OPTIONAL,
                                  .help = "mean of the visits' means"},
    [PDNN_RESULT_TIME_NS_P10] = {"time_ns_p10", .unit = "ns", NUMBER, OPTIONAL,
                                 .help =
                                     "median of the visits' 10 % quantiles, interpolated between samples"},
    [PDNN_RESULT_TIME_NS_P90] = {"time_ns_p90", .unit = "ns", NUMBER, OPTIONAL,
                                 .help =
                                     "median of the visits' 90 % quantiles, interpolated between samples"},
    [PDNN_RESULT_TIME_NS_MAD] = {"time_ns_mad", .unit = "ns", NUMBER, OPTIONAL,
                                 .help = "median of the visits' median absolute deviations"},
    [PDNN_RESULT_CI_LOW_NS] =
        {"ci_low_ns", .unit = "ns", NUMBER, OPTIONAL,
         .help =
             "lower end of the interval that holds the headline of another run of the sweep with 95 % "
             "probability, if the machine is in the same state (probe_gbs within 15 %); from the visits, at "
             "least three, or two if the other instances of the sweep say how visits scatter; their variance is "
             "shrunk towards that of all instances; of a composed row with the flag settled, where models ran for "
             "that, of the 90 % interval of what the model itself takes"},
    [PDNN_RESULT_CI_HIGH_NS] = {"ci_high_ns", .unit = "ns", NUMBER, OPTIONAL,
                                .help = "upper end of that interval"},
    [PDNN_RESULT_CI_HALF_PCT] =
        {"ci_half_pct", .unit = "%", NUMBER, OPTIONAL,
         .help = "half the width of that interval, relative to time_ns_median: the precision reached"},
    [PDNN_RESULT_ROUNDS] = {"rounds", .unit = "visits", COUNT, OPTIONAL, .help = "visits that ended ok"},
    [PDNN_RESULT_SAMPLES] = {"samples", .unit = "samples", COUNT, OPTIONAL,
                             .help = "timed samples of the ok visits"},
    [PDNN_RESULT_WARMUPS] =
        {"warmups", .unit = "steps", COUNT, OPTIONAL,
         .help = "warm-up steps of the ok visits, before their samples; in none of the times above"},
    [PDNN_RESULT_STOP_REASON] = {"stop_reason", OPTIONAL, .words = pdnn_stop_words,
                                 .help =
                                     "what ended most of the ok visits; on a tie, the last of these words"},
    [PDNN_RESULT_SPEED_INDEX] =
        {"speed_index", .unit = "ratio", NUMBER, OPTIONAL,
         .help =
             "how fast the machine was during the visits; 1 = as fast as when its roofs were measured: "
             "by the visits' probes, the read probes for rows bound by DRAM, the FMA probes for the others; the "
             "median visit for long steps, the best one for steps far below 2 ms"},
    [PDNN_RESULT_PROBE_GFLOPS] =
        {"probe_gflops", .unit = "1e9 FLOP/s", NUMBER, OPTIONAL,
         .help = "FMA probe: median over the visits; with the next column, the state the machine was in"},
    [PDNN_RESULT_PROBE_GBS] = {"probe_gbs", .unit = "1e9 B/s", NUMBER, OPTIONAL,
                               .help = "DRAM read probe: median over the visits"},
    [PDNN_RESULT_PREPARE_NS] = {"prepare_ns", .unit = "ns", COUNT, OPTIONAL,
                                .help =
                                    "time for graph, primitives, layouts, memory and data, before any step"},
    [PDNN_RESULT_EXAMPLES_PER_S] = {"examples_per_s", .unit = "1/s", NUMBER, OPTIONAL,
                                    .help = "batch times accumulate and ranks over time_ns_median"},
    [PDNN_RESULT_GFLOPS] = {"gflops", .unit = "1e9 FLOP/s", NUMBER, OPTIONAL,
                            .help = "in_bounds_flop_count over time_ns_median"},
    [PDNN_RESULT_BW_GBS] = {"bw_gbs", .unit = "1e9 B/s", NUMBER, OPTIONAL,
                            .help = "byte_count over time_ns_median"},
    [PDNN_RESULT_INTENSITY_FLOP_PER_BYTE] =
        {"intensity_flop_per_byte", .unit = "FLOP/byte", NUMBER, OPTIONAL,
         .help = "operational intensity: in_bounds_flop_count over byte_count"},
    [PDNN_RESULT_ATTAINABLE_GFLOPS] =
        {"attainable_gflops", .unit = "1e9 FLOP/s", NUMBER, OPTIONAL,
         .help =
             "the roof above the row: its FLOP over the larger of two times, that of its arithmetic, each op at "
             "the peak of its own dtype, and that of its bytes from the levels they come from; * speed_index. "
             "The machine's roofs, whatever the isa"},
    [PDNN_RESULT_PCT_OF_ROOF] = {"pct_of_roof", .unit = "%", NUMBER, OPTIONAL,
                                 .help = "gflops over attainable_gflops"},
    [PDNN_RESULT_PCT_OF_PEAK] = {"pct_of_peak", .unit = "%", NUMBER, OPTIONAL,
                                 .help = "gflops over the measured peak at the speed of that moment; "
                                         "with several dtypes, each weighted by its part"},
    [PDNN_RESULT_BOUND] = {"bound", OPTIONAL, .words = pdnn_bound_words, .help = "what limits the roof"},
    [PDNN_RESULT_ROOF_LEVEL] =
        {"roof_level", OPTIONAL,
         .help =
             "L1, L2, L3 or DRAM: where most of the memory time goes; link: averaging over ranks takes longer"},
    [PDNN_RESULT_RESIDUAL_PCT] = {"residual_pct", .unit = "%", NUMBER, OPTIONAL,
                                  .help = "part of time_ns_median that belongs to no op"},
    [PDNN_RESULT_INFEED_PCT] =
        {"infeed_pct", .unit = "%", NUMBER, OPTIONAL,
         .help = "part of time_ns_median that waits for the next minibatch and puts it in place; empty with "
                 "data=resident"},
    [PDNN_RESULT_LOADER_EXAMPLES_PER_S] =
        {"loader_examples_per_s", .unit = "1/s", NUMBER, OPTIONAL,
         .help =
             "what the loaders do alone, with no step beside them; with loaders=0, the thread that runs the step"},
    [PDNN_RESULT_LOADER_BYTES_PER_S] = {"loader_bytes_per_s", .unit = "B/s", NUMBER, OPTIONAL,
                                        .help = "the same in bytes read from files; data=file only"},
    [PDNN_RESULT_PAGE_CACHE] =
        {"page_cache", OPTIONAL, .words = page_words,
         .help =
             "how much of the data set the kernel had in memory right before the steps, as it says; data=file "
             "only"},
    [PDNN_RESULT_COMPUTE_NS] =
        {"compute_ns", .unit = "ns", NUMBER, OPTIONAL,
         .help = "with several ranks: time of a step without communication, on the slowest rank"},
    [PDNN_RESULT_SKEW_NS] =
        {"skew_ns", .unit = "ns", NUMBER, OPTIONAL,
         .help =
             "with several ranks: by how much the fastest rank's steps without communication are shorter; its wait for "
             "the slowest one"},
    [PDNN_RESULT_COMM_NS] =
        {"comm_ns", .unit = "ns", NUMBER, OPTIONAL,
         .help =
             "with several ranks: time to average all gradients of a step, bucket by bucket, with nothing beside it"},
    [PDNN_RESULT_EXPOSED_NS] = {"exposed_ns", .unit = "ns", NUMBER, OPTIONAL,
                                .help = "with several ranks: time_ns_median less compute_ns"},
    [PDNN_RESULT_HIDDEN_PCT] =
        {"hidden_pct", .unit = "%", NUMBER, OPTIONAL,
         .help =
             "with several ranks: the part of comm_ns that is not exposed; below 0, communication costs more inside the "
             "step than alone"},
    [PDNN_RESULT_ALLREDUCE_BYTES] = {"allreduce_bytes", .unit = "bytes", COUNT, OPTIONAL,
                                     .help = "with several ranks: bytes of a rank's gradients"},
    [PDNN_RESULT_BUS_GBS] =
        {"bus_gbs", .unit = "1e9 B/s", NUMBER, OPTIONAL,
         .help =
             "with several ranks: 2(p-1)/p * allreduce_bytes over comm_ns, which is what a ring of p ranks sends over "
             "each link"},
    [PDNN_RESULT_EXTRAPOLATED] =
        {"extrapolated", COUNT, OPTIONAL,
         .help =
             "1: only layers_run of the layers ran, and the time is scaled by the ratio of all ops' times to "
             "theirs"},
    [PDNN_RESULT_ROW_FLAGS] = {"row_flags", OPTIONAL, .words = pdnn_flag_words,
                               .help = "what to know before trusting the row, joined by |"},
    [PDNN_RESULT_HOST] = {"host", OPTIONAL, .help = "name of the machine"},
    [PDNN_RESULT_STARTED_UTC] = {"started_utc", OPTIONAL, .help = "start of the first visit"},
};

const struct pdnn_table_def pdnn_results_fixed_def = {"results", "one row per instance, from all its visits",
                                                      fixed, PDNN_RESULT_COLUMNS};

/* How many are in front of those of parameters. */
static const size_t n_head = PDNN_RESULT_STATUS;

static size_t find(const struct pdnn_column_def *columns, size_t count, const char *name) {
    size_t i = 0;
    while (i < count && strcmp(columns[i].name, name) != 0)
        i++;
    return i;
}

/* A column shared by two families holds words if one of them writes words. */
static size_t add_hypers(struct pdnn_column_def *columns, size_t count,
                         const struct pdnn_family_def *family) {
    for (size_t i = 0; i < family->n_params; i++) {
        const struct pdnn_column_def column = pdnn_column_of_param(&family->params[i]);
        size_t at = find(columns, count, column.name);
        if (at == count)
            columns[count++] = column;
        else if (column.kind == PDNN_KIND_TEXT)
            columns[at].kind = PDNN_KIND_TEXT;
    }
    return count;
}

struct pdnn_table_def pdnn_results_def(const struct pdnn_family_def *const *families, size_t n_families,
                                       struct pdnn_arena *arena) {
    size_t count = n_head, room = PDNN_RESULT_COLUMNS + PDNN_SETTING_COUNT;
    for (size_t i = 0; i < n_families; i++)
        room += families[i]->n_params;
    struct pdnn_column_def *columns = pdnn_arena_alloc(arena, room, sizeof *columns);
    memcpy(columns, fixed, n_head * sizeof *columns);
    for (size_t i = 0; i < n_families; i++)
        count = add_hypers(columns, count, families[i]);
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        columns[count++] = pdnn_column_of_param(&pdnn_settings[i]);
    /* `all` where nothing is left out; other words are replaced by numbers. */
    columns[count - PDNN_SETTING_COUNT + PDNN_SETTING_LAYERS_RUN].kind = PDNN_KIND_TEXT;
    memcpy(columns + count, fixed + n_head, (PDNN_RESULT_COLUMNS - n_head) * sizeof *columns);
    count += PDNN_RESULT_COLUMNS - n_head;
    struct pdnn_table_def def = pdnn_results_fixed_def;
    def.column = columns;
    def.count = count;
    return def;
}

struct pdnn_result pdnn_result_of(struct pdnn_table *table, size_t row) {
    size_t status = pdnn_table_find(table, fixed[PDNN_RESULT_STATUS].name);
    assert(status != SIZE_MAX);
    return (struct pdnn_result){.table = table, .row = row, .n_params = status - n_head};
}

size_t pdnn_result_at(const struct pdnn_result *result, enum pdnn_result_column column) {
    return (size_t)column + ((size_t)column < n_head ? 0 : result->n_params);
}

size_t pdnn_result_setting_at(const struct pdnn_result *result, enum pdnn_setting setting) {
    return n_head + result->n_params - PDNN_SETTING_COUNT + (size_t)setting;
}

/* For an id that does not parse, the family is the text before the first '/' or ':'. */
void pdnn_result_add(struct pdnn_result *result, const char *id) {
    char text[PDNN_ID_TEXT];
    size_t model = pdnn_id_model_length(id), family = strcspn(id, "/:");
    result->row = pdnn_table_add_row(result->table);
    pdnn_result_set_count(result, PDNN_RESULT_SCHEMA, PDNN_SCHEMA);
    pdnn_result_set_text(result, PDNN_RESULT_ID, id);
    pdnn_result_set_text(result, PDNN_RESULT_SETTINGS, id + model + (id[model] == ','));
    memcpy(text, id, model);
    text[model] = 0;
    pdnn_result_set_text(result, PDNN_RESULT_MODEL, text);
    memcpy(text, id, family);
    text[family] = 0;
    pdnn_result_set_text(result, PDNN_RESULT_FAMILY, text);
    pdnn_result_set_text(result, PDNN_RESULT_STATUS, pdnn_outcome_name(PDNN_OUTCOME_INTERRUPTED));
    pdnn_result_set_count(result, PDNN_RESULT_ROUNDS, 0);
    pdnn_result_set_count(result, PDNN_RESULT_EXTRAPOLATED, 0);
}

static void set_param(struct pdnn_result *result, size_t column, const struct pdnn_param_def *param,
                      struct pdnn_value value) {
    char text[PDNN_PARAM_TEXT];
    if (result->table->column[column].def.kind == PDNN_KIND_WHOLE)
        pdnn_table_set_whole(result->table, result->row, column, value.number);
    else
        pdnn_table_set_text(result->table, result->row, column, pdnn_param_format(param, value, text));
}

/* By name: families that share a parameter's name share the column. */
static void find_params(struct pdnn_result *result, const struct pdnn_family_def *family) {
    result->family = family;
    for (size_t i = 0; i < family->n_params; i++)
        result->param[i] = pdnn_table_find(result->table, pdnn_param_column(&family->params[i]));
}

void pdnn_result_set_instance(struct pdnn_result *result, const struct pdnn_instance *instance) {
    const struct pdnn_family_def *family = instance->family;
    if (result->family != family)
        find_params(result, family);
    for (size_t i = 0; i < family->n_params; i++)
        if (result->param[i] != SIZE_MAX && pdnn_hyper_applies(instance, i))
            set_param(result, result->param[i], &family->params[i], instance->hyper[i]);
    for (enum pdnn_setting i = 0; i < PDNN_SETTING_COUNT; i++)
        if (pdnn_setting_applies(instance, i))
            set_param(result, pdnn_result_setting_at(result, i), &pdnn_settings[i],
                      pdnn_value_of(instance->setting[i]));
}

void pdnn_result_set_totals(struct pdnn_result *result, const struct pdnn_totals *totals) {
    const struct pdnn_cost *cost = &totals->cost;
    const uint64_t counts[] = {totals->params,       cost->flop_count,   cost->in_bounds_flop_count,
                               cost->byte_count,     cost->weight_bytes, cost->activation_bytes,
                               cost->gradient_bytes, cost->state_bytes,  totals->memory_bytes};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        pdnn_result_set_count(result, PDNN_RESULT_PARAMS + (enum pdnn_result_column)i, counts[i]);
}

void pdnn_result_set_text(struct pdnn_result *result, enum pdnn_result_column column, const char *text) {
    pdnn_table_set_text(result->table, result->row, pdnn_result_at(result, column), text);
}

void pdnn_result_set_count(struct pdnn_result *result, enum pdnn_result_column column, uint64_t count) {
    pdnn_table_set_count(result->table, result->row, pdnn_result_at(result, column), count);
}

void pdnn_result_set_number(struct pdnn_result *result, enum pdnn_result_column column, double number) {
    pdnn_table_set_number(result->table, result->row, pdnn_result_at(result, column), number);
}

const char *pdnn_result_text(const struct pdnn_result *result, enum pdnn_result_column column) {
    return pdnn_table_text(result->table, result->row, pdnn_result_at(result, column));
}

uint64_t pdnn_result_count(const struct pdnn_result *result, enum pdnn_result_column column) {
    return pdnn_table_count(result->table, result->row, pdnn_result_at(result, column));
}

double pdnn_result_number(const struct pdnn_result *result, enum pdnn_result_column column) {
    return pdnn_table_number(result->table, result->row, pdnn_result_at(result, column));
}

enum pdnn_outcome pdnn_result_outcome(const struct pdnn_result *result) {
    return pdnn_outcome_find(pdnn_result_text(result, PDNN_RESULT_STATUS));
}

unsigned pdnn_result_flags(const struct pdnn_result *result) {
    return pdnn_flags_parse(pdnn_result_text(result, PDNN_RESULT_ROW_FLAGS));
}

/* The columns from gflops to pct_of_roof, which both tables have. */
static void put_rates(struct pdnn_table *table, size_t row, size_t column,
                      const struct pdnn_placement *place) {
    const double numbers[] = {place->gflops, place->bw_gbs, place->intensity_flop_per_byte,
                              place->attainable_gflops, place->pct_of_roof};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        pdnn_table_set_number(table, row, column + i, numbers[i]);
}

static void copy_level(const char *text, char level[PDNN_LEVEL_TEXT]) {
    size_t length = strnlen(text, PDNN_LEVEL_TEXT - 1);
    memcpy(level, text, length);
    level[length] = 0;
}

static struct pdnn_placement get_rates(const struct pdnn_table *table, size_t row, size_t column) {
    struct pdnn_placement place;
    pdnn_placement_init(&place);
    double *const numbers[] = {&place.gflops, &place.bw_gbs, &place.intensity_flop_per_byte,
                               &place.attainable_gflops, &place.pct_of_roof};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = pdnn_table_number(table, row, column + i);
    return place;
}

void pdnn_result_set_placement(struct pdnn_result *result, const struct pdnn_placement *place) {
    put_rates(result->table, result->row, pdnn_result_at(result, PDNN_RESULT_GFLOPS), place);
    pdnn_result_set_number(result, PDNN_RESULT_PCT_OF_PEAK, place->pct_of_peak);
    pdnn_result_set_text(result, PDNN_RESULT_BOUND, pdnn_bound_name(place->bound));
    pdnn_result_set_text(result, PDNN_RESULT_ROOF_LEVEL, place->roof_level);
}

struct pdnn_placement pdnn_result_placement(const struct pdnn_result *result) {
    struct pdnn_placement place =
        get_rates(result->table, result->row, pdnn_result_at(result, PDNN_RESULT_GFLOPS));
    place.pct_of_peak = pdnn_result_number(result, PDNN_RESULT_PCT_OF_PEAK);
    place.bound = pdnn_bound_find(pdnn_result_text(result, PDNN_RESULT_BOUND));
    copy_level(pdnn_result_text(result, PDNN_RESULT_ROOF_LEVEL), place.roof_level);
    return place;
}

static const struct pdnn_column_def op_columns[PDNN_OPS_COLUMNS] = {
    [PDNN_OPS_ID] = {"id", .help = "the instance"},
    [PDNN_OPS_MODEL] = {"model", OPTIONAL, .help = "the id without run settings, as in results.csv"},
    [PDNN_OPS_FAMILY] = {"family", OPTIONAL, .help = "model family"},
    [PDNN_OPS_RUN_MODE] = {"run_mode", OPTIONAL, .help = "infer or train, as in results.csv"},
    [PDNN_OPS_STATUS] = {"status", OPTIONAL, .help = "of the instance; ops have rows where it is ok"},
    [PDNN_OPS_OP_INDEX] = {"op_index", COUNT, OPTIONAL,
                           .help = "order of first execution in the step; reorders come last"},
    [PDNN_OPS_LAYER] = {"layer", OPTIONAL,
                        .help = "where in the model; first..last if identical ops share the row"},
    [PDNN_OPS_OP] = {"op", .help = "registered op, or reorder"},
    [PDNN_OPS_CATEGORY] = {"category", .help = "kind of work, as in `paradnn ops`"},
    [PDNN_OPS_OP_PASS] = {"op_pass", OPTIONAL,
                          .help = "forward, recompute (forward repeated, with checkpoint), backward-data, "
                                  "backward-weights or update"},
    [PDNN_OPS_DTYPE] =
        {"dtype", OPTIONAL,
         .help = "element type that it computes in, that of its first input; sets its compute roof"},
    [PDNN_OPS_OP_SHAPE] =
        {"op_shape", OPTIONAL,
         .help =
             "inputs and outputs, dims joined by x; nonzero attributes, written once if the same for both "
             "directions of an image; the dtype unless f32; +op for each op fused into it"},
    [PDNN_OPS_EXECUTIONS] = {"executions", COUNT,
                             .help = "executions in one step; costs and time cover all of them"},
    [PDNN_OPS_FLOP_COUNT] =
        {"flop_count", .unit = "FLOP", COUNT, OPTIONAL,
         .help =
             "2 per multiply-add, 1 per other operation; windows over an image are counted with all their taps"},
    [PDNN_OPS_IN_BOUNDS_FLOP_COUNT] = {"in_bounds_flop_count", .unit = "FLOP", COUNT, OPTIONAL,
                                       .help = "flop_count without the taps on padding; rates use this"},
    [PDNN_OPS_BYTE_COUNT] = {"byte_count", .unit = "bytes", COUNT, OPTIONAL,
                             .help = "compulsory traffic: inputs read once, outputs written once"},
    [PDNN_OPS_TIME_NS_MEDIAN] = {"time_ns_median", .unit = "ns", NUMBER,
                                 .help = "time in one stamped step: median over the visits"},
    [PDNN_OPS_SHARE_PCT] = {"share_pct", .unit = "%", NUMBER, OPTIONAL,
                            .help = "share of the sum of all ops' times"},
    [PDNN_OPS_GFLOPS] = {"gflops", .unit = "1e9 FLOP/s", NUMBER, OPTIONAL,
                         .help = "in_bounds_flop_count over time_ns_median"},
    [PDNN_OPS_BW_GBS] = {"bw_gbs", .unit = "1e9 B/s", NUMBER, OPTIONAL,
                         .help = "byte_count over time_ns_median"},
    [PDNN_OPS_INTENSITY_FLOP_PER_BYTE] = {"intensity_flop_per_byte", .unit = "FLOP/byte", NUMBER, OPTIONAL,
                                          .help = "in_bounds_flop_count over byte_count"},
    [PDNN_OPS_ATTAINABLE_GFLOPS] =
        {"attainable_gflops", .unit = "1e9 FLOP/s", NUMBER, OPTIONAL,
         .help = "the op's roof, as in results.csv, for its dtype; empty without FLOP"},
    [PDNN_OPS_PCT_OF_ROOF] =
        {"pct_of_roof", .unit = "%", NUMBER,
         .help = "gflops over attainable_gflops; without FLOP, the same ratio of bandwidths"},
    [PDNN_OPS_BOUND] = {"bound", OPTIONAL, .words = pdnn_bound_words, .help = "what limits the roof"},
    [PDNN_OPS_ROOF_LEVEL] =
        {"roof_level", OPTIONAL,
         .help =
             "L1, L2, L3 or DRAM: where most of the memory time goes; link: averaging over ranks takes longer"},
    [PDNN_OPS_IMPLEMENTATION] =
        {"implementation", OPTIONAL,
         .help = "what ran: paradnn: and the kernel, or the library and its own name for it"},
    [PDNN_OPS_EXTRAPOLATED] =
        {"extrapolated", COUNT, OPTIONAL,
         .help = "1: with layers_run, fewer ran than count says, and the time is scaled up from theirs"},
};
const struct pdnn_table_def pdnn_ops_def = {"ops", "one row per instance, op and pass", op_columns,
                                            PDNN_OPS_COLUMNS};

enum pdnn_status pdnn_ops_check(const struct pdnn_table *ops, size_t row, struct pdnn_err *err) {
    const char *bound = pdnn_table_text(ops, row, PDNN_OPS_BOUND);
    if (pdnn_bound_find(bound) == PDNN_BOUND_COUNT)
        return pdnn_fail(err, PDNN_INVALID, "'%.40s' is not a value for column 'bound'", bound);
    return PDNN_OK;
}

void pdnn_ops_set_placement(struct pdnn_table *ops, size_t row, const struct pdnn_placement *place) {
    put_rates(ops, row, PDNN_OPS_GFLOPS, place);
    pdnn_table_set_text(ops, row, PDNN_OPS_BOUND, pdnn_bound_name(place->bound));
    pdnn_table_set_text(ops, row, PDNN_OPS_ROOF_LEVEL, place->roof_level);
}

struct pdnn_op_record pdnn_ops_row(const struct pdnn_table *ops, size_t row) {
    struct pdnn_op_record op = {
        .id = pdnn_table_text(ops, row, PDNN_OPS_ID),
        .op_index = pdnn_table_count(ops, row, PDNN_OPS_OP_INDEX),
        .layer = pdnn_table_text(ops, row, PDNN_OPS_LAYER),
        .op = pdnn_table_text(ops, row, PDNN_OPS_OP),
        .category = pdnn_table_text(ops, row, PDNN_OPS_CATEGORY),
        .pass = pdnn_table_text(ops, row, PDNN_OPS_OP_PASS),
        .dtype = pdnn_table_text(ops, row, PDNN_OPS_DTYPE),
        .shape = pdnn_table_text(ops, row, PDNN_OPS_OP_SHAPE),
        .count = pdnn_table_count(ops, row, PDNN_OPS_EXECUTIONS),
        .flop_count = pdnn_table_count(ops, row, PDNN_OPS_FLOP_COUNT),
        .in_bounds_flop_count = pdnn_table_count(ops, row, PDNN_OPS_IN_BOUNDS_FLOP_COUNT),
        .byte_count = pdnn_table_count(ops, row, PDNN_OPS_BYTE_COUNT),
        .extrapolated = pdnn_table_count(ops, row, PDNN_OPS_EXTRAPOLATED),
        .time_ns_median = pdnn_table_number(ops, row, PDNN_OPS_TIME_NS_MEDIAN),
        .share_pct = pdnn_table_number(ops, row, PDNN_OPS_SHARE_PCT),
        .place = get_rates(ops, row, PDNN_OPS_GFLOPS),
        .implementation = pdnn_table_text(ops, row, PDNN_OPS_IMPLEMENTATION),
    };
    op.place.bound = pdnn_bound_find(pdnn_table_text(ops, row, PDNN_OPS_BOUND));
    copy_level(pdnn_table_text(ops, row, PDNN_OPS_ROOF_LEVEL), op.place.roof_level);
    return op;
}
