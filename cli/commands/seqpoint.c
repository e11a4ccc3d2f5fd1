#include "cli/job.h"
#include "cli/print/output.h"
#include "results/store/seqpoint_table.h"
#include "base/units.h"
#include "session/seqpoint.h"

#include <inttypes.h>
#include <math.h>

static const char description[] =
    "Projects how long an epoch of a model with sequences takes from a handful of its iterations, since the time of "
    "one depends on little but the lengths that its minibatch is padded to. The spec or ID is one model: gnmt, "
    "deepspeech2, rnn, transformer.\n\n"
    "SeqPoints (Pati et al., ISPASS 2020) are chosen by length, FLOP or, where all of it was measured, time; each "
    "stands for a number of iterations. Beside them: a random sample whose estimate is corrected by what lengths "
    "explain and has an interval (model-assisted), and the baselines that SeqPoint was published with.\n\n"
    "Iterations of equal padded lengths are one row of results.csv, and seqpoint.csv has a row per kind of iteration. "
    "All share one set of weights and one block of memory; each is prepared once, never inside a sample, and at most "
    "64 are kept prepared. Run again with the same directory, it keeps what is measured.\n\n"
    "With two result directories of this command and nothing else, it prints how much faster the second is: in truth, "
    "and as projected from what was chosen in the first.";

static const struct pdnn_option_def options[] = {
    {"output", 'o', "DIR",
     .help =
         "the result directory (default: NAME.results in the current directory, with the spec's name; required "
         "for an ID)"},
    {"lengths", 0, "LENGTHS",
     .help =
         "the lengths of the examples: a file with one, or source and target, per line; a distribution such as "
         "librispeech-clean-100 or iwslt15-en-vi; or uniform:LOW-HIGH and others (paradnn help spec)"},
    {"sampler", 0, "SAMPLER", .choices = pdnn_samplers,
     .help = "how batches are formed and ordered (default: bucket)"},
    {"key", 0, "KEY", .choices = pdnn_seqpoint_keys,
     .help = "which length of an iteration with two is its sequence length (default: source)"},
    {"statistic", 0, "STATISTIC", .choices = pdnn_seqpoint_statistics,
     .help = "what SeqPoints are chosen by; time needs --ground-truth (default: flop)"},
    {"target-error", 0, "PERCENT",
     .help = "run random iterations until half the model-assisted interval is within PERCENT, such as 0.5%"},
    {"points", 0, "DIR",
     .help = "run the SeqPoints that were chosen in DIR, on another platform, instead of choosing them"},
    {"ground-truth", .help = "measure every distinct length, so that all methods have an error"},
    {"every", .needs = "ground-truth",
     .help = "with --ground-truth: time as many steps of each length as the epoch has iterations of it"},
    PDNN_OPTIONS_MEASURE,
    {"dry-run", .help = "choose and print, run and write nothing"},
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn seqpoint sweeps/seqpoint-gnmt.yaml --dry-run", "which iterations stand for an epoch of GNMT"},
    {"paradnn seqpoint sweeps/seqpoint-ds2.yaml --ground-truth -o ds2",
     "project an epoch of DeepSpeech2, and measure how far off that is"},
    {"paradnn seqpoint sweeps/seqpoint-ds2.yaml --points ds2 --set run.threads=1 -o ds2-1",
     "the same iterations on one thread"},
    {"paradnn seqpoint ds2-1 ds2", "the speed-up of the second thread, projected and true"},
    {"paradnn seqpoint rnn/hidden=256 --lengths lengths.txt -o rnn", "an ID, with lengths from a file"},
};

/* SeqPoints that are listed; more only say how many. */
enum { LISTED = 24 };

static void append_epoch(struct pdnn_str *out, const struct pdnn_seqpoint_run *run) {
    const struct pdnn_epoch *epoch = &run->epoch;
    bool is_stream = epoch->sampler == PDNN_SAMPLER_STREAM;
    pdnn_str_printf(out, "lengths  %s: %zu %s", run->rules.lengths,
                    is_stream ? run->lengths.count : epoch->n_iterations * (size_t)epoch->batch,
                    epoch->columns > 1 ? "pairs" : "examples");
    if (epoch->left_over)
        pdnn_str_printf(out, ", %zu more %s", epoch->left_over,
                        is_stream ? "steps than fill iterations" : "in no full minibatch");
    if (run->lengths.left_out)
        pdnn_str_printf(out, ", %zu too long", run->lengths.left_out);
    pdnn_str_printf(out, "\nepoch    %zu iterations of %" PRIu64 ", %s; %zu distinct %s, padding %.1f %%\n",
                    epoch->n_iterations, epoch->batch, pdnn_samplers[epoch->sampler], epoch->n_kinds,
                    epoch->columns > 1 ? "pairs of lengths" : "lengths", 100 * epoch->waste);
    if (epoch->n_kinds == 1)
        pdnn_str_printf(out,
                        "         one distinct length: a single iteration stands for the epoch exactly\n");
}

