#define _DEFAULT_SOURCE /* flock */
#include "session/directory.h"

#include "base/clock.h"
#include "base/memory.h"
#include "gen/family/kept.h"
#include "runtime/protocol/standing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char roofs_name[] = "ceilings.csv", spec_name[] = "spec.yaml";

/* The tables are replaced at most once in this time, and replacing them takes at
 * most a fiftieth of the time. */
static const uint64_t write_gap_ns = UINT64_C(2000000000);
enum { WRITE_SHARE = 50 };

static void warn_of_change(void *user, const char *before, const char *now) {
    const struct pdnn_sweep_directory *sweep = user;
    pdnn_session_warn(
        sweep->session,
        "%s: the family has changed from %s to %s; its models run anew, and rows of %s stay in the "
        "tables; paradnn prune drops them",
        sweep->folder.path, before, now, before);
}

/* Rows of an earlier spec stay in the tables, so a changed spec deserves a warning. */
static enum pdnn_status write_spec(const struct pdnn_sweep_directory *sweep, struct pdnn_err *err) {
    const char *directory = sweep->folder.path, *text = sweep->session->spec.text;
    char *before = NULL;
    if (pdnn_spec_read(directory, &before, NULL) == PDNN_OK && strcmp(before, text) != 0)
        pdnn_session_warn(sweep->session,
                          "%s/spec.yaml: the spec has changed; rows of the previous one stay in the tables; "
                          "paradnn prune drops them",
                          directory);
    free(before);
    return pdnn_folder_replace(&sweep->folder, spec_name, text, strlen(text), err);
}

/* Which locks it. */
static enum pdnn_status open_journal(struct pdnn_sweep_directory *sweep, struct pdnn_err *err) {
    for (;;) {
        enum pdnn_status status = pdnn_journal_open(&sweep->folder, &sweep->journal, err);
        if (status != PDNN_BUSY || !sweep->request.waits)
            return status;
        if (!sweep->waited)
            pdnn_session_warn(
                sweep->session,
                "%s: waiting for another process that writes there; with --join they would share "
                "the work",
                sweep->folder.path);
        sweep->waited = true;
        /* Until those who write the journal have closed it, or it is gone. */
        int fd = openat(sweep->folder.fd, "journal.csv", O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        flock(fd, LOCK_SH);
        close(fd);
    }
}

struct pdnn_instance_visits pdnn_sweep_directory_visits(const struct pdnn_sweep_directory *sweep,
                                                        size_t task) {
    return pdnn_visits_of(&sweep->journal->known, sweep->session->tasks[task].id);
}

struct pdnn_standing pdnn_sweep_directory_standing(const struct pdnn_sweep_directory *sweep, size_t task) {
    const struct pdnn_instance_visits of = pdnn_sweep_directory_visits(sweep, task);
    return pdnn_standing_of(of.visit, of.count);
}

/* Then this process, which may be bound to other cores, has nothing to add. */
static bool is_done_by_another(const struct pdnn_sweep_directory *sweep) {
    const struct pdnn_session *session = sweep->session;
    bool is_done = sweep->waited;
    for (size_t i = 0; i < session->n_tasks && is_done; i++) {
        const struct pdnn_standing standing = pdnn_sweep_directory_standing(sweep, i);
        is_done = pdnn_stage_of(session, i, &standing) == PDNN_STAGE_DONE;
    }
    return is_done;
}

/* What environment.yaml is to say of hardware counters. */
static void set_counters(struct pdnn_sweep_directory *sweep, const char *text) {
    struct pdnn_sweep_request *request = &sweep->request;
    for (size_t i = 0; i < request->n_facts; i++)
        if (strcmp(request->facts[i].key, PDNN_FACT_COUNTERS) == 0)
            request->facts[i].text = pdnn_arena_strdup(&sweep->session->arena, text);
}

/* Earlier visits have told, and there may be no other. */
static void keep_counters(struct pdnn_sweep_directory *sweep) {
    struct pdnn_str before = {0};
    pdnn_environment_get(sweep->request.path, PDNN_FACT_COUNTERS, &before);
    if (sweep->session->spec.measure.counters && before.length && strcmp(before.text, "off") != 0)
        set_counters(sweep, before.text);
    pdnn_str_finish(&before);
}

enum pdnn_status pdnn_sweep_directory_open(struct pdnn_sweep_directory *sweep,
                                           const struct pdnn_sweep_request *request, struct pdnn_err *err) {
    static const char *const names[] = {"environment.yaml", spec_name, roofs_name, "results.csv", "ops.csv"};
    struct pdnn_roof_rows *roof_rows = request->session->roof_rows;
    *sweep = (struct pdnn_sweep_directory){.request = *request, .session = request->session};
    const char *path = request->path;
    sweep->folder.fd = -1;
    if (pdnn_folder_ensure(path, err) != PDNN_OK || pdnn_folder_open(&sweep->folder, path, err) != PDNN_OK ||
        open_journal(sweep, err) != PDNN_OK)
        return err->status;
    pdnn_folder_clean(&sweep->folder); /* the journal's lock says that nobody else writes here */
    /* What will be replaced at the end of a long sweep is tried before it begins. */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pdnn_folder_try(&sweep->folder, names[i], err) != PDNN_OK)
            return err->status;
    if (pdnn_shard_check(&request->session->shard, path, err) != PDNN_OK)
        return err->status;
    const bool is_done = is_done_by_another(sweep);
    if (!is_done && pdnn_environment_check(path, request->facts, request->n_facts, err) != PDNN_OK)
        return err->status;
    if (!is_done)
        pdnn_session_follow(sweep->session, path, request->facts, request->n_facts);
    if (!request->roofs_file && pdnn_path_has(path, roofs_name)) {
        if (pdnn_roof_rows_read_in(path, roof_rows, err) != PDNN_OK)
            return err->status;
        sweep->n_roof_rows = roof_rows->count;
    }
    keep_counters(sweep);
    if ((!is_done &&
         pdnn_environment_write(&sweep->folder, request->facts, request->n_facts, err) != PDNN_OK) ||
        pdnn_families_keep(&sweep->folder, warn_of_change, sweep, err) != PDNN_OK ||
        write_spec(sweep, err) != PDNN_OK)
        return err->status;
    if (sweep->journal->visits.torn || sweep->journal->ops.torn)
        pdnn_session_warn(sweep->session, "%s/journal.csv: an incomplete last visit was dropped", path);
    return PDNN_OK;
}

