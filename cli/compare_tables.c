#include "cli/compare_tables.h"
#include "base/units.h"
#include "base/visible.h"
#include "base/fill.h"
#include "cli/terminal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void pdnn_compare_append(struct pdnn_str *out, struct pdnn_sheet *table) {
    pdnn_sheet_format(table, pdnn_terminal_width(STDOUT_FILENO), out);
    pdnn_sheet_finish(table);
}

/* Three significant digits; empty for NaN. */
const char *pdnn_ratio_format(char text[PDNN_UNIT_TEXT], double ratio) {
    if (isnan(ratio))
        snprintf(text, PDNN_UNIT_TEXT, "%s", "");
    else if (ratio >= 99.95 && ratio < 99999.5)
        snprintf(text, PDNN_UNIT_TEXT, "%.0f", ratio);
    else
        snprintf(text, PDNN_UNIT_TEXT, "%#.3g", ratio);
    return text;
}

static void add_ratio(struct pdnn_sheet *table, double ratio) {
    char text[PDNN_UNIT_TEXT];
    pdnn_sheet_cell(table, "%s", pdnn_ratio_format(text, ratio));
}

/* "1.25 to 1.39"; empty if it is unknown. */
void pdnn_interval_append(struct pdnn_str *out, double low, double high) {
    char text[PDNN_UNIT_TEXT];
    if (isnan(low) || isnan(high))
        return;
    pdnn_str_printf(out, "%s to ", pdnn_ratio_format(text, low));
    pdnn_str_printf(out, "%s", pdnn_ratio_format(text, high));
}

static void add_interval(struct pdnn_sheet *table, double low, double high) {
    struct pdnn_str text = {0};
    pdnn_interval_append(&text, low, high);
    pdnn_sheet_cell(table, "%s", pdnn_str_text(&text));
    pdnn_str_finish(&text);
}

static void add_ns(struct pdnn_sheet *table, double ns) {
    char text[PDNN_UNIT_TEXT];
    const char *sign = ns < 0 ? "-" : "";
    pdnn_sheet_cell(table, "%s%s", sign, pdnn_format_ns(text, fabs(ns)));
}

const struct pdnn_sheet_column pdnn_ratio_sum_columns[PDNN_RATIO_SUM_COLUMNS] = {
    {"instances", PDNN_ALIGN_RIGHT | PDNN_SPARE(1)},
    {"mean", PDNN_ALIGN_RIGHT},
    {"95 % interval", PDNN_ALIGN_RIGHT},
    {"least", PDNN_ALIGN_RIGHT | PDNN_SPARE(2)},
    {"greatest", PDNN_ALIGN_RIGHT | PDNN_SPARE(3)},
    {"faster", PDNN_ALIGN_RIGHT},
    {"slower", PDNN_ALIGN_RIGHT},
    {"undecided", PDNN_ALIGN_RIGHT | PDNN_SPARE(4)}};

void pdnn_compare_add_sum(struct pdnn_sheet *table, const struct pdnn_ratio_sum *sum) {
    pdnn_sheet_cell(table, "%zu", sum->count);
    add_ratio(table, sum->mean);
    add_interval(table, sum->low, sum->high);
    add_ratio(table, sum->least);
    add_ratio(table, sum->greatest);
    pdnn_sheet_cell(table, "%zu", sum->n_decided[PDNN_FASTER]);
    pdnn_sheet_cell(table, "%zu", sum->n_decided[PDNN_SLOWER]);
    pdnn_sheet_cell(table, "%zu", sum->n_decided[PDNN_UNDECIDED]);
}

/* The keys that ops are summed by, before the given columns. */
size_t pdnn_compare_op_columns(struct pdnn_sheet_column *columns, const struct pdnn_by_list *by,
                               bool with_family) {
    static const struct pdnn_sheet_column sums[] = {{"instances", PDNN_ALIGN_RIGHT | PDNN_SPARE(3)},
                                                    {"A", PDNN_ALIGN_RIGHT},
                                                    {"B", PDNN_ALIGN_RIGHT},
                                                    {"B saves", PDNN_ALIGN_RIGHT | PDNN_SPARE(1)},
                                                    {"of all", PDNN_ALIGN_RIGHT | PDNN_SPARE(2)},
                                                    {"effect", PDNN_ALIGN_RIGHT}};
    size_t count = 0;
    if (with_family)
        columns[count++] = (struct pdnn_sheet_column){"among", PDNN_ALIGN_GROUP};
    for (size_t k = 0; k < by->count; k++)
        columns[count++] = (struct pdnn_sheet_column){pdnn_by_name(by->by[k]), PDNN_ALIGN_WRAP};
    memcpy(columns + count, sums, sizeof sums);
    return count + sizeof sums / sizeof *sums;
}

