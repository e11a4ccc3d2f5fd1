#include "gen/onnx/step.h"

#include "models/op.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define IN(k)  pdnn_trace_in(trace, node, k)
#define OUT(k) pdnn_trace_out(trace, node, k)

/* Whole numbers that shape a result, from an input or, before opset 13, an attribute. -1: they are not known,
 * and the node stays refused. */
static int read_list(struct pdnn_trace *trace, const struct pdnn_onnx_node *node, size_t k, const char *name,
                     int64_t list[PDNN_TRACE_RANK]) {
    const int64_t far = (int64_t)1 << 52;
    const struct pdnn_value_of *in = IN(k);
    const struct Onnx__AttributeProto *attribute = in ? NULL : pdnn_trace_attribute(node, name);
    const int64_t count = in ? pdnn_strided_elements(in) : attribute ? (int64_t)attribute->n_ints : 0;
    if (in && in->kind != PDNN_VALUE_NUMBERS)
        return -1;
    if (count > PDNN_TRACE_RANK) {
        pdnn_trace_fail(trace, "a list of %" PRId64 " numbers, at most %d are read", count, PDNN_TRACE_RANK);
        return -2;
    }
    for (int64_t i = 0; i < count; i++) {
        list[i] = in ? pdnn_numbers_whole(in, i) : attribute->ints[i];
        list[i] = list[i] > far ? far : list[i] < -far ? -far : list[i];
    }
    return (int)count;
}

/* An axis counted from the front; -1 with a message. */
static int read_axis(struct pdnn_trace *trace, int64_t axis, int rank) {
    if (axis >= -rank && axis < rank)
        return (int)(axis < 0 ? axis + rank : axis);
    pdnn_trace_fail(trace, "axis %" PRId64 " of %d dimensions", axis, rank);
    return -1;
}

/* Id k, of a dimension of that size, counted from the front; false with a message. */
static bool read_index(struct pdnn_trace *trace, const struct pdnn_value_of *ids, int64_t k, int64_t size,
                       int64_t *id) {
    *id = pdnn_numbers_whole(ids, k);
    *id += *id < 0 ? size : 0;
    return (*id >= 0 && *id < size) || pdnn_trace_fail(trace, "index %" PRId64 " of %" PRId64, *id, size);
}

static bool same(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    *OUT(0) = *IN(0);
    if (node->proto->n_output && node->out[0] >= 0)
        trace->same[node->out[0]] = trace->same[node->in[0]];
    return true;
}

static bool cast(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const int64_t to = pdnn_trace_int(node, "to", 1);
    const struct pdnn_value_of *in = IN(0);
    struct pdnn_value_of *out = OUT(0);
    const bool is_whole = !pdnn_numbers_are_real((int)to);
    double *number;
    struct pdnn_value_of made = *in, known;
    if (!is_whole && !in->is_whole)
        return same(trace, node);
    made.is_whole = is_whole;
    if (is_whole && !in->is_whole && pdnn_numbers_known(in, &known)) {
        struct pdnn_value_of numbers = {.factor = 1, .is_whole = true};
        if (pdnn_strided_shape(trace, &numbers, in->rank, in->dim) &&
            pdnn_numbers_room(trace, &numbers, &number)) {
            for (int64_t k = 0; k < pdnn_strided_elements(in); k++) {
                const double value = pdnn_numbers_at(&known, k);
                number[k] = to == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL ? value != 0 : trunc(value);
            }
            made = numbers;
        } else if (in->kind == PDNN_VALUE_NUMBERS)
            return true;
    }
    if (is_whole && made.kind == PDNN_VALUE_WEIGHT)
        made.tensor = NULL; /* its numbers are no longer those of the tensor */
    *out = made;
    return true;
}

