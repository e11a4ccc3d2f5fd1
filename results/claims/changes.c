/* Series along one axis: the rows are sorted by every other axis, then along this one. */
#include "results/claims/changes.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* A row with what it is sorted by; qsort takes no context. */
struct member {
    const struct pdnn_report_rows *rows;
    const struct pdnn_report_axis *along;
    size_t row;
};

static int compare_others(const struct member *a, const struct member *b) {
    for (size_t k = 0; k < a->rows->n_axes; k++) {
        const struct pdnn_report_axis *axis = &a->rows->axis[k];
        size_t one = axis->of_row[a->row], other = axis->of_row[b->row];
        if (axis != a->along && one != other)
            return one < other ? -1 : 1;
    }
    return 0;
}

static int compare_members(const void *a, const void *b) {
    const struct member *one = a, *other = b;
    int order = compare_others(one, other);
    if (order)
        return order;
    size_t x = one->along->of_row[one->row], y = other->along->of_row[other->row];
    return x != y ? (x < y ? -1 : 1) : (one->row > other->row) - (one->row < other->row);
}

void pdnn_report_series(const struct pdnn_report_rows *rows, size_t source,
                        const struct pdnn_report_axis *axis,
                        void (*series)(void *context, const size_t *member, size_t count), void *context) {
    struct member *members = pdnn_alloc(rows->n_rows + 1, sizeof *members);
    size_t *row = pdnn_alloc(rows->n_rows + 1, sizeof *row), count = 0;
    for (size_t r = 0; r < rows->n_rows; r++) {
        bool has_value = *axis->value[axis->of_row[r]] != 0;
        if (rows->row[r].is_ok && rows->row[r].source == source && has_value)
            members[count++] = (struct member){rows, axis, r};
    }
    qsort(members, count, sizeof *members, compare_members);
    for (size_t i = 0; i < count; i++)
        row[i] = members[i].row;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && compare_others(&members[first], &members[end]) == 0; end++)
            ;
        if (axis->of_row[members[first].row] != axis->of_row[members[end - 1].row])
            series(context, row + first, end - first);
    }
    free(members);
    free(row);
}

struct adding {
    const struct pdnn_report_rows *rows;
    enum pdnn_report_number number;
    struct pdnn_report_changes *changes;
};

static void add_ends(void *context, const size_t *member, size_t count) {
    const struct adding *adding = context;
    double from = adding->rows->row[member[0]].number[adding->number];
    double to = adding->rows->row[member[count - 1]].number[adding->number];
    if (!(from > 0) || !(to > 0))
        return;
    adding->changes->n_up += to > from;
    pdnn_mean_add(&adding->changes->log, log(to / from), 0);
}

void pdnn_report_changes_add(const struct pdnn_report_rows *rows, size_t source,
                             const struct pdnn_report_axis *axis, enum pdnn_report_number number,
                             struct pdnn_report_changes *changes) {
    struct adding adding = {rows, number, changes};
    pdnn_report_series(rows, source, axis, add_ends, &adding);
}
