#include "cli/commands/run_vary.h"

#include "base/units.h"
#include "cli/print/instance_result.h"
#include "gen/axis.h"
#include "models/build.h"
#include "models/sharing.h"
#include "results/rows/roofline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
static void append_set(struct pdnn_table *results, const struct pdnn_visit_set *set, struct pdnn_str *out) {
    char shared[PDNN_UNIT_TEXT], block[PDNN_UNIT_TEXT], alone[PDNN_UNIT_TEXT];
    uint64_t alone_bytes = 0;
    for (struct pdnn_result row = pdnn_result_of(results, 0); row.row < results->n_rows; row.row++)
        if (pdnn_result_outcome(&row) == PDNN_OUTCOME_OK)
            alone_bytes += pdnn_result_count(&row, PDNN_RESULT_PLAN_BYTES);
    pdnn_str_printf(out, "  shared   %s of weights and state\n",
                    pdnn_format_bytes(shared, (double)set->shared_bytes));
    pdnn_str_printf(out, "  memory   one block of %s; separate plans would take %s\n",
                    pdnn_format_bytes(block, (double)set->block_bytes),
                    pdnn_format_bytes(alone, (double)alone_bytes));
    pdnn_str_printf(out, "  programs %" PRIu64 " prepared, %" PRIu64 " kept, at most %" PRIu64 "\n",
                    set->prepared, set->kept, set->most);
}

static void add_row(const struct pdnn_vary *vary, const struct pdnn_result *result,
                    struct pdnn_table *table) {
    static const enum pdnn_result_column numbers[] = {PDNN_RESULT_TIME_NS_MEDIAN, PDNN_RESULT_CI_LOW_NS,
                                                      PDNN_RESULT_CI_HIGH_NS,     PDNN_RESULT_EXAMPLES_PER_S,
                                                      PDNN_RESULT_GFLOPS,         PDNN_RESULT_PCT_OF_ROOF,
                                                      PDNN_RESULT_PREPARE_NS};
    const size_t varied = pdnn_table_find(result->table, pdnn_param_column(vary->def));
    const bool is_ok = pdnn_result_outcome(result) == PDNN_OUTCOME_OK;
    struct pdnn_str value = {0}, status = {0};
    size_t row = pdnn_table_add_row(table);
    pdnn_table_append(result->table, result->row, varied, &value);
    pdnn_str_printf(&status, "%s%s%s", pdnn_result_text(result, PDNN_RESULT_STATUS), is_ok ? "" : ": ",
                    pdnn_result_text(result, PDNN_RESULT_REASON));
    pdnn_table_set_text(table, row, 0, pdnn_str_text(&value));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        pdnn_table_set_number(table, row, 1 + i, pdnn_result_number(result, numbers[i]));
    pdnn_table_set_text(table, row, table->n_columns - 1, pdnn_str_text(&status));
    pdnn_str_finish(&value);
    pdnn_str_finish(&status);
}

#define TIME   .kind = PDNN_KIND_NUMBER, .show = PDNN_SHOW_TIME
#define NUMBER .kind = PDNN_KIND_NUMBER, .show = PDNN_SHOW_FIXED

static void append_table(const struct pdnn_vary *vary, struct pdnn_table *results, struct pdnn_str *out) {
    const struct pdnn_column_def columns[] = {
        {vary->def->name, .align = PDNN_ALIGN_RIGHT},
        {"time", TIME},
        {"95 % from", TIME, .rank = 2},
        {"to", TIME, .rank = 2},
        {"examples/s", NUMBER, .decimals = 1, .rank = 3},
        {"GFLOP/s", NUMBER, .decimals = 1},
        {"% of roof", NUMBER, .above = PDNN_ABOVE_ROOF_PCT},
        {"prepare", TIME, .rank = 1},
        {"status", .align = PDNN_ALIGN_WRAP},
    };
    const struct pdnn_table_def def = {"vary", "one model at several values", columns,
                                       sizeof columns / sizeof *columns};
    struct pdnn_table table;
    pdnn_table_init(&table, &def);
    for (struct pdnn_result row = pdnn_result_of(results, 0); row.row < results->n_rows; row.row++)
        add_row(vary, &row, &table);
    pdnn_table_show(out, &table, NULL, NULL, 0);
    pdnn_table_finish(&table);
}

void pdnn_vary_report(const struct pdnn_vary *vary, struct pdnn_table *results,
                      const struct pdnn_visit_set *set, const struct pdnn_arguments *arguments) {
    struct pdnn_str out = {0};
    const bool for_people = pdnn_wants_text(arguments);
    const struct pdnn_result first = pdnn_result_of(results, 0);
    const char *id = vary->largest ? vary->largest : pdnn_result_text(&first, PDNN_RESULT_ID);
    if (for_people)
        pdnn_report_id(&out, id);
    else
        pdnn_str_printf(&out, "%s\n", id);
    pdnn_str_printf(&out, "  varied   %s, %zu values; the largest is above\n", vary->def->name,
                    results->n_rows);
    if (set->block_bytes)
        append_set(results, set, &out);
    if (for_people) {
        pdnn_str_append(&out, "\n", 1);
        append_table(vary, results, &out);
        pdnn_text_print(&out, false);
        return;
    }
    fputs(pdnn_str_text(&out), stderr);
    pdnn_str_finish(&out);
    pdnn_table_print(results, NULL, arguments);
}
