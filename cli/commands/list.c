#include "base/rng.h"
#include "models/build.h"
#include "session/predict.h"
#include "session/session.h"
#include "base/units.h"
#include "cli/print/output.h"
#include "cli/args/registry.h"
#include "cli/print/progress.h"
#include "gen/spec.h"
#include "models/varying.h"
#include "session/join/shard.h"
#include "results/store/results.h"
#include "runtime/host/host.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char description[] =
    "Prints one row per instance with its id and analytic costs: parameters, FLOP and compulsory bytes of one step, "
    "their ratio, and peak memory. Windows over an image are counted with all their taps; where some fall on padding, "
    "a second count leaves those out, and the ratio uses that one. Sequences are counted with all their steps. An "
    "instance that appears twice, in one spec or in several, is listed once.\n\n"
    "Instances that would not run are listed too, with a status: filtered if a where-expression is false (unless a "
    "sample leaves it out); invalid if values contradict each other, such as an image smaller than a network's "
    "windows (given as an ID, this is an error); unsupported if no backend runs it, such as training in int8; too big "
    "if counts do not fit in 64 bits. CSV has exact numbers and the reason.";

static const struct pdnn_option_def options[] = {
    PDNN_OPTION_SET,
    PDNN_OPTIONS_SHARD,
    {"count", .help = "print only the number of instances and their totals, and how long a sweep takes here"},
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn list sweeps/fc.yaml", "what a sweep would run, and what each instance costs"},
    {"paradnn list --count sweeps/paper-fc.yaml", "how many instances, and how much work in total"},
    {"paradnn list --count sweeps/paper-fc.yaml --shard 3/16", "the same of one shard, and its time"},
    {"paradnn list fc/layers=4,nodes=1024 --format csv", "the costs of one model, as exact numbers"},
    {"paradnn list cnn:resnet50,batch=1 rnn/cell=gru,length=25",
     "the costs of a preset, and of a model of another family"},
};

struct list {
    struct pdnn_spec spec;
    struct pdnn_shard_deal deal;
    struct pdnn_walk walk;
    struct pdnn_host host;
    size_t too_wide; /* instances with more threads than there are cores */
};

/* The next instance; counts those that a sweep would find invalid here. */
static enum pdnn_status next(struct list *list, struct pdnn_expanded *item, bool *done,
                             struct pdnn_err *err) {
    enum pdnn_status status = pdnn_walk_next(&list->walk, item, done, err);
    if (status == PDNN_OK && !*done && !item->filtered && !item->invalid)
        list->too_wide += item->instance.setting[PDNN_SETTING_THREADS] > list->host.threads;
    return status;
}

/* Rows are printed as they come, chunk by chunk. */
enum { CHUNK_ROWS = 1000 };

struct list_rows {
    struct pdnn_table table;
    struct pdnn_result row;
    struct pdnn_parsed_presets presets;
    bool for_people;
    struct pdnn_varying varying; /* for people */
    /* Those that are printed. */
    size_t *columns, n_columns;
};

/* What people see in place of an id; FLOP in bounds only if they are not all, and why it would not run. */
static void adapt_row(struct list_rows *rows, const struct pdnn_expanded *item) {
    const struct pdnn_cost *cost = &item->totals.cost;
    struct pdnn_result *row = &rows->row;
    char id[PDNN_ID_TEXT];
    pdnn_result_set_text(row, PDNN_RESULT_ID, pdnn_varying_label(&rows->varying, &item->instance, id));
    if (cost->in_bounds_flop_count == cost->flop_count)
        pdnn_result_set_count(row, PDNN_RESULT_IN_BOUNDS_FLOP_COUNT, PDNN_ABSENT);
    pdnn_result_set_text(row, PDNN_RESULT_STATUS,
                         item->filtered                           ? "filtered"
                         : item->invalid                          ? "invalid"
                         : !item->has_totals                      ? "too big"
                         : pdnn_instance_refusal(&item->instance) ? "unsupported"
                                                                  : "");
}

/* A count that does not fit in 64 bits is an empty cell. */
static void add_row(struct list_rows *rows, const struct pdnn_expanded *item) {
    const struct pdnn_cost *cost = &item->totals.cost;
    struct pdnn_result *row = &rows->row;
    char id[PDNN_ID_TEXT];
    pdnn_result_add(row, pdnn_instance_format(&item->instance, id));
    pdnn_result_set_instance(row, &item->instance);
    if (item->has_totals)
        pdnn_result_set_totals(row, &item->totals);
    if (cost->byte_count)
        pdnn_result_set_number(row, PDNN_RESULT_INTENSITY_FLOP_PER_BYTE,
                               (double)cost->in_bounds_flop_count / (double)cost->byte_count);
    const char *refusal = pdnn_instance_refusal(&item->instance);
    pdnn_result_set_text(row, PDNN_RESULT_REASON,
                         item->filtered || item->invalid ? item->reason
                         : !item->has_totals             ? "its counts do not fit in 64 bits"
                         : refusal                       ? refusal
                                                         : "");
    if (rows->for_people)
        adapt_row(rows, item);
}

