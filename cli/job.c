#define _GNU_SOURCE /* environ */
#include "cli/job.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "base/visible.h"
#include "gen/override.h"
#include "runtime/driver/worker/worker.h"
#include "runtime/host/host_openmp.h"
#include "session/join/join.h"
#include "session/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where launchers put the number of a process, from 0, and how many there are. Slurm's come last: an mpirun
 * in a job of Slurm has processes of its own, which inherit those of the step that it runs in. */
static const struct launcher {
    const char *rank, *size;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"PMIX_RANK", "PMIX_SIZE"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

static int64_t number_of(const char *variable) {
    const char *text = getenv(variable);
    int64_t number;
    return text && pdnn_parse_i64(text, &number) ? number : -1;
}

static const struct launcher *find_launcher(void) {
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        if (number_of(launchers[i].rank) >= 0)
            return &launchers[i];
    }
    return NULL;
}

/* What libraries ignore of the variables only a worker knows, which is asked where one is set for them. */
static void ask_ignored(struct pdnn_str *ignored) {
    struct pdnn_host host;
    struct pdnn_worker worker = {0};
    bool is_set = false;
    for (char **variable = environ; *variable; variable++)
        is_set = is_set || (pdnn_openmp_is_passed(*variable) && pdnn_openmp_library(*variable));
    if (is_set && pdnn_host_read(&host, NULL) == PDNN_OK &&
        pdnn_worker_start(&worker, &host, PDNN_WORKER_PLAIN, 0, NULL) == PDNN_OK)
        pdnn_str_printf(ignored, "%s", pdnn_worker_ignored(&worker));
    pdnn_worker_stop(&worker);
}

void pdnn_cli_tell(const struct pdnn_session *session, bool has_roofs) {
    const char *backends[PDNN_SOFTWARE_MAX + 1] = {NULL};
    char shown[PDNN_VISIBLE_TEXT];
    size_t n_backends = 0;
    struct pdnn_str text = {0}, ignored = {0};
    for (size_t i = 0; session && i < session->n_tasks; i++) {
        const struct pdnn_task *task = &session->tasks[i];
        const char *name = pdnn_backend_names[task->instance.setting[PDNN_SETTING_BACKEND]];
        size_t at = 0;
        while (at < n_backends && backends[at] != name)
            at++;
        if (at == n_backends && n_backends < PDNN_SOFTWARE_MAX && !task->closed)
            backends[n_backends++] = name;
    }
    ask_ignored(&ignored);
    pdnn_openmp_tell(environ, pdnn_str_text(&ignored), has_roofs || !session ? NULL : backends, &text);
    if (text.length)
        fprintf(stderr, "paradnn: library variables: %s\n", pdnn_visible(shown, text.text));
    pdnn_str_finish(&text);
    pdnn_str_finish(&ignored);
}

static void add_set(struct pdnn_cli_job *job, const char *option, const char *given, const char *set) {
    job->sets = pdnn_resize(job->sets, job->n_sets + 1, sizeof *job->sets);
    job->set_by = pdnn_resize(job->set_by, job->n_set_by + 1, sizeof *job->set_by);
    job->sets[job->n_sets++] = set;
    job->set_by[job->n_set_by++] = pdnn_arena_printf(&job->arena, "--%s %.160s", option, given);
}

/* NAME=DIR as a key of `libraries`, in quotes. */
static void add_libraries(struct pdnn_cli_job *job) {
    size_t count;
    const char *const *given = pdnn_argument_all(job->arguments, "library", &count);
    for (size_t i = 0; i < count; i++) {
        const size_t name = strcspn(given[i], "=");
        struct pdnn_str set = {0};
        pdnn_str_printf(&set, "libraries.%.*s='", (int)name, given[i]);
        for (const char *at = given[i] + name + (given[i][name] != 0); *at; at++)
            pdnn_str_printf(&set, "%s%c", *at == '\'' ? "'" : "", *at);
        pdnn_str_printf(&set, "'");
        add_set(job, "library", given[i], pdnn_arena_strdup(&job->arena, pdnn_str_text(&set)));
        pdnn_str_finish(&set);
    }
}

void pdnn_cli_job_begin(struct pdnn_cli_job *job, const struct pdnn_arguments *arguments) {
    const struct launcher *launcher = find_launcher();
    *job = (struct pdnn_cli_job){.arguments = arguments, .directory = {.folder = {.fd = -1}}};
    job->hooks = pdnn_progress_hooks(&job->bar);
    job->bar.quiet = pdnn_argument(arguments, "quiet");
    job->session = (struct pdnn_session){.hooks = &job->hooks,
                                         .started_ns = pdnn_clock_ns(),
                                         .allow_slow = pdnn_argument(arguments, "allow-slow"),
                                         .no_cache = pdnn_argument(arguments, "no-cache")};
    job->bar.tell = pdnn_cli_tell;
    job->bar.session = &job->session;
    job->request = (struct pdnn_sweep_request){
        .session = &job->session,
        .roofs_file = pdnn_argument(arguments, "ceilings"),
        .retry = pdnn_argument(arguments, "retry"),
        /* A launcher started others beside this process. */
        .waits = launcher && (number_of(launcher->rank) > 0 || number_of(launcher->size) > 1)};
    const char *const *sets = pdnn_argument_all(arguments, "set", &job->n_sets);
    job->sets = pdnn_alloc(job->n_sets + 1, sizeof *job->sets);
    memcpy(job->sets, sets, job->n_sets * sizeof *sets);
    add_libraries(job);
}