static void append_choice(struct pdnn_str *out, const struct pdnn_seqpoint_run *run) {
    static const char *const statistics[] = {"length", "FLOP", "time"};
    const struct pdnn_seqpoints *made = &run->seqpoints;
    if (!made->points.count)
        pdnn_str_printf(out, "chosen   no SeqPoints yet: not every length is measured\n");
    else if (run->points_from)
        pdnn_str_printf(out, "chosen   %zu SeqPoints in %s\n", made->points.count, run->points_from);
    else if (!made->bins)
        pdnn_str_printf(out, "chosen   %zu SeqPoints: every distinct length\n", made->points.count);
    else
        pdnn_str_printf(out, "chosen   %zu SeqPoints of %zu lengths (%s), %zu bins; %s to %+.2f %%\n",
                        made->points.count, made->distinct, pdnn_seqpoint_keys[run->rules.key], made->bins,
                        statistics[run->rules.statistic], 100 * made->error);
}

/* The first of them. */
static void append_points(struct pdnn_str *out, const struct pdnn_seqpoint_run *run) {
    static const struct pdnn_column_def share = {"share_pct",      "% of epoch",    "%",
                                                 PDNN_KIND_NUMBER, PDNN_SHOW_FIXED, .decimals = 1};
    struct pdnn_table kinds;
    struct pdnn_row_list rows = {0};
    pdnn_seqpoint_run_table(run, &kinds);
    const size_t column = pdnn_table_add_column(&kinds, &share);
    for (size_t row = 0; row < kinds.n_rows; row++) {
        const double weight = pdnn_table_number(&kinds, row, PDNN_SEQPOINT_WEIGHT),
                     time_ns = pdnn_table_number(&kinds, row, PDNN_SEQPOINT_TIME);
        pdnn_table_set_number(&kinds, row, column, 100 * weight * time_ns / run->projections.of[0].total_ns);
        if (!isnan(weight))
            pdnn_rows_add(&rows, row);
    }
    size_t more = rows.count > LISTED ? rows.count - LISTED : 0;
    rows.count -= more;
    if (run->epoch.columns == 1)
        kinds.column[PDNN_SEQPOINT_TARGET].def.show = PDNN_SHOW_NEVER;
    pdnn_str_append(out, "\n", 1);
    pdnn_table_show(out, &kinds, &rows, NULL, 0);
    if (more)
        pdnn_str_printf(out, "... and %zu more, in seqpoint.csv\n", more);
    pdnn_str_append(out, "\n", 1);
    pdnn_rows_finish(&rows);
    pdnn_table_finish(&kinds);
}

/* The methods, and then the epoch itself. */
static void append_methods(struct pdnn_str *out, const struct pdnn_seqpoint_run *run) {
    struct pdnn_table methods;
    pdnn_method_estimates_table(&run->projections, &methods);
    size_t row = pdnn_table_add_texts(&methods, 1, &(const char *){"truth"});
    pdnn_table_set_count(&methods, row, PDNN_METHOD_ITERATIONS, run->epoch.n_iterations);
    pdnn_table_set_count(&methods, row, PDNN_METHOD_LENGTHS, run->epoch.n_kinds);
    pdnn_table_set_number(&methods, row, PDNN_METHOD_EPOCH, run->projections.truth_ns);
    pdnn_table_show(out, &methods, NULL, NULL, 0);
    pdnn_table_finish(&methods);
}

/* The interval, the order's effect, and what the run took. */
static void append_notes(struct pdnn_str *out, const struct pdnn_seqpoint_run *run) {
    const struct pdnn_method_estimates *projections = &run->projections;
    const struct pdnn_epoch_estimate *estimate = &projections->estimate;
    char low[PDNN_UNIT_TEXT], high[PDNN_UNIT_TEXT], total[PDNN_UNIT_TEXT];
    pdnn_str_printf(out, "\n");
    if (projections->has_estimate)
        pdnn_str_printf(
            out, "model-assisted: %s, 95 %% %s to %s (+-%.2f %%, sampling error only), from %zu iterations\n",
            pdnn_format_ns(total, estimate->total), pdnn_format_ns(low, estimate->low),
            pdnn_format_ns(high, estimate->high), 100 * pdnn_sample_half_width(estimate), run->draws);
    const double target = run->rules.target_error;
    if (projections->has_estimate && target > 0)
        pdnn_str_printf(out, "target +-%.3g %%: %s with %zu iterations\n", 100 * target,
                        pdnn_sample_half_width(estimate) <= target ? "reached" : "not reached", run->draws);
    if (isnan(projections->truth_ns) && run->runs)
        pdnn_str_printf(out, "no errors without the truth: --ground-truth runs every distinct length\n");
    else if (!isnan(projections->truth_ns) && !run->has_every)
        pdnn_str_printf(out, "truth: each length's median times its iterations; --every runs them all\n");
    const double epoch_ns =
        isnan(projections->truth_ns) ? projections->of[0].total_ns : projections->truth_ns;
    if (run->ran_ns && !isnan(epoch_ns))
        pdnn_str_printf(out, "ran now: %s wall time; the epoch takes %.3gx\n",
                        pdnn_format_ns(total, (double)run->ran_ns), epoch_ns / (double)run->ran_ns);
}

