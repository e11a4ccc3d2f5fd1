#define _POSIX_C_SOURCE 200809L
#include "cli/print/output.h"
#include "cli/print/progress.h"
#include "results/store/results.h"
#include "session/status.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const char description[] =
    "Tells how far the sweep in DIR has come, from its journal or, if it has parts/, from those of all of its parts. "
    "It takes no lock and works while they are written. Of a joined sweep, it also says who holds leases: stale ones "
    "are of processes that are gone or give no sign of life, and a process that has no work of its own takes them "
    "over.\n\n"
    "An instance is done when it has all the visits that the spec asks for, has failed for good, or has nothing to "
    "run; begun when its row in results.csv comes from fewer visits; open without a visit. Then come the rows by "
    "status, those of open instances as interrupted. The rate is that of the processes that are working. The time "
    "left is the predicted time of the missing visits, scaled by how long the visits so far took; extra visits to "
    "noisy instances come on top.\n\n"
    "Exit status 0: every instance is done. 1: some are begun or open.";

static const struct pdnn_option_def options[] = {
    {"watch", .help = "print again every five seconds until the sweep is complete"},
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn status fc.results", "how much of a sweep is done"},
    {"paradnn status fc.results --watch", "the same until it is complete"},
};

/* The report is one row, whose columns depend on what there is. */
static void put_count(struct pdnn_table *row, const char *name, size_t count) {
    const struct pdnn_column_def def = {.name = name, .kind = PDNN_KIND_COUNT};
    pdnn_table_set_count(row, 0, pdnn_table_add_column(row, &def), count);
}

static void put_number(struct pdnn_table *row, const char *name, double value) {
    put_count(row, name, isnan(value) ? SIZE_MAX : (size_t)(value + 0.5));
}

static void put_text(struct pdnn_table *row, const char *name, const char *text) {
    const struct pdnn_column_def def = {.name = name};
    pdnn_table_set_text(row, 0, pdnn_table_add_column(row, &def), text);
}

static void put_leases(struct pdnn_table *row, const struct pdnn_status_report *report) {
    enum { HELD, STALE, ENDED, LOST, STATES };
    static const char *const names[STATES] = {"leases_held", "leases_stale", "leases_ended", "leases_lost"};
    const struct pdnn_leases *leases = &report->leases;
    size_t count[STATES] = {0}, held = 0;
    for (size_t i = 0; i < leases->count; i++) {
        const struct pdnn_lease *lease = &leases->lease[i];
        const bool is_held = lease->state == PDNN_LEASE_HELD;
        count[is_held ? lease->is_stale : lease->state == PDNN_LEASE_ENDED ? ENDED : LOST]++;
        held += is_held ? lease->count : 0;
    }
    for (int state = 0; state < STATES; state++)
        put_count(row, names[state], count[state]);
    put_count(row, "instances_held", held);
    put_count(row, "instances_free", report->free);
    for (size_t i = 0; i < leases->count; i++) {
        const struct pdnn_lease *lease = &leases->lease[i];
        char name[sizeof lease->holder.part + sizeof "held_by "];
        snprintf(name, sizeof name, "%s %s", lease->is_stale ? "stale" : "held_by", lease->holder.part);
        if (lease->state == PDNN_LEASE_HELD)
            put_count(row, name, lease->count);
    }
}

static void put_report(struct pdnn_table *row, const struct pdnn_status_report *report, bool all_outcomes) {
    char utc[PDNN_UTC_TEXT] = "";
    if (all_outcomes || report->unusable)
        put_count(row, "unusable", report->unusable);
    put_count(row, "instances", report->tally.instances);
    for (int stage = 0; stage < PDNN_STAGE_COUNT; stage++)
        if (all_outcomes || stage != PDNN_STAGE_OTHER || report->tally.stage[stage])
            put_count(row, pdnn_stage_names[stage], report->tally.stage[stage]);
    for (int outcome = 0; outcome < PDNN_OUTCOME_COUNT; outcome++)
        if (all_outcomes || report->tally.counts[outcome])
            put_count(row, pdnn_outcome_name((enum pdnn_outcome)outcome), report->tally.counts[outcome]);
    put_count(row, "directories", report->directories);
    put_count(row, "working", report->working);
    put_count(row, "visits", report->visits);
    put_text(row, "last_visit_utc", report->last_unix_ms ? pdnn_utc_format(report->last_unix_ms, utc) : "");
    put_number(row, "visits_per_hour", report->visits_per_hour);
    put_number(row, "seconds_left", report->seconds_left);
    if (report->is_joined)
        put_leases(row, report);
}

static const struct pdnn_column_def item_columns[] = {{.name = "item"}, {"value", .align = PDNN_ALIGN_RIGHT}};
static const struct pdnn_table_def items_def = {"status", "how far a sweep has come", item_columns, 2};
static const struct pdnn_table_def row_def = {"status", "how far a sweep has come", NULL, 0};

/* For programs the row; people get a line for each of its columns. */
static enum pdnn_status print(const struct pdnn_status_report *report, const struct pdnn_arguments *arguments,
                              struct pdnn_err *err) {
    struct pdnn_table row, items;
    pdnn_table_init(&row, &row_def);
    pdnn_table_add_row(&row);
    if (!pdnn_wants_text(arguments)) {
        put_text(&row, "directory", arguments->operands[0]);
        put_report(&row, report, true);
        return pdnn_table_print(&row, arguments, err);
    }
    put_report(&row, report, false);
    pdnn_table_init(&items, &items_def);
    for (size_t c = 0; c < row.n_columns; c++) {
        struct pdnn_str value = {0};
        pdnn_table_append(&row, 0, c, &value);
        const char *const texts[] = {row.column[c].def.name, pdnn_str_text(&value)};
        pdnn_table_add_texts(&items, 2, texts);
        pdnn_str_finish(&value);
    }
    pdnn_table_finish(&row);
    return pdnn_table_print(&items, arguments, err);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    const volatile int *stop = pdnn_argument(arguments, "watch") ? pdnn_interrupt_watch() : NULL;
    struct pdnn_status_report report;
    if (stop)
        signal(SIGPIPE, SIG_DFL); /* a reader that has enough ends it, as without --watch */
    for (;;) {
        if (pdnn_status_read(arguments->operands[0], &report, err) != PDNN_OK)
            return err->status;
        const enum pdnn_status status = print(&report, arguments, err);
        *arguments->some_failed = report.tally.stage[PDNN_STAGE_DONE] < report.tally.instances;
        pdnn_leases_close(&report.leases);
        if (status != PDNN_OK || !stop || !*arguments->some_failed || ferror(stdout))
            return status;
        if (*stop || sleep(5) > 0)
            return pdnn_fail(err, PDNN_INTERRUPTED, "interrupted");
        fputc('\n', stdout);
    }
}

PDNN_COMMAND(status, PDNN_COMMANDS_LOOK, "DIR", "Tells how far a sweep has come.", .run = run,
             .reads_directories = true);