void pdnn_cli_job_finish(struct pdnn_cli_job *job) {
    if (job->directory.session)
        *job->arguments->some_failed = pdnn_session_has_failed(job->directory.sums.tally.counts);
    pdnn_sweep_directory_close(&job->directory);
    pdnn_session_finish(&job->session);
    pdnn_arena_finish(&job->arena);
    pdnn_str_finish(&job->path);
    free(job->sets);
    free(job->set_by);
}

void pdnn_cli_job_set(struct pdnn_cli_job *job, const char *option, const char *key, const char *value) {
    const char *given = pdnn_argument(job->arguments, option);
    if (!given)
        return;
    add_set(job, option, given, pdnn_arena_printf(&job->arena, "%s=%s", key, value ? value : given));
}

void pdnn_cli_job_default(struct pdnn_cli_job *job, const char *set) {
    job->sets = pdnn_resize(job->sets, job->n_sets + 1, sizeof *job->sets);
    memmove(job->sets + 1, job->sets, job->n_sets++ * sizeof *job->sets);
    job->sets[0] = set;
}

enum pdnn_status pdnn_cli_job_opened(struct pdnn_cli_job *job, enum pdnn_status status,
                                     struct pdnn_err *err) {
    const char *roof_rows = job->request.roofs_file;
    if (status == PDNN_OK)
        status = pdnn_session_load_libraries(&job->session, err);
    if (status == PDNN_OK)
        return roof_rows ? pdnn_roof_rows_read(roof_rows, NULL, job->session.roof_rows, err) : PDNN_OK;
    for (size_t i = 0; i < job->n_set_by; i++) {
        const struct pdnn_err cause = *err;
        char place[sizeof PDNN_OVERRIDE_PLACE + 160];
        snprintf(place, sizeof place, PDNN_OVERRIDE_PLACE, job->sets[job->n_sets - job->n_set_by + i]);
        if (strncmp(cause.text, place, strlen(place)) == 0)
            return pdnn_fail(err, cause.status, "%s%s", job->set_by[i], cause.text + strlen(place));
    }
    return status;
}

