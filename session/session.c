#define _GNU_SOURCE /* environ, realpath */
#include "session/session.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/texts.h"
#include "base/units.h"
#include "gen/expansion/walk.h"
#include "models/build.h"
#include "results/store/tables.h"
#include "session/predict.h"
#include "runtime/data/dataset.h"
#include "runtime/data/image.h"
#include "base/str.h"
#include "runtime/protocol/request.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For the last tables and the end of the process: a kill waits after a batch job's time, but only the user's
 * patience after the budget. */
static const uint64_t reserve_ns = UINT64_C(5000000000);
enum { BUDGET_RESERVE_SHARE = 50 };

/* Room for a path and a cause. */
enum { WARNING_TEXT = 8192 };

/* The outcome that is known before anything starts; INTERRUPTED: none. *reason: why. */
static enum pdnn_outcome judge(struct pdnn_session *session, const struct pdnn_expanded *item,
                               const char **reason) {
    const struct pdnn_host *host = &session->host;
    struct pdnn_arena *arena = &session->arena;
    const int64_t threads = item->instance.setting[PDNN_SETTING_THREADS];
    char need[PDNN_UNIT_TEXT], limit[PDNN_UNIT_TEXT];
    *reason = item->reason ? pdnn_arena_strdup(arena, item->reason) : NULL;
    if (item->filtered || item->invalid)
        return item->filtered ? PDNN_OUTCOME_FILTERED : PDNN_OUTCOME_INVALID;
    if (threads > host->threads) {
        *reason =
            pdnn_arena_printf(arena, "%" PRId64 " threads, but only %" PRId64 " %s", threads, host->threads,
                              host->threads == host->thread_limit ? "are allowed by OMP_THREAD_LIMIT"
                                                                  : "cores may be used here");
        return PDNN_OUTCOME_INVALID;
    }
    if (pdnn_instance_refusal(&item->instance)) {
        *reason = pdnn_instance_refusal(&item->instance);
        return PDNN_OUTCOME_UNSUPPORTED;
    }
    if (!item->has_totals)
        return PDNN_OUTCOME_OOM_PREDICTED;
    if (item->totals.memory_bytes > session->memory_limit_bytes) {
        *reason = pdnn_arena_printf(arena, "needs %s, the limit is %s",
                                    pdnn_format_bytes(need, (double)item->totals.memory_bytes),
                                    pdnn_format_bytes(limit, (double)session->memory_limit_bytes));
        return PDNN_OUTCOME_OOM_PREDICTED;
    }
    *reason = "stopped before its first visit";
    return PDNN_OUTCOME_INTERRUPTED;
}

static void append(struct pdnn_session *session, const struct pdnn_instance *instance, struct pdnn_task task,
                   struct pdnn_session_row row) {
    char text[PDNN_ID_TEXT];
    size_t room = session->room;
    session->tasks = pdnn_grow(session->tasks, &room, session->n_tasks, sizeof *session->tasks);
    session->rows = pdnn_grow(session->rows, &session->room, session->n_tasks, sizeof *session->rows);
    task.instance = *instance;
    task.id = pdnn_arena_strdup(&session->arena, pdnn_instance_format(instance, text));
    session->tasks[session->n_tasks] = task;
    session->rows[session->n_tasks++] = row;
}

void pdnn_session_add_twin(struct pdnn_session *session, size_t task, const struct pdnn_instance *instance) {
    append(session, instance, session->tasks[task], session->rows[task]);
}

static void add_task(struct pdnn_session *session, const struct pdnn_expanded *item) {
    struct pdnn_session_row row = {.totals = item->totals, .has_totals = item->has_totals};
    row.outcome = judge(session, item, &row.reason);
    const struct pdnn_task task = {
        .memory_bytes = item->totals.memory_bytes,
        .flop_count = item->totals.cost.flop_count,
        .closed = row.outcome != PDNN_OUTCOME_INTERRUPTED,
    };
    append(session, &item->instance, task, row);
}

