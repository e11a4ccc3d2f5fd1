/* results.csv: one row per instance. The hyper-parameters of all families in
 * the table come after `family`. */
#include "results/store/columns.h"
#include "results/table/csv.h"
#include "results/store/record.h"

#include <string.h>

static void get_schema(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column, (void)row;
    pdnn_str_printf(cell, "%d", PDNN_SCHEMA);
}

/* For an id that does not parse, the text before the first '/' or ':'. */
static void get_family(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    pdnn_column_family(((const struct pdnn_record *)row)->id, cell);
}

static void get_model(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_record *record = row;
    pdnn_str_append(cell, record->id, record->model_length);
}

static void get_settings(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_record *record = row;
    const char *settings = record->id + record->model_length;
    settings += *settings == ',';
    pdnn_str_append(cell, settings, strlen(settings));
}

static void append_param(const struct pdnn_param_def *param, struct pdnn_value value, struct pdnn_str *cell) {
    char text[PDNN_PARAM_TEXT];
    const char *shown = pdnn_param_format(param, value, text);
    pdnn_str_append(cell, shown, strlen(shown));
}

/* By name: families that share a parameter's name share the column. */
static void get_hyper(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    const struct pdnn_record *record = row;
    if (!record->parsed)
        return;
    const struct pdnn_family_def *family = record->instance.family;
    int at = column->index < family->n_params && column->param == &family->params[column->index]
                 ? (int)column->index
                 : pdnn_param_find(family->params, family->n_params, column->param->name);
    bool is_today = at >= 0 && strcmp(family->params[at].name, column->param->name) == 0;
    if (is_today && pdnn_hyper_applies(&record->instance, (size_t)at))
        append_param(&family->params[at], record->instance.hyper[at], cell);
}

static void get_setting(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    const struct pdnn_record *record = row;
    if (record->parsed && pdnn_setting_applies(&record->instance, (enum pdnn_setting)column->index))
        append_param(column->param, pdnn_value_of(record->instance.setting[column->index]), cell);
}

static void get_status(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_record *record = row;
    pdnn_str_printf(cell, "%s", pdnn_outcome_name(record->outcome));
}

static void get_flags(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_record *record = row;
    char text[PDNN_FLAGS_TEXT];
    pdnn_str_printf(cell, "%s", pdnn_flags_format(record->flags, text));
}

static void get_bound(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_record *record = row;
    pdnn_str_printf(cell, "%s", pdnn_bound_name(record->place.bound));
}

static void get_started(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_record *record = row;
    char text[PDNN_UTC_TEXT];
    if (record->started_unix_ms)
        pdnn_str_printf(cell, "%s", pdnn_utc_format(record->started_unix_ms, text));
}

/* Empty without an interval, since NaN is never written. */
static void get_ci_half(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    const struct pdnn_record *record = row;
    double half_ns = (record->ci_high_ns - record->ci_low_ns) / 2;
    pdnn_number_format(cell, half_ns / record->time_ns_median * 100, column->digits);
}

/* Unknown costs are empty, not zero. */
static void get_total(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    const struct pdnn_record *record = row;
    uint64_t count;
    memcpy(&count, (const char *)row + column->offset, sizeof count);
    if (record->has_totals)
        pdnn_str_append_u64(cell, count);
}

#define AT(field)     .offset = offsetof(struct pdnn_record, field)
#define TEXT(field)   PDNN_COLUMN_TEXT, AT(field), sizeof((struct pdnn_record *)0)->field
#define NUMBER(field) PDNN_COLUMN_NUMBER, AT(field), .digits = PDNN_DIGITS_TABLE
#define COUNT(field)  PDNN_COLUMN_COUNT, AT(field)
#define TOTAL(field)  PDNN_COLUMN_COUNT, AT(totals.field), .get = get_total, .analytic = true

static const struct pdnn_word page_words[] = {
    {"warm", "nearly all of it: no step waits for a disk", ""},
    {"dropped", "nearly nothing: what a step reads comes from the disk, or from a cache below the kernel",
     ""},
    {"mixed", "a part of it, or a different part in different visits",
     "a data set larger than memory stays so; where pages=dropped was asked for, the file system did not drop "
     "all pages"},
    {0},
};

