/* The JSON files that ParaDnn shipped, as a result directory: labels become instances, states become
 * statuses, and what the files say about an instance is kept beside it in imported.csv. Costs and rates in
 * results.csv follow from the instance as in a sweep, since ParaDnn's profiler also counted the first layer's
 * gradient of the data, which no program needs.
 *
 * A file is one object of parallel lists. For the instances that ran: `labels`
 * (layer_32-node_512-input_8000-output_200-bs_1024), `params`, `fl` (GFLOP per step), `flops` (GFLOP/s),
 * `intensity` (FLOP per byte of parameters), `step_per_sec`, `example_per_sec`; for those that did not:
 * `err_jobs` (labels) and `states`. */
#define _POSIX_C_SOURCE 200809L
#include "results/import/importer.h"
#include "base/file.h"
#include "base/paths/nearby.h"
#include "base/texts.h"
#include "base/visible.h"
#include "results/import/labels.h"
#include "results/table/number.h"
#include "results/table/write.h"
#include "results/store/tables.h"
#include "base/stats.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PDNN_JSON_LIMIT_BYTES = 256 << 20 };

/* What the file says about an instance; NaN: nothing, because it did not run. */
struct imported {
    const char *label, *state;
    double params, step_flop_count, gflops, intensity_flop_per_byte, steps_per_s, examples_per_s;
};

#define EXACT PDNN_KIND_NUMBER, .digits = PDNN_DIGITS_EXACT

enum { ID, LABEL, STATE, FIRST_NUMBER, N_COLUMNS = FIRST_NUMBER + 6 };

static const struct pdnn_column_def columns[N_COLUMNS] = {
    {"id", .help = "the instance, as in results.csv"},
    {"label", .help = "what the file calls it"},
    {"state", .help = "why it did not run, in the file's words"},
    {"params", NULL, "elements", EXACT, .help = "as in the file"},
    {"step_flop_count", NULL, "FLOP", EXACT,
     .help = "FLOP of one step as its profiler counted, of all shards; "
             "it includes the first layer's gradient of the data"},
    {"gflops", NULL, "1e9 FLOP/s", EXACT, .help = "that count times steps_per_s"},
    {"intensity_flop_per_byte", NULL, "FLOP/byte", EXACT,
     .help = "as in the file: FLOP of one step and shard over the bytes of the parameters; "
             "not an operational intensity"},
    {"steps_per_s", NULL, "1/s", EXACT, .help = "as in the file: the fastest interval between two reports"},
    {"examples_per_s", NULL, "1/s", EXACT, .help = "as in the file"},
};
const struct pdnn_table_def pdnn_imported_def = {"imported", "what an imported file says of instances",
                                                 columns, N_COLUMNS};

/* The lists of the file, as rows. */
enum list { LABELS, PARAMS, FL, FLOPS, INTENSITY, STEPS, EXAMPLES, ERR_JOBS, STATES, LISTS };

static const struct {
    const char *name;
    bool is_text;
    enum list like; /* the list that it is as long as */
} lists[LISTS] = {
    [LABELS] = {"labels", true, LABELS},
    [PARAMS] = {"params", false, LABELS},
    [FL] = {"fl", false, LABELS},
    [FLOPS] = {"flops", false, LABELS},
    [INTENSITY] = {"intensity", false, LABELS},
    [STEPS] = {"step_per_sec", false, LABELS},
    [EXAMPLES] = {"example_per_sec", false, LABELS},
    [ERR_JOBS] = {"err_jobs", true, ERR_JOBS},
    [STATES] = {"states", true, ERR_JOBS},
};

struct import {
    const struct pdnn_import_request *request;
    json_t *root, *list[LISTS];
    struct pdnn_tables tables;
    struct pdnn_arena arena, graph;
    struct pdnn_texts ids;
    struct pdnn_table imported;
    double *params_ratio, *flop_ratio; /* of instances that ran */
    size_t n_ran;
    struct pdnn_import_result result;
};

static enum pdnn_status read_json(struct import *im, struct pdnn_err *err) {
    static const char *const tables[] = {".csv", ".tsv", NULL};
    char *text = NULL;
    size_t length;
    json_error_t error;
    if (pdnn_file_read(im->request->path, PDNN_JSON_LIMIT_BYTES, &text, &length, err) != PDNN_OK)
        return err->status;
    im->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    free(text);
    if (!im->root && pdnn_has_ending(im->request->path, tables))
        return pdnn_fail(err, PDNN_INVALID, "%.512s: is a table, expected a JSON file that ParaDnn shipped",
                         im->request->path);
    if (!im->root)
        return pdnn_fail(err, PDNN_INVALID, "%.512s:%d:%d: not JSON: %s", im->request->path, error.line,
                         error.column, error.text);
    return PDNN_OK;
}

