#include "base/memory.h"
#include "base/paths/target.h"
#include "cli/job.h"
#include "cli/print/progress.h"
#include "cli/print/output.h"
#include "session/session.h"
#include "models/param.h"
#include "results/store/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char description[] =
    "Measures the most that the machine can do: the floating-point rate of pure multiply-adds and of the "
    "best matrix products, the bandwidth of read, copy, triad and update at each cache level and in memory, "
    "and the fixed cost of calling an operator. Nothing is taken from a data sheet.\n\n"
    "All measurements of the last 24 hours on a thread count are one set, which a new one joins: a roof is the "
    "median of their values, with low and high from the least to the greatest (of one measurement, of its "
    "repetitions), once for threads near each other and once for threads far apart, where both were seen. A sweep "
    "takes the set as it is if its probes agree with those of their state within 15 %, and else measures first, in "
    "a second or two. This command always measures, for longer. To give a sweep certain roofs, give its --ceilings "
    "the file that --output wrote.";

static const struct pdnn_option_def options[] = {
    {"threads", 't', "N|all", .repeats = true,
     .help = "number of threads to measure with, or all; may be repeated (default: 1 and all)"},
    {"seconds", 's', "SECONDS", .kind = PDNN_OPTION_NUMBER, .least = 1e-3, .most = 3600,
     .help = "about how long to measure each thread count (default: 5)"},
    {"time", 0, "TIME", .kind = PDNN_OPTION_TIME,
     .help = "give up on a thread count after TIME (default: a minute longer than four times --seconds)"},
    {"output", 'o', "FILE",
     .help = "also write the rows to FILE, as CSV; a device or a pipe is written to as it is"},
    PDNN_OPTION_NO_CACHE,
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn ceilings -o roofs.csv", "the roofs at 1 and all threads, kept for later sweeps"},
};

/* The roofs for people, with their units and no capacity where it is 0, and the ladder from which the
 * bandwidth of each level is derived: one row per working set, with the patterns side by side. */
static void print_for_people(const struct pdnn_roof_rows *roof_rows) {
    static const size_t shown[] = {PDNN_ROOF_ROW_THREADS,  PDNN_ROOF_ROW_STATE,    PDNN_ROOF_ROW_KIND,
                                   PDNN_ROOF_ROW_PATTERN,  PDNN_ROOF_ROW_DTYPE,    PDNN_ROOF_ROW_LEVEL,
                                   PDNN_ROOF_ROW_CAPACITY, PDNN_ROOF_ROW_REPORTED, PDNN_ROOF_ROW_VALUE,
                                   PDNN_ROOF_ROWS_COLUMNS, PDNN_ROOF_ROW_MEDIAN,   PDNN_ROOF_ROW_LOW,
                                   PDNN_ROOF_ROW_HIGH};
    static const size_t rung[] = {PDNN_ROOF_ROW_THREADS, PDNN_ROOF_ROW_STATE, PDNN_ROOF_ROW_CAPACITY,
                                  PDNN_ROOF_ROW_LEVEL};
    const struct pdnn_pivot pivot = {rung, sizeof rung / sizeof *rung, PDNN_ROOF_ROW_PATTERN,
                                     PDNN_ROOF_ROW_VALUE};
    struct pdnn_str out = {0};
    struct pdnn_table roofs, rungs, ladder;
    pdnn_table_init(&roofs, &pdnn_ceilings_def);
    pdnn_table_init(&rungs, &pdnn_ceilings_def);
    pdnn_table_add_column(&roofs, &(const struct pdnn_column_def){.name = "unit"});
    for (size_t i = 0; i < roof_rows->count; i++) {
        const struct pdnn_roof_row *row = &roof_rows->row[i];
        const size_t at = roofs.n_rows;
        pdnn_roof_rows_add(row, strcmp(row->kind, "ladder") == 0 ? &rungs : &roofs);
        if (at == roofs.n_rows)
            continue;
        const bool is_bandwidth = strcmp(row->kind, "bandwidth") == 0 || strcmp(row->pattern, "read") == 0;
        pdnn_table_set_text(&roofs, at, PDNN_ROOF_ROWS_COLUMNS,
                            strcmp(row->kind, "overhead") == 0 ? "ns"
                            : is_bandwidth                     ? "GB/s"
                                                               : "GFLOP/s");
        if (!row->capacity_bytes)
            pdnn_table_set_empty(&roofs, at, PDNN_ROOF_ROW_CAPACITY);
        if (!row->reported_bytes)
            pdnn_table_set_empty(&roofs, at, PDNN_ROOF_ROW_REPORTED);
    }
    pdnn_table_pivot(&rungs, &pivot, &ladder);
    ladder.column[2].def.title = "working set";
    pdnn_table_show(&out, &roofs, NULL, shown, sizeof shown / sizeof *shown);
    pdnn_str_printf(&out, "\nbandwidth by working set, GB/s:\n");
    pdnn_table_show(&out, &ladder, NULL, NULL, 0);
    pdnn_text_print(&out, false);
    pdnn_table_finish(&roofs);
    pdnn_table_finish(&rungs);
    pdnn_table_finish(&ladder);
}

