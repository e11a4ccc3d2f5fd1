#include "gen/onnx/step.h"

#include "base/str.h"
#include "models/rearrange.h"

#include <inttypes.h>
#include <string.h>

enum { KEPT = 3 }; /* dimensions of rows that stay as they lie in memory */

static int64_t base_elements(const struct pdnn_trace *trace, const struct pdnn_value_of *value) {
    return value->kind == PDNN_VALUE_DATA ? pdnn_draft_elements(trace->program.entry[value->base])
                                          : pdnn_strided_elements(value);
}

static bool follows_each_other(const struct pdnn_value_of *value) {
    int64_t elements = 1;
    for (int d = value->rank; d-- > 0;) {
        if (value->dim[d] != 1 && value->stride[d] != elements)
            return false;
        elements *= value->dim[d];
    }
    return true;
}

struct pdnn_value_of pdnn_strided_fine(const struct pdnn_value_of *value) {
    struct pdnn_value_of plain = *value;
    if (!value->fine)
        return plain;
    plain.rank = value->fine->rank;
    plain.offset = value->fine->offset;
    memcpy(plain.dim, value->fine->dim, sizeof plain.dim);
    memcpy(plain.stride, value->fine->stride, sizeof plain.stride);
    plain.fine = NULL;
    return plain;
}

bool pdnn_strided_is_compact(const struct pdnn_trace *trace, const struct pdnn_value_of *of) {
    const struct pdnn_value_of fine = pdnn_strided_fine(of), *value = &fine;
    return follows_each_other(value) && !value->offset &&
           pdnn_strided_elements(value) == base_elements(trace, value);
}

/* The dimensions of more than one element, by falling stride; returns how many. */
static int by_stride(const struct pdnn_value_of *value, int order[PDNN_TRACE_RANK]) {
    int count = 0;
    for (int d = 0; d < value->rank; d++) {
        int at = count;
        if (value->dim[d] == 1)
            continue;
        for (; at > 0 && value->stride[order[at - 1]] < value->stride[d]; at--)
            order[at] = order[at - 1];
        order[at] = d;
        count++;
    }
    return count;
}

bool pdnn_strided_covers(const struct pdnn_trace *trace, const struct pdnn_value_of *of) {
    const struct pdnn_value_of fine = pdnn_strided_fine(of), *value = &fine;
    int order[PDNN_TRACE_RANK];
    int64_t elements = 1;
    for (int i = by_stride(value, order); i-- > 0; elements *= value->dim[order[i]])
        if (value->stride[order[i]] != elements)
            return false;
    return !value->offset && elements == base_elements(trace, value);
}

bool pdnn_strided_of(struct pdnn_trace *trace, int32_t entry, int rank, const int64_t *dim,
                     struct pdnn_value_of *result) {
    *result =
        (struct pdnn_value_of){.kind = PDNN_VALUE_DATA, .base = entry, .factor = 1, .node = trace->node};
    return pdnn_strided_shape(trace, result, rank, dim);
}

/* Axes of a pattern: their sizes, and in which dimension they are on each side. */
struct axes {
    int count;
    int64_t size[2 * PDNN_TRACE_RANK];
    int order[2 * PDNN_TRACE_RANK]; /* order[k] is axis k of the result */
};

/* How many of the axes from `first` on, taken in that order, make the size; 0: none do. */
static int group(const struct axes *axes, const int *order, int first, int64_t size) {
    int64_t product = 1;
    int k = first;
    while (k < axes->count && product < size)
        product *= axes->size[order ? order[k++] : k++];
    return product == size ? k - first : 0;
}