/* Whatever else there is might matter. */
static enum pdnn_status refuse_others(const struct import *im, struct pdnn_err *err) {
    const char *key, *names[LISTS];
    json_t *value;
    for (size_t i = 0; i < LISTS; i++)
        names[i] = lists[i].name;
    json_object_foreach(im->root, key, value) {
        char suggestion[PDNN_SUGGESTION_TEXT];
        size_t i = 0;
        while (i < LISTS && strcmp(names[i], key) != 0)
            i++;
        if (i == LISTS)
            return pdnn_fail(err, PDNN_INVALID, "%.512s: unknown list '%.64s'%s", im->request->path, key,
                             pdnn_suggest(suggestion, key, names, LISTS));
    }
    return PDNN_OK;
}

static enum pdnn_status check_list(const struct import *im, size_t i, struct pdnn_err *err) {
    const json_t *list = im->list[i];
    size_t count = json_array_size(list), wanted = json_array_size(im->list[lists[i].like]);
    if (!list || !json_is_array(list))
        return pdnn_fail(err, PDNN_INVALID, "%.512s: %s '%s'", im->request->path,
                         list ? "there must be a list of values in" : "there is no list", lists[i].name);
    if (count != wanted)
        return pdnn_fail(err, PDNN_INVALID, "%.512s: '%s' has %zu values, '%s' %zu", im->request->path,
                         lists[i].name, count, lists[lists[i].like].name, wanted);
    return PDNN_OK;
}

/* The values of all lists that are like `like` at one place. */
static enum pdnn_status check_values(const struct import *im, enum list like, size_t at,
                                     struct pdnn_err *err) {
    for (size_t i = 0; i < LISTS; i++) {
        const json_t *value = json_array_get(im->list[i], at), *label = json_array_get(im->list[like], at);
        if (lists[i].like != like || (lists[i].is_text ? json_is_string(value) : json_is_number(value)))
            continue;
        if (i == like)
            return pdnn_fail(err, PDNN_INVALID, "value %zu of '%s' is not a text", at + 1, lists[i].name);
        return pdnn_fail(err, PDNN_INVALID, "label '%.256s': %s is not a %s", json_string_value(label),
                         lists[i].name, lists[i].is_text ? "text" : "number");
    }
    return PDNN_OK;
}