/* The titles wait for the first row, which may turn out to be an error in the spec. */
static enum pdnn_status print_rows(struct list *list, struct list_rows *rows,
                                   const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_table_writer printer = pdnn_table_printer(arguments);
    printer.columns = rows->columns;
    printer.n_columns = rows->n_columns;
    enum pdnn_status status = pdnn_table_choose(&printer, &rows->table, err);
    bool done = false;
    while (status == PDNN_OK && !done && !ferror(stdout)) {
        struct pdnn_expanded item;
        status = next(list, &item, &done, err);
        if (status == PDNN_OK && !done)
            add_row(rows, &item);
        bool is_first = !printer.is_started, is_last = done || status != PDNN_OK;
        size_t count = rows->table.n_rows;
        if (count == CHUNK_ROWS || (count && is_last) || (is_first && done)) {
            pdnn_table_print_rows(&printer, &rows->table, NULL, NULL);
            pdnn_table_clear(&rows->table);
        }
    }
    pdnn_table_print_end(&printer);
    return status;
}

/* On a terminal, instances are shown by what varies among them, which a first walk finds; the rest stands
 * above the table. In a pipe they have their whole ids. */
static enum pdnn_status find_varying(struct list *list, size_t width, struct pdnn_varying *varying,
                                     struct pdnn_err *err) {
    struct pdnn_str common = {0}, text = {0};
    if (!width)
        return PDNN_OK;
    enum pdnn_status status = PDNN_OK;
    pdnn_walk_start(&list->walk, &list->spec, list->host.threads_all, false);
    for (bool done = false; status == PDNN_OK && !done;) {
        struct pdnn_expanded item;
        status = pdnn_walk_next(&list->walk, &item, &done, err);
        if (status == PDNN_OK && !done)
            pdnn_varying_add(varying, &item.instance);
    }
    pdnn_varying_common(varying, &common);
    if (status == PDNN_OK && common.length) {
        pdnn_common_append(&text, pdnn_str_text(&common));
        pdnn_text_print(&text, false);
    }
    pdnn_str_finish(&common);
    pdnn_walk_start(&list->walk, &list->spec, list->host.threads_all, true);
    return status;
}

/* The columns of results.csv that are known without running anything, or those of them that people see. */
static void choose_columns(struct list_rows *rows) {
    static const enum pdnn_result_column shown[] = {PDNN_RESULT_PARAMS,
                                                    PDNN_RESULT_FLOP_COUNT,
                                                    PDNN_RESULT_IN_BOUNDS_FLOP_COUNT,
                                                    PDNN_RESULT_BYTE_COUNT,
                                                    PDNN_RESULT_INTENSITY_FLOP_PER_BYTE,
                                                    PDNN_RESULT_MEMORY_BYTES,
                                                    PDNN_RESULT_STATUS,
                                                    PDNN_RESULT_ID};
    size_t *columns = rows->columns;
    for (size_t i = 0; rows->for_people && i < sizeof shown / sizeof *shown; i++)
        *columns++ = pdnn_result_at(&rows->row, shown[i]);
    if (!rows->for_people) {
        for (size_t i = PDNN_RESULT_ID; i < pdnn_result_at(&rows->row, PDNN_RESULT_STATUS); i++)
            *columns++ = i;
        for (enum pdnn_result_column i = PDNN_RESULT_PARAMS; i <= PDNN_RESULT_MEMORY_BYTES; i++)
            *columns++ = pdnn_result_at(&rows->row, i);
        *columns++ = pdnn_result_at(&rows->row, PDNN_RESULT_INTENSITY_FLOP_PER_BYTE);
        *columns++ = pdnn_result_at(&rows->row, PDNN_RESULT_REASON);
    }
    rows->n_columns = (size_t)(columns - rows->columns);
}

static enum pdnn_status list_instances(struct list *list, const struct pdnn_arguments *arguments,
                                       struct pdnn_err *err) {
    struct pdnn_arena arena = {0};
    struct list_rows rows = {.for_people = pdnn_wants_text(arguments)};
    const struct pdnn_family_def **families;
    size_t n_families = pdnn_spec_families(&list->spec, &arena, &families);
    const struct pdnn_table_def def = pdnn_results_def(families, n_families, &arena);
    pdnn_table_init(&rows.table, &def);
    rows.row = pdnn_result_of(&rows.table, 0);
    rows.row.presets = &rows.presets;
    rows.columns = pdnn_arena_alloc(&arena, def.count, sizeof *rows.columns);
    choose_columns(&rows);
    enum pdnn_status status = PDNN_OK;
    if (rows.for_people)
        status = find_varying(list, pdnn_terminal_width(STDOUT_FILENO), &rows.varying, err);
    if (status == PDNN_OK)
        status = print_rows(list, &rows, arguments, err);
    pdnn_table_finish(&rows.table);
    pdnn_varying_finish(&rows.varying);
    pdnn_arena_finish(&arena);
    return status;
}

