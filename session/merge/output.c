#define _DEFAULT_SOURCE /* getentropy */
/* The merged directory, with its tables and small files: built under a temporary name beside its own, or
 * inside a joined directory. */
#include "base/file.h"
#include "base/memory.h"
#include "results/store/journal.h"
#include "results/store/library.h"
#include "results/store/tables.h"
#include "results/table/write.h"
#include "runtime/protocol/standing.h"
#include "session/merge/merge.h"
#include "session/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* In the order in which they get their names: the journal last, since it is what everything else is made
 * from. */
static const char *const names[] = {"environment.yaml", "spec.yaml",     "hosts.csv",
                                    "ceilings.csv",     "operators.csv", "results.csv",
                                    "journal-ops.csv",  "ops.csv",       "journal.csv"};
enum { N_NAMES = sizeof names / sizeof *names };

/* Whether it is a joined directory, and one of those that are merged. */
static bool is_joined_source(const struct pdnn_merge_job *job, const char *output) {
    struct stat info, source;
    bool is_source = false;
    for (size_t i = 0; i < job->request->n_sources && stat(output, &info) == 0; i++)
        is_source = is_source || (stat(job->request->sources[i], &source) == 0 &&
                                  source.st_dev == info.st_dev && source.st_ino == info.st_ino);
    return is_source && pdnn_path_has(output, "parts");
}

