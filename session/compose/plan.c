#include "session/compose/plan.h"

#include "base/memory.h"
#include "models/build.h"
#include "models/cost/group.h"
#include "models/op.h"
#include "results/rows/roofline.h"
#include "runtime/driver/sweep/sweep_spread.h"
#include "runtime/protocol/operator.h"
#include "session/predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a core, where no roof is measured. */
static const double nominal_gflops = 60, nominal_gbs = 10;

static const double steps_over_floor = 2, step_ns_least = 2000;
static const double measurement_seconds = 0.01, sampling_seconds = 0.05, seconds_per_byte = 0.5e-9;
static const double choice_seconds = 0.5, choice_step_seconds = 0.05, choice_steps = 40;
static const double compile_seconds = 0.004, node_seconds = 10e-6, group_seconds = 0.6e-3;
enum { WARM_STEPS = 5 };

static double gbs_of(const struct pdnn_roofs *roofs, int64_t threads) {
    double measured = roofs->n_levels ? roofs->level[roofs->n_levels - 1].gbs : 0;
    return measured > 0 ? measured : nominal_gbs * (double)threads;
}

static double step_seconds(double floor_ns) {
    return fmax(steps_over_floor * floor_ns, step_ns_least) * 1e-9;
}

double pdnn_compose_plan_seconds(const struct pdnn_session *session, double floor_ns, uint64_t bytes) {
    double steps = (double)session->spec.measure.min_samples + WARM_STEPS;
    return measurement_seconds + seconds_per_byte * (double)bytes +
           fmax(sampling_seconds, steps * step_seconds(floor_ns));
}

/* Products and recurrent layers have several implementations, tried once for all passes. */
static double seconds_to_choose(const struct pdnn_node *node, double floor_ns) {
    bool has_choice =
        strcmp(node->op->category, "linear") == 0 || strcmp(node->op->category, "recurrent") == 0;
    if (!has_choice || node->pass != PDNN_FORWARD)
        return 0;
    return choice_seconds + choice_steps * fmin(step_seconds(floor_ns), choice_step_seconds);
}

/* The operator's number. */
static size_t enter(struct pdnn_compose_plan *plan, const struct pdnn_roofs *roofs, int64_t threads,
                    const struct pdnn_graph *graph, const struct pdnn_group *group, const char *key) {
    size_t before = plan->keys.count, number = pdnn_texts_add(&plan->keys, key);
    if (plan->keys.count == before)
        return number;
    plan->operators = pdnn_grow(plan->operators, &plan->room, number, sizeof *plan->operators);
    const struct pdnn_node *node = &graph->nodes[group->node];
    const double measured = roofs->peak_gflops[pdnn_node_dtype(graph, node)],
                 gflops = measured > 0 ? measured : nominal_gflops * (double)threads;
    double flop_ns = (double)group->cost.in_bounds_flop_count / group->count / gflops;
    uint64_t bytes = group->cost.byte_count / group->count;
    double floor_ns = fmax(flop_ns, (double)bytes / gbs_of(roofs, threads));
    plan->operators[number] = (struct pdnn_planned_operator){
        .flop_ns = flop_ns,
        .bytes = bytes,
        .measure_seconds = pdnn_compose_plan_seconds(plan->session, floor_ns, bytes),
        .choice_seconds = seconds_to_choose(node, floor_ns)};
    return number;
}

static enum pdnn_status add_groups(struct pdnn_compose_plan *plan, const struct pdnn_roofs *roofs,
                                   const struct pdnn_instance *instance, const struct pdnn_graph *graph,
                                   struct pdnn_planned_model *model, struct pdnn_err *err) {
    const int64_t threads = instance->setting[PDNN_SETTING_THREADS];
    struct pdnn_group *groups;
    size_t count;
    if (pdnn_graph_groups(graph, &groups, &count, NULL, err) != PDNN_OK)
        return err->status;
    uint32_t *numbers = pdnn_arena_alloc(&plan->arena, count + 1, sizeof *numbers);
    for (size_t i = 0; i < count; i++) {
        const struct pdnn_node *node = &graph->nodes[groups[i].node];
        char key[PDNN_OPERATOR_KEY_TEXT], platform[PDNN_CONDITION_TEXT];
        snprintf(key, sizeof key, "%s %s/%s/%s [planned]", pdnn_instance_platform(instance, platform),
                 node->op->name, pdnn_node_pass_name(node), groups[i].shape);
        const size_t number = enter(plan, roofs, threads, graph, &groups[i], key);
        uint32_t k = 0;
        while (k < model->as.count && numbers[k] != number)
            k++;
        numbers[k] = (uint32_t)number;
        model->as.count += k == model->as.count;
    }
    model->as.operators = numbers;
    model->as.seconds =
        compile_seconds + node_seconds * (double)graph->n_nodes + group_seconds * (double)count;
    return PDNN_OK;
}

