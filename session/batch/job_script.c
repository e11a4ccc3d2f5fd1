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

enum { NAME, DIRECTORY, PROGRAM, OPTIONS, GRACE, WARNING, TIME, NODES, VALUES };
static const char *const names[VALUES] = {"NAME",  "DIRECTORY", "PROGRAM", "OPTIONS",
                                          "GRACE", "WARNING",   "TIME",    "NODES"};

static void set_values(const struct pdnn_job *job, struct pdnn_str values[VALUES]) {
    const uint64_t seconds = seconds_of(job->limit_ns);
    pdnn_str_printf(&values[NAME], "%s", job->name);
    put_path(job, "", &values[DIRECTORY]);
    pdnn_str_printf(&values[PROGRAM], "%s", job->program);
    pdnn_str_printf(&values[OPTIONS], "%s", job->options);
    pdnn_str_printf(&values[GRACE], "%" PRIu64 "s", seconds_of(job->grace_ns));
    pdnn_str_printf(&values[WARNING], "%" PRIu64, seconds_of(job->warning_ns));
    if (seconds)
        pdnn_str_printf(&values[TIME], "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, seconds / 3600,
                        seconds / 60 % 60, seconds % 60);
    pdnn_str_printf(&values[NODES], "%zu", job->nodes);
}

/* The value whose @NAME@ the text begins with; VALUES: none. */
static size_t find_value(const char *text) {
    size_t length = strspn(text + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), value = 0;
    if (*text != '@' || text[1 + length] != '@')
        return VALUES;
    while (value < VALUES && (length != strlen(names[value]) || memcmp(text + 1, names[value], length) != 0))
        value++;
    return value;
}

static void fill_line(const struct pdnn_str *values, const char *text, size_t length, struct pdnn_str *out) {
    struct pdnn_str line = {0};
    bool lacks = false;
    for (size_t at = 0; at < length;) {
        const size_t value = find_value(text + at);
        if (value == VALUES) {
            pdnn_str_append(&line, text + at++, 1);
            continue;
        }
        pdnn_str_printf(&line, "%s", pdnn_str_text(&values[value]));
        lacks = lacks || !values[value].length;
        at += strlen(names[value]) + 2;
    }
    bool directive = text[0] == '#' && text[1] >= 'A' && text[1] <= 'Z';
    if (!directive || !lacks)
        pdnn_str_append(out, pdnn_str_text(&line), line.length);
    pdnn_str_finish(&line);
}

static void fill(const struct pdnn_job *job, const char *text, struct pdnn_str *out) {
    struct pdnn_str values[VALUES] = {0};
    set_values(job, values);
    while (*text) {
        size_t length = strcspn(text, "\n") + 1;
        fill_line(values, text, length, out);
        text += length;
    }
    for (size_t i = 0; i < VALUES; i++)
        pdnn_str_finish(&values[i]);
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
