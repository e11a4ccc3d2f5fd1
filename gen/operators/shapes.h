/* Lists of operators in the forms of other benchmarks: lines of benchdnn (oneDNN), with options or only
 * descriptors, and DeepBench's numbers, in the order of its lists, as text or in its C++ headers. Only shapes
 * and element types are taken. Private to gen/operators. */
#ifndef GEN_OPERATORS_SHAPES_H
#define GEN_OPERATORS_SHAPES_H

#include "gen/yaml/document.h"
#include "models/family.h"

#include <stdint.h>

/* What an operator is called in lists, and what its descriptors and numbers are. */
struct pdnn_shape_form {
    const char *driver;         /* of benchdnn: "conv" */
    const char *const *keys;    /* of a descriptor, NULL-terminated; NULL: it is of matrices, 2x3:3x4 */
    const char *const *numbers; /* DeepBench's columns; NULL: it has no such list */
    /* Make the row's values of those that a line gives, which are -1 where it has none. Return what is wrong,
     * or NULL. */
    const char *(*describe)(const int64_t *given, int64_t *value); /* by key */
    const char *(*count)(const int64_t *given, int64_t *value);    /* by number */
};

extern const struct pdnn_shape_form pdnn_shape_conv2d, pdnn_shape_dense, pdnn_shape_matmul, pdnn_shape_rnn;

/* Appends the form's lines of the text, which is in the file, to *rows, each as a list of the columns' values
 * and the element type, f32 where a line says none; *has_dtype becomes true if one does. Those of other
 * drivers are left out. PDNN_INVALID with file:line:col and what would be right. */
enum pdnn_status pdnn_shapes_read(const struct pdnn_shape_form *form, const struct pdnn_family_def *family,
                                  const char *file, const char *text, struct pdnn_yaml_count *count,
                                  struct pdnn_arena *arena, struct pdnn_yaml *rows, bool *has_dtype,
                                  struct pdnn_err *err);

#endif
