/* Templates with values in place of @NAMES@. A line that is a directive (#SBATCH) is left out if one of its
 * values is empty. */
#include "results/table/escape.h"
#include "session/batch/job_script.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

const char *const pdnn_schedulers[] = {"slurm", "none", NULL};

static const char *const templates[PDNN_SCHEDULER_COUNT] = {pdnn_job_text_slurm, pdnn_job_text_none};

enum { SECOND = 1000000000 };

/* Seconds, rounded up. */
static uint64_t seconds_of(uint64_t ns) {
    return ns / SECOND + (ns % SECOND != 0);
}

static void put_path(const struct pdnn_job *job, const char *name, struct pdnn_str *out) {
    struct pdnn_str path = {0};
    pdnn_str_printf(&path, "%s%s", job->directory, name);
    pdnn_shell_quote(out, pdnn_str_text(&path));
    pdnn_str_finish(&path);
}

static void put_name(const struct pdnn_job *job, struct pdnn_str *out) {
    pdnn_str_printf(out, "%s", job->name);
}

static void put_directory(const struct pdnn_job *job, struct pdnn_str *out) {
    put_path(job, "", out);
}

static void put_program(const struct pdnn_job *job, struct pdnn_str *out) {
    pdnn_str_printf(out, "%s", job->program);
}

static void put_options(const struct pdnn_job *job, struct pdnn_str *out) {
    pdnn_str_printf(out, "%s", job->options);
}

static void put_grace(const struct pdnn_job *job, struct pdnn_str *out) {
    pdnn_str_printf(out, "%" PRIu64 "s", seconds_of(job->grace_ns));
}

static void put_warning(const struct pdnn_job *job, struct pdnn_str *out) {
    pdnn_str_printf(out, "%" PRIu64, seconds_of(job->warning_ns));
}

static void put_time(const struct pdnn_job *job, struct pdnn_str *out) {
    uint64_t seconds = seconds_of(job->limit_ns);
    if (seconds)
        pdnn_str_printf(out, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, seconds / 3600, seconds / 60 % 60,
                        seconds % 60);
}

static void put_nodes(const struct pdnn_job *job, struct pdnn_str *out) {
    pdnn_str_printf(out, "%zu", job->nodes);
}

static const struct value {
    const char *name;
    void (*put)(const struct pdnn_job *job, struct pdnn_str *out);
} values[] = {
    {"NAME", put_name},   {"DIRECTORY", put_directory}, {"PROGRAM", put_program}, {"OPTIONS", put_options},
    {"GRACE", put_grace}, {"WARNING", put_warning},     {"TIME", put_time},       {"NODES", put_nodes},
};

/* The value whose @NAME@ the text begins with, or NULL. */
static const struct value *find_value(const char *text) {
    size_t length = strspn(text + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    for (size_t i = 0; i < sizeof values / sizeof *values && text[1 + length] == '@'; i++)
        if (length == strlen(values[i].name) && memcmp(text + 1, values[i].name, length) == 0)
            return &values[i];
    return NULL;
}

static void fill_line(const struct pdnn_job *job, const char *text, size_t length, struct pdnn_str *out) {
    const struct value *value;
    struct pdnn_str line = {0};
    bool lacks = false;
    for (size_t at = 0; at < length;) {
        size_t before = line.length;
        if (text[at] == '@' && (value = find_value(text + at))) {
            value->put(job, &line);
            lacks = lacks || line.length == before;
            at += strlen(value->name) + 2;
        } else {
            pdnn_str_append(&line, text + at++, 1);
        }
    }
    bool directive = text[0] == '#' && text[1] >= 'A' && text[1] <= 'Z';
    if (!directive || !lacks)
        pdnn_str_append(out, pdnn_str_text(&line), line.length);
    pdnn_str_finish(&line);
}

static void fill(const struct pdnn_job *job, const char *text, struct pdnn_str *out) {
    while (*text) {
        size_t length = strcspn(text, "\n") + 1;
        fill_line(job, text, length, out);
        text += length;
    }
}

void pdnn_job_worker_script(const struct pdnn_job *job, enum pdnn_scheduler scheduler, struct pdnn_str *out) {
    fill(job, templates[scheduler], out);
}

void pdnn_job_merge_script(const struct pdnn_job *job, struct pdnn_str *out) {
    fill(job, pdnn_job_text_merge, out);
}

void pdnn_job_command(const struct pdnn_job *job, struct pdnn_str *out) {
    pdnn_str_printf(out, "bash ");
    put_path(job, "/jobs/worker.sh", out);
    for (size_t i = 0; i < job->n_passed; i++) {
        pdnn_str_append(out, " ", 1);
        pdnn_shell_quote(out, job->passed[i]);
    }
    pdnn_str_append(out, "\n", 1);
}
