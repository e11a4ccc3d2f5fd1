#include "results/store/seqpoint_table.h"
#include "results/table/read.h"
#include "results/table/record.h"

#include <string.h>

enum { TABLE_LIMIT_BYTES = 256 << 20, LENGTH_MAX = 1 << 24 };
static const uint64_t ITERATIONS_MAX = UINT64_C(1) << 32;

const struct pdnn_word pdnn_seqpoint_methods[] = {
    {"seqpoint", "a SeqPoint: it stands for the iterations of its bin of lengths", ""},
    {"frequent", "the commonest length", ""},
    {"median", "the median of the iterations' lengths", ""},
    {"worst", "the single iteration that misjudges the epoch most", ""},
    {"prior", "among the first consecutive iterations", ""},
    {"random", "among iterations drawn at random", ""},
    {"sample", "in the stratified random sample of the model-assisted estimate", ""},
    {NULL, NULL, NULL}};

#define AS(kind, show) PDNN_KIND_##kind, PDNN_SHOW_##show
#define EXACT(show)    AS(NUMBER, show), .digits = PDNN_DIGITS_EXACT

#define SEQPOINT_COLUMN(word, ...) {__VA_ARGS__},
static const struct pdnn_column_def columns[] = {
#include "results/store/columns/seqpoint.inc"
};
const struct pdnn_table_def pdnn_seqpoint_def = {
    "seqpoint", "one row per pair of padded lengths in an epoch, and what was run in place of it", columns,
    PDNN_SEQPOINT_COLUMNS};

bool pdnn_seqpoint_is_chosen(const struct pdnn_table *table, size_t row, const char *method) {
    return pdnn_parts_have(pdnn_table_text(table, row, PDNN_SEQPOINT_CHOSEN_BY), "|", method, strlen(method));
}

static bool are_methods(const char *text) {
    const char *part, *rest = *text ? text : NULL;
    for (size_t length; (part = pdnn_part_next(&rest, "|", &length));) {
        const struct pdnn_word *word = pdnn_seqpoint_methods;
        while (word->name && (strlen(word->name) != length || memcmp(word->name, part, length) != 0))
            word++;
        if (!word->name)
            return false;
    }
    return true;
}

static bool is_in_range(const struct pdnn_table *table, size_t row) {
    int64_t source = pdnn_table_whole(table, row, PDNN_SEQPOINT_SOURCE);
    int64_t target = pdnn_table_whole(table, row, PDNN_SEQPOINT_TARGET);
    uint64_t iterations = pdnn_table_count(table, row, PDNN_SEQPOINT_ITERATIONS);
    return source >= 1 && source <= LENGTH_MAX && target >= 0 && target <= LENGTH_MAX && iterations >= 1 &&
           iterations <= ITERATIONS_MAX && !(pdnn_table_number(table, row, PDNN_SEQPOINT_TIME) <= 0) &&
           !(pdnn_table_number(table, row, PDNN_SEQPOINT_WEIGHT) <= 0);
}

static enum pdnn_status check_row(const struct pdnn_table *table, size_t row, struct pdnn_err *err) {
    if (!are_methods(pdnn_table_text(table, row, PDNN_SEQPOINT_CHOSEN_BY)))
        return pdnn_table_refuse(table, row, PDNN_SEQPOINT_CHOSEN_BY, err);
    if (!is_in_range(table, row))
        return pdnn_fail(err, PDNN_INVALID, "lengths, iterations, weights and times must be greater than 0");
    if (!row)
        return PDNN_OK;
    int order = pdnn_table_compare(table, PDNN_SEQPOINT_SOURCE, row - 1, row);
    if (order > 0 || (!order && pdnn_table_compare(table, PDNN_SEQPOINT_TARGET, row - 1, row) >= 0))
        return pdnn_fail(err, PDNN_INVALID, "lengths must be ascending, each pair once");
    if (!pdnn_table_whole(table, row - 1, PDNN_SEQPOINT_TARGET) !=
        !pdnn_table_whole(table, row, PDNN_SEQPOINT_TARGET))
        return pdnn_fail(err, PDNN_INVALID, "target_length is 0 in some rows only");
    return PDNN_OK;
}

enum pdnn_status pdnn_seqpoint_table_read(const char *path, struct pdnn_table *table, struct pdnn_err *err) {
    struct pdnn_table_file file = {.path = path, .limit_bytes = TABLE_LIMIT_BYTES, .check = check_row};
    enum pdnn_status status = pdnn_table_read(&file, &pdnn_seqpoint_def, table, err);
    if (status != PDNN_OK || table->n_rows)
        return status;
    pdnn_table_finish(table);
    return pdnn_fail(err, PDNN_INVALID, "%s: there are no rows", path);
}
