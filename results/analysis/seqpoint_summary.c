#include "results/analysis/seqpoint_summary.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

static int64_t length_of(const struct pdnn_seqpoint_row *row) {
    return row->source_length + row->target_length;
}

/* The greatest number of which all differences of lengths are multiples: lengths that were rounded up to
 * multiples make no comb of bars. */
static int64_t find_grid(const struct pdnn_seqpoint_table *table) {
    int64_t grid = 0;
    for (size_t i = 1; i < table->n_rows; i++) {
        int64_t a = length_of(&table->row[i]) - length_of(&table->row[0]), b = grid;
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

static void put_bars(const struct pdnn_seqpoint_table *table, struct pdnn_seqpoint_summary *summary) {
    double grid = (double)find_grid(table), steps = (summary->longest - summary->shortest) / grid + 1;
    double width = grid * ceil(steps / PDNN_SEQPOINT_BARS_MAX), first = summary->shortest - grid / 2;
    summary->n_bars = (size_t)floor((summary->longest - first) / width) + 1;
    for (size_t i = 0; i < summary->n_bars; i++)
        summary->bar[i] =
            (struct pdnn_seqpoint_bar){first + width * (double)i, first + width * (double)(i + 1), 0};
    for (size_t i = 0; i < table->n_rows; i++) {
        struct pdnn_seqpoint_bar *bar = &summary->bar[(size_t)floor((summary->length[i] - first) / width)];
        bar->iterations += (double)table->row[i].iterations;
        summary->most = fmax(summary->most, bar->iterations);
    }
}

const struct pdnn_seqpoint_bar *pdnn_seqpoint_bar_of(const struct pdnn_seqpoint_summary *summary,
                                                     double length) {
    double width = summary->bar[0].high - summary->bar[0].low;
    return &summary->bar[(size_t)floor((length - summary->bar[0].low) / width)];
}

void pdnn_seqpoint_summarize(const struct pdnn_seqpoint_table *table, struct pdnn_arena *arena,
                             struct pdnn_seqpoint_summary *summary) {
    struct pdnn_seqpoint_summary made = {.two = table->row[0].target_length > 0,
                                         .length =
                                             pdnn_arena_alloc(arena, table->n_rows, sizeof *made.length),
                                         .shortest = INFINITY,
                                         .longest_ns = NAN};
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct pdnn_seqpoint_row *row = &table->row[i];
        double iterations = (double)row->iterations;
        made.length[i] = (double)length_of(row);
        made.shortest = fmin(made.shortest, made.length[i]);
        made.longest = fmax(made.longest, made.length[i]);
        made.iterations += iterations;
        made.timed += isnan(row->time_ns) ? 0 : 1;
        made.longest_ns = fmax(made.longest_ns, row->time_ns);
        made.total_ns += iterations * row->time_ns;
        if (!isnan(row->seqpoint_weight)) {
            made.seqpoints++;
            made.projected_ns += row->seqpoint_weight * row->time_ns;
        }
    }
    if (!made.seqpoints)
        made.projected_ns = NAN;
    put_bars(table, &made);
    *summary = made;
}

void pdnn_seqpoint_sentence(const struct pdnn_seqpoint_table *table,
                            const struct pdnn_seqpoint_summary *summary, struct pdnn_str *out) {
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
