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
#include "results/import/mapping.h"
#include "results/import/roofs.h"
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

#define EXACT PDNN_KIND_NUMBER, .digits = PDNN_DIGITS_EXACT

enum { FIRST_NUMBER = 3, N_COLUMNS = FIRST_NUMBER + PDNN_MAPPED_NUMBERS };

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

/* The row that is being made. */
struct row {
    struct pdnn_result result;
    struct pdnn_instance instance;
    struct pdnn_totals totals;
    const char *label, *state;
    double number[PDNN_MAPPED_NUMBERS];
    enum pdnn_mapped_role source; /* which of them the time is of */
    double time_ns;               /* of a step */
};

/* An instance that ran, and where the file first has it. */
struct ran {
    const struct pdnn_mapped_group *group;
    size_t row, sample;               /* its first ones */
    int64_t threads, dtype, examples; /* examples: of a step; 0: the instance did not run */
    struct pdnn_totals totals;
};

/* What one row of the file says of it. */
struct sample {
    const struct ran *of;
    double number[PDNN_MAPPED_NUMBERS], time_ns;
};

struct import {
    const struct pdnn_import_request *request;
    struct pdnn_import_source file;
    struct pdnn_mapping map;
    const char *host;
    struct pdnn_roof_rows *roof_rows;
    struct pdnn_roofs roofs;
    struct pdnn_given_roofs given;
    int64_t roofs_threads; /* whose roofs these are; -1: none yet */
    struct pdnn_tables tables;
    struct pdnn_arena arena, graph;
    struct pdnn_texts ids, apart; /* apart: columns in which repetitions differ */
    struct pdnn_table imported;
    struct ran *ran;                   /* instances that ran, by their rows of results.csv */
    struct sample *sample;             /* of them */
    double *params_ratio, *flop_ratio; /* of them, where the file says so */
    size_t n_samples, n_params_ratio, n_flop_ratio;
    struct pdnn_import_result result;
};