static const struct pdnn_column head[] = {
    {"schema", "", PDNN_COLUMN_COUNT, .get = get_schema, .help = "version of these tables"},
    {"id", "", TEXT(id), .analytic = true, .help = "model and settings, joined by a comma; parses back"},
    {"model", "", PDNN_COLUMN_WORD, .get = get_model, .analytic = true,
     .help =
         "the id without run settings: the same model in every mode, dtype, backend and number of threads"},
    {"settings", "", PDNN_COLUMN_WORD, .get = get_settings, .analytic = true,
     .help = "the rest of the id: threads, and the run settings that differ from their defaults"},
    {"family", "", PDNN_COLUMN_WORD, .get = get_family, .analytic = true, .help = "model family"},
};

static const struct pdnn_column tail[] = {
    {"status", "", PDNN_COLUMN_WORD, .get = get_status, .words = pdnn_outcome_words, .help = "how it ended"},
    {"reason", "", TEXT(reason),
     .help = "why it is not ok; for an ok row, what happened to visits that failed"},
    {"params", "elements", TOTAL(params), .help = "number of elements in all weights"},
    {"flop_count", "FLOP", TOTAL(cost.flop_count),
     .help = "FLOP of one step: 2 per multiply-add, 1 per other operation; "
             "windows over an image are counted with all their taps, as in published totals"},
    {"in_bounds_flop_count", "FLOP", TOTAL(cost.in_bounds_flop_count),
     .help = "flop_count without the taps on padding, which need not be computed; rates use this"},
    {"byte_count", "bytes", TOTAL(cost.byte_count),
     .help = "compulsory traffic of one step: every op reads each input once and writes each output once"},
    {"weight_bytes", "bytes", TOTAL(cost.weight_bytes),
     .help = "part of byte_count: weights read and written"},
    {"activation_bytes", "bytes", TOTAL(cost.activation_bytes),
     .help = "part of byte_count: inputs, labels, activations"},
    {"gradient_bytes", "bytes", TOTAL(cost.gradient_bytes), .help = "part of byte_count: gradients"},
    {"state_bytes", "bytes", TOTAL(cost.state_bytes),
     .help = "part of byte_count: what is kept between steps: optimizer state, running statistics, "
             "a decoder's cache of keys and values"},
    {"memory_bytes", "bytes", TOTAL(memory_bytes), .help = "peak memory of the tensors, predicted"},
    {"plan_bytes", "bytes", COUNT(plan_bytes),
     .help = "memory actually allocated: tensors in the backend's layouts, copies, scratch"},
    {"method", "", PDNN_COLUMN_WORD, AT(method),
     .help =
         "how the times were obtained: direct: the model ran; composed: the sum of the times of its operators, "
         "each measured in the cache state that it has inside the model (paradnn compose); predicted: such a sum, "
         "with operators interpolated between measured ones"},
    {"time_ns_median", "ns", NUMBER(time_ns_median),
     .help = "time of one step: median of the visits' medians; the headline"},
    {"time_ns_min", "ns", NUMBER(time_ns_min), .help = "fastest sample of the ok visits"},
    {"time_ns_mean", "ns", NUMBER(time_ns_mean), .help = "mean of the visits' means"},
    {"time_ns_p10", "ns", NUMBER(time_ns_p10),
     .help = "median of the visits' 10 % quantiles, interpolated between samples"},
    {"time_ns_p90", "ns", NUMBER(time_ns_p90),
     .help = "median of the visits' 90 % quantiles, interpolated between samples"},
    {"time_ns_mad", "ns", NUMBER(time_ns_mad), .help = "median of the visits' median absolute deviations"},
    {"ci_low_ns", "ns", NUMBER(ci_low_ns),
     .help =
         "lower end of the interval that holds the headline of another run of the sweep with 95 % "
         "probability, if the machine is in the same state (probe_gbs within 15 %); from the visits, at "
         "least three, or two if the other instances of the sweep say how visits scatter; their variance is "
         "shrunk towards that of all instances; of a composed row with the flag settled, where models ran for "
         "that, of the 90 % interval of what the model itself takes"},
    {"ci_high_ns", "ns", NUMBER(ci_high_ns), .help = "upper end of that interval"},
    {"ci_half_pct", "%", PDNN_COLUMN_NUMBER, .digits = PDNN_DIGITS_TABLE, .get = get_ci_half,
     .help = "half the width of that interval, relative to time_ns_median: the precision reached"},
    {"rounds", "visits", COUNT(rounds), .help = "visits that ended ok"},
    {"samples", "samples", COUNT(samples), .help = "timed samples of the ok visits"},
    {"warmups", "steps", COUNT(warmups),
     .help = "warm-up steps of the ok visits, before their samples; in none of the times above"},
    {"stop_reason", "", PDNN_COLUMN_WORD, AT(stop_reason), .words = pdnn_stop_words,
     .help = "what ended most of the ok visits; on a tie, the last of these words"},
    {"speed_index", "ratio", NUMBER(speed_index),
     .help =
         "how fast the machine was during the visits; 1 = as fast as when its roofs were measured: "
         "by the visits' probes, the read probes for rows bound by DRAM, the FMA probes for the others; the "
         "median visit for long steps, the best one for steps far below 2 ms"},
    {"probe_gflops", "1e9 FLOP/s", NUMBER(probe_gflops),
     .help = "FMA probe: median over the visits; with the next column, the state the machine was in"},
    {"probe_gbs", "1e9 B/s", NUMBER(probe_gbs), .help = "DRAM read probe: median over the visits"},
    {"prepare_ns", "ns", COUNT(prepare_ns),
     .help = "time for graph, primitives, layouts, memory and data, before any step"},
    {"examples_per_s", "1/s", NUMBER(examples_per_s),
     .help = "batch times accumulate and ranks over time_ns_median"},
    {"gflops", "1e9 FLOP/s", NUMBER(place.gflops), .help = "in_bounds_flop_count over time_ns_median"},
    {"bw_gbs", "1e9 B/s", NUMBER(place.bw_gbs), .help = "byte_count over time_ns_median"},
    {"intensity_flop_per_byte", "FLOP/byte", NUMBER(place.intensity_flop_per_byte),
     .help = "operational intensity: in_bounds_flop_count over byte_count"},
    {"attainable_gflops", "1e9 FLOP/s", NUMBER(place.attainable_gflops),
     .help =
         "the roof above the row: its FLOP over the larger of two times, that of its arithmetic, each op at "
         "the peak of its own dtype, and that of its bytes from the levels they come from; * speed_index. "
         "The machine's roofs, whatever the isa"},
    {"pct_of_roof", "%", NUMBER(place.pct_of_roof), .help = "gflops over attainable_gflops"},
    {"pct_of_peak", "%", NUMBER(place.pct_of_peak),
     .help = "gflops over the measured peak at the speed of that moment; "
             "with several dtypes, each weighted by its part"},
    {"bound", "", PDNN_COLUMN_WORD, .get = get_bound, .words = pdnn_bound_words,
     .help = "what limits the roof"},
    {"roof_level", "", TEXT(place.roof_level),
     .help =
         "L1, L2, L3 or DRAM: where most of the memory time goes; link: averaging over ranks takes longer"},
    {"residual_pct", "%", NUMBER(residual_pct), .help = "part of time_ns_median that belongs to no op"},
    {"infeed_pct", "%", NUMBER(infeed_pct),
     .help = "part of time_ns_median that waits for the next minibatch and puts it in place; empty with "
             "data=resident"},
    {"loader_examples_per_s", "1/s", NUMBER(loader_examples_per_s),
     .help =
         "what the loaders do alone, with no step beside them; with loaders=0, the thread that runs the step"},
    {"loader_bytes_per_s", "B/s", NUMBER(loader_bytes_per_s),
     .help = "the same in bytes read from files; data=file only"},
    {"page_cache", "", PDNN_COLUMN_WORD, AT(page_cache), .words = page_words,
     .help =
         "how much of the data set the kernel had in memory right before the steps, as it says; data=file "
         "only"},
    {"compute_ns", "ns", NUMBER(compute_ns),
     .help = "with several ranks: time of a step without communication, on the slowest rank"},
    {"skew_ns", "ns", NUMBER(skew_ns),
     .help =
         "with several ranks: by how much the fastest rank's steps without communication are shorter; its wait for "
         "the slowest one"},
    {"comm_ns", "ns", NUMBER(comm_ns),
     .help =
         "with several ranks: time to average all gradients of a step, bucket by bucket, with nothing beside it"},
    {"exposed_ns", "ns", NUMBER(exposed_ns), .help = "with several ranks: time_ns_median less compute_ns"},
    {"hidden_pct", "%", NUMBER(hidden_pct),
     .help =
         "with several ranks: the part of comm_ns that is not exposed; below 0, communication costs more inside the "
         "step than alone"},
    {"allreduce_bytes", "bytes", COUNT(allreduce_bytes),
     .help = "with several ranks: bytes of a rank's gradients"},
    {"bus_gbs", "1e9 B/s", NUMBER(bus_gbs),
     .help =
         "with several ranks: 2(p-1)/p * allreduce_bytes over comm_ns, which is what a ring of p ranks sends over "
         "each link"},
    {"extrapolated", "", COUNT(extrapolated),
     .help = "1: only layers_run of the layers ran, and the time is scaled by the ratio of all ops' times to "
             "theirs"},
    {"row_flags", "", PDNN_COLUMN_WORD, .get = get_flags, .words = pdnn_flag_words,
     .help = "what to know before trusting the row, joined by |"},
    {"host", "", PDNN_COLUMN_WORD, AT(host), .help = "name of the machine"},
    {"started_utc", "", PDNN_COLUMN_WORD, .get = get_started, .help = "start of the first visit"},
};

