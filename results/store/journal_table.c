#include "results/store/journal_table.h"

#include "models/instance.h"
#include "results/store/results.h"
#include "results/table/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT  .kind = PDNN_KIND_COUNT
#define NUMBER .kind = PDNN_KIND_NUMBER, .digits = PDNN_DIGITS_EXACT

#define JOURNAL_COLUMN(word, ...) [PDNN_JOURNAL_##word] = {__VA_ARGS__},
static const struct pdnn_column_def columns[] = {
#include "results/store/columns/journal.inc"
};
#undef JOURNAL_COLUMN
const struct pdnn_table_def pdnn_journal_def = {
    "journal", "one row per visit to an instance, appended as it happens; the source of the tables", columns,
    PDNN_JOURNAL_COLUMNS};

#define JOURNAL_OPS_COLUMN(word, ...) [PDNN_JOURNAL_OPS_##word] = {__VA_ARGS__},
static const struct pdnn_column_def op_columns[] = {
#include "results/store/columns/journal-ops.inc"
};
#undef JOURNAL_OPS_COLUMN
const struct pdnn_table_def pdnn_journal_ops_def = {
    "journal-ops", "one row per visit and operator, written before the visit's row commits them", op_columns,
    PDNN_JOURNAL_OPS_COLUMNS};

static void put_line(struct pdnn_table *table, size_t row, size_t column, const char *text) {
    struct pdnn_str line = {0};
    pdnn_str_append(&line, text, strlen(text));
    for (size_t i = 0; i < line.length; i++)
        if ((unsigned char)line.text[i] < 0x20)
            line.text[i] = ' ';
    pdnn_table_set_text(table, row, column, pdnn_str_text(&line));
    pdnn_str_finish(&line);
}

/* The columns that are empty without samples; with samples, a 0 is a 0. */
static void put_samples(struct pdnn_table *journal, size_t row, const struct pdnn_visit *visit) {
    const uint64_t counts[] = {visit->samples, visit->steps_per_sample, visit->warmups};
    const double numbers[] = {visit->median_ns, visit->min_ns, visit->mean_ns,
                              visit->p10_ns,    visit->p90_ns, visit->mad_ns};
    if (!visit->samples)
        return;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        pdnn_table_set_count(journal, row, PDNN_JOURNAL_SAMPLES + i, counts[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        pdnn_table_set_number(journal, row, PDNN_JOURNAL_TIME_NS_MEDIAN + i, numbers[i]);
    pdnn_table_set_text(journal, row, PDNN_JOURNAL_STOP_REASON, pdnn_stop_name(visit->stop));
}

/* What is 0 was not measured: the visit did not get that far. */
static void put_measured(struct pdnn_table *journal, size_t row, const struct pdnn_visit *visit) {
    const double numbers[] = {visit->stamped_ns,       visit->probe_gflops,    visit->probe_gbs,
                              visit->ranks.compute_ns, visit->ranks.skew_ns,   visit->ranks.comm_ns,
                              visit->infeed.wait_ns,   visit->infeed.loader_ns};
    if (visit->prepare_ns)
        pdnn_table_set_count(journal, row, PDNN_JOURNAL_PREPARE_NS, visit->prepare_ns);
    if (visit->plan_bytes)
        pdnn_table_set_count(journal, row, PDNN_JOURNAL_PLAN_BYTES, visit->plan_bytes);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] != 0)
            pdnn_table_set_number(journal, row, PDNN_JOURNAL_STAMPED_NS + i, numbers[i]);
    if (visit->ranks.bytes)
        pdnn_table_set_count(journal, row, PDNN_JOURNAL_ALLREDUCE_BYTES, visit->ranks.bytes);
    if (visit->infeed.loader_bytes)
        pdnn_table_set_count(journal, row, PDNN_JOURNAL_LOADER_BYTES, visit->infeed.loader_bytes);
    pdnn_table_set_text(journal, row, PDNN_JOURNAL_PAGE_CACHE, visit->infeed.page_cache);
}