/* What comes before and behind '=' is checked where it is read. */
static enum pdnn_status check_libraries(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    size_t count;
    const char *const *given = pdnn_argument_all(arguments, "library", &count);
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(given[i], '=');
        if (!equals || equals == given[i] || !equals[1])
            return pdnn_fail(err, PDNN_INVALID, "--library is '%.160s', expected NAME=DIR", given[i]);
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_cli_job_open(struct pdnn_cli_job *job, struct pdnn_err *err) {
    const struct pdnn_arguments *arguments = job->arguments;
    const char *shard = pdnn_argument(arguments, "shard");
    if (pdnn_host_process_check(err) != PDNN_OK || check_libraries(arguments, err) != PDNN_OK ||
        pdnn_shard_parse(shard, pdnn_argument(arguments, "shard-base"), &job->session.shard, err) != PDNN_OK)
        return err->status;
    const uint32_t n_tasks = pdnn_shard_array_tasks(shard);
    enum pdnn_status status = pdnn_session_open(&job->session, arguments->operands, arguments->n_operands,
                                                job->sets, job->n_sets, err);
    status = pdnn_cli_job_opened(job, status, err);
    if (status == PDNN_OK && n_tasks && n_tasks < job->session.shard.count)
        pdnn_session_warn(&job->session,
                          "this job array has %" PRIu32 " of the %" PRIu32
                          " shards; the others need tasks of their own",
                          n_tasks, job->session.shard.count);
    return status;
}

enum pdnn_status pdnn_cli_job_roofs(struct pdnn_cli_job *job, struct pdnn_err *err) {
    if (!job->request.roofs_file)
        return pdnn_session_measure_roofs(&job->session, err);
    pdnn_session_warn_roofs(&job->session, job->request.roofs_file);
    return PDNN_OK;
}

enum pdnn_status pdnn_cli_job_leave(const struct pdnn_session *session, bool *is_left, struct pdnn_err *err) {
    const struct launcher *launcher = find_launcher();
    bool has_ranks = false;
    for (size_t i = 0; i < session->n_tasks; i++)
        has_ranks = has_ranks || session->tasks[i].instance.setting[PDNN_SETTING_RANKS] > 1;
    *is_left = false;
    if (!launcher || !has_ranks)
        return PDNN_OK;
    int64_t rank = number_of(launcher->rank);
    int64_t all = number_of("OMPI_COMM_WORLD_SIZE"), here = number_of("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (rank == 0 && all > here && here > 0 && !getenv("SLURM_PROCID") && !getenv("PARADNN_HOSTS"))
        return pdnn_fail(
            err, PDNN_INVALID,
            "mpirun started this on several hosts: name them in PARADNN_HOSTS, as in a:1,b:1, for the ranks");
    *is_left = rank > 0 && !session->shard.count;
    if (*is_left)
        fprintf(stderr,
                "paradnn: %s is %" PRId64
                ": a sweep with ranks is left to process 0, which has mpirun start them\n",
                launcher->rank, rank);
    return PDNN_OK;
}

enum pdnn_status pdnn_cli_job_direct(struct pdnn_cli_job *job, const char *suffix, bool is_joined,
                                     struct pdnn_err *err) {
    struct pdnn_fact *facts;
    if (pdnn_cli_name_directory(job->arguments, job->session.spec.name, &job->session.shard, suffix,
                                &job->path, err) != PDNN_OK)
        return err->status;
    job->request.path = pdnn_str_text(&job->path);
    job->bar.preface = job->session.common;
    pdnn_session_announce(&job->session, is_joined, job->request.path);
    if (pdnn_environment_facts(&job->session, &job->arena, &facts, &job->request.n_facts, err) != PDNN_OK)
        return err->status;
    job->request.facts = facts;
    return PDNN_OK;
}

enum pdnn_status pdnn_cli_job_directory(struct pdnn_cli_job *job, const char *suffix, struct pdnn_err *err) {
    if (pdnn_cli_job_direct(job, suffix, false, err) != PDNN_OK ||
        pdnn_join_check_alone(job->request.path, err) != PDNN_OK)
        return err->status;
    return pdnn_sweep_directory_open(&job->directory, &job->request, err);
}

/* After `who`, where something is said. */
static void tell_gaps(const char *who, const struct pdnn_gaps *gaps, const struct pdnn_selection *selection) {
    struct pdnn_str text = {0};
    pdnn_gaps_say(gaps, selection, &text);
    if (text.length)
        fprintf(stderr, "%s%s%s\n", who, *who ? ": " : "", text.text);
    pdnn_str_finish(&text);
}

void pdnn_cli_tell_gaps(const struct pdnn_gaps *gaps, const struct pdnn_selection *selection) {
    tell_gaps("", gaps, selection);
}

void pdnn_cli_tell_pair_gaps(const struct pdnn_comparisons *comparisons) {
    for (size_t i = 0; i < comparisons->n; i++) {
        const struct pdnn_comparison *of = &comparisons->of[i];
        char name[PDNN_SIDE_TEXT];
        struct pdnn_gaps gaps;
        pdnn_comparison_gaps(of, "", &gaps);
        tell_gaps(comparisons->n > 1 ? pdnn_side_name(of->number, name) : "", &gaps, &of->selection);
    }
}

enum pdnn_status pdnn_cli_select(const struct pdnn_arguments *arguments, size_t n,
                                 struct pdnn_selection *selection, struct pdnn_ops_reader **readers,
                                 struct pdnn_err *err) {
    size_t n_only;
    const char *const *only = pdnn_argument_all(arguments, "only", &n_only);
    enum pdnn_status status = pdnn_selection_open_all(selection, arguments->operands, n, only, n_only, err);
    if (status == PDNN_OK) {
        struct pdnn_gaps gaps;
        pdnn_gaps_find(selection, &gaps);
        pdnn_cli_tell_gaps(&gaps, selection);
    }
    return status == PDNN_OK && readers ? pdnn_selection_ops_open(selection, readers, err) : status;
}

enum pdnn_status pdnn_cli_name_directory(const struct pdnn_arguments *arguments, const char *spec_name,
                                         const struct pdnn_shard *shard, const char *suffix,
                                         struct pdnn_str *name, struct pdnn_err *err) {
    const char *given = pdnn_argument(arguments, "output");
    if (!given && !spec_name)
        return pdnn_fail(err, PDNN_INVALID, "neither an ID nor a pipe names a directory, give -o DIR");
    pdnn_str_printf(name, "%s", given ? given : spec_name);
    if (!given && shard->count)
        pdnn_str_printf(name, ".%" PRIu32 "-of-%" PRIu32, shard->index, shard->count);
    pdnn_str_printf(name, "%s", given ? "" : suffix);
    return PDNN_OK;
}

struct pdnn_distribution_request pdnn_cli_distribution(const struct pdnn_arguments *arguments) {
    return (struct pdnn_distribution_request){.nodes = pdnn_argument(arguments, "nodes"),
                                              .slice = pdnn_argument(arguments, "slice"),
                                              .link = pdnn_argument(arguments, "link"),
                                              .bucket = pdnn_argument(arguments, "bucket"),
                                              .overlap = pdnn_argument(arguments, "overlap")};
}

struct pdnn_hardware_request pdnn_cli_hardware(const struct pdnn_arguments *arguments) {
    return (struct pdnn_hardware_request){.compute = pdnn_argument(arguments, "compute"),
                                          .bandwidth = pdnn_argument(arguments, "bandwidth"),
                                          .cache = pdnn_argument(arguments, "cache"),
                                          .overhead = pdnn_argument(arguments, "overhead"),
                                          .onto = pdnn_argument(arguments, "onto"),
                                          .threads = pdnn_argument_whole(arguments, "threads", 0)};
}
