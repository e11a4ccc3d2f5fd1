/* Reads the tables of the report's sources. */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "results/query/rows.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/units.h"
#include "results/query/select.h"
#include "results/store/tables.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENVIRONMENT_LIMIT_BYTES ((size_t)1 << 20)

static const enum pdnn_result_column number_columns[PDNN_REPORT_NUMBERS] = {
    [PDNN_REPORT_TIME_NS] = PDNN_RESULT_TIME_NS_MEDIAN,
    [PDNN_REPORT_LOW_NS] = PDNN_RESULT_CI_LOW_NS,
    [PDNN_REPORT_HIGH_NS] = PDNN_RESULT_CI_HIGH_NS,
    [PDNN_REPORT_FLOP] = PDNN_RESULT_IN_BOUNDS_FLOP_COUNT,
    [PDNN_REPORT_BYTES] = PDNN_RESULT_BYTE_COUNT,
    [PDNN_REPORT_PARAMS] = PDNN_RESULT_PARAMS,
    [PDNN_REPORT_MEMORY_BYTES] = PDNN_RESULT_MEMORY_BYTES,
    [PDNN_REPORT_GFLOPS] = PDNN_RESULT_GFLOPS,
    [PDNN_REPORT_GBS] = PDNN_RESULT_BW_GBS,
    [PDNN_REPORT_INTENSITY] = PDNN_RESULT_INTENSITY_FLOP_PER_BYTE,
    [PDNN_REPORT_PCT_OF_ROOF] = PDNN_RESULT_PCT_OF_ROOF,
    [PDNN_REPORT_PCT_OF_PEAK] = PDNN_RESULT_PCT_OF_PEAK,
    [PDNN_REPORT_EXAMPLES_PER_S] = PDNN_RESULT_EXAMPLES_PER_S,
};

static const enum pdnn_result_column word_columns[PDNN_REPORT_WORDS] = {
    [PDNN_REPORT_STATUS] = PDNN_RESULT_STATUS,   [PDNN_REPORT_REASON] = PDNN_RESULT_REASON,
    [PDNN_REPORT_BOUND] = PDNN_RESULT_BOUND,     [PDNN_REPORT_LEVEL] = PDNN_RESULT_ROOF_LEVEL,
    [PDNN_REPORT_FLAGS] = PDNN_RESULT_ROW_FLAGS,
};

static enum pdnn_status path_of(const struct pdnn_report_source *source, const char *file,
                                char path[PATH_MAX], struct pdnn_err *err) {
    if (snprintf(path, PATH_MAX, "%s/%s", source->directory, file) >= PATH_MAX)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", source->directory);
    return PDNN_OK;
}

/* environment.yaml may be missing: tables can come without it. */
static enum pdnn_status read_environment(struct pdnn_report_source *source, struct pdnn_err *err) {
    char path[PATH_MAX], *text = NULL;
    size_t length = 0;
    enum pdnn_status status = path_of(source, "environment.yaml", path, err);
    if (status == PDNN_OK && access(path, F_OK) == 0)
        status = pdnn_file_read(path, ENVIRONMENT_LIMIT_BYTES, &text, &length, err);
    if (status == PDNN_OK && text)
        pdnn_str_append(&source->environment, text, length);
    free(text);
    return status;
}

static enum pdnn_status read_source(struct pdnn_report_rows *rows, struct pdnn_report_source *source,
                                    struct pdnn_err *err) {
    char path[PATH_MAX];
    enum pdnn_status status = pdnn_results_open(&source->results, &source->directory, 1, err);
    if (status == PDNN_OK)
        status = pdnn_results_select(&source->results, rows->only, rows->n_only, &source->chosen, err);
    if (status == PDNN_OK)
        status = path_of(source, "ceilings.csv", path, err);
    source->ceilings = pdnn_alloc(1, sizeof *source->ceilings);
    /* What was imported has no roofs. */
    if (status == PDNN_OK && access(path, F_OK) == 0)
        status = pdnn_ceilings_read(path, NULL, source->ceilings, err);
    return status == PDNN_OK ? read_environment(source, err) : status;
}

