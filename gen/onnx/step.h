/* What the rules for ONNX operators share: a network is followed at given sizes of its axes, node by node:
 * shapes, the numbers of what is constant, and the entries that the rest becomes (gen/onnx/draft). Internal
 * to gen/onnx.
 *
 * Rows of tables say what each ONNX operator does. What only rearranges elements (Reshape, Transpose, Slice)
 * makes no entry: a value is a view, by strides, of an entry's result, of an initializer or of numbers, and
 * who needs it in one piece asks for that. So the heads of attention are found by their strides, however they
 * were split and merged. What no operator of ours does alone (1 + erf(x)) is a formula: known by its shape,
 * and asked for by the patterns of which it is a part. Entries that nothing needs in the end are dropped. */
#ifndef GEN_ONNX_STEP_H
#define GEN_ONNX_STEP_H

#include "gen/onnx/model.h"
#include "gen/onnx/draft.h"

enum {
    PDNN_TRACE_RANK = 8,
    PDNN_TRACE_INPUTS = 8,
    PDNN_TRACE_NUMBERS = 1 << 18, /* doubles, values and entries for each file, and more for larger ones */
    PDNN_TRACE_VALUES = 1 << 14,
    PDNN_TRACE_ENTRIES = 1 << 13,
    PDNN_TRACE_SHARE = 64
};

enum pdnn_value_kind {
    PDNN_VALUE_REFUSED, /* by its node, or by one that this depends on; the shape may be unknown */
    PDNN_VALUE_NUMBERS, /* constant: the numbers are known */
    PDNN_VALUE_WEIGHT,  /* an initializer, of which only the count matters, unless something asks */
    PDNN_VALUE_DATA,
    PDNN_VALUE_FORMULA,
};

struct pdnn_value_of {
    enum pdnn_value_kind kind;
    bool is_whole; /* integers or truth values */
    bool is_plain; /* computed of the step's integer inputs alone, as masks are */
    int rank;
    int64_t dim[PDNN_TRACE_RANK], stride[PDNN_TRACE_RANK], offset;
    const double *number;                   /* NUMBERS; NULL: they are the tensor's */
    const struct Onnx__TensorProto *tensor; /* WEIGHT: that the value is a view of; NULL: it was computed */
    int32_t base;                           /* DATA: an entry; WEIGHT: an initializer */
    double factor;                          /* DATA: still to be multiplied with */
    /* DATA whose dimensions have no strides of their own, as (sequences heads) where heads are columns: the
     * same elements in the same order in more dimensions, which have. NULL: it has. */
    const struct pdnn_value_of *fine;
    const struct pdnn_onnx_node *node; /* that gives it, began its formula or was refused; NULL: none */
};

struct pdnn_trace {
    const struct pdnn_onnx *onnx;
    struct pdnn_draft program;
    struct pdnn_value_of *value;         /* by their numbers in the file */
    const struct pdnn_onnx_node **giver; /* by value: the node that gives it, NULL before its turn */
    int32_t *same;                       /* by value: the one of which it is a copy, or itself */
    const struct pdnn_onnx_node *node;   /* the one being followed */
    int32_t positions;                   /* the input that counts from 0 in each row; -1: none */
    size_t numbers;                      /* allocated so far */
    struct pdnn_err *err;
};

/* An operator of the table: gives its node's values, or returns false with a message in trace->err. What it
 * leaves REFUSED is so only if a result depends on it. */
typedef bool pdnn_trace_rule(struct pdnn_trace *trace, const struct pdnn_onnx_node *node);
struct pdnn_trace_row {
    const char *op;
    pdnn_trace_rule *rule;
    bool takes_formulas; /* otherwise an input that is a formula refuses the node */
};
/* Ended by a row without op. */
extern const struct pdnn_trace_row pdnn_trace_structure[], pdnn_trace_arithmetic[], pdnn_trace_layers[],
    pdnn_trace_products[];
/* The row of an operator that computes each element of one or two others; or NULL. */
const struct pdnn_trace_row *pdnn_trace_elementwise(const char *op);

