#include "results/compare/compare_ops.h"
#include "base/memory.h"
#include "base/texts.h"
#include "models/varying.h"
#include "results/table/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sum {
    size_t scope;
    const char *key[PDNN_BY_COUNT]; /* the readers' */
    bool is_residual;
    size_t count, last; /* pairs that have it; the last one that was counted, from 1 */
    double time_ns[PDNN_SIDES];
    double effect; /* until put_rows, the sum of its logarithm over the pairs */
};

#define AS(kind, show) PDNN_KIND_##kind, PDNN_SHOW_##show
static const struct pdnn_column_def columns[PDNN_COMPARE_OPS_COLUMNS] = {
    {"family", "among", NULL, AS(TEXT, PLAIN), PDNN_ALIGN_GROUP, .blank = "all",
     .help = "in the pairs of this family; empty: in all"},
    PDNN_BY_COLUMNS(sum),
    {"instances", NULL, NULL, AS(COUNT, PLAIN), .rank = 3, .help = "pairs that have it on either side"},
    {"a_ns", "A", "ns", AS(NUMBER, TIME), .help = "A's time in it, summed over the pairs"},
    {"b_ns", "B", "ns", AS(NUMBER, TIME), .help = "B's time in it"},
    {"a_share_pct", NULL, "%", AS(NUMBER, NEVER), .help = "share of A's step times"},
    {"b_share_pct", NULL, "%", AS(NUMBER, NEVER), .help = "share of B's step times"},
    {"gain_ns", "B saves", "ns", AS(NUMBER, TIME), .rank = 1, .help = "a_ns less b_ns: what B saves there"},
    {"gain_pct", "of all", "%", AS(NUMBER, PERCENT), .decimals = 1, .rank = 2,
     .help =
         "share of what B saves in all; sums to 100; empty where that is less than 2 % of A's time, since a "
         "share of nearly nothing says nothing"},
    {"effect", NULL, NULL, AS(NUMBER, FACTOR),
     .help = "its factor in the geometric mean of the ratios, in which every pair counts the same: mean of "
             "(a - b) / L with the logarithmic mean L of the two step times, exponentiated; the product over "
             "all rows of a family is the geometric mean"},
};
const struct pdnn_table_def pdnn_compare_ops_def = {"compare-ops", "the ops that a difference comes from",
                                                    columns, PDNN_COMPARE_OPS_COLUMNS};

/* Parts of a difference that is less than this part of A's time are no shares: they may be many times all. */
#define LEAST_DIFFERENCE 0.02

/* All pairs, or those of one family. */
struct scope {
    size_t n_pairs;
    double step_ns[PDNN_SIDES];
};

struct work {
    const struct pdnn_comparison *comparison;
    const struct pdnn_by_list *by;
    struct pdnn_texts families; /* numbers of scopes; "" comes first */
    struct scope *scope;
    struct pdnn_texts names; /* of sums: scope and keys */
    struct sum *sum;         /* by number of the name */
    size_t room;
    struct pdnn_str name, example; /* example: of an op in another implementation */
    size_t n_others;               /* pairs with such an op */
};

/* The sum of this kind, new or known. */
static struct sum *find(struct work *work, size_t scope, const struct pdnn_share *share) {
    pdnn_str_clear(&work->name);
    pdnn_str_printf(&work->name, "%zu\n%d", scope, share->is_residual);
    for (size_t by = 0; by < PDNN_BY_COUNT; by++)
        pdnn_str_printf(&work->name, "\n%s", share->key[by]);
    size_t known = work->names.count, number = pdnn_texts_add(&work->names, pdnn_str_text(&work->name));
    if (number == known) {
        work->sum = pdnn_grow(work->sum, &work->room, number, sizeof *work->sum);
        work->sum[number] = (struct sum){.scope = scope, .is_residual = share->is_residual};
        memcpy(work->sum[number].key, share->key, sizeof share->key);
    }
    return &work->sum[number];
}

/* The reciprocal of the logarithmic mean, which is their common value where both are equal. */
static double by_logarithmic_mean(const struct pdnn_comparison *comparison, size_t pair) {
    double a = pdnn_pair_ns(comparison, pair, PDNN_SIDE_A), b = pdnn_pair_ns(comparison, pair, PDNN_SIDE_B);
    double x = (a - b) / b;
    return (fabs(x) < 1e-9 ? 1 : log1p(x) / x) / b;
}

/* Adds one side of a pair to one scope. */
static void add_side(struct work *work, size_t scope, size_t pair, int side, const struct pdnn_share *shares,
                     size_t n_shares) {
    double sign = side == PDNN_SIDE_A ? 1 : -1, by_mean = by_logarithmic_mean(work->comparison, pair);
    for (size_t i = 0; i < n_shares; i++) {
        struct sum *sum = find(work, scope, &shares[i]);
        sum->time_ns[side] += shares[i].work.time_ns;
        sum->effect += sign * shares[i].work.time_ns * by_mean;
        sum->count += sum->last != pair + 1;
        sum->last = pair + 1;
    }
    work->scope[scope].step_ns[side] += pdnn_pair_ns(work->comparison, pair, side);
    work->scope[scope].n_pairs += side == PDNN_SIDE_A;
}