static enum pdnn_status begin_output(struct pdnn_merge_job *job, struct pdnn_err *err) {
    const char *output = job->request->output;
    struct stat info;
    uint64_t random;
    size_t length = strlen(output);
    while (length > 1 && output[length - 1] == '/')
        length--;
    job->is_inside = is_joined_source(job, output);
    if (pdnn_link_check(output, err) != PDNN_OK)
        return err->status;
    /* An empty directory makes room. */
    if (!job->is_inside && rmdir(output) != 0 && lstat(output, &info) == 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: exists already; give merge a new directory with -o", output);
    if (getentropy(&random, sizeof random) != 0)
        return pdnn_fail(err, PDNN_IO, "no random numbers: %s", strerror(errno));
    const char *temporary = pdnn_arena_printf(&job->arena, "%.*s%sparadnn-merge-%016" PRIx64 ".tmp",
                                              (int)length, output, job->is_inside ? "/" : ".", random);
    if (mkdir(temporary, 0777) != 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: cannot be created: %s", output, strerror(errno));
    job->temporary = temporary;
    return pdnn_folder_open(&job->output, temporary, err);
}

static enum pdnn_status replace(struct pdnn_merge_job *job, const char *name, struct pdnn_str *text,
                                struct pdnn_err *err) {
    enum pdnn_status status = pdnn_folder_replace(&job->output, name, pdnn_str_text(text), text->length, err);
    pdnn_str_finish(text);
    return status;
}

/* Writes the table, unless it is empty, and finishes it. */
static enum pdnn_status write_table(struct pdnn_merge_job *job, const char *name, struct pdnn_table *table,
                                    struct pdnn_err *err) {
    struct pdnn_str text = {0};
    const bool has_rows = table->n_rows;
    if (has_rows)
        pdnn_table_csv(&text, table);
    pdnn_table_finish(table);
    return has_rows ? replace(job, name, &text, err) : PDNN_OK;
}

/* Of all hosts, in the order of their first instances. */
static enum pdnn_status write_roof_rows(struct pdnn_merge_job *job, struct pdnn_err *err) {
    struct pdnn_table table;
    bool *is_there = pdnn_arena_alloc(&job->arena, job->hosts.count + 1, sizeof *is_there);
    pdnn_table_init(&table, &pdnn_ceilings_def);
    for (size_t k = 0; k < job->ids.count; k++) {
        const uint32_t host = job->of[job->order[k]].host;
        const size_t count = is_there[host] ? 0 : job->roofs[host].count;
        is_there[host] = true;
        for (size_t i = 0; i < count; i++) {
            struct pdnn_roof_row row = job->roofs[host].row[i];
            snprintf(row.host, sizeof row.host, "%.*s", PDNN_ROOF_ROW_HOST_TEXT - 1,
                     job->hosts.count == 1 ? "" : job->hosts.text[host]);
            pdnn_roof_rows_add(&row, &table);
        }
    }
    return write_table(job, "ceilings.csv", &table, err);
}

/* The host of each instance, where there are several: what the journal does not say. */
static enum pdnn_status write_hosts(struct pdnn_merge_job *job, struct pdnn_err *err) {
    struct pdnn_table table;
    pdnn_table_init(&table, &pdnn_hosts_def);
    for (size_t i = 0; i < job->ids.count && job->hosts.count > 1; i++) {
        const size_t id = job->order[i];
        const char *const texts[] = {job->ids.text[id], job->hosts.text[job->of[id].host]};
        pdnn_table_add_texts(&table, PDNN_HOSTS_COLUMNS, texts);
    }
    return write_table(job, "hosts.csv", &table, err);
}

/* One environment of several sources; which is the first does not depend on their order. Whatever shards it
 * was made of, the result is a whole sweep. */
static enum pdnn_status write_environment(struct pdnn_merge_job *job, struct pdnn_err *err) {
    struct pdnn_str text = {0}, all = {0};
    const char **texts = pdnn_arena_alloc(&job->arena, job->n_sources, sizeof *texts);
    for (size_t i = 0; i < job->n_sources; i++)
        texts[i] = job->source[i].environment;
    qsort(texts, job->n_sources, sizeof *texts, pdnn_merge_by_text);
    /* The text of one machine begins with its date: the latest stands for all. */
    if (job->hosts.count == 1)
        pdnn_str_printf(&all, "%s", texts[job->n_sources - 1]);
    else
        pdnn_environment_join(texts, job->n_sources, &all);
    const char *rest = pdnn_str_text(&all), *shard = strstr(rest, "\nshard: ");
    if (shard) {
        pdnn_str_printf(&text, "%.*s\nshard: \"\"", (int)(shard - rest), rest);
        rest = shard + 1 + strcspn(shard + 1, "\n");
    }
    pdnn_str_printf(&text, "%s", rest);
    pdnn_str_finish(&all);
    return replace(job, "environment.yaml", &text, err);
}

/* The rows of all sources' libraries; of copies, which are alike in all columns, one. */
static enum pdnn_status write_library(struct pdnn_merge_job *job, struct pdnn_err *err) {
    struct pdnn_table joined, distinct, table;
    size_t keys[PDNN_LIBRARY_COLUMNS];
    enum pdnn_status status = PDNN_OK;
    pdnn_table_init(&joined, &pdnn_library_def);
    pdnn_table_init(&distinct, &pdnn_library_def);
    for (size_t i = 0; i < job->n_sources && status == PDNN_OK; i++) {
        status = pdnn_library_read(job->source[i].path, &table, err);
        for (size_t row = 0; row < table.n_rows; row++)
            pdnn_table_copy_row(&joined, &table, row);
        pdnn_table_finish(&table);
    }
    for (size_t i = 0; i < PDNN_LIBRARY_COLUMNS; i++)
        keys[i] = i;
    struct pdnn_groups alike = pdnn_groups_make(&joined, NULL, keys, PDNN_LIBRARY_COLUMNS);
    for (size_t i = 0; i < alike.count && status == PDNN_OK; i++)
        pdnn_table_copy_row(&distinct, &joined, alike.group[i].at[0]);
    pdnn_groups_finish(&alike);
    pdnn_table_finish(&joined);
    const enum pdnn_status written = write_table(job, "operators.csv", &distinct, err);
    return status == PDNN_OK ? written : status;
}

/* A file of the merged journal. */
struct file {
    int fd; /* -1: not open */
    bool has_header;
    char path[PDNN_FOLDER_TEXT];
};

struct writing {
    struct pdnn_merge_job *job;
    struct file visits_file, ops_file;
    struct pdnn_tables tables;
    struct pdnn_visits visits;  /* of the instance at hand */
    struct pdnn_scatter *pools; /* by host */
};

static enum pdnn_status create(const struct pdnn_folder *folder, const char *name, struct file *file,
                               struct pdnn_err *err) {
    pdnn_folder_path(folder, name, file->path);
    file->fd = openat(folder->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return file->fd >= 0 ? PDNN_OK
                         : pdnn_fail(err, PDNN_IO, "%s: cannot be created: %s", file->path, strerror(errno));
}

/* Appends rows, which begin with a header: that of the first ones is the file's. */
static enum pdnn_status put(struct file *file, const struct pdnn_str *rows, struct pdnn_err *err) {
    const size_t from = file->has_header ? strcspn(rows->text, "\n") + 1 : 0;
    file->has_header = true;
    return pdnn_fd_write(file->fd, rows->text + from, rows->length - from, err) == PDNN_OK
               ? PDNN_OK
               : pdnn_wrap(err, "%s", file->path);
}

static enum pdnn_status end(struct file *file, enum pdnn_status status, struct pdnn_err *err) {
    if (status == PDNN_OK && fsync(file->fd) != 0)
        status = pdnn_fail(err, PDNN_IO, "%s: cannot sync: %s", file->path, strerror(errno));
    if (file->fd >= 0 && close(file->fd) != 0 && status == PDNN_OK)
        status = pdnn_fail(err, PDNN_IO, "%s: cannot close: %s", file->path, strerror(errno));
    return status;
}

static struct pdnn_scatter scatter_of(const struct pdnn_merge_job *job,
                                      const struct pdnn_merge_instance *of) {
    double *medians = pdnn_alloc(of->end - of->from + 1, sizeof *medians);
    size_t count = 0;
    for (size_t i = of->from; i < of->end; i++) {
        const struct pdnn_visit visit = pdnn_merge_visit_of(&job->visits[i]);
        if (!job->visits[i].is_copy && pdnn_visit_is(&visit, PDNN_VISITS_ROW, &of->standing))
            medians[count++] = visit.median_ns;
    }
    const struct pdnn_scatter scatter = pdnn_visits_scatter(medians, count);
    free(medians);
    return scatter;
}

/* In the order of the merged journal: rounding depends on the order of a sum, and the result must not depend
 * on that of the sources. */
static void pool_hosts(struct writing *writing) {
    const struct pdnn_merge_job *job = writing->job;
    struct pdnn_scatter *scatters = pdnn_alloc(job->ids.count + 1, sizeof *scatters);
    writing->pools = pdnn_alloc(job->hosts.count + 1, sizeof *writing->pools);
    for (size_t host = 0; host < job->hosts.count; host++) {
        size_t count = 0;
        for (size_t i = 0; i < job->ids.count; i++)
            if (job->of[job->order[i]].host == host)
                scatters[count++] = scatter_of(job, &job->of[job->order[i]]);
        writing->pools[host] = pdnn_scatter_pool(scatters, count);
    }
    free(scatters);
}

/* A part of a source's file, which is there. The caller frees *bytes, also after a failure. */
static enum pdnn_status read_part(const struct pdnn_log_scan *file, uint64_t offset, size_t length,
                                  char **bytes, struct pdnn_err *err) {
    size_t used = 0;
    *bytes = pdnn_alloc(length + 1, 1);
    while (used < length) {
        ssize_t got = pread(file->fd, *bytes + used, length - used, (off_t)(offset + used));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return pdnn_fail(err, PDNN_IO, "%s: %s", file->path,
                             got ? strerror(errno) : "became shorter while it was read");
        used += (size_t)got;
    }
    return PDNN_OK;
}

/* Appends the row under another number; `from`: where the old one, of `digits`, is in the line. */
static void append_row(struct pdnn_str *out, const char *line, size_t length, size_t from, size_t digits,
                       size_t number) {
    pdnn_str_append(out, line, from);
    pdnn_str_append_u64(out, number);
    pdnn_str_append(out, line + from + digits, length - from - digits);
}

static enum pdnn_status append_visit(const struct pdnn_merge_source *source,
                                     const struct pdnn_merge_visit *visit, size_t number,
                                     struct pdnn_str *rows, struct pdnn_str *ops, struct pdnn_err *err) {
    const struct pdnn_log_scan *file = &source->scan.visits;
    struct pdnn_piece field[PDNN_JOURNAL_COLUMNS], old = {NULL, 0};
    char *line, *of_ops = NULL;
    enum pdnn_status status = read_part(file, visit->offset, visit->length, &line, err);
    if (status == PDNN_OK &&
        pdnn_csv_split(line, visit->length - 1, field, PDNN_JOURNAL_COLUMNS) != PDNN_JOURNAL_COLUMNS)
        status = pdnn_fail(err, PDNN_IO, "%s: changed while it was read", file->path);
    if (status == PDNN_OK) {
        old = field[PDNN_JOURNAL_VISIT];
        append_row(rows, line, visit->length, (size_t)(old.text - line), old.length, number);
        status = read_part(&source->scan.ops, visit->ops_offset, visit->ops_length, &of_ops, err);
    }
    for (size_t at = 0; status == PDNN_OK && at < visit->ops_length;) {
        const char *newline = memchr(of_ops + at, '\n', visit->ops_length - at);
        const size_t key = field[PDNN_JOURNAL_ID].length + 1,
                     length = newline ? (size_t)(newline - of_ops) + 1 - at : 0;
        if (length <= key + old.length)
            status = pdnn_fail(err, PDNN_IO, "%s: changed while it was read", source->scan.ops.path);
        else
            append_row(ops, of_ops + at, length, key, old.length, number);
        at += length;
    }
    free(line);
    free(of_ops);
    return status;
}

/* Appends the rows of the instance's visits, numbered again, in both files of a journal. */
static enum pdnn_status append_instance(const struct pdnn_merge_job *job, size_t instance,
                                        struct pdnn_str *rows, struct pdnn_str *ops, struct pdnn_err *err) {
    const struct pdnn_merge_instance *of = &job->of[instance];
    enum pdnn_status status = PDNN_OK;
    size_t number = 0;
    for (size_t i = of->from; i < of->end && status == PDNN_OK; i++) {
        const struct pdnn_merge_source *source = &job->source[job->visits[i].source];
        if (of->host == UINT32_MAX)
            status = pdnn_fail(err, PDNN_INVALID, "%s/hosts.csv: does not name the host of %s", source->path,
                               job->ids.text[instance]);
        else if (!job->visits[i].is_copy)
            status = append_visit(source, &job->visits[i], ++number, rows, ops, err);
    }
    return status;
}

/* Appends the instance to the journal, and reads its visits there. */
static enum pdnn_status write_instance(struct writing *writing, size_t id, struct pdnn_err *err) {
    const char *name = writing->job->ids.text[id];
    struct pdnn_str rows = {0}, ops = {0};
    pdnn_table_csv_header(&rows, &pdnn_journal_def);
    pdnn_table_csv_header(&ops, &pdnn_journal_ops_def);
    enum pdnn_status status = append_instance(writing->job, id, &rows, &ops, err);
    if (status == PDNN_OK)
        status = put(&writing->ops_file, &ops, err);
    if (status == PDNN_OK)
        status = put(&writing->visits_file, &rows, err);
    if (status == PDNN_OK)
        status = pdnn_journal_parse(name, &rows, name, &ops, &writing->visits, err);
    pdnn_str_finish(&rows);
    pdnn_str_finish(&ops);
    return status;
}

static enum pdnn_status fetch(void *user, size_t id, struct pdnn_aggregate_input *input,
                              struct pdnn_err *err) {
    struct writing *writing = user;
    struct pdnn_merge_job *job = writing->job;
    pdnn_visits_finish(&writing->visits);
    if (id == SIZE_MAX)
        return pdnn_merge_check_stop(job, err);
    if (write_instance(writing, id, err) != PDNN_OK)
        return err->status;
    input->of = pdnn_visits_of(&writing->visits, input->id);
    const uint32_t host = job->of[id].host;
    input->pool = writing->pools[host];
    input->roof_rows = job->roofs[host].count ? &job->roofs[host] : NULL;
    input->host = job->hosts.text[host];
    return pdnn_merge_check_stop(job, err);
}

/* Writes the journal and the tables, an instance at a time, and names what is missing. */
static enum pdnn_status write_tables(struct pdnn_merge_job *job, struct pdnn_err *err) {
    struct writing writing = {.job = job, .visits_file.fd = -1, .ops_file.fd = -1};
    struct pdnn_rows_sums sums = {0};
    const struct pdnn_rows_request request = {.session = &job->session,
                                              .tables = &writing.tables,
                                              .ids = &job->ids,
                                              .order = job->order,
                                              .id_of_task = job->id_of_task,
                                              .unvisited = "no visit in the merged journals",
                                              .fetch = fetch,
                                              .user = &writing};
    pool_hosts(&writing);
    for (size_t i = 0; i < job->session.n_tasks; i++)
        if (job->id_of_task[i] == SIZE_MAX && job->session.rows[i].outcome == PDNN_OUTCOME_INTERRUPTED)
            pdnn_session_warn(&job->session, "missing: %s", job->session.tasks[i].id);
    enum pdnn_status status = create(&job->output, "journal.csv", &writing.visits_file, err);
    if (status == PDNN_OK)
        status = create(&job->output, "journal-ops.csv", &writing.ops_file, err);
    if (status == PDNN_OK)
        status = pdnn_rows_make(&request, &sums, err);
    status = end(&writing.ops_file, status, err);
    status = end(&writing.visits_file, status, err);
    job->result.tally = sums.tally;
    if (status == PDNN_OK)
        status = pdnn_tables_write(&writing.tables, &job->output, err);
    pdnn_tables_finish(&writing.tables);
    pdnn_visits_finish(&writing.visits);
    free(writing.pools);
    return status;
}

static enum pdnn_status move_inside(struct pdnn_merge_job *job, struct pdnn_err *err) {
    const char *path = job->request->output;
    struct pdnn_folder target;
    if (pdnn_folder_open(&target, path, err) != PDNN_OK)
        return err->status;
    /* Nobody may append to a journal that is about to be replaced. */
    const int fd = openat(target.fd, "journal.csv", O_RDONLY | O_CLOEXEC);
    enum pdnn_status status = PDNN_OK;
    if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        status =
            pdnn_fail(err, PDNN_BUSY, "%s: another paradnn is writing there; wait for it or use -o", path);
    for (size_t i = 0; i < N_NAMES && status == PDNN_OK; i++) {
        if (renameat(job->output.fd, names[i], target.fd, names[i]) != 0 && errno != ENOENT)
            status =
                pdnn_fail(err, PDNN_IO, "%s/%s: cannot be replaced: %s", path, names[i], strerror(errno));
    }
    fsync(target.fd);
    if (fd >= 0)
        close(fd);
    pdnn_folder_close(&target);
    if (status == PDNN_OK && rmdir(job->temporary) == 0)
        job->temporary = NULL;
    return status;
}

static enum pdnn_status publish(struct pdnn_merge_job *job, struct pdnn_err *err) {
    fsync(job->output.fd);
    if (job->is_inside)
        return move_inside(job, err);
    if (rename(job->temporary, job->request->output) != 0)
        return pdnn_fail(err, PDNN_IO, "%s: cannot be created: %s", job->request->output, strerror(errno));
    job->temporary = NULL;
    return PDNN_OK;
}

static void remove_output(struct pdnn_merge_job *job) {
    if (job->temporary) {
        for (size_t i = 0; i < N_NAMES && job->output.fd >= 0; i++)
            unlinkat(job->output.fd, names[i], 0);
        rmdir(job->temporary);
    }
    pdnn_folder_close(&job->output);
}

enum pdnn_status pdnn_merge(const struct pdnn_merge_request *request, struct pdnn_merge_result *result,
                            struct pdnn_err *err) {
    struct pdnn_merge_job job = {.request = request,
                                 .stop = request->hooks->watch(request->hooks->user),
                                 .session.hooks = request->hooks,
                                 .output.fd = -1};
    static enum pdnn_status (*const steps[])(struct pdnn_merge_job * job, struct pdnn_err * err) = {
        pdnn_merge_find_sources,
        pdnn_merge_compare_sources,
        begin_output,
        pdnn_merge_open_session,
        pdnn_merge_read_roofs,
        pdnn_merge_find_visits,
        pdnn_merge_order,
        write_tables,
        write_environment,
        write_roof_rows,
        write_hosts,
        write_library,
        publish,
    };
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == PDNN_OK; i++)
        status = steps[i](&job, err);
    remove_output(&job);
    job.result.directories = job.n_sources;
    job.result.hosts = job.hosts.count;
    *result = job.result;
    pdnn_merge_finish(&job);
    return status;
}

void pdnn_merge_finish(struct pdnn_merge_job *job) {
    for (size_t i = 0; i < job->n_sources; i++) {
        pdnn_journal_scan_close(&job->source[i].scan);
        pdnn_texts_finish(&job->source[i].ids);
    }
    pdnn_session_finish(&job->session);
    pdnn_texts_finish(&job->hosts);
    pdnn_texts_finish(&job->threads);
    pdnn_texts_finish(&job->ids);
    pdnn_texts_finish(&job->spellings);
    pdnn_arena_finish(&job->arena);
    free(job->roofs);
    free(job->spec_text);
    free(job->visits);
}
