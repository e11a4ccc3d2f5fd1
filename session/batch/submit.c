#define _POSIX_C_SOURCE 200809L
#include "session/batch/submit.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/paths/folder.h"
#include "base/memory.h"
#include "results/table/escape.h"
#include "results/store/tables.h"
#include "session/join/shared_directory.h"
#include "base/units.h"
#include "session/batch/scheduler_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBER_TEXT = 40 };

static const char jobs_name[] = "jobs", record_name[] = "jobs.csv", worker_name[] = "worker.sh",
                  merge_name[] = "merge.sh";
static const char record_header[] = "job_id,cluster,tasks,submitted_utc\n";

/* A busy controller may take a minute. */
static const uint64_t patience_ns = UINT64_C(120000000000);

static const char size_name[] = "MaxArraySize";

/* MaxArraySize in what scontrol printed; false if it is not there. Task numbers are below it. */
static bool parse_array_size(const char *text, size_t *size) {
    const char *at = strstr(text, size_name);
    return at && sscanf(at + sizeof size_name - 1, " = %zu", size) == 1;
}

static const char *last_line(const char *text, size_t *length) {
    size_t end = strlen(text);
    while (end && strchr("\n\r ", text[end - 1]))
        end--;
    size_t start = end;
    while (start && text[start - 1] != '\n')
        start--;
    *length = end - start;
    return text + start;
}

/* What a program says went wrong: the last line of its stderr, without its own name and "error: ". */
static const char *complaint_of(const struct pdnn_answer *answer, char line[PDNN_ERR_TEXT]) {
    size_t length;
    const char *text = last_line(pdnn_str_text(&answer->errors), &length), *end = text + length;
    for (const char *mark = "error: ", *at; (at = strstr(text, mark)) && at < end;)
        text = at + strlen(mark);
    snprintf(line, PDNN_ERR_TEXT, "%.*s", (int)(end - text), text);
    return line;
}

/* Sets *tasks to the most that one array may have, as scontrol says. PDNN_IO if it does not say;
 * PDNN_INVALID if it takes no arrays. */
static enum pdnn_status find_array_limit(size_t *tasks, struct pdnn_err *err) {
    static const char *const command[] = {"scontrol", "show", "config", NULL};
    struct pdnn_answer answer;
    char line[PDNN_ERR_TEXT];
    size_t size;
    enum pdnn_status status = pdnn_scheduler_ask(command, patience_ns, &answer, err);
    if (status == PDNN_OK) {
        if (answer.exit_status)
            status = pdnn_fail(err, PDNN_IO, "scontrol show config failed: %s", complaint_of(&answer, line));
        else if (!parse_array_size(pdnn_str_text(&answer.out), &size))
            status = pdnn_fail(err, PDNN_IO, "scontrol show config has no %s", size_name);
        else if (!size)
            status = pdnn_fail(err, PDNN_INVALID, "Slurm takes no job arrays here (%s is 0)", size_name);
        else
            *tasks = size;
    }
    pdnn_answer_finish(&answer);
    return status;
}

/* "1234" or "1234;cluster", the last line: a site's wrapper may print others before it. */
static bool parse_job(const char *text, struct pdnn_slurm_job *job) {
    size_t length;
    const char *line = last_line(text, &length);
    size_t digits = strspn(line, "0123456789");
    if (!digits || digits >= sizeof job->id || digits > length)
        return false;
    size_t rest = length - digits;
    if (rest && (line[digits] != ';' || rest < 2 || rest > sizeof job->cluster))
        return false;
    snprintf(job->id, sizeof job->id, "%.*s", (int)digits, line);
    snprintf(job->cluster, sizeof job->cluster, "%.*s", rest ? (int)rest - 1 : 0, line + digits + 1);
    return true;
}

/* Runs the sbatch command, which has --parsable. PDNN_INVALID with sbatch's own words if it refuses; PDNN_IO
 * if it cannot be run, or its answer is no job id. */