void pdnn_journal_add(struct pdnn_table *journal, const char *id, uint64_t number,
                      const struct pdnn_visit *visit) {
    char started[PDNN_UTC_TEXT], flags[PDNN_FLAGS_TEXT];
    const size_t row = pdnn_table_add_row(journal);
    pdnn_table_set_count(journal, row, PDNN_JOURNAL_SCHEMA, PDNN_SCHEMA);
    put_line(journal, row, PDNN_JOURNAL_ID, id);
    pdnn_table_set_count(journal, row, PDNN_JOURNAL_VISIT, number);
    pdnn_table_set_text(journal, row, PDNN_JOURNAL_STATUS, pdnn_outcome_name(visit->outcome));
    put_line(journal, row, PDNN_JOURNAL_REASON, visit->reason);
    pdnn_table_set_text(journal, row, PDNN_JOURNAL_STARTED_UTC,
                        pdnn_utc_format(visit->started_unix_ms, started));
    put_samples(journal, row, visit);
    put_measured(journal, row, visit);
    pdnn_table_set_text(journal, row, PDNN_JOURNAL_ROW_FLAGS, pdnn_flags_format(visit->flags, flags));
    pdnn_table_set_count(journal, row, PDNN_JOURNAL_OPS, visit->n_ops);
}

/* The key is split at its first two slashes. */
void pdnn_journal_add_op(struct pdnn_table *ops, const char *id, uint64_t number,
                         const struct pdnn_visit_op *op) {
    char key[PDNN_OP_KEY_TEXT];
    const size_t row = pdnn_table_add_row(ops);
    put_line(ops, row, PDNN_JOURNAL_OPS_ID, id);
    pdnn_table_set_count(ops, row, PDNN_JOURNAL_OPS_VISIT, number);
    snprintf(key, sizeof key, "%s", op->key);
    char *part = key;
    for (size_t column = PDNN_JOURNAL_OPS_OP; column <= PDNN_JOURNAL_OPS_OP_SHAPE; column++) {
        size_t length = column == PDNN_JOURNAL_OPS_OP_SHAPE ? strlen(part) : strcspn(part, "/");
        bool has_more = part[length];
        part[length] = 0;
        put_line(ops, row, column, part);
        part += length + has_more;
    }
    put_line(ops, row, PDNN_JOURNAL_OPS_LAYER, op->layer);
    put_line(ops, row, PDNN_JOURNAL_OPS_IMPLEMENTATION, op->implementation);
    pdnn_table_set_count(ops, row, PDNN_JOURNAL_OPS_EXECUTIONS, op->count);
    pdnn_table_set_count(ops, row, PDNN_JOURNAL_OPS_REORDER_BYTES, op->bytes);
    pdnn_table_set_number(ops, row, PDNN_JOURNAL_OPS_TIME_NS, op->time_ns);
}

static uint64_t count_of(const struct pdnn_table *journal, size_t row, size_t column) {
    return pdnn_table_is_empty(journal, row, column) ? 0 : pdnn_table_count(journal, row, column);
}

static double number_of(const struct pdnn_table *journal, size_t row, size_t column) {
    return pdnn_table_is_empty(journal, row, column) ? 0 : pdnn_table_number(journal, row, column);
}

