#include "results/compare/compared.h"
#include "base/memory.h"
#include "results/compare/settle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Ids lack the keys that differ, which need not be the same beside each side. */
const struct pdnn_beside pdnn_pairs_beside = {
    PDNN_PAIR_KEYS, (const size_t[]){PDNN_PAIR_A_ID},
    (const size_t[]){PDNN_PAIR_ID, PDNN_PAIR_FAMILY, PDNN_PAIR_A_NS}, 1, 3};
const struct pdnn_beside pdnn_unpaired_beside = {
    PDNN_UNPAIRED_COLUMNS, (const size_t[]){PDNN_UNPAIRED_ID},
    (const size_t[]){PDNN_UNPAIRED_A_ID, PDNN_UNPAIRED_A_STATUS, PDNN_UNPAIRED_A_REASON}, 1, 3};
const struct pdnn_beside pdnn_groups_beside = {
    PDNN_GROUP_COLUMNS, (const size_t[]){PDNN_GROUP_FAMILY, PDNN_GROUP_KEY, PDNN_GROUP_VALUE}, NULL, 3, 0};
const struct pdnn_beside pdnn_axes_beside = {
    PDNN_COMPARE_AXIS_COLUMNS, (const size_t[]){PDNN_COMPARE_AXIS_FAMILY, PDNN_COMPARE_AXIS_KEY}, NULL, 2, 0};
static const size_t op_keys[] = {PDNN_COMPARE_OPS_FAMILY,   PDNN_COMPARE_OPS_KEYS,
                                 PDNN_COMPARE_OPS_KEYS + 1, PDNN_COMPARE_OPS_KEYS + 2,
                                 PDNN_COMPARE_OPS_KEYS + 3, PDNN_COMPARE_OPS_KEYS + 4};
_Static_assert(sizeof op_keys / sizeof *op_keys == 1 + PDNN_BY_COUNT, "a key for each part");
const struct pdnn_beside pdnn_compare_ops_beside = {PDNN_COMPARE_OPS_COLUMNS, op_keys, NULL,
                                                    1 + PDNN_BY_COUNT, 0};

/* How many values each key of --across names, where any does, in *count: "threads=1:2:4" has three. */
static enum pdnn_status count_values(const char *across, size_t *count, struct pdnn_err *err) {
    const char *part, *first = NULL;
    for (size_t n; (part = pdnn_part_next(&across, ",", &n));) {
        size_t values = 0;
        for (size_t i = 0; i < n; i++)
            values += values ? part[i] == ':' : part[i] == '=';
        if (first && values && values != *count)
            return pdnn_fail(err, PDNN_INVALID, "--across has %zu values of %.*s and %zu of %.*s", *count,
                             (int)strcspn(first, "="), first, values, (int)strcspn(part, "="), part);
        if (values) {
            first = part;
            *count = values;
        }
    }
    return PDNN_OK;
}

/* The keys with A's value and that of another side: "threads=1:4". */
static void name_values(const char *across, size_t side, struct pdnn_str *out) {
    const char *part;
    for (size_t n; (part = pdnn_part_next(&across, ",", &n));) {
        const size_t key = strcspn(part, "=:,") + 1;
        if (out->length)
            pdnn_str_append(out, ",", 1);
        if (key > n) {
            pdnn_str_append(out, part, n);
            continue;
        }
        const char *value = part + key;
        pdnn_str_append(out, part, key + strcspn(value, ":,"));
        for (size_t at = 0; at < side && value[strcspn(value, ":,")] == ':'; at++)
            value += strcspn(value, ":,") + 1;
        if (value > part + key)
            pdnn_str_printf(out, ":%.*s", (int)strcspn(value, ":,"), value);
    }
}

enum pdnn_status pdnn_comparisons_open(struct pdnn_comparisons *comparisons,
                                       const struct pdnn_compare_request *request, struct pdnn_err *err) {
    const bool several = request->n_directories > 1;
    struct pdnn_comparisons made = {.n = 0};
    enum pdnn_status status = pdnn_selection_open_all(
        &made.selection, request->directories, request->n_directories, request->only, request->n_only, err);
    if (status != PDNN_OK)
        return status;
    size_t n_sides = several ? request->n_directories : PDNN_SIDES;
    if (!several && request->across)
        status = count_values(request->across, &n_sides, err);
    n_sides = n_sides < PDNN_SIDES ? PDNN_SIDES : n_sides;
    made.of = pdnn_alloc(n_sides, sizeof *made.of);
    for (size_t side = 1; side < n_sides && status == PDNN_OK; side++) {
        struct pdnn_str across = {0};
        if (!several && request->across)
            name_values(request->across, side, &across);
        status = pdnn_comparison_make(&made.of[made.n], &made.selection, several ? side : 0,
                                      across.length ? across.text : request->across, err);
        pdnn_str_finish(&across);
        if (status == PDNN_OK) {
            made.of[made.n++].number = side;
            status = pdnn_comparison_settle(&made.of[made.n - 1], err);
        }
        if (status != PDNN_OK && request->n_directories > 2)
            pdnn_wrap(err, "%.512s", request->directories[side]);
    }
    if (status == PDNN_OK)
        *comparisons = made;
    else
        pdnn_comparisons_close(&made);
    return status;
}

