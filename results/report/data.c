/* The rows for the script, as columns. An axis or a word is {"v": its values, "i": which one each row has};
 * "i" is left out where there is only one value. Ids are cut at commas, and each part is such a column: rows
 * of a sweep share nearly all parts. Numbers have as many digits as a reader can use; interval ends are
 * tenths of a per cent below and above the time. */
#include "base/memory.h"
#include "results/report/html.h"
#include "results/report/page.h"
#include "results/table/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_indices(struct pdnn_str *out, const size_t *index, size_t n) {
    pdnn_str_printf(out, ",\"i\":[");
    for (size_t r = 0; r < n; r++)
        pdnn_str_printf(out, r ? ",%zu" : "%zu", index[r]);
    pdnn_str_printf(out, "]");
}

static void put_values(struct pdnn_str *out, const char *const *value, size_t n) {
    pdnn_str_printf(out, "\"v\":[");
    for (size_t i = 0; i < n; i++) {
        pdnn_str_append(out, ",", i ? 1 : 0);
        pdnn_html_json_text(out, value[i]);
    }
    pdnn_str_printf(out, "]");
}

static void put_axes(struct pdnn_str *out, const struct pdnn_report_rows *rows) {
    pdnn_str_printf(out, "\"axes\":[");
    for (size_t k = 0; k < rows->n_axes; k++) {
        const struct pdnn_report_axis *axis = &rows->axis[k];
        pdnn_str_printf(out, "%s{\"name\":", k ? ",\n" : "");
        pdnn_html_json_text(out, axis->name);
        pdnn_str_printf(out, ",\"number\":%s,", axis->is_numeric ? "true" : "false");
        put_values(out, axis->value, axis->n_values);
        if (axis->n_values > 1)
            put_indices(out, axis->of_row, rows->n_rows);
        pdnn_str_printf(out, "}");
    }
    pdnn_str_printf(out, "],\n");
}

/* Part number `part` of every id; "" where an id has fewer. False if none has it. */
static bool put_id_part(struct pdnn_str *out, const struct pdnn_report_rows *rows, size_t part,
                        const char **at, size_t *index) {
    struct pdnn_texts texts = {0};
    bool any = false;
    for (size_t r = 0; r < rows->n_rows; r++) {
        size_t length = strcspn(at[r], ",");
        struct pdnn_str text = {0};
        pdnn_str_append(&text, at[r], length);
        any = any || length;
        index[r] = pdnn_texts_add(&texts, pdnn_str_text(&text));
        pdnn_str_finish(&text);
        at[r] += length + (at[r][length] == ',');
    }
    if (any) {
        pdnn_str_printf(out, "%s{", part ? ",\n" : "");
        put_values(out, texts.text, texts.count);
        if (texts.count > 1)
            put_indices(out, index, rows->n_rows);
        pdnn_str_printf(out, "}");
    }
    pdnn_texts_finish(&texts);
    return any;
}

static void put_ids(struct pdnn_str *out, const struct pdnn_report_rows *rows) {
    const char **at = pdnn_alloc(rows->n_rows + 1, sizeof *at);
    size_t *index = pdnn_alloc(rows->n_rows + 1, sizeof *index), part = 0;
    for (size_t r = 0; r < rows->n_rows; r++)
        at[r] = rows->row[r].id;
    pdnn_str_printf(out, "\"id\":[");
    while (put_id_part(out, rows, part, at, index))
        part++;
    pdnn_str_printf(out, "],\n");
    free(at);
    free(index);
}

static void put_words(struct pdnn_str *out, const struct pdnn_report_rows *rows) {
    static const char *const names[PDNN_REPORT_WORDS] = {"status", "reason", "bound", "level", "flags"};
    size_t *index = pdnn_alloc(rows->n_rows + 1, sizeof *index);
    for (size_t k = 0; k < PDNN_REPORT_WORDS; k++) {
        for (size_t r = 0; r < rows->n_rows; r++)
            index[r] = rows->row[r].word[k];
        pdnn_str_printf(out, "\"%s\":{", names[k]);
        put_values(out, rows->word[k].text, rows->word[k].count);
        if (rows->word[k].count > 1)
            put_indices(out, index, rows->n_rows);
        pdnn_str_printf(out, "},\n");
    }
    free(index);
}

/* The shortest text: 1.2346e9 is 12346e5. */
static void put_number(struct pdnn_str *out, double value, int digits) {
    int exponent = value > 0 ? (int)floor(log10(value)) - digits + 1 : 0;
    if (isfinite(value) && exponent > 1)
        pdnn_str_printf(out, "%.0fe%d", value / pow(10, exponent), exponent);
    else
        pdnn_html_number(out, value, digits, "null");
}

static double tenths_from_time(const struct pdnn_report_row *row, enum pdnn_report_number end) {
    double time = row->number[PDNN_REPORT_TIME_NS];
    return round(fabs(row->number[end] - time) / time * 1000);
}

static void put_numbers(struct pdnn_str *out, const struct pdnn_report_rows *rows) {
    static const struct {
        const char *name;
        enum pdnn_report_number number;
        int digits; /* 0: tenths of a per cent of the time */
    } columns[] = {
        {"time_ns", PDNN_REPORT_TIME_NS, 5},     {"low", PDNN_REPORT_LOW_NS, 0},
        {"high", PDNN_REPORT_HIGH_NS, 0},        {"flop", PDNN_REPORT_FLOP, 5},
        {"bytes", PDNN_REPORT_BYTES, 5},         {"params", PDNN_REPORT_PARAMS, 5},
        {"memory", PDNN_REPORT_MEMORY_BYTES, 4}, {"roof", PDNN_REPORT_PCT_OF_ROOF, 4},
        {"peak", PDNN_REPORT_PCT_OF_PEAK, 5},
    };
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        pdnn_str_printf(out, "\"%s\":[", columns[k].name);
        for (size_t r = 0; r < rows->n_rows; r++) {
            double value = columns[k].digits ? rows->row[r].number[columns[k].number]
                                             : tenths_from_time(&rows->row[r], columns[k].number);
            pdnn_str_append(out, ",", r ? 1 : 0);
            put_number(out, value, columns[k].digits ? columns[k].digits : PDNN_DIGITS_TABLE);
        }
        pdnn_str_printf(out, "],\n");
    }
}

void pdnn_report_put_data(const struct pdnn_report_page *page, struct pdnn_str *out) {
    const struct pdnn_report_rows *rows = &page->rows;
    pdnn_str_printf(out, "<script type=\"application/json\" id=\"data\">{");
    put_ids(out, rows);
    put_axes(out, rows);
    put_words(out, rows);
    put_numbers(out, rows);
    pdnn_str_printf(out, "\"n\":%zu}</script>\n", rows->n_rows);
}
