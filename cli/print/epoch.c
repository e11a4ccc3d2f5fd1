#include "cli/print/epoch.h"

#include "base/units.h"
#include "cli/print/output.h"
#include "results/store/seqpoint_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* SeqPoints that are listed; more only say how many. */
enum { LISTED = 24 };

static void append_epoch(struct pdnn_str *out, const struct pdnn_seqpoint_run *run) {
    const struct pdnn_seqpoint_epoch *made = &run->made;
    const struct pdnn_epoch *epoch = &made->epoch;
    bool is_stream = epoch->sampler == PDNN_SAMPLER_STREAM;
    pdnn_str_printf(out, "lengths  %s: %zu %s", made->rules.lengths,
                    is_stream ? made->lengths.count : epoch->n_iterations * (size_t)epoch->batch,
                    epoch->columns > 1 ? "pairs" : "examples");
    if (epoch->left_over)
        pdnn_str_printf(out, ", %zu more %s", epoch->left_over,
                        is_stream ? "steps than fill iterations" : "in no full minibatch");
    if (made->lengths.left_out)
        pdnn_str_printf(out, ", %zu too long", made->lengths.left_out);
    pdnn_str_printf(out, "\nepoch    %zu iterations of %" PRIu64 ", %s; %zu distinct %s, padding %.1f %%\n",
                    epoch->n_iterations, epoch->batch, pdnn_samplers[epoch->sampler], epoch->n_kinds,
                    epoch->columns > 1 ? "pairs of lengths" : "lengths", 100 * epoch->all_waste);
    if (epoch->n_kinds == 1)
        pdnn_str_printf(out,
                        "         one distinct length: a single iteration stands for the epoch exactly\n");
}

static void append_choice(struct pdnn_str *out, const struct pdnn_seqpoint_run *run) {
    const struct pdnn_seqpoints *seqpoints = &run->seqpoints;
    const struct pdnn_seqpoint_epoch *made = &run->made;
    static const char *const statistics[] = {"length", "FLOP", "time"};
    if (!seqpoints->points.count) {
        pdnn_str_printf(out, "chosen   no SeqPoints yet: not every length is measured\n");
        return;
    }
    pdnn_str_printf(out, "chosen   %zu SeqPoints", seqpoints->points.count);
    if (run->wish.points_from)
        pdnn_str_printf(out, " in %s\n", run->wish.points_from);
    else if (!seqpoints->bins)
        pdnn_str_printf(out, ": every distinct length\n");
    else
        pdnn_str_printf(out, " of %zu lengths (%s), %zu bins; %s to %+.2f %%\n", seqpoints->distinct,
                        pdnn_seqpoint_keys[made->rules.key], seqpoints->bins,
                        statistics[made->rules.statistic], 100 * seqpoints->error);
}

static bool is_seqpoint(const struct pdnn_table *kinds, size_t row, const void *user) {
    (void)user;
    return !pdnn_table_is_empty(kinds, row, PDNN_SEQPOINT_WEIGHT);
}

/* The first of them. */
static void append_points(struct pdnn_str *out, const struct pdnn_seqpoint_run *run,
                          struct pdnn_table *kinds) {
    static const struct pdnn_column_def share = {"share_pct",      "% of epoch",    "%",
                                                 PDNN_KIND_NUMBER, PDNN_SHOW_FIXED, .decimals = 1};
    const size_t column = pdnn_table_add_column(kinds, &share);
    const size_t two[] = {PDNN_SEQPOINT_SOURCE,
                          PDNN_SEQPOINT_TARGET,
                          PDNN_SEQPOINT_ITERATIONS,
                          PDNN_SEQPOINT_WEIGHT,
                          PDNN_SEQPOINT_FLOP,
                          PDNN_SEQPOINT_TIME,
                          column};
    const size_t one[] = {PDNN_SEQPOINT_SOURCE, PDNN_SEQPOINT_ITERATIONS, PDNN_SEQPOINT_WEIGHT,
                          PDNN_SEQPOINT_FLOP,   PDNN_SEQPOINT_TIME,       column};
    struct pdnn_row_list rows = pdnn_rows_all(kinds);
    pdnn_rows_keep(&rows, kinds, is_seqpoint, NULL);
    for (size_t i = 0; i < rows.count; i++)
        pdnn_table_set_number(kinds, rows.at[i], column,
                              100 * pdnn_table_number(kinds, rows.at[i], PDNN_SEQPOINT_WEIGHT) *
                                  pdnn_table_number(kinds, rows.at[i], PDNN_SEQPOINT_TIME) /
                                  run->projections.of[0].total_ns);
    size_t more = rows.count > LISTED ? rows.count - LISTED : 0;
    rows.count -= more;
    if (run->made.epoch.columns > 1)
        pdnn_table_show(out, kinds, &rows, two, sizeof two / sizeof *two);
    else
        pdnn_table_show(out, kinds, &rows, one, sizeof one / sizeof *one);
    if (more)
        pdnn_str_printf(out, "... and %zu more, in seqpoint.csv\n", more);
    pdnn_rows_finish(&rows);
}

