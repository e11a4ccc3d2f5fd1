#include "cli/job.h"
#include "cli/print/epoch.h"
#include "cli/print/output.h"
#include "cli/args/registry.h"
#include "results/store/seqpoint_table.h"

#include <sys/stat.h>

static const char *const paragraphs[] = {
    "Projects how long an epoch of a model with sequences takes from a handful of its iterations, since the "
    "time of one depends on little but the lengths that its minibatch is padded to. "
    "The spec or ID is one model: gnmt, deepspeech2, rnn, transformer. The epoch is made from the lengths of "
    "its examples (section seqpoint of the spec, or the options here).",
    "SeqPoints (Pati et al., ISPASS 2020) are chosen by length, FLOP or, where all of it was measured, time; "
    "each stands for a number of iterations. Beside them: a random sample whose estimate is corrected by what "
    "lengths explain and has an interval (model-assisted), and the baselines that SeqPoint was published with.",
    "Iterations of equal padded lengths are one row of results.csv. All share one set of weights and one "
    "block of memory; each is prepared once, never inside a sample, and at most 64 are kept prepared. Run "
    "again with the same directory, it keeps what is measured. seqpoint.csv has a row per kind of iteration.",
    "With two result directories of this command and nothing else, it prints how much faster the second is: "
    "in truth, and as projected from what was chosen in the first.",
    NULL,
};

static const char *const sampler_words[] = {"sorted", "bucket", "shuffled", "stream", NULL};
static const char *const key_words[] = {"source", "target", "sum", "maximum", "both", NULL};
static const char *const statistic_words[] = {"length", "flop", "time", NULL};

static const struct pdnn_option_def options[] = {
    {"output", 'o', "DIR", NULL, false,
     "the result directory (default: NAME.results in the current directory, with the spec's name; required "
     "for an ID)"},
    {"lengths", 0, "LENGTHS", NULL, false,
     "the lengths of the examples: a file with one, or source and target, per line; a distribution such as "
     "librispeech-clean-100 or iwslt15-en-vi; or uniform:LOW-HIGH and others (paradnn help spec)"},
    {"sampler", 0, "SAMPLER", sampler_words, false, "how batches are formed and ordered (default: bucket)"},
    {"key", 0, "KEY", key_words, false,
     "which length of an iteration with two is its sequence length (default: source)"},
    {"statistic", 0, "STATISTIC", statistic_words, false,
     "what SeqPoints are chosen by; time needs --ground-truth (default: flop)"},
    {"target-error", 0, "PERCENT", NULL, false,
     "run random iterations until half the model-assisted interval is within PERCENT, such as 0.5%"},
    {"points", 0, "DIR", NULL, false,
     "run the SeqPoints that were chosen in DIR, on another platform, instead of choosing them"},
    {"ground-truth", 0, NULL, NULL, false,
     "measure every distinct length, so that all methods have an error"},
    {"every", 0, NULL, NULL, false,
     "with --ground-truth: time as many steps of each length as the epoch has iterations of it"},
    PDNN_OPTION_SET,
    PDNN_OPTION_CEILINGS,
    PDNN_OPTION_SLOW,
    PDNN_OPTION_NO_CACHE,
    {"dry-run", 0, NULL, NULL, false, "choose and print, run and write nothing"},
    PDNN_OPTION_TABLE,
};

static const struct pdnn_example examples[] = {
    {"paradnn seqpoint sweeps/seqpoint-gnmt.yaml --dry-run", "which iterations stand for an epoch of GNMT"},
    {"paradnn seqpoint sweeps/seqpoint-ds2.yaml --ground-truth -o ds2",
     "project an epoch of DeepSpeech2, and measure how far off that is"},
    {"paradnn seqpoint sweeps/seqpoint-ds2.yaml --points ds2 --set run.threads=1 -o ds2-1",
     "the same iterations on one thread"},
    {"paradnn seqpoint ds2-1 ds2", "the speed-up of the second thread, projected and true"},
    {"paradnn seqpoint rnn/hidden=256 --lengths lengths.txt -o rnn", "an ID, with lengths from a file"},
};