/* The last part of the path; the whole path where both sources end alike. */
static void name_sources(struct pdnn_report_rows *rows) {
    for (size_t s = 0; s < rows->n_sources; s++) {
        const char *path = rows->source[s].directory, *slash;
        char *copy = pdnn_arena_strdup(&rows->arena, path);
        for (size_t end = strlen(copy); end > 1 && copy[end - 1] == '/'; end--)
            copy[end - 1] = 0;
        slash = strrchr(copy, '/');
        rows->source[s].name = slash && slash[1] ? slash + 1 : copy;
    }
    if (rows->n_sources == 2 && strcmp(rows->source[0].name, rows->source[1].name) == 0) {
        for (size_t s = 0; s < 2; s++)
            rows->source[s].name = rows->source[s].directory;
    }
}

static void fill_row(struct pdnn_report_rows *rows, const struct pdnn_report_source *source, size_t at,
                     struct pdnn_report_row *row) {
    const struct pdnn_results *results = &source->results;
    const size_t of = source->chosen.at[at];
    row->id = pdnn_results_text(results, of, results->at[PDNN_RESULT_ID]);
    for (size_t k = 0; k < PDNN_REPORT_NUMBERS; k++)
        row->number[k] = pdnn_results_number(results, of, results->at[number_columns[k]]);
    for (size_t k = 0; k < PDNN_REPORT_WORDS; k++)
        row->word[k] =
            pdnn_texts_add(&rows->word[k], pdnn_results_text(results, of, results->at[word_columns[k]]));
    row->is_ok = strcmp(pdnn_report_word_text(rows, row, PDNN_REPORT_STATUS), "ok") == 0 &&
                 row->number[PDNN_REPORT_TIME_NS] > 0;
}

static void fill_rows(struct pdnn_report_rows *rows) {
    size_t total = 0;
    for (size_t s = 0; s < rows->n_sources; s++)
        total += rows->source[s].chosen.count;
    rows->row = pdnn_arena_alloc(&rows->arena, total + 1, sizeof *rows->row);
    for (size_t s = 0; s < rows->n_sources; s++) {
        struct pdnn_report_source *source = &rows->source[s];
        source->first_row = rows->n_rows;
        source->n_rows = source->chosen.count;
        for (size_t at = 0; at < source->n_rows; at++) {
            struct pdnn_report_row *row = &rows->row[rows->n_rows++];
            row->source = s;
            fill_row(rows, source, at, row);
            rows->n_ok += row->is_ok;
        }
    }
}

/* Numbers by value and before words; words by their letters. */
static int compare_values(const void *a, const void *b) {
    const char *one = *(const char *const *)a, *other = *(const char *const *)b;
    int order = pdnn_compare_numbers_first(one, other);
    return order ? order : strcmp(one, other);
}

/* Finishes an axis from the text of each row, numbered in the order of appearance. */
static void sort_axis(struct pdnn_report_rows *rows, struct pdnn_report_axis *axis,
                      struct pdnn_texts *texts) {
    size_t *place = pdnn_alloc(texts->count + 1, sizeof *place);
    axis->n_values = texts->count;
    axis->value = pdnn_arena_alloc(&rows->arena, texts->count + 1, sizeof *axis->value);
    axis->is_numeric = true;
    for (size_t i = 0; i < texts->count; i++) {
        double number;
        axis->value[i] = pdnn_arena_strdup(&rows->arena, texts->text[i]);
        axis->is_numeric =
            axis->is_numeric && (!*axis->value[i] || pdnn_parse_double(axis->value[i], &number));
    }
    qsort(axis->value, axis->n_values, sizeof *axis->value, compare_values);
    for (size_t i = 0; i < axis->n_values; i++)
        place[pdnn_texts_find(texts, axis->value[i])] = i;
    for (size_t r = 0; r < rows->n_rows; r++)
        axis->of_row[r] = place[axis->of_row[r]];
    free(place);
}

