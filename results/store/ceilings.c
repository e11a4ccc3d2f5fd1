/* ceilings.csv: one row per measured roof. These files are handed around and edited, so columns with known
 * words take no others, while extra columns and another order do no harm. */
#include "models/dtype.h"
#include "results/table/read.h"
#include "results/table/write.h"
#include "results/store/results.h"
#include "results/store/tables.h"

#include <string.h>

enum { CEILINGS_LIMIT_BYTES = 256 << 20 }; /* all rows there may be of many hosts, with all digits */

#define FIELD(field)                                                                                         \
    { offsetof(struct pdnn_ceiling, field), sizeof((struct pdnn_ceiling *)0)->field, false }
#define TIME(field)                                                                                          \
    { offsetof(struct pdnn_ceiling, field), 0, true }
#define MEASURED "by kind", PDNN_KIND_NUMBER, PDNN_SHOW_FIXED, .decimals = 1, .digits = PDNN_DIGITS_EXACT

static const struct pdnn_column_def columns[PDNN_CEILINGS_COLUMNS] = {
    {"kind", .help = "compute, bandwidth, ladder, overhead, probe or link"},
    {"pattern",
     .help =
         "compute: fma, or the processor's own instruction for the type, from registers, and gemm-BACKEND; bandwidth and ladder: read, copy, triad, update (in place), with -streaming stores; link: allreduce; otherwise a name for the measurement"},
    {"dtype", .help = "compute: element type; int8 is u8 times s8, accumulated in s32"},
    {"level", .help = "bandwidth and ladder: L1, L2, L3 or DRAM"},
    {"threads", NULL, "threads", PDNN_KIND_WHOLE, .help = "one per core; link: 0"},
    {"capacity_bytes", "found", "bytes", PDNN_KIND_COUNT, PDNN_SHOW_BYTES,
     .help =
         "bandwidth: what the level was found to hold for these threads together, 0 for DRAM; ladder: the working set; link: the message"},
    {"value", NULL, MEASURED,
     .help =
         "best repetition; compute: 1e9 FLOP/s, bandwidth and ladder: 1e9 B/s, overhead: ns; link: 1e9 B/s that each of p ranks sends in a ring, 2(p-1)/p of the message over the slowest rank's time"},
    {"low", NULL, MEASURED, .help = "least of the repetitions"},
    {"high", NULL, MEASURED, .help = "greatest of the repetitions"},
    {"repetitions", NULL, NULL, PDNN_KIND_WHOLE, .help = "number of repetitions"},
    {"median_value", "median", MEASURED, .is_optional = true,
     .help = "median of the repetitions; far from value if the machine was disturbed"},
    {"reported_bytes", "reported", "bytes", PDNN_KIND_COUNT, PDNN_SHOW_BYTES, .is_optional = true,
     .help = "bandwidth: capacity of the level for these threads together, as reported by the host"},
    {"host", .is_optional = true,
     .help = "where it was measured, in a directory that `paradnn merge` made from those of several hosts"},
    {"measured_utc", .is_optional = true, .help = "when the measurement ended"},
    {"checked_utc", .is_optional = true,
     .help =
         "when the sweep's probes confirmed roofs kept from an earlier measurement; empty if it measured them itself"},
    {"ranks", NULL, NULL, PDNN_KIND_WHOLE, .is_optional = true,
     .help = "link: processes, which are started as those of a sweep with this many ranks are; else 0"},
};
const struct pdnn_table_def pdnn_ceilings_def = {"ceilings", "the machine's measured roofs", columns,
                                                 PDNN_CEILINGS_COLUMNS};

/* Where a column's value is in a struct pdnn_ceiling: text in an array, a time in ms, or the column's kind.
 */
