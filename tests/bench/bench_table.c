#define _POSIX_C_SOURCE 200809L
/* The rates of the one table: rows of 100 columns written as CSV, read typed, and the memory of their cells.
 * In the process's own time, so that other load on the machine counts little. */
#include "base/rng.h"
#include "results/table/read.h"
#include "results/table/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As in results.csv: a fifth are words, a fifth exact counts, the others measured. */
enum { ROWS = 100000, COLUMNS = 100, TEXTS = 20, COUNTS = 20, ROUNDS = 5, NAME = 16 };

static char names[COLUMNS][NAME];
static struct pdnn_column_def columns[COLUMNS];
static const struct pdnn_table_def def = {"bench.csv", "", columns, COLUMNS};

static uint64_t own_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void define(void) {
    for (int c = 0; c < COLUMNS; c++) {
        snprintf(names[c], NAME, "column_%d", c);
        columns[c] = (struct pdnn_column_def){.name = names[c],
                                              .kind = c < TEXTS            ? PDNN_KIND_TEXT
                                                      : c < TEXTS + COUNTS ? PDNN_KIND_COUNT
                                                                           : PDNN_KIND_NUMBER};
    }
}

static void fill(struct pdnn_table *table) {
    static const char *const words[] = {"ok", "train", "infer", "f32", "onednn", "memory", "compute", ""};
    struct pdnn_rng rng = {1, 0};
    pdnn_table_init(table, &def);
    for (size_t row = 0; row < ROWS; row++) {
        char id[64];
        pdnn_table_add_row(table);
        snprintf(id, sizeof id, "fc/layers=%zu,nodes=%zu,batch=%zu", row % 128, row / 128, row % 7);
        pdnn_table_set_text(table, row, 0, id);
        for (size_t c = 1; c < TEXTS; c++)
            pdnn_table_set_text(table, row, c, words[pdnn_rng_below(&rng, 8)]);
        for (size_t c = TEXTS; c < TEXTS + COUNTS; c++)
            pdnn_table_set_count(table, row, c, pdnn_rng_below(&rng, UINT64_C(1) << (4 + c)));
        for (size_t c = TEXTS + COUNTS; c < COLUMNS; c++)
            pdnn_table_set_number(table, row, c, pdnn_rng_double(&rng) * (c % 3 ? 1e3 : 1e9));
    }
    pdnn_table_fit(table, 0);
}

static uint64_t write_once(const struct pdnn_table *table, struct pdnn_str *text) {
    uint64_t start = own_ns();
    struct pdnn_table_writer writer = {.out = text, .format = PDNN_FORMAT_CSV};
    pdnn_str_clear(text);
    pdnn_table_write(&writer, table, NULL);
    pdnn_table_write_end(&writer);
    return own_ns() - start;
}

/* The memory that the table's arrays, texts and slots take. */
static double bytes_per_cell(const struct pdnn_table *table) {
    double bytes = 0;
    for (size_t c = 0; c < table->n_columns; c++)
        bytes += (double)table->row_room * (table->column[c].def.kind == PDNN_KIND_TEXT ? 4 : 8);
    for (size_t i = 0; i < table->texts.count; i++)
        bytes += (double)strlen(table->texts.text[i]) + 1;
    bytes += (double)table->texts.room * sizeof *table->texts.text;
    bytes += (double)table->texts.n_slots * sizeof *table->texts.slots;
    return bytes / (double)(table->n_rows * table->n_columns);
}

static uint64_t read_once(const struct pdnn_str *text, double *bytes) {
    struct pdnn_table table;
    struct pdnn_err err = {0};
    struct pdnn_table_file file = {.path = "bench.csv"};
    char *copy = malloc(text->length + 1);
    if (!copy)
        exit(1);
    memcpy(copy, text->text, text->length + 1);
    uint64_t start = own_ns();
    if (pdnn_table_read_text(&file, copy, text->length, &def, &table, &err) != PDNN_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    uint64_t ns = own_ns() - start;
    *bytes = bytes_per_cell(&table);
    pdnn_table_finish(&table);
    free(copy);
    return ns;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void) {
    static struct pdnn_table table;
    struct pdnn_str text = {0};
    double written[ROUNDS], was_read[ROUNDS], bytes = 0;
    define();
    fill(&table);
    write_once(&table, &text);
    for (int i = 0; i < ROUNDS; i++) {
        written[i] = ROWS / (1e-9 * (double)write_once(&table, &text));
        was_read[i] = ROWS / (1e-9 * (double)read_once(&text, &bytes));
    }
    qsort(written, ROUNDS, sizeof *written, compare);
    qsort(was_read, ROUNDS, sizeof *was_read, compare);
    printf("%d rows of %d columns, %.1f MB; medians of %d, least and most\n", ROWS, COLUMNS,
           1e-6 * (double)text.length, ROUNDS);
    printf("written    %9.0f rows/s  (%.0f to %.0f)\n", written[ROUNDS / 2], written[0], written[ROUNDS - 1]);
    printf("read typed %9.0f rows/s  (%.0f to %.0f)\n", was_read[ROUNDS / 2], was_read[0],
           was_read[ROUNDS - 1]);
    printf("memory     %9.2f bytes a cell\n", bytes);
    pdnn_table_finish(&table);
    pdnn_str_finish(&text);
    return 0;
}
