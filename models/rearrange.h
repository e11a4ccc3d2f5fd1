/* The pattern of the op `rearrange`: 'n c h w -> (n h w) c' names the axes of a tensor's dimensions and says
 * in which order, and in which dimensions, the result has them. Names in parentheses are one dimension, the
 * last of them running fastest; 1 is a dimension of one. A node has the pattern as a number, and the sizes of
 * the axes that the family names, in the order of their names in x. */
#ifndef MODELS_REARRANGE_H
#define MODELS_REARRANGE_H

#include "models/graph.h"

enum { PDNN_AXES = 6, PDNN_PATTERN_TEXT = 40 };

enum pdnn_pattern_side { PDNN_PATTERN_X, PDNN_PATTERN_Y, PDNN_PATTERN_SIDES };

struct pdnn_pattern {
    int n_axes;
    int rank[PDNN_PATTERN_SIDES];
    int axes[PDNN_PATTERN_SIDES][PDNN_RANK_MAX]; /* in each dimension; 0: its size is 1 */
    int order[PDNN_AXES];                        /* axis order[k] of x is axis k of y */
};

/* A name in the text of a pattern. */
struct pdnn_pattern_name {
    const char *at;
    size_t length;
};

/* Reads a pattern, and the names of its axes as x has them. On failure returns false, and *problem is what is
 * wrong with it; static text. */
bool pdnn_pattern_parse(const char *text, struct pdnn_pattern *pattern,
                        struct pdnn_pattern_name names[PDNN_AXES], const char **problem);

/* To a number above 0, and back. */
int64_t pdnn_pattern_pack(const struct pdnn_pattern *pattern);
struct pdnn_pattern pdnn_pattern_unpack(int64_t packed);

/* "abcd->(acd)b": axes are called a, b, ... as x has them. Returns buffer. */
const char *pdnn_pattern_format(int64_t packed, char buffer[PDNN_PATTERN_TEXT]);

/* What a node does: the pattern, and the size of each axis. */
struct pdnn_rearrange {
    struct pdnn_pattern pattern;
    int64_t size[PDNN_AXES];
};

/* From the attributes of a node and the forward pass's input. PDNN_INVALID if they do not go together. */
enum pdnn_status pdnn_rearrange_resolve(const int64_t *attr, const struct pdnn_tensor *x,
                                        struct pdnn_rearrange *rearrange, struct pdnn_err *err);

/* The same for a node whose tensors have been checked, in either pass. */
struct pdnn_rearrange pdnn_rearrange_of(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* Whether elements keep their order, so that the result is its input by another shape. */
bool pdnn_rearrange_keeps_order(const struct pdnn_rearrange *rearrange);

#endif
