#define _POSIX_C_SOURCE 200809L /* access, PATH_MAX */
#include "results/analysis/compare_ops.h"
#include "base/memory.h"
#include "base/texts.h"
#include "results/analysis/share_matrix.h"
#include "results/tables/ops_reader.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All pairs, or those of one family. */
struct scope {
    const char *family; /* "": all */
    size_t n_pairs;
    double step_ns[PDNN_SIDES];
};

struct sum {
    struct pdnn_compare_op op; /* effect: its logarithm, not yet divided by the number of pairs */
    size_t scope;
    size_t last; /* the last pair that was counted, from 1 */
};

struct work {
    const struct pdnn_comparison *comparison;
    const struct pdnn_by_list *by;
    struct pdnn_arena *arena;
    struct pdnn_ops_reader reader[PDNN_SIDES]; /* the second only for two directories */
    struct pdnn_texts families;                /* numbers of scopes; "" comes first */
    struct scope *scope;
    struct pdnn_texts names; /* of sums: scope and keys */
    struct sum *sum;         /* heap, by number of the name */
    size_t room;
    struct pdnn_str name;
};

static void has_room(struct work *work) {
    work->sum = pdnn_grow(work->sum, &work->room, work->names.count, sizeof *work->sum);
}

/* Keys are copied: the reader's rows are gone after its next call. */
static void init_sum(struct work *work, size_t scope, const struct pdnn_share *share, struct sum *sum) {
    *sum = (struct sum){.op = {.family = work->scope[scope].family, .is_residual = share->is_residual},
                        .scope = scope};
    for (size_t by = 0; by < PDNN_BY_COUNT; by++) {
        sum->op.key[by] = *share->key[by] ? pdnn_arena_strdup(work->arena, share->key[by]) : "";
    }
}

/* The sum of this kind, new or known. */
static struct sum *find(struct work *work, size_t scope, const struct pdnn_share *share) {
    pdnn_str_clear(&work->name);
    pdnn_str_printf(&work->name, "%zu\n%d", scope, share->is_residual);
    for (size_t by = 0; by < PDNN_BY_COUNT; by++)
        pdnn_str_printf(&work->name, "\n%s", share->key[by]);
    has_room(work);
    size_t known = work->names.count, number = pdnn_texts_add(&work->names, pdnn_str_text(&work->name));
    if (number == known)
        init_sum(work, scope, share, &work->sum[number]);
    return &work->sum[number];
}

/* The reciprocal of the logarithmic mean, which is their common value where both are equal. */
static double by_logarithmic_mean(const struct pdnn_pair *pair) {
    double a = pair->ns[PDNN_SIDE_A], b = pair->ns[PDNN_SIDE_B], x = (a - b) / b;
    return (fabs(x) < 1e-9 ? 1 : log1p(x) / x) / b;
}

/* Adds one side of a pair to one scope. */
static void add_side(struct work *work, size_t scope, size_t pair, int side, const struct pdnn_share *shares,
                     size_t n_shares) {
    const struct pdnn_pair *of = &work->comparison->pair[pair];
    double sign = side == PDNN_SIDE_A ? 1 : -1, by_mean = by_logarithmic_mean(of);
    for (size_t i = 0; i < n_shares; i++) {
        struct sum *sum = find(work, scope, &shares[i]);
        sum->op.time_ns[side] += shares[i].work.time_ns;
        sum->op.effect += sign * shares[i].work.time_ns * by_mean;
        sum->op.count += sum->last != pair + 1;
        sum->last = pair + 1;
    }
    work->scope[scope].step_ns[side] += of->ns[side];
    work->scope[scope].n_pairs += side == PDNN_SIDE_A;
}

/* The shares of one pair on both sides; n_shares is 0 where ops.csv lacks it. */
static enum pdnn_status shares_of(struct work *work, const struct pdnn_pair *pair, struct pdnn_arena *arena,
                                  struct pdnn_share **shares, size_t *n_shares, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    for (int side = 0; side < PDNN_SIDES && status == PDNN_OK; side++) {
        struct pdnn_ops_reader *reader = &work->reader[work->comparison->n_directories > 1 ? side : 0];
        const struct pdnn_share_source source = {pdnn_comparison_side(work->comparison, side), reader,
                                                 work->by, arena};
        status = pdnn_selection_shares(&source, pair->at[side], &shares[side], &n_shares[side], err);
        if (status == PDNN_OK)
            pdnn_shares_keep(shares[side], n_shares[side], arena);
    }
    return status;
}