/* The list with one more text, in the arena. */
static const char *with(struct import *im, const char *list, const char *separator, const char *text) {
    return pdnn_arena_printf(&im->arena, "%s%s%s", list, *list ? separator : "", text);
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
    for (const struct pdnn_mapped_group *g = im->map.group; g < im->map.group + im->map.n_groups; g++) {
        for (size_t row = 0; row < g->n_rows && g->of[PDNN_MAPPED_HOST]; row++) {
            const char *host = pdnn_mapped_text(g, row, PDNN_MAPPED_HOST);
            if (!*host)
                continue;
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

static bool is_elsewhere(const struct import *im, const struct pdnn_mapped_group *group, size_t row) {
    const char *host = pdnn_mapped_text(group, row, PDNN_MAPPED_HOST);
    return *host && strcmp(host, im->host) != 0;
}

/* PDNN_INVALID for an empty cell of what the instance has: its default was not what ran. */
static enum pdnn_status check_values(const struct pdnn_mapped_group *group, size_t row,
                                     const struct pdnn_instance *of, struct pdnn_err *err) {
    const struct pdnn_family_def *family = of->family;
    for (size_t i = 0; i < group->n; i++) {
        const struct pdnn_mapped *column = &group->column[i];
        const int hyper = pdnn_param_find(family->params, family->n_params, column->key),
                  setting = pdnn_param_find(pdnn_settings, PDNN_SETTING_COUNT, column->key);
        const bool applies = column->role == PDNN_MAPPED_KEY
                                 ? (hyper >= 0 && pdnn_hyper_applies(of, (size_t)hyper)) ||
                                       (setting >= 0 && pdnn_setting_applies(of, (enum pdnn_setting)setting))
                                 : column->role == PDNN_MAPPED_HOST;
        if (applies && !*pdnn_table_text(group->rows, row, column->at))
            return pdnn_fail(err, PDNN_INVALID, "%s has no value", column->name);
    }
    return PDNN_OK;
}

/* The row's instance, with as many threads as something says, or 0. */
static enum pdnn_status read_instance(const struct import *im, const struct pdnn_mapped_group *group,
                                      size_t row, struct pdnn_instance *instance, struct pdnn_err *err) {
    const struct pdnn_import_request *request = im->request;
    struct pdnn_str id = {0};
    enum pdnn_status status = PDNN_OK;
    if (group->of[PDNN_MAPPED_LABEL])
        status = pdnn_label_id(pdnn_mapped_text(group, row, PDNN_MAPPED_LABEL), request->set, request->n_set,
                               &id, err);
    else if (group->of[PDNN_MAPPED_MODEL] && !*pdnn_mapped_text(group, row, PDNN_MAPPED_MODEL))
        status = pdnn_fail(err, PDNN_INVALID, "%s has no value", group->of[PDNN_MAPPED_MODEL]->name);
    else
        pdnn_str_printf(&id, "%s",
                        group->of[PDNN_MAPPED_MODEL] ? pdnn_mapped_text(group, row, PDNN_MAPPED_MODEL)
                                                     : request->model);
    for (size_t i = 0; i < group->n; i++) {
        const char *value = pdnn_table_text(group->rows, row, group->column[i].at);
        if (group->column[i].role == PDNN_MAPPED_KEY && strchr(value, ','))
            status = pdnn_fail(err, PDNN_INVALID, "%s is '%.64s', which is not one value",
                               group->column[i].name, value);
        else if (group->column[i].role == PDNN_MAPPED_KEY && *value)
            pdnn_str_printf(&id, ",%s=%s", group->column[i].key, value);
    }
    for (size_t i = 0; i < request->n_set; i++)
        pdnn_str_printf(&id, ",%s", request->set[i]);
    if (status == PDNN_OK)
        status = pdnn_instance_parse(pdnn_str_text(&id), instance, err);
    if (status == PDNN_OK)
        status = check_values(group, row, instance, err);
    if (status == PDNN_OK)
        pdnn_instance_resolve(instance, 0);
    pdnn_str_finish(&id);
    return status;
}

static double batch_of(const struct pdnn_instance *instance) {
    return (double)instance->hyper[instance->family->minibatch_param].number;
}

/* "; no --map names batch, notes": the columns that no group has. */
static const char *unread(struct import *im) {
    const char *list = "";
    for (size_t c = 0; c < im->file.rows.n_columns; c++)
        if (!pdnn_mapping_has(&im->map, c))
            list = with(im, list, ", ", im->file.rows.column[c].def.name);
    return im->request->n_map && *list ? pdnn_arena_printf(&im->arena, "; no --map names %s", list) : "";
}

/* The file's numbers of one instance, NaN before, and the time of a step. What follows from others must. */
static enum pdnn_status read_numbers(const struct import *im, const struct pdnn_mapped_group *group,
                                     size_t row, struct row *made, struct pdnn_err *err) {
    static const double rounded = 1e-3, measured_apart = 0.03; /* relative: files have rounded counts */
    const double examples = (double)pdnn_instance_examples(&made->instance);
    double *number = made->number;
    const char *name[PDNN_MAPPED_NUMBERS];
    for (size_t role = 0; role < PDNN_MAPPED_NUMBERS; role++) {
        const struct pdnn_mapped *of = group->of[role];
        const char *text = of ? pdnn_table_text(group->rows, row, of->at) : "";
        if (!of)
            continue;
        name[role] = of->name;
        if (!*text)
            return pdnn_fail(err, PDNN_INVALID, "%s has no value", name[role]);
        if (!pdnn_parse_double(text, &number[role]))
            return pdnn_fail(err, PDNN_INVALID, "%s is not a number", name[role]);
        if (!(number[role] >= 0))
            return pdnn_fail(err, PDNN_INVALID, "%s is %.10g", name[role], number[role]);
        number[role] *=
            of->factor *
            (double)(role == PDNN_MAPPED_FLOP || role == PDNN_MAPPED_GFLOPS ? im->request->shards : 1);
    }
    const enum pdnn_mapped_role source = !isnan(number[PDNN_MAPPED_TIME])    ? PDNN_MAPPED_TIME
                                         : !isnan(number[PDNN_MAPPED_STEPS]) ? PDNN_MAPPED_STEPS
                                                                             : PDNN_MAPPED_EXAMPLES;
    const double steps = source == PDNN_MAPPED_TIME    ? 1e9 / number[PDNN_MAPPED_TIME]
                         : source == PDNN_MAPPED_STEPS ? number[PDNN_MAPPED_STEPS]
                                                       : number[PDNN_MAPPED_EXAMPLES] / examples;
    const struct {
        enum pdnn_mapped_role role;
        double value;
        const char *of;
    } rates[] = {{PDNN_MAPPED_STEPS, steps, "1"},
                 {PDNN_MAPPED_EXAMPLES, examples * steps,
                  examples == batch_of(&made->instance) ? "the batch" : "a step's examples"},
                 {PDNN_MAPPED_GFLOPS, steps * number[PDNN_MAPPED_FLOP] / 1e9,
                  isnan(number[PDNN_MAPPED_FLOP]) ? "" : name[PDNN_MAPPED_FLOP]}};
    const double near = source == PDNN_MAPPED_TIME ? measured_apart : rounded;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        const enum pdnn_mapped_role role = rates[i].role;
        if (fabs(rates[i].value - number[role]) > near * rates[i].value)
            return pdnn_fail(err, PDNN_INVALID, "%s is %.10g, but %s %s %s %.10g", name[role], number[role],
                             rates[i].of, source == PDNN_MAPPED_TIME ? "over" : "times", name[source],
                             rates[i].value);
    }
    made->source = source;
    made->time_ns = source == PDNN_MAPPED_TIME ? number[PDNN_MAPPED_TIME] : 1e9 / steps;
    return isnan(made->time_ns) ? pdnn_fail(err, PDNN_INVALID, "there is no time") : PDNN_OK;
}

static bool has_roofs(const struct import *im, int64_t threads) {
    size_t i = 0;
    while (i < im->roof_rows->count &&
           (im->roof_rows->row[i].threads != threads || strcmp(im->roof_rows->row[i].kind, "bandwidth") != 0))
        i++;
    return i < im->roof_rows->count;
}

/* Which numbers of threads there are roofs for: "1, 2". */
static const char *roofs_of(struct import *im) {
    const char *list = "";
    for (size_t i = 0; i < im->roof_rows->count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%" PRIi64, im->roof_rows->row[i].threads);
        if (strcmp(im->roof_rows->row[i].kind, "bandwidth") == 0 &&
            !pdnn_parts_have(list, ", ", number, strlen(number)))
            list = with(im, list, ", ", number);
    }
    return list;
}

/* The families of all rows that can be read, whose hyper-parameters are columns, and their roofs. */
static enum pdnn_status begin_tables(struct import *im, struct pdnn_err *err) {
    const struct pdnn_import_request *request = im->request;
    size_t n_families = 0;
    const struct pdnn_family_def **families = pdnn_arena_alloc(&im->arena, im->map.n_rows, sizeof *families);
    im->params_ratio = pdnn_arena_alloc(&im->arena, im->map.n_rows, sizeof *im->params_ratio);
    im->flop_ratio = pdnn_arena_alloc(&im->arena, im->map.n_rows, sizeof *im->flop_ratio);
    im->ran = pdnn_arena_alloc(&im->arena, im->map.n_rows, sizeof *im->ran);
    im->sample = pdnn_arena_alloc(&im->arena, im->map.n_rows, sizeof *im->sample);
    for (const struct pdnn_mapped_group *g = im->map.group; g < im->map.group + im->map.n_groups; g++) {
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
            if (pdnn_given_roofs_add(&im->given, &instance, im->roof_rows, err) != PDNN_OK)
                return pdnn_wrap(err, "%.512s", request->path);
        }
    }
    pdnn_table_init(&im->imported, &pdnn_imported_def);
    pdnn_tables_init(&im->tables, families, n_families);
    return request->roof_rows ? pdnn_roof_rows_read(request->roof_rows, NULL, im->roof_rows, err) : PDNN_OK;
}

/* Of all samples, the median of those that have it. */
static double median_of(const struct sample *const *samples, size_t count, size_t number, double *scratch) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(samples[i]->number[number]))
            scratch[n++] = samples[i]->number[number];
    return n ? pdnn_median(scratch, n) : NAN;
}