/* Appends one side of a pattern: letters in groups. False if the axes do not make the dimensions. */
static bool say_side(struct pdnn_str *text, const struct axes *axes, const int *order, int rank,
                     const int64_t *dim) {
    int at = 0;
    for (int d = 0; d < rank; d++) {
        const int count = dim[d] == 1 ? 0 : group(axes, order, at, dim[d]);
        pdnn_str_append(text, " ", d > 0);
        if (dim[d] == 1)
            pdnn_str_append(text, "1", 1);
        else if (!count)
            return false;
        pdnn_str_append(text, "(", count > 1);
        for (int k = 0; k < count; k++, at++)
            pdnn_str_printf(text, "%s%c", k ? " " : "", 'a' + (order ? order[at] : at));
        pdnn_str_append(text, ")", count > 1);
    }
    return at == axes->count;
}

/* Splits axes where dimensions begin that they, in the order of one side, make. False if sizes do not divide.
 */
static bool split(struct axes *axes, bool in_result, int rank, const int64_t *dim) {
    for (int d = 0, at = 0; d < rank; d++)
        for (int64_t left = dim[d]; left > 1; at++) {
            const int axis = at < axes->count && in_result ? axes->order[at] : at;
            if (at == axes->count || axes->count == 2 * PDNN_TRACE_RANK)
                return false;
            const int64_t size = axes->size[axis];
            if (size <= left && left % size == 0) {
                left /= size;
                continue;
            }
            if (size % left || size < left)
                return false;
            memmove(axes->size + axis + 1, axes->size + axis,
                    (size_t)(axes->count - axis) * sizeof *axes->size);
            axes->size[axis] = left;
            axes->size[axis + 1] = size / left;
            int place = 0;
            for (int k = 0; k < axes->count; k++) {
                place = axes->order[k] == axis ? k : place;
                axes->order[k] += axes->order[k] > axis;
            }
            memmove(axes->order + place + 1, axes->order + place,
                    (size_t)(axes->count - place) * sizeof *axes->order);
            axes->order[place + 1] = axis + 1;
            axes->count++;
            left = 1;
        }
    return true;
}

/* An entry that rearranges another one's result by these axes, into these dimensions; -1 without a message if
 * the axes do not make both sides. */
static int32_t rearrange(struct pdnn_trace *trace, int32_t base, const struct axes *axes, int rank,
                         const int64_t *dim) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    struct pdnn_draft *program = &trace->program;
    const struct pdnn_draft_entry *from = program->entry[base];
    struct pdnn_str text = {0};
    int32_t made = -1;
    if (axes->count > PDNN_AXES || rank > PDNN_RANK_MAX)
        return -1;
    if (say_side(&text, axes, NULL, from->rank, from->dim)) {
        pdnn_str_printf(&text, " -> ");
        if (say_side(&text, axes, axes->order, rank, dim)) {
            made = program->n_entries;
            struct pdnn_draft_entry *entry =
                pdnn_draft_add(program, "rearrange", (int32_t[]){base, -1}, rank, dim);
            pdnn_draft_word(entry, "pattern", pdnn_arena_strdup(program->arena, pdnn_str_text(&text)));
            for (int d = 0, axis = 0; d < from->rank; d++) {
                const int count = from->dim[d] == 1 ? 0 : group(axes, NULL, axis, from->dim[d]);
                for (int k = 1; k < count; k++) /* the first one's follows */
                    pdnn_draft_size(entry, names[axis + k], axes->size[axis + k]);
                axis += count;
            }
        }
    }
    pdnn_str_finish(&text);
    return made;
}