enum { N_HEAD = sizeof head / sizeof head[0], N_TAIL = sizeof tail / sizeof tail[0] };

struct list {
    struct pdnn_column *column;
    size_t count;
    bool analytic_only;
};

static void append(struct list *list, const struct pdnn_column *column) {
    if (column->analytic || !list->analytic_only)
        list->column[list->count++] = *column;
}

/* A column shared by two families holds words if one of them writes words. */
static void append_hypers(struct list *list, const struct pdnn_family_def *family) {
    for (size_t i = 0; i < family->n_params; i++) {
        const struct pdnn_param_def *param = &family->params[i];
        const struct pdnn_columns so_far = {.column = list->column, .count = list->count};
        bool is_whole = param->type == PDNN_PARAM_INT;
        int shared = pdnn_columns_find(&so_far, pdnn_param_column(param));
        if (shared >= 0 && !is_whole)
            list->column[shared].type = PDNN_COLUMN_WORD;
        if (shared >= 0)
            continue;
        append(list, &(struct pdnn_column){
                         .name = pdnn_param_column(param),
                         .unit = pdnn_param_unit(param),
                         .type = is_whole ? PDNN_COLUMN_WHOLE : PDNN_COLUMN_WORD,
                         .help = param->help,
                         .analytic = true,
                         .get = get_hyper,
                         .param = param,
                         .index = i,
                     });
    }
}

