#define _POSIX_C_SOURCE 200809L
#include "session/batch/submit.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/paths/folder.h"
#include "base/arena.h"
#include "results/table/escape.h"
#include "session/join/join.h"
#include "session/batch/scheduler_client.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a command, besides those of the user, and its end. */
enum { OWN_WORDS = 12 };

static const char jobs_name[] = "jobs", record_name[] = "jobs.csv", worker_name[] = "worker.sh",
                  merge_name[] = "merge.sh";
static const char record_header[] = "job_id,cluster,tasks,submitted_utc\n";

/* A busy controller may take a minute. */
static const uint64_t patience_ns = UINT64_C(120000000000);

static const char size_name[] = "MaxArraySize";

/* Copies the last line that is not blank. Returns line. */
static const char *last_line(const char *text, char line[PDNN_ERR_TEXT]) {
    size_t end = strlen(text);
    while (end && strchr("\n\r ", text[end - 1]))
        end--;
    size_t start = end;
    while (start && text[start - 1] != '\n')
        start--;
    snprintf(line, PDNN_ERR_TEXT, "%.*s", (int)(end - start), text + start);
    return line;
}

/* What a program says went wrong: the last line of its stderr, without its own name and "error: ". */
static const char *complaint_of(const struct pdnn_answer *answer, char line[PDNN_ERR_TEXT]) {
    const char *text = last_line(pdnn_str_text(&answer->errors), line);
    for (const char *mark = "error: ", *at; (at = strstr(text, mark)) != NULL;)
        text = at + strlen(mark);
    return text;
}

/* Sets *tasks to the most that one array may have, as scontrol says. PDNN_IO if it does not say;
 * PDNN_INVALID if it takes no arrays. */
static enum pdnn_status find_array_limit(size_t *tasks, struct pdnn_err *err) {
    static const char *const command[] = {"scontrol", "show", "config", NULL};
    struct pdnn_answer answer;
    char line[PDNN_ERR_TEXT];
    size_t size = 0; /* task numbers are below it */
    enum pdnn_status status = pdnn_scheduler_ask(command, patience_ns, &answer, err);
    const char *at = strstr(pdnn_str_text(&answer.out), size_name);
    if (status == PDNN_OK && answer.exit_status)
        status = pdnn_fail(err, PDNN_IO, "scontrol show config failed: %s", complaint_of(&answer, line));
    else if (status == PDNN_OK && (!at || sscanf(at + sizeof size_name - 1, " = %zu", &size) != 1))
        status = pdnn_fail(err, PDNN_IO, "scontrol show config has no %s", size_name);
    else if (status == PDNN_OK && !size)
        status = pdnn_fail(err, PDNN_INVALID, "Slurm takes no job arrays here (%s is 0)", size_name);
    else if (status == PDNN_OK)
        *tasks = size;
    pdnn_answer_finish(&answer);
    return status;
}

/* "1234" or "1234;cluster", the last line: a site's wrapper may print others before it. */
static bool parse_job(const char *text, struct pdnn_submitted *job) {
    char line[PDNN_ERR_TEXT];
    int end = 0;
    sscanf(last_line(text, line), "%23[0-9]%n;%63s%n", job->id, &end, job->cluster, &end);
    return end && !line[end];
}

/* Runs the sbatch command, which has --parsable. PDNN_INVALID with sbatch's own words if it refuses; PDNN_IO
 * if it cannot be run, or its answer is no job id. */
static enum pdnn_status run_sbatch(const char *const *command, struct pdnn_submitted *job,
                                   struct pdnn_err *err) {
    struct pdnn_answer answer;
    char line[PDNN_ERR_TEXT];
    enum pdnn_status status = pdnn_scheduler_ask(command, patience_ns, &answer, err);
    const char *why = complaint_of(&answer, line);
    if (status == PDNN_OK && answer.exit_status)
        status = pdnn_fail(err, PDNN_INVALID, "sbatch refused: %s", *why ? why : "it does not say why");
    else if (status == PDNN_OK && !parse_job(pdnn_str_text(&answer.out), job))
        status = pdnn_fail(err, PDNN_IO, "sbatch answered '%.200s', not with a job id",
                           pdnn_str_text(&answer.out));
    pdnn_answer_finish(&answer);
    return status;
}

