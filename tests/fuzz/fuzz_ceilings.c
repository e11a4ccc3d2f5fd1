/* ceilings.csv: what is read is written as a table that reads as the same rows. */
#include "tests/fuzz/common.h"

#include "results/store/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_number(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static void check_same(const struct pdnn_roof_rows *a, const struct pdnn_roof_rows *b) {
    FUZZ_CHECK(a->count == b->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct pdnn_roof_row *x = &a->row[i], *y = &b->row[i];
        FUZZ_CHECK(strcmp(x->kind, y->kind) == 0 && strcmp(x->pattern, y->pattern) == 0);
        FUZZ_CHECK(strcmp(x->dtype, y->dtype) == 0 && strcmp(x->level, y->level) == 0);
        FUZZ_CHECK(x->threads == y->threads && x->capacity_bytes == y->capacity_bytes);
        FUZZ_CHECK(x->measured_unix_ms == y->measured_unix_ms && x->checked_unix_ms == y->checked_unix_ms);
        FUZZ_CHECK(x->repetitions == y->repetitions && x->reported_bytes == y->reported_bytes);
        FUZZ_CHECK(same_number(x->value, y->value) && same_number(x->median, y->median));
        FUZZ_CHECK(same_number(x->low, y->low) && same_number(x->high, y->high));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static struct pdnn_roof_rows roof_rows, again;
    struct pdnn_err err = {0};
    fuzz_write("ceilings.csv", bytes, length);
    if (fuzz_is_ok(pdnn_roof_rows_read(fuzz_path("ceilings.csv"), NULL, &roof_rows, &err), &err)) {
        pdnn_roof_rows_cache_bytes(&roof_rows, 1);
        struct pdnn_str text = {0};
        pdnn_roof_rows_format(&roof_rows, &text);
        fuzz_write("ceilings.csv", (const uint8_t *)text.text, text.length);
        pdnn_str_finish(&text);
        fuzz_must(pdnn_roof_rows_read(fuzz_path("ceilings.csv"), NULL, &again, &err), &err);
        check_same(&roof_rows, &again);
    }
    return 0;
}
