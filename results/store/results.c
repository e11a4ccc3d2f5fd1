#include "results/store/results.h"
#include "models/zoo/catalog.h"
#include "results/table/record.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* People see the columns that are not OPTIONAL: the set `brief`. */
#define OPTIONAL .is_optional = true, .show = PDNN_SHOW_NEVER
#define BRIEF    .is_optional = true
#define COUNT    .kind = PDNN_KIND_COUNT
#define NUMBER   .kind = PDNN_KIND_NUMBER

#define PLACE_AS(form, member) .field = PDNN_FIELD_AS(form, pdnn_placement, member)
#define PLACE(member)          PLACE_AS(CHARS, member)
#define AS(form, member)       .field = PDNN_FIELD_AS(form, pdnn_op_record, member)
#define AT(member)             AS(CHARS, member)
#define TEXT_AT(member)        AS(BORROWED, member)

#define UNDECIDED "within the range of the roofs (roof_low, roof_high) any of them may be what takes longest"
#define MEASURE   "'paradnn ceilings' on a quiet machine adds a measurement to those that sweeps take"

const struct pdnn_word pdnn_bound_words[PDNN_BOUND_COUNT] = {
    {"compute", "its arithmetic at the measured peak takes longer than its memory traffic",
     "a 16-bit dtype has a higher peak; where it is far below its roof, ops.csv has the op and its "
     "implementation"},
    {"memory", "its traffic at the measured bandwidths takes longer than its arithmetic",
     "a larger minibatch, fuse or a 16-bit dtype gives more FLOP per byte"},
    {"compute|memory", UNDECIDED, MEASURE},
    {"overhead", "calling its ops at all takes longer than their arithmetic and traffic",
     "larger layers or minibatches, fuse, or fewer threads"},
    {"compute|overhead", UNDECIDED, MEASURE},
    {"memory|overhead", UNDECIDED, MEASURE},
    {"compute|memory|overhead", UNDECIDED, MEASURE},
};

const char *pdnn_bound_name(enum pdnn_bound bound) {
    return bound == PDNN_BOUND_UNKNOWN ? "" : pdnn_bound_words[bound - 1].name;
}

void pdnn_placement_init(struct pdnn_placement *place) {
    *place = (struct pdnn_placement){
        .gflops = NAN,
        .bw_gbs = NAN,
        .intensity_flop_per_byte = NAN,
        .attainable_gflops = NAN,
        .pct_of_roof = NAN,
        .pct_of_peak = NAN,
        .roof_low = NAN,
        .roof_high = NAN,
        .roof_ns = NAN,
    };
}

bool pdnn_roof_is_known(const struct pdnn_placement *place) {
    return !(place->roof_high > PDNN_ROOF_KNOWN * place->roof_low);
}

static const struct pdnn_word page_words[] = {
    {"warm", "nearly all of it: no step waits for a disk", ""},
    {"dropped", "nearly nothing: what a step reads comes from the disk, or from a cache below the kernel",
     ""},
    {"mixed", "a part of it, or a different part in different visits",
     "a data set larger than memory stays so; where pages=dropped was asked for, the file system did not drop "
     "all pages"},
    {0},
};

#define RESULT_COLUMN(word, ...) [PDNN_RESULT_##word] = {__VA_ARGS__},
static const struct pdnn_column_def fixed[] = {
#include "results/store/columns/results.inc"
};

const struct pdnn_table_def pdnn_results_fixed_def = {"results", "one row per instance, from all its visits",
                                                      fixed, PDNN_RESULT_COLUMNS};

/* How many are in front of those of parameters. */
static const size_t n_head = PDNN_RESULT_STATUS;

/* A column shared by two families holds words if one of them writes words, and else decimal numbers if one of
 * them writes those. */
static size_t add_hypers(struct pdnn_column_def *columns, size_t count,
                         const struct pdnn_family_def *family) {
    for (size_t i = 0; i < family->n_params; i++) {
        struct pdnn_column_def column = pdnn_column_of_param(&family->params[i]);
        if ((int)i != family->minibatch_param)
            column.show = PDNN_SHOW_NEVER;
        size_t at = 0;
        while (at < count && strcmp(columns[at].name, column.name) != 0)
            at++;
        if (at == count)
            columns[count++] = column;
        else if (column.kind == PDNN_KIND_TEXT ||
                 (column.kind == PDNN_KIND_NUMBER && columns[at].kind == PDNN_KIND_WHOLE)) {
            columns[at].kind = column.kind;
            columns[at].digits = column.digits;
        }
    }
    return count;
}