static enum pdnn_status expand(struct pdnn_session *session, struct pdnn_err *err) {
    struct pdnn_shard_deal deal;
    int64_t threads = session->host.threads_all;
    if (pdnn_shard_deal(&session->shard, &session->spec, threads, &deal, err) != PDNN_OK)
        return err->status;
    struct pdnn_walk walk = {.only = deal.mine};
    struct pdnn_expanded item;
    enum pdnn_status status;
    pdnn_walk_start(&walk, &session->spec, threads, true);
    while (pdnn_walk_next(&walk, &item, &status, err))
        add_task(session, &item);
    pdnn_walk_finish(&walk);
    free(deal.mine);
    return status;
}

/* Numbers the groups of paired order: tasks that run the same but for the compared setting. */
static void group_tasks(struct pdnn_session *session) {
    const struct pdnn_spec_measure *measure = &session->spec.measure;
    struct pdnn_texts ids = {0};
    for (size_t i = 0; i < session->n_tasks && measure->order == PDNN_ORDER_PAIRED; i++) {
        char id[PDNN_ID_TEXT];
        session->tasks[i].group =
            pdnn_texts_add(&ids, pdnn_instance_group(&session->tasks[i].instance, measure->compared, id)) + 1;
    }
    pdnn_texts_finish(&ids);
}

void pdnn_session_cache(bool no_cache, char directory[PDNN_KEPT_PATH]) {
    const char *variable = getenv("PARADNN_NO_CACHE");
    directory[0] = 0;
    if (!no_cache && (!variable || !*variable))
        pdnn_kept_directory(environ, directory);
}

/* People read what differs among the tasks; the rest is said once. */
static void label_tasks(struct pdnn_session *session) {
    struct pdnn_str common = {0};
    for (size_t i = 0; i < session->n_tasks; i++)
        pdnn_varying_add(&session->varying, &session->tasks[i].instance);
    for (size_t i = 0; i < session->n_tasks && session->n_tasks > 1; i++) {
        char label[PDNN_ID_TEXT];
        session->tasks[i].label = pdnn_arena_strdup(
            &session->arena, pdnn_varying_label(&session->varying, &session->tasks[i].instance, label));
    }
    pdnn_varying_common(&session->varying, &common);
    session->common = pdnn_arena_strdup(&session->arena, pdnn_str_text(&common));
    pdnn_str_finish(&common);
}

/* Workers may run elsewhere than this process, so paths are made absolute. */
static enum pdnn_status add_dataset(const char *name, struct pdnn_str *paths, struct pdnn_str *text,
                                    struct pdnn_err *err) {
    char shown[PDNN_DATASET_TEXT];
    struct pdnn_dataset set;
    char *path = realpath(name, NULL);
    if (!path)
        return pdnn_fail(err, PDNN_INVALID, "dataset: %s: %s", name, strerror(errno));
    enum pdnn_status status = pdnn_dataset_open(path, &set, err);
    if (status == PDNN_OK) {
        pdnn_str_printf(paths, "%s%s", paths->length ? "\n" : "", path);
        pdnn_str_printf(text, "%s%s", text->length ? "; " : "", pdnn_dataset_format(&set, shown));
        if (set.encoding == PDNN_ENCODING_JPEG && !pdnn_jpeg_is_built())
            status = pdnn_jpeg_missing(err);
        pdnn_dataset_close(&set);
    }
    free(path);
    return status == PDNN_OK ? status : pdnn_wrap(err, "dataset");
}

/* Opens every data set of the spec, if an open task reads files. PDNN_INVALID if there is none, or what is
 * wrong with one. */