/* 128 bits, because 1e5 instances of 1e18 FLOP do not fit in 64. */
struct totals {
    uint64_t instances, filtered, uncounted; /* uncounted: instances whose counts do not fit */
    uint64_t too_large;                      /* for the memory here */
    pdnn_u128 sum[3];                        /* of the columns from FLOP_SUM on */
    uint64_t params_min, params_max;
};

enum { INSTANCES, FILTERED, FLOP_SUM, BYTES_SUM = FLOP_SUM + 2, PARAMS_MIN, PARAMS_MAX, N_TOTALS_COLUMNS };
static const struct pdnn_column_def totals_columns[N_TOTALS_COLUMNS] = {
    {"instances", NULL, NULL, PDNN_KIND_COUNT, .help = "that a sweep would run"},
    {"filtered", NULL, NULL, PDNN_KIND_COUNT, .help = "instances that a where-expression leaves out"},
    {"flop_count", "FLOP", "FLOP", .align = PDNN_ALIGN_RIGHT, .help = "of one step of each, exact"},
    {"in_bounds_flop_count", "in bounds", "FLOP", .align = PDNN_ALIGN_RIGHT,
     .help = "the same without taps on padding"},
    {"byte_count", "bytes", "bytes", .align = PDNN_ALIGN_RIGHT,
     .help = "compulsory traffic of one step of each"},
    {"params_min", "params from", NULL, PDNN_KIND_COUNT, PDNN_SHOW_SI,
     .help = "parameters of the smallest model"},
    {"params_max", "to", NULL, PDNN_KIND_COUNT, PDNN_SHOW_SI, .help = "parameters of the largest model"},
};
static const struct pdnn_table_def totals_def = {"list --count", "what a sweep amounts to", totals_columns,
                                                 N_TOTALS_COLUMNS};

static enum pdnn_status print_totals(const struct totals *totals, const struct pdnn_arguments *arguments,
                                     struct pdnn_err *err) {
    struct pdnn_table table;
    pdnn_table_init(&table, &totals_def);
    pdnn_table_add_row(&table);
    pdnn_table_set_count(&table, 0, INSTANCES, totals->instances);
    pdnn_table_set_count(&table, 0, FILTERED, totals->filtered);
    for (size_t i = FLOP_SUM; i <= BYTES_SUM; i++) { /* exact in files; people see them rounded */
        char digits[48] = "", rounded[PDNN_UNIT_TEXT], *at = digits + sizeof digits - 1;
        pdnn_u128 rest = totals->sum[i - FLOP_SUM];
        pdnn_format_si(rounded, (double)rest, i == BYTES_SUM ? "B" : "FLOP");
        do
            *--at = (char)('0' + (int)(rest % 10));
        while (rest /= 10);
        pdnn_table_set_text(&table, 0, i, pdnn_wants_text(arguments) ? rounded : at);
    }
    if (totals->instances > totals->uncounted) {
        pdnn_table_set_count(&table, 0, PARAMS_MIN, totals->params_min);
        pdnn_table_set_count(&table, 0, PARAMS_MAX, totals->params_max);
    }
    return pdnn_table_print(&table, arguments, err);
}

/* Whether weights, and their gradients in training, do not even fit into memory. */
static bool is_too_large(const struct pdnn_expanded *item, uint64_t memory_bytes) {
    const int64_t *setting = item->instance.setting;
    double each = (double)pdnn_dtype_bytes((enum pdnn_dtype)setting[PDNN_SETTING_DTYPE]);
    double copies = setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN ? 2 : 1;
    return (double)item->totals.params * each * copies > (double)memory_bytes;
}

static void add_totals(struct totals *totals, const struct pdnn_expanded *item) {
    if (item->filtered) {
        totals->filtered++;
        return;
    }
    totals->instances++;
    if (!item->has_totals) {
        totals->uncounted++;
        return;
    }
    const struct pdnn_cost *cost = &item->totals.cost;
    const uint64_t counts[] = {cost->flop_count, cost->in_bounds_flop_count, cost->byte_count};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        totals->sum[i] += counts[i];
    const uint64_t params = item->totals.params;
    totals->params_min = params < totals->params_min ? params : totals->params_min;
    totals->params_max = params > totals->params_max ? params : totals->params_max;
}