/* A row's cell in a column of its source's table. */
static const char *cell_of(const struct pdnn_report_rows *rows, size_t row, int column) {
    const struct pdnn_report_source *source = &rows->source[rows->row[row].source];
    return pdnn_results_text(&source->results, source->chosen.at[row - source->first_row], column);
}

const char *pdnn_report_setting(const struct pdnn_report_rows *rows, size_t row, enum pdnn_setting setting) {
    if (row >= rows->n_rows)
        return "";
    return cell_of(rows, row, pdnn_results_setting(&rows->source[rows->row[row].source].results, setting));
}

static void add_axis(struct pdnn_report_rows *rows, const char *name, bool is_source, bool always) {
    struct pdnn_report_axis axis = {.name = name};
    struct pdnn_texts texts = {0};
    int column[2] = {-1, -1};
    axis.of_row = pdnn_arena_alloc(&rows->arena, rows->n_rows + 1, sizeof *axis.of_row);
    for (size_t s = 0; s < rows->n_sources; s++)
        column[s] = pdnn_results_named(&rows->source[s].results, name);
    for (size_t r = 0; r < rows->n_rows; r++) {
        size_t s = rows->row[r].source;
        axis.of_row[r] =
            pdnn_texts_add(&texts, is_source ? rows->source[s].name : cell_of(rows, r, column[s]));
    }
    /* A key that only some rows have, always with one value, says no more than the key that decides it. */
    size_t n_values = texts.count - (pdnn_texts_find(&texts, "") != SIZE_MAX);
    if (always || n_values > 1) {
        sort_axis(rows, &axis, &texts);
        rows->axis[rows->n_axes++] = axis;
    }
    pdnn_texts_finish(&texts);
}

/* The keys of results.csv: what lies between family and status. */
static void find_axes(struct pdnn_report_rows *rows) {
    rows->axis = pdnn_arena_alloc(&rows->arena, 2 * PDNN_TABLE_COLUMNS_MAX + 2, sizeof *rows->axis);
    add_axis(rows, "family", false, true);
    if (rows->n_sources > 1)
        add_axis(rows, "source", true, true);
    for (size_t s = 0; s < rows->n_sources; s++) {
        const struct pdnn_results *results = &rows->source[s].results;
        for (int k = results->first_key; k < results->end_key; k++) {
            const char *name = pdnn_results_name(results, k);
            if (s == 0 || pdnn_results_named(&rows->source[0].results, name) < 0)
                add_axis(rows, name, false, false);
        }
    }
}

/* The family and the source, which have names of their own, come first. */
static size_t first_key(const struct pdnn_report_rows *rows) {
    return rows->n_sources > 1 ? 2 : 1;
}

/* Labels have what varies within their family. */
static void find_varying(struct pdnn_report_rows *rows) {
    const struct pdnn_report_axis *families = &rows->axis[0];
    size_t *first = pdnn_arena_alloc(&rows->arena, families->n_values + 1, sizeof *first);
    rows->varies =
        pdnn_arena_alloc(&rows->arena, families->n_values * rows->n_axes + 1, sizeof *rows->varies);
    for (size_t r = rows->n_rows; r-- > 0;)
        first[families->of_row[r]] = r;
    for (size_t r = 0; r < rows->n_rows; r++) {
        size_t family = families->of_row[r];
        for (size_t k = first_key(rows); k < rows->n_axes; k++)
            rows->varies[family * rows->n_axes + k] |=
                rows->axis[k].of_row[r] != rows->axis[k].of_row[first[family]];
    }
}

