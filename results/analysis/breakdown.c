#include "results/analysis/breakdown.h"
#include "models/op.h"
#include "runtime/facts/stats.h"

#include <string.h>

struct table {
    struct pdnn_breakdown_row *row;
    size_t *filled_by; /* by row: 1 + the ok visit that last gave it a time */
    double *times;     /* n_ok per row */
    size_t count, n_ok;
};

/* The row with the op's key that this visit has not filled yet, else any with that key (its times add up),
 * else table->count. Visits hold ops in the order of the rows, mostly: the search starts there. */
static size_t find_row(const struct table *table, const char *key, size_t start, size_t visit) {
    size_t filled = table->count;
    for (size_t k = 0; k < table->count; k++) {
        size_t i = (start + k) % table->count;
        if (strcmp(table->row[i].key, key) != 0)
            continue;
        if (table->filled_by[i] != visit + 1)
            return i;
        filled = i;
    }
    return filled;
}

static const char separator[] = " | ";

/* True when the text is one of those joined in the list. */
static bool is_listed(const char *list, const char *text) {
    size_t length = strlen(text), step = sizeof separator - 1;
    for (const char *at = list; at;) {
        const char *end = strstr(at, separator);
        if ((end ? (size_t)(end - at) : strlen(at)) == length && memcmp(at, text, length) == 0)
            return true;
        at = end ? end + step : NULL;
    }
    return false;
}

static void note_implementation(struct pdnn_breakdown_row *row, const char *implementation) {
    size_t used = strlen(row->implementation), more = strlen(implementation);
    size_t between = used ? sizeof separator - 1 : 0;
    if (is_listed(row->implementation, implementation) || used + between + more >= sizeof row->implementation)
        return;
    memcpy(row->implementation + used, separator, between);
    memcpy(row->implementation + used + between, implementation, more + 1);
}

static void add_visit(struct table *table, const struct pdnn_visit *visit, size_t number) {
    for (size_t i = 0; i < visit->n_ops; i++) {
        const struct pdnn_visit_op *op = &visit->ops[i];
        size_t at = table->count ? find_row(table, op->key, i % table->count, number) : 0;
        struct pdnn_breakdown_row *row = &table->row[at];
        bool again = at < table->count && table->filled_by[at] == number + 1;
        if (at == table->count) {
            table->count++;
            row->key = op->key;
        }
        row->count = again ? row->count + op->count : op->count;
        row->bytes = again ? row->bytes + op->bytes : op->bytes;
        table->times[at * table->n_ok + number] += op->time_ns;
        table->filled_by[at] = number + 1;
        note_implementation(row, op->implementation);
    }
}

static bool make_table(struct table *table, size_t n_groups, const struct pdnn_visit *visits, size_t n_visits,
                       struct pdnn_arena *arena) {
    size_t most = n_groups;
    for (size_t i = 0; i < n_visits; i++) {
        if (visits[i].outcome == PDNN_OUTCOME_OK) {
            most += visits[i].n_ops;
            table->n_ok++;
        }
    }
    table->row = pdnn_arena_alloc(arena, most, sizeof *table->row);
    table->filled_by = pdnn_arena_alloc(arena, most, sizeof *table->filled_by);
    table->times = pdnn_arena_alloc(arena, most, table->n_ok * sizeof *table->times);
    return table->row && table->filled_by && table->times;
}

enum pdnn_status pdnn_breakdown(const struct pdnn_graph *graph, const struct pdnn_group *groups,
                                size_t n_groups, const struct pdnn_visit *visits, size_t n_visits,
                                struct pdnn_arena *arena, struct pdnn_breakdown_row **rows, size_t *n_rows,
                                struct pdnn_err *err) {
    struct table table = {.count = 0};
    bool good = make_table(&table, n_groups, visits, n_visits, arena);
    for (size_t i = 0; good && i < n_groups; i++) {
        const struct pdnn_node *node = &graph->nodes[groups[i].node];
        struct pdnn_breakdown_row *row = &table.row[table.count++];
        row->group = &groups[i];
        row->key =
            pdnn_arena_printf(arena, "%s/%s/%s", node->op->name, pdnn_node_pass_name(node), groups[i].shape);
        good = row->key != NULL;
    }
    if (!good)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the ops of %zu visits", n_visits);
    size_t number = 0;
    for (size_t i = 0; i < n_visits; i++) {
        if (visits[i].outcome == PDNN_OUTCOME_OK)
            add_visit(&table, &visits[i], number++);
    }
    for (size_t i = 0; table.n_ok && i < table.count; i++)
        table.row[i].time_ns = pdnn_median(table.times + i * table.n_ok, table.n_ok);
    *rows = table.row;
    *n_rows = table.count;
    return PDNN_OK;
}