static enum pdnn_status find_lists(struct import *im, struct pdnn_err *err) {
    if (!json_is_object(im->root))
        return pdnn_fail(err, PDNN_INVALID, "%.512s: not an object of lists", im->request->path);
    if (refuse_others(im, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; i < LISTS; i++)
        im->list[i] = json_object_get(im->root, lists[i].name);
    for (size_t i = 0; i < LISTS; i++) {
        if (check_list(im, i, err) != PDNN_OK)
            return err->status;
    }
    if (!json_array_size(im->list[LABELS]) && !json_array_size(im->list[ERR_JOBS]))
        return pdnn_fail(err, PDNN_INVALID, "%.512s: no instances", im->request->path);
    return PDNN_OK;
}

static const char *text_at(const struct import *im, enum list list, size_t at) {
    return json_string_value(json_array_get(im->list[list], at));
}

static double number_at(const struct import *im, enum list list, size_t at) {
    return json_number_value(json_array_get(im->list[list], at));
}

/* The row that is being made. */
struct row {
    struct pdnn_result result;
    struct pdnn_instance instance;
    bool has_totals;
    struct pdnn_totals totals;
};

/* The label's instance and its costs. */
static enum pdnn_status read_label(struct import *im, const char *label, struct row *row,
                                   struct pdnn_err *err) {
    char id[PDNN_ID_TEXT];
    if (pdnn_label_parse(label, im->request->set, im->request->n_set, &row->instance, err) != PDNN_OK)
        return err->status;
    if (pdnn_texts_find(&im->ids, pdnn_instance_format(&row->instance, id)) != SIZE_MAX)
        return pdnn_fail(err, PDNN_INVALID, "label '%.256s' is there twice", label);
    row->has_totals = pdnn_cost_instance(&row->instance, &im->graph, true, &row->totals, err) == PDNN_OK;
    return row->has_totals || err->status != PDNN_INTERNAL ? PDNN_OK : err->status;
}

/* Rates of the instance's own costs at the file's step time. */
static void set_times(struct row *row, const struct imported *imported) {
    struct pdnn_result *result = &row->result;
    const double time_ns = 1e9 / imported->steps_per_s, flop = (double)row->totals.cost.in_bounds_flop_count,
                 bytes = (double)row->totals.cost.byte_count;
    pdnn_result_set_number(result, PDNN_RESULT_TIME_NS_MEDIAN, time_ns);
    pdnn_result_set_number(result, PDNN_RESULT_TIME_NS_MIN, time_ns);
    pdnn_result_set_number(result, PDNN_RESULT_EXAMPLES_PER_S, imported->examples_per_s);
    pdnn_result_set_number(result, PDNN_RESULT_GFLOPS, flop / time_ns);
    pdnn_result_set_number(result, PDNN_RESULT_BW_GBS, bytes / time_ns);
    pdnn_result_set_number(result, PDNN_RESULT_INTENSITY_FLOP_PER_BYTE, flop / bytes);
}

/* A label and numbers of different models: rates would be of neither. ParaDnn's own scripts wrote some. */
static bool is_mislabeled(const struct row *row, const struct imported *imported) {
    static const double most = 0.05; /* the files have four digits */
    const double params = (double)row->totals.params;
    return fabs(imported->params - params) > most * params;
}

static void add_row(struct import *im, struct row *made, enum pdnn_outcome outcome, const char *reason,
                    const struct imported *imported) {
    const double numbers[] = {imported->params,      imported->step_flop_count,
                              imported->gflops,      imported->intensity_flop_per_byte,
                              imported->steps_per_s, imported->examples_per_s};
    char id[PDNN_ID_TEXT];
    size_t row = pdnn_table_add_row(&im->imported);
    made->result = pdnn_result_of(&im->tables.results, 0);
    pdnn_result_add(&made->result, pdnn_instance_format(&made->instance, id));
    pdnn_texts_add(&im->ids, id);
    pdnn_result_set_instance(&made->result, &made->instance);
    pdnn_result_set_text(&made->result, PDNN_RESULT_HOST, im->request->host);
    if (made->has_totals)
        pdnn_result_set_totals(&made->result, &made->totals);
    if (outcome == PDNN_OUTCOME_OK) {
        bool is_other = is_mislabeled(made, imported);
        char flags[PDNN_FLAGS_TEXT];
        set_times(made, imported);
        im->result.mislabeled += is_other;
        pdnn_result_set_text(&made->result, PDNN_RESULT_ROW_FLAGS,
                             pdnn_flags_format(is_other ? PDNN_FLAG_MISLABELED : 0, flags));
    }
    pdnn_table_set_text(&im->imported, row, ID, id);
    pdnn_table_set_text(&im->imported, row, LABEL, imported->label);
    pdnn_table_set_text(&im->imported, row, STATE, imported->state);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        pdnn_table_set_number(&im->imported, row, FIRST_NUMBER + i, numbers[i]);
    pdnn_result_set_text(&made->result, PDNN_RESULT_STATUS, pdnn_outcome_name(outcome));
    pdnn_result_set_text(&made->result, PDNN_RESULT_REASON, reason);
    im->result.counts[outcome]++;
}

/* The file's numbers of one instance; those that follow from others must. */
static enum pdnn_status read_numbers(const struct import *im, size_t at, int64_t batch,
                                     struct imported *imported, struct pdnn_err *err) {
    const char *label = text_at(im, LABELS, at);
    const double near = 1e-3; /* relative: the files have rounded counts */
    double fl = number_at(im, FL, at), flops = number_at(im, FLOPS, at), shards = (double)im->request->shards;
    for (enum list list = PARAMS; list <= EXAMPLES; list++) {
        if (!(number_at(im, list, at) >= 0))
            return pdnn_fail(err, PDNN_INVALID, "label '%.256s': %s is %g", label, lists[list].name,
                             number_at(im, list, at));
    }
    *imported = (struct imported){.label = label,
                                  .state = "",
                                  .params = number_at(im, PARAMS, at),
                                  .step_flop_count = fl * shards * 1e9,
                                  .gflops = flops * shards,
                                  .intensity_flop_per_byte = number_at(im, INTENSITY, at),
                                  .steps_per_s = number_at(im, STEPS, at),
                                  .examples_per_s = number_at(im, EXAMPLES, at)};
    double examples = imported->steps_per_s * (double)batch, rate = imported->steps_per_s * fl;
    if (fabs(examples - imported->examples_per_s) > near * examples)
        return pdnn_fail(err, PDNN_INVALID,
                         "label '%.256s': example_per_sec is %g, but the batch times step_per_sec %g", label,
                         imported->examples_per_s, examples);
    if (fabs(rate - flops) > near * rate)
        return pdnn_fail(err, PDNN_INVALID, "label '%.256s': flops is %g, but fl times step_per_sec %g",
                         label, flops, rate);
    return PDNN_OK;
}

static enum pdnn_status add_ran(struct import *im, size_t at, struct pdnn_err *err) {
    struct row row = {.has_totals = false};
    struct imported imported;
    if (check_values(im, LABELS, at, err) != PDNN_OK)
        return err->status;
    const char *label = text_at(im, LABELS, at);
    if (read_label(im, label, &row, err) != PDNN_OK)
        return err->status;
    if (!row.has_totals)
        return pdnn_wrap(err, "label '%.256s'", label);
    const struct pdnn_value *batch = &row.instance.hyper[row.instance.family->minibatch_param];
    if (read_numbers(im, at, batch->number, &imported, err) != PDNN_OK)
        return err->status;
    if (imported.steps_per_s > 0) {
        im->params_ratio[im->n_ran] = imported.params / (double)row.totals.params;
        im->flop_ratio[im->n_ran++] = imported.step_flop_count / (double)row.totals.cost.flop_count;
        add_row(im, &row, PDNN_OUTCOME_OK, "", &imported);
    } else {
        add_row(im, &row, PDNN_OUTCOME_INTERRUPTED, "step_per_sec is 0 in the file", &imported);
    }
    return PDNN_OK;
}

static enum pdnn_status add_failed(struct import *im, size_t at, struct pdnn_err *err) {
    struct row row = {.has_totals = false};
    if (check_values(im, ERR_JOBS, at, err) != PDNN_OK)
        return err->status;
    const char *label = text_at(im, ERR_JOBS, at), *state = text_at(im, STATES, at);
    struct imported imported = {label, state, NAN, NAN, NAN, NAN, NAN, NAN};
    char suggestion[PDNN_SUGGESTION_TEXT];
    if (read_label(im, label, &row, err) != PDNN_OK)
        return err->status;
    enum pdnn_outcome outcome = pdnn_state_outcome(state);
    if (outcome == PDNN_OUTCOME_COUNT)
        return pdnn_fail(err, PDNN_INVALID, "label '%.256s': unknown state '%.64s'%s", label, state,
                         pdnn_state_suggest(state, suggestion));
    add_row(im, &row, outcome, state, &imported);
    return PDNN_OK;
}

/* The families of all labels that can be read, whose hyper-parameters are columns. */
static void begin_tables(struct import *im) {
    size_t ran = json_array_size(im->list[LABELS]), failed = json_array_size(im->list[ERR_JOBS]),
           n_families = 0, known = 0;
    while (pdnn_families[known])
        known++;
    const struct pdnn_family_def **families = pdnn_arena_alloc(&im->arena, known, sizeof *families);
    im->params_ratio = pdnn_arena_alloc(&im->arena, ran + 1, sizeof *im->params_ratio);
    im->flop_ratio = pdnn_arena_alloc(&im->arena, ran + 1, sizeof *im->flop_ratio);
    for (size_t i = 0; i < ran + failed; i++) {
        struct pdnn_instance instance;
        struct pdnn_err unread = {0};
        const char *label = i < ran ? text_at(im, LABELS, i) : text_at(im, ERR_JOBS, i - ran);
        size_t k = 0;
        if (!label ||
            pdnn_label_parse(label, im->request->set, im->request->n_set, &instance, &unread) != PDNN_OK)
            continue;
        while (k < n_families && families[k] != instance.family)
            k++;
        if (k == n_families)
            families[n_families++] = instance.family;
    }
    pdnn_table_init(&im->imported, &pdnn_imported_def);
    pdnn_tables_init(&im->tables, families, n_families);
}

/* What cannot be mapped is left out, and the first few say why. */
static void leave_out(struct import *im, const struct pdnn_err *err) {
    if (im->result.left_out++ >= PDNN_IMPORT_REASONS)
        return;
    pdnn_visible_append(&im->result.reasons, err->text, strlen(err->text), "");
    pdnn_str_append(&im->result.reasons, "\n", 1);
}

static enum pdnn_status make_tables(struct import *im, struct pdnn_err *err) {
    static const struct {
        enum list list;
        enum pdnn_status (*add)(struct import *im, size_t at, struct pdnn_err *err);
    } parts[] = {{LABELS, add_ran}, {ERR_JOBS, add_failed}};
    struct pdnn_err first = {0};
    size_t count = 0;
    begin_tables(im);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (size_t at = 0; at < json_array_size(im->list[parts[i].list]); at++, count++) {
            struct pdnn_err cause = {0};
            if (parts[i].add(im, at, &cause) != PDNN_OK)
                leave_out(im, &cause);
            if (!count)
                first = cause;
        }
    }
    if (im->result.left_out == count) {
        *err = first;
        return pdnn_wrap(err, "%.512s: none of %zu labels can be read, the first", im->request->path, count);
    }
    im->result.params_ratio = im->n_ran ? pdnn_median(im->params_ratio, im->n_ran) : NAN;
    im->result.flop_ratio = im->n_ran ? pdnn_median(im->flop_ratio, im->n_ran) : NAN;
    return PDNN_OK;
}