struct pdnn_visit pdnn_journal_visit(const struct pdnn_table *journal, size_t row) {
    const char *stop = pdnn_table_text(journal, row, PDNN_JOURNAL_STOP_REASON);
    struct pdnn_visit visit = {
        .outcome = pdnn_outcome_find(pdnn_table_text(journal, row, PDNN_JOURNAL_STATUS)),
        .prepare_ns = count_of(journal, row, PDNN_JOURNAL_PREPARE_NS),
        .plan_bytes = count_of(journal, row, PDNN_JOURNAL_PLAN_BYTES),
        .samples = count_of(journal, row, PDNN_JOURNAL_SAMPLES),
        .steps_per_sample = count_of(journal, row, PDNN_JOURNAL_STEPS_PER_SAMPLE),
        .warmups = count_of(journal, row, PDNN_JOURNAL_WARMUPS),
        .median_ns = number_of(journal, row, PDNN_JOURNAL_TIME_NS_MEDIAN),
        .min_ns = number_of(journal, row, PDNN_JOURNAL_TIME_NS_MIN),
        .mean_ns = number_of(journal, row, PDNN_JOURNAL_TIME_NS_MEAN),
        .p10_ns = number_of(journal, row, PDNN_JOURNAL_TIME_NS_P10),
        .p90_ns = number_of(journal, row, PDNN_JOURNAL_TIME_NS_P90),
        .mad_ns = number_of(journal, row, PDNN_JOURNAL_TIME_NS_MAD),
        .stamped_ns = number_of(journal, row, PDNN_JOURNAL_STAMPED_NS),
        .probe_gflops = number_of(journal, row, PDNN_JOURNAL_PROBE_GFLOPS),
        .probe_gbs = number_of(journal, row, PDNN_JOURNAL_PROBE_GBS),
        .ranks = {number_of(journal, row, PDNN_JOURNAL_RANKS_COMPUTE_NS),
                  number_of(journal, row, PDNN_JOURNAL_RANKS_SKEW_NS),
                  number_of(journal, row, PDNN_JOURNAL_RANKS_COMM_NS),
                  count_of(journal, row, PDNN_JOURNAL_ALLREDUCE_BYTES)},
        .infeed = {.wait_ns = number_of(journal, row, PDNN_JOURNAL_INFEED_WAIT_NS),
                   .loader_ns = number_of(journal, row, PDNN_JOURNAL_LOADER_NS),
                   .loader_bytes = count_of(journal, row, PDNN_JOURNAL_LOADER_BYTES)},
        .stop = *stop ? pdnn_stop_find(stop) : (enum pdnn_stop)0,
        .flags = pdnn_flags_parse(pdnn_table_text(journal, row, PDNN_JOURNAL_ROW_FLAGS)),
        .n_ops = (size_t)pdnn_table_count(journal, row, PDNN_JOURNAL_OPS),
    };
    snprintf(visit.reason, sizeof visit.reason, "%s", pdnn_table_text(journal, row, PDNN_JOURNAL_REASON));
    snprintf(visit.infeed.page_cache, sizeof visit.infeed.page_cache, "%s",
             pdnn_table_text(journal, row, PDNN_JOURNAL_PAGE_CACHE));
    pdnn_utc_parse(pdnn_table_text(journal, row, PDNN_JOURNAL_STARTED_UTC), &visit.started_unix_ms);
    return visit;
}

/* The key of the row's op, or false if it is too long for one. */
static bool join_key(const struct pdnn_table *ops, size_t row, char key[PDNN_OP_KEY_TEXT]) {
    int length = snprintf(key, PDNN_OP_KEY_TEXT, "%s/%s/%s", pdnn_table_text(ops, row, PDNN_JOURNAL_OPS_OP),
                          pdnn_table_text(ops, row, PDNN_JOURNAL_OPS_OP_PASS),
                          pdnn_table_text(ops, row, PDNN_JOURNAL_OPS_OP_SHAPE));
    return length >= 0 && length < PDNN_OP_KEY_TEXT;
}

struct pdnn_visit_op pdnn_journal_op(const struct pdnn_table *ops, size_t row) {
    struct pdnn_visit_op op = {
        .count = (uint32_t)pdnn_table_count(ops, row, PDNN_JOURNAL_OPS_EXECUTIONS),
        .bytes = pdnn_table_count(ops, row, PDNN_JOURNAL_OPS_REORDER_BYTES),
        .time_ns = pdnn_table_number(ops, row, PDNN_JOURNAL_OPS_TIME_NS),
    };
    join_key(ops, row, op.key);
    snprintf(op.layer, sizeof op.layer, "%s", pdnn_table_text(ops, row, PDNN_JOURNAL_OPS_LAYER));
    snprintf(op.implementation, sizeof op.implementation, "%s",
             pdnn_table_text(ops, row, PDNN_JOURNAL_OPS_IMPLEMENTATION));
    return op;
}

