#include "results/rows/op_medians.h"
#include "models/op.h"
#include "base/memory.h"
#include "base/stats.h"

#include <stdlib.h>
#include <string.h>

/* A row, and what its time is made from. */
struct line {
    struct pdnn_breakdown_row row;
    size_t filled_by; /* 1 + the last visit that gave it a time */
    double *times;    /* by visit */
};

/* There are few distinct ops however many visits there are, and each has one row. */
struct table {
    struct pdnn_arena *arena;
    struct line *line; /* heap */
    size_t count, room, n_visits;
};

/* Appends an empty row. */
static struct pdnn_breakdown_row *add_row(struct table *table, const char *key, const char *layer) {
    table->line = pdnn_grow(table->line, &table->room, table->count, sizeof *table->line);
    struct line *line = &table->line[table->count++];
    *line = (struct line){.row = {.key = key, .layer = layer}};
    line->times = pdnn_arena_alloc(table->arena, table->n_visits + 1, sizeof *line->times);
    return &line->row;
}

/* The row with the op's key that this visit has not filled yet; otherwise any row with that key
 * (their times add up); otherwise table->count. Visits mostly hold ops in the order of the rows, so
 * the search starts at `start`. */
static size_t find_row(const struct table *table, const char *key, size_t start, size_t visit) {
    size_t filled = table->count;
    for (size_t k = 0; k < table->count; k++) {
        size_t i = (start + k) % table->count;
        if (table->line[i].row.key != key && strcmp(table->line[i].row.key, key) != 0)
            continue;
        if (table->line[i].filled_by != visit + 1)
            return i;
        filled = i;
    }
    return filled;
}

static const char separator[] = " | ";

static void note_implementation(struct pdnn_breakdown_row *row, const char *implementation) {
    size_t used = strlen(row->implementation), more = strlen(implementation);
    size_t between = used ? sizeof separator - 1 : 0;
    if (pdnn_parts_have(row->implementation, separator, implementation, more) ||
        used + between + more >= sizeof row->implementation)
        return;
    memcpy(row->implementation + used, separator, between);
    memcpy(row->implementation + used + between, implementation, more + 1);
}

static void add_visit(struct table *table, const struct pdnn_measured_ops *ops, size_t visit) {
    for (size_t i = 0; i < ops->count; i++) {
        const struct pdnn_measured_op *op = &ops->op[i];
        size_t at = table->count ? find_row(table, op->key, i % table->count, visit) : 0;
        if (at == table->count)
            add_row(table, op->key, op->layer);
        struct line *line = &table->line[at];
        struct pdnn_breakdown_row *row = &line->row;
        bool again = line->filled_by == visit + 1;
        row->count = again ? row->count + op->count : op->count;
        row->bytes = again ? row->bytes + op->bytes : op->bytes;
        line->times[visit] += op->time_ns;
        line->filled_by = visit + 1;
        note_implementation(row, op->implementation);
    }
}

static void add_group(struct table *table, const struct pdnn_graph *graph, const struct pdnn_group *group) {
    const struct pdnn_node *node = &graph->nodes[group->node];
    const char *stem = graph->stems_apart ? node->layer.stem : NULL;
    const char *key =
        pdnn_arena_printf(table->arena, "%s/%s/%s", node->op->name, pdnn_node_pass_name(node), group->shape);
    add_row(table, key, stem ? stem : "")->group = group;
}

void pdnn_breakdown(const struct pdnn_graph *graph, const struct pdnn_group *groups, size_t n_groups,
                    const struct pdnn_measured_ops *visits, size_t n_visits, struct pdnn_arena *arena,
                    struct pdnn_breakdown_row **rows, size_t *n_rows) {
    struct table table = {.arena = arena, .n_visits = n_visits};
    for (size_t i = 0; i < n_groups; i++)
        add_group(&table, graph, &groups[i]);
    for (size_t i = 0; i < n_visits; i++)
        add_visit(&table, &visits[i], i);
    *rows = pdnn_arena_alloc(arena, table.count + 1, sizeof **rows);
    *n_rows = table.count;
    for (size_t i = 0; i < table.count; i++) {
        (*rows)[i] = table.line[i].row;
        if (n_visits)
            (*rows)[i].time_ns = pdnn_median(table.line[i].times, n_visits);
    }
    free(table.line);
}

/* Rows of groups come first, in the order of the groups, unless the table is older than the graph. */
const struct pdnn_group *pdnn_breakdown_group(const struct pdnn_graph *graph, const struct pdnn_group *groups,
                                              size_t n_groups, const struct pdnn_op_record *op) {
    for (size_t i = 0; i < n_groups; i++) {
        const struct pdnn_group *group = &groups[((size_t)op->op_index + i) % n_groups];
        const struct pdnn_node *node = &graph->nodes[group->node];
        if (strcmp(group->shape, op->shape) == 0 && strcmp(group->layer, op->layer) == 0 &&
            strcmp(node->op->name, op->op) == 0 && strcmp(pdnn_node_pass_name(node), op->pass) == 0)
            return group;
    }
    return NULL;
}
