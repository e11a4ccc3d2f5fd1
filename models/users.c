#include "models/users.h"

/* A table in the making. `of` has two entries more than there are tensors: while counting, entry i + 2 counts
 * for tensor i; while filling, entry i + 1 is where its next user goes, and ends where the one after begins.
 */
struct table {
    uint32_t *of, *users; /* users NULL: still counting */
};

static void note(const struct table *table, uint32_t tensor, uint32_t user) {
    if (table->users)
        table->users[table->of[tensor + 1]++] = user;
    else
        table->of[tensor + 2]++;
}

static void note_nodes(const struct pdnn_graph *graph, const struct table *table) {
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        struct pdnn_access access[PDNN_NODE_ACCESSES];
        for (int k = pdnn_node_accesses(&graph->nodes[i], access); k-- > 0;)
            note(table, access[k].tensor, i);
    }
}

static void note_tensors(const struct pdnn_graph *graph, const struct table *table) {
    for (uint32_t i = 0; i < graph->n_tensors; i++) {
        if (graph->tensors[i].of != PDNN_NONE)
            note(table, graph->tensors[i].of, i);
    }
}

static struct table make(const struct pdnn_graph *graph, struct pdnn_arena *arena,
                         void (*note_all)(const struct pdnn_graph *graph, const struct table *table)) {
    struct table table = {.of = pdnn_arena_alloc(arena, graph->n_tensors + 2, sizeof *table.of)};
    note_all(graph, &table);
    for (size_t i = 2; i < graph->n_tensors + 2; i++)
        table.of[i] += table.of[i - 1];
    table.users = pdnn_arena_alloc(arena, table.of[graph->n_tensors + 1] + 1, sizeof *table.users);
    note_all(graph, &table);
    return table;
}

void pdnn_users_init(struct pdnn_users *users, const struct pdnn_graph *graph, struct pdnn_arena *arena) {
    const struct table nodes = make(graph, arena, note_nodes), tensors = make(graph, arena, note_tensors);
    *users = (struct pdnn_users){nodes.users, nodes.of, tensors.users, tensors.of};
}