/* The same elements in the same order in other dimensions: an entry that was made before, or a new one. */
static int32_t reform(struct pdnn_trace *trace, int32_t base, int rank, const int64_t *dim) {
    const struct pdnn_draft_entry *from = trace->program.entry[base];
    struct axes axes = {0};
    if (from->rank == rank && memcmp(from->dim, dim, (size_t)rank * sizeof *dim) == 0)
        return base;
    for (int32_t i = base + 1; i < trace->program.n_entries; i++) {
        const struct pdnn_draft_entry *other = trace->program.entry[i];
        const struct pdnn_draft_attribute *pattern =
            other->op && other->from[0] == base ? pdnn_draft_find(other, "pattern") : NULL;
        /* In order: the letters of the result are those of the source. */
        if (!pattern || other->rank != rank || memcmp(other->dim, dim, (size_t)rank * sizeof *dim) != 0)
            continue;
        char last = 'a' - 1;
        const char *letter = strstr(pattern->word, "->");
        while (*letter && (*letter < 'a' || *letter > 'f' || *letter == last + 1))
            last = *letter >= 'a' && *letter <= 'f' ? *letter : last, letter++;
        if (!*letter)
            return i;
    }
    int64_t left = 1, right = 1;
    for (int i = 0, j = 0; (i < from->rank || j < rank || left > 1) && axes.count < PDNN_AXES;) {
        if (left == 1 && i < from->rank)
            left = from->dim[i++];
        if (right == 1 && j < rank)
            right = dim[j++];
        const int64_t size = left == 1 ? right : right == 1 ? left : left < right ? left : right;
        if (left == 1 || right == 1) {
            if (size == 1)
                continue;
            if ((left == 1 && i < from->rank) || (right == 1 && j < rank))
                continue;
        }
        if (left % size || right % size)
            break;
        axes.order[axes.count] = axes.count;
        axes.size[axes.count++] = size;
        left /= size;
        right /= size;
    }
    int32_t made = rearrange(trace, base, &axes, rank, dim);
    if (made < 0 && from->rank != 1 &&
        rank != 1) { /* sizes that do not divide each other: by way of one row */
        const int64_t all = pdnn_draft_elements(from);
        const int32_t row = reform(trace, base, 1, &all);
        return row < 0 ? row : reform(trace, row, rank, dim);
    }
    if (made < 0)
        pdnn_trace_fail(trace, "its shape takes more than %d axes to rearrange", PDNN_AXES);
    return made;
}

/* The base as nested dimensions, from slowest to fastest: what the view takes of each, and where it has it.
 */
struct nest {
    int count;
    struct {
        int64_t full, size, first;
        int dim; /* of the value; -1: none */
    } of[PDNN_TRACE_RANK + 1];
};

static bool find_nest(const struct pdnn_trace *trace, const struct pdnn_value_of *value, struct nest *nest) {
    int order[PDNN_TRACE_RANK];
    int64_t above = base_elements(trace, value), offset = value->offset;
    nest->count = 0;
    for (int i = 0, count = by_stride(value, order); i <= count; i++) {
        const int64_t stride = i < count ? value->stride[order[i]] : 1;
        if (i == count && above == 1)
            break;
        if (stride < 1 || above % stride)
            return false;
        nest->of[nest->count].full = above / stride;
        nest->of[nest->count].size = i < count ? value->dim[order[i]] : 1;
        nest->of[nest->count].first = offset / stride;
        nest->of[nest->count].dim = i < count ? order[i] : -1;
        if (nest->of[nest->count].first + nest->of[nest->count].size > nest->of[nest->count].full)
            return false;
        nest->count++;
        offset %= stride;
        above = stride;
    }
    return true;
}

/* Takes what the view has of nested dimension i. */
static int32_t slice(struct pdnn_trace *trace, int32_t base, const struct nest *nest, int i) {
    static const char *const along[] = {"rows", "columns", "height", "width"};
    const struct pdnn_draft_entry *from = trace->program.entry[base];
    int64_t before = 1, behind = 1, dim[PDNN_RANK_MAX], product = 1;
    int at = 0, rank = 0;
    for (int k = 0; k < nest->count; k++)
        *(k < i ? &before : k > i ? &behind : &product) *= k < i ? nest->of[k].size : nest->of[k].full;
    product = 1;
    while (at < from->rank && (product != before || from->dim[at] == 1))
        product *= from->dim[at++];
    if (product != before || at >= from->rank || at > 3 || from->dim[at] != nest->of[i].full) {
        at = before > 1;
        dim[0] = before;
        dim[at] = nest->of[i].full;
        dim[at + 1] = behind;
        rank = at + 1 + (behind > 1 || at == 0);
        base = reform(trace, base, rank, dim);
        if (base < 0)
            return base;
        from = trace->program.entry[base];
    }
    memcpy(dim, from->dim, sizeof dim);
    dim[at] = nest->of[i].size;
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, "slice", (int32_t[]){base, -1}, from->rank, dim);
    if (nest->of[i].first)
        pdnn_draft_size(entry, "first", nest->of[i].first);
    pdnn_draft_size(entry, along[at], nest->of[i].size);
    return trace->program.n_entries - 1;
}

