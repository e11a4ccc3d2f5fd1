#define _POSIX_C_SOURCE 200809L
/* The directories of a merge: which they are, and whether they belong together. */
#include "base/file.h"
#include "base/memory.h"
#include "results/store/tables.h"
#include "results/table/read.h"
#include "session/merge/job.h"
#include "session/same_spec.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SPEC_LIMIT_BYTES = 1 << 26, ENVIRONMENT_LIMIT_BYTES = 1 << 24 };
static const size_t hosts_limit_bytes = (size_t)1 << 32;

void pdnn_merge_note(const struct pdnn_merge_job *job, const char *format, ...) {
    char text[PDNN_ID_TEXT + 2 * PDNN_FOLDER_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    job->request->note(job->request->user, text);
}

enum pdnn_status pdnn_merge_check_stop(const struct pdnn_merge_job *job, struct pdnn_err *err) {
    return job->request->stop && *job->request->stop
               ? pdnn_fail(err, PDNN_INTERRUPTED, "interrupted; nothing was written")
               : PDNN_OK;
}

int pdnn_merge_by_text(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

enum pdnn_status pdnn_merge_read_at(int fd, const char *path, uint64_t offset, char *bytes, size_t length,
                                    struct pdnn_err *err) {
    while (length) {
        ssize_t got = pread(fd, bytes, length, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return pdnn_fail(err, PDNN_IO, "%s: %s", path,
                             got ? strerror(errno) : "became shorter while it was read");
        bytes += got;
        offset += (uint64_t)got;
        length -= (size_t)got;
    }
    return PDNN_OK;
}

static enum pdnn_status read_file(const char *directory, const char *name, size_t limit, char **text,
                                  struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT];
    if (!pdnn_path_join(path, directory, name))
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    return pdnn_file_read(path, limit, text, NULL, err);
}

static uint32_t number_of_host(struct pdnn_merge_job *job, const char *name) {
    return (uint32_t)pdnn_texts_add(&job->hosts, name);
}

static const struct pdnn_column_def host_columns[] = {
    [PDNN_HOSTS_ID] = {"id", .help = "the instance"},
    [PDNN_HOSTS_HOST] = {"host", .help = "where it was measured"}};
const struct pdnn_table_def pdnn_hosts_def = {"hosts", "the host of each instance, where several were merged",
                                              host_columns, PDNN_HOSTS_COLUMNS};

/* hosts.csv of a directory that was merged from several hosts. */
static enum pdnn_status read_hosts(struct pdnn_merge_job *job, struct pdnn_merge_source *source,
                                   struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT];
    struct pdnn_table hosts;
    snprintf(path, sizeof path, "%s/hosts.csv", source->path);
    struct pdnn_table_file file = {.path = path, .limit_bytes = hosts_limit_bytes};
    if (pdnn_table_read(&file, &pdnn_hosts_def, &hosts, err) != PDNN_OK)
        return err->status;
    pdnn_ids_reprint(&hosts, PDNN_HOSTS_ID);
    source->host_of = pdnn_alloc(hosts.n_rows + 1, sizeof *source->host_of);
    for (size_t row = 0; row < hosts.n_rows; row++) {
        size_t number = pdnn_texts_add(&source->ids, pdnn_table_text(&hosts, row, PDNN_HOSTS_ID));
        source->host_of[number] = number_of_host(job, pdnn_table_text(&hosts, row, PDNN_HOSTS_HOST));
    }
    pdnn_table_finish(&hosts);
    return PDNN_OK;
}

uint32_t pdnn_merge_host_of(const struct pdnn_merge_source *source, const char *id) {
    size_t number = source->has_hosts ? pdnn_texts_find(&source->ids, id) : SIZE_MAX;
    return number == SIZE_MAX ? source->host : source->host_of[number];
}

static void add_spec(struct pdnn_merge_job *job, char *text) {
    char line[PDNN_SPEC_LINE_TEXT], other_line[PDNN_SPEC_LINE_TEXT];
    for (size_t i = 0; i < job->n_specs; i++) {
        if (pdnn_spec_differs(job->specs[i], text, line, other_line))
            continue;
        bool is_first = strcmp(text, job->specs[i]) < 0;
        free(is_first ? job->specs[i] : text);
        job->specs[i] = is_first ? text : job->specs[i];
        return;
    }
    job->specs = pdnn_grow(job->specs, &job->spec_room, job->n_specs, sizeof *job->specs);
    job->specs[job->n_specs++] = text;
}

/* One document after the other: `run` stays with the models it was given for. The first one's seed, measure
 * and limits hold. The same for every order of the sources. */
static void join_specs(struct pdnn_merge_job *job) {
    struct pdnn_str text = {0};
    if (!job->n_specs)
        return;
    qsort(job->specs, job->n_specs, sizeof *job->specs, pdnn_merge_by_text);
    for (size_t i = 0; i < job->n_specs; i++) {
        const char *at = job->specs[i];
        while (*at == '#')
            at += strcspn(at, "\n") + (strchr(at, '\n') != NULL);
        pdnn_str_printf(&text, "%s%s%s", i && strncmp(at, "---", 3) != 0 ? "---\n" : "", job->specs[i],
                        job->specs[i][strlen(job->specs[i]) - 1] == '\n' ? "" : "\n");
    }
    job->spec_text = text.text;
}

static enum pdnn_status take_spec(struct pdnn_merge_job *job, const char *directory, struct pdnn_err *err) {
    char *text = NULL;
    enum pdnn_status status = read_file(directory, "spec.yaml", SPEC_LIMIT_BYTES, &text, err);
    if (status != PDNN_OK)
        return status;
    if (!job->spec_path)
        job->spec_path = pdnn_arena_printf(&job->arena, "%s/spec.yaml", directory);
    if (job->request->is_union && *text) {
        add_spec(job, text);
        return PDNN_OK;
    }
    char line[PDNN_SPEC_LINE_TEXT], other_line[PDNN_SPEC_LINE_TEXT];
    if (job->spec_text && pdnn_spec_differs(job->spec_text, text, line, other_line)) {
        free(text);
        return pdnn_fail(err, PDNN_INVALID,
                         "%s/spec.yaml: not the spec of %s, which has '%s' where this has '%s'; "
                         "only directories of one spec can be merged, or give --union",
                         directory, job->spec_path, line, other_line);
    }
    /* Of texts that differ in comments, the first stays, whatever the order of the directories. */
    if (job->spec_text && strcmp(text, job->spec_text) >= 0) {
        free(text);
        return PDNN_OK;
    }
    free(job->spec_text);
    job->spec_text = text;
    job->spec_path = pdnn_arena_printf(&job->arena, "%s/spec.yaml", directory);
    return PDNN_OK;
}

/* Facts of the source; the journal must have visits, or it has nothing to say and no facts yet. */
static enum pdnn_status take_facts(struct pdnn_merge_job *job, struct pdnn_merge_source *source,
                                   struct pdnn_err *err) {
    struct pdnn_str host = {0};
    char *text = NULL;
    enum pdnn_status status = take_spec(job, source->path, err);
    if (status == PDNN_OK)
        status = read_file(source->path, "environment.yaml", ENVIRONMENT_LIMIT_BYTES, &text, err);
    if (status == PDNN_OK) {
        source->environment = pdnn_arena_strdup(&job->arena, text);
        pdnn_environment_value(text, "host", &host);
        source->has_hosts = pdnn_path_has(source->path, "hosts.csv");
        source->host = source->has_hosts ? UINT32_MAX : number_of_host(job, pdnn_str_text(&host));
    }
    if (status == PDNN_OK && source->has_hosts)
        status = read_hosts(job, source, err);
    free(text);
    pdnn_str_finish(&host);
    return status;
}

/* Unless the directory is among the sources already, under whatever name. */
static enum pdnn_status open_source(struct pdnn_merge_job *job, const char *path, struct pdnn_err *err) {
    struct pdnn_scanned_visit visit;
    struct stat info = {0};
    bool done = false;
    stat(path, &info);
    for (size_t k = 0; k < job->n_sources; k++)
        if (info.st_dev == job->source[k].device && info.st_ino == job->source[k].inode)
            return PDNN_OK;
    job->source = pdnn_grow(job->source, &job->source_room, job->n_sources, sizeof *job->source);
    struct pdnn_merge_source *source = &job->source[job->n_sources];
    *source = (struct pdnn_merge_source){
        .path = pdnn_arena_strdup(&job->arena, path), .device = info.st_dev, .inode = info.st_ino};
    enum pdnn_status status = pdnn_journal_scan_open(&source->scan, path, err);
    if (status == PDNN_OK)
        status = pdnn_journal_scan_next(&source->scan, &visit, &done, err);
    pdnn_journal_scan_rest(&source->scan);
    if (status != PDNN_OK || done) {
        pdnn_journal_scan_close(&source->scan);
        if (status == PDNN_OK)
            pdnn_merge_note(job, "%s: no visits yet", path);
        if (status == PDNN_OK && pdnn_path_has(path, "spec.yaml"))
            status = take_spec(job, path, err);
        return status;
    }
    job->n_sources++;
    return take_facts(job, source, err);
}

static int is_visible(const struct dirent *entry) {
    return *entry->d_name != '.';
}

static int by_name(const struct dirent **left, const struct dirent **right) {
    return strcmp((*left)->d_name, (*right)->d_name);
}

/* The parts of a joined directory. Whatever else lies there is named and left alone. */
static enum pdnn_status open_parts(struct pdnn_merge_job *job, const char *directory, struct pdnn_err *err) {
    char parts[PDNN_FOLDER_TEXT], path[PDNN_FOLDER_TEXT];
    struct dirent **entries = NULL;
    size_t strangers = 0;
    const int count =
        pdnn_path_join(parts, directory, "parts") ? scandir(parts, &entries, is_visible, by_name) : -1;
    enum pdnn_status status =
        count < 0 ? pdnn_fail(err, PDNN_INVALID, "%s/parts: cannot be read: %s", directory, strerror(errno))
                  : PDNN_OK;
    for (int i = 0; i < count; i++) {
        if (status == PDNN_OK && !pdnn_path_join(path, parts, entries[i]->d_name))
            status = pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
        else if (status == PDNN_OK && pdnn_path_has(path, "journal.csv"))
            status = open_source(job, path, err);
        else if (status == PDNN_OK && strangers++ < PDNN_MERGE_NOTES)
            pdnn_merge_note(job, "%s: ignored, it has no journal.csv", path);
        free(entries[i]);
    }
    free(entries);
    if (status == PDNN_OK && strangers > PDNN_MERGE_NOTES)
        pdnn_merge_note(job, "%s: %zu more without a journal.csv ignored", parts,
                        strangers - PDNN_MERGE_NOTES);
    return status;
}

static enum pdnn_status open_operand(struct pdnn_merge_job *job, const char *directory,
                                     struct pdnn_err *err) {
    bool has_parts = pdnn_path_has(directory, "parts"), has_journal = pdnn_path_has(directory, "journal.csv");
    enum pdnn_status status = PDNN_OK;
    if (!pdnn_path_has(directory, "."))
        return pdnn_fail(err, PDNN_INVALID, "%s: is not a directory", directory);
    if (!has_parts && !has_journal)
        return pdnn_fail(err, PDNN_INVALID, "%s: has neither journal.csv nor parts, so there are no visits",
                         directory);
    /* That of a joined directory is frozen; a source's own is compared with it. */
    if (has_parts && pdnn_path_has(directory, "spec.yaml"))
        status = take_spec(job, directory, err);
    /* A joined directory that was merged before may hold more than its parts do. */
    if (status == PDNN_OK && has_journal)
        status = open_source(job, directory, err);
    if (status == PDNN_OK && has_parts)
        status = open_parts(job, directory, err);
    return status;
}

enum pdnn_status pdnn_merge_compare_sources(const struct pdnn_merge_job *job, struct pdnn_err *err) {
    if (!job->n_sources)
        return pdnn_fail(err, PDNN_INVALID, "%s: no visits to merge", job->request->sources[0]);
    for (size_t i = 1; i < job->n_sources; i++) {
        const struct pdnn_merge_source *source = &job->source[i], *before = NULL;
        for (size_t k = 0; k < i && !before; k++) {
            if (!source->has_hosts && !job->source[k].has_hosts && job->source[k].host == source->host)
                before = &job->source[k];
        }
        struct pdnn_str key = {0}, values = {0};
        bool differs =
            before && pdnn_environment_differs(before->environment, source->environment, &key, &values);
        if (differs)
            pdnn_fail(err, PDNN_INVALID,
                      "%s and %s: %s is %s on one host; measurements of two setups cannot be merged",
                      before->path, source->path, pdnn_str_text(&key), pdnn_str_text(&values));
        pdnn_str_finish(&key);
        pdnn_str_finish(&values);
        if (differs)
            return err->status;
    }
    if (job->hosts.count > 1)
        pdnn_merge_note(job, "%zu hosts: rows and roofs are those of the host that measured",
                        job->hosts.count);
    return PDNN_OK;
}

enum pdnn_status pdnn_merge_find_sources(struct pdnn_merge_job *job, struct pdnn_err *err) {
    struct rlimit limit;
    enum pdnn_status status = PDNN_OK;
    /* Two files of each source stay open. */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    for (size_t i = 0; i < job->request->n_sources && status == PDNN_OK; i++)
        status = open_operand(job, job->request->sources[i], err);
    join_specs(job);
    return status;
}

enum pdnn_status pdnn_merge_find_instance(struct pdnn_merge_job *job, struct pdnn_piece id, size_t *number,
                                          struct pdnn_err *err) {
    char spelt[PDNN_ID_TEXT + 2], plain[PDNN_ID_TEXT], today[PDNN_ID_TEXT];
    const size_t quoted = id.length > 1 && *id.text == '"', length = id.length - 2 * quoted;
    if (length >= sizeof plain)
        return pdnn_fail(err, PDNN_INVALID, "the id '%.60s...' is too long", id.text);
    snprintf(spelt, sizeof spelt, "%.*s", (int)id.length, id.text);
    const size_t before = job->spellings.count, spelling = pdnn_texts_add(&job->spellings, spelt);
    if (spelling == before) {
        snprintf(plain, sizeof plain, "%.*s", (int)length, id.text + quoted);
        job->of_spelling =
            pdnn_grow(job->of_spelling, &job->spellings_room, before, sizeof *job->of_spelling);
        job->of_spelling[before] = pdnn_texts_add(&job->ids, pdnn_instance_reprint(plain, today));
    }
    *number = job->of_spelling[spelling];
    return PDNN_OK;
}