static enum pdnn_status run_sbatch(const char *const *command, struct pdnn_slurm_job *job,
                                   struct pdnn_err *err) {
    struct pdnn_answer answer;
    char line[PDNN_ERR_TEXT];
    enum pdnn_status status = pdnn_scheduler_ask(command, patience_ns, &answer, err);
    if (status == PDNN_OK) {
        if (answer.exit_status)
            status = pdnn_fail(err, PDNN_INVALID, "sbatch refused: %s",
                               *complaint_of(&answer, line) ? line : "it does not say why");
        else if (!parse_job(pdnn_str_text(&answer.out), job))
            status = pdnn_fail(err, PDNN_IO, "sbatch answered '%.200s', not with a job id",
                               pdnn_str_text(&answer.out));
    }
    pdnn_answer_finish(&answer);
    return status;
}

/* A command with room for the user's options. */
struct command {
    const char **word; /* heap, NULL-terminated */
    size_t count;
};

static enum pdnn_status write_text(const struct pdnn_folder *folder, const char *name, struct pdnn_str *text,
                                   struct pdnn_err *err) {
    enum pdnn_status status = pdnn_folder_replace(folder, name, pdnn_str_text(text), text->length, err);
    pdnn_str_finish(text);
    return status;
}

static enum pdnn_status write_scripts(const struct pdnn_submit_request *request,
                                      const struct pdnn_folder *jobs, struct pdnn_err *err) {
    struct pdnn_str worker = {0}, merge = {0};
    pdnn_job_worker_script(&request->job, request->scheduler, &worker);
    pdnn_job_merge_script(&request->job, &merge);
    enum pdnn_status status = write_text(jobs, worker_name, &worker, err);
    if (status == PDNN_OK)
        status = write_text(jobs, merge_name, &merge, err);
    pdnn_str_finish(&merge);
    return status;
}

/* Opens DIR/jobs with its scripts. */
static enum pdnn_status prepare(const struct pdnn_submit_request *request, struct pdnn_folder *jobs,
                                struct pdnn_err *err) {
    struct pdnn_folder folder = {.fd = -1};
    char path[PDNN_FOLDER_TEXT];
    enum pdnn_status status = pdnn_join_make_directory(request->job.directory, request->spec_text, err);
    if (status == PDNN_OK)
        status = pdnn_folder_open(&folder, request->job.directory, err);
    if (status == PDNN_OK)
        status = pdnn_folder_ensure(pdnn_folder_path(&folder, jobs_name, path), err);
    if (status == PDNN_OK)
        status = pdnn_folder_open(jobs, path, err);
    if (status == PDNN_OK)
        status = write_scripts(request, jobs, err);
    pdnn_folder_close(&folder);
    return status;
}

/* What the scripts need and a user does not have to know: where the logs go, and which tasks. */
static void make_command(const struct pdnn_job *job, const char *const *own, size_t n_own, const char *script,
                         struct command *command) {
    *command = (struct command){pdnn_alloc(n_own + job->n_passed + 4, sizeof *command->word), 0};
    command->word[command->count++] = "sbatch";
    command->word[command->count++] = "--parsable";
    for (size_t i = 0; i < job->n_passed; i++)
        command->word[command->count++] = job->passed[i];
    for (size_t i = 0; i < n_own; i++)
        command->word[command->count++] = own[i];
    command->word[command->count++] = script;
}

static void put_command(const struct command *command, struct pdnn_str *out) {
    for (size_t i = 0; i < command->count; i++) {
        pdnn_str_printf(out, "%s", i ? " " : "");
        pdnn_shell_quote(out, command->word[i]);
    }
    pdnn_str_append(out, "\n", 1);
}