static bool constant(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct Onnx__AttributeProto *attribute =
        node->proto->n_attribute ? node->proto->attribute[0] : NULL;
    struct pdnn_value_of *out = OUT(0);
    double *number;
    *out = (struct pdnn_value_of){.kind = PDNN_VALUE_REFUSED, .factor = 1, .node = node};
    if (attribute && attribute->t)
        return pdnn_numbers_tensor(trace, attribute->t, out);
    const bool is_list = attribute && (attribute->n_ints || attribute->n_floats);
    const int64_t count =
        !is_list ? 1 : (int64_t)(attribute->n_ints ? attribute->n_ints : attribute->n_floats);
    if (!attribute || (!is_list && !attribute->has_i && !attribute->has_f) ||
        !pdnn_strided_shape(trace, out, is_list, &count) || !pdnn_numbers_room(trace, out, &number))
        return true;
    out->is_whole = attribute->n_ints || attribute->has_i;
    for (int64_t k = 0; k < count; k++)
        number[k] = attribute->n_ints     ? (double)attribute->ints[k]
                    : attribute->n_floats ? (double)attribute->floats[k]
                    : attribute->has_i    ? (double)attribute->i
                                          : (double)attribute->f;
    return true;
}

static bool shape(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0);
    struct pdnn_value_of *out = OUT(0);
    double *number;
    int64_t first = pdnn_trace_int(node, "start", 0), end = pdnn_trace_int(node, "end", in->rank);
    first += first < 0 ? in->rank : 0;
    end += end < 0 ? in->rank : 0;
    first = first < 0 ? 0 : first > in->rank ? in->rank : first;
    end = end < 0 ? 0 : end > in->rank ? in->rank : end;
    const int64_t count = end - first;
    if (count < 1 || !pdnn_strided_shape(trace, out, 1, &count) || !pdnn_numbers_room(trace, out, &number))
        return true;
    out->is_whole = true;
    for (int64_t k = 0; k < count; k++)
        number[k] = (double)in->dim[first + k];
    return true;
}

static bool reshape(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0);
    int64_t dim[PDNN_TRACE_RANK], known = 1;
    const int rank = read_list(trace, node, 1, "shape", dim);
    int open = -1;
    for (int d = 0; d < rank; d++) {
        if (dim[d] == 0 && d < in->rank && !pdnn_trace_int(node, "allowzero", 0))
            dim[d] = in->dim[d];
        if (dim[d] == -1)
            open = d;
        else if (dim[d] < 1 || __builtin_mul_overflow(known, dim[d], &known))
            return pdnn_trace_fail(trace, "dimension %d is to be %" PRId64, d, dim[d]);
    }
    if (open >= 0)
        dim[open] = pdnn_strided_elements(in) / known;
    return rank == -1 || (rank >= 0 && pdnn_strided_reshape(trace, in, rank, dim, OUT(0)));
}

static bool flatten(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0);
    int64_t dim[2] = {1, 1}, axis = pdnn_trace_int(node, "axis", 1);
    axis += axis < 0 ? in->rank : 0;
    for (int d = 0; d < in->rank; d++)
        dim[d >= axis] *= in->dim[d];
    return pdnn_strided_reshape(trace, in, 2, dim, OUT(0));
}

static bool squeeze(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0);
    int64_t axes[PDNN_TRACE_RANK], dim[PDNN_TRACE_RANK];
    bool goes[PDNN_TRACE_RANK] = {0};
    const int count = read_list(trace, node, 1, "axes", axes);
    int rank = 0;
    for (int i = 0; i < count; i++) {
        const int axis = read_axis(trace, axes[i], in->rank);
        if (axis < 0 || in->dim[axis] != 1)
            return axis >= 0 &&
                   pdnn_trace_fail(trace, "dimension %d is %" PRId64 ", expected 1", axis, in->dim[axis]);
        goes[axis] = true;
    }
    for (int d = 0; d < in->rank; d++)
        if (count ? !goes[d] : in->dim[d] != 1)
            dim[rank++] = in->dim[d];
    return count == -1 || (count >= 0 && pdnn_strided_reshape(trace, in, rank, dim, OUT(0)));
}

