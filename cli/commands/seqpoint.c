#include "base/clock.h"
#include "base/memory.h"
#include "cli/print/console.h"
#include "cli/print/epoch.h"
#include "cli/print/output.h"
#include "cli/args/registry.h"
#include "session/environment.h"
#include "results/store/seqpoint_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* What one run of the command holds. */
struct job {
    const struct pdnn_arguments *arguments;
    struct pdnn_arena arena;
    struct pdnn_progress bar;
    struct pdnn_session_hooks hooks;
    struct pdnn_session session;
    struct pdnn_seqpoint_epoch made;
    struct pdnn_sweep_directory directory;
    bool is_open;
    struct pdnn_epoch_sample sample;
    size_t draws;
    double *time_ns;
    uint64_t *measured;
    bool *wanted;
    struct pdnn_seqpoint_result result;
};

/* The options that stand for keys of the spec come after --set, as more of these. */
static void get_sets(struct job *job, const char ***sets, size_t *n_sets) {
    static const char *const keys[][2] = {{"lengths", "lengths"},
                                          {"sampler", "sampler"},
                                          {"key", "key"},
                                          {"statistic", "statistic"},
                                          {"target-error", "target_error"}};
    enum { KEYS = sizeof keys / sizeof *keys };
    pdnn_argument_all(job->arguments, "set", sets, n_sets);
    const char **more = pdnn_resize(*sets, *n_sets + KEYS, sizeof *more);
    *sets = more;
    for (size_t i = 0; i < KEYS; i++) {
        const char *text = pdnn_argument(job->arguments, keys[i][0]);
        if (text)
            more[(*n_sets)++] = pdnn_arena_printf(&job->arena, "seqpoint.%s=%s", keys[i][1], text);
    }
}

/* The statistic to select by; NULL: the length. */
static const double *statistic_of(const struct job *job) {
    switch (job->made.rules.statistic) {
    case PDNN_STATISTIC_FLOP:
        return job->made.flop_count;
    case PDNN_STATISTIC_TIME:
        return job->time_ns;
    default:
        return NULL;
    }
}

static enum pdnn_status choose(struct job *job, struct pdnn_err *err) {
    const struct pdnn_spec_seqpoint *rules = &job->made.rules;
    const struct pdnn_seqpoint_request request = {.epoch = &job->made.epoch,
                                                  .key = (enum pdnn_seqpoint_key)rules->key,
                                                  .statistic = statistic_of(job),
                                                  .unique_max = (size_t)rules->unique_max,
                                                  .bins = (size_t)rules->bins,
                                                  .error = rules->error};
    return pdnn_seqpoint_select(&request, &job->arena, &job->result.seqpoints, err);
}

/* The same kinds, each as often. */
static bool is_of_epoch(const struct pdnn_table *table, const struct pdnn_epoch *epoch) {
    bool is_same = table->n_rows == epoch->n_kinds;
    for (size_t k = 0; is_same && k < epoch->n_kinds; k++)
        is_same = pdnn_table_whole(table, k, PDNN_SEQPOINT_SOURCE) == epoch->kind[k].length[0] &&
                  pdnn_table_whole(table, k, PDNN_SEQPOINT_TARGET) == epoch->kind[k].length[1] &&
                  pdnn_table_count(table, k, PDNN_SEQPOINT_ITERATIONS) == epoch->kind[k].count;
    return is_same;
}

/* Takes the SeqPoints of another directory's table. */
static enum pdnn_status take_points(struct job *job, const char *directory, struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = &job->made.epoch;
    struct pdnn_points *points = &job->result.seqpoints.points;
    struct pdnn_table table;
    const char *path = pdnn_arena_printf(&job->arena, "%s/seqpoint.csv", directory);
    points->point = pdnn_arena_alloc(&job->arena, epoch->n_kinds, sizeof *points->point);
    if (pdnn_seqpoint_table_read(path, &table, err) != PDNN_OK)
        return err->status;
    double weights = 0;
    bool is_same = is_of_epoch(&table, epoch);
    for (size_t k = 0; is_same && k < table.n_rows; k++) {
        double weight = pdnn_table_number(&table, k, PDNN_SEQPOINT_WEIGHT);
        if (isnan(weight))
            continue;
        points->point[points->count++] = (struct pdnn_point){k, weight, 1};
        weights += weight;
    }
    pdnn_table_finish(&table);
    if (!is_same || !(fabs(weights - (double)epoch->n_iterations) < 0.5))
        return pdnn_fail(err, PDNN_INVALID, "%s is of another epoch, or has no SeqPoints", path);
    job->result.points_from = directory;
    return PDNN_OK;
}

