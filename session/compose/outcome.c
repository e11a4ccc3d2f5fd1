#include "session/compose/outcome.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int64_t threads_of(const char *key) {
    const char *text = strstr(key, " threads=");
    return text ? strtoll(text + strlen(" threads="), NULL, 10) : 1;
}

void pdnn_compose_fates_init(struct pdnn_compose_fates *fates, const struct pdnn_compose_plan *plan,
                             const struct pdnn_operators *operators, double extrapolate) {
    size_t n_tasks = plan->session->n_tasks, count = operators->keys.count;
    *fates = (struct pdnn_compose_fates){.operators = operators,
                                         .task_of = pdnn_alloc(n_tasks + 1, sizeof *fates->task_of),
                                         .of_task = pdnn_alloc(n_tasks + 1, sizeof *fates->of_task),
                                         .floor_ns = pdnn_alloc(count + 1, sizeof *fates->floor_ns)};
    struct pdnn_choose *choose = &fates->choose;
    pdnn_arena_init(&fates->arena);
    *choose = (struct pdnn_choose){.operators = pdnn_alloc(count + 1, sizeof *choose->operators),
                                   .n_operators = count,
                                   .models = pdnn_alloc(n_tasks + 1, sizeof *choose->models),
                                   .caches = &fates->caches,
                                   .extrapolate = extrapolate};
    pdnn_compose_plan_caches(plan->session, &fates->arena, &fates->caches);
    for (size_t i = 0; i < count; i++) {
        const char *key = operators->keys.text[i];
        choose->operators[i].key = key;
        fates->floor_ns[i] = pdnn_compose_plan_floor(plan, key, operators->facts[i].bytes, threads_of(key));
    }
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

void pdnn_compose_fates_add(struct pdnn_compose_fates *fates, size_t task, double seconds,
                            bool has_operators) {
    const struct pdnn_task_operators *of = &fates->operators->tasks[task];
    struct pdnn_choose_model *model = &fates->choose.models[fates->choose.n_models];
    size_t count = has_operators ? of->count : 0;
    uint32_t *numbers = pdnn_arena_alloc(&fates->arena, count + 1, sizeof *numbers);
    *model = (struct pdnn_choose_model){.operators = numbers, .seconds = seconds};
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < model->count && numbers[k] != of->use[i].number)
            k++;
        numbers[k] = (uint32_t)of->use[i].number;
        model->count += k == model->count;
    }
    fates->task_of[fates->choose.n_models++] = task;
}

void pdnn_compose_fates_begin(struct pdnn_compose_fates *fates) {
    pdnn_neighbours_destroy(fates->neighbours);
    fates->neighbours = pdnn_neighbours_create(&fates->caches, fates->choose.extrapolate);
}

const char *pdnn_compose_fates_predict(struct pdnn_compose_fates *fates, size_t number,
                                       struct pdnn_prediction_of_operator *prediction) {
    return pdnn_neighbours_predict(fates->neighbours, fates->operators->keys.text[number],
                                   fates->floor_ns[number], prediction);
}
