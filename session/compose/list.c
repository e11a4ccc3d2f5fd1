#define _GNU_SOURCE /* environ */
/* A stage of a composition: which models are compiled, in which contexts their operators are measured, and
 * which of the composed models also run. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "runtime/host/environment_key.h"
#include "session/compose/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum pdnn_status pdnn_compose_find_context(struct compose *compose, size_t task, size_t *number,
                                           struct pdnn_err *err) {
    const int64_t *setting = compose->session->tasks[task].instance.setting;
    const enum pdnn_isa isa = (enum pdnn_isa)setting[PDNN_SETTING_ISA];
    struct context fresh = {.backend = setting[PDNN_SETTING_BACKEND],
                            .threads = setting[PDNN_SETTING_THREADS],
                            .isa = isa,
                            .library = setting[PDNN_SETTING_LIBRARY]};
    struct pdnn_worker *worker;
    for (*number = 0; *number < compose->n_contexts; ++*number) {
        const struct context *known = &compose->contexts[*number];
        if (known->backend == fresh.backend && known->threads == fresh.threads && known->isa == fresh.isa &&
            known->library == fresh.library)
            return PDNN_OK;
    }
    if (pdnn_sweep_workers_get(compose->workers, pdnn_session_kind(compose->session, task), &worker, err) !=
        PDNN_OK)
        return err->status;
    const struct pdnn_software *software = pdnn_worker_software(worker);
    for (size_t i = 0; i < software->count; i++)
        if (strcmp(software->row[i].backend, pdnn_backend_names[fresh.backend]) == 0)
            snprintf(fresh.software, sizeof fresh.software, "%.*s", PDNN_LIBRARY_NAME_TEXT - 1,
                     software->row[i].version);
    const struct pdnn_environment_key context = {.host = &compose->session->host,
                                                 .build = pdnn_build,
                                                 .library = fresh.software,
                                                 .isa = pdnn_isa_names[isa],
                                                 .threads = fresh.threads,
                                                 .variables = environ};
    struct pdnn_str text = {0};
    pdnn_environment_key_format(&context, &text);
    pdnn_library_context(pdnn_str_text(&text), fresh.text);
    pdnn_str_finish(&text);
    compose->contexts = pdnn_resize(compose->contexts, compose->n_contexts + 1, sizeof fresh);
    compose->contexts[compose->n_contexts++] = fresh;
    return PDNN_OK;
}

/* Random samples of the composed models: those that validate and those that calibrate. With a budget they are
 * drawn from what it may buy, before anything is compiled. */
struct candidate {
    unsigned class; /* lower ones are taken first */
    uint64_t hash;  /* of the seed and the model's id: where it stands does not depend on other models */
    size_t task;
};