static void draw_sample(struct job *job) {
    const struct pdnn_epoch_sample_request request = {.epoch = &job->made.epoch,
                                                      .seed = job->session.spec.seed};
    pdnn_epoch_sample_draw(&request, &job->arena, &job->sample);
    size_t wanted = (size_t)job->made.rules.sample, all = job->made.epoch.n_iterations;
    job->draws = wanted > job->sample.least ? wanted : job->sample.least;
    job->draws = job->draws < all ? job->draws : all;
}

static enum pdnn_status project(struct job *job, bool ran, struct pdnn_err *err) {
    const struct pdnn_projections_request request = {
        .epoch = &job->made.epoch,
        .key = (enum pdnn_seqpoint_key)job->made.rules.key,
        .statistic = job->made.rules.statistic == PDNN_STATISTIC_LENGTH ? NULL : job->made.flop_count,
        .points = &job->result.seqpoints.points,
        .sample = &job->sample,
        .draws = job->draws,
        .time_ns = ran ? job->time_ns : NULL,
        .seed = job->session.spec.seed};
    job->result.draws = job->draws;
    return pdnn_projections_make(&request, &job->arena, &job->result.projections, err);
}

/* What to run: the SeqPoints, the sample, and the baselines of one iteration, or everything. */
static void want(struct job *job, bool all) {
    const struct pdnn_projections *projections = &job->result.projections;
    for (size_t k = 0; k < job->made.epoch.n_kinds; k++)
        job->wanted[k] = all;
    for (int i = 0; i < 2 + PDNN_BASELINE_PRIOR; i++) {
        const struct pdnn_points *points = &projections->of[i].points;
        for (size_t p = 0; p < points->count; p++)
            job->wanted[points->point[p].kind] = true;
    }
}

/* Visits of an earlier run time fewer steps; what they say is each length's median, not the epoch's sum. */
static bool has_every(const struct job *job) {
    for (size_t k = 0; k < job->made.epoch.n_kinds; k++)
        if (job->made.possible[k] && job->measured[k] < job->made.epoch.kind[k].count)
            return false;
    return true;
}

/* Visits what is wanted and not measured yet, and reads the times. */
static enum pdnn_status measure(struct job *job, struct pdnn_err *err) {
    struct pdnn_sweep_result result = {0};
    const bool every = pdnn_argument(job->arguments, "every");
    pdnn_seqpoint_want(&job->made, &job->session, job->wanted, every);
    uint64_t begun_ns = pdnn_clock_ns();
    enum pdnn_status status = pdnn_sweep_directory_run(&job->directory, &result, err);
    uint64_t ran_ns = pdnn_clock_ns() - begun_ns - job->directory.roofs_ns;
    struct pdnn_visit_spent *sum = &job->result.spent;
    job->result.ran_ns += result.visits ? ran_ns : 0;
    sum->prepare_ns += result.spent.prepare_ns;
    sum->samples_ns += result.spent.samples_ns;
    sum->stamped_ns += result.spent.stamped_ns;
    if (status != PDNN_OK && status != PDNN_INTERRUPTED)
        return status;
    pdnn_seqpoint_times(&job->made, &job->directory, every, job->time_ns, job->measured);
    job->result.every = every && has_every(job);
    if (every && !job->result.every)
        pdnn_seqpoint_times(&job->made, &job->directory, false, job->time_ns, job->measured);
    return status;
}

/* Runs more of the sample until its interval is narrow enough. Where some of it did not run, the estimate is
 * the one before. */
static enum pdnn_status narrow(struct job *job, struct pdnn_err *err) {
    const double target = job->made.rules.target_error;
    enum pdnn_status status = PDNN_OK, made = PDNN_OK;
    struct pdnn_err cause = {0};
    while (target > 0 && status == PDNN_OK && made == PDNN_OK && job->result.projections.has_estimate) {
        const size_t before = job->draws;
        job->draws = pdnn_assisted_draws_needed(&job->sample, &job->result.projections.estimate, target);
        if (job->draws <= before) {
            job->draws = before;
            break;
        }
        made = project(job, true, &cause);
        if (made == PDNN_OK) {
            want(job, pdnn_argument(job->arguments, "ground-truth"));
            status = measure(job, err);
            made = project(job, true, &cause);
        }
        if (made == PDNN_OK && !job->result.projections.has_estimate) {
            job->draws = before;
            made = project(job, true, &cause);
            break;
        }
    }
    return made == PDNN_OK ? status : pdnn_fail(err, made, "%s", cause.text);
}

static const struct pdnn_point *find_point(const struct pdnn_points *points, size_t kind) {
    size_t i = 0;
    while (i < points->count && points->point[i].kind != kind)
        i++;
    return i < points->count ? &points->point[i] : NULL;
}