static enum pdnn_status add_model(struct pdnn_compose_plan *plan, size_t task, struct pdnn_arena *arena,
                                  struct pdnn_err *err) {
    const struct pdnn_session *session = plan->session;
    const struct pdnn_instance *instance = &session->tasks[task].instance;
    const struct pdnn_session_row *row = &session->rows[task];
    struct pdnn_planned_model *model = &plan->models[task];
    int64_t threads = instance->setting[PDNN_SETTING_THREADS];
    struct pdnn_roofs roofs;
    struct pdnn_graph graph;
    model->is_open = true;
    model->is_small = row->totals.memory_bytes <= pdnn_roof_rows_cache_bytes(session->roof_rows, threads);
    if (model->is_small) {
        model->as.seconds = pdnn_predict(session->roof_rows, &session->spec, instance, &row->totals).usual;
        return PDNN_OK;
    }
    pdnn_roofs_init(&roofs, session->roof_rows, threads);
    pdnn_arena_reset(arena);
    enum pdnn_status status = pdnn_instance_graph(instance, arena, &graph, err);
    return status == PDNN_OK ? add_groups(plan, &roofs, instance, &graph, model, err) : status;
}

static void order_models(struct pdnn_compose_plan *plan) {
    const struct pdnn_session *session = plan->session;
    const struct pdnn_instance **instances = pdnn_alloc(session->n_tasks + 1, sizeof *instances);
    for (size_t i = 0; i < session->n_tasks; i++)
        instances[i] = &session->tasks[i].instance;
    plan->order = pdnn_arena_alloc(&plan->arena, session->n_tasks + 1, sizeof *plan->order);
    pdnn_sweep_spread(instances, session->n_tasks, session->spec.seed, plan->order);
    free(instances);
}

enum pdnn_status pdnn_compose_plan(struct pdnn_compose_plan *plan, const struct pdnn_session *session,
                                   double budget_seconds, struct pdnn_err *err) {
    struct pdnn_arena arena;
    enum pdnn_status status = PDNN_OK;
    *plan = (struct pdnn_compose_plan){
        .session = session, .budget_seconds = budget_seconds, .compile_scale = 1, .measure_scale = 1};
    pdnn_arena_init(&plan->arena);
    pdnn_arena_init(&arena);
    plan->models = pdnn_alloc(session->n_tasks + 1, sizeof *plan->models);
    order_models(plan);
    for (size_t i = 0; i < session->n_tasks && status == PDNN_OK; i++)
        if (!session->tasks[i].closed && session->rows[i].has_totals)
            status = add_model(plan, i, &arena, err);
    pdnn_arena_finish(&arena);
    return status;
}

void pdnn_compose_plan_finish(struct pdnn_compose_plan *plan) {
    free(plan->operators);
    free(plan->models);
    pdnn_texts_finish(&plan->keys);
    pdnn_arena_finish(&plan->arena);
    *plan = (struct pdnn_compose_plan){.session = NULL};
}

double pdnn_compose_plan_left(double seconds, double done_seconds, double passed) {
    static const double trust_seconds = 10;
    return (seconds - done_seconds) * (passed + trust_seconds) / (done_seconds + trust_seconds);
}

double pdnn_compose_plan_compiling(const struct pdnn_compose_plan *plan, const struct pdnn_choose *choose) {
    double seconds = 0;
    for (size_t i = 0; i < choose->n_models; i++)
        if (plan->models[i].is_open && !plan->models[i].is_small && choose->models[i].fate != PDNN_FATE_LEFT)
            seconds += choose->models[i].seconds;
    for (size_t i = 0; i < choose->n_operators; i++)
        if (choose->operators[i].fate == PDNN_FATE_MEASURED && !plan->operators[i].is_chosen)
            seconds += plan->compile_scale * plan->operators[i].choice_seconds;
    return seconds;
}