/* Data in one piece, by one entry or more. */
static int32_t gather(struct pdnn_trace *trace, const struct pdnn_value_of *value, int rank,
                      const int64_t *dim) {
    struct nest nest;
    struct axes axes = {0};
    int32_t base = value->base;
    int64_t merged[2 * PDNN_TRACE_RANK];
    if (!find_nest(trace, value, &nest)) {
        pdnn_trace_fail(trace, "reads elements that no slice of its input is");
        return -1;
    }
    for (int i = 0; i < nest.count && base >= 0; i++)
        if (nest.of[i].size < nest.of[i].full)
            base = slice(trace, base, &nest, i);
    for (int i = 0; i < nest.count; i++)
        if (nest.of[i].dim >= 0)
            axes.size[axes.count++] = nest.of[i].size;
    bool in_order = true;
    for (int d = 0, k = 0; d < value->rank; d++) {
        int axis = 0, i = 0;
        for (; i < nest.count && nest.of[i].dim != d; i++)
            axis += nest.of[i].dim >= 0;
        if (i == nest.count)
            continue;
        axes.order[k] = axis;
        in_order = in_order && axis == k;
        merged[k++] = value->dim[d];
    }
    if (base < 0 || in_order)
        return base < 0 ? base : reform(trace, base, rank, dim);
    struct axes finer = axes;
    const struct pdnn_draft_entry *from = trace->program.entry[base];
    int32_t made = split(&finer, false, from->rank, from->dim) && split(&finer, true, rank, dim)
                       ? rearrange(trace, base, &finer, rank, dim)
                       : -1;
    if (made < 0) {
        made = rearrange(trace, base, &axes, axes.count, merged);
        if (made < 0) {
            base = reform(trace, base, 1, (int64_t[]){pdnn_draft_elements(trace->program.entry[base])});
            made = base < 0 ? base : rearrange(trace, base, &axes, axes.count, merged);
        }
        if (made >= 0)
            return reform(trace, made, rank, dim);
        pdnn_trace_fail(trace, "rearranges %d axes, at most %d are read", axes.count, PDNN_AXES);
    }
    return made;
}

int32_t pdnn_strided_entry(struct pdnn_trace *trace, const struct pdnn_value_of *value, int rank,
                           const int64_t *dim) {
    int64_t rows[2] = {1, value->rank ? value->dim[value->rank - 1] : 1};
    int32_t entry = -1;
    for (int d = 0; d + 1 < value->rank; d++)
        rows[0] *= value->dim[d];
    if (value->kind != PDNN_VALUE_DATA) {
        pdnn_trace_fail(trace, "expected data, its input is constant");
        return -1;
    }
    const struct pdnn_value_of fine = pdnn_strided_fine(value);
    const bool is_compact = pdnn_strided_is_compact(trace, value);
    if (!rank && is_compact) {
        entry = value->base;
    } else {
        if (!rank) {
            const bool is_plain = value->rank == 4 || value->rank == 2;
            rank = is_plain ? value->rank : 2;
            dim = is_plain ? value->dim : rows;
        }
        entry = is_compact ? reform(trace, value->base, rank, dim) : gather(trace, &fine, rank, dim);
    }
    if (entry < 0 || value->factor == 1)
        return entry;
    const struct pdnn_draft_entry *from = trace->program.entry[entry];
    pdnn_draft_real(pdnn_draft_add(&trace->program, "scale", (int32_t[]){entry, -1}, from->rank, from->dim),
                    "factor", value->factor);
    return trace->program.n_entries - 1;
}

