#include "models/rearrange.h"

#include "models/attributes.h"
#include "models/op.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---- */

struct reader {
    const char *at;
    const char *problem; /* or NULL */
};

static void refuse(struct reader *r, const char *problem) {
    r->problem = r->problem ? r->problem : problem;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void skip_blanks(struct reader *r) {
    while (*r->at == ' ')
        r->at++;
}

static int find_name(const struct pdnn_pattern_name *names, int count, struct pdnn_pattern_name name) {
    for (int i = 0; i < count; i++)
        if (names[i].length == name.length && memcmp(names[i].at, name.at, name.length) == 0)
            return i;
    return -1;
}

/* One side: its names in their order, and how many each dimension has. */
static int read_side(struct reader *r, struct pdnn_pattern *pattern, enum pdnn_pattern_side side,
                     struct pdnn_pattern_name names[PDNN_AXES]) {
    int *rank = &pattern->rank[side], count = 0;
    bool is_open = false;
    for (skip_blanks(r); *r->at && *r->at != '-' && !r->problem; skip_blanks(r)) {
        const char c = *r->at;
        if (c == ')') {
            if (!is_open)
                refuse(r, "a parenthesis is closed that was not opened");
            is_open = false;
            r->at++;
            continue;
        }
        if (!is_open && ++*rank > PDNN_RANK_MAX)
            refuse(r, "a side has more than 6 dimensions");
        if (r->problem)
            break;
        if (c == '(') {
            if (is_open)
                refuse(r, "parentheses stand in parentheses");
            is_open = true;
            r->at++;
        } else if (c == '1' && !is_open) {
            r->at++;
        } else if (is_letter(c)) {
            struct pdnn_pattern_name name = {r->at, 0};
            while (is_letter(*r->at) || (*r->at >= '0' && *r->at <= '9'))
                r->at++;
            name.length = (size_t)(r->at - name.at);
            if (find_name(names, count, name) >= 0)
                refuse(r, "a name stands twice on one side");
            else if (count == PDNN_AXES)
                refuse(r, "there are more than 6 names");
            else
                names[count++] = name;
            pattern->axes[side][*rank - 1]++;
        } else {
            refuse(r, "expected names, 1, parentheses and one ->");
        }
    }
    if (is_open)
        refuse(r, "a parenthesis is not closed");
    if (!*rank)
        refuse(r, "a side has no dimensions");
    return count;
}

bool pdnn_pattern_parse(const char *text, struct pdnn_pattern *pattern,
                        struct pdnn_pattern_name names[PDNN_AXES], const char **problem) {
    struct pdnn_pattern made = {0};
    struct pdnn_pattern_name other[PDNN_AXES];
    struct reader r = {text, NULL};
    made.n_axes = read_side(&r, &made, PDNN_PATTERN_X, names);
    if (!r.problem && strncmp(r.at, "->", 2) != 0)
        refuse(&r, "expected -> between two sides");
    r.at += r.problem ? 0 : 2;
    int count = r.problem ? 0 : read_side(&r, &made, PDNN_PATTERN_Y, other);
    if (*r.at)
        refuse(&r, "there is more than one ->");
    if (count != made.n_axes)
        refuse(&r, "both sides must have the same names");
    for (int k = 0; k < count && !r.problem; k++) {
        made.order[k] = find_name(names, made.n_axes, other[k]);
        if (made.order[k] < 0)
            refuse(&r, "both sides must have the same names");
    }
    *problem = r.problem;
    if (!r.problem)
        *pattern = made;
    return !r.problem;
}

const char *pdnn_pattern_format(int64_t packed, char buffer[PDNN_PATTERN_TEXT]) {
    const struct pdnn_pattern pattern = pdnn_pattern_unpack(packed);
    char *at = buffer;
    for (int side = 0; side < PDNN_PATTERN_SIDES; side++) {
        for (int d = 0, k = 0; d < pattern.rank[side]; d++) {
            const int axes = pattern.axes[side][d];
            if (axes > 1)
                *at++ = '(';
            if (axes == 0)
                *at++ = '1';
            for (int i = 0; i < axes; i++, k++)
                *at++ = (char)('a' + (side == PDNN_PATTERN_X ? k : pattern.order[k]));
            if (axes > 1)
                *at++ = ')';
        }
        if (side == PDNN_PATTERN_X) {
            *at++ = '-';
            *at++ = '>';
        }
    }
    *at = 0;
    return buffer;
}

/* ---- numbers ---- */

/* All that a pattern says, as digits from 0 to 6. */
enum { SIDE_DIGITS = 1 + PDNN_RANK_MAX, DIGITS = PDNN_PATTERN_SIDES * SIDE_DIGITS + PDNN_AXES, BITS = 3 };
_Static_assert(DIGITS *BITS < 63, "a pattern is a number");

int64_t pdnn_pattern_pack(const struct pdnn_pattern *pattern) {
    int64_t packed = 0;
    for (int side = 0; side < PDNN_PATTERN_SIDES; side++) {
        packed = packed << BITS | pattern->rank[side];
        for (int d = 0; d < PDNN_RANK_MAX; d++)
            packed = packed << BITS | pattern->axes[side][d];
    }
    for (int k = 0; k < PDNN_AXES; k++)
        packed = packed << BITS | pattern->order[k];
    return packed;
}

struct pdnn_pattern pdnn_pattern_unpack(int64_t packed) {
    struct pdnn_pattern pattern = {0};
    for (int k = PDNN_AXES; k-- > 0; packed >>= BITS)
        pattern.order[k] = (int)(packed & 7);
    for (int side = PDNN_PATTERN_SIDES; side-- > 0; packed >>= BITS) {
        for (int d = PDNN_RANK_MAX; d-- > 0; packed >>= BITS)
            pattern.axes[side][d] = (int)(packed & 7);
        pattern.rank[side] = (int)(packed & 7);
    }
    for (int d = 0; d < pattern.rank[PDNN_PATTERN_X]; d++)
        pattern.n_axes += pattern.axes[PDNN_PATTERN_X][d];
    return pattern;
}

/* ---- nodes ---- */

/* The axes of one dimension, `first` the first of them: one may have no size yet. */
static enum pdnn_status split(int64_t dim, int d, int64_t *size, int count, struct pdnn_err *err) {
    int64_t known = 1;
    int open = -1, n_open = 0;
    for (int i = 0; i < count; i++) {
        if (size[i] < 0)
            return pdnn_fail(err, PDNN_INVALID, "rearrange: a size is %" PRId64, size[i]);
        if (!size[i]) {
            open = i;
            n_open++;
        } else if (__builtin_mul_overflow(known, size[i], &known)) {
            return pdnn_fail(err, PDNN_INVALID, "rearrange: sizes of dimension %d are too large", d + 1);
        }
    }
    if (n_open > 1)
        return pdnn_fail(err, PDNN_INVALID,
                         "rearrange: dimension %d, which is %" PRId64
                         ", has %d names without a size; one may be left out",
                         d + 1, dim, n_open);
    if (n_open && dim % known == 0)
        size[open] = dim / known;
    else if (n_open || dim != known)
        return pdnn_fail(err, PDNN_INVALID,
                         "rearrange: dimension %d is %" PRId64 ", the sizes of its names %s %" PRId64, d + 1,
                         dim, n_open ? "do not divide it:" : "make", known);
    return PDNN_OK;
}

enum pdnn_status pdnn_rearrange_resolve(const int64_t *attr, const struct pdnn_tensor *x,
                                        struct pdnn_rearrange *rearrange, struct pdnn_err *err) {
    struct pdnn_rearrange made = {pdnn_pattern_unpack(attr[PDNN_REARRANGE_PATTERN]), {0}};
    const int rank = made.pattern.rank[PDNN_PATTERN_X], *axes = made.pattern.axes[PDNN_PATTERN_X];
    enum pdnn_status status = PDNN_OK;
    memcpy(made.size, attr + PDNN_REARRANGE_SIZES, sizeof made.size);
    if (rank != x->rank)
        return pdnn_fail(err, PDNN_INVALID, "rearrange: the pattern reads %d dimension%s, the input has %d",
                         rank, rank == 1 ? "" : "s", x->rank);
    for (int d = 0, k = 0; status == PDNN_OK && d < rank; k += axes[d++])
        status = split(x->dim[d], d, made.size + k, axes[d], err);
    if (status == PDNN_OK)
        *rearrange = made;
    return status;
}

struct pdnn_rearrange pdnn_rearrange_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const bool is_forward = node->pass == PDNN_FORWARD;
    struct pdnn_rearrange rearrange = {0};
    struct pdnn_err err = {0};
    pdnn_rearrange_resolve(node->attr,
                           is_forward ? pdnn_node_in(graph, node, PDNN_REARRANGE_X)
                                      : pdnn_node_out(graph, node, PDNN_REARRANGE_Y),
                           &rearrange, &err);
    return rearrange;
}

bool pdnn_rearrange_keeps_order(const struct pdnn_rearrange *rearrange) {
    int last = -1;
    for (int k = 0; k < rearrange->pattern.n_axes; k++) {
        const int axis = rearrange->pattern.order[k];
        if (rearrange->size[axis] == 1)
            continue;
        if (axis < last)
            return false;
        last = axis;
    }
    return true;
}
