#include "results/epochs/seqpoint_summary.h"
#include "base/units.h"

#include <math.h>

static int64_t length_of(const struct pdnn_table *table, size_t row) {
    return pdnn_table_whole(table, row, PDNN_SEQPOINT_SOURCE) +
           pdnn_table_whole(table, row, PDNN_SEQPOINT_TARGET);
}

/* The greatest number of which all differences of lengths are multiples: lengths that were rounded up to
 * multiples make no comb of bars. */
static int64_t find_grid(const struct pdnn_table *table) {
    int64_t grid = 0;
    for (size_t i = 1; i < table->n_rows; i++) {
        int64_t a = length_of(table, i) - length_of(table, 0), b = grid;
        a = a < 0 ? -a : a;
        while (b) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        grid = a;
    }
    return grid ? grid : 1;
}

size_t pdnn_seqpoint_bar_of(const struct pdnn_seqpoint_summary *summary, double length) {
    return (size_t)floor((length - summary->first) / summary->width);
}

static void put_bars(const struct pdnn_table *table, struct pdnn_seqpoint_summary *summary) {
    double grid = (double)find_grid(table), steps = (summary->longest - summary->shortest) / grid + 1;
    summary->width = grid * ceil(steps / PDNN_SEQPOINT_BARS_MAX);
    summary->first = summary->shortest - grid / 2;
    summary->n_bars = pdnn_seqpoint_bar_of(summary, summary->longest) + 1;
    for (size_t i = 0; i < table->n_rows; i++) {
        double *bar = &summary->bar[pdnn_seqpoint_bar_of(summary, summary->length[i])];
        *bar += pdnn_table_number(table, i, PDNN_SEQPOINT_ITERATIONS);
        summary->most = fmax(summary->most, *bar);
    }
}

void pdnn_seqpoint_summarize(const struct pdnn_table *table, struct pdnn_arena *arena,
                             struct pdnn_seqpoint_summary *summary) {
    struct pdnn_seqpoint_summary made = {.two = pdnn_table_whole(table, 0, PDNN_SEQPOINT_TARGET) > 0,
                                         .length =
                                             pdnn_arena_alloc(arena, table->n_rows, sizeof *made.length),
                                         .shortest = INFINITY,
                                         .longest_ns = NAN};
    for (size_t i = 0; i < table->n_rows; i++) {
        double iterations = pdnn_table_number(table, i, PDNN_SEQPOINT_ITERATIONS);
        double weight = pdnn_table_number(table, i, PDNN_SEQPOINT_WEIGHT);
        double time_ns = pdnn_table_number(table, i, PDNN_SEQPOINT_TIME);
        made.length[i] = (double)length_of(table, i);
        made.shortest = fmin(made.shortest, made.length[i]);
        made.longest = fmax(made.longest, made.length[i]);
        made.iterations += iterations;
        made.timed += isnan(time_ns) ? 0 : 1;
        made.longest_ns = fmax(made.longest_ns, time_ns);
        made.total_ns += iterations * time_ns;
        if (!isnan(weight)) {
            made.seqpoints++;
            made.projected_ns += weight * time_ns;
        }
    }
    if (!made.seqpoints)
        made.projected_ns = NAN;
    put_bars(table, &made);
    *summary = made;
}

void pdnn_seqpoint_sentence(const struct pdnn_table *table, const struct pdnn_seqpoint_summary *summary,
                            struct pdnn_str *out) {
    char projected[PDNN_UNIT_TEXT], total[PDNN_UNIT_TEXT];
    pdnn_str_printf(out, "%.0f iteration%s of %zu %s", summary->iterations,
                    summary->iterations == 1 ? "" : "s", table->n_rows,
                    summary->two         ? table->n_rows == 1 ? "pair of lengths" : "pairs of lengths"
                    : table->n_rows == 1 ? "length"
                                         : "lengths");
    if (!summary->seqpoints)
        return;
    pdnn_str_printf(out, "; %zu SeqPoint%s", summary->seqpoints, summary->seqpoints == 1 ? "" : "s");
    if (isnan(summary->projected_ns))
        return;
    pdnn_str_printf(out, " project%s %s", summary->seqpoints == 1 ? "s" : "",
                    pdnn_format_ns(projected, summary->projected_ns));
    if (!isnan(summary->total_ns))
        pdnn_str_printf(out, ", all iterations take %s: %+.2f %%", pdnn_format_ns(total, summary->total_ns),
                        100 * (summary->projected_ns / summary->total_ns - 1));
}