/* layers_run is `all` where nothing is left out; other words are replaced by numbers. */
static void append_setting(struct list *list, size_t setting) {
    const struct pdnn_param_def *param = &pdnn_settings[setting];
    bool is_whole = param->type == PDNN_PARAM_INT && setting != PDNN_SETTING_LAYERS_RUN;
    append(list, &(struct pdnn_column){
                     .name = pdnn_param_column(param),
                     .unit = pdnn_param_unit(param),
                     .type = is_whole ? PDNN_COLUMN_WHOLE : PDNN_COLUMN_WORD,
                     .help = param->help,
                     .analytic = true,
                     .get = get_setting,
                     .param = param,
                     .index = setting,
                 });
}

void pdnn_results_columns(const struct pdnn_family_def *const *families, size_t n_families,
                          bool analytic_only, struct pdnn_arena *arena, struct pdnn_columns *columns) {
    size_t room = N_HEAD + N_TAIL + PDNN_SETTING_COUNT;
    for (size_t i = 0; i < n_families; i++)
        room += families[i]->n_params;
    struct list list = {.column = pdnn_arena_alloc(arena, room, sizeof(struct pdnn_column)),
                        .analytic_only = analytic_only};
    for (size_t i = 0; i < N_HEAD; i++)
        append(&list, &head[i]);
    for (size_t i = 0; i < n_families; i++)
        append_hypers(&list, families[i]);
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        append_setting(&list, i);
    for (size_t i = 0; i < N_TAIL; i++)
        append(&list, &tail[i]);
    *columns = (struct pdnn_columns){"results.csv", list.column, list.count};
}
