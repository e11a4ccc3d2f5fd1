/* Costs and rates in results.csv follow from the instance as in a sweep, and what the file says itself is
 * beside it in imported.csv: ParaDnn's profiler also counted the first layer's gradient of the data, which no
 * program needs. */
#define _POSIX_C_SOURCE 200809L
#include "results/import/import.h"
#include "base/memory.h"
#include "base/stats.h"
#include "base/units.h"
#include "base/visible.h"
#include "results/import/labels.h"
#include "results/import/source.h"
#include "results/rows/roofline.h"
#include "results/store/tables.h"
#include "results/table/record.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a column of the file says: the numbers that it has of an instance, then texts. */
enum role {
    PARAMS,
    FLOP,
    GFLOPS,
    INTENSITY,
    STEPS,
    EXAMPLES,
    TIME,
    NUMBERS,
    LABEL = NUMBERS,
    MODEL,
    STATE,
    HOST,
    KEY
};

const char *const pdnn_import_roles[] = {
    "params",      "step_flop_count", "gflops", "intensity_flop_per_byte",
    "steps_per_s", "examples_per_s",  "time",   "label",
    "model",       "state",           "host",   NULL};

/* The lists of the files that ParaDnn shipped. */
static const char *const paradnn[] = {"label=labels",
                                      "params=params",
                                      "step_flop_count=fl:G",
                                      "gflops=flops",
                                      "intensity_flop_per_byte=intensity",
                                      "steps_per_s=step_per_sec",
                                      "examples_per_s=example_per_sec",
                                      "label=err_jobs",
                                      "state=states"};

static const struct {
    const char *name;
    double factor;
    bool is_time;
} units[] = {{"ns", 1, true},   {"us", 1e3, true}, {"ms", 1e6, true}, {"s", 1e9, true},
             {"k", 1e3, false}, {"M", 1e6, false}, {"G", 1e9, false}, {"T", 1e12, false}};

#define EXACT PDNN_KIND_NUMBER, .digits = PDNN_DIGITS_EXACT

enum { FIRST_NUMBER = 3, N_COLUMNS = FIRST_NUMBER + NUMBERS };

static const struct pdnn_column_def columns[N_COLUMNS] = {
    {"id", .help = "the instance, as in results.csv"},
    {"label", .help = "what the file calls it"},
    {"state", .help = "why it did not run, in the file's words"},
    {"params", NULL, "elements", EXACT, .help = "as in the file"},
    {"step_flop_count", NULL, "FLOP", EXACT,
     .help = "FLOP of one step as its profiler counted, of all shards; "
             "ParaDnn's include the first layer's gradient of the data"},
    {"gflops", NULL, "1e9 FLOP/s", EXACT, .help = "as in the file, of all shards"},
    {"intensity_flop_per_byte", NULL, "FLOP/byte", EXACT,
     .help = "as in the file; in ParaDnn's, FLOP of one step and shard over the bytes of the parameters, "
             "not an operational intensity"},
    {"steps_per_s", NULL, "1/s", EXACT,
     .help = "as in the file; in ParaDnn's, the fastest interval between two reports"},
    {"examples_per_s", NULL, "1/s", EXACT, .help = "as in the file"},
    {"time_ns", NULL, "ns", EXACT, .help = "time of a step, as in the file"},
};
const struct pdnn_table_def pdnn_imported_def = {"imported", "what an imported file says of instances",
                                                 columns, N_COLUMNS};

/* A column that the mapping names. */
struct mapped {
    enum role role;
    const char *key, *name; /* KEY: of the hyper-parameter or setting; the column's */
    double factor;          /* into the unit of imported.csv */
    size_t at;              /* the column's number in the file */
};

/* Columns whose rows belong together. */
struct group {
    const struct pdnn_table *rows;   /* the file's */
    struct mapped *column, *of[KEY]; /* all; by role, NULL: none */
    size_t n, n_rows;
};

enum { GROUPS_MOST = 2 };