static bool unsqueeze(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0);
    int64_t axes[PDNN_TRACE_RANK], dim[PDNN_TRACE_RANK] = {0};
    const int count = read_list(trace, node, 1, "axes", axes);
    if (count < 0)
        return count == -1;
    const int rank = in->rank + count;
    if (rank > PDNN_TRACE_RANK)
        return pdnn_trace_fail(trace, "%d dimensions, at most %d are read", rank, PDNN_TRACE_RANK);
    for (int i = 0; i < count; i++) {
        const int axis = read_axis(trace, axes[i], rank);
        if (axis < 0 || dim[axis])
            return axis >= 0 && pdnn_trace_fail(trace, "axis %d is there twice", axis);
        dim[axis] = 1;
    }
    for (int d = 0, k = 0; d < rank; d++)
        dim[d] = dim[d] ? 1 : in->dim[k++];
    return pdnn_strided_reshape(trace, in, rank, dim, OUT(0));
}

static bool transpose(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of in = *IN(0);
    struct pdnn_value_of *out = OUT(0);
    bool is_used[PDNN_TRACE_RANK] = {0};
    *out = in;
    struct pdnn_value_of *fine = in.fine ? pdnn_arena_alloc(trace->program.arena, 1, sizeof *fine) : NULL;
    if (fine) {
        *fine = *in.fine;
        fine->rank = 0;
        out->fine = fine;
    }
    for (int d = 0; d < in.rank; d++) {
        const int64_t from = pdnn_trace_item(node, "perm", (size_t)d, in.rank - 1 - d);
        if (from < 0 || from >= in.rank || is_used[from])
            return pdnn_trace_fail(trace, "perm is no order of %d dimensions", in.rank);
        is_used[from] = true;
        out->dim[d] = in.dim[from];
        out->stride[d] = in.stride[from];
        for (int k = 0, at = 0; fine && at < in.fine->rank; k++) { /* the dimensions that make this one */
            for (int64_t left = in.dim[k]; left > 1; left /= in.fine->dim[at++])
                if (k == from) {
                    fine->dim[fine->rank] = in.fine->dim[at];
                    fine->stride[fine->rank++] = in.fine->stride[at];
                }
        }
    }
    return true;
}

static bool expand(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    struct pdnn_value_of in;
    if (!pdnn_strided_plain(trace, IN(0), &in))
        return false;
    struct pdnn_value_of *out = OUT(0), to = {0};
    int64_t dim[PDNN_TRACE_RANK];
    int rank = read_list(trace, node, 1, "shape", dim);
    if (rank < 0)
        return rank == -1;
    if (!pdnn_strided_shape(trace, &to, rank, dim) || !pdnn_strided_broadcast(trace, &in, &to, &rank, dim) ||
        !pdnn_strided_shape(trace, &to, rank, dim))
        return false;
    if (in.kind == PDNN_VALUE_NUMBERS && !pdnn_numbers_are_few(&to))
        return true;
    *out = in;
    out->rank = rank;
    for (int d = rank; d-- > 0;) {
        const int k = d - (rank - in.rank);
        out->dim[d] = dim[d];
        out->stride[d] = k >= 0 && in.dim[k] == dim[d] ? in.stride[k] : 0;
    }
    return true;
}

/* `count` entries of a dimension from `first` on, every `step`-th. */
static bool take(struct pdnn_trace *trace, struct pdnn_value_of *value, int axis, int64_t first,
                 int64_t count, int64_t step) {
    if (first < 0 || count < 1 || first >= value->dim[axis] || count > value->dim[axis] ||
        first + (count - 1) * step >= value->dim[axis] || first + (count - 1) * step < 0)
        return pdnn_trace_fail(trace, "takes %" PRId64 " of %" PRId64 " entries from %" PRId64 " on", count,
                               value->dim[axis], first);
    value->offset += first * value->stride[axis];
    if (count > 1)
        value->stride[axis] *= step;
    value->dim[axis] = count;
    return true;
}

