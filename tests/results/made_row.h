/* A row of results.csv and those of its ops, made from visits. */
#ifndef TESTS_RESULTS_MADE_ROW_H
#define TESTS_RESULTS_MADE_ROW_H

#include "tests/cmocka_all.h"

#include "results/rows/aggregate.h"

#include <stdlib.h>

/* {0} is none. */
struct made_row {
    struct pdnn_arena columns, graph;
    struct pdnn_table results, ops;
    struct pdnn_result row;
    struct pdnn_op_record *op;
    size_t n_ops;
};

static inline void made_row_finish(struct made_row *made) {
    pdnn_table_finish(&made->results);
    pdnn_table_finish(&made->ops);
    pdnn_arena_finish(&made->columns);
    pdnn_arena_finish(&made->graph);
    free(made->op);
    *made = (struct made_row){.n_ops = 0};
}

/* Replaces what was made before. */
static inline void made_row_make(const struct pdnn_aggregate_input *input, struct made_row *made) {
    struct pdnn_instance instance;
    struct pdnn_err err = {0};
    const bool is_known = pdnn_instance_parse(input->id, &instance, NULL) == PDNN_OK;
    made_row_finish(made);
    const struct pdnn_table_def def = pdnn_results_def(&instance.family, is_known, &made->columns);
    pdnn_table_init(&made->results, &def);
    pdnn_table_init(&made->ops, &pdnn_ops_def);
    assert_int_equal(pdnn_aggregate(input, &made->graph, &made->results, &made->ops, &err), PDNN_OK);
    made->row = pdnn_result_of(&made->results, 0);
    made->n_ops = made->ops.n_rows;
    made->op = calloc(made->n_ops + 1, sizeof *made->op);
    assert_non_null(made->op);
    for (size_t i = 0; i < made->n_ops; i++)
        made->op[i] = pdnn_ops_row(&made->ops, i);
}

/* Cells of struct made_row made. */
#define NUMBER(column) pdnn_result_number(&made.row, PDNN_RESULT_##column)
#define COUNT(column)  pdnn_result_count(&made.row, PDNN_RESULT_##column)
#define TEXT(column)   pdnn_result_text(&made.row, PDNN_RESULT_##column)

#endif
