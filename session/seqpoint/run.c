#include "session/seqpoint/run.h"

#include "base/clock.h"
#include "results/store/seqpoint_table.h"
#include "results/table/write.h"

#include <math.h>

/* Chosen by time, which takes times. */
static bool is_by_time(const struct pdnn_seqpoint_run *run) {
    return run->made.rules.statistic == PDNN_STATISTIC_TIME && !run->wish.points_from;
}

/* The statistic to select by; NULL: the length. */
static const double *statistic_of(const struct pdnn_seqpoint_run *run) {
    switch (run->made.rules.statistic) {
    case PDNN_STATISTIC_FLOP:
        return run->made.flop_count;
    case PDNN_STATISTIC_TIME:
        return run->time_ns;
    default:
        return NULL;
    }
}

static enum pdnn_status choose(struct pdnn_seqpoint_run *run, struct pdnn_err *err) {
    const struct pdnn_spec_seqpoint *rules = &run->made.rules;
    const struct pdnn_seqpoint_request request = {.epoch = &run->made.epoch,
                                                  .key = (enum pdnn_seqpoint_key)rules->key,
                                                  .statistic = statistic_of(run),
                                                  .unique_max = (size_t)rules->unique_max,
                                                  .bins = (size_t)rules->bins,
                                                  .error = rules->error};
    return pdnn_seqpoint_select(&request, &run->arena, &run->seqpoints, err);
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
static enum pdnn_status take_points(struct pdnn_seqpoint_run *run, const char *directory,
                                    struct pdnn_err *err) {
    const struct pdnn_epoch *epoch = &run->made.epoch;
    struct pdnn_representatives *points = &run->seqpoints.points;
    struct pdnn_table table;
    const char *path = pdnn_arena_printf(&run->arena, "%s/seqpoint.csv", directory);
    points->point = pdnn_arena_alloc(&run->arena, epoch->n_kinds, sizeof *points->point);
    if (pdnn_seqpoint_table_read(path, &table, err) != PDNN_OK)
        return err->status;
    double weights = 0;
    bool is_same = is_of_epoch(&table, epoch);
    for (size_t k = 0; is_same && k < table.n_rows; k++) {
        double weight = pdnn_table_number(&table, k, PDNN_SEQPOINT_WEIGHT);
        if (isnan(weight))
            continue;
        points->point[points->count++] = (struct pdnn_representative){k, weight, 1};
        weights += weight;
    }
    pdnn_table_finish(&table);
    if (!is_same || !(fabs(weights - (double)epoch->n_iterations) < 0.5))
        return pdnn_fail(err, PDNN_INVALID, "%s is of another epoch, or has no SeqPoints", path);
    return PDNN_OK;
}

static void draw_sample(struct pdnn_seqpoint_run *run) {
    const struct pdnn_epoch_sample_request request = {.epoch = &run->made.epoch,
                                                      .seed = run->session->spec.seed};
    pdnn_epoch_sample_draw(&request, &run->arena, &run->sample);
    size_t wanted = (size_t)run->made.rules.sample, all = run->made.epoch.n_iterations;
    run->draws = wanted > run->sample.least ? wanted : run->sample.least;
    run->draws = run->draws < all ? run->draws : all;
}

static enum pdnn_status project(struct pdnn_seqpoint_run *run, bool ran, struct pdnn_err *err) {
    const struct pdnn_method_estimates_request request = {
        .epoch = &run->made.epoch,
        .key = (enum pdnn_seqpoint_key)run->made.rules.key,
        .statistic = run->made.rules.statistic == PDNN_STATISTIC_LENGTH ? NULL : run->made.flop_count,
        .points = &run->seqpoints.points,
        .sample = &run->sample,
        .draws = run->draws,
        .time_ns = ran ? run->time_ns : NULL,
        .seed = run->session->spec.seed};
    return pdnn_method_estimates_make(&request, &run->arena, &run->projections, err);
}

/* What to run: the SeqPoints, the sample, and the baselines of one iteration, or everything. */
static void want(struct pdnn_seqpoint_run *run, bool all) {
    const struct pdnn_method_estimates *projections = &run->projections;
    for (size_t k = 0; k < run->made.epoch.n_kinds; k++)
        run->wanted[k] = all;
    for (int i = 0; i < 2 + PDNN_BASELINE_PRIOR; i++) {
        const struct pdnn_representatives *points = &projections->of[i].points;
        for (size_t p = 0; p < points->count; p++)
            run->wanted[points->point[p].kind] = true;
    }
}

/* Visits of an earlier run time fewer steps; what they say is each length's median, not the epoch's sum. */
static bool has_every(const struct pdnn_seqpoint_run *run) {
    for (size_t k = 0; k < run->made.epoch.n_kinds; k++)
        if (run->made.possible[k] && run->measured[k] < run->made.epoch.kind[k].count)
            return false;
    return true;
}

/* Visits what is wanted and not measured yet, and reads the times. */
static enum pdnn_status measure(struct pdnn_seqpoint_run *run, struct pdnn_sweep_directory *directory,
                                struct pdnn_err *err) {
    struct pdnn_sweep_result result = {0};
    const bool every = run->wish.every;
    pdnn_seqpoint_want(&run->made, run->session, run->wanted, every);
    uint64_t begun_ns = pdnn_clock_ns();
    enum pdnn_status status = pdnn_sweep_directory_run(directory, &result, err);
    uint64_t ran_ns = pdnn_clock_ns() - begun_ns - directory->roofs_ns;
    struct pdnn_visit_spent *sum = &run->spent;
    run->ran_ns += result.visits ? ran_ns : 0;
    sum->prepare_ns += result.spent.prepare_ns;
    sum->samples_ns += result.spent.samples_ns;
    sum->stamped_ns += result.spent.stamped_ns;
    if (status != PDNN_OK && status != PDNN_INTERRUPTED)
        return status;
    pdnn_seqpoint_times(&run->made, directory, every, run->time_ns, run->measured);
    run->has_every = every && has_every(run);
    if (every && !run->has_every)
        pdnn_seqpoint_times(&run->made, directory, false, run->time_ns, run->measured);
    return status;
}

/* Runs more of the sample until its interval is narrow enough. Where some of it did not run, the estimate is
 * the one before. */
static enum pdnn_status narrow(struct pdnn_seqpoint_run *run, struct pdnn_sweep_directory *directory,
                               struct pdnn_err *err) {
    const double target = run->made.rules.target_error;
    enum pdnn_status status = PDNN_OK, made = PDNN_OK;
    struct pdnn_err cause = {0};
    while (target > 0 && status == PDNN_OK && made == PDNN_OK && run->projections.has_estimate) {
        const size_t before = run->draws;
        run->draws = pdnn_sample_draws_needed(&run->sample, &run->projections.estimate, target);
        if (run->draws <= before) {
            run->draws = before;
            break;
        }
        made = project(run, true, &cause);
        if (made == PDNN_OK) {
            want(run, run->wish.ground_truth);
            status = measure(run, directory, err);
            made = project(run, true, &cause);
        }
        if (made == PDNN_OK && !run->projections.has_estimate) {
            run->draws = before;
            made = project(run, true, &cause);
            break;
        }
    }
    return made == PDNN_OK ? status : pdnn_fail(err, made, "%s", cause.text);
}

static const struct pdnn_representative *find_point(const struct pdnn_representatives *points, size_t kind) {
    size_t i = 0;
    while (i < points->count && points->point[i].kind != kind)
        i++;
    return i < points->count ? &points->point[i] : NULL;
}

static void add_kind(const struct pdnn_seqpoint_run *run, size_t k, struct pdnn_table *table) {
    /* Of the words of chosen_by: what chose it. */
    static const size_t methods[] = {0, 2, 3, 4, 5, 6, 1};
    const struct pdnn_method_estimates *projections = &run->projections;
    const struct pdnn_epoch_kind *kind = &run->made.epoch.kind[k];
    const struct pdnn_representative *seqpoint = find_point(&projections->of[0].points, k);
    const struct pdnn_representative *draws = find_point(&projections->of[1].points, k);
    struct pdnn_str chosen_by = {0};
    for (size_t i = 0; pdnn_seqpoint_methods[i].name; i++)
        if (find_point(&projections->of[methods[i]].points, k))
            pdnn_str_printf(&chosen_by, "%s%s", chosen_by.length ? "|" : "", pdnn_seqpoint_methods[i].name);
    size_t row = pdnn_table_add_row(table);
    pdnn_table_set_text(table, row, PDNN_SEQPOINT_ID, run->session->tasks[k].id);
    pdnn_table_set_whole(table, row, PDNN_SEQPOINT_SOURCE, kind->length[0]);
    pdnn_table_set_whole(table, row, PDNN_SEQPOINT_TARGET, kind->length[1]);
    pdnn_table_set_count(table, row, PDNN_SEQPOINT_ITERATIONS, kind->count);
    if (!isnan(run->made.flop_count[k]))
        pdnn_table_set_count(table, row, PDNN_SEQPOINT_FLOP, (uint64_t)run->made.flop_count[k]);
    pdnn_table_set_text(table, row, PDNN_SEQPOINT_CHOSEN_BY, pdnn_str_text(&chosen_by));
    pdnn_table_set_number(table, row, PDNN_SEQPOINT_WEIGHT, seqpoint ? seqpoint->weight : NAN);
    pdnn_table_set_count(table, row, PDNN_SEQPOINT_DRAWS, draws ? draws->runs : 0);
    pdnn_table_set_number(table, row, PDNN_SEQPOINT_DRAWS_WEIGHT,
                          draws && projections->has_estimate ? draws->weight : NAN);
    pdnn_table_set_number(table, row, PDNN_SEQPOINT_TIME, run->wish.runs ? run->time_ns[k] : NAN);
    pdnn_table_set_count(table, row, PDNN_SEQPOINT_MEASURED, run->measured[k]);
    pdnn_str_finish(&chosen_by);
}

void pdnn_seqpoint_run_table(const struct pdnn_seqpoint_run *run, struct pdnn_table *table) {
    pdnn_table_init(table, &pdnn_seqpoint_def);
    for (size_t k = 0; k < run->made.epoch.n_kinds; k++)
        add_kind(run, k, table);
}

static enum pdnn_status write_table(const struct pdnn_seqpoint_run *run,
                                    const struct pdnn_sweep_directory *directory, struct pdnn_err *err) {
    struct pdnn_table table;
    struct pdnn_str text = {0};
    pdnn_seqpoint_run_table(run, &table);
    pdnn_table_csv(&text, &table);
    enum pdnn_status status =
        pdnn_folder_replace(&directory->folder, "seqpoint.csv", pdnn_str_text(&text), text.length, err);
    pdnn_str_finish(&text);
    pdnn_table_finish(&table);
    return status;
}

enum pdnn_status pdnn_seqpoint_run_measure(struct pdnn_seqpoint_run *run,
                                           struct pdnn_sweep_directory *directory, struct pdnn_err *err) {
    want(run, run->wish.ground_truth);
    enum pdnn_status status = measure(run, directory, err);
    if (status != PDNN_OK && status != PDNN_INTERRUPTED)
        return status;
    struct pdnn_err cause = {0};
    const bool by_time = is_by_time(run);
    enum pdnn_status made = project(run, true, &cause);
    if (made == PDNN_OK)
        made = write_table(run, directory, &cause); /* of this epoch, whatever follows */
    if (made == PDNN_OK && by_time && isnan(run->projections.truth_ns))
        return status == PDNN_OK
                   ? pdnn_fail(err, PDNN_INVALID,
                               "not every length could be measured, so none can be chosen by time")
                   : status;
    if (made == PDNN_OK && by_time)
        made = choose(run, &cause);
    if (made == PDNN_OK && by_time)
        made = project(run, true, &cause);
    if (made == PDNN_OK && status == PDNN_OK) {
        status = narrow(run, directory, err);
        if (status != PDNN_OK && status != PDNN_INTERRUPTED)
            return status;
    }
    if (made == PDNN_OK)
        made = write_table(run, directory, &cause);
    return made == PDNN_OK ? status : pdnn_fail(err, made, "%s", cause.text);
}

enum pdnn_status pdnn_seqpoint_run_open(struct pdnn_seqpoint_run *run, struct pdnn_session *session,
                                        const struct pdnn_seqpoint_wish *wish, const char *argument,
                                        const char *const *sets, size_t n_sets, struct pdnn_err *err) {
    *run = (struct pdnn_seqpoint_run){.wish = *wish, .session = session};
    if (pdnn_seqpoint_open(&run->made, session, argument, sets, n_sets, err) != PDNN_OK)
        return err->status;
    if (is_by_time(run) && !(wish->ground_truth && wish->runs))
        return pdnn_fail(err, PDNN_INVALID,
                         "statistic time needs --ground-truth, and that it runs: no --dry-run");
    if (wish->every && !wish->ground_truth)
        return pdnn_fail(err, PDNN_INVALID, "--every is for --ground-truth, which is missing");
    const size_t n_kinds = run->made.epoch.n_kinds;
    run->time_ns = pdnn_arena_alloc(&run->arena, n_kinds, sizeof *run->time_ns);
    run->measured = pdnn_arena_alloc(&run->arena, n_kinds, sizeof *run->measured);
    run->wanted = pdnn_arena_alloc(&run->arena, n_kinds, sizeof *run->wanted);
    draw_sample(run);
    enum pdnn_status status = PDNN_OK;
    if (wish->points_from)
        status = take_points(run, wish->points_from, err);
    else if (!is_by_time(run))
        status = choose(run, err);
    return status == PDNN_OK ? project(run, false, err) : status;
}

void pdnn_seqpoint_run_finish(struct pdnn_seqpoint_run *run) {
    pdnn_seqpoint_close(&run->made);
    pdnn_arena_finish(&run->arena);
}
