#include "cli/vary.h"

#include "base/units.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "results/table/sheet.h"
#include "gen/axis.h"
#include "models/build.h"
#include "models/sharing.h"
#include "results/tables/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Splits KEY=LIST and finds the key's row. */
static enum pdnn_status read_key(struct pdnn_vary *vary, const char *text,
                                 const struct pdnn_instance *instance, const char **list,
                                 struct pdnn_err *err) {
    const struct pdnn_family_def *family = instance->family;
    char *key = pdnn_arena_strdup(&vary->arena, text);
    char *equals = strchr(key, '=');
    if (!equals || equals == key)
        return pdnn_fail(err, PDNN_INVALID, "expected a key and its values, such as batch=1,16,64");
    *equals = 0;
    *list = equals + 1;
    int row = pdnn_param_find(family->params, family->n_params, key);
    if (row < 0 && pdnn_param_find(pdnn_settings, PDNN_SETTING_COUNT, key) >= 0)
        return pdnn_fail(err, PDNN_INVALID, "%s is a run setting, expected a hyper-parameter of %s", key,
                         family->name);
    if (row < 0)
        return pdnn_instance_unknown_key(family, key, err);
    vary->param = (size_t)row;
    vary->def = &family->params[row];
    return pdnn_hyper_check(instance, vary->param, err);
}

/* The values as an axis of a spec; the brackets of a list may be left out. */
static enum pdnn_status read_axis(struct pdnn_vary *vary, const char *list, struct pdnn_axis *axis,
                                  struct pdnn_err *err) {
    bool is_bare = *list != '[' && *list != '{';
    const char *text = pdnn_arena_printf(&vary->arena, is_bare ? "[%s]" : "%s", list);
    struct pdnn_yaml *root;
    const struct pdnn_yaml_input input = {
        .file = vary->option, .whole_name = true, .text = text, .length = strlen(text)};
    enum pdnn_status status = pdnn_yaml_parse(&input, &vary->arena, &root, err);
    *axis = (struct pdnn_axis){.index = (int)vary->param};
    if (status == PDNN_OK)
        status = pdnn_axis_read(vary->def, root, &vary->arena, axis, err);
    if (status == PDNN_OK && axis->count > PDNN_AXIS_VALUES)
        return pdnn_yaml_fail(root, err, "%s has %" PRIu64 " values, the limit is %d", vary->def->name,
                              axis->count, PDNN_AXIS_VALUES);
    return status;
}

enum pdnn_status pdnn_vary_read(struct pdnn_vary *vary, const char *text, const char *id,
                                struct pdnn_err *err) {
    struct pdnn_instance instance;
    struct pdnn_axis axis;
    const char *list = NULL;
    *vary = (struct pdnn_vary){0};
    vary->option = pdnn_arena_printf(&vary->arena, "--vary %.160s", text);
    enum pdnn_status status = pdnn_instance_parse(id, &instance, err);
    if (status == PDNN_OK)
        status = read_key(vary, text, &instance, &list, err);
    if (status != PDNN_OK)
        return pdnn_wrap(err, "%s", vary->option);
    status = read_axis(vary, list, &axis, err);
    if (status != PDNN_OK)
        return status;
    vary->ids = pdnn_arena_alloc(&vary->arena, axis.count, sizeof *vary->ids);
    for (; vary->count < axis.count; vary->count++) {
        char buffer[PDNN_ID_TEXT];
        pdnn_axis_apply(&axis, vary->count, &instance);
        vary->ids[vary->count] = pdnn_arena_strdup(&vary->arena, pdnn_instance_format(&instance, buffer));
    }
    return PDNN_OK;
}

void pdnn_vary_finish(struct pdnn_vary *vary) {
    pdnn_arena_finish(&vary->arena);
    *vary = (struct pdnn_vary){0};
}

static const char *format_value(const struct pdnn_vary *vary, const struct pdnn_instance *instance,
                                char buffer[PDNN_PARAM_TEXT]) {
    return pdnn_param_format(vary->def, instance->hyper[vary->param], buffer);
}

static enum pdnn_status compare(const struct pdnn_vary *vary, const struct pdnn_task *task,
                                const struct pdnn_task *first, struct pdnn_err *err) {
    struct pdnn_arena arena = {0}, first_arena = {0};
    struct pdnn_graph graph, first_graph;
    char value[PDNN_PARAM_TEXT], first_value[PDNN_PARAM_TEXT];
    if (memcmp(task->instance.setting, first->instance.setting, sizeof first->instance.setting) != 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: the run settings must have one value each", vary->option);
    enum pdnn_status status = pdnn_instance_graph(&task->instance, &arena, &graph, err);
    if (status == PDNN_OK)
        status = pdnn_instance_graph(&first->instance, &first_arena, &first_graph, err);
    if (status == PDNN_OK)
        status = pdnn_graph_shares(&graph, &first_graph, err);
    if (status != PDNN_OK)
        pdnn_wrap(err, "%s: %s=%s has different weights from %s", vary->option, vary->def->name,
                  format_value(vary, &task->instance, value),
                  format_value(vary, &first->instance, first_value));
    pdnn_arena_finish(&arena);
    pdnn_arena_finish(&first_arena);
    return status;
}

enum pdnn_status pdnn_vary_check(struct pdnn_vary *vary, const struct pdnn_session *session,
                                 struct pdnn_err *err) {
    const struct pdnn_task *first = NULL, *largest = NULL;
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; status == PDNN_OK && i < session->n_tasks; i++) {
        const struct pdnn_task *task = &session->tasks[i];
        if (task->closed)
            continue;
        if (first)
            status = compare(vary, task, first, err);
        first = first ? first : task;
        largest = !largest || task->memory_bytes > largest->memory_bytes ? task : largest;
    }
    vary->largest = largest ? largest->id : NULL;
    return status;
}