/* Fails with the node's place. */
bool pdnn_trace_fail(struct pdnn_trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Input k of the node, NULL if it is not there; output k, a place to write to if it is not. */
const struct pdnn_value_of *pdnn_trace_in(const struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                                          size_t k);
struct pdnn_value_of *pdnn_trace_out(struct pdnn_trace *trace, const struct pdnn_onnx_node *node, size_t k);

/* The node of that operator which gives a value, or a copy of it; or NULL. The number of a node's input, of
 * copies that of the original; -1: it is not there. */
const struct pdnn_onnx_node *pdnn_trace_giver(const struct pdnn_trace *trace, int32_t id, const char *op);
int32_t pdnn_trace_id(const struct pdnn_trace *trace, const struct pdnn_onnx_node *node, int k);

/* The node's attributes; `usual` where it lacks one. Texts are compared, not kept. */
int64_t pdnn_trace_int(const struct pdnn_onnx_node *node, const char *name, int64_t usual);
double pdnn_trace_real(const struct pdnn_onnx_node *node, const char *name, double usual);
bool pdnn_trace_has_text(const struct pdnn_onnx_node *node, const char *name, const char *text);
const struct Onnx__AttributeProto *pdnn_trace_attribute(const struct pdnn_onnx_node *node, const char *name);
/* Item k of a list of ints. */
int64_t pdnn_trace_item(const struct pdnn_onnx_node *node, const char *name, size_t k, int64_t usual);

/* -- Views (gen/onnx/strided) -- */

/* A value of this shape whose elements follow each other. False, with a message, for a shape that is not one.
 */
bool pdnn_strided_shape(struct pdnn_trace *trace, struct pdnn_value_of *value, int rank, const int64_t *dim);
int64_t pdnn_strided_elements(const struct pdnn_value_of *value);
/* Whether elements follow each other from the first on, with none of the base left. */
bool pdnn_strided_is_compact(const struct pdnn_trace *trace, const struct pdnn_value_of *value);
/* Whether each element of the base is there once, in whatever order. */
bool pdnn_strided_covers(const struct pdnn_trace *trace, const struct pdnn_value_of *value);
/* Turns two dimensions around. */
void pdnn_strided_swap(struct pdnn_value_of *value, int i, int j);
/* The value by another shape. Where the strides do not allow that, numbers are copied and data rearranged. */
bool pdnn_strided_reshape(struct pdnn_trace *trace, const struct pdnn_value_of *value, int rank,
                          const int64_t *dim, struct pdnn_value_of *result);
/* An entry with the value's elements in order, in these dimensions; of any dimensions if rank is 0: rows, or
 * images for four. -1 with a message where there is none. */
int32_t pdnn_strided_entry(struct pdnn_trace *trace, const struct pdnn_value_of *value, int rank,
                           const int64_t *dim);
/* The same as rows (all but the last dimension, the last). */
int32_t pdnn_strided_rows(struct pdnn_trace *trace, const struct pdnn_value_of *value);
/* The value with dimensions that have strides; data is rearranged if it must be for those that it has. */
struct pdnn_value_of pdnn_strided_fine(const struct pdnn_value_of *value);
bool pdnn_strided_plain(struct pdnn_trace *trace, const struct pdnn_value_of *value,
                        struct pdnn_value_of *result);
/* For what works by row: an entry with the value's rows in whatever order they lie, and where each is; then
 * the same rows of an entry that was made of it, with other columns, by a shape. */
bool pdnn_strided_take_rows(struct pdnn_trace *trace, const struct pdnn_value_of *value, int32_t *from,
                            struct pdnn_value_of *rows);
bool pdnn_strided_give_rows(struct pdnn_trace *trace, const struct pdnn_value_of *rows, int32_t entry,
                            int64_t columns, int rank, const int64_t *dim, struct pdnn_value_of *result);
/* DATA of that shape whose elements are those of an entry, in order. */
bool pdnn_strided_of(struct pdnn_trace *trace, int32_t entry, int rank, const int64_t *dim,
                     struct pdnn_value_of *result);
/* A weight as data of that shape: rows of a table, looked up by their numbers. */
bool pdnn_strided_table(struct pdnn_trace *trace, const struct pdnn_value_of *weight, int rank,
                        const int64_t *dim, struct pdnn_value_of *result);
/* Entries of a weight by ids along an axis. The result's shape is set; it stays a view where known ids rise
 * by equal steps, as positions do. Otherwise it is computed, and has no stride where known ids repeat, as if
 * by Expand. */
void pdnn_strided_take(const struct pdnn_value_of *weight, const struct pdnn_value_of *ids, int axis,
                       struct pdnn_value_of *result);
/* The result of an operator that works by element, of the value's shape and arrangement; NULL with a message.
 */
struct pdnn_draft_entry *pdnn_strided_apply(struct pdnn_trace *trace, const char *op,
                                            const struct pdnn_value_of *value, struct pdnn_value_of *result);
/* What both shapes broadcast to; false, with a message, if they do not. */
bool pdnn_strided_broadcast(struct pdnn_trace *trace, const struct pdnn_value_of *a,
                            const struct pdnn_value_of *b, int *rank, int64_t *dim);

/* -- Numbers (gen/onnx/numbers) -- */

/* Room for the numbers of a value whose shape is set; false, if there are too many of them: then the value is
 * refused. */
bool pdnn_numbers_room(struct pdnn_trace *trace, struct pdnn_value_of *value, double **number);
/* Whether an element type is neither integers nor truth values. */
bool pdnn_numbers_are_real(int type);
/* The numbers of a tensor. */
bool pdnn_numbers_tensor(struct pdnn_trace *trace, const struct Onnx__TensorProto *tensor,
                         struct pdnn_value_of *value);
/* Whether there are so few that each may be looked at, also where one stands for many. */
bool pdnn_numbers_are_few(const struct pdnn_value_of *value);
/* Number k of a value in order; it must have it. */
double pdnn_numbers_at(const struct pdnn_value_of *value, int64_t k);
/* Number k of a value that is broadcast to a shape. */
double pdnn_numbers_broadcast(const struct pdnn_value_of *value, int rank, const int64_t *dim, int64_t k);
/* The same towards 0 as a whole number, within 2^62. */
int64_t pdnn_numbers_whole(const struct pdnn_value_of *value, int64_t k);
/* The numbers of a value, also of an initializer; false if they are not known. */
bool pdnn_numbers_known(const struct pdnn_value_of *value, struct pdnn_value_of *result);
/* Whether a value is one known number, also of an initializer. */
bool pdnn_numbers_scalar(const struct pdnn_value_of *value, double *number);
/* The same numbers, following each other. */
bool pdnn_numbers_compact(struct pdnn_trace *trace, const struct pdnn_value_of *value,
                          struct pdnn_value_of *result);

/* Matrices, the last two dimensions of a shape that has no other, in which a number depends on column - row
 * alone, as of masks: whether a value is one, broadcast to the shape; room for one, by diagonal, in the place
 * of pdnn_numbers_room. Of any value, how many numbers may differ, and the place in order of number i of
 * these. */
bool pdnn_numbers_are_by_diagonal(const struct pdnn_value_of *value, int rank, const int64_t *dim);
bool pdnn_numbers_band(struct pdnn_trace *trace, struct pdnn_value_of *value, double **number);
int64_t pdnn_numbers_different(const struct pdnn_value_of *value);
int64_t pdnn_numbers_place(const struct pdnn_value_of *value, int64_t i);

/* -- Scores of attention (gen/onnx/scores) -- */

/* Each gives its node's value if it is what it looks for, which the last argument says; false with a message.
 * Scores (..., n, m) of which some are not seen: `by` says which, by true or false or by numbers far below 0.
 */
bool pdnn_scores_mask(struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                      const struct pdnn_value_of *scores, const struct pdnn_value_of *by, bool seen_if,
                      bool *is_mask);
/* Whether a constant is far below 0 everywhere. */
bool pdnn_scores_are_hidden(const struct pdnn_value_of *fill);
/* A learned number for each head and relative position in a square window, as Swin has. */
bool pdnn_scores_relative(struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                          const struct pdnn_value_of *scores, const struct pdnn_value_of *weight,
                          bool *is_relative);
/* Scores (..., heads, n, m) and data (..., 1, 1 or n, m), which are added to those of all heads. */
bool pdnn_scores_add(struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                     const struct pdnn_value_of *a, const struct pdnn_value_of *b, bool *is_added);
/* Scores times 1 where they are seen, and 0: a product with a window. Then how many columns a row sees, or
 * -1. */
bool pdnn_scores_window(struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                        const struct pdnn_value_of *scores, const struct pdnn_value_of *by, bool *is_window);
int64_t pdnn_scores_seen(const struct pdnn_value_of *scores, const struct pdnn_value_of *by);

/* -- Products (gen/onnx/products) -- */

/* Rows (sequences rows, ...) of which each has the row's heads, of `width` numbers, side by side from
 * `column` on. */
struct pdnn_side_by_side {
    int32_t entry;
    int64_t sequences, heads, width, column;
};
/* DATA (..., heads, rows, width) as such rows, which are rearranged if they must be; the value then is of
 * them, without its factor. False with a message. */
bool pdnn_products_beside(struct pdnn_trace *trace, struct pdnn_value_of *value,
                          struct pdnn_side_by_side *beside);
/* Whether parts of rows, joined along their columns, lie like that in an entry: as those that were turned or
 * normalized beside those that were not. Then the result is of it. */
bool pdnn_products_together(const struct pdnn_trace *trace, const struct pdnn_value_of *const *parts,
                            size_t count, int axis, struct pdnn_value_of *result);

/* -- Patterns (gen/onnx/patterns, gen/onnx/rotary) -- */

/* Whether the node completes a pattern; it then has given its value, or trace->err says why not. */
bool pdnn_pattern_match(struct pdnn_trace *trace, const struct pdnn_onnx_node *node);
bool pdnn_rotary_match(struct pdnn_trace *trace, const struct pdnn_onnx_node *node);
/* Sets trace->positions, if it is -1, where a cosine or an angle depends on an input of whole numbers:
 * followed once more with that, rotations are by position. */
void pdnn_rotary_count(struct pdnn_trace *trace, int32_t id);

#endif