const char *const pdnn_schedulers[] = {"slurm", "none", NULL};

/* The scripts are templates with values in place of @NAMES@. */
static const char *const templates[PDNN_SCHEDULER_COUNT] = {pdnn_job_text_slurm, pdnn_job_text_none};

enum { SECOND = 1000000000 };

/* Seconds, rounded up. */
static uint64_t seconds_of(uint64_t ns) {
    return ns / SECOND + (ns % SECOND != 0);
}

/* What all jobs of a submission share. */
struct submitting {
    const struct pdnn_submit_request *request;
    struct pdnn_submission *submission;
    struct pdnn_folder jobs; /* DIR/jobs; with its path alone in a dry run */
    const char *chdir;       /* the option that makes jobs run there */
    struct pdnn_arena arena; /* words of commands */
};

/* Appends the template with values in place of @NAMES@. */
static void fill(struct submitting *submitting, const char *text, struct pdnn_str *out) {
    const struct pdnn_job *job = &submitting->request->job;
    struct pdnn_arena *arena = &submitting->arena;
    const uint64_t seconds = seconds_of(job->limit_ns);
    struct pdnn_str directory = {0};
    pdnn_shell_quote(&directory, job->directory);
    const char *const values[][2] = {
        {"@NAME@", job->name},
        {"@DIRECTORY@", directory.text},
        {"@PROGRAM@", job->program},
        {"@OPTIONS@", job->options},
        {"@GRACE@", pdnn_arena_printf(arena, "%" PRIu64 "s", seconds_of(job->grace_ns))},
        {"@WARNING@", pdnn_arena_printf(arena, "%" PRIu64, seconds_of(job->warning_ns))},
        {"@NODES@", pdnn_arena_printf(arena, "%zu", job->nodes)},
        {"@TIME@", seconds
                       ? pdnn_arena_printf(arena, "#SBATCH --time=%" PRIu64 ":%02" PRIu64 ":%02" PRIu64 "\n",
                                           seconds / 3600, seconds / 60 % 60, seconds % 60)
                       : ""},
    };
    const size_t n_values = sizeof values / sizeof *values;
    while (*text) {
        size_t i = 0;
        while (i < n_values && strncmp(text, values[i][0], strlen(values[i][0])) != 0)
            i++;
        if (i < n_values)
            pdnn_str_printf(out, "%s", values[i][1]);
        else
            pdnn_str_append(out, text, 1);
        text += i < n_values ? strlen(values[i][0]) : 1;
    }
    pdnn_str_finish(&directory);
}

/* Appends the command that runs the workers without a scheduler, on the user's hosts, and then the merge. */
static void put_command(const struct submitting *submitting, struct pdnn_str *out) {
    const struct pdnn_job *job = &submitting->request->job;
    char path[PDNN_FOLDER_TEXT];
    pdnn_str_printf(out, "bash ");
    pdnn_shell_quote(out, pdnn_folder_path(&submitting->jobs, worker_name, path));
    for (size_t i = 0; i < job->n_passed; i++) {
        pdnn_str_append(out, " ", 1);
        pdnn_shell_quote(out, job->passed[i]);
    }
    pdnn_str_append(out, "\n", 1);
}

/* Writes the scripts, or in a dry run says them. */
static enum pdnn_status put_scripts(struct submitting *submitting, struct pdnn_err *err) {
    const struct pdnn_submit_request *request = submitting->request;
    const struct {
        const char *name, *template;
    } scripts[] = {{worker_name, templates[request->scheduler]}, {merge_name, pdnn_job_text_merge}};
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < 2 && status == PDNN_OK; i++) {
        struct pdnn_str text = {0};
        fill(submitting, scripts[i].template, &text);
        if (request->dry)
            pdnn_str_printf(&submitting->submission->text, "==> %s/%s/%s <==\n%s\n", request->job.directory,
                            jobs_name, scripts[i].name, pdnn_str_text(&text));
        else
            status = pdnn_folder_replace(&submitting->jobs, scripts[i].name, text.text, text.length, err);
        pdnn_str_finish(&text);
    }
    return status;
}