static bool slice(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    int64_t first[PDNN_TRACE_RANK], end[PDNN_TRACE_RANK], axes[PDNN_TRACE_RANK], steps[PDNN_TRACE_RANK];
    const int count = read_list(trace, node, 1, "starts", first),
              ends = read_list(trace, node, 2, "ends", end);
    const int n_axes = read_list(trace, node, 3, "axes", axes),
              n_steps = read_list(trace, node, 4, "steps", steps);
    struct pdnn_value_of made;
    if (!pdnn_strided_plain(trace, IN(0), &made))
        return false;
    if (count < 0 || ends < 0 || n_axes < 0 || n_steps < 0)
        return count != -2 && ends != -2 && n_axes != -2 && n_steps != -2;
    if (ends != count || (n_axes && n_axes != count) || (n_steps && n_steps != count))
        return pdnn_trace_fail(trace, "its lists have different lengths");
    for (int i = 0; i < count; i++) {
        const int axis = read_axis(trace, n_axes ? axes[i] : i, made.rank);
        const int64_t step = n_steps ? steps[i] : 1, size = axis < 0 ? 1 : made.dim[axis];
        if (axis < 0)
            return false;
        if (step == 0 || (step < 0 && made.kind != PDNN_VALUE_NUMBERS))
            return true; /* data backwards: refused if something needs it */
        const int64_t least = step < 0 ? -1 : 0, most = step < 0 ? size - 1 : size;
        int64_t from = first[i] < 0 ? first[i] + size : first[i], to = end[i] < 0 ? end[i] + size : end[i];
        from = from < 0 ? 0 : from > most ? most : from;
        to = to < least ? least : to > size ? size : to;
        const int64_t many = step < 0 ? (from - to - step - 1) / -step : (to - from + step - 1) / step;
        if (many < 1 && made.kind == PDNN_VALUE_NUMBERS && made.rank == 1)
            made.dim[0] = 0; /* an empty list */
        else if (many < 1) { /* nothing, which may be joined with something */
            *OUT(0) = made;
            OUT(0)->kind = PDNN_VALUE_REFUSED;
            OUT(0)->dim[axis] = 0;
            OUT(0)->node = node;
            return true;
        } else if (!take(trace, &made, axis, from, many, step))
            return false;
    }
    *OUT(0) = made;
    return true;
}

static bool split(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    struct pdnn_value_of in;
    if (!pdnn_strided_plain(trace, IN(0), &in))
        return false;
    const size_t parts = node->proto->n_output;
    const int axis = read_axis(trace, pdnn_trace_int(node, "axis", 0), in.rank);
    const struct pdnn_value_of *sizes = IN(1);
    int64_t first = 0;
    if (axis < 0)
        return false;
    if (sizes && (sizes->kind != PDNN_VALUE_NUMBERS || pdnn_strided_elements(sizes) != (int64_t)parts))
        return true;
    const int64_t even = (in.dim[axis] + (int64_t)parts - 1) / (int64_t)parts;
    for (size_t k = 0; k < parts; k++) {
        struct pdnn_value_of *out = OUT(k);
        const int64_t left = in.dim[axis] - first;
        const int64_t size = sizes ? pdnn_numbers_whole(sizes, (int64_t)k)
                                   : pdnn_trace_item(node, "split", k, left < even ? left : even);
        *out = in;
        if (!take(trace, out, axis, first, size, 1))
            return false;
        first += size;
    }
    return true;
}

/* An entry with ids, which are only drawn: a part of an input, as a column for each of several tables, is an
 * input of its own. */
static int32_t ids_entry(struct pdnn_trace *trace, const struct pdnn_value_of *ids) {
    const int64_t count = pdnn_strided_elements(ids);
    const char *input = trace->program.entry[ids->base]->input;
    if (!input || pdnn_strided_covers(trace, ids))
        return pdnn_strided_entry(trace, ids, 1, &count);
    pdnn_draft_add(&trace->program, NULL, NULL, 1, &count)->input = input;
    return trace->program.n_entries - 1;
}