static enum pdnn_status compare_two(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_table table[2] = {{0}}, made;
    struct pdnn_str title = {0}, path = {0};
    const char *first = arguments->operands[0], *second = arguments->operands[1];
    enum pdnn_status status = pdnn_arguments_only(arguments, "DIR DIR", "format,columns", err);
    if (status == PDNN_OK && !pdnn_path_has(first, "") && !pdnn_path_has(second, ""))
        status = pdnn_fail(err, PDNN_INVALID, "%s: expected one model, or two result directories to compare",
                           first);
    for (int i = 0; i < 2 && status == PDNN_OK; i++) {
        pdnn_str_clear(&path);
        pdnn_str_printf(&path, "%s/seqpoint.csv", arguments->operands[i]);
        status = pdnn_seqpoint_table_read(pdnn_str_text(&path), &table[i], err);
    }
    if (status == PDNN_OK && !pdnn_epoch_speedups(table, &made))
        status = pdnn_fail(err, PDNN_INVALID, "%s and %s are of different epochs", first, second);
    if (status == PDNN_OK && pdnn_wants_text(arguments))
        pdnn_str_printf(&title, "first    %s\nsecond   %s\n\n", first, second);
    pdnn_text_print(&title, false);
    pdnn_str_finish(&path);
    status = status == PDNN_OK ? pdnn_table_print(&made, arguments, err) : status;
    pdnn_table_finish(&table[0]);
    pdnn_table_finish(&table[1]);
    return status;
}

static enum pdnn_status print(const struct pdnn_arguments *arguments, const struct pdnn_seqpoint_run *run,
                              struct pdnn_err *err) {
    struct pdnn_table table;
    struct pdnn_str out = {0};
    if (!pdnn_wants_text(arguments)) {
        pdnn_method_estimates_table(&run->projections, &table);
        return pdnn_table_print(&table, arguments, err);
    }
    append_epoch(&out, run);
    append_choice(&out, run);
    append_points(&out, run);
    append_methods(&out, run);
    append_notes(&out, run);
    pdnn_text_print(&out, false);
    return PDNN_OK;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    static const char *const keys[][2] = {{"lengths", "seqpoint.lengths"},
                                          {"sampler", "seqpoint.sampler"},
                                          {"key", "seqpoint.key"},
                                          {"statistic", "seqpoint.statistic"},
                                          {"target-error", "seqpoint.target_error"}};
    struct pdnn_seqpoint_run run = {.runs = !pdnn_argument(arguments, "dry-run"),
                                    .ground_truth = pdnn_argument(arguments, "ground-truth"),
                                    .every = pdnn_argument(arguments, "every"),
                                    .points_from = pdnn_argument(arguments, "points")};
    struct pdnn_cli_job job;
    if (arguments->n_operands > 1)
        return compare_two(arguments, err);
    pdnn_cli_job_begin(&job, arguments);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        pdnn_cli_job_set(&job, keys[i][0], keys[i][1], NULL);
    enum pdnn_status status =
        pdnn_seqpoint_run_open(&run, &job.session, arguments->operands[0], job.sets, job.n_sets, err);
    status = pdnn_cli_job_opened(&job, status, err);
    if (status == PDNN_OK)
        status = pdnn_table_check_columns(&pdnn_epoch_methods_def, arguments, err);
    if (status == PDNN_OK && run.runs)
        status = pdnn_cli_job_directory(&job, ".results", err);
    if (status == PDNN_OK && run.runs)
        status = pdnn_seqpoint_run_measure(&run, &job.directory, err);
    /* After a signal, what was measured so far is still told. */
    if (status == PDNN_OK)
        status = print(arguments, &run, err);
    else if (status == PDNN_INTERRUPTED && run.projections.of[0].method)
        print(arguments, &run, NULL);
    pdnn_arena_finish(&run.arena);
    pdnn_cli_job_finish(&job);
    return status;
}

PDNN_COMMAND(seqpoint, PDNN_COMMANDS_MEASURE, "SPEC|ID|DIR [DIR]",
             "Projects an epoch of a sequence model from a few of its iterations.", .run = run);