/* Writes the rows to the file that the user named, if any, and prints them. */
static enum pdnn_status report(const struct pdnn_roof_rows *roof_rows, const struct pdnn_target *target,
                               const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_str text = {0};
    struct pdnn_table table;
    pdnn_roof_rows_format(roof_rows, &text);
    enum pdnn_status status =
        target ? pdnn_target_write(target, pdnn_str_text(&text), text.length, err) : PDNN_OK;
    pdnn_str_finish(&text);
    if (status == PDNN_OK && pdnn_wants_text(arguments))
        print_for_people(roof_rows);
    if (status != PDNN_OK || pdnn_wants_text(arguments))
        return status;
    pdnn_table_init(&table, &pdnn_ceilings_def);
    for (size_t i = 0; i < roof_rows->count; i++)
        pdnn_roof_rows_add(&roof_rows->row[i], &table);
    return pdnn_table_print(&table, arguments, err);
}

enum { THREADS_MAX = PDNN_ROOF_ROWS_THREADS_MAX };

/* A count given twice, perhaps as `all` and as a number, is measured once. */
static enum pdnn_status parse_threads(const struct pdnn_arguments *arguments, const struct pdnn_host *host,
                                      int64_t *threads, size_t *count, struct pdnn_err *err) {
    static const char *const usual[] = {"1", "all"};
    size_t n_texts;
    const char *const *texts = pdnn_argument_all(arguments, "threads", &n_texts);
    if (n_texts > THREADS_MAX)
        return pdnn_fail(err, PDNN_INVALID, "--threads is given more than %d times", THREADS_MAX);
    texts = n_texts ? texts : usual;
    for (size_t i = 0; i < (n_texts ? n_texts : 2); i++) {
        struct pdnn_value value;
        size_t at = 0;
        if (pdnn_param_parse(&pdnn_settings[PDNN_SETTING_THREADS], texts[i], &value, err) != PDNN_OK)
            return err->status;
        if (value.number > host->threads)
            return pdnn_fail(err, PDNN_INVALID, "--threads %s: only %" PRId64 " cores may be used here",
                             texts[i], host->threads);
        const int64_t wanted = value.number ? value.number : host->threads_all;
        while (at < *count && threads[at] != wanted)
            at++;
        threads[at] = wanted;
        *count += at == *count;
    }
    return PDNN_OK;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_host host;
    int64_t threads[THREADS_MAX];
    size_t n_threads = 0;
    if (pdnn_host_read(&host, err) != PDNN_OK ||
        parse_threads(arguments, &host, threads, &n_threads, err) != PDNN_OK ||
        pdnn_table_check_columns(&pdnn_ceilings_def, arguments, err) != PDNN_OK)
        return err->status;
    const double seconds = pdnn_argument_number(arguments, "seconds", 5);
    const uint64_t time_limit_ns =
        pdnn_argument_time(arguments, "time", pdnn_roof_rows_limit_ns(seconds, UINT64_C(60000000000)));
    struct pdnn_target target = {.fd = -1};
    const char *path = pdnn_argument(arguments, "output");
    if (path && pdnn_target_open(&target, path, err) != PDNN_OK)
        return err->status;
    struct pdnn_progress bar;
    const struct pdnn_session_hooks hooks = pdnn_progress_hooks(&bar);
    bar.tell = pdnn_cli_tell;
    char cache[PDNN_KEPT_PATH];
    pdnn_session_cache(pdnn_argument(arguments, "no-cache"), cache);
    const struct pdnn_roof_rows_job request = {&host,         threads, n_threads, seconds,
                                               time_limit_ns, cache,   true};
    struct pdnn_roof_rows *roof_rows = pdnn_alloc(1, sizeof *roof_rows);
    enum pdnn_status status = pdnn_measure_roofs(&request, &hooks, roof_rows, err);
    if (status == PDNN_OK)
        status = report(roof_rows, path ? &target : NULL, arguments, err);
    pdnn_target_close(&target);
    free(roof_rows);
    return status;
}

PDNN_COMMAND(ceilings, PDNN_COMMANDS_MEASURE, "", "Measures the machine's roofs.", .run = run);