/* The times of repetitions; how far they were from being independent, nobody says. */
static void set_spread(struct pdnn_result *result, double *times, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += times[i];
    const double median = pdnn_median(times, count); /* sorts them */
    pdnn_result_set_number(result, PDNN_RESULT_TIME_NS_MEDIAN, median);
    pdnn_result_set_number(result, PDNN_RESULT_TIME_NS_MIN, times[0]);
    if (count == 1)
        return;
    pdnn_result_set_count(result, PDNN_RESULT_SAMPLES, count);
    pdnn_result_set_number(result, PDNN_RESULT_TIME_NS_MEAN, sum / (double)count);
    pdnn_result_set_number(result, PDNN_RESULT_TIME_NS_P10, pdnn_quantile_sorted(times, count, 0.1));
    pdnn_result_set_number(result, PDNN_RESULT_TIME_NS_P90, pdnn_quantile_sorted(times, count, 0.9));
}

/* The file's FLOP of a step, or their rate, over the instance's; NaN: it has neither. */
static double flop_ratio(const double *number, double time_ns, const struct pdnn_cost *cost) {
    const double flop =
        !isnan(number[PDNN_MAPPED_FLOP]) ? number[PDNN_MAPPED_FLOP] : number[PDNN_MAPPED_GFLOPS] * time_ns;
    return flop / (double)cost->flop_count;
}