/* Opens DIR/jobs. */
static enum pdnn_status open_jobs(struct submitting *submitting, struct pdnn_err *err) {
    const struct pdnn_submit_request *request = submitting->request;
    struct pdnn_folder *jobs = &submitting->jobs;
    char path[PDNN_FOLDER_TEXT];
    if (!pdnn_path_join(jobs->path, request->job.directory, jobs_name))
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", request->job.directory);
    submitting->chdir = pdnn_arena_printf(&submitting->arena, "--chdir=%s", jobs->path);
    if (request->dry)
        return PDNN_OK;
    memcpy(path, jobs->path, sizeof path);
    return pdnn_join_make_directory(request->job.directory, request->spec_text, err) == PDNN_OK &&
                   pdnn_folder_ensure(path, err) == PDNN_OK
               ? pdnn_folder_open(jobs, path, err)
               : err->status;
}

/* Appends a row: what Slurm runs must be known even if this process dies now. */
static enum pdnn_status record(const struct pdnn_folder *jobs, const struct pdnn_submitted *submitted,
                               struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT], utc[PDNN_UTC_TEXT];
    struct stat info;
    struct pdnn_str row = {0};
    const int fd =
        openat(jobs->fd, record_name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool is_written = fd >= 0 && fstat(fd, &info) == 0;
    pdnn_str_printf(&row, "%s%s,%s,", is_written && info.st_size ? "" : record_header, submitted->id,
                    submitted->cluster);
    if (submitted->tasks)
        pdnn_str_printf(&row, "%zu", submitted->tasks);
    pdnn_str_printf(&row, ",%s\n", pdnn_utc_format(pdnn_clock_unix_ms(), utc));
    is_written = is_written && pdnn_fd_write(fd, row.text, row.length, NULL) == PDNN_OK && fsync(fd) == 0;
    const int cause = errno;
    pdnn_str_finish(&row);
    if (fd >= 0)
        close(fd);
    return is_written ? PDNN_OK
                      : pdnn_fail(err, PDNN_IO, "%s: cannot be written: %s",
                                  pdnn_folder_path(jobs, record_name, path), strerror(cause));
}

/* One sbatch: runs it and records the job, or in a dry run says it. own: what a user does not have to know,
 * such as which tasks; up to NULL. */
static enum pdnn_status submit_one(struct submitting *submitting, const char *const *own, const char *script,
                                   size_t tasks, struct pdnn_err *err) {
    const struct pdnn_job *job = &submitting->request->job;
    struct pdnn_submission *submission = submitting->submission;
    struct pdnn_submitted *submitted = &submission->jobs[submission->n_jobs];
    char path[PDNN_FOLDER_TEXT];
    const char **word = pdnn_arena_alloc(&submitting->arena, OWN_WORDS + job->n_passed, sizeof *word);
    size_t count = 0;
    word[count++] = "sbatch";
    word[count++] = "--parsable";
    for (size_t i = 0; i < job->n_passed; i++)
        word[count++] = job->passed[i];
    for (; *own; own++)
        word[count++] = *own;
    word[count++] = pdnn_folder_path(&submitting->jobs, script, path);
    *submitted = (struct pdnn_submitted){.tasks = tasks};
    if (submitting->request->dry) {
        for (size_t i = 0; i < count; i++) {
            pdnn_str_printf(&submission->text, "%s", i ? " " : "");
            pdnn_shell_quote(&submission->text, word[i]);
        }
        pdnn_str_printf(&submission->text, "\n");
        snprintf(submitted->id, sizeof submitted->id, "JOB");
        submission->n_jobs++;
        return PDNN_OK;
    }
    if (run_sbatch(word, submitted, err) != PDNN_OK)
        return err->status;
    submission->n_jobs++;
    return record(&submitting->jobs, submitted, err);
}

