/* seqpoint.csv: a row per kind of iteration of an epoch (iterations of equal padded lengths): how many there
 * are, which methods chose it to stand for others, and how long it took. What is chosen and projected is in
 * results/analysis; this is the table. */
#ifndef RESULTS_TABLES_SEQPOINT_TABLE_H
#define RESULTS_TABLES_SEQPOINT_TABLE_H

#include "results/tables/columns.h"

/* Bits of chosen_by, in the order of its words. */
enum pdnn_chosen_by {
    PDNN_CHOSEN_SEQPOINT = 1,
    PDNN_CHOSEN_FREQUENT = 2,
    PDNN_CHOSEN_MEDIAN = 4,
    PDNN_CHOSEN_WORST = 8,
    PDNN_CHOSEN_PRIOR = 16,
    PDNN_CHOSEN_RANDOM = 32,
    PDNN_CHOSEN_SAMPLE = 64
};

/* Not available: NaN for a double, PDNN_ABSENT (results/tables/record.h) for a count. */
struct pdnn_seqpoint_row {
    const char *id; /* of the model at these lengths, as in results.csv; borrowed; "": none */
    int64_t source_length, target_length; /* padded; target 0: the model has one length */
    uint64_t iterations;                  /* of the epoch */
    uint64_t flop_count;                  /* of one of them */
    unsigned chosen_by;
    double seqpoint_weight; /* iterations that it stands for as a SeqPoint; NaN: it is none */
    uint64_t draws;         /* times that it is in the sample of the model-assisted estimate */
    double draws_weight;    /* iterations that these draws stand for together */
    double time_ns;         /* of one iteration: the mean of those that ran */
    uint64_t measured;      /* iterations that ran */
};

extern const struct pdnn_columns pdnn_seqpoint_columns; /* rows: struct pdnn_seqpoint_row */

/* Sets everything to not available, or to none. */
void pdnn_seqpoint_row_init(struct pdnn_seqpoint_row *row);

/* Appends the table with its header. */
void pdnn_seqpoint_table_format(const struct pdnn_seqpoint_row *row, size_t n_rows, struct pdnn_str *out);

struct pdnn_seqpoint_table {
    struct pdnn_seqpoint_row *row; /* ascending by source, then target */
    size_t n_rows;
    struct pdnn_csv csv; /* holds the ids */
};

/* PDNN_INVALID with path:line for a cell that is not a value of its column, a length or a number of
 * iterations below 1, rows that are not ascending, a missing column, or no rows; extra columns are ignored.
 * Afterwards pdnn_seqpoint_table_finish. */
enum pdnn_status pdnn_seqpoint_table_read(const char *path, struct pdnn_seqpoint_table *table,
                                          struct pdnn_err *err);

void pdnn_seqpoint_table_finish(struct pdnn_seqpoint_table *table);

#endif