double pdnn_compose_plan_compiled(struct pdnn_compose_plan *plan, size_t task) {
    struct pdnn_planned_model *model = &plan->models[task];
    double seconds = model->is_small ? 0 : model->as.seconds;
    if (!model->is_open)
        return 0;
    model->is_open = false;
    for (size_t i = 0; i < model->as.count; i++) {
        struct pdnn_planned_operator *planned = &plan->operators[model->as.operators[i]];
        seconds += planned->is_chosen ? 0 : planned->choice_seconds;
        planned->is_chosen = true;
    }
    return seconds;
}

/* The planned operator of a compiled one; SIZE_MAX: none. */
static size_t find_planned(const struct pdnn_compose_plan *plan, const char *key) {
    char planned[PDNN_OPERATOR_KEY_TEXT];
    const char *end = strstr(key, " [");
    snprintf(planned, sizeof planned, "%.*s [planned]", end ? (int)(end - key) : 0, key);
    return pdnn_texts_find(&plan->keys, planned);
}

void pdnn_compose_plan_known(struct pdnn_compose_plan *plan, const char *key) {
    size_t number = find_planned(plan, key);
    if (number != SIZE_MAX)
        plan->operators[number].is_known = true;
}

double pdnn_compose_plan_floor(const struct pdnn_compose_plan *plan, const char *key, uint64_t bytes,
                               int64_t threads) {
    struct pdnn_roofs roofs;
    size_t number = find_planned(plan, key);
    pdnn_roofs_init(&roofs, plan->session->roof_rows, threads);
    double flop_ns = number == SIZE_MAX ? 0 : plan->operators[number].flop_ns;
    return fmax(flop_ns, (double)bytes / gbs_of(&roofs, threads));
}

/* The caches of all numbers of threads that the session's tasks have; those after the first in the arena. */
static void find_caches(const struct pdnn_session *session, struct pdnn_arena *arena,
                        struct pdnn_kind_caches *first) {
    for (size_t i = 0; i < session->n_tasks; i++) {
        const int64_t threads = session->tasks[i].instance.setting[PDNN_SETTING_THREADS];
        const struct pdnn_kind_caches *known = first;
        struct pdnn_roofs roofs;
        while (known && known->threads != threads)
            known = known->next;
        if (known)
            continue;
        struct pdnn_kind_caches *caches = first->threads ? pdnn_arena_alloc(arena, 1, sizeof *caches) : first;
        *caches = (struct pdnn_kind_caches){.threads = threads, .next = first->next};
        if (caches != first)
            first->next = caches;
        pdnn_roofs_init(&roofs, session->roof_rows, threads);
        for (size_t k = 0; k < roofs.n_levels && caches->count < PDNN_KIND_CACHES; k++)
            if (roofs.level[k].capacity_bytes != UINT64_MAX)
                caches->bytes[caches->count++] = roofs.level[k].capacity_bytes;
    }
}

void pdnn_compose_choice_begin(struct pdnn_choose *choose, const struct pdnn_compose_plan *plan,
                               size_t n_operators) {
    *choose = (struct pdnn_choose){.n_operators = n_operators,
                                   .n_models = plan->session->n_tasks,
                                   .order = plan->order,
                                   .most_seconds = plan->budget_seconds / PDNN_SPREAD_LEAST};
    choose->operators = pdnn_arena_alloc(&choose->arena, n_operators + 1, sizeof *choose->operators);
    choose->models = pdnn_arena_alloc(&choose->arena, choose->n_models + 1, sizeof *choose->models);
    for (size_t i = 0; i < choose->n_models; i++)
        choose->models[i].seconds = INFINITY;
    find_caches(plan->session, &choose->arena, &choose->caches);
}

/* INFINITY: it cannot be measured within the limits. */
static double seconds_of(const struct pdnn_compose_plan *plan, const struct pdnn_planned_operator *planned) {
    const struct pdnn_session *session = plan->session;
    uint64_t limit_bytes = session->memory_limit_bytes, limit_ns = session->spec.limits.time_ns;
    double seconds = plan->measure_scale * planned->measure_seconds;
    double choice = planned->is_chosen ? 0 : plan->compile_scale * planned->choice_seconds;
    if (planned->is_known)
        return choice;
    if ((limit_bytes && planned->bytes > limit_bytes) || (limit_ns && seconds > (double)limit_ns * 1e-9))
        return INFINITY;
    return (double)session->spec.measure.rounds * seconds + choice;
}

