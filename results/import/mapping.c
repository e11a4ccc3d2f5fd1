#include "results/import/mapping.h"

#include <string.h>

const char *const pdnn_import_roles[] = {
    "params",      "step_flop_count", "gflops", "intensity_flop_per_byte",
    "steps_per_s", "examples_per_s",  "time",   "label",
    "model",       "state",           "host",   NULL};

/* The lists of the files that ParaDnn shipped. */
static const char *const paradnn[] = {"label=labels",
                                      "params=params",
                                      "step_flop_count=fl:G",
                                      "gflops=flops",
                                      "intensity_flop_per_byte=intensity",
                                      "steps_per_s=step_per_sec",
                                      "examples_per_s=example_per_sec",
                                      "label=err_jobs",
                                      "state=states"};

static const struct {
    const char *name;
    double factor;
    bool is_time;
} units[] = {{"ns", 1, true},   {"us", 1e3, true}, {"ms", 1e6, true}, {"s", 1e9, true},
             {"k", 1e3, false}, {"M", 1e6, false}, {"G", 1e9, false}, {"T", 1e12, false}};

/* "KEY=COLUMN:UNIT" */
static enum pdnn_status parse_mapped(const char *text, struct pdnn_arena *arena, struct pdnn_mapped *mapped,
                                     struct pdnn_err *err) {
    const char *equals = strchr(text, '='), *colon = strrchr(text, ':');
    size_t role = 0, unit = 0;
    if (!equals || equals == text || !equals[1])
        return pdnn_fail(err, PDNN_INVALID, "--map '%.80s' is not KEY=COLUMN or KEY=COLUMN:UNIT", text);
    const char *key = pdnn_arena_printf(arena, "%.*s", (int)(equals - text), text);
    while (role < PDNN_MAPPED_KEY && strcmp(pdnn_import_roles[role], key) != 0)
        role++;
    while (colon && unit < sizeof units / sizeof *units && strcmp(units[unit].name, colon + 1) != 0)
        unit++;
    const bool has_unit = colon && role < PDNN_MAPPED_NUMBERS && unit < sizeof units / sizeof *units;
    if ((role == PDNN_MAPPED_TIME) != (has_unit && units[unit].is_time) &&
        (role == PDNN_MAPPED_TIME || has_unit))
        return pdnn_fail(err, PDNN_INVALID, "--map '%.80s': %s", text,
                         role == PDNN_MAPPED_TIME
                             ? "a time needs its unit behind the column, :ns, :us, :ms or :s"
                             : "only `time` has such a unit, others :k, :M, :G or :T");
    const char *end = has_unit ? colon : text + strlen(text);
    const char *name = pdnn_arena_printf(arena, "%.*s", (int)(end - equals - 1), equals + 1);
    *mapped =
        (struct pdnn_mapped){(enum pdnn_mapped_role)role, key, name, has_unit ? units[unit].factor : 1, 0};
    return PDNN_OK;
}

/* The group's columns in the file, which are as long as the first. */
static enum pdnn_status find_columns(const char *path, const struct pdnn_import_source *source,
                                     struct pdnn_mapped_group *group, struct pdnn_err *err) {
    const size_t *length = source->length;
    const char *names[PDNN_TABLE_COLUMNS_MAX];
    char suggestion[PDNN_SUGGESTION_TEXT];
    group->rows = &source->rows;
    for (struct pdnn_mapped *column = group->column, *first = column; column < first + group->n; column++) {
        column->at = pdnn_table_find(group->rows, column->name);
        if (column->at == SIZE_MAX) {
            for (size_t i = 0; i < group->rows->n_columns; i++)
                names[i] = group->rows->column[i].def.name;
            pdnn_suggest(suggestion, column->name, names, group->rows->n_columns);
            return pdnn_fail(err, PDNN_INVALID, "%.512s: there is no %s '%.64s'%s", path,
                             source->is_lists ? "list" : "column", column->name, suggestion);
        }
        if (length[column->at] != length[first->at])
            return pdnn_fail(err, PDNN_INVALID, "%.512s: '%.64s' has %zu values, '%.64s' %zu", path,
                             column->name, length[column->at], first->name, length[first->at]);
    }
    group->n_rows = length[group->column->at];
    return PDNN_OK;
}

