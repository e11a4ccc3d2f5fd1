/* A node of a model as a program of its own, to run it apart from the model: as the model has it, with other
 * shapes or dtypes, or by an implementation that is forced on the backend. Whoever needs what belongs
 * together, such as a layer's forward and backward nodes, adds several. */
#ifndef RUNTIME_BACKEND_ONE_NODE_H
#define RUNTIME_BACKEND_ONE_NODE_H

#include "runtime/backend/backend.h"

enum { PDNN_ONE_NODE_TENSORS = 64 };

/* Which calls of the program count; others run beside them, but not beside reorders, and reorders not where
 * what they write must be cold. */
enum pdnn_one_node_part { PDNN_ONE_NODE_ALL, PDNN_ONE_NODE_LAST, PDNN_ONE_NODE_REORDERS };

/* What is only read lies apart, so that no candidate's result becomes the operand of another. */
enum pdnn_one_node_kind { PDNN_ONE_NODE_READ, PDNN_ONE_NODE_OTHER, PDNN_ONE_NODE_COLD, PDNN_ONE_NODE_KINDS };

struct pdnn_one_node_slot {
    enum pdnn_one_node_kind kind;
    uint64_t offset; /* among those of the kind */
};

struct pdnn_one_node {
    const struct pdnn_graph *from;
    /* Changes the copy of the model's tensor; may be NULL. */
    void (*edit)(const void *user, uint32_t outer, struct pdnn_tensor *copy);
    const void *user; /* of edit: read by pdnn_one_node_add only */
    struct pdnn_graph graph;
    uint32_t outer[PDNN_ONE_NODE_TENSORS]; /* by tensor: its number in the model */
    struct pdnn_program program;
    enum pdnn_one_node_part part;
    bool opens_weights;  /* as of the program */
    uint64_t cold_bytes; /* weights, and what is reordered, were last used so many bytes ago; 0: just now */
    /* Where its slots lie; of those that must be cold there are several sets, used in turn. */
    struct pdnn_one_node_slot *slots;
    void **memory; /* by slot; NULL until it is placed */
    char *begin[PDNN_ONE_NODE_KINDS];
    uint64_t bytes[PDNN_ONE_NODE_KINDS]; /* of what is cold: of one set */
    uint64_t n_sets, set;
};

/* Starts a graph in the arena, in the model's dtype. */
void pdnn_one_node_init(struct pdnn_one_node *one, const struct pdnn_graph *from, struct pdnn_arena *arena);

/* Appends a copy of the node, and of its tensors unless an earlier node has brought them. */
void pdnn_one_node_add(struct pdnn_one_node *one, const struct pdnn_node *node);

/* Compiles it within the options of the model's program, each slot in memory of its own. The caller finishes
 * the program even if this fails. */
enum pdnn_status pdnn_one_node_compile(struct pdnn_one_node *one, const struct pdnn_backend_def *backend,
                                       void *state, const struct pdnn_program *outer, bool keeps_plain,
                                       struct pdnn_err *err);

/* The last call of the last node, once it is compiled. */
const struct pdnn_call *pdnn_one_node_call(const struct pdnn_one_node *one);

/* Finds how much memory of each kind it needs, and where its slots lie in that. */
void pdnn_one_node_place(struct pdnn_one_node *one);
/* Binds what runs to memory of each kind. */
void pdnn_one_node_bind(struct pdnn_one_node *one, char *const begin[PDNN_ONE_NODE_KINDS]);
/* ns of its calls, with what is cold in the next set; INFINITY when one fails. */
double pdnn_one_node_run(struct pdnn_one_node *one);

#endif
