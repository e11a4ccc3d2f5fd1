#include "base/memory.h"
#include "base/paths/folder.h"
#include "base/visible.h"
#include "cli/job.h"
#include "cli/print/output.h"
#include "cli/print/instance_result.h"
#include "session/rows.h"
#include "session/session.h"
#include "results/compare/paired.h"
#include "results/query/results.h"
#include "base/units.h"
#include "models/build.h"
#include "models/sharing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char description[] =
    "Visits each instance a few times and prints its time per step with an interval, where it stands against the "
    "machine's roofs, and one row per group of identical operators: time, share of the step, rates, bound, and the "
    "implementation that ran. The roofs are measured first, which takes about two seconds, unless --ceilings names a "
    "file or those kept from an earlier run still hold (see paradnn ceilings). With --format csv the rows are those "
    "of ops.csv.\n\n"
    "With --vary, one model runs at many values of a hyper-parameter that does not change its weights, such as the "
    "sequence length or the minibatch. All values share the weights, the optimizer state and one block of memory, "
    "sized for the largest. Each is prepared once, and at most 64 are kept prepared. With --format csv the rows are "
    "those of results.csv.";

static const struct pdnn_option_def options[] = {
    {"rounds", 'r', "N", .kind = PDNN_OPTION_WHOLE, .least = 1, .most = 10000,
     .help =
         "visit each instance N times, up to four times as often while its interval is wide (default: 3)"},
    {"vary", 0, "KEY=LIST",
     .help = "run one ID at each of these values of a hyper-parameter, in one process with shared weights; "
             "LIST is as in a spec: 10,20,50 or '{from: 10, to: 90, plus: 40}'"},
    PDNN_OPTIONS_MEASURE,
    PDNN_OPTION_LIBRARY,
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn run fc/layers=8,nodes=1024,batch=64", "where the time of one model goes"},
    {"paradnn run rnn/hidden=512 --vary length=10,20,50", "the same weights at three lengths"},
};

struct run {
    struct pdnn_cli_job
        job;            /* all values of --vary share the weights and one block of memory in one worker */
    const char *option; /* "--vary length=10,20,50": starts messages; NULL: nothing varies */
    const char *key;
    struct pdnn_visits known;
    size_t visits;             /* of all tasks */
    struct pdnn_visit_set set; /* as of the last visit */
};

/* Sets the list in the spec that the id stands for; its brackets may be left out. */
static enum pdnn_status set_values(struct run *run, const char *text, const char *id, struct pdnn_err *err) {
    struct pdnn_arena *arena = &run->job.arena;
    struct pdnn_instance instance;
    const int length = (int)strcspn(text, "=");
    const char *list = text + length + 1;
    run->option = pdnn_arena_printf(arena, "--vary %.160s", text);
    if (!length || !text[length])
        return pdnn_fail(err, PDNN_INVALID, "%s: expected a key and its values, such as batch=1,16,64",
                         run->option);
    if (pdnn_instance_parse(id, &instance, err) != PDNN_OK)
        return pdnn_wrap(err, "--vary takes one ID");
    run->key = pdnn_arena_printf(arena, "%.*s", length, text);
    pdnn_cli_job_set(&run->job, "vary",
                     pdnn_arena_printf(arena, "models.0.%s.%s", instance.family->name, run->key),
                     pdnn_arena_printf(arena, *list == '[' || *list == '{' ? "%s" : "[%s]", list));
    return PDNN_OK;
}