struct import {
    const struct pdnn_import_request *request;
    struct pdnn_import_source file;
    struct group group[GROUPS_MOST];
    size_t n_groups, n_mapped; /* n_mapped: columns of all */
    const char *host;
    struct pdnn_ceilings *ceilings;
    struct pdnn_roofs roofs;
    struct pdnn_texts given; /* roofs, one each */
    int64_t roofs_threads;   /* whose roofs these are; -1: none yet */
    struct pdnn_tables tables;
    struct pdnn_arena arena, graph;
    struct pdnn_texts ids;
    struct pdnn_table imported;
    double *params_ratio, *flop_ratio; /* of instances that ran, where the file says so */
    size_t n_rows, n_params_ratio, n_flop_ratio;
    struct pdnn_import_result result;
};

static const char *text_of(const struct group *group, size_t row, enum role role) {
    const struct mapped *of = group->of[role];
    return of ? pdnn_table_text(group->rows, row, of->at) : "";
}

/* The list with one more text, in the arena. */
static const char *with(struct import *im, const char *list, const char *separator, const char *text) {
    return pdnn_arena_printf(&im->arena, "%s%s%s", list, *list ? separator : "", text);
}

/* "KEY=COLUMN:UNIT" */
static enum pdnn_status parse_mapped(struct import *im, const char *text, struct mapped *mapped,
                                     struct pdnn_err *err) {
    const char *equals = strchr(text, '='), *colon = strrchr(text, ':');
    size_t role = 0, unit = 0;
    if (!equals || equals == text || !equals[1])
        return pdnn_fail(err, PDNN_INVALID, "--map '%.80s' is not KEY=COLUMN or KEY=COLUMN:UNIT", text);
    const char *key = pdnn_arena_printf(&im->arena, "%.*s", (int)(equals - text), text);
    while (role < KEY && strcmp(pdnn_import_roles[role], key) != 0)
        role++;
    while (colon && unit < sizeof units / sizeof *units && strcmp(units[unit].name, colon + 1) != 0)
        unit++;
    const bool has_unit = colon && role < NUMBERS && unit < sizeof units / sizeof *units;
    if ((role == TIME) != (has_unit && units[unit].is_time) && (role == TIME || has_unit))
        return pdnn_fail(err, PDNN_INVALID, "--map '%.80s': %s", text,
                         role == TIME ? "a time needs its unit behind the column, :ns, :us, :ms or :s"
                                      : "only `time` has such a unit, others :k, :M, :G or :T");
    const char *end = has_unit ? colon : text + strlen(text);
    const char *name = pdnn_arena_printf(&im->arena, "%.*s", (int)(end - equals - 1), equals + 1);
    *mapped = (struct mapped){(enum role)role, key, name, has_unit ? units[unit].factor : 1, 0};
    return PDNN_OK;
}

/* The group's columns in the file, which are as long as the first. */
static enum pdnn_status find_columns(struct import *im, struct group *group, struct pdnn_err *err) {
    const size_t *length = im->file.length;
    const char *names[PDNN_TABLE_COLUMNS_MAX];
    char suggestion[PDNN_SUGGESTION_TEXT];
    group->rows = &im->file.rows;
    for (struct mapped *column = group->column, *first = column; column < first + group->n; column++) {
        column->at = pdnn_table_find(group->rows, column->name);
        if (column->at == SIZE_MAX) {
            for (size_t i = 0; i < group->rows->n_columns; i++)
                names[i] = group->rows->column[i].def.name;
            pdnn_suggest(suggestion, column->name, names, group->rows->n_columns);
            return pdnn_fail(err, PDNN_INVALID, "%.512s: there is no %s '%.64s'%s", im->request->path,
                             im->file.is_lists ? "list" : "column", column->name, suggestion);
        }
        if (length[column->at] != length[first->at])
            return pdnn_fail(err, PDNN_INVALID, "%.512s: '%.64s' has %zu values, '%.64s' %zu",
                             im->request->path, column->name, length[column->at], first->name,
                             length[first->at]);
    }
    group->n_rows = length[group->column->at];
    return PDNN_OK;
}