static int by_class(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

/* As many as there are to be, by hash, of those that the choice buys, or without one of the composed ones.
 * With a budget, those that earlier runs composed and ran come first, which had another part of the models to
 * draw from. */
static struct candidate *draw(const struct compose *compose, const struct pdnn_choose *choice,
                              size_t *n_drawn) {
    const size_t n_tasks = compose->session->n_tasks;
    const size_t wanted = compose->request->validate + compose->request->calibrate;
    struct candidate *candidates = pdnn_alloc(n_tasks + 1, sizeof *candidates);
    size_t count = 0;
    for (size_t i = 0; i < n_tasks; i++) {
        const struct model *model = &compose->of[i];
        if (choice ? choice->models[i].fate == PDNN_FATE_LEFT || compose->plan.models[i].is_small
                   : model->role != ROLE_COMPOSED)
            continue;
        const struct pdnn_standing standing = pdnn_sweep_directory_standing(compose->sweep, i);
        const size_t *rounds = standing.rounds;
        bool is_old = compose->rules.deadline_ns && rounds[PDNN_METHOD_DIRECT] &&
                      (rounds[PDNN_METHOD_COMPOSED] || rounds[PDNN_METHOD_PREDICTED]);
        uint64_t hash = pdnn_rng_seed(compose->request->seed, compose->session->tasks[i].id);
        candidates[count++] = (struct candidate){is_old ? 0 : model->is_sampled ? 1 : 2, hash, i};
    }
    qsort(candidates, count, sizeof *candidates, by_class);
    *n_drawn = count < wanted ? count : wanted;
    for (size_t i = 0; i < *n_drawn; i++)
        candidates[i].class = 0;
    qsort(candidates, *n_drawn, sizeof *candidates, by_class);
    return candidates;
}

static void draw_samples(struct compose *compose) {
    struct pdnn_choose choice = {0};
    size_t count;
    if (!compose->request->validate && !compose->request->calibrate)
        return;
    pdnn_compose_plan_choose(&compose->plan, pdnn_session_seconds_left(compose->session), &choice);
    struct candidate *candidates = draw(compose, &choice, &count);
    for (size_t i = 0; i < count; i++)
        compose->of[candidates[i].task].is_sampled = true;
    free(candidates);
    pdnn_arena_finish(&choice.arena);
}

void pdnn_compose_give_samples(struct compose *compose) {
    size_t count;
    struct candidate *candidates = draw(compose, NULL, &count);
    for (size_t i = 0; i < count; i++)
        compose->of[candidates[i].task].role =
            i < compose->request->validate ? ROLE_VALIDATES : ROLE_CALIBRATES;
    free(candidates);
}

void pdnn_compose_note_known(struct compose *compose) {
    const char *key;
    struct pdnn_library_times times;
    for (size_t i = 0; i < compose->n_contexts; i++)
        for (size_t at = 0; (at = pdnn_library_next(compose->request->library, at, compose->contexts[i].text,
                                                    &key, &times));)
            if (times.count >= (size_t)compose->rules.rounds)
                pdnn_compose_plan_known(&compose->plan, key);
}

/* Compiles all, or what the budget may buy, until half of it is spent; then what was drawn first, so that it
 * does not depend on how far that goes. */
static enum pdnn_status collect(struct compose *compose, struct pdnn_err *err) {
    struct pdnn_session *session = compose->sweep->session;
    const double budget_seconds = pdnn_session_seconds_left(session);
    const bool has_budget = !isinf(budget_seconds);
    struct pdnn_choose choice = {0};
    struct pdnn_operators_order order = {.tasks = NULL};
    size_t *tasks = pdnn_alloc(session->n_tasks + 1, sizeof *tasks);
    pdnn_compose_plan_choose(&compose->plan, budget_seconds, &choice);
    order.seconds = pdnn_compose_plan_compiling(&compose->plan, &choice);
    session->later_seconds = choice.seconds - order.seconds;
    for (int drawn = 1; drawn >= 0 && has_budget; drawn--) {
        for (size_t i = 0; i < choice.n_models; i++) {
            uint32_t task = choice.order[i];
            if (compose->of[task].is_sampled == drawn && choice.models[task].fate != PDNN_FATE_LEFT)
                tasks[order.count++] = task;
        }
    }
    if (has_budget) {
        order.tasks = tasks;
        order.deadline_ns = pdnn_clock_ns() + (uint64_t)(0.5e9 * budget_seconds);
    }
    enum pdnn_status status =
        pdnn_operators_collect(&compose->operators, session, compose->workers, &compose->rules, &order, err);
    pdnn_arena_finish(&choice.arena);
    free(tasks);
    return status;
}

enum pdnn_status pdnn_compose_list(struct compose *compose, double *guessed, struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    size_t had = compose->operators.keys.count;
    uint64_t began_ns = pdnn_clock_ns();
    for (size_t i = 0; i < session->n_tasks; i++)
        session->tasks[i].closed = compose->of[i].is_closed;
    enum pdnn_status status = collect(compose, err);
    compose->result->list_ns += pdnn_clock_ns() - began_ns;
    for (size_t i = 0; i < session->n_tasks && status == PDNN_OK; i++)
        if (compose->operators.tasks[i].is_listed)
            *guessed += pdnn_compose_plan_compiled(&compose->plan, i);
    const size_t count = compose->result->operators = compose->operators.keys.count;
    compose->order = pdnn_resize(compose->order, count + 1, sizeof *compose->order);
    compose->measured = pdnn_resize(compose->measured, count + 1, sizeof *compose->measured);
    for (size_t i = had; i < count; i++)
        compose->measured[i] = (struct measured){0};
    return status;
}

enum pdnn_status pdnn_compose_prepare(struct compose *compose, struct pdnn_err *err) {
    const struct pdnn_session *session = compose->session;
    compose->of = pdnn_alloc(session->n_tasks + 1, sizeof *compose->of);
    for (size_t i = 0; i < session->n_tasks; i++)
        compose->of[i].is_closed = session->tasks[i].closed;
    if (pdnn_compose_plan(&compose->plan, session, pdnn_session_seconds_left(session), err) != PDNN_OK)
        return err->status;
    if (isinf(pdnn_session_seconds_left(session)))
        return PDNN_OK;
    for (size_t i = 0, context; i < session->n_tasks; i++)
        if (compose->plan.models[i].is_open &&
            pdnn_compose_find_context(compose, i, &context, err) != PDNN_OK)
            return err->status;
    pdnn_compose_note_known(compose);
    draw_samples(compose);
    /* Models that have all rounds, of their own or composed of measured operators, are out of the plan,
     * except for what validates and calibrates. What is predicted may be measured this time. */
    for (size_t i = 0; i < session->n_tasks; i++) {
        const struct pdnn_standing standing = pdnn_sweep_directory_standing(compose->sweep, i);
        const size_t rounds = (size_t)compose->rules.rounds;
        if (!compose->of[i].is_sampled && (standing.rounds[PDNN_METHOD_DIRECT] >= rounds ||
                                           standing.rounds[PDNN_METHOD_COMPOSED] >= rounds))
            pdnn_compose_plan_compiled(&compose->plan, i);
    }
    return PDNN_OK;
}
