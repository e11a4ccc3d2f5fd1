#include "results/query/gemms.h"
#include "base/checked.h"
#include "models/graph.h"
#include "results/query/op_groups.h"
#include "results/rows/roofline.h"
#include "results/table/record.h"

#include <math.h>
#include <stdio.h>
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
    for (const char *at = text;;) {
        int rank = 0;
        if (shape->n_tensors == TENSORS_MAX)
            return false;
        for (bool more = true; more; more = *at == 'x', at += more) {
            char *end;
            if (rank == PDNN_RANK_MAX || *at < '0' || *at > '9')
                return false;
            shape->dim[shape->n_tensors][rank++] = strtoll(at, &end, 10);
            at = end;
        }
        shape->rank[shape->n_tensors++] = rank;
        if (*at != ':') {
            shape->attributes = at;
            return true;
        }
        at++;
    }
}

/* The attribute's value, or 0 if it is not written. */
static int64_t attribute(const struct shape *shape, const char *name) {
    size_t length = strlen(name);
    for (const char *at = shape->attributes; *at == ','; at += 1 + strcspn(at + 1, ",+@")) {
        if (strncmp(at + 1, name, length) == 0 && at[1 + length] == '=')
            return strtoll(at + length + 2, NULL, 10);
    }
    return 0;
}

static int64_t product(const struct shape *shape, int tensor, int from) {
    int64_t sum = 1;
    for (int i = from; i < shape->rank[tensor]; i++)
        sum *= shape->dim[tensor][i];
    return sum;
}

/* Forward x (N, I), w (O, I); backward-data dy (N, O), w (O, I); backward-weights x (N, I), dy (N, O). The
 * first operand may have more dimensions. */
static bool parse_dense(const struct pdnn_op_record *op, const struct shape *shape,
                        struct pdnn_gemm_shape *gemm) {
    bool weights = strcmp(op->pass, pdnn_pass_name(PDNN_BACKWARD_WEIGHTS)) == 0;
    bool data = strcmp(op->pass, pdnn_pass_name(PDNN_BACKWARD_DATA)) == 0;
    if (shape->n_tensors < 3 || shape->rank[1] != 2)
        return false;
    int64_t rows = shape->dim[0][0];
    if (weights)
        *gemm = (struct pdnn_gemm_shape){shape->dim[1][1], product(shape, 0, 1), rows, 1};
    else if (data)
        *gemm = (struct pdnn_gemm_shape){shape->dim[1][1], rows, shape->dim[1][0], 1};
    else
        *gemm = (struct pdnn_gemm_shape){shape->dim[1][0], rows, shape->dim[1][1], 1};
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
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        if (!pdnn_mul_u64(flop, factors[i], &flop))
            return PDNN_ABSENT;
    }
    return flop;
}

enum { WORDS_TEXT = 128 };

/* All rows of one shape. */
struct gemm {
    const char *id; /* borrowed from the rows */
    struct pdnn_gemm_shape shape;
    char groups[WORDS_TEXT], passes[WORDS_TEXT]; /* joined by ", " */
    struct pdnn_op_sum work;
};

/* Appends a word unless it is there already; a word that does not fit is left out. */
static void note(char list[WORDS_TEXT], const char *word) {
    size_t used = strlen(list), length = strlen(word);
    if (!pdnn_parts_have(list, ", ", word, length) && used + length + sizeof ", " <= WORDS_TEXT)
        snprintf(list + used, WORDS_TEXT - used, "%s%s", used ? ", " : "", word);
}

static struct gemm *find(struct gemm *gemms, size_t *count, const struct pdnn_gemm_shape *shape) {
    for (size_t i = 0; i < *count; i++) {
        if (memcmp(&gemms[i].shape, shape, sizeof *shape) == 0)
            return &gemms[i];
    }
    gemms[*count] = (struct gemm){.shape = *shape};
    return &gemms[(*count)++];
}