static enum pdnn_status open_datasets(struct pdnn_session *session, struct pdnn_err *err) {
    const struct pdnn_spec *spec = &session->spec;
    struct pdnn_str paths = {0}, text = {0};
    bool reads = false;
    for (size_t i = 0; i < session->n_tasks; i++) {
        const struct pdnn_task *task = &session->tasks[i];
        reads = reads || (!task->closed && task->instance.setting[PDNN_SETTING_DATA] == PDNN_DATA_FILE);
    }
    if (!reads)
        return PDNN_OK;
    if (!spec->n_datasets)
        return pdnn_fail(
            err, PDNN_INVALID,
            "data=file needs a data set, and the spec names none: add 'dataset: DIR', or give --set "
            "dataset=DIR ('paradnn data make' writes data sets)");
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < spec->n_datasets && status == PDNN_OK; i++)
        status = add_dataset(spec->datasets[i], &paths, &text, err);
    if (status == PDNN_OK && paths.length >= PDNN_REQUEST_SETS)
        status = pdnn_fail(err, PDNN_INVALID, "dataset: the paths of all data sets have at most %d letters",
                           PDNN_REQUEST_SETS - 1);
    if (status == PDNN_OK)
        memcpy(session->sets, pdnn_str_text(&paths), paths.length + 1);
    session->sets_text = pdnn_arena_strdup(&session->arena, pdnn_str_text(&text));
    pdnn_str_finish(&paths);
    pdnn_str_finish(&text);
    return status;
}

enum pdnn_status pdnn_session_open(struct pdnn_session *session, const char *const *arguments,
                                   size_t n_arguments, const char *const *sets, size_t n_sets,
                                   struct pdnn_err *err) {
    const struct pdnn_session fresh = {.hooks = session->hooks,
                                       .shard = session->shard,
                                       .models = session->models,
                                       .allow_slow = session->allow_slow,
                                       .no_cache = session->no_cache,
                                       .grace_ns = session->grace_ns,
                                       .started_ns = session->started_ns,
                                       .deadline_ns = session->deadline_ns,
                                       .roof_rows = pdnn_alloc(1, sizeof *session->roof_rows)};
    struct pdnn_spec *spec = &session->spec;
    pdnn_session_finish(session);
    *session = fresh;
    pdnn_session_cache(session->no_cache, session->cache);
    if (pdnn_host_read(&session->host, err) != PDNN_OK ||
        (session->models ? pdnn_spec_load_models(*arguments, sets, n_sets, session->models, spec, err)
                         : pdnn_spec_load(arguments, n_arguments, sets, n_sets, spec, err)) != PDNN_OK)
        return err->status;
    /* Else a spec from elsewhere might be taken for one's own. */
    if (spec->installed && session->hooks)
        session->hooks->note(session->hooks->user,
                             pdnn_arena_printf(&session->arena, "spec: %s", spec->installed));
    session->memory_limit_bytes =
        spec->limits.memory_bytes
            ? spec->limits.memory_bytes
            : (uint64_t)(spec->limits.memory_fraction * (double)session->host.memory_limit_bytes);
    if (expand(session, err) != PDNN_OK)
        return err->status;
    group_tasks(session);
    label_tasks(session);
    return open_datasets(session, err);
}

/* The machine is the one that the facts are of; what they do not say is this one's. */
enum pdnn_status pdnn_session_open_there(struct pdnn_session *session, const char *environment,
                                         const char *shard_of, const char *spec, struct pdnn_err *err) {
    const uint64_t cores = pdnn_environment_count(environment, "cores_usable"),
                   all = pdnn_environment_count(environment, "threads_all"),
                   memory_bytes = pdnn_environment_count(environment, "limit_memory_bytes");
    struct pdnn_host *host = &session->host;
    struct pdnn_str name = {0}, shard = {0};
    *session = (struct pdnn_session){.hooks = session->hooks};
    if (pdnn_host_read(host, err) != PDNN_OK)
        return err->status;
    host->threads = cores ? (int64_t)cores : host->threads;
    host->threads_all = all ? (int64_t)all : host->threads_all;
    session->memory_limit_bytes = memory_bytes ? memory_bytes : host->memory_limit_bytes;
    pdnn_environment_value(environment, "host", &name);
    if (name.length)
        snprintf(host->name, sizeof host->name, "%s", name.text);
    pdnn_environment_value(environment, "shard", &shard);
    enum pdnn_status status =
        shard_of && shard.length ? pdnn_shard_parse(shard.text, NULL, &session->shard, err) : PDNN_OK;
    if (status == PDNN_OK && session->shard.count)
        status = pdnn_shard_check(&session->shard, shard_of, err);
    pdnn_str_finish(&name);
    pdnn_str_finish(&shard);
    if (status == PDNN_OK)
        status = pdnn_spec_load(&spec, 1, NULL, 0, &session->spec, err);
    return status == PDNN_OK ? expand(session, err) : status;
}