/* Rates and the place under the roofs follow from the instance's own costs at the file's time. Every byte of
 * a step was last used a step ago. */
static void set_times(struct import *im, const struct ran *ran, const double number[PDNN_MAPPED_NUMBERS],
                      double time_ns) {
    static const double most = 0.05, far = 2; /* ParaDnn's files have four digits, and FLOP of more passes */
    const struct pdnn_cost *cost = &ran->totals.cost;
    const double params = (double)ran->totals.params, flop = flop_ratio(number, time_ns, cost);
    /* Numbers of another model than the label's, as ParaDnn's own scripts wrote some. */
    const bool is_mislabeled = fabs(number[PDNN_MAPPED_PARAMS] - params) > most * params,
               is_far = flop > far || flop < 1 / far;
    struct pdnn_result result = pdnn_result_of(&im->tables.results, (size_t)(ran - im->ran));
    struct pdnn_place_input input = {.time_ns = time_ns, .speed = {1, 1}};
    struct pdnn_placement placement;
    char flags[PDNN_FLAGS_TEXT];
    if (im->roofs_threads != ran->threads)
        pdnn_roofs_init(&im->roofs, im->roof_rows, ran->threads);
    im->roofs_threads = ran->threads;
    const struct pdnn_roofs none = {.n_levels = 0};
    const struct pdnn_roofs *roofs = pdnn_given_roofs_lack(&im->given, ran->dtype) ? &none : &im->roofs;
    input.flop_count[ran->dtype] = cost->in_bounds_flop_count;
    pdnn_traffic_from(&input.traffic, roofs, cost->byte_count, cost->byte_count);
    pdnn_place(roofs, &input, &placement);
    pdnn_record_put(result.table, result.row, &placement);
    pdnn_result_set_number(&result, PDNN_RESULT_EXAMPLES_PER_S,
                           isnan(number[PDNN_MAPPED_EXAMPLES]) ? (double)ran->examples * 1e9 / time_ns
                                                               : number[PDNN_MAPPED_EXAMPLES]);
    pdnn_result_set_text(
        &result, PDNN_RESULT_ROW_FLAGS,
        pdnn_flags_format((is_mislabeled || is_far ? PDNN_FLAG_MISLABELED : 0) |
                              (placement.pct_of_roof > PDNN_ABOVE_ROOF_PCT ? PDNN_FLAG_ABOVE_ROOF : 0),
                          flags));
    im->result.mislabeled += is_mislabeled;
    im->result.far += is_far && !is_mislabeled;
    if (!isnan(number[PDNN_MAPPED_PARAMS]))
        im->params_ratio[im->n_params_ratio++] = number[PDNN_MAPPED_PARAMS] / params;
    if (!isnan(flop))
        im->flop_ratio[im->n_flop_ratio++] = flop;
}