struct pdnn_table_def pdnn_results_def(const struct pdnn_family_def *const *families, size_t n_families,
                                       struct pdnn_arena *arena) {
    size_t count = n_head, room = PDNN_RESULT_COLUMNS + PDNN_SETTING_COUNT;
    families = families ? families : pdnn_family_all(&n_families);
    for (size_t i = 0; i < n_families; i++)
        room += families[i]->n_params;
    struct pdnn_column_def *columns = pdnn_arena_alloc(arena, room, sizeof *columns);
    memcpy(columns, fixed, n_head * sizeof *columns);
    for (size_t i = 0; i < n_families; i++)
        count = add_hypers(columns, count, families[i]);
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++, count++) {
        columns[count] = pdnn_column_of_param(&pdnn_settings[i]);
        if (i != PDNN_SETTING_MODE && i != PDNN_SETTING_DTYPE && i != PDNN_SETTING_THREADS)
            columns[count].show = PDNN_SHOW_NEVER;
    }
    /* `all` where nothing is left out; other words are replaced by numbers. */
    columns[count - PDNN_SETTING_COUNT + PDNN_SETTING_LAYERS_RUN].kind = PDNN_KIND_TEXT;
    memcpy(columns + count, fixed + n_head, (PDNN_RESULT_COLUMNS - n_head) * sizeof *columns);
    return (struct pdnn_table_def){pdnn_results_fixed_def.name, pdnn_results_fixed_def.help, columns,
                                   count + PDNN_RESULT_COLUMNS - n_head};
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
    const enum pdnn_kind kind = result->table->column[column].def.kind;
    char text[PDNN_PARAM_TEXT];
    if (kind == PDNN_KIND_WHOLE)
        pdnn_table_set_whole(result->table, result->row, column, value.number);
    else if (kind == PDNN_KIND_NUMBER)
        pdnn_table_set_number(result->table, result->row, column, pdnn_param_double(param, value.number));
    else
        pdnn_table_set_text(result->table, result->row, column, pdnn_param_format(param, value, text));
}

void pdnn_result_set_instance(struct pdnn_result *result, const struct pdnn_instance *instance) {
    const struct pdnn_family_def *family = instance->family;
    struct pdnn_parsed_presets parsed;
    parsed.family = NULL;
    const struct pdnn_preset *preset =
        pdnn_instance_preset(instance, result->presets ? result->presets : &parsed);
    /* By name: families that share a parameter's name share the column. */
    for (size_t i = 0; result->family != family && i < family->n_params; i++)
        result->param[i] = pdnn_table_find(result->table, pdnn_param_column(&family->params[i]));
    result->family = family;
    pdnn_result_set_text(result, PDNN_RESULT_PRESET, preset ? preset->name : "");
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
    /* A primitive for whole layers needs several times the memory that their tensors do. */
    size_t rnn = pdnn_result_setting_at(result, PDNN_SETTING_RNN);
    if (strcmp(pdnn_table_text(result->table, result->row, rnn), "fused") == 0)
        pdnn_result_set_count(result, PDNN_RESULT_MEMORY_BYTES, PDNN_ABSENT);
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

struct pdnn_placement pdnn_result_placement(const struct pdnn_result *result) {
    struct pdnn_placement place;
    pdnn_placement_init(&place);
    pdnn_record_take(result->table, result->row, true, &place);
    return place;
}

#define OPS_COLUMN(word, ...) [PDNN_OPS_##word] = {__VA_ARGS__},
static const struct pdnn_column_def op_columns[] = {
#include "results/store/columns/ops.inc"
};
const struct pdnn_table_def pdnn_ops_def = {"ops", "one row per instance, op and pass", op_columns,
                                            PDNN_OPS_COLUMNS};

struct pdnn_op_record pdnn_ops_row(const struct pdnn_table *ops, size_t row) {
    struct pdnn_op_record op = {.id = ""};
    pdnn_placement_init(&op.place);
    pdnn_record_take(ops, row, true, &op);
    /* A table from before these columns knows of none. */
    if (op.extra.read_bytes == PDNN_ABSENT || op.extra.written_bytes == PDNN_ABSENT ||
        op.extra.set_bytes == PDNN_ABSENT)
        op.extra = (struct pdnn_extra_traffic){0};
    return op;
}

/* Rows of an instance stand together, and equal texts of a table are one. */
void pdnn_ids_reprint(struct pdnn_table *table, size_t column) {
    char buffer[PDNN_ID_TEXT];
    const char *before = NULL, *after = NULL;
    for (size_t row = 0; row < table->n_rows; row++) {
        const char *id = pdnn_table_text(table, row, column);
        if (id != before)
            after = pdnn_instance_reprint(id, buffer);
        before = id;
        if (strcmp(after, id) != 0)
            pdnn_table_set_text(table, row, column, after);
    }
}