static enum pdnn_status map_columns(struct import *im, struct pdnn_err *err) {
    const bool is_paradnn = !im->request->n_map;
    const char *const *map = is_paradnn ? paradnn : im->request->map;
    const size_t n_map = is_paradnn ? sizeof paradnn / sizeof *paradnn : im->request->n_map;
    struct mapped *all = pdnn_arena_alloc(&im->arena, n_map, sizeof *all);
    struct group *group = im->group;
    bool needs_model = false, has_flop = false;
    *group = (struct group){.column = all};
    im->n_mapped = n_map;
    for (size_t i = 0; i < n_map; i++) {
        if (parse_mapped(im, map[i], &all[i], err) != PDNN_OK)
            return err->status;
        bool is_there = false;
        for (size_t k = 0; k < group->n; k++)
            is_there = is_there || strcmp(group->column[k].key, all[i].key) == 0;
        if (is_there && group == im->group && (all[i].role == LABEL || all[i].role == MODEL))
            *++group = (struct group){.column = &all[i]};
        else if (is_there)
            return pdnn_fail(err, PDNN_INVALID, "--map has %s twice", all[i].key);
        group->n++;
        if (all[i].role != KEY)
            group->of[all[i].role] = &all[i];
    }
    for (struct group *g = im->group; g <= group; g++) {
        im->n_groups++;
        needs_model = needs_model || (!g->of[LABEL] && !g->of[MODEL]);
        has_flop = has_flop || g->of[FLOP] || g->of[GFLOPS];
        if (needs_model && !im->request->model)
            return pdnn_fail(err, PDNN_INVALID,
                             "no column says the model: give --map model=COLUMN or --model");
        if (!g->of[TIME] && !g->of[STEPS] && !g->of[EXAMPLES] && !g->of[STATE])
            return pdnn_fail(err, PDNN_INVALID,
                             "no column says the time: give --map time=COLUMN:UNIT, "
                             "steps_per_s=COLUMN or examples_per_s=COLUMN");
        if (find_columns(im, g, err) != PDNN_OK)
            return is_paradnn ? pdnn_wrap(err, "not as ParaDnn shipped, and --map names no columns")
                              : err->status;
        im->n_rows += g->n_rows;
    }
    if (im->request->model && !needs_model)
        return pdnn_fail(err, PDNN_INVALID, "--model does nothing here: %s says the models",
                         is_paradnn ? "a file of ParaDnn's" : "a column");
    if (im->request->shards > 1 && !has_flop)
        return pdnn_fail(err, PDNN_INVALID, "--shards does nothing here: no column has FLOP or their rate");
    return im->n_rows ? PDNN_OK : pdnn_fail(err, PDNN_INVALID, "%.512s: no instances", im->request->path);
}

/* "gpu_fc" of "data/gpu_fc.json". */
static const char *name_of(const char *path, struct pdnn_arena *arena) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return pdnn_arena_printf(arena, "%.*s", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
}

/* The platform: one that the file has, where it says which. */
static enum pdnn_status choose_host(struct import *im, struct pdnn_err *err) {
    const char *found = NULL;
    im->host = im->request->host;
    for (const struct group *g = im->group; g < im->group + im->n_groups; g++) {
        for (size_t row = 0; row < g->n_rows && g->of[HOST]; row++) {
            const char *host = text_of(g, row, HOST);
            if (!im->host && found && strcmp(found, host) != 0)
                return pdnn_fail(err, PDNN_INVALID,
                                 "%.512s has several platforms, such as '%.64s' and '%.64s': say with --host "
                                 "which",
                                 im->request->path, found, host);
            found = host;
        }
    }
    im->host = im->host ? im->host : found ? found : name_of(im->request->path, &im->arena);
    return PDNN_OK;
}

static bool is_elsewhere(const struct import *im, const struct group *group, size_t row) {
    return group->of[HOST] && strcmp(text_of(group, row, HOST), im->host) != 0;
}

