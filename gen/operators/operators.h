/* Models that are one operator: `operator: conv2d` in a spec's entry stands for a family of that operator
 * alone, which the spec's record then holds, and the file of its `rows` may be a list of operators, as other
 * benchmarks have them (gen/operators/shapes.h). Private to gen/. */
#ifndef GEN_OPERATORS_OPERATORS_H
#define GEN_OPERATORS_OPERATORS_H

#include "gen/yaml/document.h"

/* Puts families and tables in place of what the document's models say so; a file of our own columns is left
 * to pdnn_rows_load. PDNN_INVALID with file:line:col. */
enum pdnn_status pdnn_operators_load(struct pdnn_yaml *root, struct pdnn_yaml_count *count,
                                     struct pdnn_arena *arena, struct pdnn_err *err);

/* Texts of the families that are one operator, by its name. */
extern const char pdnn_operator_conv2d[], pdnn_operator_dense[], pdnn_operator_matmul[], pdnn_operator_rnn[];

#endif
