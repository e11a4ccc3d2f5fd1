#include "results/studies/direction_facts.h"
#include "models/graph.h"
#include "results/analysis/gemms.h"

#include <math.h>
#include <string.h>

static bool is_layer_product(enum pdnn_op_group group) {
    return group == PDNN_GROUP_LINEAR || group == PDNN_GROUP_ATTENTION || group == PDNN_GROUP_FFN;
}

/* Excludes attention to a source, whose tokens may differ. */
static bool is_qkv(const struct pdnn_op_record *op) {
    static const char *const stems[] = {"query", "key", "value", "qkv"};
    bool found = false;
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        found = found || pdnn_layer_has_stem(op->layer, stems[i]);
    return found && strcmp(op->pass, pdnn_pass_name(PDNN_FORWARD)) == 0;
}

/* A bias fused into the product reads one word per output unit; subtracted, the bytes
 * are those of the product alone. */
static uint64_t bias_bytes(const struct pdnn_op_record *op, const struct pdnn_gemm_shape *shape,
                           uint64_t word_bytes) {
    return strstr(op->shape, "+bias") ? op->count * (uint64_t)shape->m * word_bytes : 0;
}

static void add_product(struct pdnn_direction_facts *facts, const struct pdnn_op_record *op,
                        const struct pdnn_gemm_shape *shape) {
    uint64_t flop = pdnn_gemm_flop(shape, op->count);
    bool fits = flop != PDNN_ABSENT && facts->matrix_flop != PDNN_ABSENT;
    facts->matrix_flop = fits ? facts->matrix_flop + flop : PDNN_ABSENT;
    if (!is_qkv(op) || shape->batch != 1)
        return;
    facts->qkv_bytes += op->byte_count - bias_bytes(op, shape, facts->word_bytes);
    facts->qkv_tokens = shape->n;
    facts->qkv_width = shape->k;
}

void pdnn_direction_facts(const struct pdnn_family_def *family, const struct pdnn_op_rows *rows,
                          struct pdnn_direction_facts *facts) {
    facts->step_ns = rows->step_ns;
    for (size_t i = 0; i < rows->count; i++) {
        const struct pdnn_op_record *op = &rows->op[i];
        enum pdnn_op_group group = pdnn_op_group_of(family, op);
        struct pdnn_gemm_shape shape;
        if (isnan(op->time_ns_median))
            continue;
        facts->has_ops = true;
        pdnn_op_sum_add(&facts->group[group], op);
        if (!pdnn_op_is_outer(family, op))
            pdnn_op_sum_add(&facts->layer_group[group], op);
        if (is_layer_product(group) && pdnn_gemm_parse(op, &shape))
            add_product(facts, op, &shape);
    }
}

double pdnn_facts_share(const struct pdnn_direction_facts *facts, const enum pdnn_op_group *groups,
                        size_t n) {
    double ns = 0;
    for (size_t i = 0; i < n; i++)
        ns += facts->group[groups[i]].time_ns;
    return ns / facts->step_ns * 100;
}