/* The row's instance, with as many threads as something says, or 0. */
static enum pdnn_status read_instance(const struct import *im, const struct group *group, size_t row,
                                      struct pdnn_instance *instance, struct pdnn_err *err) {
    const struct pdnn_import_request *request = im->request;
    struct pdnn_str id = {0};
    enum pdnn_status status = PDNN_OK;
    if (group->of[LABEL])
        status = pdnn_label_id(text_of(group, row, LABEL), request->set, request->n_set, &id, err);
    else
        pdnn_str_printf(&id, "%s", group->of[MODEL] ? text_of(group, row, MODEL) : request->model);
    for (size_t i = 0; i < group->n; i++) {
        const char *value = pdnn_table_text(group->rows, row, group->column[i].at);
        if (group->column[i].role == KEY && *value)
            pdnn_str_printf(&id, ",%s=%s", group->column[i].key, value);
    }
    for (size_t i = 0; i < request->n_set; i++)
        pdnn_str_printf(&id, ",%s", request->set[i]);
    if (status == PDNN_OK)
        status = pdnn_instance_parse(pdnn_str_text(&id), instance, err);
    if (status == PDNN_OK)
        pdnn_instance_resolve(instance, 0);
    pdnn_str_finish(&id);
    return status;
}

/* "; no --map names batch, notes": the columns that no group has. */
static const char *unread(struct import *im) {
    const char *list = "";
    for (size_t c = 0; c < im->file.rows.n_columns; c++) {
        bool is_read = false;
        for (size_t i = 0; i < im->n_mapped; i++)
            is_read = is_read || im->group->column[i].at == c;
        if (!is_read)
            list = with(im, list, ", ", im->file.rows.column[c].def.name);
    }
    return im->request->n_map && *list ? pdnn_arena_printf(&im->arena, "; no --map names %s", list) : "";
}

/* The file's numbers of one instance, NaN before; those that follow from others must. */
static enum pdnn_status read_numbers(const struct import *im, const struct group *group, size_t row,
                                     int64_t batch, double number[NUMBERS], struct pdnn_err *err) {
    const double near = 1e-3; /* relative: files have rounded counts */
    const char *name[NUMBERS];
    for (size_t role = 0; role < NUMBERS; role++) {
        const struct mapped *of = group->of[role];
        if (!of)
            continue;
        name[role] = of->name;
        if (!pdnn_parse_double(pdnn_table_text(group->rows, row, of->at), &number[role]))
            return pdnn_fail(err, PDNN_INVALID, "%s is not a number", name[role]);
        if (!(number[role] >= 0))
            return pdnn_fail(err, PDNN_INVALID, "%s is %.10g", name[role], number[role]);
        number[role] *= of->factor * (double)(role == FLOP || role == GFLOPS ? im->request->shards : 1);
    }
    const double examples = number[STEPS] * (double)batch, rate = number[STEPS] * number[FLOP] / 1e9;
    if (fabs(examples - number[EXAMPLES]) > near * examples)
        return pdnn_fail(err, PDNN_INVALID, "%s is %.10g, but the batch times %s %.10g", name[EXAMPLES],
                         number[EXAMPLES], name[STEPS], examples);
    if (fabs(rate - number[GFLOPS]) > near * rate)
        return pdnn_fail(err, PDNN_INVALID, "%s is %.10g, but %s times %s %.10g", name[GFLOPS],
                         number[GFLOPS], name[FLOP], name[STEPS], rate);
    return PDNN_OK;
}

