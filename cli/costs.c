#include "cli/costs.h"
#include "gen/expansion/walk.h"
#include "models/build.h"
#include "results/table/write.h"

#include <stdio.h>

void pdnn_costs_add(struct pdnn_result *row, const struct pdnn_expanded *item) {
    const struct pdnn_cost *cost = &item->totals.cost;
    const char *refusal = pdnn_instance_refusal(&item->instance), *status = "", *reason = "";
    char id[PDNN_ID_TEXT];
    if (item->filtered || item->invalid) {
        status = item->filtered ? "filtered" : "invalid";
        reason = item->reason;
    } else if (!item->has_totals) {
        status = "too big";
        reason = "its counts do not fit in 64 bits";
    } else if (refusal) {
        status = "unsupported";
        reason = refusal;
    }
    pdnn_result_add(row, pdnn_instance_format(&item->instance, id));
    pdnn_result_set_instance(row, &item->instance);
    if (item->has_totals)
        pdnn_result_set_totals(row, &item->totals);
    if (cost->byte_count)
        pdnn_result_set_number(row, PDNN_RESULT_INTENSITY_FLOP_PER_BYTE,
                               (double)cost->in_bounds_flop_count / (double)cost->byte_count);
    pdnn_result_set_text(row, PDNN_RESULT_STATUS, status);
    pdnn_result_set_text(row, PDNN_RESULT_REASON, reason);
}

size_t pdnn_costs_columns(const struct pdnn_result *row, size_t *columns) {
    size_t count = 0;
    for (size_t i = PDNN_RESULT_ID; i < pdnn_result_at(row, PDNN_RESULT_STATUS); i++)
        columns[count++] = i;
    for (enum pdnn_result_column i = PDNN_RESULT_PARAMS; i <= PDNN_RESULT_MEMORY_BYTES; i++)
        columns[count++] = pdnn_result_at(row, i);
    columns[count++] = pdnn_result_at(row, PDNN_RESULT_INTENSITY_FLOP_PER_BYTE);
    columns[count++] = pdnn_result_at(row, PDNN_RESULT_STATUS);
    columns[count++] = pdnn_result_at(row, PDNN_RESULT_REASON);
    return count;
}

/* Appends the table of all instances as CSV. */
static enum pdnn_status write_all(const struct pdnn_spec *spec, struct pdnn_str *text, struct pdnn_err *err) {
    struct pdnn_arena arena = {0};
    struct pdnn_parsed_presets presets = {0};
    struct pdnn_walk walk = {.next = 0};
    struct pdnn_expanded item;
    struct pdnn_table table;
    const struct pdnn_family_def **families;
    const size_t n_families = pdnn_spec_families(spec, &arena, &families);
    const struct pdnn_table_def def = pdnn_results_def(families, n_families, &arena);
    size_t columns[PDNN_TABLE_COLUMNS_MAX];
    enum pdnn_status status;
    pdnn_table_init(&table, &def);
    struct pdnn_result row = pdnn_result_of(&table, 0);
    row.presets = &presets;
    pdnn_walk_start(&walk, spec, 0, true);
    while (pdnn_walk_next(&walk, &item, &status, err))
        pdnn_costs_add(&row, &item);
    struct pdnn_table_writer writer = {.out = text,
                                       .format = PDNN_FORMAT_CSV,
                                       .columns = columns,
                                       .n_columns = pdnn_costs_columns(&row, columns)};
    pdnn_table_write(&writer, &table, NULL);
    pdnn_table_write_end(&writer);
    pdnn_walk_finish(&walk);
    pdnn_table_finish(&table);
    pdnn_arena_finish(&arena);
    return status;
}

enum pdnn_status pdnn_costs_select(struct pdnn_selection *selection, const char *const *specs, size_t n_specs,
                                   const char *const *only, size_t n_only, struct pdnn_err *err) {
    struct pdnn_spec spec;
    struct pdnn_str text = {0}, name = {0};
    if (pdnn_spec_load(specs, n_specs, NULL, 0, &spec, err) != PDNN_OK)
        return err->status;
    pdnn_str_printf(&name, "%s", spec.name ? spec.name : specs[0]);
    if (n_specs > 1)
        pdnn_str_printf(&name, " and %zu more", n_specs - 1);
    enum pdnn_status status = write_all(&spec, &text, err);
    if (status == PDNN_OK)
        status = pdnn_selection_read_costs(selection, pdnn_str_text(&name), &text, only, n_only, err);
    if (status == PDNN_OK && n_only && !selection->count)
        status = pdnn_fail(err, PDNN_INVALID, "no instance has all the values asked for");
    pdnn_str_finish(&text);
    pdnn_str_finish(&name);
    pdnn_spec_finish(&spec);
    return status;
}