void pdnn_comparisons_close(struct pdnn_comparisons *comparisons) {
    for (size_t i = 0; i < comparisons->n; i++)
        pdnn_comparison_close(&comparisons->of[i]);
    free(comparisons->of);
    pdnn_selection_close(&comparisons->selection);
    *comparisons = (struct pdnn_comparisons){.n = 0};
}

/* An instance that one side lacks may have a pair on another one. */
static void fill_statuses(struct pdnn_compared *c) {
    const size_t n = c->n, id = pdnn_beside_column(&pdnn_unpaired_beside, n, PDNN_UNPAIRED_A_ID, 1);
    for (size_t i = 0; i < n && n > 1; i++) {
        const struct pdnn_table *pairs = &c->side[i].of->pairs;
        const size_t b_id = pdnn_beside_column(&pdnn_unpaired_beside, n, PDNN_UNPAIRED_B_ID, i + 1),
                     status = pdnn_beside_column(&pdnn_unpaired_beside, n, PDNN_UNPAIRED_B_STATUS, i + 1);
        struct pdnn_texts known = {0};
        for (size_t pair = 0; pair < pairs->n_rows; pair++)
            pdnn_texts_add(&known, pdnn_table_text(pairs, pair, PDNN_PAIR_A_ID));
        for (size_t row = 0; row < c->unpaired.n_rows; row++) {
            const size_t pair = pdnn_texts_find(&known, pdnn_table_text(&c->unpaired, row, id));
            if (pair == SIZE_MAX || !pdnn_table_is_empty(&c->unpaired, row, status))
                continue;
            pdnn_table_set_text(&c->unpaired, row, b_id, pdnn_table_text(pairs, pair, PDNN_PAIR_B_ID));
            pdnn_table_set_text(&c->unpaired, row, status, "ok");
        }
        pdnn_texts_finish(&known);
    }
}

static void join(struct pdnn_compared *c) {
    const struct pdnn_table **of[5];
    for (size_t k = 0; k < 5; k++)
        of[k] = pdnn_alloc(c->n, sizeof **of);
    for (size_t i = 0; i < c->n; i++) {
        const struct pdnn_compared_side *side = &c->side[i];
        const struct pdnn_table *tables[] = {&side->of->pairs, &side->of->unpaired, &side->groups,
                                             &side->axes, &side->ops};
        for (size_t k = 0; k < 5; k++)
            of[k][i] = tables[k];
    }
    pdnn_tables_beside(of[0], c->n, &pdnn_pairs_beside, &c->pairs);
    pdnn_tables_beside(of[1], c->n, &pdnn_unpaired_beside, &c->unpaired);
    pdnn_tables_beside(of[2], c->n, &pdnn_groups_beside, &c->groups);
    pdnn_tables_beside(of[3], c->n, &pdnn_axes_beside, &c->axes);
    pdnn_tables_beside(of[4], c->n, &pdnn_compare_ops_beside, &c->ops);
    for (size_t k = 0; k < 5; k++)
        free(of[k]);
    fill_statuses(c);
}

void pdnn_compared_make(struct pdnn_compared *compared, const struct pdnn_comparison *of, size_t n,
                        struct pdnn_ops_reader *readers, const struct pdnn_by_list *by) {
    *compared = (struct pdnn_compared){.side = pdnn_alloc(n, sizeof *compared->side), .n = n};
    for (size_t i = 0; i < n; i++) {
        struct pdnn_compared_side *side = &compared->side[i];
        side->of = &of[i];
        pdnn_side_name(side->of->number, side->name);
        pdnn_compare_sums(side->of, &side->groups, &side->axes);
        side->n_op_pairs = pdnn_compare_ops(side->of, readers, by, &side->ops, &side->others);
    }
    join(compared);
}

void pdnn_compared_finish(struct pdnn_compared *compared) {
    for (size_t i = 0; i < compared->n; i++) {
        pdnn_table_finish(&compared->side[i].groups);
        pdnn_table_finish(&compared->side[i].axes);
        pdnn_table_finish(&compared->side[i].ops);
        pdnn_str_finish(&compared->side[i].others);
    }
    free(compared->side);
    pdnn_table_finish(&compared->pairs);
    pdnn_table_finish(&compared->groups);
    pdnn_table_finish(&compared->axes);
    pdnn_table_finish(&compared->ops);
    pdnn_table_finish(&compared->unpaired);
    *compared = (struct pdnn_compared){.n = 0};
}
