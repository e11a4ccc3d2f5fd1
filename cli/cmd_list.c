#include "base/memory.h"
#include "base/units.h"
#include "base/fill.h"
#include "cli/list_totals.h"
#include "cli/output.h"
#include "cli/registry.h"
#include "cli/terminal.h"
#include "gen/spec.h"
#include "models/varying.h"
#include "session/shard.h"
#include "results/tables/columns.h"
#include "results/table/csv.h"
#include "results/tables/record.h"
#include "runtime/facts/host.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const paragraphs[] = {
    "Prints one row per instance with its id and analytic costs: "
    "parameters, FLOP and compulsory bytes of one step, their ratio, and peak memory. "
    "Windows over an image are counted with all their taps; where some fall on padding, "
    "a second count leaves those out, and the ratio uses that one. "
    "Sequences are counted with all their steps.",
    "An ID is one model, or a preset with changes: cnn:resnet50,batch=1. "
    "'paradnn families NAME' lists the keys and presets. "
    "An instance that appears twice, in one spec or in several, is listed once.",
    "Instances that would not run are listed too, with a status: "
    "filtered if a where-expression is false (unless a sample leaves it out); "
    "invalid if values contradict each other, such as an image smaller than a network's windows (given "
    "as an ID, this is an error); too big if counts do not fit in 64 bits. "
    "CSV has exact numbers and the reason.",
    NULL,
};

static const struct pdnn_option_def options[] = {
    PDNN_OPTION_SET,
    PDNN_OPTION_SHARD,
    PDNN_OPTION_SHARD_BASE,
    {"count", 0, NULL, NULL, false,
     "print only the number of instances and their totals, and how long a sweep takes here"},
    PDNN_OPTION_FORMAT,
};

static const struct pdnn_example examples[] = {
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
    const struct pdnn_host *host;
    size_t too_wide; /* instances with more threads than there are cores */
};

/* The next instance; counts those that a sweep would find invalid here. */
static enum pdnn_status next(struct list *list, struct pdnn_expanded *item, bool *done,
                             struct pdnn_err *err) {
    enum pdnn_status status = pdnn_shard_walk_next(&list->deal, &list->walk, item, done, err);
    if (status == PDNN_OK && !*done && !item->filtered && !item->invalid)
        list->too_wide += item->instance.setting[PDNN_SETTING_THREADS] > list->host->threads;
    return status;
}

/* A column without content is left out on a terminal. */
static const struct pdnn_sheet_column people_columns[] = {
    {"params", PDNN_ALIGN_RIGHT | PDNN_SPARE(5)},    {"FLOP", PDNN_ALIGN_RIGHT},
    {"in bounds", PDNN_ALIGN_RIGHT | PDNN_SPARE(4)}, {"bytes", PDNN_ALIGN_RIGHT},
    {"FLOP/byte", PDNN_ALIGN_RIGHT | PDNN_SPARE(3)}, {"memory", PDNN_ALIGN_RIGHT | PDNN_SPARE(2)},
    {"status", PDNN_ALIGN_LEFT | PDNN_SPARE(1)},     {"id", PDNN_ALIGN_WRAP},
};

enum { N_PEOPLE_COLUMNS = sizeof people_columns / sizeof people_columns[0], CHUNK_ROWS = 1000 };