int32_t pdnn_strided_rows(struct pdnn_trace *trace, const struct pdnn_value_of *value) {
    const int64_t columns = value->rank ? value->dim[value->rank - 1] : 1;
    return pdnn_strided_entry(trace, value, 2, (int64_t[]){pdnn_strided_elements(value) / columns, columns});
}

/* Whether strides allow the shape, which has as many elements: then the result has them. */
static bool keeps_strides(const struct pdnn_value_of *value, int rank, const int64_t *dim,
                          struct pdnn_value_of *result) {
    int from[PDNN_TRACE_RANK], count = 0, i = 0;
    for (int d = 0; d < value->rank; d++)
        if (value->dim[d] != 1)
            from[count++] = d;
    *result = *value;
    result->rank = rank;
    for (int d = 0; d < rank; d++) {
        result->dim[d] = dim[d];
        result->stride[d] = 1;
    }
    for (int d = 0; d < rank;) {
        int64_t left, right = dim[d];
        int i1 = i + 1, d1 = d + 1;
        if (dim[d] == 1) {
            d++;
            continue;
        }
        for (left = value->dim[from[i]]; left != right;) {
            if (left < right)
                left *= value->dim[from[i1++]];
            else
                right *= dim[d1++];
        }
        for (int k = i; k + 1 < i1; k++)
            if (value->stride[from[k]] != value->dim[from[k + 1]] * value->stride[from[k + 1]])
                return false;
        int64_t stride = value->stride[from[i1 - 1]];
        for (int k = d1; k-- > d; stride *= dim[k])
            result->stride[k] = stride;
        i = i1;
        d = d1;
    }
    return true;
}

/* Whether dimensions of both shapes make finer ones: then the result has these, and the shape. */
static bool refine(struct pdnn_trace *trace, const struct pdnn_value_of *value,
                   const struct pdnn_value_of *shape, struct pdnn_value_of *result) {
    struct pdnn_value_of *fine = pdnn_arena_alloc(trace->program.arena, 1, sizeof *fine);
    int64_t left = 1, right = 1;
    int i = 0, j = 0;
    *fine = *value;
    fine->rank = 0;
    for (;;) {
        while (left == 1 && i < value->rank)
            left = value->dim[i++];
        while (right == 1 && j < shape->rank)
            right = shape->dim[j++];
        const int64_t size = left < right ? left : right;
        if (left == 1 && right == 1)
            break;
        if (left % size || right % size || fine->rank == PDNN_TRACE_RANK)
            return false;
        left /= size;
        right /= size;
        fine->dim[fine->rank] = size;
        fine->stride[fine->rank++] = value->stride[i - 1] * left;
    }
    *result = *shape;
    result->fine = fine;
    return true;
}

bool pdnn_strided_reshape(struct pdnn_trace *trace, const struct pdnn_value_of *of, int rank,
                          const int64_t *dim, struct pdnn_value_of *result) {
    const struct pdnn_value_of value = pdnn_strided_fine(of);
    struct pdnn_value_of shape = value;
    if (!pdnn_strided_shape(trace, &shape, rank, dim))
        return false;
    if (pdnn_strided_elements(&shape) != pdnn_strided_elements(&value))
        return pdnn_trace_fail(trace, "%" PRId64 " elements do not become %" PRId64,
                               pdnn_strided_elements(&value), pdnn_strided_elements(&shape));
    if (value.kind != PDNN_VALUE_FORMULA && keeps_strides(&value, rank, dim, result))
        return true;
    if (value.kind == PDNN_VALUE_WEIGHT || value.kind == PDNN_VALUE_FORMULA) {
        shape.tensor = NULL;
        *result = shape;
        return true;
    }
    struct pdnn_value_of whole = shape;
    if (value.kind == PDNN_VALUE_NUMBERS)
        return pdnn_numbers_compact(trace, &value, &whole) && keeps_strides(&whole, rank, dim, result);
    if (refine(trace, &value, &shape, result))
        return true;
    whole.base = pdnn_strided_entry(trace, &value, 0, NULL);
    whole.factor = 1;
    *result = whole;
    return whole.base >= 0;
}