enum pdnn_status pdnn_mapping_make(struct pdnn_mapping *mapping, const struct pdnn_import_request *request,
                                   const struct pdnn_import_source *source, struct pdnn_arena *arena,
                                   struct pdnn_err *err) {
    const bool is_paradnn = !request->n_map;
    const char *const *map = is_paradnn ? paradnn : request->map;
    const size_t n_map = is_paradnn ? sizeof paradnn / sizeof *paradnn : request->n_map;
    struct pdnn_mapped *all = pdnn_arena_alloc(arena, n_map, sizeof *all);
    struct pdnn_mapped_group *group = mapping->group;
    bool needs_model = false, has_flop = false;
    *mapping = (struct pdnn_mapping){.n_groups = 0};
    *group = (struct pdnn_mapped_group){.column = all};
    mapping->n_mapped = n_map;
    for (size_t i = 0; i < n_map; i++) {
        if (parse_mapped(map[i], arena, &all[i], err) != PDNN_OK)
            return err->status;
        bool is_there = false;
        for (size_t k = 0; k < group->n; k++)
            is_there = is_there || strcmp(group->column[k].key, all[i].key) == 0;
        if (is_there && group == mapping->group &&
            (all[i].role == PDNN_MAPPED_LABEL || all[i].role == PDNN_MAPPED_MODEL))
            *++group = (struct pdnn_mapped_group){.column = &all[i]};
        else if (is_there)
            return pdnn_fail(err, PDNN_INVALID, "--map has %s twice", all[i].key);
        group->n++;
        if (all[i].role != PDNN_MAPPED_KEY)
            group->of[all[i].role] = &all[i];
    }
    for (struct pdnn_mapped_group *g = mapping->group; g <= group; g++) {
        mapping->n_groups++;
        needs_model = needs_model || (!g->of[PDNN_MAPPED_LABEL] && !g->of[PDNN_MAPPED_MODEL]);
        has_flop = has_flop || g->of[PDNN_MAPPED_FLOP] || g->of[PDNN_MAPPED_GFLOPS];
        if (needs_model && !request->model)
            return pdnn_fail(err, PDNN_INVALID,
                             "no column says the model: give --map model=COLUMN or --model");
        if (!g->of[PDNN_MAPPED_TIME] && !g->of[PDNN_MAPPED_STEPS] && !g->of[PDNN_MAPPED_EXAMPLES] &&
            !g->of[PDNN_MAPPED_STATE])
            return pdnn_fail(err, PDNN_INVALID,
                             "no column says the time: give --map time=COLUMN:UNIT, "
                             "steps_per_s=COLUMN or examples_per_s=COLUMN");
        if (find_columns(request->path, source, g, err) != PDNN_OK)
            return is_paradnn ? pdnn_wrap(err, "not as ParaDnn shipped, and --map names no columns")
                              : err->status;
        mapping->n_rows += g->n_rows;
    }
    if (request->model && !needs_model)
        return pdnn_fail(err, PDNN_INVALID, "--model does nothing here: %s says the models",
                         is_paradnn ? "a file of ParaDnn's" : "a column");
    if (request->shards > 1 && !has_flop)
        return pdnn_fail(err, PDNN_INVALID, "--shards does nothing here: no column has FLOP or their rate");
    return mapping->n_rows ? PDNN_OK : pdnn_fail(err, PDNN_INVALID, "%.512s: no instances", request->path);
}

const char *pdnn_mapped_text(const struct pdnn_mapped_group *group, size_t row, enum pdnn_mapped_role role) {
    const struct pdnn_mapped *of = group->of[role];
    return of ? pdnn_table_text(group->rows, row, of->at) : "";
}

bool pdnn_mapping_has(const struct pdnn_mapping *mapping, size_t column) {
    size_t i = 0;
    while (i < mapping->n_mapped && mapping->group->column[i].at != column)
        i++;
    return i < mapping->n_mapped;
}