void pdnn_sweep_directory_close(struct pdnn_sweep_directory *sweep) {
    pdnn_journal_close(sweep->journal);
    pdnn_folder_close(&sweep->folder);
    sweep->journal = NULL;
}

/* Whether this run leaves the task alone. A row never mixes visits that were allowed to be slow with others.
 */
static bool is_closed(const struct pdnn_sweep_directory *sweep, const struct pdnn_standing *standing) {
    const bool allow_slow = sweep->session->allow_slow;
    const bool was_unsupported = standing->direct && standing->last_direct == PDNN_OUTCOME_UNSUPPORTED;
    if (standing->was_slow && !allow_slow)
        return true;
    return !sweep->request.retry && !(was_unsupported && allow_slow) && pdnn_standing_is_final(standing);
}

/* The medians live in the session's arena. */
void pdnn_sweep_directory_resume_task(const struct pdnn_sweep_directory *sweep, struct pdnn_task *task,
                                      const struct pdnn_visit *visits, size_t n_visits) {
    double *medians = pdnn_arena_alloc(&sweep->session->arena, n_visits, sizeof *medians);
    struct pdnn_turn *turns = pdnn_arena_alloc(&sweep->session->arena, n_visits, sizeof *turns);
    const struct pdnn_standing standing = pdnn_standing_of(visits, n_visits);
    task->visits_done = 0;
    task->spent_ns = 0;
    task->n_turns = 0;
    for (size_t i = 0; i < n_visits; i++) {
        if (pdnn_visit_is_turn(&visits[i]))
            turns[task->n_turns++] = pdnn_turn_of(&visits[i]);
        if (!pdnn_visit_is_direct(&visits[i]))
            continue;
        medians[task->visits_done++] = visits[i].median_ns;
        double steps = (double)visits[i].samples * (double)visits[i].steps_per_sample;
        task->spent_ns += (uint64_t)(steps * visits[i].mean_ns);
    }
    task->medians = medians;
    task->turns = turns;
    task->closed = task->closed || is_closed(sweep, &standing);
    task->crashes = sweep->request.retry ? 0 : standing.crashes;
}