static bool is_directory(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static enum pdnn_status compare_two(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_table table[2] = {{0}}, made;
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < 2; i++)
        if (!is_directory(arguments->operands[i]))
            return pdnn_fail(err, PDNN_INVALID,
                             "%s: expected one model, or two result directories to compare",
                             arguments->operands[i]);
    for (size_t i = 0; i < 2 && status == PDNN_OK; i++) {
        struct pdnn_str path = {0};
        pdnn_str_printf(&path, "%s/seqpoint.csv", arguments->operands[i]);
        status = pdnn_seqpoint_table_read(pdnn_str_text(&path), &table[i], err);
        pdnn_str_finish(&path);
    }
    if (status == PDNN_OK && !pdnn_epoch_speedups(table, &made)) {
        status = pdnn_fail(err, PDNN_INVALID, "%s and %s are of different epochs", arguments->operands[0],
                           arguments->operands[1]);
    } else if (status == PDNN_OK) {
        struct pdnn_str title = {0};
        pdnn_str_printf(&title, "first    %s\nsecond   %s\n\n", arguments->operands[0],
                        arguments->operands[1]);
        if (pdnn_wants_text(arguments))
            pdnn_text_print(&title, false);
        pdnn_table_print(&made, NULL, arguments);
        pdnn_str_finish(&title);
        pdnn_table_finish(&made);
    }
    for (int i = 0; i < 2; i++)
        pdnn_table_finish(&table[i]);
    return status;
}

static void print(const struct pdnn_arguments *arguments, const struct pdnn_seqpoint_run *run) {
    struct pdnn_table table;
    if (pdnn_wants_text(arguments)) {
        struct pdnn_str out = {0};
        pdnn_seqpoint_run_table(run, &table);
        pdnn_epoch_text(&out, run, &table);
        pdnn_text_print(&out, false);
    } else {
        pdnn_method_estimates_table(&run->projections, &table);
        pdnn_table_print(&table, NULL, arguments);
    }
    pdnn_table_finish(&table);
}

static enum pdnn_status measure(struct pdnn_cli_job *job, struct pdnn_seqpoint_run *run, bool *some_failed,
                                struct pdnn_err *err) {
    struct pdnn_sweep_directory directory = {.folder = {.fd = -1}};
    job->request.largest = run->made.largest;
    enum pdnn_status status = pdnn_cli_job_ceilings(job, err);
    if (status == PDNN_OK)
        status = pdnn_cli_job_direct(job, ".results", err);
    job->bar.preface = job->session.common;
    if (status == PDNN_OK)
        status = pdnn_sweep_directory_open(&directory, &job->request, err);
    if (status == PDNN_OK) {
        status = pdnn_seqpoint_run_measure(run, &directory, err);
        *some_failed = pdnn_session_has_failed(directory.tally.counts);
    }
    pdnn_sweep_directory_close(&directory);
    return status;
}

static enum pdnn_status run_one(const struct pdnn_arguments *arguments, bool *some_failed,
                                struct pdnn_err *err) {
    static const char *const keys[][2] = {{"lengths", "seqpoint.lengths"},
                                          {"sampler", "seqpoint.sampler"},
                                          {"key", "seqpoint.key"},
                                          {"statistic", "seqpoint.statistic"},
                                          {"target-error", "seqpoint.target_error"}};
    const struct pdnn_seqpoint_wish wish = {.runs = !pdnn_argument(arguments, "dry-run"),
                                            .ground_truth = pdnn_argument(arguments, "ground-truth"),
                                            .every = pdnn_argument(arguments, "every"),
                                            .points_from = pdnn_argument(arguments, "points")};
    struct pdnn_cli_job job;
    struct pdnn_seqpoint_run run = {.draws = 0};
    enum pdnn_status status = pdnn_cli_job_begin(&job, arguments, err);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (pdnn_argument(arguments, keys[i][0]))
            pdnn_cli_job_set(&job, keys[i][1], pdnn_argument(arguments, keys[i][0]));
    if (status == PDNN_OK)
        status = pdnn_seqpoint_run_open(&run, &job.session, &wish, arguments->operands[0], job.sets,
                                        job.n_sets, err);
    if (status == PDNN_OK && wish.runs)
        status = measure(&job, &run, some_failed, err);
    if (status == PDNN_OK || (status == PDNN_INTERRUPTED && run.projections.of[0].method))
        print(arguments, &run);
    pdnn_seqpoint_run_finish(&run);
    pdnn_cli_job_finish(&job);
    return status;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    return arguments->n_operands > 1 ? compare_two(arguments, err) : run_one(arguments, some_failed, err);
}

const struct pdnn_command_def pdnn_command_seqpoint = {
    .name = "seqpoint",
    .group = PDNN_COMMANDS_MEASURE,
    .summary = "Projects an epoch of a sequence model from a few of its iterations.",
    .operands = "SPEC|ID|DIR [DIR]",
    PDNN_COMMAND_TEXTS,
    .resolves_threads = true,
    .run = run,
};