static int compare(const void *a, const void *b) {
    const struct gemm *x = a, *y = b;
    if (x->work.time_ns != y->work.time_ns)
        return x->work.time_ns < y->work.time_ns ? 1 : -1;
    return memcmp(&x->shape, &y->shape, sizeof x->shape);
}

#define AT(member) .field = PDNN_FIELD(gemm, member)

static const struct pdnn_column_def columns[PDNN_GEMM_COLUMNS] = {
    {"id", .field = PDNN_FIELD_POINTER(gemm, id), .help = "the instance"},
    {"m", "M", NULL, PDNN_KIND_WHOLE, AT(shape.m),
     .help = "output units; for gradients of weights, rows of the weights"},
    {"n", "N", NULL, PDNN_KIND_WHOLE, AT(shape.n),
     .help = "rows (tokens); for gradients of weights, columns of the weights"},
    {"k", "K", NULL, PDNN_KIND_WHOLE, AT(shape.k), .help = "length of the sums"},
    {"batch", NULL, NULL, PDNN_KIND_WHOLE, .rank = 5, AT(shape.batch),
     .help = "products of this shape in one call: sequences times heads"},
    {"groups", "group", .align = PDNN_ALIGN_WRAP, .rank = 1, AT(groups),
     .help = "groups they belong to, as in breakdown"},
    {"passes", .align = PDNN_ALIGN_WRAP, .rank = 2, AT(passes),
     .help = "passes they belong to, as in ops.csv"},
    {"executions", "count", NULL, PDNN_KIND_COUNT, .rank = 6, AT(work.count), .help = "calls in one step"},
    {"flop_count", NULL, "FLOP", PDNN_KIND_COUNT, PDNN_SHOW_SI, AT(work.flop_count),
     .help = "FLOP of all of them, with what is fused into them, as in ops.csv"},
    {"byte_count", NULL, "bytes", PDNN_KIND_COUNT, PDNN_SHOW_SI, AT(work.byte_count),
     .help = "compulsory traffic of all of them"},
    {"intensity_flop_per_byte", "FLOP/byte", "FLOP/byte", PDNN_KIND_NUMBER, PDNN_SHOW_FIXED, .decimals = 1,
     .rank = 4, AT(work.intensity_flop_per_byte), .help = "flop_count over byte_count"},
    {"time_ns", "time", "ns", PDNN_KIND_NUMBER, PDNN_SHOW_TIME, AT(work.time_ns),
     .help = "time of all of them"},
    {"share_pct", "% of step", "%", PDNN_KIND_NUMBER, PDNN_SHOW_FIXED, .decimals = 1, AT(work.share_pct),
     .help = "share of the step's time_ns_median"},
    {"gflops", "GFLOP/s", "1e9 FLOP/s", PDNN_KIND_NUMBER, PDNN_SHOW_FIXED, .decimals = 1, AT(work.gflops),
     .help = "flop_count over time_ns"},
    {"bw_gbs", "GB/s", "1e9 B/s", PDNN_KIND_NUMBER, PDNN_SHOW_FIXED, .decimals = 1, .rank = 3,
     AT(work.bw_gbs), .help = "byte_count over time_ns"},
    {"pct_of_roof", "% of roof", "%", PDNN_KIND_NUMBER, PDNN_SHOW_FIXED, .above = PDNN_ABOVE_ROOF_PCT,
     AT(work.pct_of_roof), .help = "time that their roofs allow over time they take"},
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
        note(gemm->groups, family ? pdnn_op_groups[pdnn_op_group_of(family, op)].name : op->category);
        note(gemm->passes, op->pass);
        pdnn_op_sum_add(&gemm->work, op);
    }
    for (size_t i = 0; i < count; i++)
        pdnn_op_sum_finish(&made[i].work, rows->step_ns);
    qsort(made, count, sizeof *made, compare);
    for (size_t i = 0; i < count; i++)
        pdnn_record_put(table, pdnn_table_add_row(table), &made[i]);
}