void pdnn_sweep_directory_resume(struct pdnn_sweep_directory *sweep) {
    struct pdnn_session *session = sweep->session;
    for (size_t i = 0; i < session->n_tasks; i++) {
        const struct pdnn_instance_visits of = pdnn_sweep_directory_visits(sweep, i);
        if (of.count)
            pdnn_sweep_directory_resume_task(sweep, &session->tasks[i], of.visit, of.count);
    }
}

enum pdnn_status pdnn_sweep_directory_roofs(struct pdnn_sweep_directory *sweep, struct pdnn_err *err) {
    static const struct {
        enum pdnn_status (*measure)(struct pdnn_session *session, struct pdnn_err *err);
        const char *what;
    } roofs[] = {{pdnn_session_measure_roofs, "the missing roofs"},
                 {pdnn_session_measure_links, "the roofs of links"}};
    struct pdnn_session *session = sweep->session;
    if (sweep->request.roofs_file)
        pdnn_session_warn_roofs(session, sweep->request.roofs_file);
    for (size_t i = 0; i < 2 && !sweep->request.roofs_file; i++) {
        enum pdnn_status status = roofs[i].measure(session, err);
        if (status == PDNN_INTERRUPTED)
            return status;
        if (status != PDNN_OK)
            pdnn_session_warn(session, "going on without %s: %s", roofs[i].what, err->text);
    }
    if (!sweep->request.roofs_file && session->roof_rows->count == sweep->n_roof_rows)
        return PDNN_OK;
    struct pdnn_str text = {0};
    pdnn_roof_rows_format(session->roof_rows, &text);
    enum pdnn_status status =
        pdnn_folder_replace(&sweep->folder, roofs_name, pdnn_str_text(&text), text.length, err);
    pdnn_str_finish(&text);
    return status;
}

enum pdnn_status pdnn_sweep_directory_write(struct pdnn_sweep_directory *sweep, struct pdnn_err *err) {
    struct pdnn_tables tables = {0};
    sweep->written = false;
    enum pdnn_status status =
        pdnn_rows_of_visits(sweep->session, &sweep->journal->known, false, &tables, &sweep->sums, err);
    if (status == PDNN_OK)
        status = pdnn_tables_write(&tables, &sweep->folder, err);
    sweep->written = status == PDNN_OK;
    pdnn_tables_finish(&tables);
    return status;
}

enum pdnn_status pdnn_sweep_directory_commit(struct pdnn_sweep_directory *sweep, size_t task,
                                             const struct pdnn_visit *visit, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_journal_append(sweep->journal, sweep->session->tasks[task].id, visit, err);
    if (status == PDNN_OK && pdnn_session_note_counters(sweep->session, task, visit)) {
        struct pdnn_str text = {0};
        pdnn_counters_describe(sweep->session->counters, "", &text);
        set_counters(sweep, text.text);
        pdnn_str_finish(&text);
        status = pdnn_environment_write(&sweep->folder, sweep->request.facts, sweep->request.n_facts, err);
    }
    return status == PDNN_OK ? pdnn_journal_check(sweep->journal, err) : status;
}

static enum pdnn_status visited(void *user, size_t task, const struct pdnn_visit *visit,
                                struct pdnn_err *err) {
    struct pdnn_sweep_directory *sweep = user;
    if (pdnn_sweep_directory_commit(sweep, task, visit, err) != PDNN_OK)
        return err->status;
    uint64_t start_ns = pdnn_clock_ns();
    if (start_ns < sweep->next_write_ns)
        return PDNN_OK;
    struct pdnn_err cause = {0};
    if (pdnn_sweep_directory_write(sweep, &cause) != PDNN_OK && !sweep->warned) {
        pdnn_session_warn(sweep->session, "the tables are behind the journal: %s", cause.text);
        sweep->warned = true;
    }
    uint64_t end_ns = pdnn_clock_ns();
    uint64_t rest_ns = (end_ns - start_ns) * WRITE_SHARE;
    sweep->next_write_ns = end_ns + (rest_ns > write_gap_ns ? rest_ns : write_gap_ns);
    return PDNN_OK;
}

