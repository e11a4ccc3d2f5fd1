#include "results/store/visits.h"

#include "base/memory.h"

#include <stdlib.h>

static const char *intern(struct pdnn_visits *visits, const char *text) {
    size_t number = pdnn_texts_add(&visits->texts, text); /* which may move the array */
    return visits->texts.text[number];
}

void pdnn_visits_add(struct pdnn_visits *visits, const char *id, const struct pdnn_visit *visit) {
    struct pdnn_measured_op *ops = pdnn_arena_alloc(&visits->arena, visit->n_ops + 1, sizeof *ops);
    for (size_t i = 0; i < visit->n_ops; i++) {
        const struct pdnn_visit_op *op = &visit->ops[i];
        ops[i] = (struct pdnn_measured_op){intern(visits, op->key),
                                           intern(visits, op->layer),
                                           intern(visits, op->implementation),
                                           op->bytes,
                                           op->time_ns,
                                           op->count};
    }
    visits->of = pdnn_grow(visits->of, &visits->room, visits->ids.count, sizeof *visits->of);
    size_t before = visits->ids.count, number = pdnn_texts_add(&visits->ids, id);
    if (number == before)
        visits->of[number] = (struct pdnn_instance_visits){0};
    struct pdnn_instance_visits *of = &visits->of[number];
    size_t room = of->room; /* of both */
    of->ops = pdnn_grow(of->ops, &room, of->count, sizeof *of->ops);
    of->visit = pdnn_grow(of->visit, &of->room, of->count, sizeof *of->visit);
    of->ops[of->count] = (struct pdnn_measured_ops){ops, visit->n_ops};
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