/* Numbers of numbers, or rows of a table by ids. */
static bool gather(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    if (!IN(1))
        return pdnn_trace_fail(trace, "expected two inputs");
    const struct pdnn_value_of ids = *IN(1);
    struct pdnn_value_of in;
    if (!pdnn_strided_plain(trace, IN(0), &in))
        return false;
    struct pdnn_value_of *out = OUT(0), made = in;
    const int axis = read_axis(trace, pdnn_trace_int(node, "axis", 0), in.rank);
    int64_t dim[2 * PDNN_TRACE_RANK];
    int rank = 0;
    if (axis < 0)
        return false;
    for (int d = 0; d < in.rank; d++) {
        for (int k = 0; d == axis && k < ids.rank; k++)
            dim[rank++] = ids.dim[k];
        if (d != axis)
            dim[rank++] = in.dim[d];
    }
    made.offset = 0;
    if (!pdnn_strided_shape(trace, &made, rank, dim))
        return false;
    if (ids.kind == PDNN_VALUE_DATA && (in.kind == PDNN_VALUE_WEIGHT || in.kind == PDNN_VALUE_DATA) &&
        axis == 0 && in.rank == 2) {
        const bool is_table = in.kind == PDNN_VALUE_WEIGHT;
        const int32_t rows = is_table ? -1 : pdnn_strided_rows(trace, &in);
        if (!is_table && rows < 0)
            return false;
        const int32_t from = ids_entry(trace, &ids);
        if (from < 0)
            return false;
        if (!trace->program.entry[from]->op && !trace->program.entry[from]->n_attributes)
            pdnn_draft_size(trace->program.entry[from], is_table ? "zipf" : "class", in.dim[0]);
        struct pdnn_draft_entry *entry =
            pdnn_draft_add(&trace->program, pdnn_op_embedding.name, (int32_t[]){from, rows, -1}, 2,
                           (int64_t[]){pdnn_strided_elements(&ids), in.dim[1]});
        if (is_table) {
            pdnn_draft_size(entry, "rows", in.dim[0]);
            pdnn_draft_size(entry, "out", in.dim[1]);
            pdnn_draft_weight(entry, "x", in.base);
        }
        return pdnn_strided_of(trace, trace->program.n_entries - 1, rank, dim, out);
    }
    if (ids.kind != PDNN_VALUE_NUMBERS && (in.kind != PDNN_VALUE_WEIGHT || ids.kind != PDNN_VALUE_WEIGHT))
        return true;
    if (in.kind == PDNN_VALUE_NUMBERS) {
        double *number;
        int64_t inner = 1;
        for (int d = axis + 1; d < in.rank; d++)
            inner *= in.dim[d];
        const int64_t count = pdnn_strided_elements(&made), many = pdnn_strided_elements(&ids);
        if (!pdnn_numbers_room(trace, &made, &number))
            return true;
        for (int64_t k = 0; k < count; k++) {
            int64_t id;
            if (!read_index(trace, &ids, k / inner % many, in.dim[axis], &id))
                return false;
            number[k] = pdnn_numbers_at(&in, (k / inner / many * in.dim[axis] + id) * inner + k % inner);
        }
        *out = made;
        return true;
    }
    if (in.kind == PDNN_VALUE_WEIGHT) {
        pdnn_strided_take(&in, &ids, axis, &made);
        *out = made;
        return true;
    }
    /* One entry, or several at equal distances. */
    int64_t first = pdnn_numbers_whole(&ids, 0);
    const int64_t many = pdnn_strided_elements(&ids),
                  next = many > 1 ? pdnn_numbers_whole(&ids, 1) - first : 1;
    for (int64_t k = 1; k < many; k++)
        if (next < 1 || next > in.dim[axis] || pdnn_numbers_at(&ids, k) != (double)(first + k * next))
            return true;
    first += first < 0 ? in.dim[axis] : 0;
    struct pdnn_value_of taken = in;
    return take(trace, &taken, axis, first, many, next) &&
           pdnn_strided_reshape(trace, &taken, rank, dim, out);
}

/* Numbers of numbers, each from its own place but for one dimension. */
static bool gather_elements(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0), *ids = IN(1);
    struct pdnn_value_of made = *in;
    const int axis = read_axis(trace, pdnn_trace_int(node, "axis", 0), in->rank);
    double *number;
    if (axis < 0)
        return false;
    if (!ids || ids->rank != in->rank || in->kind != PDNN_VALUE_NUMBERS || ids->kind != PDNN_VALUE_NUMBERS)
        return true;
    for (int d = 0; d < in->rank; d++)
        if (d != axis && ids->dim[d] > in->dim[d])
            return pdnn_trace_fail(trace, "more indices than entries in dimension %d", d);
    if (!pdnn_strided_shape(trace, &made, ids->rank, ids->dim) || !pdnn_numbers_room(trace, &made, &number))
        return true;
    for (int64_t k = 0; k < pdnn_strided_elements(ids); k++) {
        int64_t id, at = 0, left = k, step = 1;
        if (!read_index(trace, ids, k, in->dim[axis], &id))
            return false;
        for (int d = in->rank - 1; d >= 0; left /= ids->dim[d], step *= in->dim[d], d--)
            at += (d == axis ? id : left % ids->dim[d]) * step;
        number[k] = pdnn_numbers_at(in, at);
    }
    *OUT(0) = made;
    return true;
}