static void progress(void *user, const struct pdnn_sweep_progress *visits) {
    const struct pdnn_sweep_directory *sweep = user;
    const struct pdnn_session_hooks *hooks = sweep->session->hooks;
    struct pdnn_sweep_progress shown = *visits;
    shown.eta_seconds = pdnn_session_shown_seconds(sweep->session, visits->eta_seconds);
    hooks->visits(hooks->user, &shown);
}

enum pdnn_status pdnn_sweep_directory_visit(struct pdnn_sweep_directory *sweep,
                                            struct pdnn_sweep_workers *workers,
                                            const struct pdnn_sweep_rules *rules,
                                            const struct pdnn_sweep_hooks *hooks,
                                            struct pdnn_sweep_result *result, struct pdnn_err *err) {
    struct pdnn_session *session = sweep->session;
    const struct pdnn_sweep_hooks own = {sweep, visited, progress};
    struct pdnn_sweep_rules own_rules = *rules;
    hooks = hooks ? hooks : &own;
    pdnn_session_share_choices(session, sweep->folder.path, &own_rules);
    rules = &own_rules;
    enum pdnn_status status =
        workers ? pdnn_sweep_run_on(workers, session->tasks, session->n_tasks, rules, hooks, result, err)
                : pdnn_sweep_run(&session->host, session->tasks, session->n_tasks, rules, hooks, result, err);
    session->hooks->ended(session->hooks->user);
    pdnn_session_note_end(session, result);
    return status;
}

/* Composed times make an instance done for everybody else, so it would be a surprise that it runs. */
static void note_composed(const struct pdnn_sweep_directory *sweep) {
    struct pdnn_session *session = sweep->session;
    const size_t rounds = (size_t)session->spec.measure.rounds;
    size_t count = 0;
    for (size_t i = 0; i < session->n_tasks; i++) {
        const struct pdnn_standing standing = pdnn_sweep_directory_standing(sweep, i);
        count += !session->tasks[i].closed && standing.rounds[PDNN_METHOD_DIRECT] < rounds &&
                 pdnn_standing_is_done(&standing, rounds);
    }
    if (count)
        session->hooks->note(
            session->hooks->user,
            pdnn_arena_printf(&session->arena,
                              "%zu of the done instances only have composed times, and run now", count));
}

enum pdnn_status pdnn_sweep_directory_run(struct pdnn_sweep_directory *sweep,
                                          struct pdnn_sweep_result *result, struct pdnn_err *err) {
    struct pdnn_session *session = sweep->session;
    struct pdnn_err cause = {0};
    session->hooks->watch(session->hooks->user);
    pdnn_sweep_directory_resume(sweep);
    note_composed(sweep);
    const uint64_t begun_ns = pdnn_clock_ns();
    enum pdnn_status status = pdnn_sweep_directory_roofs(sweep, err);
    sweep->roofs_ns = pdnn_clock_ns() - begun_ns;
    if (status == PDNN_OK || status == PDNN_INTERRUPTED) {
        const struct pdnn_sweep_rules rules = pdnn_session_rules(session);
        pdnn_session_predict(session);
        status = pdnn_sweep_directory_visit(sweep, NULL, &rules, NULL, result, err);
    }
    /* The directory may have gone since the last visit. Wherever it is now, it gets its tables. */
    const bool has_tables = pdnn_sweep_directory_write(sweep, &cause) == PDNN_OK,
               is_there = pdnn_journal_check(sweep->journal, &cause) == PDNN_OK;
    if (!(has_tables && is_there) && (status == PDNN_OK || status == PDNN_INTERRUPTED))
        status = pdnn_fail(err, cause.status, "%s", cause.text);
    sweep->written = has_tables && is_there;
    return status;
}