static void add_kind(const struct job *job, size_t k, struct pdnn_table *table) {
    /* Of the words of chosen_by: what chose it. */
    static const size_t methods[] = {0, 2, 3, 4, 5, 6, 1};
    const struct pdnn_projections *projections = &job->result.projections;
    const struct pdnn_epoch_kind *kind = &job->made.epoch.kind[k];
    const struct pdnn_point *seqpoint = find_point(&projections->of[0].points, k);
    const struct pdnn_point *draws = find_point(&projections->of[1].points, k);
    struct pdnn_str chosen_by = {0};
    for (size_t i = 0; pdnn_seqpoint_methods[i].name; i++)
        if (find_point(&projections->of[methods[i]].points, k))
            pdnn_str_printf(&chosen_by, "%s%s", chosen_by.length ? "|" : "", pdnn_seqpoint_methods[i].name);
    size_t row = pdnn_table_add_row(table);
    pdnn_table_set_text(table, row, PDNN_SEQPOINT_ID, job->session.tasks[k].id);
    pdnn_table_set_whole(table, row, PDNN_SEQPOINT_SOURCE, kind->length[0]);
    pdnn_table_set_whole(table, row, PDNN_SEQPOINT_TARGET, kind->length[1]);
    pdnn_table_set_count(table, row, PDNN_SEQPOINT_ITERATIONS, kind->count);
    if (!isnan(job->made.flop_count[k]))
        pdnn_table_set_count(table, row, PDNN_SEQPOINT_FLOP, (uint64_t)job->made.flop_count[k]);
    pdnn_table_set_text(table, row, PDNN_SEQPOINT_CHOSEN_BY, pdnn_str_text(&chosen_by));
    pdnn_table_set_number(table, row, PDNN_SEQPOINT_WEIGHT, seqpoint ? seqpoint->weight : NAN);
    pdnn_table_set_count(table, row, PDNN_SEQPOINT_DRAWS, draws ? draws->runs : 0);
    pdnn_table_set_number(table, row, PDNN_SEQPOINT_DRAWS_WEIGHT,
                          draws && projections->has_estimate ? draws->weight : NAN);
    pdnn_table_set_number(table, row, PDNN_SEQPOINT_TIME, job->result.time_ns ? job->result.time_ns[k] : NAN);
    pdnn_table_set_count(table, row, PDNN_SEQPOINT_MEASURED, job->measured[k]);
    pdnn_str_finish(&chosen_by);
}

static void make_table(const struct job *job, struct pdnn_table *table) {
    pdnn_table_init(table, &pdnn_seqpoint_def);
    for (size_t k = 0; k < job->made.epoch.n_kinds; k++)
        add_kind(job, k, table);
}

static enum pdnn_status write_table(struct job *job, struct pdnn_err *err) {
    struct pdnn_table table;
    struct pdnn_str text = {0};
    make_table(job, &table);
    pdnn_table_csv(&text, &table);
    enum pdnn_status status =
        pdnn_folder_replace(&job->directory.folder, "seqpoint.csv", pdnn_str_text(&text), text.length, err);
    pdnn_str_finish(&text);
    pdnn_table_finish(&table);
    return status;
}

static enum pdnn_status open_directory(struct job *job, struct pdnn_err *err) {
    const char *given = pdnn_argument(job->arguments, "output"), *name = job->session.spec.name;
    struct pdnn_sweep_request request = {.session = &job->session,
                                         .ceilings_file = pdnn_argument(job->arguments, "ceilings"),
                                         .largest = job->made.largest,
                                         .allow_slow = pdnn_argument(job->arguments, "allow-slow")};
    struct pdnn_fact *facts;
    if (!given && !name)
        return pdnn_fail(err, PDNN_INVALID, "an ID names no directory, give -o DIR");
    request.path = given ? given : pdnn_arena_printf(&job->arena, "%s.results", name);
    if (request.ceilings_file &&
        pdnn_ceilings_read(request.ceilings_file, NULL, job->session.ceilings, err) != PDNN_OK)
        return err->status;
    pdnn_session_announce(&job->session, request.path);
    enum pdnn_status status =
        pdnn_environment_facts(&job->session, &job->arena, &facts, &request.n_facts, err);
    if (status != PDNN_OK)
        return status;
    request.facts = facts;
    job->bar.preface = job->session.common;
    job->is_open = true;
    return pdnn_sweep_directory_open(&job->directory, &request, err);
}