static size_t number_op(struct pdnn_texts *texts, const struct pdnn_op_record *op) {
    struct pdnn_str key = {0};
    pdnn_str_printf(&key, "%s\n%s\n%s\n%s", op->layer, op->op, op->pass, op->shape);
    const size_t number = pdnn_texts_add(texts, pdnn_str_text(&key));
    pdnn_str_finish(&key);
    return number;
}

static const struct pdnn_op_record *const *match(const struct pdnn_op_rows side[PDNN_SIDES],
                                                 struct pdnn_arena *arena) {
    const size_t n = side[PDNN_SIDE_A].count, n_others = side[PDNN_SIDE_B].count;
    const struct pdnn_op_record **other = pdnn_arena_alloc(arena, n + 1, sizeof *other);
    size_t *left = pdnn_arena_alloc(arena, n_others + 1, sizeof *left); /* SIZE_MAX: it is matched */
    struct pdnn_texts texts = {0};
    for (size_t k = 0; k < n_others; k++)
        left[k] = number_op(&texts, &side[PDNN_SIDE_B].op[k]);
    for (size_t i = 0; i < n; i++) {
        const size_t op = number_op(&texts, &side[PDNN_SIDE_A].op[i]);
        size_t k = 0;
        while (k < n_others && left[k] != op)
            k++;
        if (k == n_others)
            continue;
        other[i] = &side[PDNN_SIDE_B].op[k];
        left[k] = SIZE_MAX;
    }
    pdnn_texts_finish(&texts);
    return other;
}

struct pdnn_pair_ops pdnn_pair_ops(const struct pdnn_comparison *comparison, size_t pair,
                                   struct pdnn_ops_reader *readers, struct pdnn_arena *arena) {
    struct pdnn_pair_ops found;
    for (int side = 0; side < PDNN_SIDES; side++) {
        struct pdnn_op_rows *rows = &found.side[side];
        *rows = pdnn_selection_rows(&comparison->selection, comparison->at[pair][side], readers);
        struct pdnn_op_record *kept = pdnn_arena_alloc(arena, rows->count + 1, sizeof *kept);
        for (size_t i = 0; i < rows->count; i++) /* the reader forgets them */
            kept[i] = rows->op[i];
        rows->op = kept;
    }
    found.other = match(found.side, arena);
    return found;
}

/* "dense/forward of resnet50,batch=4: ... on side A, ... on side B". */
static void note_example(struct work *work, const char *id, const struct pdnn_op_record *a,
                         const struct pdnn_op_record *b) {
    struct pdnn_instance instance;
    char name[PDNN_ID_TEXT], side[PDNN_SIDE_TEXT];
    const bool is_known = pdnn_instance_parse(id, &instance, NULL) == PDNN_OK;
    pdnn_str_printf(&work->example, "%s/%s of %s: %s on side A, %s on side %s", a->op, a->pass,
                    is_known ? pdnn_instance_name(&instance, name) : id, a->implementation, b->implementation,
                    pdnn_side_name(work->comparison->number, side));
}

/* Notes the first op of a pair that both sides ran, and each in its own way. */
static void find_other(struct work *work, size_t pair, const struct pdnn_pair_ops *ops) {
    for (size_t i = 0; i < ops->side[PDNN_SIDE_A].count; i++) {
        const struct pdnn_op_record *a = &ops->side[PDNN_SIDE_A].op[i], *b = ops->other[i];
        if (!b || !*a->implementation || !*b->implementation ||
            strcmp(a->implementation, b->implementation) == 0)
            continue;
        if (!work->n_others++)
            note_example(work, pdnn_table_text(&work->comparison->pairs, pair, PDNN_PAIR_ID), a, b);
        return;
    }
}

static void add_pair(struct work *work, struct pdnn_ops_reader *readers, size_t pair,
                     struct pdnn_arena *arena) {
    const struct pdnn_comparison *comparison = work->comparison;
    const struct pdnn_pair_ops ops = pdnn_pair_ops(comparison, pair, readers, arena);
    const size_t family =
        pdnn_texts_find(&work->families, pdnn_table_text(&comparison->pairs, pair, PDNN_PAIR_FAMILY));
    const size_t scopes[] = {0, family}, n_scopes = family && work->families.count > 2 ? 2 : 1;
    size_t n_shares[PDNN_SIDES];
    struct pdnn_share *shares[PDNN_SIDES];
    for (int side = 0; side < PDNN_SIDES; side++)
        n_shares[side] = pdnn_shares(&ops.side[side], work->by, arena, &shares[side]);
    if (!n_shares[PDNN_SIDE_A] || !n_shares[PDNN_SIDE_B])
        return; /* ops.csv lacks it */
    find_other(work, pair, &ops);
    for (size_t k = 0; k < n_scopes; k++)
        for (int side = 0; side < PDNN_SIDES; side++)
            add_side(work, scopes[k], pair, side, shares[side], n_shares[side]);
}