bool pdnn_strided_plain(struct pdnn_trace *trace, const struct pdnn_value_of *value,
                        struct pdnn_value_of *result) {
    *result = *value;
    if (!value->fine)
        return true;
    const int32_t entry = pdnn_strided_entry(trace, value, 0, NULL);
    return entry >= 0 && pdnn_strided_of(trace, entry, value->rank, value->dim, result);
}

bool pdnn_strided_take_rows(struct pdnn_trace *trace, const struct pdnn_value_of *value, int32_t *from,
                            struct pdnn_value_of *rows) {
    const int64_t columns = value->rank ? value->dim[value->rank - 1] : 1, all = pdnn_strided_elements(value);
    int64_t product = 1;
    *rows = pdnn_strided_fine(value);
    int k = rows->rank;
    bool is_kept = value->kind == PDNN_VALUE_DATA && value->factor == 1 && pdnn_strided_covers(trace, value);
    while (k > 0 && product < columns) {
        k--;
        is_kept = is_kept && (rows->dim[k] == 1 || rows->stride[k] == product);
        product *= rows->dim[k];
    }
    is_kept = is_kept && product == columns &&
              k <= KEPT; /* windows are taken apart once, not by each that reads them */
    for (int d = 0; d < k; d++)
        is_kept = is_kept && (rows->dim[d] == 1 || rows->stride[d] % columns == 0);
    if (!is_kept) {
        *from = pdnn_strided_rows(trace, value);
        return *from >= 0 && pdnn_strided_of(trace, *from, 2, (int64_t[]){all / columns, columns}, rows);
    }
    rows->rank = k + 1;
    rows->dim[k] = columns;
    rows->stride[k] = 1;
    *from = reform(trace, value->base, 2, (int64_t[]){all / columns, columns});
    return *from >= 0;
}

bool pdnn_strided_give_rows(struct pdnn_trace *trace, const struct pdnn_value_of *rows, int32_t entry,
                            int64_t columns, int rank, const int64_t *dim, struct pdnn_value_of *result) {
    struct pdnn_value_of made = *rows;
    const int last = rows->rank - 1;
    made.base = entry;
    made.factor = 1;
    made.node = trace->node;
    for (int d = 0; d < last; d++)
        made.stride[d] = rows->stride[d] / rows->dim[last] * columns;
    made.dim[last] = columns;
    return pdnn_strided_reshape(trace, &made, rank, dim, result);
}

bool pdnn_strided_table(struct pdnn_trace *trace, const struct pdnn_value_of *weight, int rank,
                        const int64_t *dim, struct pdnn_value_of *result) {
    const struct Onnx__TensorProto *root = trace->onnx->graph->initializer[weight->base];
    const int64_t columns = rank ? dim[rank - 1] : 1;
    int64_t all = 1, rows = 1, places = 1;
    for (size_t d = 0; d < root->n_dims; d++)
        all *= root->dims[d];
    for (int d = 0; d + 1 < rank; d++)
        rows *= dim[d];
    for (int d = 0; d + 1 < weight->rank; d++)
        places *= weight->stride[d] ? weight->dim[d] : 1; /* not those that Expand repeats */
    if (!weight->rank || weight->dim[weight->rank - 1] != columns || all % columns)
        return pdnn_trace_fail(trace, "a weight of %" PRId64 " values meets data of %" PRId64 " columns", all,
                               columns);
    struct pdnn_draft_entry *ids = pdnn_draft_add(&trace->program, NULL, NULL, 1, &rows);
    ids->input = places > 1 ? "positions" : "zeros";
    pdnn_draft_size(ids, places > 1 ? "position" : "class", places > 1 ? places : 1);
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, "embedding", (int32_t[]){trace->program.n_entries - 1, -1}, 2,
                       (int64_t[]){rows, columns});
    pdnn_draft_size(entry, "rows", all / columns);
    pdnn_draft_size(entry, "out", columns);
    pdnn_draft_weight(entry, "x", weight->base);
    return pdnn_strided_of(trace, trace->program.n_entries - 1, rank, dim, result);
}