/* The memory of separate plans is known for the values that were visited, so only those are added up. */
static void append_set(const struct pdnn_record *records, size_t n_records, const struct pdnn_visit_set *set,
                       struct pdnn_str *out) {
    char shared[PDNN_UNIT_TEXT], block[PDNN_UNIT_TEXT], alone[PDNN_UNIT_TEXT];
    uint64_t alone_bytes = 0;
    for (size_t i = 0; i < n_records; i++)
        alone_bytes += records[i].outcome == PDNN_OUTCOME_OK ? records[i].plan_bytes : 0;
    pdnn_str_printf(out, "  shared   %s of weights and state\n",
                    pdnn_format_bytes(shared, (double)set->shared_bytes));
    pdnn_str_printf(out, "  memory   one block of %s; separate plans would take %s\n",
                    pdnn_format_bytes(block, (double)set->block_bytes),
                    pdnn_format_bytes(alone, (double)alone_bytes));
    pdnn_str_printf(out, "  programs %" PRIu64 " prepared, %" PRIu64 " kept, at most %" PRIu64 "\n",
                    set->prepared, set->kept, set->most);
}

static void add_time(struct pdnn_sheet *table, double ns) {
    char text[PDNN_UNIT_TEXT];
    pdnn_sheet_cell(table, "%s", isnan(ns) ? "" : pdnn_format_ns(text, ns));
}

static void add_row(const struct pdnn_vary *vary, const struct pdnn_record *record,
                    struct pdnn_sheet *table) {
    char value[PDNN_PARAM_TEXT];
    bool is_ok = record->outcome == PDNN_OUTCOME_OK;
    pdnn_sheet_cell(table, "%s", format_value(vary, &record->instance, value));
    add_time(table, record->time_ns_median);
    add_time(table, record->ci_low_ns);
    add_time(table, record->ci_high_ns);
    pdnn_sheet_number(table, record->examples_per_s, 1, "");
    pdnn_sheet_number(table, record->place.gflops, 1, "");
    pdnn_report_pct_of_roof(table, record->place.pct_of_roof);
    add_time(table, is_ok ? (double)record->prepare_ns : NAN);
    pdnn_sheet_cell(table, "%s%s%s", pdnn_outcome_name(record->outcome), is_ok ? "" : ": ", record->reason);
}

static void append_table(const struct pdnn_vary *vary, const struct pdnn_record *records, size_t n_records,
                         struct pdnn_str *out) {
    const struct pdnn_sheet_column columns[] = {
        {vary->def->name, PDNN_ALIGN_RIGHT},
        {"time", PDNN_ALIGN_RIGHT},
        {"95 % from", PDNN_ALIGN_RIGHT | PDNN_SPARE(2)},
        {"to", PDNN_ALIGN_RIGHT | PDNN_SPARE(2)},
        {"examples/s", PDNN_ALIGN_RIGHT | PDNN_SPARE(3)},
        {"GFLOP/s", PDNN_ALIGN_RIGHT},
        {"% of roof", PDNN_ALIGN_RIGHT},
        {"prepare", PDNN_ALIGN_RIGHT | PDNN_SPARE(1)},
        {"status", PDNN_ALIGN_WRAP},
    };
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < n_records; i++)
        add_row(vary, &records[i], &table);
    pdnn_sheet_format(&table, pdnn_terminal_width(STDOUT_FILENO), out);
    pdnn_sheet_finish(&table);
}

static void append_csv(const struct pdnn_record *records, size_t n_records, struct pdnn_str *out) {
    struct pdnn_arena arena = {0};
    struct pdnn_columns columns;
    pdnn_results_columns(&records[0].instance.family, 1, false, &arena, &columns);
    pdnn_columns_header(&columns, out);
    for (size_t i = 0; i < n_records; i++)
        pdnn_columns_row(&columns, &records[i], out);
    pdnn_arena_finish(&arena);
}

void pdnn_vary_report(const struct pdnn_vary *vary, const struct pdnn_record *records, size_t n_records,
                      const struct pdnn_visit_set *set, bool csv, struct pdnn_str *out) {
    struct pdnn_str summary = {0};
    const char *id = vary->largest ? vary->largest : records[0].id;
    if (csv)
        pdnn_str_printf(&summary, "%s\n", id);
    else
        pdnn_report_id(&summary, id);
    pdnn_str_printf(&summary, "  varied   %s, %zu values; the largest is above\n", vary->def->name,
                    n_records);
    if (set->block_bytes)
        append_set(records, n_records, set, &summary);
    if (csv)
        fputs(pdnn_str_text(&summary), stderr);
    else
        pdnn_str_printf(out, "%s\n", pdnn_str_text(&summary));
    pdnn_str_finish(&summary);
    if (csv) {
        append_csv(records, n_records, out);
        return;
    }
    append_table(vary, records, n_records, out);
}