static int by_ran(const void *a, const void *b) {
    const struct sample *const *one = a, *const *other = b;
    const struct ran *x = (*one)->of, *y = (*other)->of;
    return x != y ? (x > y) - (x < y) : (*one > *other) - (*one < *other);
}

/* The samples of each instance, in the file's order. */
static void take_samples(struct import *im) {
    const struct sample **sorted = pdnn_arena_alloc(&im->arena, im->n_samples + 1, sizeof *sorted);
    double *scratch = pdnn_arena_alloc(&im->arena, im->n_samples + 1, sizeof *scratch);
    for (size_t i = 0; i < im->n_samples; i++)
        sorted[i] = &im->sample[i];
    qsort(sorted, im->n_samples, sizeof *sorted, by_ran);
    for (size_t i = 0, count; i < im->n_samples; i += count) {
        const struct ran *ran = sorted[i]->of;
        struct pdnn_result result = pdnn_result_of(&im->tables.results, (size_t)(ran - im->ran));
        double number[PDNN_MAPPED_NUMBERS];
        for (count = 0; i + count < im->n_samples && sorted[i + count]->of == ran; count++) {
        }
        for (size_t role = 0; role < PDNN_MAPPED_NUMBERS; role++) {
            number[role] = median_of(sorted + i, count, role, scratch);
            pdnn_table_set_number(&im->imported, (size_t)(ran - im->ran), FIRST_NUMBER + role, number[role]);
        }
        for (size_t k = 0; k < count; k++)
            scratch[k] = sorted[i + k]->time_ns;
        set_spread(&result, scratch, count);
        set_times(im, ran, number, pdnn_result_number(&result, PDNN_RESULT_TIME_NS_MEDIAN));
    }
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
        if (made->instance.setting[i] == pdnn_settings[i].fallback.number)
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
    for (size_t i = 0; i < PDNN_MAPPED_NUMBERS; i++)
        pdnn_table_set_number(&im->imported, row, FIRST_NUMBER + i, made->number[i]);
}

/* Whether it says the same of the model as the instance's first row. A column that nobody reads, but that is
 * called as a key is, tells two instances apart; others are said. */
static bool is_repetition(struct import *im, const struct pdnn_mapped_group *group, size_t row,
                          const struct row *made, const struct ran *first) {
    static const double near = 1e-3;
    const struct pdnn_family_def *family = made->instance.family;
    const double *before = im->sample[first->sample].number, *now = made->number;
    if (!first->examples || !(made->time_ns < INFINITY) || !(made->time_ns > 0))
        return false;
    for (size_t role = PDNN_MAPPED_PARAMS; role <= PDNN_MAPPED_FLOP; role++)
        if (fabs(now[role] - before[role]) > near * now[role])
            return false;
    for (size_t c = 0; c < im->file.rows.n_columns; c++) {
        const char *name = im->file.rows.column[c].def.name;
        if (pdnn_mapping_has(&im->map, c) ||
            strcmp(pdnn_table_text(group->rows, row, c), pdnn_table_text(group->rows, first->row, c)) == 0)
            continue;
        if (pdnn_param_find(family->params, family->n_params, name) >= 0 ||
            pdnn_param_find(pdnn_settings, PDNN_SETTING_COUNT, name) >= 0)
            return false;
        pdnn_texts_add(&im->apart, name);
    }
    im->result.repetitions++;
    return true;
}