static enum pdnn_status add_pairs(struct work *work, struct pdnn_err *err) {
    const struct pdnn_comparison *comparison = work->comparison;
    struct pdnn_arena arena = {0};
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < comparison->n_pairs && status == PDNN_OK; i++) {
        const struct pdnn_pair *pair = &comparison->pair[i];
        size_t scopes[] = {0, pdnn_texts_find(&work->families, pair->family)};
        size_t n_scopes = scopes[1] && work->families.count > 2 ? 2 : 1;
        struct pdnn_share *shares[PDNN_SIDES];
        size_t n_shares[PDNN_SIDES];
        pdnn_arena_reset(&arena);
        status = shares_of(work, pair, &arena, shares, n_shares, err);
        if (status != PDNN_OK || !n_shares[PDNN_SIDE_A] || !n_shares[PDNN_SIDE_B])
            continue;
        for (size_t k = 0; k < n_scopes * PDNN_SIDES; k++) {
            int side = (int)(k % PDNN_SIDES);
            add_side(work, scopes[k / PDNN_SIDES], i, side, shares[side], n_shares[side]);
        }
    }
    pdnn_arena_finish(&arena);
    return status;
}

static void find_scopes(struct work *work) {
    const struct pdnn_comparison *comparison = work->comparison;
    work->scope = pdnn_arena_alloc(work->arena, comparison->n_pairs + 1, sizeof *work->scope);
    pdnn_texts_add(&work->families, "");
    work->scope[0].family = "";
    for (size_t i = 0; i < comparison->n_pairs; i++) {
        size_t number = pdnn_texts_add(&work->families, comparison->pair[i].family);
        if (number)
            work->scope[number].family = comparison->pair[i].family;
    }
}

static void finish(const struct work *work, struct sum *sum) {
    struct pdnn_compare_op *op = &sum->op;
    const struct scope *scope = &work->scope[sum->scope];
    double all_ns = scope->step_ns[PDNN_SIDE_A] - scope->step_ns[PDNN_SIDE_B];
    for (int side = 0; side < PDNN_SIDES; side++)
        op->share_pct[side] = op->time_ns[side] / scope->step_ns[side] * 100;
    op->gain_ns = op->time_ns[PDNN_SIDE_A] - op->time_ns[PDNN_SIDE_B];
    op->gain_pct = all_ns == 0 ? NAN : op->gain_ns == 0 ? 0 : op->gain_ns / all_ns * 100;
    op->effect = exp(op->effect / (double)scope->n_pairs);
}

/* By scope; the residual last, the farthest from 1 first; equal effects by key. */
static int compare_sums(const void *a, const void *b) {
    const struct sum *x = a, *y = b;
    double x_effect = fabs(log(x->op.effect)), y_effect = fabs(log(y->op.effect));
    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    int order = x->op.is_residual - y->op.is_residual;
    if (!order)
        order = (x_effect < y_effect) - (x_effect > y_effect);
    for (size_t by = 0; by < PDNN_BY_COUNT && !order; by++)
        order = strcmp(x->op.key[by], y->op.key[by]);
    return order;
}

static void put_result(struct work *work, struct pdnn_compare_ops *ops) {
    size_t count = work->names.count;
    struct pdnn_compare_op *op = pdnn_arena_alloc(work->arena, count + 1, sizeof *op);
    for (size_t i = 0; i < count; i++)
        finish(work, &work->sum[i]);
    if (count)
        qsort(work->sum, count, sizeof *work->sum, compare_sums);
    for (size_t i = 0; i < count; i++)
        op[i] = work->sum[i].op;
    *ops = (struct pdnn_compare_ops){op, count, work->scope[0].n_pairs};
}

bool pdnn_compare_has_ops(const struct pdnn_comparison *comparison) {
    char path[PATH_MAX];
    for (size_t t = 0; t < comparison->n_directories; t++) {
        if (snprintf(path, sizeof path, "%s/ops.csv", comparison->directory[t]) >= (int)sizeof path ||
            access(path, F_OK) != 0)
            return false;
    }
    return true;
}

enum pdnn_status pdnn_compare_ops(const struct pdnn_comparison *comparison, const struct pdnn_by_list *by,
                                  struct pdnn_arena *arena, struct pdnn_compare_ops *ops,
                                  struct pdnn_err *err) {
    static const struct pdnn_by_list by_op = {{PDNN_BY_OP}, 1};
    struct work work = {.comparison = comparison, .by = by ? by : &by_op, .arena = arena};
    find_scopes(&work);
    enum pdnn_status status = PDNN_OK;
    for (size_t t = 0; t < comparison->n_directories && status == PDNN_OK; t++)
        status = pdnn_ops_reader_open(&work.reader[t], comparison->directory[t], err);
    if (status == PDNN_OK)
        status = add_pairs(&work, err);
    if (status == PDNN_OK)
        put_result(&work, ops);
    for (size_t t = 0; t < PDNN_SIDES; t++)
        pdnn_ops_reader_close(&work.reader[t]);
    pdnn_texts_finish(&work.families);
    pdnn_texts_finish(&work.names);
    pdnn_str_finish(&work.name);
    free(work.sum);
    return status;
}