static enum pdnn_status run_all(struct job *job, bool *some_failed, struct pdnn_err *err) {
    enum pdnn_status status = open_directory(job, err);
    if (status == PDNN_OK) {
        want(job, pdnn_argument(job->arguments, "ground-truth"));
        status = measure(job, err);
    }
    *some_failed = pdnn_session_has_failed(job->directory.tally.counts);
    bool is_over = status != PDNN_OK && status != PDNN_INTERRUPTED;
    if (is_over)
        return status;
    struct pdnn_err cause = {0};
    bool by_time = job->made.rules.statistic == PDNN_STATISTIC_TIME && !job->result.points_from;
    enum pdnn_status made = project(job, true, &cause);
    if (made == PDNN_OK)
        made = write_table(job, &cause); /* of this epoch, whatever follows */
    if (made == PDNN_OK && by_time && isnan(job->result.projections.truth_ns))
        return status == PDNN_OK
                   ? pdnn_fail(err, PDNN_INVALID,
                               "not every length could be measured, so none can be chosen by time")
                   : status;
    if (made == PDNN_OK && by_time)
        made = choose(job, &cause);
    if (made == PDNN_OK && by_time)
        made = project(job, true, &cause);
    if (made == PDNN_OK && status == PDNN_OK) {
        status = narrow(job, err);
        *some_failed = pdnn_session_has_failed(job->directory.tally.counts);
        if (status != PDNN_OK && status != PDNN_INTERRUPTED)
            return status;
    }
    if (made == PDNN_OK)
        made = write_table(job, &cause);
    return made == PDNN_OK ? status : pdnn_fail(err, made, "%s", cause.text);
}

static enum pdnn_status prepare(struct job *job, struct pdnn_err *err) {
    size_t n_kinds = job->made.epoch.n_kinds;
    const char *points = pdnn_argument(job->arguments, "points");
    bool by_time = job->made.rules.statistic == PDNN_STATISTIC_TIME && !points;
    bool has_truth =
        pdnn_argument(job->arguments, "ground-truth") && !pdnn_argument(job->arguments, "dry-run");
    if (by_time && !has_truth)
        return pdnn_fail(err, PDNN_INVALID,
                         "statistic time needs --ground-truth, and that it runs: no --dry-run");
    if (pdnn_argument(job->arguments, "every") && !pdnn_argument(job->arguments, "ground-truth"))
        return pdnn_fail(err, PDNN_INVALID, "--every is for --ground-truth, which is missing");
    job->time_ns = pdnn_arena_alloc(&job->arena, n_kinds, sizeof *job->time_ns);
    job->measured = pdnn_arena_alloc(&job->arena, n_kinds, sizeof *job->measured);
    job->wanted = pdnn_arena_alloc(&job->arena, n_kinds, sizeof *job->wanted);
    draw_sample(job);
    enum pdnn_status status = PDNN_OK;
    if (points)
        status = take_points(job, points, err);
    else if (!by_time)
        status = choose(job, err);
    return status == PDNN_OK ? project(job, false, err) : status;
}

static void print(struct job *job) {
    struct pdnn_table table;
    job->result.made = &job->made;
    if (pdnn_wants_text(job->arguments)) {
        struct pdnn_str out = {0};
        make_table(job, &table);
        pdnn_epoch_text(&out, &job->result, &table);
        pdnn_text_print(&out, false);
    } else {
        pdnn_projections_table(&job->result.projections, &table);
        pdnn_table_print(&table, NULL, job->arguments);
    }
    pdnn_table_finish(&table);
}

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

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    if (arguments->n_operands > 1)
        return compare_two(arguments, err);
    struct job job = {.arguments = arguments};
    const char **sets = NULL;
    size_t n_sets = 0;
    bool runs = !pdnn_argument(arguments, "dry-run");
    job.hooks = pdnn_console_hooks(&job.bar);
    job.session.hooks = &job.hooks;
    job.session.started_ns = pdnn_clock_ns();
    job.session.no_cache = pdnn_argument(arguments, "no-cache");
    get_sets(&job, &sets, &n_sets);
    enum pdnn_status status =
        pdnn_seqpoint_open(&job.made, &job.session, arguments->operands[0], sets, n_sets, err);
    if (status == PDNN_OK)
        status = prepare(&job, err);
    if (status == PDNN_OK && runs) {
        job.result.time_ns = job.time_ns;
        status = run_all(&job, some_failed, err);
    }
    if (status == PDNN_OK || (status == PDNN_INTERRUPTED && job.result.projections.of[0].method))
        print(&job);
    if (job.is_open)
        pdnn_sweep_directory_close(&job.directory);
    pdnn_seqpoint_close(&job.made);
    pdnn_session_finish(&job.session);
    pdnn_arena_finish(&job.arena);
    free(sets);
    return status;
}

const struct pdnn_command_def pdnn_command_seqpoint = {
    .name = "seqpoint",
    .summary = "Projects an epoch of a sequence model from a few of its iterations.",
    .operands = "SPEC|ID|DIR DIR",
    .min_operands = 1,
    .max_operands = 2,
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .resolves_threads = true,
    .run = run,
};