/* The methods, and then the epoch itself. */
static void append_methods(struct pdnn_str *out, const struct pdnn_seqpoint_run *run) {
    struct pdnn_table methods;
    pdnn_method_estimates_table(&run->projections, &methods);
    size_t row = pdnn_table_add_row(&methods);
    pdnn_table_set_text(&methods, row, PDNN_METHOD_NAME, "truth");
    pdnn_table_set_count(&methods, row, PDNN_METHOD_ITERATIONS, run->made.epoch.n_iterations);
    pdnn_table_set_count(&methods, row, PDNN_METHOD_LENGTHS, run->made.epoch.n_kinds);
    pdnn_table_set_number(&methods, row, PDNN_METHOD_EPOCH, run->projections.truth_ns);
    pdnn_table_show(out, &methods, NULL, NULL, 0);
    pdnn_table_finish(&methods);
}

/* The interval, the order's effect, and what the run took. */
static void append_notes(struct pdnn_str *out, const struct pdnn_seqpoint_run *run) {
    const struct pdnn_method_estimates *projections = &run->projections;
    const struct pdnn_epoch *epoch = &run->made.epoch;
    const struct pdnn_epoch_estimate *estimate = &projections->estimate;
    char low[PDNN_UNIT_TEXT], high[PDNN_UNIT_TEXT], total[PDNN_UNIT_TEXT];
    pdnn_str_printf(out, "\n");
    if (projections->has_estimate)
        pdnn_str_printf(out, "model-assisted: %s, 95 %% %s to %s (+-%.2f %%), from %zu iterations\n",
                        pdnn_format_ns(total, estimate->total), pdnn_format_ns(low, estimate->low),
                        pdnn_format_ns(high, estimate->high), 100 * pdnn_sample_half_width(estimate),
                        run->draws);
    const double target = run->made.rules.target_error;
    if (projections->has_estimate && target > 0)
        pdnn_str_printf(out, "target +-%.3g %%: %s with %zu iterations\n", 100 * target,
                        pdnn_sample_half_width(estimate) <= target ? "reached" : "not reached", run->draws);
    if (isnan(projections->truth_ns) && run->wish.runs)
        pdnn_str_printf(out, "no errors without the truth: --ground-truth runs every distinct length\n");
    else if (!isnan(projections->truth_ns) && !run->has_every)
        pdnn_str_printf(out, "truth: each length's median times its iterations; --every runs them all\n");
    if (!isnan(projections->truth_ns))
        pdnn_str_printf(out, "random: 95 %% of %d such samples have a smaller error\n", PDNN_RANDOM_SEEDS);
    pdnn_str_printf(out, "prior: %d consecutive iterations; %s\n", PDNN_PRIOR_ITERATIONS,
                    epoch->sampler == PDNN_SAMPLER_SHUFFLED
                        ? "a shuffled epoch is alike everywhere, so they do well here"
                    : epoch->sampler == PDNN_SAMPLER_STREAM ? "all iterations have one length"
                                                            : "in this order they may be far off");
    if (run->ran_ns) {
        const struct pdnn_visit_spent *spent = &run->spent;
        double epoch_ns = isnan(projections->truth_ns) ? projections->of[0].total_ns : projections->truth_ns;
        char wall[PDNN_UNIT_TEXT], prepare[PDNN_UNIT_TEXT], timed[PDNN_UNIT_TEXT];
        pdnn_str_printf(out, "ran now: %s wall time, %s of it preparing, %s timed",
                        pdnn_format_ns(wall, (double)run->ran_ns),
                        pdnn_format_ns(prepare, (double)spent->prepare_ns),
                        pdnn_format_ns(timed, (double)(spent->samples_ns + spent->stamped_ns)));
        if (!isnan(epoch_ns))
            pdnn_str_printf(out, "; the epoch takes %.3gx", epoch_ns / (double)run->ran_ns);
        pdnn_str_printf(out, "\n");
    }
}

void pdnn_epoch_text(struct pdnn_str *out, const struct pdnn_seqpoint_run *run, struct pdnn_table *kinds) {
    append_epoch(out, run);
    append_choice(out, run);
    pdnn_str_printf(out, "\n");
    append_points(out, run, kinds);
    pdnn_str_printf(out, "\n");
    append_methods(out, run);
    append_notes(out, run);
}