/* Adds what a platform's data sheet or its owner says, unless it is there. */
static enum pdnn_status add_roofs(struct import *im, const struct pdnn_instance *instance,
                                  struct pdnn_err *err) {
    const int64_t threads = instance->setting[PDNN_SETTING_THREADS];
    struct pdnn_ceiling roofs[] = {
        {.kind = "compute", .pattern = "given", .value = im->request->peak_gflops},
        {.kind = "bandwidth", .pattern = "read", .level = "DRAM", .value = im->request->bandwidth_gbs}};
    snprintf(roofs[0].dtype, sizeof roofs[0].dtype, "%s",
             pdnn_dtype_name((enum pdnn_dtype)instance->setting[PDNN_SETTING_DTYPE]));
    for (struct pdnn_ceiling *roof = roofs; roof < roofs + 2 && roof->value > 0; roof++) {
        const char *name = pdnn_arena_printf(&im->arena, "%" PRIi64 " %s", threads, roof->dtype);
        if (pdnn_texts_add(&im->given, name) < im->ceilings->count)
            continue;
        if (im->ceilings->count == PDNN_CEILINGS_MAX)
            return pdnn_fail(
                err, PDNN_INVALID,
                "%.512s: --peak and --bandwidth are a roof for each dtype and number of threads in it, "
                "and more than %d are too many",
                im->request->path, PDNN_CEILINGS_MAX);
        roof->threads = threads;
        roof->low = roof->high = roof->median = roof->value;
        roof->repetitions = 1;
        im->ceilings->row[im->ceilings->count++] = *roof;
    }
    return PDNN_OK;
}

/* Which numbers of threads there are roofs for: "1, 2". */
static const char *roofs_of(struct import *im) {
    const char *list = "";
    for (size_t i = 0; i < im->ceilings->count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%" PRIi64, im->ceilings->row[i].threads);
        if (strcmp(im->ceilings->row[i].kind, "bandwidth") == 0 &&
            !pdnn_parts_have(list, ", ", number, strlen(number)))
            list = with(im, list, ", ", number);
    }
    return list;
}

/* The families of all rows that can be read, whose hyper-parameters are columns, and their roofs. */
static enum pdnn_status begin_tables(struct import *im, struct pdnn_err *err) {
    const struct pdnn_import_request *request = im->request;
    size_t n_families = 0;
    const struct pdnn_family_def **families = pdnn_arena_alloc(&im->arena, im->n_rows, sizeof *families);
    im->params_ratio = pdnn_arena_alloc(&im->arena, im->n_rows, sizeof *im->params_ratio);
    im->flop_ratio = pdnn_arena_alloc(&im->arena, im->n_rows, sizeof *im->flop_ratio);
    for (const struct group *g = im->group; g < im->group + im->n_groups; g++) {
        for (size_t row = 0; row < g->n_rows; row++) {
            struct pdnn_instance instance;
            size_t k = 0;
            if (is_elsewhere(im, g, row) ||
                read_instance(im, g, row, &instance, &(struct pdnn_err){0}) != PDNN_OK)
                continue;
            while (k < n_families && families[k] != instance.family)
                k++;
            if (k == n_families)
                families[n_families++] = instance.family;
            if (add_roofs(im, &instance, err) != PDNN_OK)
                return err->status;
        }
    }
    pdnn_table_init(&im->imported, &pdnn_imported_def);
    pdnn_tables_init(&im->tables, families, n_families);
    return request->ceilings ? pdnn_ceilings_read(request->ceilings, NULL, im->ceilings, err) : PDNN_OK;
}

/* The row that is being made. */
struct row {
    struct pdnn_result result;
    struct pdnn_instance instance;
    struct pdnn_totals totals;
    const char *label, *state;
    double number[NUMBERS];
};

/* Rates and the place under the roofs follow from the instance's own costs at the file's time. Every byte of
 * a step was last used a step ago. */