/* Once more, or for the first time. */
static enum pdnn_status add_run(struct import *im, const struct pdnn_mapped_group *group, size_t row,
                                struct row *made, size_t known, struct pdnn_err *err) {
    const int64_t threads = made->instance.setting[PDNN_SETTING_THREADS];
    struct ran *ran = &im->ran[known < im->ids.count ? known : im->ids.count];
    if (im->request->roof_rows && !has_roofs(im, threads))
        return pdnn_fail(
            err, PDNN_INVALID, "%.512s has no roofs for %s threads, only for %s: give --set threads=N",
            im->request->roof_rows,
            threads ? pdnn_arena_printf(&im->arena, "%" PRIi64, threads) : "an unknown number of",
            roofs_of(im));
    if (read_numbers(im, group, row, made, err) != PDNN_OK)
        return err->status;
    const char *name = group->of[made->source]->name;
    if (known < im->ids.count && !is_repetition(im, group, row, made, ran))
        return pdnn_fail(err, PDNN_INVALID, "is there twice%s", unread(im));
    if (!(made->number[made->source] > 0)) {
        add_row(im, made, PDNN_OUTCOME_INTERRUPTED,
                pdnn_arena_printf(&im->arena, "%s is 0 in the file", name), true);
        return PDNN_OK;
    }
    if (known == SIZE_MAX) {
        *ran = (struct ran){group,
                            row,
                            im->n_samples,
                            threads,
                            made->instance.setting[PDNN_SETTING_DTYPE],
                            pdnn_instance_examples(&made->instance),
                            made->totals};
        add_row(im, made, PDNN_OUTCOME_OK, "", true);
    }
    struct sample *sample = &im->sample[im->n_samples++];
    *sample = (struct sample){.of = ran, .time_ns = made->time_ns};
    memcpy(sample->number, made->number, sizeof made->number);
    return PDNN_OK;
}

/* An instance that ran, or one that did not, which has no numbers. */
static enum pdnn_status add_instance(struct import *im, const struct pdnn_mapped_group *group, size_t row,
                                     struct pdnn_err *err) {
    struct row made = {.label = pdnn_mapped_text(
                           group, row, group->of[PDNN_MAPPED_LABEL] ? PDNN_MAPPED_LABEL : PDNN_MAPPED_MODEL),
                       .state = pdnn_mapped_text(group, row, PDNN_MAPPED_STATE)};
    char id[PDNN_ID_TEXT];
    enum pdnn_outcome outcome;
    for (size_t i = 0; i < PDNN_MAPPED_NUMBERS; i++)
        made.number[i] = NAN;
    if (read_instance(im, group, row, &made.instance, err) != PDNN_OK ||
        pdnn_state_outcome(made.state, &outcome, err) != PDNN_OK)
        return err->status;
    const size_t known = pdnn_texts_find(&im->ids, pdnn_instance_format(&made.instance, id));
    const bool has_totals =
        pdnn_cost_instance(&made.instance, &im->graph, true, &made.totals, err) == PDNN_OK;
    if (!has_totals && (outcome == PDNN_OUTCOME_OK || err->status == PDNN_INTERNAL))
        return err->status;
    if (outcome == PDNN_OUTCOME_OK)
        return add_run(im, group, row, &made, known, err);
    if (known != SIZE_MAX)
        return pdnn_fail(err, PDNN_INVALID, "is there twice%s", unread(im));
    add_row(im, &made, outcome, made.state, has_totals);
    return PDNN_OK;
}

