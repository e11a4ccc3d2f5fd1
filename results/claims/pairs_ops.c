/* Claims about the ops of two platforms. */
#include "results/query/op_groups.h"
#include "results/compare/compare_ops.h"
#include "results/claims/pairs.h"
#include "results/query/ops_reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Speed-ups of B over A by kind of op: per model the mean over its ops of a kind, so that each model counts
 * once. */
enum op_kind { COMPUTE_BOUND, MEMORY_BOUND, LOOKUP, OP_KINDS };

static size_t op_kind_of(const struct pdnn_op_record *op) {
    if (strcmp(op->category, "embedding") == 0)
        return LOOKUP;
    if (!pdnn_category_is_product(op->category))
        return OP_KINDS;
    return op->place.bound == PDNN_BOUND_COMPUTE  ? COMPUTE_BOUND
           : op->place.bound == PDNN_BOUND_MEMORY ? MEMORY_BOUND
                                                  : OP_KINDS;
}

/* What bounds an op is looked up on side A. Both tables list a model's ops in the order of its graph, apart
 * from reorders, which differ. */
static void add_ops(const struct pdnn_op_record *const ops[PDNN_SIDES], const size_t n_ops[PDNN_SIDES],
                    struct pdnn_mean kinds[OP_KINDS]) {
    struct pdnn_mean own[OP_KINDS] = {{.n = 0}};
    for (size_t i = 0, next = 0; i < n_ops[PDNN_SIDE_A]; i++) {
        const struct pdnn_op_record *a = &ops[PDNN_SIDE_A][i];
        size_t kind = op_kind_of(a), j = next;
        if (kind == OP_KINDS)
            continue;
        while (j < n_ops[PDNN_SIDE_B] && !pdnn_op_is_same(a, &ops[PDNN_SIDE_B][j]))
            j++;
        if (j == n_ops[PDNN_SIDE_B])
            continue;
        next = j + 1;
        double from = a->time_ns_median, to = ops[PDNN_SIDE_B][j].time_ns_median;
        if (from > 0 && to > 0)
            pdnn_mean_add(&own[kind], log(from / to), 0);
    }
    for (size_t k = 0; k < OP_KINDS; k++) {
        if (own[k].n)
            pdnn_mean_add(&kinds[k], own[k].mean, 0);
    }
}

static enum pdnn_status read_op_kinds(const struct pdnn_comparison *pairs, struct pdnn_mean kinds[OP_KINDS],
                                      struct pdnn_err *err) {
    struct pdnn_ops_reader reader[PDNN_SIDES];
    size_t opened = 0;
    enum pdnn_status status = PDNN_OK;
    for (; opened < PDNN_SIDES && status == PDNN_OK; opened += status == PDNN_OK)
        status = pdnn_ops_reader_open(&reader[opened], pairs->directory[opened], err);
    for (size_t i = 0; i < pairs->pairs.n_rows && status == PDNN_OK; i++) {
        const struct pdnn_op_record *ops[PDNN_SIDES];
        size_t n_ops[PDNN_SIDES];
        for (size_t side = 0; side < PDNN_SIDES; side++)
            n_ops[side] = pdnn_ops_reader_find(
                &reader[side], pdnn_table_text(&pairs->pairs, i, PDNN_PAIR_A_ID + side), &ops[side]);
        add_ops(ops, n_ops, kinds);
    }
    while (opened)
        pdnn_ops_reader_close(&reader[--opened]);
    return status;
}

void pdnn_report_memory_bound_gain_more(struct pdnn_report_question *q) {
    struct pdnn_mean kinds[OP_KINDS] = {{.n = 0}};
    if (!pdnn_report_has_pairs(q))
        return;
    if (pdnn_compare_has_ops(q->sides->pairs))
        q->status = read_op_kinds(q->sides->pairs, kinds, q->err);
    if (q->status != PDNN_OK)
        return;
    struct pdnn_mean_interval change = pdnn_mean_difference(&kinds[COMPUTE_BOUND], &kinds[MEMORY_BOUND]);
    struct pdnn_mean_interval each[OP_KINDS];
    for (size_t k = 0; k < OP_KINDS; k++)
        each[k] = pdnn_mean_exp(pdnn_mean_interval(&kinds[k]));
    if (isnan(change.at)) {
        pdnn_report_say(
            q, PDNN_CANNOT_BE_TOLD,
            "%zu models have products bound by compute and %zu have products bound by memory; at least 3 "
            "of each are needed.",
            kinds[COMPUTE_BOUND].n, kinds[MEMORY_BOUND].n);
        return;
    }
    struct pdnn_mean all = pdnn_report_speed_ups(q->sides->pairs, NULL);
    int faster = pdnn_report_faster_side(pdnn_mean_interval(&all));
    bool more = faster > 0 ? change.low > 0 : faster < 0 && change.high < 0;
    bool less = faster > 0 ? change.high < 0 : faster < 0 && change.low > 0;
    char text[OP_KINDS][PDNN_REPORT_RATIO], lookups[192] = "";
    if (!isnan(each[LOOKUP].at))
        snprintf(lookups, sizeof lookups, "; lookups of embeddings: %s, %zu models)",
                 pdnn_report_ratio(text[LOOKUP], each[LOOKUP], false), kinds[LOOKUP].n);
    pdnn_report_say(
        q, pdnn_report_judge(q, more, less),
        "Speed-up of %s over %s: products bound by memory %s, geometric mean of %zu models), products "
        "bound by compute %s, %zu models)%s.",
        q->sides->name[PDNN_SIDE_B], q->sides->name[PDNN_SIDE_A],
        pdnn_report_ratio(text[MEMORY_BOUND], each[MEMORY_BOUND], true), kinds[MEMORY_BOUND].n,
        pdnn_report_ratio(text[COMPUTE_BOUND], each[COMPUTE_BOUND], false), kinds[COMPUTE_BOUND].n, lookups);
}
