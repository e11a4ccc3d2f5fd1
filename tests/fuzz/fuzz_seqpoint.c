/* seqpoint.csv: what is read is written as a table that reads as the same rows, and can be summarized. */
#include "tests/fuzz/common.h"

#include "results/analysis/seqpoint_summary.h"

#include <math.h>
#include <string.h>

static bool same_number(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static void check_same(const struct pdnn_seqpoint_table *a, const struct pdnn_seqpoint_table *b) {
    FUZZ_CHECK(a->n_rows == b->n_rows);
    for (size_t i = 0; i < a->n_rows; i++) {
        const struct pdnn_seqpoint_row *x = &a->row[i], *y = &b->row[i];
        FUZZ_CHECK(strcmp(x->id, y->id) == 0 && x->chosen_by == y->chosen_by);
        FUZZ_CHECK(x->source_length == y->source_length && x->target_length == y->target_length);
        FUZZ_CHECK(x->iterations == y->iterations && x->flop_count == y->flop_count);
        FUZZ_CHECK(x->draws == y->draws && x->measured == y->measured);
        FUZZ_CHECK(same_number(x->seqpoint_weight, y->seqpoint_weight));
        FUZZ_CHECK(same_number(x->draws_weight, y->draws_weight) && same_number(x->time_ns, y->time_ns));
    }
}

static void check_summary(const struct pdnn_seqpoint_table *table) {
    struct pdnn_arena arena = {0};
    struct pdnn_seqpoint_summary summary;
    struct pdnn_str sentence = {0};
    double iterations = 0;
    pdnn_seqpoint_summarize(table, &arena, &summary);
    FUZZ_CHECK(summary.n_bars >= 1 && summary.n_bars <= PDNN_SEQPOINT_BARS_MAX);
    for (size_t i = 0; i < summary.n_bars; i++)
        iterations += summary.bar[i].iterations;
    FUZZ_CHECK(iterations == summary.iterations);
    pdnn_seqpoint_sentence(table, &summary, &sentence);
    FUZZ_CHECK(sentence.length > 0);
    pdnn_str_finish(&sentence);
    pdnn_arena_finish(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct pdnn_seqpoint_table table, again;
    struct pdnn_err err = {0};
    fuzz_write("seqpoint.csv", bytes, length);
    if (!fuzz_is_ok(pdnn_seqpoint_table_read(fuzz_path("seqpoint.csv"), &table, &err), &err))
        return 0;
    check_summary(&table);
    struct pdnn_str text = {0};
    pdnn_seqpoint_table_format(table.row, table.n_rows, &text);
    fuzz_write("seqpoint.csv", (const uint8_t *)text.text, text.length);
    pdnn_str_finish(&text);
    fuzz_must(pdnn_seqpoint_table_read(fuzz_path("seqpoint.csv"), &again, &err), &err);
    check_same(&table, &again);
    pdnn_seqpoint_table_finish(&table);
    pdnn_seqpoint_table_finish(&again);
    return 0;
}
