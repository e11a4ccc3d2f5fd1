/* The directions as rows: how to pick the instances to compare, and what must hold between them.
 * results/studies/directions.c checks them. */
#ifndef RESULTS_STUDIES_DIRECTION_TESTS_H
#define RESULTS_STUDIES_DIRECTION_TESTS_H

#include "results/studies/direction_facts.h"
#include "results/studies/study.h"

/* The instances of one set, in ascending order of the axis. */
struct pdnn_evidence {
    const struct pdnn_selection *selection;
    const struct pdnn_direction_facts *facts; /* by chosen row */
    struct pdnn_series series;
    int axis; /* column of the key in question; -1: none */
    struct pdnn_str *numbers;
};

struct pdnn_direction;

enum { PDNN_DIRECTION_AXES = 5, PDNN_DIRECTION_GROUPS = 3 };

/* A placeholder axis for the family's minibatch parameter, whatever its name. */
extern const char pdnn_direction_minibatch[];

struct pdnn_direction {
    const char *name, *needs;
    /* Keys in which instances may differ: the one in question first, then keys tied to it. None: each
     * instance is tested by itself, in training or not. */
    const char *axes[PDNN_DIRECTION_AXES];
    bool (*alike)(const struct pdnn_selection *selection, size_t a, size_t b);
    /* Runs the test and appends its numbers. "Not covered": it needs other instances. */
    enum pdnn_verdict (*test)(const struct pdnn_direction *direction, const struct pdnn_evidence *e);
    enum pdnn_op_group groups[PDNN_DIRECTION_GROUPS]; /* the groups whose share is tested, and how many */
    size_t n_groups;
    bool grows; /* along the axis; false: falls */
};

/* Ends with a row without a name. */
extern const struct pdnn_direction pdnn_direction_rows[];

#endif