static void set_times(struct import *im, struct row *made, double time_ns, double batch) {
    static const double most = 0.05; /* ParaDnn's files have four digits */
    const struct pdnn_cost *cost = &made->totals.cost;
    const double params = (double)made->totals.params, said = made->number[EXAMPLES];
    /* Numbers of another model than the label's, as ParaDnn's own scripts wrote some. */
    const bool is_mislabeled = fabs(made->number[PARAMS] - params) > most * params;
    struct pdnn_place_input input = {.time_ns = time_ns, .speed = {1, 1}};
    struct pdnn_placement placement;
    char flags[PDNN_FLAGS_TEXT];
    input.flop_count[made->instance.setting[PDNN_SETTING_DTYPE]] = cost->in_bounds_flop_count;
    pdnn_traffic_from(&input.traffic, &im->roofs, cost->byte_count, cost->byte_count);
    pdnn_place(&im->roofs, &input, &placement);
    pdnn_record_put(made->result.table, made->result.row, &placement);
    pdnn_result_set_number(&made->result, PDNN_RESULT_TIME_NS_MEDIAN, time_ns);
    pdnn_result_set_number(&made->result, PDNN_RESULT_TIME_NS_MIN, time_ns);
    pdnn_result_set_number(&made->result, PDNN_RESULT_EXAMPLES_PER_S,
                           isnan(said) ? batch * 1e9 / time_ns : said);
    pdnn_result_set_text(
        &made->result, PDNN_RESULT_ROW_FLAGS,
        pdnn_flags_format((is_mislabeled ? PDNN_FLAG_MISLABELED : 0) |
                              (placement.pct_of_roof > PDNN_ABOVE_ROOF_PCT ? PDNN_FLAG_ABOVE_ROOF : 0),
                          flags));
    im->result.mislabeled += is_mislabeled;
    if (!isnan(made->number[PARAMS]))
        im->params_ratio[im->n_params_ratio++] = made->number[PARAMS] / params;
    if (!isnan(made->number[FLOP]))
        im->flop_ratio[im->n_flop_ratio++] = made->number[FLOP] / (double)cost->flop_count;
}

/* Rows of results.csv and imported.csv. */
static void add_row(struct import *im, struct row *made, enum pdnn_outcome outcome, const char *reason,
                    bool has_totals) {
    char id[PDNN_ID_TEXT];
    made->result = pdnn_result_of(&im->tables.results, 0);
    pdnn_result_add(&made->result, pdnn_instance_format(&made->instance, id));
    pdnn_texts_add(&im->ids, id);
    pdnn_result_set_instance(&made->result, &made->instance);
    /* Mode, dtype and optimizer decide what is counted; how it ran is not known unless something says it. */
    for (enum pdnn_setting i = PDNN_SETTING_BACKEND; i < PDNN_SETTING_COUNT; i++)
        if (made->instance.setting[i] == pdnn_settings[i].fallback)
            pdnn_table_set_empty(made->result.table, made->result.row,
                                 pdnn_result_setting_at(&made->result, i));
    pdnn_result_set_text(&made->result, PDNN_RESULT_HOST, im->host);
    if (has_totals)
        pdnn_result_set_totals(&made->result, &made->totals);
    pdnn_result_set_text(&made->result, PDNN_RESULT_STATUS, pdnn_outcome_name(outcome));
    pdnn_result_set_text(&made->result, PDNN_RESULT_REASON, reason);
    im->result.counts[outcome]++;
    const size_t row =
        pdnn_table_add_texts(&im->imported, FIRST_NUMBER, (const char *[]){id, made->label, made->state});
    for (size_t i = 0; i < NUMBERS; i++)
        pdnn_table_set_number(&im->imported, row, FIRST_NUMBER + i, made->number[i]);
}