static struct pdnn_fact text_fact(const char *key, const char *text) {
    return (struct pdnn_fact){.key = key, .type = PDNN_FACT_TEXT, .text = text};
}

/* Where the tables come from. `cpu` is what pictures have in their titles. */
static enum pdnn_status write_environment(const struct import *im, const struct pdnn_folder *folder,
                                          struct pdnn_err *err) {
    const struct pdnn_import_request *request = im->request;
    const char *slash = strrchr(request->path, '/');
    struct pdnn_str settings = {0};
    for (size_t i = 0; i < request->n_set; i++)
        pdnn_str_printf(&settings, "%s%s", i ? "," : "", request->set[i]);
    const struct pdnn_fact facts[] = {
        text_fact("host", request->host),
        text_fact("cpu", request->host),
        text_fact("software", request->software ? request->software : ""),
        text_fact("imported_from", slash ? slash + 1 : request->path),
        text_fact("imported_format", "ParaDnn JSON"),
        text_fact("imported_settings", pdnn_str_text(&settings)),
        {.key = "imported_shards", .type = PDNN_FACT_WHOLE, .whole = request->shards},
        {.key = "imported_params_ratio", .type = PDNN_FACT_NUMBER, .number = im->result.params_ratio},
        {.key = "imported_flop_ratio", .type = PDNN_FACT_NUMBER, .number = im->result.flop_ratio},
        text_fact(
            "imported_times",
            "the fastest interval between two reports of the steps done, which are means of many steps"),
        text_fact("paradnn_version", request->version),
    };
    enum pdnn_status status = pdnn_environment_write(folder, facts, sizeof facts / sizeof *facts, err);
    pdnn_str_finish(&settings);
    return status;
}

