/* Rotary positions (models/ops/rope), as exporters write them: x cos + [-x2 x1] sin, where x1 and x2 are the
 * halves of a head. The tables of cosines and sines are known by their numbers, wherever these come from:
 * constants, or positions times frequencies. */
#include "gen/onnx/step.h"

#include "models/op.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT(k)        pdnn_trace_out(trace, node, k)
#define GIVER(id, op) pdnn_trace_giver(trace, id, op)
#define ID(of, k)     pdnn_trace_id(trace, of, k)

/* x cos + turned sin. */
struct rotation {
    int32_t x, turned, cos, sin;
};

/* Whether the value is half of another one's last dimension, times a sign. */
static bool is_half(const struct pdnn_value_of *half, const struct pdnn_value_of *of, int which,
                    double sign) {
    const int last = of->rank - 1;
    return half->kind == PDNN_VALUE_DATA && !half->fine && !of->fine && half->base == of->base &&
           half->rank == of->rank && 2 * half->dim[last] == of->dim[last] &&
           memcmp(half->dim, of->dim, (size_t)last * sizeof *of->dim) == 0 &&
           memcmp(half->stride, of->stride, (size_t)of->rank * sizeof *of->stride) == 0 &&
           half->offset == of->offset + which * half->dim[last] * of->stride[last] &&
           half->factor == sign * of->factor;
}

/* Whether the value is [-x2 x1]. */
static bool is_turned(const struct pdnn_trace *trace, int32_t id, const struct pdnn_value_of *x) {
    const struct pdnn_onnx_node *concat = GIVER(id, "Concat");
    if (!concat || concat->proto->n_input != 2 || trace->value[id].rank != x->rank)
        return false;
    const int64_t axis = pdnn_trace_int(concat, "axis", 0);
    const struct pdnn_value_of *back = pdnn_trace_in(trace, concat, 0),
                               *first = pdnn_trace_in(trace, concat, 1);
    return (axis == -1 || axis == x->rank - 1) && back && first && is_half(back, x, 1, -1) &&
           is_half(first, x, 0, 1);
}

/* The two products of the sum, by the one whose factor is made of the other's. */
static bool find_rotation(const struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                          struct rotation *found) {
    for (int k = 0; k < 8 && node->proto->n_input == 2; k++) {
        const struct pdnn_onnx_node *plain = GIVER(ID(node, k & 1), "Mul"),
                                    *other = GIVER(ID(node, !(k & 1)), "Mul");
        if (!plain || !other || plain->proto->n_input != 2 || other->proto->n_input != 2)
            return false;
        const int i = k >> 1 & 1, j = k >> 2;
        *found = (struct rotation){ID(plain, i), ID(other, j), ID(plain, !i), ID(other, !j)};
        if (found->x >= 0 && found->turned >= 0 && found->cos >= 0 && found->sin >= 0 &&
            trace->value[found->x].kind == PDNN_VALUE_DATA && trace->value[found->x].rank >= 3 &&
            is_turned(trace, found->turned, &trace->value[found->x]))
            return true;
    }
    return false;
}

/* Whether a table, broadcast to x, has rows for dimension d of x, the same everywhere, and its halves are
 * alike: then these rows. */
static bool read_table(const struct pdnn_value_of *table, const struct pdnn_value_of *x, int d,
                       struct pdnn_value_of *rows) {
    const int along = d - (x->rank - table->rank), last = table->rank - 1;
    const int64_t width = x->dim[x->rank - 1], n = x->dim[d];
    int64_t inner = 1;
    if (last < 1 || along < 0 || along >= last || table->rank > x->rank || table->dim[last] != width ||
        table->dim[along] != n)
        return false;
    for (int k = along + 1; k < last; k++)
        inner *= table->dim[k];
    *rows = *table;
    rows->rank = 2;
    memcpy(rows->dim, (int64_t[]){n, width}, 2 * sizeof width);
    memcpy(rows->stride, (int64_t[]){table->stride[along], table->stride[last]}, 2 * sizeof width);
    for (int64_t k = 0; k < pdnn_strided_elements(table); k++) {
        const int64_t row = k / width / inner % n, column = k % width % (width / 2);
        if (!(fabs(pdnn_numbers_at(table, k) - pdnn_numbers_at(rows, row * width + column)) < 1e-5))
            return false;
    }
    return true;
}

/* The base of which the frequencies are powers, theta^(-i / half), by their first and last ones; of others,
 * as where the first are as they are and the last are slower, by the first two. */