/* An instance that ran, or one that did not, which has no numbers. */
static enum pdnn_status add_instance(struct import *im, const struct group *group, size_t row,
                                     struct pdnn_err *err) {
    struct row made = {.label = text_of(group, row, group->of[LABEL] ? LABEL : MODEL),
                       .state = text_of(group, row, STATE)};
    char id[PDNN_ID_TEXT];
    enum pdnn_outcome outcome;
    for (size_t i = 0; i < NUMBERS; i++)
        made.number[i] = NAN;
    if (read_instance(im, group, row, &made.instance, err) != PDNN_OK ||
        pdnn_state_outcome(made.state, &outcome, err) != PDNN_OK)
        return err->status;
    if (pdnn_texts_find(&im->ids, pdnn_instance_format(&made.instance, id)) != SIZE_MAX)
        return pdnn_fail(err, PDNN_INVALID, "is there twice%s", unread(im));
    const bool has_totals =
        pdnn_cost_instance(&made.instance, &im->graph, true, &made.totals, err) == PDNN_OK;
    if (!has_totals && (outcome == PDNN_OUTCOME_OK || err->status == PDNN_INTERNAL))
        return err->status;
    if (outcome != PDNN_OUTCOME_OK) {
        add_row(im, &made, outcome, made.state, has_totals);
        return PDNN_OK;
    }
    const int64_t threads = made.instance.setting[PDNN_SETTING_THREADS];
    const int64_t batch = made.instance.hyper[made.instance.family->minibatch_param].number;
    if (im->roofs_threads != threads)
        pdnn_roofs_init(&im->roofs, im->ceilings, threads);
    im->roofs_threads = threads;
    if (im->request->ceilings && !im->roofs.n_levels)
        return pdnn_fail(
            err, PDNN_INVALID, "%.512s has no roofs for %s threads, only for %s: give --set threads=N",
            im->request->ceilings,
            threads ? pdnn_arena_printf(&im->arena, "%" PRIi64, threads) : "an unknown number of",
            roofs_of(im));
    if (read_numbers(im, group, row, batch, made.number, err) != PDNN_OK)
        return err->status;
    const double *number = made.number;
    const enum role source = !isnan(number[TIME]) ? TIME : !isnan(number[STEPS]) ? STEPS : EXAMPLES;
    const double examples = source == EXAMPLES ? (double)batch : 1;
    const double time_ns = source == TIME ? number[TIME] : examples * 1e9 / number[source];
    if (isnan(time_ns))
        return pdnn_fail(err, PDNN_INVALID, "there is no time");
    if (number[source] > 0) {
        add_row(im, &made, outcome, "", true);
        set_times(im, &made, time_ns, (double)batch);
    } else {
        add_row(im, &made, PDNN_OUTCOME_INTERRUPTED,
                pdnn_arena_printf(&im->arena, "%s is 0 in the file", group->of[source]->name), true);
    }
    return PDNN_OK;
}

/* What cannot be mapped is left out, and the first few say why. */
static enum pdnn_status make_tables(struct import *im, struct pdnn_err *err) {
    struct pdnn_err first = {0};
    for (const struct group *g = im->group; g < im->group + im->n_groups; g++) {
        for (size_t row = 0; row < g->n_rows; row++) {
            struct pdnn_err cause = {0};
            if (is_elsewhere(im, g, row)) {
                im->result.elsewhere++;
            } else if (add_instance(im, g, row, &cause) != PDNN_OK) {
                if (g->of[LABEL])
                    pdnn_wrap(&cause, "label '%.256s'", text_of(g, row, LABEL));
                else
                    pdnn_wrap(&cause, "row %zu", row + 1);
                first = im->result.left_out ? first : cause;
                if (im->result.left_out++ < PDNN_IMPORT_REASONS) {
                    pdnn_visible_append(&im->result.reasons, cause.text, strlen(cause.text), "");
                    pdnn_str_append(&im->result.reasons, "\n", 1);
                }
            }
        }
    }
    if (im->result.elsewhere == im->n_rows)
        return pdnn_fail(err, PDNN_INVALID, "%.512s has no platform '%.64s'", im->request->path, im->host);
    if (!im->imported.n_rows) {
        *err = first;
        return pdnn_wrap(err, "%.512s: none of %zu instances can be read, the first", im->request->path,
                         im->result.left_out);
    }
    im->result.params_ratio = im->n_params_ratio ? pdnn_median(im->params_ratio, im->n_params_ratio) : NAN;
    im->result.flop_ratio = im->n_flop_ratio ? pdnn_median(im->flop_ratio, im->n_flop_ratio) : NAN;
    return PDNN_OK;
}

static const char *joined(struct import *im, const char *const *texts, size_t n) {
    const char *all = "";
    for (size_t i = 0; i < n; i++)
        all = with(im, all, ",", texts[i]);
    return all;
}