/* Appends a row: what Slurm runs must be known even if this process dies now. */
static enum pdnn_status record(const struct pdnn_folder *jobs, const struct pdnn_submitted *submitted,
                               struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT], utc[PDNN_UTC_TEXT];
    struct stat info;
    struct pdnn_str row = {0};
    enum pdnn_status status = PDNN_OK;
    pdnn_folder_path(jobs, record_name, path);
    int fd = openat(jobs->fd, record_name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0 || fstat(fd, &info) != 0)
        status = pdnn_fail(err, PDNN_IO, "%s: cannot be written: %s", path, strerror(errno));
    else {
        pdnn_str_printf(&row, "%s%s,%s,", info.st_size ? "" : record_header, submitted->job.id,
                        submitted->job.cluster);
        if (submitted->tasks)
            pdnn_str_printf(&row, "%zu", submitted->tasks);
        pdnn_str_printf(&row, ",%s\n", pdnn_utc_format(pdnn_clock_unix_ms(), utc));
        status = pdnn_fd_write(fd, row.text, row.length, err);
        if (status == PDNN_OK && fsync(fd) != 0)
            status = pdnn_fail(err, PDNN_IO, "cannot sync: %s", strerror(errno));
        if (status != PDNN_OK)
            pdnn_wrap(err, "%s", path);
    }
    if (fd >= 0 && close(fd) != 0 && status == PDNN_OK)
        status = pdnn_fail(err, PDNN_IO, "%s: cannot be written: %s", path, strerror(errno));
    pdnn_str_finish(&row);
    return status;
}

/* One sbatch: runs it and records the job, or in a dry run says it. */
static enum pdnn_status submit_one(const struct pdnn_submit_request *request, const struct pdnn_folder *jobs,
                                   const struct command *command, size_t tasks,
                                   struct pdnn_submission *submission, struct pdnn_err *err) {
    struct pdnn_submitted *submitted = &submission->jobs[submission->n_jobs];
    *submitted = (struct pdnn_submitted){.tasks = tasks};
    if (request->dry) {
        put_command(command, &submission->text);
        snprintf(submitted->job.id, sizeof submitted->job.id, "JOB");
        submission->n_jobs++;
        return PDNN_OK;
    }
    if (run_sbatch(command->word, &submitted->job, err) != PDNN_OK)
        return err->status;
    submission->n_jobs++;
    return record(jobs, submitted, err);
}

static enum pdnn_status submit_array(const struct pdnn_submit_request *request,
                                     const struct pdnn_folder *jobs, const char *script, size_t tasks,
                                     struct pdnn_submission *submission, struct pdnn_err *err) {
    char array[NUMBER_TEXT];
    struct command command;
    struct pdnn_str directory = {0};
    snprintf(array, sizeof array, "--array=0-%zu", tasks - 1);
    pdnn_str_printf(&directory, "--chdir=%s", jobs->path);
    const char *const own[] = {pdnn_str_text(&directory), array};
    make_command(&request->job, own, 2, script, &command);
    enum pdnn_status status = submit_one(request, jobs, &command, tasks, submission, err);
    free(command.word);
    pdnn_str_finish(&directory);
    return status;
}

/* The merge depends on all arrays, and runs where they do. */
static enum pdnn_status submit_merge(const struct pdnn_submit_request *request,
                                     const struct pdnn_folder *jobs, const char *script,
                                     struct pdnn_submission *submission, struct pdnn_err *err) {
    struct command command;
    struct pdnn_str name = {0}, directory = {0}, dependency = {0}, cluster = {0};
    pdnn_str_printf(&name, "--job-name=%s-merge", request->job.name);
    pdnn_str_printf(&directory, "--chdir=%s", jobs->path);
    pdnn_str_printf(&dependency, "--dependency=afterany");
    for (size_t i = 0; i < submission->n_jobs; i++)
        pdnn_str_printf(&dependency, ":%s", submission->jobs[i].job.id);
    pdnn_str_printf(&cluster, "--clusters=%s", submission->jobs[0].job.cluster);
    const char *const own[] = {pdnn_str_text(&name),
                               "--nodes=1",
                               "--ntasks=1",
                               "--output=merge-%j.log",
                               pdnn_str_text(&directory),
                               pdnn_str_text(&dependency),
                               pdnn_str_text(&cluster)};
    size_t n_own = sizeof own / sizeof *own - !*submission->jobs[0].job.cluster;
    make_command(&request->job, own, n_own, script, &command);
    enum pdnn_status status = submit_one(request, jobs, &command, 0, submission, err);
    free(command.word);
    pdnn_str_finish(&name);
    pdnn_str_finish(&directory);
    pdnn_str_finish(&dependency);
    pdnn_str_finish(&cluster);
    return status;
}