/* PDNN_INVALID if the weights or run settings of two values differ. */
static enum pdnn_status compare(const struct run *run, const struct pdnn_instance *instance,
                                const struct pdnn_instance *first, struct pdnn_err *err) {
    const struct pdnn_varying *varying = &run->job.session.varying;
    struct pdnn_arena arena = {0};
    struct pdnn_graph graph, first_graph;
    char label[PDNN_ID_TEXT], first_label[PDNN_ID_TEXT];
    if (memcmp(instance->setting, first->setting, sizeof first->setting) != 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: the run settings must have one value each", run->option);
    enum pdnn_status status = PDNN_OK;
    if (pdnn_instance_graph(instance, &arena, &graph, err) != PDNN_OK ||
        pdnn_instance_graph(first, &arena, &first_graph, err) != PDNN_OK ||
        pdnn_graph_shares(&graph, &first_graph, err) != PDNN_OK)
        status = pdnn_wrap(err, "%s: %s has different weights from %s", run->option,
                           pdnn_varying_label(varying, instance, label),
                           pdnn_varying_label(varying, first, first_label));
    pdnn_arena_finish(&arena);
    return status;
}

/* Compares the values, and says which of them needs most memory. */
static enum pdnn_status check_values(struct run *run, struct pdnn_err *err) {
    struct pdnn_session *session = &run->job.session;
    const struct pdnn_task *first = NULL, *largest = NULL;
    for (const struct pdnn_task *task = session->tasks; task < session->tasks + session->n_tasks; task++) {
        if (task->closed)
            continue;
        if (first && compare(run, &task->instance, &first->instance, err) != PDNN_OK)
            return err->status;
        first = first ? first : task;
        largest = !largest || task->memory_bytes > largest->memory_bytes ? task : largest;
    }
    session->largest = largest ? largest->id : NULL;
    return PDNN_OK;
}

/* alone_bytes: the memory of separate plans, which is known of the values that were visited. */
static void append_set(struct pdnn_str *out, const struct pdnn_visit_set *set, uint64_t alone_bytes) {
    char shared[PDNN_UNIT_TEXT], block[PDNN_UNIT_TEXT], alone[PDNN_UNIT_TEXT];
    pdnn_str_printf(out,
                    "  shared   %s of weights and state\n"
                    "  memory   one block of %s; separate plans would take %s\n"
                    "  programs %" PRIu64 " prepared, %" PRIu64 " kept, at most %" PRIu64 "\n",
                    pdnn_format_bytes(shared, (double)set->shared_bytes),
                    pdnn_format_bytes(block, (double)set->block_bytes),
                    pdnn_format_bytes(alone, (double)alone_bytes), set->prepared, set->kept, set->most);
}

static void append_table(struct pdnn_str *out, const char *key, struct pdnn_table *results, bool all_ok) {
    static const enum pdnn_result_column shown[] = {
        PDNN_RESULT_TIME_NS_MEDIAN, PDNN_RESULT_CI_LOW_NS, PDNN_RESULT_CI_HIGH_NS,
        PDNN_RESULT_EXAMPLES_PER_S, PDNN_RESULT_GFLOPS,    PDNN_RESULT_PCT_OF_ROOF,
        PDNN_RESULT_PREPARE_NS,     PDNN_RESULT_STATUS,    PDNN_RESULT_REASON};
    enum { SHOWN = sizeof shown / sizeof *shown };
    const struct pdnn_result first = pdnn_result_of(results, 0);
    size_t columns[1 + SHOWN] = {pdnn_table_find(results, pdnn_key_column(key))};
    for (size_t i = 0; i < SHOWN; i++)
        columns[1 + i] = pdnn_result_at(&first, shown[i]);
    results->column[columns[0]].def.show = PDNN_SHOW_PLAIN;
    results->column[columns[SHOWN]].def.show = all_ok ? PDNN_SHOW_NEVER : PDNN_SHOW_PLAIN;
    pdnn_str_append(out, "\n", 1);
    pdnn_table_show(out, results, NULL, columns, 1 + SHOWN);
}

/* Prints what the values share and a table with one row per value, from those of results.csv. For programs:
 * the rows of results.csv, and what they share on stderr. */
static enum pdnn_status report_values(const struct run *run, struct pdnn_table *results,
                                      const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    const struct pdnn_result first = pdnn_result_of(results, 0);
    const char *largest = run->job.session.largest;
    struct pdnn_str out = {0};
    size_t n_ok = 0;
    uint64_t alone_bytes = 0;
    for (struct pdnn_result row = first; row.row < results->n_rows; row.row++)
        if (pdnn_result_outcome(&row) == PDNN_OUTCOME_OK) {
            n_ok++;
            alone_bytes += pdnn_result_count(&row, PDNN_RESULT_PLAN_BYTES);
        }
    pdnn_report_id(&out, largest ? largest : pdnn_result_text(&first, PDNN_RESULT_ID));
    pdnn_str_printf(&out, "  varied   %s, %zu values; the largest is above\n", run->key, results->n_rows);
    if (run->set.block_bytes)
        append_set(&out, &run->set, alone_bytes);
    if (pdnn_wants_text(arguments)) {
        append_table(&out, run->key, results, n_ok == results->n_rows);
        pdnn_text_print(&out, false);
        return PDNN_OK;
    }
    fputs(pdnn_str_text(&out), stderr);
    pdnn_str_finish(&out);
    return pdnn_table_print(results, arguments, err);
}

static enum pdnn_status keep_visit(void *user, size_t task, const struct pdnn_visit *visit,
                                   struct pdnn_err *err) {
    struct run *run = user;
    (void)err;
    pdnn_session_note_counters(&run->job.session, task, visit);
    if (visit->set.block_bytes)
        run->set = visit->set;
    pdnn_visits_add(&run->known, run->job.session.tasks[task].id, visit);
    return PDNN_OK;
}

static void show(void *user, const struct pdnn_sweep_progress *progress) {
    struct run *run = user;
    run->job.hooks.visits(run->job.hooks.user, progress);
}

static enum pdnn_status visit_all(struct run *run, struct pdnn_err *err) {
    struct pdnn_session *session = &run->job.session;
    run->job.bar.preface = session->common;
    struct pdnn_sweep_rules rules = pdnn_session_rules(session);
    char choices[PDNN_FOLDER_OWN_TEXT] = "";
    const struct pdnn_sweep_hooks hooks = {run, keep_visit, show};
    struct pdnn_sweep_result result = {0};
    if (rules.paired && pdnn_folder_make_own(choices)) /* in place of a result directory */
        pdnn_session_share_choices(session, choices, &rules);
    enum pdnn_status status =
        pdnn_sweep_run(&session->host, session->tasks, session->n_tasks, &rules, &hooks, &result, err);
    pdnn_folder_remove_own(choices);
    run->job.hooks.ended(run->job.hooks.user);
    pdnn_session_note_end(session, &result);
    run->visits = result.visits;
    return status;
}

/* Before anything is measured. Hyper-parameters are told only of one varied model. */
static enum pdnn_status check_columns(const struct run *run, const struct pdnn_arguments *arguments,
                                      struct pdnn_err *err) {
    const struct pdnn_session *session = &run->job.session;
    struct pdnn_arena arena = {0};
    const struct pdnn_table_def def =
        run->option ? pdnn_results_def(&session->tasks[0].instance.family, session->n_tasks > 0, &arena)
                    : pdnn_ops_def;
    enum pdnn_status status = pdnn_table_check_columns(&def, arguments, err);
    pdnn_arena_finish(&arena);
    return status;
}

/* What the pairs of visits say of each task and the first of its group, where there are enough. */
static void append_verdicts(struct pdnn_str *out, const struct run *run) {
    const struct pdnn_session *session = &run->job.session;
    const struct pdnn_task *tasks = session->tasks;
    struct pdnn_instance_visits(*of)[2] = pdnn_alloc(session->n_tasks + 1, sizeof *of);
    struct pdnn_pairs_found *found = pdnn_alloc(session->n_tasks + 1, sizeof *found);
    size_t(*sides)[2] = pdnn_alloc(session->n_tasks + 1, sizeof *sides), n = 0;
    for (size_t i = 0; i < session->n_tasks; i++) {
        size_t first = 0;
        while (first < i && (!tasks[i].group || tasks[first].group != tasks[i].group))
            first++;
        if (first == i)
            continue;
        sides[n][0] = first;
        sides[n][1] = i;
        for (int side = 0; side < 2; side++)
            of[n][side] = pdnn_visits_of(&run->known, tasks[sides[n][side]].id);
        n++;
    }
    pdnn_pairs_find((const struct pdnn_instance_visits(*)[2])of, n, n, session->spec.measure.precision,
                    found);
    for (size_t i = 0; i < n; i++)
        pdnn_pairs_say(&found[i], tasks[sides[i][0]].label, tasks[sides[i][1]].label, out);
    free(of);
    free(found);
    free(sides);
}

/* Programs get no row of an instance without ops, but its reason on stderr. */
static enum pdnn_status report_all(const struct run *run, struct pdnn_tables *tables,
                                   const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_str text = {0};
    char reason[PDNN_VISIBLE_TEXT];
    const bool for_people = pdnn_wants_text(arguments);
    for (struct pdnn_result row = pdnn_result_of(&tables->results, 0); row.row < tables->results.n_rows;
         row.row++) {
        if (for_people)
            pdnn_report_instance(&text, &row, &tables->ops);
        else if (pdnn_result_outcome(&row) != PDNN_OUTCOME_OK)
            fprintf(stderr, "paradnn: %s: %s: %s\n", pdnn_result_text(&row, PDNN_RESULT_ID),
                    pdnn_result_text(&row, PDNN_RESULT_STATUS),
                    pdnn_visible(reason, pdnn_result_text(&row, PDNN_RESULT_REASON)));
    }
    const size_t begin = text.length;
    append_verdicts(&text, run);
    if (!for_people)
        fputs(pdnn_str_text(&text) + begin, stderr);
    if (for_people)
        pdnn_text_print(&text, false);
    pdnn_str_finish(&text);
    return for_people ? PDNN_OK : pdnn_table_print(&tables->ops, arguments, err);
}

static enum pdnn_status report(const struct run *run, const struct pdnn_arguments *arguments,
                               struct pdnn_err *err) {
    struct pdnn_tables tables = {0};
    struct pdnn_rows_sums sums;
    enum pdnn_status status = pdnn_rows_of_visits(&run->job.session, &run->known, true, &tables, &sums, err);
    if (status == PDNN_OK) {
        *arguments->some_failed = pdnn_session_has_failed(sums.tally.counts);
        status = run->option ? report_values(run, &tables.results, arguments, err)
                             : report_all(run, &tables, arguments, err);
    }
    pdnn_tables_finish(&tables);
    return status;
}

/* Opens the session on the named spec, or on all values of the varied model. */
static enum pdnn_status open_session(struct run *run, const struct pdnn_arguments *arguments,
                                     struct pdnn_err *err) {
    const char *vary = pdnn_argument(arguments, "vary"), *first = *arguments->operands;
    struct pdnn_cli_job *job = &run->job;
    pdnn_cli_job_default(job, pdnn_arena_printf(&job->arena, "measure.rounds=%" PRId64,
                                                pdnn_argument_whole(arguments, "rounds", 3)));
    /* Longer than in a sweep, where one slow instance must not hold up the others. */
    pdnn_cli_job_default(job, "limits.time=10m");
    if (vary && arguments->n_operands != 1)
        return pdnn_fail(err, PDNN_INVALID, "--vary takes one ID, %zu are given", arguments->n_operands);
    if (vary && set_values(run, vary, first, err) != PDNN_OK)
        return err->status;
    enum pdnn_status status = pdnn_cli_job_open(job, err);
    /* Alone, the ID is right. */
    if (status != PDNN_OK && vary && strncmp(err->text, first, strlen(first)) == 0)
        return pdnn_wrap(err, "%s", run->option);
    return status == PDNN_OK && vary ? check_values(run, err) : status;
}

static enum pdnn_status measure(struct run *run, const struct pdnn_arguments *arguments,
                                struct pdnn_err *err) {
    bool is_left = false;
    pdnn_cli_job_begin(&run->job, arguments);
    if (open_session(run, arguments, err) != PDNN_OK || check_columns(run, arguments, err) != PDNN_OK ||
        pdnn_cli_job_leave(&run->job.session, &is_left, err) != PDNN_OK)
        return err->status;
    if (is_left)
        return PDNN_OK;
    enum pdnn_status status =
        pdnn_cli_job_roofs(&run->job, err) == PDNN_OK ? visit_all(run, err) : err->status;
    /* After a signal, what was measured so far is still reported. */
    struct pdnn_err cause = {0};
    if (status != PDNN_OK && (status != PDNN_INTERRUPTED || !run->visits))
        return status;
    enum pdnn_status printed = report(run, arguments, &cause);
    return printed == PDNN_OK ? status : pdnn_fail(err, printed, "%s", cause.text);
}

static enum pdnn_status run_instances(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct run run = {.visits = 0};
    enum pdnn_status status = measure(&run, arguments, err);
    pdnn_visits_finish(&run.known);
    pdnn_cli_job_finish(&run.job);
    return status;
}

PDNN_COMMAND(run, PDNN_COMMANDS_FIRST, "ID|SPEC...", "Runs single instances and shows where their time goes.",
             .run = run_instances);
