#include "base/memory.h"
#include "base/rng.h"
#include "base/units.h"
#include "cli/costs.h"
#include "cli/print/output.h"
#include "cli/print/progress.h"
#include "gen/spec.h"
#include "models/varying.h"
#include "session/join/shard.h"
#include "session/predict.h"
#include "session/session.h"
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
    "if counts do not fit in 64 bits. CSV has exact numbers, the status and the reason.";

static const struct pdnn_option_def options[] = {
    PDNN_OPTION_SET,
    PDNN_OPTIONS_SHARD,
    {"count",
     .help =
         "print only the number of instances, their totals, and how long a sweep takes, by roofs "
         "that are kept on this machine or at nominal speed (with roofs measured now: a dry run of sweep)"},
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn list sweeps/fc.yaml", "what a sweep would run, and what each instance costs"},
    {"paradnn list --count sweeps/paper-fc.yaml", "how many instances, and how much work in total"},
    {"paradnn list --count sweeps/paper-fc.yaml --shard 3/16", "the same of one shard"},
    {"paradnn list fc/layers=4,nodes=1024 --format csv", "the costs of one model, as exact numbers"},
    {"paradnn list cnn:resnet50,batch=1 rnn/cell=gru,length=25",
     "the costs of a preset, and of a model of another family"},
};

struct list {
    struct pdnn_spec spec;
    struct pdnn_shard_deal deal;
    struct pdnn_walk walk;
    struct pdnn_host host;
    size_t too_wide; /* instances with more threads than there are cores, which a sweep finds invalid here */
    bool for_people;
    struct pdnn_varying varying; /* on a terminal */
    struct pdnn_table table;
    struct pdnn_result row; /* of the table */
    struct pdnn_parsed_presets presets;
};

/* Rows are printed as they come, chunk by chunk. */
enum { CHUNK_ROWS = 1000 };

/* People see what varies in place of an id, FLOP in bounds only if they are not all. */
static void add_row(struct list *list, const struct pdnn_expanded *item) {
    const struct pdnn_cost *cost = &item->totals.cost;
    struct pdnn_result *row = &list->row;
    char id[PDNN_ID_TEXT];
    if (!item->filtered && !item->invalid)
        list->too_wide += item->instance.setting[PDNN_SETTING_THREADS] > list->host.threads;
    pdnn_costs_add(row, item);
    if (!list->for_people)
        return;
    pdnn_result_set_text(row, PDNN_RESULT_ID, pdnn_varying_label(&list->varying, &item->instance, id));
    if (cost->in_bounds_flop_count == cost->flop_count)
        pdnn_result_set_count(row, PDNN_RESULT_IN_BOUNDS_FLOP_COUNT, PDNN_ABSENT);
}

/* On a terminal, instances are shown by what varies among them, which a first walk finds; the rest stands
 * above the table. In a pipe they have their whole ids. */
static enum pdnn_status find_varying(struct list *list, struct pdnn_err *err) {
    struct pdnn_str text = {0};
    struct pdnn_expanded item;
    enum pdnn_status status;
    pdnn_walk_start(&list->walk, &list->spec, list->host.threads_all, false);
    while (pdnn_walk_next(&list->walk, &item, &status, err))
        pdnn_varying_add(&list->varying, &item.instance);
    if (status == PDNN_OK)
        pdnn_common_append(&text, &list->varying);
    pdnn_text_print(&text, false);
    return status;
}

/* The columns of results.csv that are known without running anything, or those of them that people see.
 * Returns how many. */
static size_t choose_columns(const struct list *list, size_t *columns) {
    static const enum pdnn_result_column shown[] = {PDNN_RESULT_PARAMS,
                                                    PDNN_RESULT_FLOP_COUNT,
                                                    PDNN_RESULT_IN_BOUNDS_FLOP_COUNT,
                                                    PDNN_RESULT_BYTE_COUNT,
                                                    PDNN_RESULT_INTENSITY_FLOP_PER_BYTE,
                                                    PDNN_RESULT_MEMORY_BYTES,
                                                    PDNN_RESULT_STATUS,
                                                    PDNN_RESULT_ID};
    const struct pdnn_result *row = &list->row;
    size_t count = 0;
    for (size_t i = 0; list->for_people && i < sizeof shown / sizeof *shown; i++)
        columns[count++] = pdnn_result_at(row, shown[i]);
    return list->for_people ? count : pdnn_costs_columns(row, columns);
}