static enum pdnn_status submit_all(const struct pdnn_submit_request *request, const struct pdnn_folder *jobs,
                                   size_t longest, struct pdnn_submission *submission, struct pdnn_err *err) {
    char worker[PDNN_FOLDER_TEXT], merge[PDNN_FOLDER_TEXT];
    size_t left = request->job.workers;
    enum pdnn_status status = PDNN_OK;
    pdnn_folder_path(jobs, worker_name, worker);
    pdnn_folder_path(jobs, merge_name, merge);
    if ((left - 1) / longest + 2 > PDNN_SUBMIT_JOBS)
        return pdnn_fail(err, PDNN_INVALID, "%zu workers need more than %d arrays of at most %zu tasks", left,
                         PDNN_SUBMIT_JOBS - 1, longest);
    while (left && status == PDNN_OK) {
        size_t tasks = left < longest ? left : longest;
        status = submit_array(request, jobs, worker, tasks, submission, err);
        left -= tasks;
    }
    if (status == PDNN_OK)
        status = submit_merge(request, jobs, merge, submission, err);
    return status;
}

static void put_script(const struct pdnn_job *job, const char *name, const struct pdnn_str *script,
                       struct pdnn_str *out) {
    pdnn_str_printf(out, "==> %s/%s/%s <==\n%s\n", job->directory, jobs_name, name, pdnn_str_text(script));
}

/* All that would be written and run. */
static void describe(const struct pdnn_submit_request *request, struct pdnn_str *out) {
    struct pdnn_str worker = {0}, merge = {0};
    pdnn_job_worker_script(&request->job, request->scheduler, &worker);
    pdnn_job_merge_script(&request->job, &merge);
    put_script(&request->job, worker_name, &worker, out);
    put_script(&request->job, merge_name, &merge, out);
    pdnn_str_printf(out, "==> commands <==\n");
    pdnn_str_finish(&worker);
    pdnn_str_finish(&merge);
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
    struct pdnn_folder jobs = {.fd = -1};
    bool slurm = request->scheduler == PDNN_SCHEDULER_SLURM;
    size_t longest = request->job.workers;
    *submission = (struct pdnn_submission){0};
    enum pdnn_status status = PDNN_OK;
    if (slurm && !request->dry && find_array_limit(&longest, err) != PDNN_OK)
        status = pdnn_wrap(err, "Slurm cannot be used (--scheduler has others)");
    if (status == PDNN_OK && request->dry) {
        describe(request, &submission->text);
        snprintf(jobs.path, sizeof jobs.path, "%.*s/%s", PDNN_FOLDER_TEXT - 128, request->job.directory,
                 jobs_name);
    }
    if (status == PDNN_OK && !request->dry)
        status = prepare(request, &jobs, err);
    if (status == PDNN_OK && slurm)
        status = submit_all(request, &jobs, longest, submission, err);
    if (status == PDNN_OK && !slurm)
        pdnn_job_command(&request->job, &submission->text);
    pdnn_folder_close(&jobs);
    return status;
}

void pdnn_submission_finish(struct pdnn_submission *submission) {
    pdnn_str_finish(&submission->text);
}
