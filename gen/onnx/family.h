/* An ONNX graph as a family's file: text in the language of doc/families.md that people can read and change,
 * which then goes the way of every such file (gen/family). */
#ifndef GEN_ONNX_FAMILY_H
#define GEN_ONNX_FAMILY_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

struct pdnn_onnx;

struct pdnn_onnx_request {
    /* "NAME=N": dimensions that are not to be axes. */
    const char *const *set;
    size_t n_set;
    const char *loss; /* softmax_cross_entropy, none; NULL: the first if a result is (rows, classes) */
};

struct pdnn_onnx_summary {
    size_t nodes, entries, axes; /* of the file; of the family */
    /* Convolutions have biases, and nothing is normalized: an export for inference may have folded that. */
    bool may_be_folded;
};

/* Appends the file. The free dimensions of inputs, and a first one that is the same number for all inputs
 * where none is free and the rest follows it, are axes: the network is followed at three sizes of each, what
 * varies becomes a polynomial in them, and is compared at a fourth. PDNN_INVALID with one line, also for what
 * no operator of a family does. */
enum pdnn_status pdnn_onnx_family(const struct pdnn_onnx *onnx, const struct pdnn_onnx_request *request,
                                  struct pdnn_str *text, struct pdnn_onnx_summary *summary,
                                  struct pdnn_err *err);

/* The same of a file, as heap text, which the caller frees. `summary` may be NULL. */
enum pdnn_status pdnn_onnx_text(const char *path, const struct pdnn_onnx_request *request, char **text,
                                size_t *length, struct pdnn_onnx_summary *summary, struct pdnn_err *err);

/* Whether a file's name ends as ONNX files' do. */
bool pdnn_onnx_is_name(const char *path);

#endif
