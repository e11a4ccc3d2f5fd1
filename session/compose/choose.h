/* Which operators of a composition a budget buys, so that its rows are a balanced sample: a pure function of
 * guessed costs. Knows no clock, file or process. */
#ifndef SESSION_COMPOSE_CHOOSE_H
#define SESSION_COMPOSE_CHOOSE_H

#include "base/arena.h"
#include "results/fit/interpolate.h"

#include <stdint.h>

enum pdnn_fate {
    PDNN_FATE_LEFT,      /* for another run */
    PDNN_FATE_MEASURED,  /* in this run, or known already */
    PDNN_FATE_PREDICTED, /* from measured neighbours */
};

struct pdnn_choose_operator {
    const char *key;     /* borrowed; what says which others are its neighbours */
    double seconds;      /* to measure it; INFINITY: it cannot be measured; 0: it has been */
    enum pdnn_fate fate; /* result */
    const char *reason;  /* result: why it is not predicted; static text, or NULL */
};

struct pdnn_choose_model {
    const uint32_t *operators; /* distinct, borrowed */
    size_t count;
    double seconds; /* of its own: to compile it, or to run it where it has no operators; INFINITY: left */
    enum pdnn_fate fate; /* result: predicted if one of its operators is */
};

struct pdnn_choose {
    struct pdnn_choose_operator *operators;
    size_t n_operators;
    struct pdnn_choose_model *models;
    size_t n_models;
    const uint32_t *order; /* of all models: in which they are taken; borrowed */
    double seconds;        /* result: of what is measured and of the models that are not left */
    struct pdnn_kind_caches caches;
    struct pdnn_arena arena; /* of the arrays of operators and models; the caller's to finish */
    double budget_seconds;   /* INFINITY: none */
    double most_seconds;     /* of a model that is taken before longer ones */
};

/* Models are taken in their order, as long as the next one fits, and those that take more than most_seconds
 * after all others. While two thirds of the budget last, all operators of a model are measured.
 * With the rest, operators with neighbours are predicted, and only the others are measured, so that they
 * become neighbours. Fills in the results. */
void pdnn_choose(struct pdnn_choose *choose);

#endif