static bool constant_of_shape(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct Onnx__AttributeProto *attribute = pdnn_trace_attribute(node, "value");
    int64_t dim[PDNN_TRACE_RANK];
    const int rank = read_list(trace, node, 0, "", dim);
    struct pdnn_value_of *out = OUT(0), one = {.factor = 1};
    double *number;
    if (rank < 0)
        return rank == -1;
    if (attribute && attribute->t && !pdnn_numbers_tensor(trace, attribute->t, &one))
        return false;
    if (!pdnn_strided_shape(trace, out, 0, NULL) || !pdnn_numbers_room(trace, out, &number))
        return true;
    number[0] = attribute && attribute->t && one.kind == PDNN_VALUE_NUMBERS ? pdnn_numbers_at(&one, 0) : 0;
    out->is_whole = one.is_whole;
    if (!pdnn_strided_shape(trace, out, rank, dim))
        return false;
    if (!pdnn_numbers_are_few(out))
        out->kind = PDNN_VALUE_REFUSED;
    memset(out->stride, 0, sizeof out->stride);
    return true;
}

static bool range(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    double first, end, step, *number;
    struct pdnn_value_of *out = OUT(0);
    if (!pdnn_numbers_scalar(IN(0), &first) || !pdnn_numbers_scalar(IN(1), &end) ||
        !pdnn_numbers_scalar(IN(2), &step) || step == 0)
        return true;
    const double many = ceil((end - first) / step);
    const int64_t count = many >= 1 && many <= PDNN_TRACE_NUMBERS ? (int64_t)many : 0;
    if (!count || !pdnn_strided_shape(trace, out, 1, &count) || !pdnn_numbers_room(trace, out, &number))
        return true;
    out->is_whole = IN(0)->is_whole;
    for (int64_t k = 0; k < count; k++)
        number[k] = first + (double)k * step;
    return true;
}

/* A part of a result of numbers. */
static void copy_part(const struct pdnn_value_of *part, const struct pdnn_value_of *whole, int axis,
                      int64_t first, double *number) {
    int64_t inner = 1;
    for (int d = axis + 1; d < whole->rank; d++)
        inner *= whole->dim[d];
    const int64_t run = part->dim[axis] * inner;
    for (int64_t k = 0; k < pdnn_strided_elements(part); k++)
        number[(k / run * whole->dim[axis] + first) * inner + k % run] = pdnn_numbers_at(part, k);
}

/* The inputs are those that have elements. */
static bool concat_data(struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                        const struct pdnn_value_of *const *in, size_t count, int axis,
                        const struct pdnn_value_of *made) {
    static const char *const along[] = {"rows", "columns", "height", "width"};
    int32_t from[PDNN_NODE_INPUTS + 1];
    if (made->rank > 4 && axis < made->rank - 1)
        return pdnn_trace_fail(trace, "joins %d dimensions, at most 4 are read", made->rank);
    if (pdnn_products_together(trace, in, count, axis, OUT(0)))
        return true;
    for (size_t k = 0; k < count; k++) {
        struct pdnn_value_of data = *in[k];
        if (in[k]->kind == PDNN_VALUE_WEIGHT &&
            !pdnn_strided_table(trace, in[k], in[k]->rank, in[k]->dim, &data))
            return false;
        from[k] = axis == made->rank - 1 && made->rank != 4
                      ? pdnn_strided_rows(trace, &data)
                      : pdnn_strided_entry(trace, &data, in[k]->rank, in[k]->dim);
        if (from[k] < 0)
            return false;
    }
    from[count] = -1;
    const struct pdnn_draft_entry *first = trace->program.entry[from[0]];
    const int at = axis == made->rank - 1 && made->rank != 4 ? first->rank - 1 : axis;
    int64_t dim[PDNN_TRACE_RANK];
    memcpy(dim, first->dim, (size_t)first->rank * sizeof *dim);
    dim[at] = made->dim[axis];
    struct pdnn_draft_entry *entry = pdnn_draft_add(&trace->program, "concat", from, first->rank, dim);
    if (at != 1)
        pdnn_draft_word(entry, "along", along[at]);
    return pdnn_strided_of(trace, trace->program.n_entries - 1, made->rank, made->dim, OUT(0));
}

