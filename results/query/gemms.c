#include "results/query/gemms.h"
#include "base/checked.h"
#include "models/zoo/catalog.h"
#include "models/graph.h"
#include "results/query/op_groups.h"
#include "results/table/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS_MAX = 5 };

/* "4x20:16x20:4x16,train=1+relu@ffn1", split into its parts. */
struct shape {
    int64_t dim[TENSORS_MAX][PDNN_RANK_MAX];
    int rank[TENSORS_MAX];
    int n_tensors;
    const char *attributes; /* from the first comma on; otherwise the end of the shapes */
};

static bool parse_shape(const char *text, struct shape *shape) {
    *shape = (struct shape){.n_tensors = 0};
    for (char before = ':'; before == ':' || before == 'x'; before = *text++) {
        char *end;
        shape->n_tensors += before == ':';
        if (shape->n_tensors > TENSORS_MAX)
            return false;
        int *rank = &shape->rank[shape->n_tensors - 1];
        if (*rank == PDNN_RANK_MAX || *text < '0' || *text > '9')
            return false;
        shape->dim[shape->n_tensors - 1][(*rank)++] = strtoll(text, &end, 10);
        text = end;
    }
    shape->attributes = text - 1;
    return true;
}

/* The attribute's value, or 0 if it is not written. */
static int64_t attribute(const struct shape *shape, const char *name) {
    size_t length = strlen(name);
    for (const char *at = shape->attributes; *at == ','; at += 1 + strcspn(at + 1, ",+@"))
        if (strncmp(at + 1, name, length) == 0 && at[1 + length] == '=')
            return strtoll(at + length + 2, NULL, 10);
    return 0;
}

/* Forward x (N, I), w (O, I); backward-data dy (N, O), w (O, I); backward-weights x (N, I), dy (N, O). The
 * first operand may have more dimensions. */
static bool parse_dense(const struct pdnn_op_record *op, const struct shape *shape,
                        struct pdnn_gemm_shape *gemm) {
    const int64_t *second = shape->dim[1], rows = shape->dim[0][0];
    int64_t width = 1;
    if (shape->n_tensors < 3 || shape->rank[1] != 2)
        return false;
    for (int i = 1; i < shape->rank[0]; i++)
        width *= shape->dim[0][i];
    if (strcmp(op->pass, pdnn_pass_name(PDNN_BACKWARD_WEIGHTS)) == 0)
        *gemm = (struct pdnn_gemm_shape){second[1], width, rows, 1};
    else if (strcmp(op->pass, pdnn_pass_name(PDNN_BACKWARD_DATA)) == 0)
        *gemm = (struct pdnn_gemm_shape){second[1], rows, second[0], 1};
    else
        *gemm = (struct pdnn_gemm_shape){second[0], rows, second[1], 1};
    return true;
}

/* Rows and columns of the matrix that a tensor has for each sequence and head: see models/ops/matmul.c. */
static void matrix_of(const struct shape *shape, int tensor, int64_t size[2]) {
    int64_t sequences = attribute(shape, "sequences");
    bool plain = shape->rank[tensor] == 3;
    size[0] = plain ? shape->dim[tensor][1] : shape->dim[tensor][0] / sequences;
    size[1] = plain ? shape->dim[tensor][2] : attribute(shape, "width");
}

static bool parse_matmul(const struct shape *shape, struct pdnn_gemm_shape *gemm) {
    int64_t a[2], y[2], sequences = attribute(shape, "sequences"), heads = attribute(shape, "heads");
    if (shape->n_tensors < 3 || sequences < 1 || heads < 1)
        return false;
    matrix_of(shape, 0, a);
    matrix_of(shape, shape->n_tensors - 1, y);
    *gemm =
        (struct pdnn_gemm_shape){y[1], y[0], a[attribute(shape, "transpose_a") ? 0 : 1], sequences * heads};
    return true;
}

bool pdnn_gemm_parse(const struct pdnn_op_record *op, struct pdnn_gemm_shape *gemm) {
    struct shape shape;
    bool dense = strcmp(op->op, "dense") == 0, matmul = strcmp(op->op, "matmul") == 0;
    if (!(dense || matmul) || !parse_shape(op->shape, &shape))
        return false;
    return dense ? parse_dense(op, &shape, gemm) : parse_matmul(&shape, gemm);
}

uint64_t pdnn_gemm_flop(const struct pdnn_gemm_shape *shape, uint64_t count) {
    uint64_t flop = 2;
    const uint64_t factors[] = {(uint64_t)shape->m, (uint64_t)shape->n, (uint64_t)shape->k,
                                (uint64_t)shape->batch, count};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        if (!pdnn_mul_u64(flop, factors[i], &flop))
            return PDNN_ABSENT;
    return flop;
}

/* All rows of one shape. */
struct gemm {
    const char *id; /* borrowed from the rows */
    struct pdnn_gemm_shape shape;
    const char *groups, *passes; /* joined by ", " */
    struct pdnn_op_sum work;
};

/* The words with this one, unless it is among them. */
static const char *joined(struct pdnn_arena *arena, const char *words, const char *word) {
    return pdnn_parts_have(words, ", ", word, strlen(word))
               ? words
               : pdnn_arena_printf(arena, "%s%s%s", words, *words ? ", " : "", word);
}

static struct gemm *find(struct gemm *gemms, size_t *count, const struct pdnn_gemm_shape *shape) {
    for (size_t i = 0; i < *count; i++)
        if (memcmp(&gemms[i].shape, shape, sizeof *shape) == 0)
            return &gemms[i];
    gemms[*count] = (struct gemm){.shape = *shape, .groups = "", .passes = ""};
    return &gemms[(*count)++];
}

static int compare(const void *a, const void *b) {
    const struct gemm *x = a, *y = b;
    if (x->work.time_ns != y->work.time_ns)
        return x->work.time_ns < y->work.time_ns ? 1 : -1;
    return memcmp(&x->shape, &y->shape, sizeof x->shape);
}

#define AT(member)   .field = PDNN_FIELD(gemm, member)
#define TEXT(member) .field = PDNN_FIELD_AS(BORROWED, gemm, member)

#define GEMM_COLUMN(word, ...) {__VA_ARGS__},
static const struct pdnn_column_def columns[] = {
#include "results/query/columns/gemms.inc"
};
const struct pdnn_table_def pdnn_gemms_def = {"gemms", "the matrix products of instances", columns,
                                              PDNN_GEMM_COLUMNS};

void pdnn_gemms(const struct pdnn_op_rows *rows, struct pdnn_arena *arena, struct pdnn_table *table) {
    const struct pdnn_family_def *family = pdnn_family_find(rows->family);
    struct gemm *made = pdnn_arena_alloc(arena, rows->count + 1, sizeof *made);
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct pdnn_op_record *op = &rows->op[i];
        struct pdnn_gemm_shape shape;
        if (isnan(op->time_ns_median) || !pdnn_gemm_parse(op, &shape))
            continue;
        struct gemm *gemm = find(made, &count, &shape);
        gemm->id = op->id;
        gemm->groups = joined(arena, gemm->groups, pdnn_by_key(PDNN_BY_GROUP, family, op));
        gemm->passes = joined(arena, gemm->passes, op->pass);
        pdnn_op_sum_add(&gemm->work, op);
    }
    for (size_t i = 0; i < count; i++)
        pdnn_op_sum_finish(&made[i].work, rows->step_ns);
    qsort(made, count, sizeof *made, compare);
    for (size_t i = 0; i < count; i++)
        pdnn_record_put(table, pdnn_table_add_row(table), &made[i]);
}