static const struct field {
    size_t offset, size;
    bool is_time;
} fields[PDNN_CEILINGS_COLUMNS] = {
    FIELD(kind),    FIELD(pattern),         FIELD(dtype),          FIELD(level),
    FIELD(threads), FIELD(capacity_bytes),  FIELD(value),          FIELD(low),
    FIELD(high),    FIELD(repetitions),     FIELD(median),         FIELD(reported_bytes),
    FIELD(host),    TIME(measured_unix_ms), TIME(checked_unix_ms), FIELD(ranks)};

static void set_time(struct pdnn_table *table, size_t row, size_t column, int64_t unix_ms) {
    char text[PDNN_UTC_TEXT];
    if (unix_ms)
        pdnn_table_set_text(table, row, column, pdnn_utc_format(unix_ms, text));
}

void pdnn_ceilings_add(const struct pdnn_ceiling *roof, struct pdnn_table *table) {
    size_t row = pdnn_table_add_row(table);
    for (size_t c = 0; c < PDNN_CEILINGS_COLUMNS; c++) {
        const void *field = (const char *)roof + fields[c].offset;
        if (fields[c].is_time)
            set_time(table, row, c, *(const int64_t *)field);
        else if (columns[c].kind == PDNN_KIND_TEXT)
            pdnn_table_set_text(table, row, c, field);
        else if (columns[c].kind == PDNN_KIND_COUNT)
            pdnn_table_set_count(table, row, c, *(const uint64_t *)field);
        else if (columns[c].kind == PDNN_KIND_WHOLE)
            pdnn_table_set_whole(table, row, c, *(const int64_t *)field);
        else
            pdnn_table_set_number(table, row, c, *(const double *)field);
    }
}

/* The reverse. */
static void take(const struct pdnn_table *table, size_t row, struct pdnn_ceiling *roof) {
    *roof = (struct pdnn_ceiling){.threads = 0};
    for (size_t c = 0; c < PDNN_CEILINGS_COLUMNS; c++) {
        void *field = (char *)roof + fields[c].offset;
        const char *text = columns[c].kind == PDNN_KIND_TEXT ? pdnn_table_text(table, row, c) : NULL;
        if (fields[c].is_time)
            pdnn_utc_parse(text, field);
        else if (text)
            memcpy(field, text, strlen(text) + 1);
        else if (columns[c].kind == PDNN_KIND_NUMBER)
            *(double *)field = pdnn_table_number(table, row, c);
        else if (columns[c].kind == PDNN_KIND_COUNT)
            *(uint64_t *)field = pdnn_table_count(table, row, c);
        else if (!pdnn_table_is_empty(table, row, c))
            *(int64_t *)field = pdnn_table_whole(table, row, c);
    }
}

void pdnn_ceilings_format(const struct pdnn_ceilings *ceilings, struct pdnn_str *out) {
    struct pdnn_table table;
    pdnn_table_init(&table, &pdnn_ceilings_def);
    for (size_t i = 0; i < ceilings->count; i++)
        pdnn_ceilings_add(&ceilings->row[i], &table);
    pdnn_table_csv(out, &table);
    pdnn_table_finish(&table);
}

static bool is_one_of(const char *const *words, const char *text) {
    while (*words && strcmp(*words, text) != 0)
        words++;
    return *words;
}

static bool is_dtype(const char *text) {
    enum pdnn_dtype dtype = 0;
    while (dtype < PDNN_DTYPE_COUNT && strcmp(text, pdnn_dtype_name(dtype)) != 0)
        dtype++;
    return !*text || dtype < PDNN_DTYPE_COUNT;
}

/* Instructions and backends give their names to patterns, so these are known by their letters only. */
static bool is_pattern(const char *text) {
    return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_.")];
}