static void print_estimate(const struct pdnn_estimate *estimate, uint64_t n_too_large) {
    struct pdnn_str line = {0};
    pdnn_estimate_format(estimate, &line);
    if (n_too_large)
        pdnn_str_printf(&line, ", without %" PRIu64 " instances that are larger than the memory",
                        n_too_large);
    fprintf(stderr, "%s\n", pdnn_str_text(&line));
    pdnn_str_finish(&line);
}

static enum pdnn_status sum_up(struct totals *totals, struct pdnn_estimate *estimate, uint64_t memory_bytes,
                               struct pdnn_walk *walk, struct pdnn_err *err) {
    for (;;) {
        struct pdnn_expanded item;
        bool done;
        enum pdnn_status status = pdnn_walk_next(walk, &item, &done, err);
        if (status != PDNN_OK || done)
            return status;
        add_totals(totals, &item);
        if (item.filtered || !item.has_totals)
            continue;
        if (is_too_large(&item, memory_bytes))
            totals->too_large++;
        else if (pdnn_estimate_add(estimate, &item.instance, &item.totals, err) != PDNN_OK)
            return err->status;
    }
}

/* Walks over the shard to its end, then prints the totals, and on stderr how long a sweep takes here. */
static enum pdnn_status list_totals(struct list *list, const struct pdnn_arguments *arguments,
                                    struct pdnn_err *err) {
    struct totals totals = {.params_min = UINT64_MAX};
    char cache[PDNN_KEPT_PATH], shard[PDNN_DURATION_TEXT], all[PDNN_DURATION_TEXT];
    pdnn_session_cache(false, cache);
    struct pdnn_estimate *estimate = pdnn_estimate_create(&list->spec, &list->host, cache, NULL);
    enum pdnn_status status =
        sum_up(&totals, estimate, pdnn_session_memory_limit(&list->spec, &list->host), &list->walk, err);
    if (status == PDNN_OK && totals.instances > totals.uncounted + totals.too_large)
        print_estimate(estimate, totals.too_large);
    if (status == PDNN_OK && totals.uncounted)
        fprintf(stderr,
                "paradnn: %" PRIu64
                " instances are not in the sums: they are invalid, or their counts do not fit in 64 bits\n",
                totals.uncounted);
    pdnn_estimate_destroy(estimate);
    if (status == PDNN_OK && list->deal.mine)
        fprintf(stderr, "predicted: %s at nominal speed, %s for all shards\n",
                pdnn_duration_format(shard, list->deal.seconds),
                pdnn_duration_format(all, list->deal.seconds_all));
    return status == PDNN_OK ? print_totals(&totals, arguments, err) : status;
}

static enum pdnn_status load(struct list *list, const struct pdnn_arguments *arguments, bool only_count,
                             struct pdnn_err *err) {
    struct pdnn_shard shard;
    size_t n_sets;
    const char *const *sets = pdnn_argument_all(arguments, "set", &n_sets);
    if (pdnn_host_read(&list->host, err) != PDNN_OK ||
        pdnn_shard_parse(pdnn_argument(arguments, "shard"), pdnn_argument(arguments, "shard-base"), &shard,
                         err) != PDNN_OK ||
        pdnn_spec_load(arguments->operands, arguments->n_operands, sets, n_sets, &list->spec, err) != PDNN_OK)
        return err->status;
    pdnn_tell_spec(&list->spec);
    if (pdnn_shard_deal(&shard, &list->spec, list->host.threads_all, &list->deal, err) != PDNN_OK)
        return err->status;
    list->walk.only = list->deal.mine;
    pdnn_walk_start(&list->walk, &list->spec, list->host.threads_all, !only_count);
    return PDNN_OK;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct list list = {.too_wide = 0};
    const bool only_count = pdnn_argument(arguments, "count");
    enum pdnn_status status = load(&list, arguments, only_count, err);
    if (status == PDNN_OK)
        status = only_count ? list_totals(&list, arguments, err) : list_instances(&list, arguments, err);
    if (status == PDNN_OK && list.too_wide)
        fprintf(stderr,
                "paradnn: %zu of these instances need more than the %" PRId64 " threads there are %s\n",
                list.too_wide, list.host.threads,
                list.host.threads == list.host.thread_limit ? "under OMP_THREAD_LIMIT" : "cores for here");
    pdnn_walk_finish(&list.walk);
    free(list.deal.mine);
    pdnn_spec_finish(&list.spec);
    return status;
}

PDNN_COMMAND(list, PDNN_COMMANDS_FIRST, "SPEC|ID...", "Lists instances with their costs; runs nothing.",
             .run = run, .resolves_threads = true);