void pdnn_compare_add_op(struct pdnn_sheet *table, const struct pdnn_by_list *by,
                         const struct pdnn_compare_op *op) {
    for (size_t k = 0; k < by->count; k++)
        pdnn_sheet_cell(table, "%s", op->key[by->by[k]]);
    pdnn_sheet_cell(table, "%zu", op->count);
    for (int side = 0; side < PDNN_SIDES; side++)
        add_ns(table, op->time_ns[side]);
    add_ns(table, op->gain_ns);
    pdnn_sheet_number(table, op->gain_pct, 1, " %");
    add_ratio(table, op->effect);
}

const struct pdnn_sheet_column pdnn_pair_columns[PDNN_PAIR_COLUMNS] = {
    {"ratio", PDNN_ALIGN_RIGHT},
    {"95 % interval", PDNN_ALIGN_RIGHT | PDNN_SPARE(2)},
    {"B is", PDNN_ALIGN_LEFT | PDNN_SPARE(1)},
    {"A", PDNN_ALIGN_RIGHT},
    {"B", PDNN_ALIGN_RIGHT},
    {"instance", PDNN_ALIGN_WRAP}};

void pdnn_compare_find_varying(struct pdnn_compared *compared) {
    const struct pdnn_comparison *comparison = &compared->comparison;
    bool *varies = pdnn_arena_alloc(&compared->arena, comparison->n_keys + 1, sizeof *varies);
    for (size_t k = 0; k < comparison->n_keys; k++) {
        const char *value = "";
        varies[k] = false;
        for (size_t i = 0; i < comparison->n_pairs && !varies[k]; i++) {
            const char *other = comparison->pair[i].value[k];
            varies[k] = *value && *other && strcmp(value, other) != 0;
            value = *other ? other : value;
        }
    }
    compared->one_family = true;
    for (size_t i = 1; i < comparison->n_pairs && compared->one_family; i++)
        compared->one_family = strcmp(comparison->pair[i].family, comparison->pair[0].family) == 0;
    compared->varies = varies;
}

/* "key=" in an id, behind the family or a comma. */
static bool is_in_id(const char *id, const char *key) {
    size_t length = strlen(key);
    for (const char *found = id; (found = strstr(found, key)); found++)
        if (found > id && strchr("/:,", found[-1]) && found[length] == '=')
            return true;
    return false;
}

/* A key and its value behind what is there already. */
static void append_value(struct pdnn_str *out, const char *separator, const char *key, const char *value) {
    pdnn_str_printf(out, "%s%s=%s", out->length ? separator : "", key, value);
}

void pdnn_compare_append_common(struct pdnn_str *out, const struct pdnn_compared *compared) {
    const struct pdnn_comparison *comparison = &compared->comparison;
    struct pdnn_str common = {0}, text = {0};
    if (!compared->varies || comparison->n_pairs < 2)
        return;
    const struct pdnn_pair *first = &comparison->pair[0];
    if (compared->one_family)
        pdnn_str_printf(&common, "%s", first->family);
    for (size_t k = 0; k < comparison->n_keys; k++)
        if (!compared->varies[k] && is_in_id(first->id, comparison->key[k]))
            append_value(&common, ", ", comparison->key[k], first->value[k]);
    if (common.length) {
        pdnn_str_printf(&text, "not repeated below: ");
        pdnn_visible_append(&text, pdnn_str_text(&common), common.length, "");
        pdnn_fill_text(out, pdnn_str_text(&text), 2, pdnn_terminal_width(STDOUT_FILENO));
        pdnn_str_append(out, "\n", 1);
    }
    pdnn_str_finish(&common);
    pdnn_str_finish(&text);
}

/* What varies among the pairs, or the id. */
static void add_instance(struct pdnn_sheet *table, const struct pdnn_compared *compared,
                         const struct pdnn_pair *pair) {
    const struct pdnn_comparison *comparison = &compared->comparison;
    struct pdnn_str text = {0};
    if (compared->varies && !compared->one_family)
        pdnn_str_printf(&text, "%s", pair->family);
    for (size_t k = 0; compared->varies && k < comparison->n_keys; k++)
        if (compared->varies[k] && *pair->value[k])
            append_value(&text, ",", comparison->key[k], pair->value[k]);
    pdnn_sheet_cell(table, "%s", text.length ? pdnn_str_text(&text) : pair->id);
    pdnn_str_finish(&text);
}

void pdnn_compare_add_pair(struct pdnn_sheet *table, const struct pdnn_compared *compared,
                           const struct pdnn_pair *pair) {
    add_ratio(table, pair->ratio);
    add_interval(table, pair->low, pair->high);
    pdnn_sheet_cell(table, "%s", pair->decision == PDNN_UNDECIDED ? "" : pdnn_decision_name(pair->decision));
    for (int side = 0; side < PDNN_SIDES; side++)
        add_ns(table, pair->ns[side]);
    add_instance(table, compared, pair);
}

const char *pdnn_compare_status_name(const char *status) {
    return *status ? status : "absent";
}

static const char *scope_name(const char *family) {
    return *family ? family : "all";
}