/* Whether the cell may be put into a row. */
static bool takes(const struct pdnn_table *table, size_t row, size_t column) {
    static const char *const kinds[] = {"compute", "bandwidth", "ladder", "overhead", "probe", "link", NULL};
    static const char *const levels[] = {"", "L1", "L2", "L3", "DRAM", NULL};
    int64_t unix_ms;
    if (column == PDNN_CEILING_THREADS || column == PDNN_CEILING_REPETITIONS)
        return !pdnn_table_is_empty(table, row, column);
    if (columns[column].kind != PDNN_KIND_TEXT)
        return true;
    const char *text = pdnn_table_text(table, row, column);
    if (fields[column].is_time)
        return !*text || pdnn_utc_parse(text, &unix_ms);
    return strlen(text) < fields[column].size && (column != PDNN_CEILING_KIND || is_one_of(kinds, text)) &&
           (column != PDNN_CEILING_PATTERN || is_pattern(text)) &&
           (column != PDNN_CEILING_DTYPE || is_dtype(text)) &&
           (column != PDNN_CEILING_LEVEL || is_one_of(levels, text));
}

static enum pdnn_status check(const struct pdnn_table *table, size_t row, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    for (size_t column = 0; column < PDNN_CEILINGS_COLUMNS && status == PDNN_OK; column++) {
        if (takes(table, row, column))
            continue;
        struct pdnn_str cell = {0};
        pdnn_table_append(table, row, column, &cell);
        status = pdnn_fail(err, PDNN_INVALID, "'%.40s' is not a value for column '%s'", pdnn_str_text(&cell),
                           columns[column].name);
        pdnn_str_finish(&cell);
    }
    if (status == PDNN_OK && !(pdnn_table_number(table, row, PDNN_CEILING_VALUE) > 0))
        return pdnn_fail(err, PDNN_INVALID, "value must be greater than 0");
    return status;
}

/* Takes the rows of one host, and all that name none. Finishes the table. */
static enum pdnn_status take_all(struct pdnn_table *table, const char *path, const char *host,
                                 struct pdnn_ceilings *ceilings, struct pdnn_err *err) {
    struct pdnn_row_list rows = {0};
    for (size_t row = 0; row < table->n_rows; row++) {
        const char *named = pdnn_table_text(table, row, PDNN_CEILING_HOST);
        if (*named && !host)
            host = named;
        if (!*named || strcmp(named, host) == 0)
            pdnn_rows_add(&rows, row);
    }
    enum pdnn_status status = PDNN_OK;
    if (rows.count > PDNN_CEILINGS_MAX)
        status = pdnn_fail(err, PDNN_INVALID, "%s: more than %d rows of one host", path, PDNN_CEILINGS_MAX);
    else
        for (ceilings->count = 0; ceilings->count < rows.count; ceilings->count++)
            take(table, rows.at[ceilings->count], &ceilings->row[ceilings->count]);
    pdnn_rows_finish(&rows);
    pdnn_table_finish(table);
    return status;
}

enum pdnn_status pdnn_ceilings_read(const char *path, const char *host, struct pdnn_ceilings *ceilings,
                                    struct pdnn_err *err) {
    struct pdnn_table_file file = {.path = path, .limit_bytes = CEILINGS_LIMIT_BYTES, .check = check};
    struct pdnn_table table;
    enum pdnn_status status = pdnn_table_read(&file, &pdnn_ceilings_def, &table, err);
    return status == PDNN_OK ? take_all(&table, path, host, ceilings, err) : status;
}

enum pdnn_status pdnn_ceilings_read_in(const char *directory, struct pdnn_ceilings *ceilings,
                                       struct pdnn_err *err) {
    struct pdnn_str path = {0};
    pdnn_str_printf(&path, "%s/ceilings.csv", directory);
    enum pdnn_status status = pdnn_ceilings_read(pdnn_str_text(&path), NULL, ceilings, err);
    pdnn_str_finish(&path);
    return status;
}

enum pdnn_status pdnn_ceilings_parse(const char *path, char *text, size_t length, const char *host,
                                     struct pdnn_ceilings *ceilings, struct pdnn_err *err) {
    struct pdnn_table_file file = {.path = path, .check = check};
    struct pdnn_table table;
    enum pdnn_status status = pdnn_table_read_text(&file, text, length, &pdnn_ceilings_def, &table, err);
    return status == PDNN_OK ? take_all(&table, path, host, ceilings, err) : status;
}