enum pdnn_status pdnn_report_rows_read(struct pdnn_report_rows *rows,
                                       const struct pdnn_report_request *request, struct pdnn_err *err) {
    *rows = (struct pdnn_report_rows){
        .n_sources = request->n_directories, .only = request->only, .n_only = request->n_only};
    enum pdnn_status status = PDNN_OK;
    for (size_t s = 0; s < rows->n_sources; s++)
        rows->source[s].directory = rows->source[s].name = request->directories[s];
    for (size_t s = 0; status == PDNN_OK && s < rows->n_sources; s++)
        status = read_source(rows, &rows->source[s], err);
    name_sources(rows);
    if (status == PDNN_OK)
        fill_rows(rows);
    if (status == PDNN_OK && !rows->n_rows)
        status =
            pdnn_fail(err, PDNN_INVALID, "%s/results.csv has no rows to report", request->directories[0]);
    if (status == PDNN_OK)
        find_axes(rows);
    if (status == PDNN_OK)
        find_varying(rows);
    if (status != PDNN_OK)
        pdnn_report_rows_finish(rows);
    return status;
}

void pdnn_report_rows_finish(struct pdnn_report_rows *rows) {
    for (size_t s = 0; s < rows->n_sources; s++) {
        pdnn_results_close(&rows->source[s].results);
        pdnn_rows_finish(&rows->source[s].chosen);
        free(rows->source[s].ceilings);
        pdnn_str_finish(&rows->source[s].environment);
    }
    for (size_t k = 0; k < PDNN_REPORT_WORDS; k++)
        pdnn_texts_finish(&rows->word[k]);
    pdnn_arena_finish(&rows->arena);
    *rows = (struct pdnn_report_rows){.n_sources = 0};
}

const struct pdnn_report_axis *pdnn_report_axis_find(const struct pdnn_report_rows *rows, const char *name) {
    for (size_t i = 0; i < rows->n_axes; i++) {
        if (strcmp(rows->axis[i].name, name) == 0)
            return &rows->axis[i];
    }
    return NULL;
}

const char *pdnn_report_word_text(const struct pdnn_report_rows *rows, const struct pdnn_report_row *row,
                                  enum pdnn_report_word word) {
    return rows->word[word].text[row->word[word]];
}

double pdnn_report_half_pct(const struct pdnn_report_row *row) {
    double time = row->number[PDNN_REPORT_TIME_NS];
    return fmax(time - row->number[PDNN_REPORT_LOW_NS], row->number[PDNN_REPORT_HIGH_NS] - time) / time * 100;
}

void pdnn_report_label(const struct pdnn_report_rows *rows, size_t row, struct pdnn_str *out) {
    size_t family = rows->axis[0].of_row[row], named = 0;
    bool has_families = rows->axis[0].n_values > 1;
    if (has_families)
        pdnn_str_printf(out, "%s", rows->axis[0].value[family]);
    for (size_t k = first_key(rows); k < rows->n_axes; k++) {
        const char *value = rows->axis[k].value[rows->axis[k].of_row[row]];
        if (rows->varies[family * rows->n_axes + k] && *value)
            pdnn_str_printf(out, "%s%s=%s", named++ || has_families ? " " : "", rows->axis[k].name, value);
    }
    if (!named && !has_families)
        pdnn_str_printf(out, "%s", rows->row[row].id);
}

static bool has_part(const char *id, const char *part, size_t length) {
    for (const char *at = strpbrk(id, "/,"); at; at = strpbrk(at + 1, ",")) {
        if (strncmp(at + 1, part, length) == 0 && (at[1 + length] == ',' || !at[1 + length]))
            return true;
    }
    return false;
}

void pdnn_report_shared(const struct pdnn_report_rows *rows, size_t family, struct pdnn_str *out) {
    const size_t *of_row = rows->axis[0].of_row;
    size_t first = 0, n_parts = 0;
    while (first < rows->n_rows && of_row[first] != family)
        first++;
    const char *at = first < rows->n_rows ? strchr(rows->row[first].id, '/') : NULL;
    for (size_t length; at && *at; at += 1 + length) {
        length = strcspn(at + 1, ",");
        size_t r = first;
        while (r < rows->n_rows && (of_row[r] != family || has_part(rows->row[r].id, at + 1, length)))
            r++;
        if (r == rows->n_rows && length)
            pdnn_str_printf(out, "%s%.*s", n_parts++ ? ", " : "", (int)length, at + 1);
    }
}
