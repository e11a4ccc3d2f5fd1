/* journal.csv: one row per visit. These columns are written and read back. */
#include "results/store/columns.h"
#include "results/table/csv.h"
#include "results/store/journal.h"
#include "results/store/results.h"

#include <string.h>

static void get_status(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_journal_row *journal = row;
    pdnn_str_printf(cell, "%s", pdnn_outcome_name(journal->visit.outcome));
}

static bool put_status(const struct pdnn_column *column, void *row, const char *text) {
    (void)column;
    struct pdnn_journal_row *journal = row;
    journal->visit.outcome = pdnn_outcome_find(text);
    return journal->visit.outcome != PDNN_OUTCOME_COUNT;
}

static void get_started(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_journal_row *journal = row;
    char text[PDNN_UTC_TEXT];
    pdnn_str_printf(cell, "%s", pdnn_utc_format(journal->visit.started_unix_ms, text));
}

static bool put_started(const struct pdnn_column *column, void *row, const char *text) {
    (void)column;
    struct pdnn_journal_row *journal = row;
    return pdnn_utc_parse(text, &journal->visit.started_unix_ms);
}

static void get_stop(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_journal_row *journal = row;
    if (journal->visit.samples)
        pdnn_str_printf(cell, "%s", pdnn_stop_name(journal->visit.stop));
}

static bool put_stop(const struct pdnn_column *column, void *row, const char *text) {
    (void)column;
    struct pdnn_journal_row *journal = row;
    if (!*text)
        return true;
    journal->visit.stop = pdnn_stop_find(text);
    return journal->visit.stop != PDNN_STOP_COUNT;
}

static void get_flags(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_journal_row *journal = row;
    char text[PDNN_FLAGS_TEXT];
    pdnn_str_printf(cell, "%s", pdnn_flags_format(journal->visit.flags, text));
}

static bool put_flags(const struct pdnn_column *column, void *row, const char *text) {
    (void)column;
    struct pdnn_journal_row *journal = row;
    journal->visit.flags = pdnn_flags_parse(text);
    return true;
}

/* Appends the field in the form of the column's type. */
static void get_plain(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    struct pdnn_column plain = *column;
    plain.get = NULL;
    pdnn_column_text(&plain, row, cell);
}

/* Empty if the visit did not get that far: a 0 would be taken for a measurement. */
static void get_measured(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    size_t before = cell->length;
    get_plain(column, row, cell);
    if (strcmp(pdnn_str_text(cell) + before, "0") == 0) {
        cell->length = before;
        cell->text[before] = 0;
    }
}

/* Statistics of the samples: empty without samples; with samples, a 0 is a 0. */
static void get_sampled(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    const struct pdnn_journal_row *journal = row;
    if (journal->visit.samples)
        get_plain(column, row, cell);
}

static bool put_measured(const struct pdnn_column *column, void *row, const char *text) {
    struct pdnn_column plain = *column;
    plain.put = NULL;
    return pdnn_column_parse(&plain, row, *text ? text : "0");
}

#define AT(field)     .offset = offsetof(struct pdnn_journal_row, field)
#define TEXT(field)   PDNN_COLUMN_TEXT, AT(field), sizeof((struct pdnn_journal_row *)0)->field
#define NUMBER(field) PDNN_COLUMN_NUMBER, AT(field), .digits = PDNN_DIGITS_EXACT
#define COUNT(field)  PDNN_COLUMN_COUNT, AT(field)
#define MEASURED      .get = get_measured, .put = put_measured
#define SAMPLED       .get = get_sampled, .put = put_measured

static const struct pdnn_column columns[] = {
    {"schema", "", COUNT(schema), .help = "version of this table"},
    {"id", "", TEXT(id), .help = "the instance"},
    {"visit", "", COUNT(number), .help = "number of the visit to the instance, from 1"},
    {"status", "", PDNN_COLUMN_WORD, .get = get_status, .put = put_status, .words = pdnn_outcome_words,
     .help = "how the visit ended"},
    {"reason", "", TEXT(visit.reason), .help = "why it is not ok"},
    {"started_utc", "", PDNN_COLUMN_WORD, .get = get_started, .put = put_started,
     .help = "start of the visit"},
    {"prepare_ns", "ns", COUNT(visit.prepare_ns), MEASURED,
     .help = "time for graph, primitives, layouts, memory and data"},
    {"plan_bytes", "bytes", COUNT(visit.plan_bytes), MEASURED, .help = "memory allocated"},
    {"samples", "samples", COUNT(visit.samples), SAMPLED, .help = "number of timed samples"},
    {"steps_per_sample", "steps", COUNT(visit.steps_per_sample), SAMPLED,
     .help = "steps per sample: short steps are batched; times are per step"},
    {"warmups", "steps", COUNT(visit.warmups), SAMPLED,
     .help = "warm-up steps before those samples; in none of the times"},
    {"time_ns_median", "ns", NUMBER(visit.median_ns), SAMPLED, .help = "median of the samples"},
    {"time_ns_min", "ns", NUMBER(visit.min_ns), SAMPLED, .help = "minimum of the samples"},
    {"time_ns_mean", "ns", NUMBER(visit.mean_ns), SAMPLED, .help = "mean of the samples"},
    {"time_ns_p10", "ns", NUMBER(visit.p10_ns), SAMPLED,
     .help = "10 % quantile of the samples, interpolated between two"},
    {"time_ns_p90", "ns", NUMBER(visit.p90_ns), SAMPLED,
     .help = "90 % quantile of the samples, interpolated between two"},
    {"time_ns_mad", "ns", NUMBER(visit.mad_ns), SAMPLED, .help = "median absolute deviation of the samples"},
    {"stamped_ns", "ns", NUMBER(visit.stamped_ns), MEASURED,
     .help = "median time of a whole step with each op stamped"},
    {"probe_gflops", "1e9 FLOP/s", NUMBER(visit.probe_gflops), MEASURED,
     .help = "FMA probes just before and after the visit, together"},
    {"probe_gbs", "1e9 B/s", NUMBER(visit.probe_gbs), MEASURED,
     .help = "DRAM read probes just before and after the visit, together"},
    {"stop_reason", "", PDNN_COLUMN_WORD, .get = get_stop, .put = put_stop, .words = pdnn_stop_words,
     .help = "why it took no more samples"},
    {"row_flags", "", PDNN_COLUMN_WORD, .get = get_flags, .put = put_flags, .words = pdnn_flag_words,
     .help = "flags of this visit, joined by |"},
    {"ops", "", COUNT(n_ops), .help = "number of the visit's rows in journal-ops.csv"},
};

const struct pdnn_columns pdnn_journal_columns = {"journal.csv", columns, sizeof columns / sizeof columns[0]};