void pdnn_compare_pairs_text(struct pdnn_str *out, const struct pdnn_compared *compared) {
    struct pdnn_sheet table;
    pdnn_compare_append_common(out, compared);
    pdnn_sheet_init(&table, pdnn_pair_columns, PDNN_PAIR_COLUMNS);
    for (size_t i = 0; i < compared->comparison.n_pairs; i++)
        pdnn_compare_add_pair(&table, compared, &compared->comparison.pair[i]);
    pdnn_compare_append(out, &table);
}

void pdnn_compare_groups_text(struct pdnn_str *out, const struct pdnn_compared *compared) {
    struct pdnn_sheet_column columns[3 + PDNN_RATIO_SUM_COLUMNS] = {
        {"among", PDNN_ALIGN_GROUP}, {"key", PDNN_ALIGN_WRAP}, {"value", PDNN_ALIGN_WRAP}};
    struct pdnn_sheet table;
    memcpy(columns + 3, pdnn_ratio_sum_columns, sizeof pdnn_ratio_sum_columns);
    pdnn_sheet_init(&table, columns, 3 + PDNN_RATIO_SUM_COLUMNS);
    for (size_t i = 0; i < compared->sums.n_groups; i++) {
        const struct pdnn_compare_group *group = &compared->sums.group[i];
        pdnn_sheet_cell(&table, "%s", scope_name(group->family));
        pdnn_sheet_cell(&table, "%s", group->key);
        pdnn_sheet_cell(&table, "%s", group->value);
        pdnn_compare_add_sum(&table, &group->sum);
    }
    pdnn_compare_append(out, &table);
}

static void add_p_value(struct pdnn_sheet *table, double p_value) {
    if (isnan(p_value))
        pdnn_sheet_cell(table, "%s", "");
    else
        pdnn_sheet_cell(table, "%.2g", p_value);
}

void pdnn_compare_axes_text(struct pdnn_str *out, const struct pdnn_compared *compared) {
    static const struct pdnn_sheet_column columns[] = {{"among", PDNN_ALIGN_GROUP},
                                                       {"key", PDNN_ALIGN_WRAP},
                                                       {"values", PDNN_ALIGN_RIGHT | PDNN_SPARE(2)},
                                                       {"instances", PDNN_ALIGN_RIGHT | PDNN_SPARE(1)},
                                                       {"explains", PDNN_ALIGN_RIGHT},
                                                       {"adjusted", PDNN_ALIGN_RIGHT},
                                                       {"p value", PDNN_ALIGN_RIGHT}};
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < compared->sums.n_axes; i++) {
        const struct pdnn_compare_axis *axis = &compared->sums.axis[i];
        pdnn_sheet_cell(&table, "%s", scope_name(axis->family));
        pdnn_sheet_cell(&table, "%s", axis->key);
        pdnn_sheet_cell(&table, "%zu", axis->n_values);
        pdnn_sheet_cell(&table, "%zu", axis->count);
        pdnn_sheet_number(&table, axis->explained * 100, 1, " %");
        pdnn_sheet_number(&table, axis->adjusted * 100, 1, " %");
        add_p_value(&table, axis->p_value);
    }
    pdnn_compare_append(out, &table);
}

void pdnn_compare_ops_text(struct pdnn_str *out, const struct pdnn_compared *compared) {
    struct pdnn_sheet_column columns[PDNN_SHEET_COLUMNS_MAX];
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, columns, pdnn_compare_op_columns(columns, &compared->by, true));
    for (size_t i = 0; i < compared->ops.count; i++) {
        pdnn_sheet_cell(&table, "%s", scope_name(compared->ops.op[i].family));
        pdnn_compare_add_op(&table, &compared->by, &compared->ops.op[i]);
    }
    pdnn_compare_append(out, &table);
}

void pdnn_compare_unpaired_text(struct pdnn_str *out, const struct pdnn_compared *compared) {
    static const struct pdnn_sheet_column columns[] = {{"A", PDNN_ALIGN_LEFT},
                                                       {"B", PDNN_ALIGN_LEFT},
                                                       {"instance", PDNN_ALIGN_WRAP},
                                                       {"reason", PDNN_ALIGN_WRAP | PDNN_SPARE(1)}};
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < compared->comparison.n_unpaired; i++) {
        const struct pdnn_unpaired *unpaired = &compared->comparison.unpaired[i];
        const char *a = unpaired->reason[PDNN_SIDE_A], *b = unpaired->reason[PDNN_SIDE_B];
        for (int side = 0; side < PDNN_SIDES; side++)
            pdnn_sheet_cell(&table, "%s", pdnn_compare_status_name(unpaired->status[side]));
        pdnn_sheet_cell(&table, "%s", unpaired->id);
        pdnn_sheet_cell(&table, "%s%s%s", a, *a && *b && strcmp(a, b) != 0 ? "; " : "",
                        strcmp(a, b) != 0 ? b : "");
    }
    pdnn_compare_append(out, &table);
}