/* What open tasks run on. Loaders and communication take what the threads leave. */
static int64_t count_cores(const struct pdnn_session *session) {
    int64_t most = 0;
    for (size_t i = 0; i < session->n_tasks; i++) {
        const int64_t *setting = session->tasks[i].instance.setting;
        const bool takes_all =
            setting[PDNN_SETTING_RANKS] > 1 || setting[PDNN_SETTING_DATA] != PDNN_DATA_RESIDENT;
        const int64_t threads = takes_all ? session->host.threads : setting[PDNN_SETTING_THREADS];
        if (!session->tasks[i].closed && threads > most)
            most = threads;
    }
    return most;
}

/* "on cores 2, 3, beside other sweeps", if the first ones are taken. */
static void note_cores(const struct pdnn_session *session, const char *places, int64_t n_cores) {
    struct pdnn_str text = {0};
    char *now = pdnn_host_places(&session->host);
    const bool is_moved = strcmp(now, places) != 0;
    free(now);
    pdnn_str_printf(&text, "on core%s ", n_cores == 1 ? "" : "s");
    for (int64_t i = 0; i < n_cores; i++)
        pdnn_str_printf(&text, "%s%d", i ? ", " : "", session->host.core_pu[i]);
    pdnn_str_printf(&text, ", beside other sweeps");
    if (is_moved && n_cores && session->hooks)
        session->hooks->note(session->hooks->user, text.text);
    pdnn_str_finish(&text);
}

void pdnn_session_announce(struct pdnn_session *session, bool is_joined, const char *directory) {
    struct pdnn_str others = {0}, why = {0};
    const double quota = session->host.quota_cpus;
    const int64_t n_cores = count_cores(session);
    if (quota > 0 && quota < 1)
        pdnn_session_warn(
            session,
            "a control group's quota leaves this process %.2f of a core, so it is stopped in the "
            "middle of steps: times are those of the quota",
            quota);
    if (is_joined) {
        char *places = pdnn_host_places(&session->host);
        session->places = pdnn_arena_strdup(&session->arena, places);
        free(places);
        pdnn_presence_begin_beside(&session->presence, &session->host, n_cores, directory, &others);
        pdnn_str_printf(&why, ", since this one takes %" PRId64 " of %" PRId64 " and fewer are free", n_cores,
                        session->host.threads);
    } else
        pdnn_presence_begin(&session->presence, session->host.core_pu, n_cores, directory, &others);
    char *list = pdnn_arena_strdup(&session->arena, pdnn_str_text(&others));
    if (is_joined && !others.length)
        note_cores(session, session->places, n_cores);
    pdnn_str_finish(&others);
    for (char *line = list; *line;) {
        size_t length = strcspn(line, "\n");
        pdnn_session_warn(session,
                          "another sweep is running on the same cores (%.*s)%s; both measure wrong times",
                          (int)length, line, pdnn_str_text(&why));
        line[length] = line[length + 1] ? ';' : 0;
        line += length + 1;
    }
    pdnn_str_finish(&why);
    session->shares_with = list;
}

void pdnn_session_finish(struct pdnn_session *session) {
    pdnn_presence_end(&session->presence);
    pdnn_spec_finish(&session->spec);
    pdnn_varying_finish(&session->varying);
    pdnn_arena_finish(&session->arena);
    free(session->tasks);
    free(session->rows);
    free(session->roof_rows);
    *session = (struct pdnn_session){0};
}

void pdnn_session_warn(const struct pdnn_session *session, const char *format, ...) {
    char text[WARNING_TEXT];
    va_list arguments;
    if (!session->hooks)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    session->hooks->warn(session->hooks->user, text);
}

bool pdnn_session_note_counters(struct pdnn_session *session, size_t task, const struct pdnn_visit *visit) {
    const enum pdnn_counters told = visit->counted.counters;
    struct pdnn_str text = {0};
    if (told == PDNN_COUNTERS_OFF || told == session->counters ||
        pdnn_counters_are_missing(session->counters))
        return false;
    session->counters = told;
    pdnn_counters_describe(told, "", &text);
    if (pdnn_counters_are_missing(told))
        pdnn_session_warn(session, "hardware counters: %s; first with %s", text.text,
                          session->tasks[task].id);
    pdnn_str_finish(&text);
    return true;
}