static bool concat(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    struct pdnn_value_of made = {.factor = 1, .is_whole = true};
    const struct pdnn_value_of **parts =
        pdnn_arena_alloc(trace->program.arena, node->proto->n_input, sizeof *parts);
    bool is_constant = true, has_data = false, has_numbers = false;
    int axis = -1;
    int64_t size = 0, dim[PDNN_TRACE_RANK];
    size_t count = 0;
    double *number;
    for (size_t k = 0; k < node->proto->n_input; k++) {
        const struct pdnn_value_of *in = IN(k), *first = count ? parts[0] : in;
        if (!in || pdnn_strided_elements(in) == 0)
            continue;
        axis = read_axis(trace, pdnn_trace_int(node, "axis", 0), in->rank);
        if (axis < 0)
            return false;
        bool fits = in->rank == first->rank;
        for (int d = 0; d < in->rank && fits; d++)
            fits = d == axis || in->dim[d] == first->dim[d];
        if (!fits)
            return pdnn_trace_fail(trace, "input %zu differs in more than dimension %d", k, axis);
        parts[count++] = in;
        size += in->dim[axis];
        has_data = has_data || (in->kind != PDNN_VALUE_NUMBERS && in->kind != PDNN_VALUE_WEIGHT);
        has_numbers = has_numbers || in->kind == PDNN_VALUE_NUMBERS;
        is_constant = is_constant && in->kind == PDNN_VALUE_NUMBERS;
        made.is_whole = made.is_whole && in->is_whole;
    }
    if (count < 2) {
        if (count)
            *OUT(0) = *parts[0];
        return true;
    }
    memcpy(dim, parts[0]->dim, sizeof dim);
    dim[axis] = size;
    if (!pdnn_strided_shape(trace, &made, parts[0]->rank, dim))
        return false;
    if (!is_constant && !has_data && has_numbers) { /* of constants alone: no work of a step */
        made.kind = PDNN_VALUE_WEIGHT;
        for (size_t k = count; k-- > 0;)
            made.base = parts[k]->kind == PDNN_VALUE_WEIGHT ? parts[k]->base : made.base;
        *OUT(0) = made;
        return true;
    }
    if (!is_constant)
        return count > PDNN_NODE_INPUTS
                   ? pdnn_trace_fail(trace, "%zu inputs, at most %d are read", count, PDNN_NODE_INPUTS)
                   : concat_data(trace, node, parts, count, axis, &made);
    if (!pdnn_numbers_room(trace, &made, &number))
        return true;
    size = 0;
    for (size_t k = 0; k < count; size += parts[k++]->dim[axis])
        copy_part(parts[k], &made, axis, size, number);
    *OUT(0) = made;
    return true;
}

/* The lower or upper triangle of numbers. */
static bool trilu(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0);
    struct pdnn_value_of *out = OUT(0), made = *in;
    double by = 0, *number;
    if (in->kind != PDNN_VALUE_NUMBERS || in->rank < 2 || (IN(1) && !pdnn_numbers_scalar(IN(1), &by)) ||
        !pdnn_strided_shape(trace, &made, in->rank, in->dim) ||
        !(pdnn_numbers_are_by_diagonal(in, in->rank, in->dim) ? pdnn_numbers_band
                                                              : pdnn_numbers_room)(trace, &made, &number))
        return true;
    const int64_t columns = in->dim[in->rank - 1], rows = in->dim[in->rank - 2];
    const bool is_upper = pdnn_trace_int(node, "upper", 1) != 0;
    for (int64_t i = 0, count = pdnn_numbers_different(&made); i < count; i++) {
        const int64_t k = pdnn_numbers_place(&made, i);
        const double right = (double)(k % columns - k / columns % rows) - by;
        number[i] = (is_upper ? right >= 0 : right <= 0) ? pdnn_numbers_at(in, k) : 0;
    }
    *out = made;
    return true;
}

