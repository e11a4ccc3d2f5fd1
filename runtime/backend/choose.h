/* Choosing by measuring (tune.h) between implementations of a node: each is forced on the backend in turn for
 * a program of that node alone, and all run on the same memory. */
#ifndef RUNTIME_BACKEND_CHOOSE_H
#define RUNTIME_BACKEND_CHOOSE_H

#include "runtime/backend/one_node.h"
#include "runtime/backend/tune.h"

/* Candidates for the same job. They compete within groups of group_size. */
struct pdnn_trial {
    struct pdnn_tune *tune; /* for which it measures */
    int n, group_size;
    bool may_be_empty;    /* groups without a candidate are no failure */
    bool shuns_reference; /* a library's reference code competes only where its group has nothing else */
    /* Builds candidate i of nodes of `from`, compiles it, and may set part and cold_bytes. PDNN_UNSUPPORTED:
     * there is none. */
    enum pdnn_status (*prepare)(void *user, int i, struct pdnn_one_node *one, struct pdnn_err *err);
    void *user;
    bool is_guess; /* nothing runs: a candidate takes 1 ns, and so does a reorder */
    uint64_t room_bytes;
    const struct pdnn_graph *from;
    void *block; /* memory that they share, allocated when needed */
    uint64_t block_bytes;
};

/* Sets ns[i] of each candidate, INFINITY where there is none. is_yardstick: see struct pdnn_tune_candidate;
 * NULL: none. PDNN_TOO_BIG when they need more than room_bytes; PDNN_UNSUPPORTED, with the first reason, when
 * a group has none. */
enum pdnn_status pdnn_trial_measure(struct pdnn_trial *trial, const struct pdnn_tune_rules *rules,
                                    const bool *is_yardstick, double *ns, struct pdnn_err *err);
void pdnn_trial_finish(struct pdnn_trial *trial);

struct pdnn_choice {
    struct pdnn_tune_key key;
    const char *what; /* "a matmul" */
    const struct pdnn_trial *trial;
    struct pdnn_tune_rules rules;
    int compilations; /* as in struct pdnn_tune_question */
    double margin;    /* as for pdnn_tune_pick */
};

/* Measures unless the times are known, and picks one; the first where there is no room to measure. *picked is
 * set on success only. */
enum pdnn_status pdnn_trial_choose(struct pdnn_choice *choice, int *picked, struct pdnn_err *err);

#endif