/* A count that does not fit in 64 bits is an empty cell. FLOP in bounds is empty if it is so for all. */
static void add_row(struct pdnn_sheet *table, const struct pdnn_expanded *item,
                    const struct pdnn_varying *varying) {
    char id[PDNN_ID_TEXT], params[PDNN_UNIT_TEXT] = "", flop[PDNN_UNIT_TEXT] = "",
                           in_bounds[PDNN_UNIT_TEXT] = "", bytes[PDNN_UNIT_TEXT] = "",
                           intensity[PDNN_UNIT_TEXT] = "", memory[PDNN_UNIT_TEXT] = "";
    const struct pdnn_cost *cost = &item->totals.cost;
    if (item->has_totals) {
        pdnn_format_si(params, (double)item->totals.params, "");
        pdnn_format_si(flop, (double)cost->flop_count, "FLOP");
        if (cost->in_bounds_flop_count != cost->flop_count)
            pdnn_format_si(in_bounds, (double)cost->in_bounds_flop_count, "FLOP");
        pdnn_format_si(bytes, (double)cost->byte_count, "B");
        snprintf(intensity, sizeof intensity, "%.3g",
                 cost->byte_count ? (double)cost->in_bounds_flop_count / (double)cost->byte_count : 0.0);
        pdnn_format_bytes(memory, (double)item->totals.memory_bytes);
    }
    const char *const cells[N_PEOPLE_COLUMNS] = {params,
                                                 flop,
                                                 in_bounds,
                                                 bytes,
                                                 intensity,
                                                 memory,
                                                 item->filtered     ? "filtered"
                                                 : item->invalid    ? "invalid"
                                                 : item->has_totals ? ""
                                                                    : "too big",
                                                 pdnn_varying_label(varying, &item->instance, id)};
    for (size_t c = 0; c < N_PEOPLE_COLUMNS; c++)
        pdnn_sheet_cell(table, "%s", cells[c]);
}

/* On a terminal, instances are shown by what varies among them, which a first walk finds; the rest stands
 * above the table. In a pipe they have their whole ids. */
static enum pdnn_status find_varying(struct list *list, size_t width, struct pdnn_varying *varying,
                                     struct pdnn_err *err) {
    struct pdnn_str common = {0}, text = {0};
    if (!width)
        return PDNN_OK;
    enum pdnn_status status =
        pdnn_shard_walk_start(&list->deal, &list->walk, &list->spec, list->host->threads_all, false, err);
    for (bool done = false; status == PDNN_OK && !done;) {
        struct pdnn_expanded item;
        status = pdnn_shard_walk_next(&list->deal, &list->walk, &item, &done, err);
        if (status == PDNN_OK && !done)
            pdnn_varying_add(varying, &item.instance);
    }
    pdnn_varying_common(varying, &common);
    if (status == PDNN_OK && common.length) {
        pdnn_str_printf(&text, "not repeated below: ");
        pdnn_str_append(&text, pdnn_str_text(&common), common.length);
        pdnn_str_clear(&common);
        pdnn_fill_text(&common, pdnn_str_text(&text), 2, width);
        pdnn_str_append(&common, "\n", 1);
        pdnn_text_print(&common, false);
    }
    pdnn_str_finish(&common);
    pdnn_str_finish(&text);
    if (status == PDNN_OK)
        status =
            pdnn_shard_walk_start(&list->deal, &list->walk, &list->spec, list->host->threads_all, true, err);
    return status;
}

/* Prints the rows so far; their titles only where the columns are not those of the rows before. In a pipe
 * all rows have the columns of the first ones. *note becomes the one of these rows, if they have any. */
static void print_chunk(struct pdnn_sheet *table, size_t width, bool first, struct pdnn_sheet_layout *layout,
                        struct pdnn_str *note) {
    struct pdnn_str out = {0}, own = {0};
    struct pdnn_sheet_layout next = first || width ? pdnn_sheet_arrange(table, width) : *layout;
    bool same = !first && memcmp(&next, layout, sizeof next) == 0;
    *layout = next;
    if (!same)
        pdnn_sheet_titles(table, layout, &out);
    pdnn_sheet_rows(table, layout, &out);
    pdnn_sheet_note(table, layout, width, &own);
    if (own.length > note->length) {
        pdnn_str_clear(note);
        pdnn_str_append(note, pdnn_str_text(&own), own.length);
    }
    pdnn_str_finish(&own);
    pdnn_sheet_clear(table);
    pdnn_text_print(&out, false);
}

/* Rows are printed as they come. The titles wait for the first row, which may turn out to be an error in the
 * spec. */