bool pdnn_session_has_failed(const size_t counts[PDNN_OUTCOME_COUNT]) {
    static const bool failures[PDNN_OUTCOME_COUNT] = {
        [PDNN_OUTCOME_OOM] = true,     [PDNN_OUTCOME_TIMEOUT] = true,       [PDNN_OUTCOME_CRASH] = true,
        [PDNN_OUTCOME_INVALID] = true, [PDNN_OUTCOME_NUMERIC_ERROR] = true,
    };
    for (int outcome = 0; outcome < PDNN_OUTCOME_COUNT; outcome++)
        if (failures[outcome] && counts[outcome])
            return true;
    return !counts[PDNN_OUTCOME_OK];
}

/* When visits must have ended, so that the tables are written by the end of the budget and of the process's
 * time, whichever comes first; 0: never. */
static uint64_t find_end_ns(const struct pdnn_session *session, bool *is_budget) {
    const uint64_t budget_ns = session->spec.limits.budget_ns, time_ns = session->deadline_ns;
    const uint64_t share_ns = budget_ns / BUDGET_RESERVE_SHARE,
                   kept_ns = share_ns < reserve_ns ? share_ns : reserve_ns,
                   time_end_ns = time_ns > reserve_ns ? time_ns - reserve_ns : time_ns;
    uint64_t budget_end_ns;
    *is_budget = budget_ns &&
                 !__builtin_add_overflow(session->started_ns, budget_ns - kept_ns, &budget_end_ns) &&
                 (!time_end_ns || budget_end_ns < time_end_ns);
    return *is_budget ? budget_end_ns : time_end_ns;
}

double pdnn_session_seconds_left(const struct pdnn_session *session) {
    bool is_budget;
    const uint64_t now_ns = pdnn_clock_ns(), end_ns = find_end_ns(session, &is_budget);
    return !end_ns ? INFINITY : end_ns > now_ns ? (double)(end_ns - now_ns) * 1e-9 : 0;
}

double pdnn_session_shown_seconds(const struct pdnn_session *session, double seconds) {
    return seconds < 0 ? seconds
                       : fmin(seconds + session->later_seconds, fmax(pdnn_session_seconds_left(session), 0));
}

const char *pdnn_session_end_text(const struct pdnn_session *session) {
    bool is_budget;
    find_end_ns(session, &is_budget);
    return is_budget ? "the budget is spent" : "the time is up";
}

void pdnn_session_note_end(struct pdnn_session *session, const struct pdnn_sweep_result *result) {
    bool is_budget;
    find_end_ns(session, &is_budget);
    for (size_t i = 0; i < session->n_tasks && result->out_of_time; i++)
        if (session->rows[i].outcome == PDNN_OUTCOME_INTERRUPTED)
            session->rows[i].reason = is_budget ? "the budget was spent before its first visit"
                                                : "the time was up before its first visit";
}

void pdnn_session_predict(struct pdnn_session *session) {
    for (size_t i = 0; i < session->n_tasks; i++) {
        const struct pdnn_session_row *row = &session->rows[i];
        struct pdnn_task *task = &session->tasks[i];
        if (!row->has_totals)
            continue;
        const struct pdnn_prediction made =
            pdnn_predict(session->roof_rows, &session->spec, &task->instance, &row->totals);
        task->visit_ns = pdnn_deal_cost(made.visit) * 1000;
        task->extra_ns = (uint64_t)((made.usual - made.rounds) * 1e9);
    }
}

