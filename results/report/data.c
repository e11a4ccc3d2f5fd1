/* The rows for the script, as columns. An axis or a word is {"v": its values, "i": which one each row has, in
 * base 36 with "w" digits each}; "i" is left out where there is only one value. Ids are cut at commas, and
 * each part is such a column: rows of a sweep share nearly all parts. Numbers are those of the files. */
#include "base/memory.h"
#include "results/report/page.h"
#include "results/table/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_axis(const struct pdnn_selection *all, int column) {
    return pdnn_selection_key(all, column)->values && column != all->results.results;
}

/* The axis that a part of a row's id, "batch=64", says again; NULL: none. */
static const char *axis_of(const struct pdnn_selection *all, size_t row, const char *part, size_t length) {
    const struct pdnn_results *results = &all->results;
    for (int column = results->first_key; column < results->end_key; column++) {
        const char *name = pdnn_results_name(results, column), *value = pdnn_selection_get(all, row, column);
        const size_t key = strlen(name);
        if (is_axis(all, column) && key + 1 + strlen(value) == length && strncmp(part, name, key) == 0 &&
            part[key] == '=' && strncmp(part + key + 1, value, length - key - 1) == 0)
            return name;
    }
    return NULL;
}

/* The word, or of an id or a name the same with stars for the values of axes:
 * "fc/layers=*,batch=*,threads=2".
 */
static const char *star(const struct pdnn_selection *all, size_t row, const char *word, bool has_axes,
                        struct pdnn_str *room) {
    if (!has_axes)
        return word;
    pdnn_str_clear(room);
    for (size_t length; *word; word += length + (word[length] != 0)) {
        length = strcspn(word, ",/");
        const char *axis = axis_of(all, row, word, length);
        if (axis)
            pdnn_str_printf(room, "%s=*%.1s", axis, word + length);
        else
            pdnn_str_append(room, word, length + (word[length] != 0));
    }
    return pdnn_str_text(room);
}

/* A column's values, or names, by row of the results, and which one each row has. */
static void put_words(struct pdnn_str *out, const struct pdnn_selection *all, int column,
                      const char *const *names) {
    size_t *index = pdnn_alloc(all->count + 1, sizeof *index), room = 36, width = 1;
    struct pdnn_str word = {0};
    struct pdnn_texts texts = {0};
    for (size_t r = 0; r < all->count; r++)
        index[r] = pdnn_texts_add(
            &texts, star(all, r, names ? names[all->row[r]] : pdnn_selection_get(all, r, column),
                         names || column == all->id, &word));
    pdnn_str_printf(out, "\"v\":[");
    for (size_t i = 0; i < texts.count; i++) {
        pdnn_str_append(out, ",", i ? 1 : 0);
        pdnn_html_json_text(out, texts.text[i]);
    }
    pdnn_str_append(out, "]", 1);
    for (; room < texts.count; room *= 36)
        width++;
    if (texts.count > 1) {
        pdnn_str_printf(out, ",\"w\":%zu,\"i\":\"", width);
        for (size_t r = 0; r < all->count; r++)
            for (size_t place = room / 36; place; place /= 36)
                pdnn_str_append(out, &"0123456789abcdefghijklmnopqrstuvwxyz"[index[r] / place % 36], 1);
        pdnn_str_append(out, "\"", 1);
    }
    pdnn_texts_finish(&texts);
    pdnn_str_finish(&word);
    free(index);
}

/* The family, the source where there are two, and the keys that vary: one that only some rows have, always
 * with one value, says no more than the key that decides it. */
static void put_axes(struct pdnn_str *out, const struct pdnn_selection *all) {
    const struct pdnn_results *results = &all->results;
    const char *before = "\"axes\":[{\"name\":";
    for (int column = all->family; column < results->end_key; column++) {
        const bool is_source = column == results->results;
        if (column != all->family && !is_source && !is_axis(all, column))
            continue;
        pdnn_str_printf(out, "%s", before);
        pdnn_html_json_text(out, is_source ? "source" : pdnn_results_name(results, column));
        pdnn_str_append(out, ",", 1);
        put_words(out, all, column, NULL);
        before = "},\n{\"name\":";
    }
    pdnn_str_printf(out, "}],\n");
}

static void put_numbers(struct pdnn_str *out, const struct pdnn_selection *all,
                        enum pdnn_result_column column) {
    for (size_t r = 0; r < all->count; r++) {
        const double value = pdnn_selection_value(all, r, column);
        pdnn_str_append(out, ",", r ? 1 : 0);
        pdnn_number_format(out, value, value == floor(value) ? PDNN_DIGITS_EXACT : PDNN_DIGITS_TABLE);
        pdnn_str_printf(out, isfinite(value) ? "" : "null");
    }
}

void pdnn_report_put_data(const struct pdnn_report_page *page, struct pdnn_str *out) {
    static const struct {
        const char *name;
        enum pdnn_result_column column;
        bool is_number;
    } fields[] = {{"id", PDNN_RESULT_ID, false},
                  {"status", PDNN_RESULT_STATUS, false},
                  {"reason", PDNN_RESULT_REASON, false},
                  {"bound", PDNN_RESULT_BOUND, false},
                  {"level", PDNN_RESULT_ROOF_LEVEL, false},
                  {"flags", PDNN_RESULT_ROW_FLAGS, false},
                  {"time_ns", PDNN_RESULT_TIME_NS_MEDIAN, true},
                  {"low", PDNN_RESULT_CI_LOW_NS, true},
                  {"high", PDNN_RESULT_CI_HIGH_NS, true},
                  {"gflops", PDNN_RESULT_GFLOPS, true},
                  {"intensity", PDNN_RESULT_INTENSITY_FLOP_PER_BYTE, true},
                  {"params", PDNN_RESULT_PARAMS, true},
                  {"roof", PDNN_RESULT_PCT_OF_ROOF, true}};
    pdnn_str_printf(out, "<script type=\"application/json\" id=\"data\">{");
    put_axes(out, &page->all);
    pdnn_str_printf(out, "\"name\":{");
    put_words(out, &page->all, -1, page->name);
    pdnn_str_printf(out, "},\n");
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        pdnn_str_printf(out, "\"%s\":%s", fields[k].name, fields[k].is_number ? "[" : "{");
        if (fields[k].is_number)
            put_numbers(out, &page->all, fields[k].column);
        else
            put_words(out, &page->all, page->all.results.at[fields[k].column], NULL);
        pdnn_str_printf(out, fields[k].is_number ? "],\n" : "},\n");
    }
    pdnn_str_printf(out, "\"n\":%zu}</script>\n", page->all.count);
}
