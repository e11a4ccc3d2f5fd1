#include "results/shares.h"
#include "results/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct pdnn_share *find(struct pdnn_share *shares, size_t *count, const struct pdnn_op_record *op) {
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(shares[i].category, op->category) == 0)
            return &shares[i];
    }
    shares[*count] = (struct pdnn_share){.id = op->id, .category = op->category};
    return &shares[(*count)++];
}

static void add_op(struct pdnn_share *share, const struct pdnn_op_record *op) {
    share->count += op->count;
    share->time_ns += op->time_ns_median;
    if (isnan(op->place.pct_of_roof))
        return;
    double roof_ns = op->time_ns_median * op->place.pct_of_roof / 100;
    double lost_ns = fmax(0, op->time_ns_median - roof_ns);
    share->roof_ns += roof_ns;
    share->roofed_ns += op->time_ns_median;
    share->lost_ns += lost_ns;
    if (lost_ns > share->most_lost_ns) {
        share->most_lost_ns = lost_ns;
        share->most = op;
    }
}

static void finish(struct pdnn_share *share, double step_ns) {
    share->share_pct = share->time_ns / step_ns * 100;
    share->pct_of_roof = NAN;
    if (share->roofed_ns > 0)
        share->pct_of_roof = share->roof_ns / share->roofed_ns * 100;
    else
        share->lost_ns = NAN;
    if (!share->most)
        share->most_lost_ns = NAN;
    share->lost_pct = share->lost_ns / step_ns * 100;
    share->most_lost_pct = share->most_lost_ns / step_ns * 100;
}

/* Equal times keep an order that does not depend on the C library. */
static int compare(const void *a, const void *b) {
    const struct pdnn_share *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    return strcmp(x->category, y->category);
}

enum pdnn_status pdnn_shares(const struct pdnn_op_record *ops, size_t n_ops, double step_ns,
                             struct pdnn_arena *arena, struct pdnn_share **shares, size_t *n_shares,
                             struct pdnn_err *err) {
    struct pdnn_share *made = pdnn_arena_alloc(arena, n_ops + 1, sizeof *made);
    size_t count = 0;
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the shares of %zu ops", n_ops);
    double residual_ns = step_ns;
    for (size_t i = 0; i < n_ops; i++) {
        if (isnan(ops[i].time_ns_median))
            continue;
        add_op(find(made, &count, &ops[i]), &ops[i]);
        residual_ns -= ops[i].time_ns_median;
    }
    qsort(made, count, sizeof *made, compare);
    if (count) {
        made[count] = (struct pdnn_share){
            .id = made->id, .category = "residual", .count = PDNN_ABSENT, .time_ns = residual_ns};
        count++;
    }
    for (size_t i = 0; i < count; i++)
        finish(&made[i], step_ns);
    *shares = made;
    *n_shares = count;
    return PDNN_OK;
}

const struct pdnn_share *pdnn_shares_most(const struct pdnn_share *shares, size_t n_shares) {
    const struct pdnn_share *most = NULL;
    for (size_t i = 0; i < n_shares; i++) {
        if (shares[i].most && (!most || shares[i].most_lost_ns > most->most_lost_ns))
            most = &shares[i];
    }
    return most;
}

/* The fields of the op that loses most are those of its row in ops.csv: `index` is the column there. */
static void get_most(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    const struct pdnn_share *share = row;
    int at = pdnn_columns_find(&pdnn_ops_columns, column->name + sizeof "most_" - 1);
    if (share->most && at >= 0)
        pdnn_column_text(&pdnn_ops_columns.column[at], share->most, cell);
}

#define AT(field)     .offset = offsetof(struct pdnn_share, field)
#define WORD(field)   PDNN_COLUMN_WORD, AT(field)
#define NUMBER(field) PDNN_COLUMN_NUMBER, AT(field), .digits = PDNN_DIGITS_TABLE
#define COUNT(field)  PDNN_COLUMN_COUNT, AT(field)

static const struct pdnn_column columns[] = {
    {"id", "", WORD(id), .help = "the instance"},
    {"category", "", WORD(category),
     .help = "kind of work, as in `paradnn ops`; reorder; residual: what is in no op's time"},
    {"count", "executions", COUNT(count), .help = "in one step"},
    {"time_ns", "ns", NUMBER(time_ns),
     .help = "of all of them; with the residual, the step's time_ns_median"},
    {"share_pct", "%", NUMBER(share_pct), .help = "of the step's time_ns_median: with the residual, 100"},
    {"pct_of_roof", "%", NUMBER(pct_of_roof), .help = "time the ops' roofs allow over time they take"},
    {"lost_ns", "ns", NUMBER(lost_ns), .help = "time beyond what the roofs allow, of the ops below theirs"},
    {"lost_pct", "%", NUMBER(lost_pct), .help = "the same as a part of the step"},
    {"most_layer", "", PDNN_COLUMN_TEXT, .get = get_most,
     .help = "the op that loses most: where in the model"},
    {"most_op", "", PDNN_COLUMN_TEXT, .get = get_most, .help = "its name"},
    {"most_pass", "", PDNN_COLUMN_TEXT, .get = get_most, .help = "its pass"},
    {"most_shape", "", PDNN_COLUMN_TEXT, .get = get_most, .help = "its shape, as in ops.csv"},
    {"most_implementation", "", PDNN_COLUMN_TEXT, .get = get_most, .help = "what ran"},
    {"most_pct_of_roof", "%", PDNN_COLUMN_NUMBER, .get = get_most, .help = "of its roof"},
    {"most_bound", "", PDNN_COLUMN_TEXT, .get = get_most, .help = "what that roof is"},
    {"most_lost_pct", "%", NUMBER(most_lost_pct), .help = "the time it loses, as a part of the step"},
};

const struct pdnn_columns pdnn_shares_columns = {"breakdown", columns, sizeof columns / sizeof columns[0]};
