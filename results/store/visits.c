#include "results/store/visits.h"

#include "base/memory.h"

#include <stdlib.h>

static const char *intern(struct pdnn_visits *visits, const char *text) {
    size_t number = pdnn_texts_add(&visits->texts, text); /* which may move the array */
    return visits->texts.text[number];
}

static void copy_ops(struct pdnn_visits *visits, const struct pdnn_visit *visit,
                     struct pdnn_measured_ops *ops) {
    struct pdnn_measured_op *copy = pdnn_arena_alloc(&visits->arena, visit->n_ops + 1, sizeof *copy);
    for (size_t i = 0; i < visit->n_ops; i++) {
        const struct pdnn_visit_op *op = &visit->ops[i];
        copy[i] = (struct pdnn_measured_op){
            .key = intern(visits, op->key),
            .layer = intern(visits, op->layer),
            .implementation = intern(visits, op->implementation),
            .bytes = op->bytes,
            .time_ns = op->time_ns,
            .count = op->count,
        };
    }
    *ops = (struct pdnn_measured_ops){copy, visit->n_ops};
}

void pdnn_visits_add(struct pdnn_visits *visits, const char *id, const struct pdnn_visit *visit) {
    struct pdnn_measured_ops ops;
    copy_ops(visits, visit, &ops);
    visits->of = pdnn_grow(visits->of, &visits->room, visits->ids.count, sizeof *visits->of);
    size_t before = visits->ids.count, number = pdnn_texts_add(&visits->ids, id);
    if (number == before)
        visits->of[number] = (struct pdnn_instance_visits){0};
    struct pdnn_instance_visits *of = &visits->of[number];
    if (of->count == of->room) {
        of->room = of->room ? 2 * of->room : 4;
        of->visit = pdnn_resize(of->visit, of->room, sizeof *of->visit);
        of->ops = pdnn_resize(of->ops, of->room, sizeof *of->ops);
    }
    of->ops[of->count] = ops;
    of->visit[of->count] = *visit;
    of->visit[of->count].ops = NULL;
    of->visit[of->count++].n_ops = 0;
}

struct pdnn_instance_visits pdnn_visits_of(const struct pdnn_visits *visits, const char *id) {
    size_t number = pdnn_texts_find(&visits->ids, id);
    return number == SIZE_MAX ? (struct pdnn_instance_visits){0} : visits->of[number];
}

size_t pdnn_visits_most(const struct pdnn_visits *visits) {
    size_t most = 1;
    for (size_t i = 0; i < visits->ids.count; i++)
        most = visits->of[i].count > most ? visits->of[i].count : most;
    return most;
}

void pdnn_visits_finish(struct pdnn_visits *visits) {
    for (size_t i = 0; i < visits->ids.count; i++) {
        free(visits->of[i].visit);
        free(visits->of[i].ops);
    }
    free(visits->of);
    pdnn_texts_finish(&visits->ids);
    pdnn_texts_finish(&visits->texts);
    pdnn_arena_finish(&visits->arena);
    *visits = (struct pdnn_visits){0};
}
