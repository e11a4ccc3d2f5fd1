/* The directions as rows: how to pick the instances that are compared, and what must hold between them.
 * Checked by results/studies/directions.c. */
#ifndef RESULTS_STUDIES_DIRECTION_TESTS_H
#define RESULTS_STUDIES_DIRECTION_TESTS_H

#include "results/studies/direction_facts.h"
#include "results/studies/study.h"

/* The instances of one set, ascending by the axis. */
struct pdnn_evidence {
    const struct pdnn_selection *selection;
    const struct pdnn_direction_facts *facts; /* by chosen row */
    struct pdnn_series series;
    int axis; /* column of the key in question; -1: there is none */
    struct pdnn_str *numbers;
};

struct pdnn_direction;

enum { PDNN_DIRECTION_AXES = 5, PDNN_DIRECTION_GROUPS = 3 };

/* An axis that stands for the family's minibatch parameter, whatever its name. */
extern const char pdnn_direction_minibatch[];

struct pdnn_direction {
    const char *name, *needs;
    /* Keys in which instances may differ: the one in question, then what is tied to it. None: every instance
     * is looked at by itself, in training or not. */
    const char *axes[PDNN_DIRECTION_AXES];
    bool (*alike)(const struct pdnn_selection *selection, size_t a, size_t b);
    /* Appends the numbers. Not covered: it needs other instances than these. */
    enum pdnn_verdict (*test)(const struct pdnn_direction *direction, const struct pdnn_evidence *e);
    enum pdnn_op_group groups[PDNN_DIRECTION_GROUPS]; /* of what the share is, and how many they are */
    size_t n_groups;
    bool grows; /* with the axis; else it falls */
};

/* Ended by a row without a name. */
extern const struct pdnn_direction pdnn_direction_rows[];

#endif