struct pdnn_sweep_rules pdnn_session_rules(const struct pdnn_session *session) {
    const struct pdnn_spec_measure *measure = &session->spec.measure;
    bool is_budget;
    struct pdnn_sweep_rules rules = {
        .request = {.seed = session->spec.seed,
                    .memory_limit_bytes = session->memory_limit_bytes,
                    .rules = {.min_samples = (uint64_t)measure->min_samples, .precision = measure->precision},
                    .allow_slow = session->allow_slow,
                    .probe = measure->probe,
                    .counters = measure->counters},
        .libraries = session->libraries,
        .roof_rows = session->roof_rows,
        .rounds = measure->rounds,
        .max_time_ns = measure->max_time_ns,
        .cost_order = measure->order == PDNN_ORDER_COST,
        .paired = measure->order == PDNN_ORDER_PAIRED,
        .shards = session->shard.count,
        .time_limit_ns = session->spec.limits.time_ns,
        .deadline_ns = find_end_ns(session, &is_budget),
        .reach =
            session->spec.limits.reach == PDNN_SPEC_REACH_SMALLEST ? PDNN_REACH_SMALLEST : PDNN_REACH_SPREAD,
        .grace_ns = session->grace_ns,
        .stop = session->hooks->watch(session->hooks->user),
    };
    memcpy(rules.request.sets, session->sets, sizeof rules.request.sets);
    snprintf(rules.request.largest, sizeof rules.request.largest, "%s",
             session->largest ? session->largest : "");
    snprintf(rules.request.choices, sizeof rules.request.choices, "%s", session->cache);
    return rules;
}

void pdnn_session_share_choices(const struct pdnn_session *session, const char *directory,
                                struct pdnn_sweep_rules *rules) {
    struct pdnn_request *request = &rules->request;
    if (!rules->paired)
        return;
    request->choices_are_shared = session->spec.measure.choices == PDNN_CHOICES_SHARED;
    request->choices_are_final = strlen(directory) < sizeof request->choices;
    if (request->choices_are_final)
        snprintf(request->choices, sizeof request->choices, "%s", directory);
}

const char *const pdnn_stage_names[PDNN_STAGE_COUNT] = {"done", "begun", "open", "of_another_spec"};

enum pdnn_stage pdnn_stage_of(const struct pdnn_session *session, size_t task,
                              const struct pdnn_standing *standing) {
    if (task == SIZE_MAX)
        return PDNN_STAGE_OTHER;
    if (session->rows[task].outcome != PDNN_OUTCOME_INTERRUPTED ||
        pdnn_standing_is_done(standing, (size_t)session->spec.measure.rounds))
        return PDNN_STAGE_DONE;
    return standing->visits ? PDNN_STAGE_BEGUN : PDNN_STAGE_OPEN;
}

enum pdnn_stage pdnn_tally_add(struct pdnn_tally *tally, const struct pdnn_session *session, size_t task,
                               const struct pdnn_standing *standing) {
    enum pdnn_stage stage = pdnn_stage_of(session, task, standing);
    tally->stage[stage]++;
    if (stage == PDNN_STAGE_OTHER)
        return stage;
    tally->instances++;
    tally->counts[standing->visits ? pdnn_standing_outcome(standing) : session->rows[task].outcome]++;
    return stage;
}

enum pdnn_status pdnn_spec_read(const char *directory, char **text, struct pdnn_err *err) {
    enum { LIMIT_BYTES = 1 << 26 };
    char path[PDNN_FOLDER_TEXT];
    return pdnn_path_join(path, directory, "spec.yaml")
               ? pdnn_file_read(path, LIMIT_BYTES, text, NULL, err)
               : pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
}

static const char *skip_comments(const char *text) {
    while (*text == '#' || *text == '\n')
        text += *text == '#' ? strcspn(text, "\n") : 1;
    return text;
}

bool pdnn_spec_differs(const char *one, const char *other, char one_line[PDNN_SPEC_LINE_TEXT],
                       char other_line[PDNN_SPEC_LINE_TEXT]) {
    size_t length = 0;
    do {
        one = skip_comments(one + length);
        other = skip_comments(other + length);
        length = strcspn(one, "\n");
        const size_t other_length = strcspn(other, "\n");
        if (length != other_length || memcmp(one, other, length) != 0) {
            snprintf(one_line, PDNN_SPEC_LINE_TEXT, "%.*s", (int)length, one);
            snprintf(other_line, PDNN_SPEC_LINE_TEXT, "%.*s", (int)other_length, other);
            return true;
        }
    } while (length);
    return false;
}