/* Whether whole numbers depend on where they are along a dimension. */
static bool vary_along(const struct pdnn_value_of *ids, int d) {
    int64_t step = 1;
    for (int k = d + 1; k < ids->rank; k++)
        step *= ids->dim[k];
    for (int64_t k = 0; ids->stride[d] && k < pdnn_strided_elements(ids); k++)
        if (pdnn_numbers_whole(ids, k) != pdnn_numbers_whole(ids, k - k / step % ids->dim[d] * step))
            return true;
    return false;
}

/* Entries of a weight by ids that rise by equal steps in each dimension, so that it stays a view: of
 * positions, say. False if they do not. */
static bool take_steps(const struct pdnn_value_of *in, const struct pdnn_value_of *ids, int axis,
                       struct pdnn_value_of *made) {
    const int64_t first = pdnn_numbers_whole(ids, 0), count = pdnn_strided_elements(ids);
    int64_t step[PDNN_TRACE_RANK] = {0}, inner = 1;
    for (int64_t k = 0; k < count; k++)
        if (in->dim[axis] > 1 << 24 || pdnn_numbers_whole(ids, k) < 0 ||
            pdnn_numbers_whole(ids, k) >= in->dim[axis])
            return false;
    for (int d = ids->rank; d-- > 0; inner *= ids->dim[d])
        step[d] = ids->dim[d] > 1 ? pdnn_numbers_whole(ids, inner) - first : 0;
    for (int64_t k = 0; k < count; k++) {
        int64_t expected = first, left = k;
        for (int d = ids->rank; d-- > 0; left /= ids->dim[d])
            expected += left % ids->dim[d] * step[d];
        if (pdnn_numbers_whole(ids, k) != expected)
            return false;
    }
    for (int d = 0; d < made->rank; d++) {
        const int k = d - axis;
        made->stride[d] = k < 0           ? in->stride[d]
                          : k < ids->rank ? in->stride[axis] * step[k]
                                          : in->stride[d - ids->rank + 1];
    }
    made->offset = in->offset + first * in->stride[axis];
    return true;
}

void pdnn_strided_take(const struct pdnn_value_of *in, const struct pdnn_value_of *ids, int axis,
                       struct pdnn_value_of *made) {
    const bool are_known = ids->kind == PDNN_VALUE_NUMBERS;
    if (are_known && take_steps(in, ids, axis, made))
        return;
    for (int k = 0; are_known && k < ids->rank; k++)
        made->stride[axis + k] *= vary_along(ids, k);
    made->tensor = NULL;
}

struct pdnn_draft_entry *pdnn_strided_apply(struct pdnn_trace *trace, const char *op,
                                            const struct pdnn_value_of *value, struct pdnn_value_of *result) {
    struct pdnn_value_of made = *value;
    if (value->kind != PDNN_VALUE_DATA || value->factor != 1 || !pdnn_strided_covers(trace, value)) {
        const int32_t from = pdnn_strided_entry(trace, value, 0, NULL);
        if (from < 0 || !pdnn_strided_of(trace, from, value->rank, value->dim, &made))
            return NULL;
    }
    const struct pdnn_draft_entry *x = trace->program.entry[made.base];
    struct pdnn_draft_entry *entry =
        pdnn_draft_add(&trace->program, op, (int32_t[]){made.base, -1}, x->rank, x->dim);
    made.base = trace->program.n_entries - 1;
    made.node = trace->node;
    *result = made;
    return entry;
}