static enum pdnn_status list_for_people(struct list *list, struct pdnn_err *err) {
    const size_t width = pdnn_terminal_width(STDOUT_FILENO);
    struct pdnn_varying varying = {.count = 0};
    struct pdnn_str note = {0};
    struct pdnn_sheet table;
    struct pdnn_sheet_layout layout;
    pdnn_sheet_init(&table, people_columns, N_PEOPLE_COLUMNS);
    enum pdnn_status status = find_varying(list, width, &varying, err);
    for (bool done = false, first = true; status == PDNN_OK && !done && !ferror(stdout);) {
        struct pdnn_expanded item;
        status = next(list, &item, &done, err);
        if (status == PDNN_OK && !done)
            add_row(&table, &item, &varying);
        if (status != PDNN_OK || (!done && table.n_cells < CHUNK_ROWS * N_PEOPLE_COLUMNS))
            continue;
        if (first || table.n_cells)
            print_chunk(&table, width, first, &layout, &note);
        first = false;
    }
    if (status == PDNN_OK)
        pdnn_text_print(&note, false);
    else
        pdnn_str_finish(&note);
    pdnn_sheet_finish(&table);
    pdnn_varying_finish(&varying);
    return status;
}

/* The hyper-parameter columns depend on the families, so a first walk collects them. It ends as soon as
 * nothing new can come. */
static enum pdnn_status collect_families(struct list *list, const struct pdnn_family_def **families,
                                         size_t *count, size_t all, struct pdnn_err *err) {
    *count = 0;
    for (;;) {
        struct pdnn_expanded item;
        bool done;
        if (pdnn_shard_walk_next(&list->deal, &list->walk, &item, &done, err) != PDNN_OK)
            return err->status;
        if (done)
            break;
        size_t i = 0;
        while (i < *count && families[i] != item.instance.family)
            i++;
        if (i == *count)
            families[(*count)++] = item.instance.family;
        if (*count == all || list->spec.n_models == 1)
            break;
    }
    return pdnn_shard_walk_start(&list->deal, &list->walk, &list->spec, list->host->threads_all, true, err);
}

/* Overwrites what differs from row to row: the record is cleared once for all of them. */
static void describe(const struct pdnn_expanded *item, struct pdnn_record *record) {
    const struct pdnn_cost *cost = &item->totals.cost;
    const char *reason = item->filtered || item->invalid ? item->reason
                         : item->has_totals              ? ""
                                                         : "its counts do not fit in 64 bits";
    pdnn_instance_format(&item->instance, record->id);
    record->model_length = pdnn_id_model_length(record->id);
    record->instance = item->instance;
    record->totals = item->totals;
    record->has_totals = item->has_totals;
    record->reason[0] = 0;
    if (*reason)
        snprintf(record->reason, sizeof record->reason, "%s", reason);
    record->place.intensity_flop_per_byte =
        cost->byte_count ? (double)cost->in_bounds_flop_count / (double)cost->byte_count : NAN;
}

/* Columns that a list has besides the analytic columns of results.csv; `reason` says
 * why an instance would not run. */
static const struct pdnn_column list_columns[] = {
    {.name = "intensity_flop_per_byte",
     .unit = "FLOP/byte",
     .type = PDNN_COLUMN_NUMBER,
     .offset = offsetof(struct pdnn_record, place.intensity_flop_per_byte),
     .digits = PDNN_DIGITS_TABLE},
    {.name = "reason",
     .unit = "",
     .type = PDNN_COLUMN_TEXT,
     .offset = offsetof(struct pdnn_record, reason),
     .size = sizeof((struct pdnn_record *)0)->reason},
};

enum { N_LIST_COLUMNS = sizeof list_columns / sizeof list_columns[0] };

static void get_columns(const struct pdnn_family_def *const *families, size_t n_families,
                        struct pdnn_arena *arena, struct pdnn_columns *columns) {
    struct pdnn_columns analytic;
    pdnn_results_columns(families, n_families, true, arena, &analytic);
    struct pdnn_column *all = pdnn_arena_alloc(arena, analytic.count + N_LIST_COLUMNS, sizeof *all);
    memcpy(all, analytic.column, analytic.count * sizeof *all);
    memcpy(all + analytic.count, list_columns, sizeof list_columns);
    *columns = (struct pdnn_columns){analytic.table, all, analytic.count + N_LIST_COLUMNS};
}