/* By scope; the residual last, the farthest from 1 first; equal effects by key. */
static int compare_sums(const void *a, const void *b) {
    const struct sum *x = a, *y = b;
    double x_effect = fabs(log(x->effect)), y_effect = fabs(log(y->effect));
    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    int order = x->is_residual - y->is_residual;
    if (!order)
        order = (x_effect < y_effect) - (x_effect > y_effect);
    for (size_t by = 0; by < PDNN_BY_COUNT && !order; by++)
        order = strcmp(x->key[by], y->key[by]);
    return order;
}

static void put_row(const struct work *work, const struct sum *sum, struct pdnn_table *ops) {
    const struct scope *scope = &work->scope[sum->scope];
    double all_ns = scope->step_ns[PDNN_SIDE_A] - scope->step_ns[PDNN_SIDE_B];
    double gain_ns = sum->time_ns[PDNN_SIDE_A] - sum->time_ns[PDNN_SIDE_B];
    const size_t row = pdnn_table_add_texts(ops, 1, &work->families.text[sum->scope]);
    pdnn_record_put(ops, row, sum);
    pdnn_table_set_count(ops, row, PDNN_COMPARE_OPS_INSTANCES, sum->count);
    for (size_t side = 0; side < PDNN_SIDES; side++) {
        pdnn_table_set_number(ops, row, PDNN_COMPARE_OPS_A_NS + side, sum->time_ns[side]);
        pdnn_table_set_number(ops, row, PDNN_COMPARE_OPS_A_SHARE + side,
                              sum->time_ns[side] / scope->step_ns[side] * 100);
    }
    pdnn_table_set_number(ops, row, PDNN_COMPARE_OPS_GAIN, gain_ns);
    if (fabs(all_ns) >= LEAST_DIFFERENCE * scope->step_ns[PDNN_SIDE_A])
        pdnn_table_set_number(ops, row, PDNN_COMPARE_OPS_GAIN_PCT, gain_ns == 0 ? 0 : gain_ns / all_ns * 100);
    pdnn_table_set_number(ops, row, PDNN_COMPARE_OPS_EFFECT, sum->effect);
}

/* People see only the keys that ops are summed by. */
static void put_rows(struct work *work, struct pdnn_table *ops) {
    size_t count = work->names.count;
    for (size_t i = 0; i < count; i++)
        work->sum[i].effect = exp(work->sum[i].effect / (double)work->scope[work->sum[i].scope].n_pairs);
    if (count)
        qsort(work->sum, count, sizeof *work->sum, compare_sums);
    for (size_t i = 0; i < count; i++)
        put_row(work, &work->sum[i], ops);
    for (size_t by = 0; by < PDNN_BY_COUNT; by++)
        ops->column[PDNN_COMPARE_OPS_KEYS + by].def.show = PDNN_SHOW_NEVER;
    for (size_t k = 0; k < work->by->count; k++)
        ops->column[PDNN_COMPARE_OPS_KEYS + work->by->by[k]].def.show = PDNN_SHOW_PLAIN;
}

size_t pdnn_compare_ops(const struct pdnn_comparison *comparison, struct pdnn_ops_reader *readers,
                        const struct pdnn_by_list *by, struct pdnn_table *ops, struct pdnn_str *others) {
    struct work work = {.comparison = comparison, .by = by};
    struct pdnn_arena arena = {0};
    pdnn_table_init(ops, &pdnn_compare_ops_def);
    pdnn_texts_add(&work.families, "");
    for (size_t pair = 0; pair < comparison->pairs.n_rows; pair++)
        pdnn_texts_add(&work.families, pdnn_table_text(&comparison->pairs, pair, PDNN_PAIR_FAMILY));
    work.scope = pdnn_alloc(work.families.count, sizeof *work.scope);
    for (size_t pair = 0; pair < comparison->pairs.n_rows; pair++) {
        pdnn_arena_reset(&arena);
        add_pair(&work, readers, pair, &arena);
    }
    put_rows(&work, ops);
    const size_t n_pairs = work.scope[0].n_pairs;
    if (work.n_others)
        pdnn_str_printf(others, "In %zu of %zu the sides ran an op in different implementations, such as %s.",
                        work.n_others, n_pairs, work.example.text);
    pdnn_arena_finish(&arena);
    pdnn_texts_finish(&work.families);
    pdnn_texts_finish(&work.names);
    pdnn_str_finish(&work.name);
    pdnn_str_finish(&work.example);
    free(work.scope);
    free(work.sum);
    return n_pairs;
}
