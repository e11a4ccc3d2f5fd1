#define _POSIX_C_SOURCE 200809L
#include "base/units.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/registry.h"
#include "results/tables/record.h"
#include "session/status.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const char *const paragraphs[] = {
    "Tells how far the sweep in DIR has come, from its journal or, if it has parts/, from those of all of its "
    "parts. It takes no lock and works while they are written.",
    "Of a joined sweep, it also says who holds leases: stale ones are of processes that give no sign of life, "
    "and whoever joins next takes them over.",
    "The rate is that of the processes that are working. The time left is the predicted time of the missing visits, scaled by how long the visits so "
    "far took; extra visits to noisy instances come on top.",
    "Exit status 0: every instance has its visits, has failed, or has nothing to run. 1: some are open.",
    NULL,
};

static const struct pdnn_option_def options[] = {
    {"watch", 0, NULL, NULL, false, "print again every five seconds until the sweep is complete"},
    PDNN_OPTION_FORMAT,
};

static const struct pdnn_example examples[] = {
    {"paradnn status fc.results", "how much of a sweep is done"},
    {"paradnn status fc.results --watch", "the same until it is complete"},
};

static const struct pdnn_sheet_column columns[] = {
    {"item", PDNN_ALIGN_LEFT},
    {"value", PDNN_ALIGN_RIGHT},
};

static void put_count(struct pdnn_sheet *table, const char *item, size_t count) {
    pdnn_sheet_cell(table, "%s", item);
    pdnn_sheet_cell(table, "%zu", count);
}

static void put_number(struct pdnn_sheet *table, const char *item, double value) {
    pdnn_sheet_cell(table, "%s", item);
    if (isnan(value))
        pdnn_sheet_cell(table, "%s", "");
    else
        pdnn_sheet_cell(table, "%.0f", value);
}

static void put_leases(struct pdnn_sheet *table, const struct pdnn_status_report *report) {
    size_t stale = 0;
    for (size_t i = 0; i < report->n_holders; i++)
        stale += report->holder[i].is_stale;
    put_count(table, "leases_held", report->n_holders - stale);
    put_count(table, "leases_stale", stale);
    put_count(table, "leases_ended", report->leases_ended);
    put_count(table, "leases_lost", report->leases_lost);
    put_count(table, "instances_held", report->held);
    put_count(table, "instances_free", report->free);
    for (size_t i = 0; i < report->n_holders; i++) {
        const struct pdnn_status_holder *holder = &report->holder[i];
        pdnn_sheet_cell(table, "%s %s", holder->is_stale ? "stale" : "held_by", holder->part);
        pdnn_sheet_cell(table, "%zu", holder->instances);
    }
}

static void print(const struct pdnn_status_report *report, bool csv) {
    struct pdnn_sheet table;
    char utc[PDNN_UTC_TEXT] = "";
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof columns[0]);
    put_count(&table, "instances", report->instances);
    put_count(&table, "done", report->done);
    for (int outcome = 0; outcome < PDNN_OUTCOME_COUNT; outcome++)
        if (report->counts[outcome])
            put_count(&table, pdnn_outcome_name((enum pdnn_outcome)outcome), report->counts[outcome]);
    put_count(&table, "open", report->instances - report->done);
    put_count(&table, "begun", report->begun);
    put_count(&table, "directories", report->directories);
    put_count(&table, "working", report->working);
    put_count(&table, "visits", report->visits);
    pdnn_sheet_cell(&table, "last_visit_utc");
    pdnn_sheet_cell(&table, "%s", report->last_unix_ms ? pdnn_utc_format(report->last_unix_ms, utc) : "");
    put_number(&table, "visits_per_hour", report->visits_per_hour);
    put_number(&table, "seconds_left", report->seconds_left);
    if (report->is_joined)
        put_leases(&table, report);
    pdnn_sheet_print(&table, csv);
    pdnn_sheet_finish(&table);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    const bool watches = pdnn_argument(arguments, "watch"), csv = pdnn_wants_csv(arguments);
    const volatile int *stop = watches ? pdnn_interrupt_watch() : NULL;
    const struct timespec pause = {.tv_sec = 5};
    for (;;) {
        struct pdnn_status_report report;
        enum pdnn_status status = pdnn_status_read(arguments->operands[0], &report, err);
        if (status != PDNN_OK)
            return status;
        print(&report, csv);
        *some_failed = report.done < report.instances;
        pdnn_status_finish(&report);
        if (!watches || !*some_failed)
            return status;
        fputc('\n', stdout);
        fflush(stdout);
        nanosleep(&pause, NULL);
        if (*stop)
            return pdnn_fail(err, PDNN_INTERRUPTED, "interrupted");
    }
}

const struct pdnn_command_def pdnn_command_status = {
    .name = "status",
    .summary = "Tells how far a sweep has come.",
    .operands = "DIR",
    .min_operands = 1,
    .max_operands = 1,
    .reads_directories = true,
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .run = run,
};