static double base_of(const double *angle, int64_t half) {
    char text[32];
    const int64_t last = half - 1;
    double theta = half > 1 ? pow(angle[last] / angle[0], -(double)half / (double)last) : 10000;
    for (int64_t i = 0; i < half; i++)
        if (fabs(pow(theta, -(double)i / (double)half) * angle[0] / angle[i] - 1) > 1e-4)
            theta = pow(angle[1] / angle[0], -(double)half);
    snprintf(text, sizeof text, "%.4g", theta); /* what it was before it was rounded to frequencies */
    const double round = strtod(text, NULL);
    return fabs(round / theta - 1) < 1e-5 ? round : theta;
}

/* Whether rows of cosines and sines are those of t f(i) in row t, where frequencies f fall from at most 1. */
static bool turn_by_position(struct pdnn_trace *trace, const struct pdnn_value_of *cosines,
                             const struct pdnn_value_of *sines, double *theta) {
    const int64_t n = cosines->dim[0], width = cosines->dim[1], half = width / 2;
    double *angle = pdnn_arena_alloc(trace->program.arena, (size_t)half, sizeof *angle);
    for (int64_t i = 0; i < half && n > 1; i++) {
        angle[i] = atan2(pdnn_numbers_at(sines, width + i), pdnn_numbers_at(cosines, width + i));
        if (!(angle[i] > 0 && angle[i] < 1 + 1e-5) || (i && angle[i] > angle[i - 1]))
            return false;
        for (int64_t t = 0; t < n; t++) {
            /* Frequencies and angles that were rounded to f32 are off by a share of the angle. */
            const double is = (double)t * angle[i], most = 1e-4 + (double)t * 2e-7;
            if (!(fabs(cos(is) - pdnn_numbers_at(cosines, t * width + i)) < most &&
                  fabs(sin(is) - pdnn_numbers_at(sines, t * width + i)) < most))
                return false;
        }
    }
    *theta = n > 1 ? base_of(angle, half) : 0;
    return n > 1;
}

void pdnn_rotary_count(struct pdnn_trace *trace, int32_t id) {
    for (const struct pdnn_onnx_node *node; id >= 0 && (node = trace->giver[id]) != NULL;) {
        id = -1;
        for (size_t k = 0; k < node->proto->n_input && id < 0; k++) {
            const struct pdnn_value_of *in = pdnn_trace_in(trace, node, k);
            if (in && in->kind != PDNN_VALUE_NUMBERS && in->kind != PDNN_VALUE_WEIGHT)
                id = node->in[k];
        }
    }
    const struct pdnn_value_of *input = id < 0 ? NULL : &trace->value[id];
    if (trace->positions < 0 && input && input->kind == PDNN_VALUE_DATA && input->is_whole && input->rank > 0)
        trace->positions = id;
}

bool pdnn_rotary_match(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    struct rotation found;
    struct pdnn_value_of x, cosines, sines, rows[2];
    struct pdnn_side_by_side beside;
    double theta = 0;
    if (!find_rotation(trace, node, &found))
        return false;
    if (!pdnn_numbers_known(&trace->value[found.cos], &cosines) ||
        !pdnn_numbers_known(&trace->value[found.sin], &sines)) {
        pdnn_rotary_count(trace, found.cos);
        return false;
    }
    x = trace->value[found.x];
    const int r = x.rank;
    bool is_by_position = false;
    int d = r - 2; /* (..., heads, positions, width), or the first two turned around */
    for (; d >= r - 3 && d > 0 && !is_by_position; d -= !is_by_position)
        is_by_position = read_table(&cosines, &x, d, &rows[0]) && read_table(&sines, &x, d, &rows[1]) &&
                         turn_by_position(trace, &rows[0], &rows[1], &theta);
    if (!is_by_position)
        return false;
    if (d == r - 3)
        pdnn_strided_swap(&x, r - 3, r - 2);
    if (!pdnn_products_beside(trace, &x, &beside))
        return true;
    const struct pdnn_draft_entry *from = trace->program.entry[beside.entry];
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, pdnn_op_rope.name, (int32_t[]){beside.entry, -1}, 2, from->dim);
    pdnn_draft_size(entry, "sequences", beside.sequences);
    pdnn_draft_size(entry, "heads", beside.heads);
    pdnn_draft_size(entry, "width", beside.width);
    pdnn_draft_size(entry, "column", beside.column);
    pdnn_draft_real(entry, "theta", theta);
    if (d == r - 3)
        pdnn_strided_swap(&x, r - 3, r - 2);
    x.base = trace->program.n_entries - 1;
    x.node = node;
    *OUT(0) = x;
    return true;
}