void pdnn_compose_plan_choose(const struct pdnn_compose_plan *plan, double budget_seconds,
                              struct pdnn_choose *choose) {
    pdnn_compose_choice_begin(choose, plan, plan->keys.count);
    choose->budget_seconds = budget_seconds;
    for (size_t i = 0; i < plan->keys.count; i++)
        choose->operators[i] = (struct pdnn_choose_operator){
            .key = plan->keys.text[i], .seconds = seconds_of(plan, &plan->operators[i])};
    for (size_t i = 0; i < choose->n_models; i++) {
        const struct pdnn_planned_model *model = &plan->models[i];
        if (!model->is_open)
            continue;
        choose->models[i] = model->as;
        choose->models[i].seconds *= model->is_small ? 1 : plan->compile_scale;
    }
    pdnn_choose(choose);
}

#define COUNT   PDNN_KIND_COUNT, PDNN_SHOW_PLAIN
#define SECONDS "s", PDNN_KIND_NUMBER, PDNN_SHOW_FIXED

static const struct pdnn_column_def columns[] = {
    {"op", NULL, NULL, .help = "op and pass"},
    {"operators", NULL, NULL, COUNT, .help = "distinct ones of all models"},
    {"measured", NULL, NULL, COUNT, .help = "of these, what the budget measures"},
    {"predicted", NULL, NULL, COUNT, .help = "what it interpolates from measured neighbours"},
    {"left", NULL, NULL, COUNT, .help = "what it leaves for another run"},
    {"too_large", "too large", NULL, COUNT, .help = "what cannot be measured within the limits"},
    {"seconds", "takes s", SECONDS, .help = "to measure those that are measured"},
    {"all_seconds", "all take s", SECONDS, .help = "to measure all that can be"},
};
const struct pdnn_table_def pdnn_compose_plan_def = {"compose-plan",
                                                     "operators and what a budget buys of them", columns, 8};

/* "dense/forward" */
static const char *op_of(const char *key, char text[64]) {
    const char *at = strstr(key, " isa=");
    at = at ? strchr(at + 1, ' ') : NULL;
    at = at ? at + 1 : key;
    const char *pass = strchr(at, '/'), *end = pass ? strchr(pass + 1, '/') : NULL;
    snprintf(text, 64, "%.*s", end ? (int)(end - at) : (int)strlen(at), at);
    return text;
}

static void count(struct pdnn_table *table, size_t row, size_t column) {
    pdnn_table_set_count(table, row, column, pdnn_table_count(table, row, column) + 1);
}

static void add_seconds(struct pdnn_table *table, size_t row, size_t column, double seconds) {
    pdnn_table_set_number(table, row, column, pdnn_table_number(table, row, column) + seconds);
}

void pdnn_compose_plan_table(const struct pdnn_choose *choose, struct pdnn_table *made) {
    static const size_t fates[] = {PDNN_PLANNED_LEFT, PDNN_PLANNED_MEASURED, PDNN_PLANNED_PREDICTED};
    struct pdnn_texts ops = {0};
    pdnn_table_init(made, &pdnn_compose_plan_def);
    for (size_t i = 0; i < choose->n_operators; i++) {
        const struct pdnn_choose_operator *one = &choose->operators[i];
        char text[64];
        size_t row = pdnn_texts_add(&ops, op_of(one->key, text));
        if (row == made->n_rows) {
            pdnn_table_add_row(made);
            pdnn_table_set_text(made, row, PDNN_PLANNED_OP, text);
            for (size_t c = PDNN_PLANNED_OPERATORS; c < PDNN_PLANNED_SECONDS; c++)
                pdnn_table_set_count(made, row, c, 0);
            pdnn_table_set_number(made, row, PDNN_PLANNED_SECONDS, 0);
            pdnn_table_set_number(made, row, PDNN_PLANNED_ALL_SECONDS, 0);
        }
        bool too_large = isinf(one->seconds);
        count(made, row, PDNN_PLANNED_OPERATORS);
        count(made, row,
              too_large && one->fate == PDNN_FATE_LEFT ? PDNN_PLANNED_TOO_LARGE : fates[one->fate]);
        if (!too_large)
            add_seconds(made, row, PDNN_PLANNED_ALL_SECONDS, one->seconds);
        if (!too_large && one->fate == PDNN_FATE_MEASURED)
            add_seconds(made, row, PDNN_PLANNED_SECONDS, one->seconds);
    }
    pdnn_texts_finish(&ops);
}
