/* The rows for the script, as columns. An axis or a word is {"v": its values, "i": which one each row has};
 * "i" is left out where there is only one value. Ids are cut at commas, and each part is such a column: rows
 * of a sweep share nearly all parts. Numbers have as many digits as a reader can use; interval ends are
 * tenths of a per cent below and above the time. */
#include "base/memory.h"
#include "base/units.h"
#include "results/report/html.h"
#include "results/report/page.h"
#include "results/table/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A column's values, and which one each row has: as many letters a row as the last one takes, in base 64. */
static void put_column(struct pdnn_str *out, const char *const *value, size_t n_values, const size_t *index,
                       size_t n_rows) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    pdnn_str_printf(out, "\"v\":[");
    for (size_t i = 0; i < n_values; i++) {
        pdnn_str_append(out, ",", i ? 1 : 0);
        pdnn_html_json_text(out, value[i]);
    }
    pdnn_str_printf(out, "]");
    if (!n_rows || n_values < 2)
        return;
    pdnn_str_printf(out, ",\"i\":\"");
    for (size_t r = 0; r < n_rows; r++)
        for (int bits = n_values > 4096 ? 12 : n_values > 64 ? 6 : 0; bits >= 0; bits -= 6)
            pdnn_str_append(out, &letters[index[r] >> bits & 63], 1);
    pdnn_str_append(out, "\"", 1);
}

static void put_axis(struct pdnn_str *out, const struct pdnn_report_page *page, const char *name, int column,
                     const char *before) {
    struct pdnn_arena arena = {0};
    const size_t n_rows = page->all.count;
    const char **value;
    size_t *of = pdnn_alloc(n_rows + 1, sizeof *of);
    size_t count = pdnn_selection_distinct(&page->all, column, &arena, &value, of);
    bool is_numeric = true;
    for (size_t i = 0; i < count; i++)
        is_numeric = is_numeric && (!*value[i] || pdnn_parse_double(value[i], &(double){0}));
    pdnn_str_printf(out, "%s{\"name\":", before);
    pdnn_html_json_text(out, name);
    pdnn_str_printf(out, ",\"number\":%s,", is_numeric ? "true" : "false");
    put_column(out, value, count, of, n_rows);
    pdnn_str_printf(out, "}");
    free(of);
    pdnn_arena_finish(&arena);
}

/* The family, the source where there are two, and the keys that vary: one that only some rows have, always
 * with one value, says no more than the key that decides it. */
static void put_axes(struct pdnn_str *out, const struct pdnn_report_page *page) {
    const struct pdnn_selection *all = &page->all;
    const struct pdnn_results *results = &all->results;
    pdnn_str_printf(out, "\"axes\":[");
    put_axis(out, page, "family", all->family, "");
    if (results->results >= 0)
        put_axis(out, page, "source", results->results, ",\n");
    for (int column = results->first_key; column < results->end_key; column++)
        if (all->key[column].values && column != results->results)
            put_axis(out, page, pdnn_results_name(results, column), column, ",\n");
    pdnn_str_printf(out, "],\n");
}

/* Part number `part` of every id; "" where an id has fewer. False if none has it. */
static bool put_id_part(struct pdnn_str *out, size_t part, const char **at, size_t *index, size_t n_rows) {
    struct pdnn_texts texts = {0};
    bool any = false;
    for (size_t r = 0; r < n_rows; r++) {
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
        put_column(out, texts.text, texts.count, index, n_rows);
        pdnn_str_printf(out, "}");
    }
    pdnn_texts_finish(&texts);
    return any;
}

static void put_ids(struct pdnn_str *out, const struct pdnn_selection *all) {
    const char **at = pdnn_alloc(all->count + 1, sizeof *at);
    size_t *index = pdnn_alloc(all->count + 1, sizeof *index), part = 0;
    for (size_t r = 0; r < all->count; r++)
        at[r] = pdnn_selection_get(all, r, all->id);
    pdnn_str_printf(out, "\"id\":[");
    while (put_id_part(out, part, at, index, all->count))
        part++;
    pdnn_str_printf(out, "],\n");
    free(at);
    free(index);
}

static void put_words(struct pdnn_str *out, const struct pdnn_selection *all) {
    static const struct {
        const char *name;
        enum pdnn_result_column column;
    } words[] = {{"status", PDNN_RESULT_STATUS},
                 {"reason", PDNN_RESULT_REASON},
                 {"bound", PDNN_RESULT_BOUND},
                 {"level", PDNN_RESULT_ROOF_LEVEL},
                 {"flags", PDNN_RESULT_ROW_FLAGS}};
    size_t *index = pdnn_alloc(all->count + 1, sizeof *index);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        struct pdnn_texts texts = {0};
        for (size_t r = 0; r < all->count; r++)
            index[r] = pdnn_texts_add(&texts, pdnn_selection_word(all, r, words[k].column));
        pdnn_str_printf(out, "\"%s\":{", words[k].name);
        put_column(out, texts.text, texts.count, index, all->count);
        pdnn_str_printf(out, "},\n");
        pdnn_texts_finish(&texts);
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

static double tenths_from_time(const struct pdnn_selection *all, size_t row, enum pdnn_result_column end) {
    double time = pdnn_selection_step_ns(all, row);
    return round(fabs(pdnn_selection_value(all, row, end) - time) / time * 1000);
}

static void put_numbers(struct pdnn_str *out, const struct pdnn_selection *all) {
    static const struct {
        const char *name;
        enum pdnn_result_column column;
        int digits; /* 0: tenths of a per cent of the time */
    } columns[] = {
        {"time_ns", PDNN_RESULT_TIME_NS_MEDIAN, 5}, {"low", PDNN_RESULT_CI_LOW_NS, 0},
        {"high", PDNN_RESULT_CI_HIGH_NS, 0},        {"flop", PDNN_RESULT_IN_BOUNDS_FLOP_COUNT, 5},
        {"bytes", PDNN_RESULT_BYTE_COUNT, 5},       {"params", PDNN_RESULT_PARAMS, 5},
        {"roof", PDNN_RESULT_PCT_OF_ROOF, 4},
    };
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        pdnn_str_printf(out, "\"%s\":[", columns[k].name);
        for (size_t r = 0; r < all->count; r++) {
            double value = columns[k].digits ? pdnn_selection_value(all, r, columns[k].column)
                                             : tenths_from_time(all, r, columns[k].column);
            pdnn_str_append(out, ",", r ? 1 : 0);
            put_number(out, value, columns[k].digits ? columns[k].digits : PDNN_DIGITS_TABLE);
        }
        pdnn_str_printf(out, "],\n");
    }
}

void pdnn_report_put_data(const struct pdnn_report_page *page, struct pdnn_str *out) {
    pdnn_str_printf(out, "<script type=\"application/json\" id=\"data\">{");
    put_ids(out, &page->all);
    put_axes(out, page);
    put_words(out, &page->all);
    put_numbers(out, &page->all);
    pdnn_str_printf(out, "\"n\":%zu}</script>\n", page->all.count);
}