static enum pdnn_status list_for_programs(struct list *list, const struct pdnn_columns *columns,
                                          struct pdnn_err *err) {
    struct pdnn_str line = {0};
    struct pdnn_record record;
    enum pdnn_status status = PDNN_OK;
    pdnn_record_init(&record, "");
    record.parsed = true;
    pdnn_columns_header(columns, &line);
    for (bool done = false; !done && status == PDNN_OK && !ferror(stdout);) {
        fwrite(pdnn_str_text(&line), 1, line.length, stdout);
        pdnn_str_clear(&line);
        struct pdnn_expanded item;
        status = next(list, &item, &done, err);
        if (status != PDNN_OK || done)
            continue;
        describe(&item, &record);
        pdnn_columns_row(columns, &record, &line);
    }
    pdnn_str_finish(&line);
    return status;
}

static enum pdnn_status list_csv(struct list *list, struct pdnn_err *err) {
    size_t n_families = 0, all = 0;
    while (pdnn_families[all])
        all++;
    struct pdnn_arena arena = {0};
    struct pdnn_columns columns;
    const struct pdnn_family_def **families = pdnn_alloc(all, sizeof *families);
    enum pdnn_status status = collect_families(list, families, &n_families, all, err);
    if (status == PDNN_OK)
        get_columns(families, n_families, &arena, &columns);
    if (status == PDNN_OK)
        status = list_for_programs(list, &columns, err);
    free(families);
    pdnn_arena_finish(&arena);
    return status;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    (void)some_failed;
    struct list list = {0};
    struct pdnn_host host;
    struct pdnn_shard shard;
    const char **sets = NULL;
    size_t n_sets;
    bool csv = pdnn_wants_csv(arguments), only_count = pdnn_argument(arguments, "count");
    if (pdnn_host_read(&host, err) != PDNN_OK ||
        pdnn_shard_parse(pdnn_argument(arguments, "shard"), pdnn_argument(arguments, "shard-base"), getenv,
                         &shard, err) != PDNN_OK)
        return err->status;
    pdnn_argument_all(arguments, "set", &sets, &n_sets);
    list.host = &host;
    enum pdnn_status status =
        pdnn_spec_load(arguments->operands, arguments->n_operands, sets, n_sets, &list.spec, err);
    free(sets);
    if (status != PDNN_OK)
        return status;
    pdnn_tell_spec(&list.spec);
    status = pdnn_shard_deal(&shard, &list.spec, host.threads_all, &list.deal, err);
    if (status == PDNN_OK)
        status =
            pdnn_shard_walk_start(&list.deal, &list.walk, &list.spec, host.threads_all, !only_count, err);
    if (status == PDNN_OK && only_count)
        status = pdnn_list_totals(&list.spec, &host, &list.deal, &list.walk, csv, err);
    else if (status == PDNN_OK)
        status = csv ? list_csv(&list, err) : list_for_people(&list, err);
    if (status == PDNN_OK && list.too_wide)
        fprintf(stderr,
                "paradnn: %zu of these instances need more than the %" PRId64 " threads there are %s\n",
                list.too_wide, host.threads,
                host.threads == host.thread_limit ? "under OMP_THREAD_LIMIT" : "cores for here");
    pdnn_walk_finish(&list.walk);
    pdnn_shard_deal_finish(&list.deal);
    pdnn_spec_finish(&list.spec);
    return status;
}

const struct pdnn_command_def pdnn_command_list = {
    .name = "list",
    .summary = "Lists instances with their costs; runs nothing.",
    .operands = "SPEC|ID...",
    .min_operands = 1,
    .max_operands = PDNN_OPERANDS_ANY,
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .resolves_threads = true,
    .run = run,
};