/* The titles wait for the first row, which may turn out to be an error in the spec. */
static enum pdnn_status print_rows(struct list *list, const struct pdnn_arguments *arguments,
                                   struct pdnn_err *err) {
    struct pdnn_table_writer printer = pdnn_table_printer(arguments);
    size_t columns[PDNN_TABLE_COLUMNS_MAX];
    struct pdnn_expanded item;
    printer.columns = columns;
    printer.n_columns = choose_columns(list, columns);
    enum pdnn_status status = pdnn_table_choose(&printer, &list->table, err);
    pdnn_walk_start(&list->walk, &list->spec, list->host.threads_all, true);
    while (status == PDNN_OK && !ferror(stdout) && pdnn_walk_next(&list->walk, &item, &status, err)) {
        add_row(list, &item);
        if (list->table.n_rows < CHUNK_ROWS)
            continue;
        pdnn_table_print_rows(&printer, &list->table, NULL, NULL);
        pdnn_table_clear(&list->table);
    }
    if (list->table.n_rows || (status == PDNN_OK && !printer.is_started))
        pdnn_table_print_rows(&printer, &list->table, NULL, NULL);
    pdnn_table_print_end(&printer);
    return status;
}

static enum pdnn_status list_instances(struct list *list, const struct pdnn_arguments *arguments,
                                       struct pdnn_err *err) {
    struct pdnn_arena arena = {0};
    const struct pdnn_family_def **families;
    size_t n_families = pdnn_spec_families(&list->spec, &arena, &families);
    const struct pdnn_table_def def = pdnn_results_def(families, n_families, &arena);
    pdnn_table_init(&list->table, &def);
    list->row = pdnn_result_of(&list->table, 0);
    list->row.presets = &list->presets;
    list->for_people = pdnn_wants_text(arguments);
    enum pdnn_status status = PDNN_OK;
    if (list->for_people && pdnn_terminal_width(STDOUT_FILENO))
        status = find_varying(list, err);
    if (status == PDNN_OK)
        status = print_rows(list, arguments, err);
    pdnn_table_finish(&list->table);
    pdnn_varying_finish(&list->varying);
    pdnn_arena_finish(&arena);
    return status;
}

/* 128 bits, because 1e5 instances of 1e18 FLOP do not fit in 64. */
struct totals {
    uint64_t instances, filtered, uncounted; /* uncounted: instances whose counts do not fit */
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

static void add_totals(struct totals *totals, const struct pdnn_expanded *item) {
    const struct pdnn_cost *cost = &item->totals.cost;
    const uint64_t counts[] = {cost->flop_count, cost->in_bounds_flop_count, cost->byte_count},
                   params = item->totals.params;
    totals->filtered += item->filtered;
    totals->instances += !item->filtered;
    totals->uncounted += !item->filtered && !item->has_totals;
    if (item->filtered || !item->has_totals)
        return;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        totals->sum[i] += counts[i];
    totals->params_min = params < totals->params_min ? params : totals->params_min;
    totals->params_max = params > totals->params_max ? params : totals->params_max;
}

/* Walks over the shard to its end, then prints the totals. */
static enum pdnn_status list_totals(struct list *list, const struct pdnn_arguments *arguments,
                                    struct pdnn_err *err) {
    struct totals totals = {.params_min = UINT64_MAX};
    struct pdnn_roof_rows *kept = pdnn_alloc(1, sizeof *kept);
    struct pdnn_estimate estimate = {.spec = &list->spec, .roof_rows = kept};
    char cache[PDNN_KEPT_PATH];
    int64_t recalled = 0; /* the thread count that was looked for last */
    struct pdnn_str time = {0};
    char shard[PDNN_DURATION_TEXT], all[PDNN_DURATION_TEXT];
    struct pdnn_expanded item;
    enum pdnn_status status;
    pdnn_session_cache(false, cache);
    pdnn_walk_start(&list->walk, &list->spec, list->host.threads_all, true);
    while (pdnn_walk_next(&list->walk, &item, &status, err)) {
        add_totals(&totals, &item);
        if (item.filtered || !item.has_totals)
            continue;
        const int64_t threads = item.instance.setting[PDNN_SETTING_THREADS];
        if (threads != recalled)
            pdnn_recall_roofs(&list->host, cache, recalled = threads, kept);
        pdnn_estimate_add(&estimate, &item.instance, &item.totals);
    }
    if (status != PDNN_OK) {
        free(kept);
        return status;
    }
    if (totals.uncounted)
        fprintf(stderr,
                "paradnn: %" PRIu64
                " instances are not in the sums: they are invalid, or their counts do not fit in 64 bits\n",
                totals.uncounted);
    if (list->deal.mine)
        fprintf(stderr, "predicted: %s at nominal speed, %s for all shards\n",
                pdnn_duration_format(shard, list->deal.seconds),
                pdnn_duration_format(all, list->deal.seconds_all));
    else if (estimate.any_nominal || estimate.any_measured) {
        pdnn_estimate_format(&estimate, &time);
        fprintf(stderr, "%s\n", pdnn_str_text(&time));
    }
    pdnn_str_finish(&time);
    free(kept);
    return print_totals(&totals, arguments, err);
}

static enum pdnn_status load(struct list *list, const struct pdnn_arguments *arguments,
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
    return PDNN_OK;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct list list = {.too_wide = 0};
    enum pdnn_status status = load(&list, arguments, err);
    if (status == PDNN_OK)
        status = (pdnn_argument(arguments, "count") ? list_totals : list_instances)(&list, arguments, err);
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
             .run = run);