/* Where the tables come from. `cpu` is what pictures have in their titles. */
static enum pdnn_status write_environment(struct import *im, const struct pdnn_folder *folder,
                                          struct pdnn_err *err) {
    const struct pdnn_import_request *request = im->request;
    const char *slash = strrchr(request->path, '/');
    const struct pdnn_fact facts[] = {
        {"host", .text = im->host},
        {"cpu", .text = im->host},
        {"software", .text = request->software ? request->software : ""},
        {"imported_from", .text = slash ? slash + 1 : request->path},
        {"imported_format",
         .text = request->n_map ? joined(im, request->map, request->n_map) : "ParaDnn JSON"},
        {"imported_settings", .text = joined(im, request->set, request->n_set)},
        {.key = "imported_shards", .type = PDNN_FACT_WHOLE, .whole = request->shards},
        {.key = "imported_params_ratio", .type = PDNN_FACT_NUMBER, .number = im->result.params_ratio},
        {.key = "imported_flop_ratio", .type = PDNN_FACT_NUMBER, .number = im->result.flop_ratio},
        {"imported_times", .text = request->n_map ? "as in the file"
                                                  : "the fastest interval between two reports of the steps "
                                                    "done, which are means of many steps"},
        {"paradnn_version", .text = request->version},
    };
    return pdnn_environment_write(folder, facts, sizeof facts / sizeof *facts, err);
}

/* A directory that could not be filled is removed. */
static enum pdnn_status write_directory(struct import *im, struct pdnn_err *err) {
    static const char *const names[] = {"results.csv", "ops.csv", "imported.csv", "ceilings.csv",
                                        "environment.yaml"};
    const char *output = im->request->output;
    struct pdnn_str imported = {0}, ceilings = {0};
    struct pdnn_folder folder;
    if (pdnn_link_check(output, err) != PDNN_OK)
        return err->status;
    if (mkdir(output, 0777) != 0)
        return pdnn_fail(err, PDNN_INVALID, "%.512s: cannot be made: %s", output, strerror(errno));
    pdnn_table_csv(&imported, &im->imported);
    pdnn_ceilings_format(im->ceilings, &ceilings);
    enum pdnn_status status = PDNN_OK;
    if (pdnn_folder_open(&folder, output, err) != PDNN_OK ||
        pdnn_tables_write(&im->tables, &folder, err) != PDNN_OK ||
        pdnn_folder_replace(&folder, "imported.csv", imported.text, imported.length, err) != PDNN_OK ||
        (im->ceilings->count &&
         pdnn_folder_replace(&folder, "ceilings.csv", ceilings.text, ceilings.length, err) != PDNN_OK) ||
        write_environment(im, &folder, err) != PDNN_OK)
        status = err->status;
    for (size_t i = 0; status != PDNN_OK && folder.fd >= 0 && i < sizeof names / sizeof *names; i++)
        unlinkat(folder.fd, names[i], 0);
    pdnn_folder_close(&folder);
    pdnn_str_finish(&imported);
    pdnn_str_finish(&ceilings);
    if (status != PDNN_OK)
        rmdir(output);
    return status;
}

enum pdnn_status pdnn_import(const struct pdnn_import_request *request, struct pdnn_import_result *result,
                             struct pdnn_err *err) {
    struct import im = {.request = request, .roofs_threads = -1};
    im.ceilings = pdnn_alloc(1, sizeof *im.ceilings);
    enum pdnn_status status = PDNN_OK;
    if (pdnn_import_source_read(request->path, &im.file, err) != PDNN_OK ||
        map_columns(&im, err) != PDNN_OK || choose_host(&im, err) != PDNN_OK ||
        begin_tables(&im, err) != PDNN_OK || make_tables(&im, err) != PDNN_OK ||
        write_directory(&im, err) != PDNN_OK) {
        status = err->status;
        pdnn_str_finish(&im.result.reasons);
    } else {
        *result = im.result;
    }
    pdnn_table_finish(&im.file.rows);
    pdnn_tables_finish(&im.tables);
    pdnn_texts_finish(&im.ids);
    pdnn_texts_finish(&im.given);
    pdnn_table_finish(&im.imported);
    pdnn_arena_finish(&im.graph);
    pdnn_arena_finish(&im.arena);
    free(im.ceilings);
    return status;
}