/* What cannot be mapped is left out, and the first few say why. */
static enum pdnn_status make_tables(struct import *im, struct pdnn_err *err) {
    struct pdnn_err first = {0};
    for (const struct pdnn_mapped_group *g = im->map.group; g < im->map.group + im->map.n_groups; g++) {
        for (size_t row = 0; row < g->n_rows; row++) {
            struct pdnn_err cause = {0};
            if (is_elsewhere(im, g, row)) {
                im->result.elsewhere++;
            } else if (add_instance(im, g, row, &cause) != PDNN_OK) {
                if (g->of[PDNN_MAPPED_LABEL])
                    pdnn_wrap(&cause, "label '%.256s'", pdnn_mapped_text(g, row, PDNN_MAPPED_LABEL));
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
    if (im->result.elsewhere == im->map.n_rows)
        return pdnn_fail(err, PDNN_INVALID, "%.512s has no platform '%.64s'", im->request->path, im->host);
    if (!im->imported.n_rows) {
        *err = first;
        return pdnn_wrap(err, "%.512s: none of %zu instances can be read, the first", im->request->path,
                         im->result.left_out);
    }
    take_samples(im);
    for (size_t i = 0; i < im->apart.count; i++) {
        pdnn_str_append(&im->result.apart, ", ", i ? 2 : 0);
        pdnn_visible_append(&im->result.apart, im->apart.text[i], strlen(im->apart.text[i]), "");
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
    struct pdnn_str imported = {0}, roof_rows = {0};
    struct pdnn_folder folder;
    if (pdnn_link_check(output, err) != PDNN_OK)
        return err->status;
    if (mkdir(output, 0777) != 0)
        return pdnn_fail(err, PDNN_INVALID, "%.512s: cannot be made: %s", output, strerror(errno));
    pdnn_table_csv(&imported, &im->imported);
    pdnn_roof_rows_format(im->roof_rows, &roof_rows);
    enum pdnn_status status = PDNN_OK;
    if (pdnn_folder_open(&folder, output, err) != PDNN_OK ||
        pdnn_tables_write(&im->tables, &folder, err) != PDNN_OK ||
        pdnn_folder_replace(&folder, "imported.csv", imported.text, imported.length, err) != PDNN_OK ||
        (im->roof_rows->count &&
         pdnn_folder_replace(&folder, "ceilings.csv", roof_rows.text, roof_rows.length, err) != PDNN_OK) ||
        write_environment(im, &folder, err) != PDNN_OK)
        status = err->status;
    for (size_t i = 0; status != PDNN_OK && folder.fd >= 0 && i < sizeof names / sizeof *names; i++)
        unlinkat(folder.fd, names[i], 0);
    pdnn_folder_close(&folder);
    pdnn_str_finish(&imported);
    pdnn_str_finish(&roof_rows);
    if (status != PDNN_OK)
        rmdir(output);
    return status;
}

void pdnn_import_result_finish(struct pdnn_import_result *result) {
    pdnn_str_finish(&result->reasons);
    pdnn_str_finish(&result->apart);
}

enum pdnn_status pdnn_import(const struct pdnn_import_request *request, struct pdnn_import_result *result,
                             struct pdnn_err *err) {
    struct import im = {.request = request, .roofs_threads = -1};
    im.roof_rows = pdnn_alloc(1, sizeof *im.roof_rows);
    enum pdnn_status status = PDNN_OK;
    if (pdnn_given_roofs_parse(&im.given, request->peak, request->bandwidth_gbs, err) != PDNN_OK ||
        pdnn_import_source_read(request->path, &im.file, err) != PDNN_OK ||
        pdnn_mapping_make(&im.map, request, &im.file, &im.arena, err) != PDNN_OK ||
        choose_host(&im, err) != PDNN_OK || begin_tables(&im, err) != PDNN_OK ||
        make_tables(&im, err) != PDNN_OK || write_directory(&im, err) != PDNN_OK) {
        status = err->status;
        pdnn_import_result_finish(&im.result);
    } else {
        *result = im.result;
    }
    pdnn_table_finish(&im.file.rows);
    pdnn_tables_finish(&im.tables);
    pdnn_texts_finish(&im.ids);
    pdnn_texts_finish(&im.apart);
    pdnn_given_roofs_finish(&im.given);
    pdnn_table_finish(&im.imported);
    pdnn_arena_finish(&im.graph);
    pdnn_arena_finish(&im.arena);
    free(im.roof_rows);
    return status;
}