static enum pdnn_status refuse(const struct pdnn_table *table, size_t row, size_t column,
                               struct pdnn_err *err) {
    struct pdnn_str cell = {0};
    pdnn_table_append(table, row, column, &cell);
    pdnn_fail(err, PDNN_INVALID, "'%.40s' is not a value for column '%s'", pdnn_str_text(&cell),
              table->column[column].def.name);
    pdnn_str_finish(&cell);
    return PDNN_INVALID;
}

static bool fits(const struct pdnn_table *table, size_t row, size_t column, size_t room) {
    return strlen(pdnn_table_text(table, row, column)) < room;
}

enum pdnn_status pdnn_journal_check_visit(const struct pdnn_table *journal, size_t row,
                                          struct pdnn_err *err) {
    const uint64_t schema = pdnn_table_count(journal, row, PDNN_JOURNAL_SCHEMA);
    const char *stop = pdnn_table_text(journal, row, PDNN_JOURNAL_STOP_REASON);
    int64_t started;
    if (schema != PDNN_SCHEMA)
        return pdnn_fail(err, PDNN_INVALID, "schema %" PRIu64 ", this program reads %d", schema, PDNN_SCHEMA);
    if (!fits(journal, row, PDNN_JOURNAL_ID, PDNN_ID_TEXT))
        return refuse(journal, row, PDNN_JOURNAL_ID, err);
    if (!fits(journal, row, PDNN_JOURNAL_REASON, PDNN_REASON_TEXT))
        return refuse(journal, row, PDNN_JOURNAL_REASON, err);
    if (!fits(journal, row, PDNN_JOURNAL_PAGE_CACHE, PDNN_PAGE_CACHE_TEXT))
        return refuse(journal, row, PDNN_JOURNAL_PAGE_CACHE, err);
    if (pdnn_outcome_find(pdnn_table_text(journal, row, PDNN_JOURNAL_STATUS)) == PDNN_OUTCOME_COUNT)
        return refuse(journal, row, PDNN_JOURNAL_STATUS, err);
    if (!pdnn_utc_parse(pdnn_table_text(journal, row, PDNN_JOURNAL_STARTED_UTC), &started))
        return refuse(journal, row, PDNN_JOURNAL_STARTED_UTC, err);
    if (*stop && pdnn_stop_find(stop) == PDNN_STOP_COUNT)
        return refuse(journal, row, PDNN_JOURNAL_STOP_REASON, err);
    return PDNN_OK;
}

enum pdnn_status pdnn_journal_check_op(const struct pdnn_table *ops, size_t row, struct pdnn_err *err) {
    char key[PDNN_OP_KEY_TEXT];
    if (!join_key(ops, row, key))
        return refuse(ops, row, PDNN_JOURNAL_OPS_OP_SHAPE, err);
    if (!fits(ops, row, PDNN_JOURNAL_OPS_LAYER, PDNN_OP_LAYER_TEXT))
        return refuse(ops, row, PDNN_JOURNAL_OPS_LAYER, err);
    if (!fits(ops, row, PDNN_JOURNAL_OPS_IMPLEMENTATION, PDNN_IMPLEMENTATION_TEXT))
        return refuse(ops, row, PDNN_JOURNAL_OPS_IMPLEMENTATION, err);
    if (pdnn_table_count(ops, row, PDNN_JOURNAL_OPS_EXECUTIONS) > UINT32_MAX)
        return refuse(ops, row, PDNN_JOURNAL_OPS_EXECUTIONS, err);
    return PDNN_OK;
}
