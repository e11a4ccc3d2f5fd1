#include "session/compose_fates.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum pdnn_status out_of_memory(struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for what becomes of operators");
}

static int64_t threads_of(const char *key) {
    const char *text = strstr(key, " threads=");
    return text ? strtoll(text + strlen(" threads="), NULL, 10) : 1;
}

enum pdnn_status pdnn_compose_fates_init(struct pdnn_compose_fates *fates,
                                         const struct pdnn_compose_plan *plan,
                                         const struct pdnn_operators *operators, double extrapolate,
                                         struct pdnn_err *err) {
    size_t n_tasks = plan->session->n_tasks, count = operators->keys.count;
    *fates = (struct pdnn_compose_fates){.operators = operators,
                                         .task_of = calloc(n_tasks + 1, sizeof *fates->task_of),
                                         .of_task = calloc(n_tasks + 1, sizeof *fates->of_task),
                                         .floor_ns = calloc(count + 1, sizeof *fates->floor_ns)};
    struct pdnn_choose *choose = &fates->choose;
    pdnn_arena_init(&fates->arena);
    *choose = (struct pdnn_choose){.operators = calloc(count + 1, sizeof *choose->operators),
                                   .n_operators = count,
                                   .models = calloc(n_tasks + 1, sizeof *choose->models),
                                   .caches = &fates->caches,
                                   .extrapolate = extrapolate};
    if (!fates->task_of || !fates->of_task || !fates->floor_ns || !choose->operators || !choose->models)
        return out_of_memory(err);
    if (pdnn_compose_plan_caches(plan->session, &fates->arena, &fates->caches, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; i < count; i++) {
        const char *key = operators->keys.text[i];
        choose->operators[i].key = key;
        fates->floor_ns[i] = pdnn_compose_plan_floor(plan, key, operators->facts[i].bytes, threads_of(key));
    }
    return PDNN_OK;
}

void pdnn_compose_fates_finish(struct pdnn_compose_fates *fates) {
    pdnn_choose_finish(&fates->choose);
    pdnn_neighbours_destroy(fates->neighbours);
    pdnn_arena_finish(&fates->arena);
    free(fates->choose.operators);
    free(fates->choose.models);
    free(fates->task_of);
    free(fates->of_task);
    free(fates->floor_ns);
    *fates = (struct pdnn_compose_fates){.task_of = NULL};
}

enum pdnn_status pdnn_compose_fates_add(struct pdnn_compose_fates *fates, size_t task, double seconds,
                                        bool has_operators, struct pdnn_err *err) {
    const struct pdnn_task_operators *of = &fates->operators->tasks[task];
    struct pdnn_choose_model *model = &fates->choose.models[fates->choose.n_models];
    size_t count = has_operators ? of->count : 0;
    uint32_t *numbers = pdnn_arena_alloc(&fates->arena, count + 1, sizeof *numbers);
    if (!numbers)
        return out_of_memory(err);
    *model = (struct pdnn_choose_model){.operators = numbers, .seconds = seconds};
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < model->count && numbers[k] != of->use[i].number)
            k++;
        numbers[k] = (uint32_t)of->use[i].number;
        model->count += k == model->count;
    }
    fates->task_of[fates->choose.n_models++] = task;
    return PDNN_OK;
}

enum pdnn_status pdnn_compose_fates_begin(struct pdnn_compose_fates *fates, struct pdnn_err *err) {
    pdnn_neighbours_destroy(fates->neighbours);
    fates->neighbours = pdnn_neighbours_create(&fates->caches, fates->choose.extrapolate);
    return fates->neighbours ? PDNN_OK : out_of_memory(err);
}

const char *pdnn_compose_fates_predict(struct pdnn_compose_fates *fates, size_t number,
                                       struct pdnn_prediction_of_operator *prediction) {
    return pdnn_neighbours_predict(fates->neighbours, fates->operators->keys.text[number],
                                   fates->floor_ns[number], prediction);
}