/* Numbers in the place of some of others, as of masks that a program fills piece by piece. */
static bool scatter(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_value_of *in = IN(0), *ids = IN(1), *with = IN(2);
    struct pdnn_value_of made = *in;
    double *number;
    if (!ids || !with || in->kind != PDNN_VALUE_NUMBERS || ids->kind != PDNN_VALUE_NUMBERS ||
        with->kind != PDNN_VALUE_NUMBERS)
        return true;
    const int64_t depth = ids->rank ? ids->dim[ids->rank - 1] : 0;
    const int64_t count = depth > 0 ? pdnn_strided_elements(ids) / depth : 0,
                  size = count ? pdnn_strided_elements(with) / count : 0;
    int64_t inner = 1;
    for (int d = (int)depth; d < in->rank; d++)
        inner *= in->dim[d];
    if (depth < 1 || depth > in->rank || size != inner || size * count != pdnn_strided_elements(with))
        return pdnn_trace_fail(trace, "indices and updates that do not go together");
    if (!pdnn_strided_shape(trace, &made, in->rank, in->dim) || !pdnn_numbers_room(trace, &made, &number))
        return true;
    copy_part(in, &made, 0, 0, number);
    for (int64_t k = 0; k < count; k++) {
        int64_t at = 0;
        for (int64_t d = 0; d < depth; d++) {
            int64_t id;
            if (!read_index(trace, ids, k * depth + d, in->dim[d], &id))
                return false;
            at = at * in->dim[d] + id;
        }
        for (int64_t i = 0; i < size; i++)
            number[at * inner + i] = pdnn_numbers_at(with, k * size + i);
    }
    *OUT(0) = made;
    return true;
}

/* Without inputs that something else than a shape comes from, dropout is nothing. */
static bool dropout(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    double ratio = pdnn_trace_real(node, "ratio", 0.5), training = 0;
    if (IN(1))
        pdnn_numbers_scalar(IN(1), &ratio);
    if (IN(2))
        pdnn_numbers_scalar(IN(2), &training);
    *OUT(0) = *IN(0);
    if (training == 0 || IN(0)->kind != PDNN_VALUE_DATA || !(ratio > 0))
        return true;
    const int32_t from = pdnn_strided_entry(trace, IN(0), 0, NULL);
    if (from < 0)
        return false;
    const struct pdnn_draft_entry *x = trace->program.entry[from];
    pdnn_draft_size(pdnn_draft_add(&trace->program, "dropout", (int32_t[]){from, -1}, x->rank, x->dim),
                    "percent", (int64_t)rint(ratio < 0.99 ? ratio * 100 : 99));
    return pdnn_strided_of(trace, trace->program.n_entries - 1, IN(0)->rank, IN(0)->dim, OUT(0));
}

const struct pdnn_trace_row pdnn_trace_structure[] = {
    {"Identity", same, true},
    {"Dropout", dropout, false},
    {"Cast", cast, true},
    {"Constant", constant, false},
    {"ConstantOfShape", constant_of_shape, false},
    {"Range", range, false},
    {"Shape", shape, true},
    {"Reshape", reshape, true},
    {"Flatten", flatten, true},
    {"Squeeze", squeeze, true},
    {"Unsqueeze", unsqueeze, true},
    {"Transpose", transpose, true},
    {"Expand", expand, true},
    {"Slice", slice, false},
    {"Split", split, false},
    {"Gather", gather, false},
    {"GatherElements", gather_elements, false},
    {"Concat", concat, false},
    {"Trilu", trilu, false},
    {"ScatterND", scatter, false},
    {0},
};