/* The merge depends on all arrays, and runs where they do. */
static enum pdnn_status submit_merge(struct submitting *submitting, struct pdnn_err *err) {
    const struct pdnn_submission *submission = submitting->submission;
    struct pdnn_arena *arena = &submitting->arena;
    const char *cluster = submission->jobs[0].cluster, *dependency = "--dependency=afterany";
    for (size_t i = 0; i < submission->n_jobs; i++)
        dependency = pdnn_arena_printf(arena, "%s:%s", dependency, submission->jobs[i].id);
    const char *const own[] = {pdnn_arena_printf(arena, "--job-name=%s-merge", submitting->request->job.name),
                               "--nodes=1",
                               "--ntasks=1",
                               "--output=merge-%j.log",
                               submitting->chdir,
                               dependency,
                               *cluster ? pdnn_arena_printf(arena, "--clusters=%s", cluster) : NULL,
                               NULL};
    return submit_one(submitting, own, merge_name, 0, err);
}

static enum pdnn_status submit_all(struct submitting *submitting, size_t longest, struct pdnn_err *err) {
    size_t left = submitting->request->job.workers;
    enum pdnn_status status = PDNN_OK;
    if ((left - 1) / longest + 2 > PDNN_SUBMIT_JOBS)
        return pdnn_fail(err, PDNN_INVALID, "%zu workers need more than %d arrays of at most %zu tasks", left,
                         PDNN_SUBMIT_JOBS - 1, longest);
    while (left && status == PDNN_OK) {
        size_t tasks = left < longest ? left : longest;
        const char *const own[] = {submitting->chdir,
                                   pdnn_arena_printf(&submitting->arena, "--array=0-%zu", tasks - 1), NULL};
        status = submit_one(submitting, own, worker_name, tasks, err);
        left -= tasks;
    }
    return status == PDNN_OK ? submit_merge(submitting, err) : status;
}

enum pdnn_status pdnn_submit_check(const struct pdnn_submit_request *request, struct pdnn_err *err) {
    const struct pdnn_job *job = &request->job;
    bool slurm = request->scheduler == PDNN_SCHEDULER_SLURM;
    for (size_t i = 0; slurm && i < job->n_passed; i++) {
        const char *text = job->passed[i];
        if (strncmp(text, "--array", 7) == 0 || strncmp(text, "-a", 2) == 0)
            return pdnn_fail(err, PDNN_INVALID, "'%s' cannot be passed on: --workers sets the array", text);
        if (strncmp(text, "--wrap", 6) == 0)
            return pdnn_fail(err, PDNN_INVALID, "'%s' cannot be passed on: the job is submit's own", text);
    }
    if (!slurm && job->nodes > 1)
        return pdnn_fail(err, PDNN_INVALID,
                         "--nodes is for Slurm: elsewhere mpirun does not learn a worker's nodes by itself");
    if (!slurm && job->n_passed && job->n_passed != job->workers)
        return pdnn_fail(err, PDNN_INVALID, "%zu hosts for %zu workers", job->n_passed, job->workers);
    if (!slurm && !job->n_passed && job->workers > 1)
        return pdnn_fail(err, PDNN_INVALID,
                         "--scheduler none needs a host for each worker after --; workers on other cores of "
                         "one machine are other setups, which one sweep never mixes");
    return PDNN_OK;
}

enum pdnn_status pdnn_submit(const struct pdnn_submit_request *request, struct pdnn_submission *submission,
                             struct pdnn_err *err) {
    struct submitting submitting = {.request = request, .submission = submission, .jobs.fd = -1};
    bool slurm = request->scheduler == PDNN_SCHEDULER_SLURM;
    size_t longest = request->job.workers;
    *submission = (struct pdnn_submission){0};
    if (slurm && !request->dry && find_array_limit(&longest, err) != PDNN_OK)
        return pdnn_wrap(err, "Slurm cannot be used (--scheduler has others)");
    enum pdnn_status status = open_jobs(&submitting, err);
    if (status == PDNN_OK)
        status = put_scripts(&submitting, err);
    if (status == PDNN_OK && request->dry)
        pdnn_str_printf(&submission->text, "==> commands <==\n");
    if (status == PDNN_OK && slurm)
        status = submit_all(&submitting, longest, err);
    else if (status == PDNN_OK)
        put_command(&submitting, &submission->text);
    pdnn_folder_close(&submitting.jobs);
    pdnn_arena_finish(&submitting.arena);
    return status;
}
