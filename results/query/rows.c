/* Reads the tables of the report's sources. */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "results/query/rows.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/units.h"
#include "results/query/filter.h"
#include "results/query/results_reader.h"
#include "results/store/tables.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENVIRONMENT_LIMIT_BYTES ((size_t)1 << 20)

static const char *const number_columns[PDNN_REPORT_NUMBERS] = {
    [PDNN_REPORT_TIME_NS] = "time_ns_median",
    [PDNN_REPORT_LOW_NS] = "ci_low_ns",
    [PDNN_REPORT_HIGH_NS] = "ci_high_ns",
    [PDNN_REPORT_FLOP] = "in_bounds_flop_count",
    [PDNN_REPORT_BYTES] = "byte_count",
    [PDNN_REPORT_PARAMS] = "params",
    [PDNN_REPORT_MEMORY_BYTES] = "memory_bytes",
    [PDNN_REPORT_GFLOPS] = "gflops",
    [PDNN_REPORT_GBS] = "bw_gbs",
    [PDNN_REPORT_INTENSITY] = "intensity_flop_per_byte",
    [PDNN_REPORT_PCT_OF_ROOF] = "pct_of_roof",
    [PDNN_REPORT_PCT_OF_PEAK] = "pct_of_peak",
    [PDNN_REPORT_EXAMPLES_PER_S] = "examples_per_s",
};

static const char *const word_columns[PDNN_REPORT_WORDS] = {
    [PDNN_REPORT_STATUS] = "status",    [PDNN_REPORT_REASON] = "reason",   [PDNN_REPORT_BOUND] = "bound",
    [PDNN_REPORT_LEVEL] = "roof_level", [PDNN_REPORT_FLAGS] = "row_flags",
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
    enum pdnn_status status = pdnn_results_read(source->directory, &source->results, &rows->arena, err);
    if (status == PDNN_OK)
        status = pdnn_filter_keep(&source->results, rows->only, rows->n_only, err);
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

/* Where the columns are in one source's table. */
struct places {
    int id, number[PDNN_REPORT_NUMBERS], word[PDNN_REPORT_WORDS];
};

static struct places find_places(const struct pdnn_csv *csv) {
    struct places places = {.id = pdnn_csv_find(csv, "id")};
    for (size_t k = 0; k < PDNN_REPORT_NUMBERS; k++)
        places.number[k] = pdnn_csv_find(csv, number_columns[k]);
    for (size_t k = 0; k < PDNN_REPORT_WORDS; k++)
        places.word[k] = pdnn_csv_find(csv, word_columns[k]);
    return places;
}

static void fill_row(struct pdnn_report_rows *rows, const struct pdnn_csv *csv, const struct places *places,
                     size_t at, struct pdnn_report_row *row) {
    row->id = pdnn_csv_get(csv, at, places->id);
    for (size_t k = 0; k < PDNN_REPORT_NUMBERS; k++) {
        if (!pdnn_parse_double(pdnn_csv_get(csv, at, places->number[k]), &row->number[k]))
            row->number[k] = NAN;
    }
    for (size_t k = 0; k < PDNN_REPORT_WORDS; k++)
        row->word[k] = pdnn_texts_add(&rows->word[k], pdnn_csv_get(csv, at, places->word[k]));
    row->is_ok = strcmp(pdnn_report_word_text(rows, row, PDNN_REPORT_STATUS), "ok") == 0 &&
                 row->number[PDNN_REPORT_TIME_NS] > 0;
}

static void fill_rows(struct pdnn_report_rows *rows) {
    size_t total = 0;
    for (size_t s = 0; s < rows->n_sources; s++)
        total += rows->source[s].results.n_rows;
    rows->row = pdnn_arena_alloc(&rows->arena, total + 1, sizeof *rows->row);
    for (size_t s = 0; s < rows->n_sources; s++) {
        struct pdnn_report_source *source = &rows->source[s];
        struct places places = find_places(&source->results);
        source->first_row = rows->n_rows;
        source->n_rows = source->results.n_rows;
        for (size_t at = 0; at < source->n_rows; at++) {
            struct pdnn_report_row *row = &rows->row[rows->n_rows++];
            row->source = s;
            fill_row(rows, &source->results, &places, at, row);
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

const char *pdnn_report_cell(const struct pdnn_report_rows *rows, size_t row, const char *column) {
    if (row >= rows->n_rows)
        return "";
    const struct pdnn_report_source *source = &rows->source[rows->row[row].source];
    return pdnn_csv_get(&source->results, row - source->first_row, pdnn_csv_find(&source->results, column));
}

static void add_axis(struct pdnn_report_rows *rows, const char *name, bool is_source, bool always) {
    struct pdnn_report_axis axis = {.name = name};
    struct pdnn_texts texts = {0};
    int column[2] = {-1, -1};
    axis.of_row = pdnn_arena_alloc(&rows->arena, rows->n_rows + 1, sizeof *axis.of_row);
    for (size_t s = 0; s < rows->n_sources; s++)
        column[s] = pdnn_csv_find(&rows->source[s].results, name);
    for (size_t r = 0; r < rows->n_rows; r++) {
        const struct pdnn_report_source *source = &rows->source[rows->row[r].source];
        size_t s = rows->row[r].source;
        axis.of_row[r] = pdnn_texts_add(
            &texts,
            is_source ? source->name : pdnn_csv_get(&source->results, r - source->first_row, column[s]));
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
    rows->axis = pdnn_arena_alloc(&rows->arena, 2 * PDNN_CSV_COLUMNS_MAX + 2, sizeof *rows->axis);
    add_axis(rows, "family", false, true);
    if (rows->n_sources > 1)
        add_axis(rows, "source", true, true);
    for (size_t s = 0; s < rows->n_sources; s++) {
        const struct pdnn_csv *csv = &rows->source[s].results;
        int end = pdnn_csv_find(csv, "status");
        for (int k = pdnn_csv_find(csv, "family") + 1; k < end; k++) {
            if (s == 0 || pdnn_csv_find(&rows->source[0].results, csv->header[k]) < 0)
                add_axis(rows, csv->header[k], false, false);
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
    for (size_t s = 0; status == PDNN_OK && s < rows->n_sources; s++) {
        rows->source[s].directory = rows->source[s].name = request->directories[s];
        status = read_source(rows, &rows->source[s], err);
    }
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
        pdnn_csv_finish(&rows->source[s].results);
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