/* A directory that could not be filled is removed. */
static enum pdnn_status write_directory(struct import *im, struct pdnn_err *err) {
    static const char *const names[] = {"results.csv", "ops.csv", "imported.csv", "environment.yaml"};
    const char *output = im->request->output;
    struct pdnn_str imported = {0};
    struct pdnn_folder folder;
    if (mkdir(output, 0777) != 0)
        return pdnn_fail(err, PDNN_INVALID, "%.512s: cannot be made: %s", output, strerror(errno));
    pdnn_table_csv(&imported, &im->imported);
    enum pdnn_status status = pdnn_folder_open(&folder, output, err);
    if (status == PDNN_OK)
        status = pdnn_tables_write(&im->tables, &folder, err);
    if (status == PDNN_OK)
        status = pdnn_folder_replace(&folder, "imported.csv", pdnn_str_text(&imported), imported.length, err);
    if (status == PDNN_OK)
        status = write_environment(im, &folder, err);
    for (size_t i = 0; status != PDNN_OK && folder.fd >= 0 && i < sizeof names / sizeof *names; i++)
        unlinkat(folder.fd, names[i], 0);
    pdnn_folder_close(&folder);
    pdnn_str_finish(&imported);
    if (status != PDNN_OK)
        rmdir(output);
    return status;
}

/* "gpu_fc" of "data/gpu_fc.json". */
static char *name_of(const char *path, struct pdnn_arena *arena) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return pdnn_arena_printf(arena, "%.*s", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
}

enum pdnn_status pdnn_import_paradnn_json(const struct pdnn_import_request *request,
                                          struct pdnn_import_result *result, struct pdnn_err *err) {
    struct pdnn_import_request named = *request;
    struct import im = {.request = &named};
    if (!named.host)
        named.host = name_of(named.path, &im.arena);
    enum pdnn_status status = read_json(&im, err);
    if (status == PDNN_OK)
        status = find_lists(&im, err);
    if (status == PDNN_OK)
        status = make_tables(&im, err);
    if (status == PDNN_OK)
        status = write_directory(&im, err);
    if (status == PDNN_OK)
        *result = im.result;
    else
        pdnn_str_finish(&im.result.reasons);
    json_decref(im.root);
    pdnn_tables_finish(&im.tables);
    pdnn_texts_finish(&im.ids);
    pdnn_table_finish(&im.imported);
    pdnn_arena_finish(&im.graph);
    pdnn_arena_finish(&im.arena);
    return status;
}
