#define _GNU_SOURCE /* qsort_r */
/* What a merge reads: the directories, whether they belong together, and what follows for all of them: the
 * session and its tasks, the roofs of each host; their visits, and which of them are kept. */
#include "base/memory.h"
#include "base/rng.h"
#include "gen/expansion/expand.h"
#include "gen/family/kept.h"
#include "models/zoo/catalog.h"
#include "results/stats/means.h"
#include "results/store/tables.h"
#include "results/table/read.h"
#include "session/merge/merge.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOTES = 10 }; /* lines of one kind; the rest are counted */

enum pdnn_status pdnn_merge_check_stop(const struct pdnn_merge_job *job, struct pdnn_err *err) {
    return job->stop && *job->stop ? pdnn_fail(err, PDNN_INTERRUPTED, "interrupted; nothing was written")
                                   : PDNN_OK;
}

int pdnn_merge_by_text(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
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
    struct pdnn_table_file file = {.path = path, .limit_bytes = (size_t)1 << 32};
    if (pdnn_table_read(&file, &pdnn_hosts_def, &hosts, err) != PDNN_OK)
        return err->status;
    pdnn_ids_reprint(&hosts, PDNN_HOSTS_ID);
    source->host = UINT32_MAX;
    source->host_of = pdnn_arena_alloc(&job->arena, hosts.n_rows + 1, sizeof *source->host_of);
    for (size_t row = 0; row < hosts.n_rows; row++) {
        size_t number = pdnn_texts_add(&source->ids, pdnn_table_text(&hosts, row, PDNN_HOSTS_ID));
        source->host_of[number] =
            (uint32_t)pdnn_texts_add(&job->hosts, pdnn_table_text(&hosts, row, PDNN_HOSTS_HOST));
    }
    pdnn_table_finish(&hosts);
    return PDNN_OK;
}

/* UINT32_MAX if it is not known. */
static uint32_t host_of(const struct pdnn_merge_source *source, const char *id) {
    const size_t number = source->host_of ? pdnn_texts_find(&source->ids, id) : SIZE_MAX;
    return number == SIZE_MAX ? source->host : source->host_of[number];
}

/* One document after the other: `run` stays with the models it was given for. The first one's seed, measure
 * and limits hold. The same for every order of the sources. */
static void join_specs(struct pdnn_merge_job *job) {
    struct pdnn_str text = {0};
    qsort(job->specs, job->n_specs, sizeof *job->specs, pdnn_merge_by_text);
    for (size_t i = 0; i < job->n_specs; i++) {
        const char *spec = job->specs[i], *at = spec;
        const size_t length = strlen(spec);
        while (*at == '#')
            at += strcspn(at, "\n") + (strchr(at, '\n') != NULL);
        pdnn_str_printf(&text, "%s%s%s", i && strncmp(at, "---", 3) != 0 ? "---\n" : "", spec,
                        length && spec[length - 1] == '\n' ? "" : "\n");
    }
    job->spec_text = text.text;
}

/* Of texts that differ in comments, the first is kept, whatever the order of the directories. */
static enum pdnn_status take_spec(struct pdnn_merge_job *job, const char *directory, struct pdnn_err *err) {
    char line[PDNN_SPEC_LINE_TEXT], other_line[PDNN_SPEC_LINE_TEXT], *read;
    if (pdnn_catalog_read_directory(directory, err) != PDNN_OK ||
        pdnn_spec_read(directory, &read, err) != PDNN_OK)
        return err->status;
    const char *text = pdnn_arena_strdup(&job->arena, read);
    free(read);
    for (size_t i = 0; i < job->n_specs; i++) {
        if (pdnn_spec_differs(job->specs[i], text, line, other_line))
            continue;
        job->specs[i] = strcmp(text, job->specs[i]) < 0 ? text : job->specs[i];
        return PDNN_OK;
    }
    if (job->n_specs && !job->request->is_union)
        return pdnn_fail(err, PDNN_INVALID,
                         "%s/spec.yaml: not the spec of %s, which has '%s' where this has '%s'; "
                         "only directories of one spec can be merged, or give --union",
                         directory, job->spec_path, line, other_line);
    if (!job->n_specs)
        job->spec_path = pdnn_arena_printf(&job->arena, "%s/spec.yaml", directory);
    job->specs = pdnn_arena_grow(&job->arena, job->specs, &job->spec_room, job->n_specs, sizeof *job->specs);
    job->specs[job->n_specs++] = text;
    return PDNN_OK;
}

/* What `threads: all` was: several where the source was merged from several hosts. */
static void note_threads(struct pdnn_merge_job *job, const char *environment) {
    struct pdnn_str value = {0};
    pdnn_environment_value(environment, "threads_all", &value);
    const char *at = pdnn_str_text(&value), *part;
    for (size_t length; (part = pdnn_part_next(&at, PDNN_FACTS_SEPARATOR, &length));)
        if (length)
            pdnn_texts_add(&job->threads, pdnn_arena_printf(&job->arena, "%.*s", (int)length, part));
    pdnn_str_finish(&value);
}

/* Facts of the source; the journal must have visits, or it has nothing to say and no facts yet. */
static enum pdnn_status take_facts(struct pdnn_merge_job *job, struct pdnn_merge_source *source,
                                   struct pdnn_err *err) {
    struct pdnn_str host = {0};
    char *text = NULL;
    if (take_spec(job, source->path, err) != PDNN_OK ||
        pdnn_environment_read(source->path, &text, err) != PDNN_OK)
        return err->status;
    if (!text)
        return pdnn_fail(err, PDNN_INVALID, "%s/environment.yaml: is missing", source->path);
    source->environment = pdnn_arena_strdup(&job->arena, text);
    free(text);
    note_threads(job, source->environment);
    if (pdnn_path_has(source->path, "hosts.csv"))
        return read_hosts(job, source, err);
    pdnn_environment_value(source->environment, "host", &host);
    source->host = (uint32_t)pdnn_texts_add(&job->hosts, pdnn_str_text(&host));
    pdnn_str_finish(&host);
    return PDNN_OK;
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
    job->source =
        pdnn_arena_grow(&job->arena, job->source, &job->source_room, job->n_sources, sizeof *job->source);
    struct pdnn_merge_source *source = &job->source[job->n_sources];
    *source = (struct pdnn_merge_source){
        .path = pdnn_arena_strdup(&job->arena, path), .device = info.st_dev, .inode = info.st_ino};
    enum pdnn_status status = pdnn_journal_scan_open(&source->scan, path, err);
    if (status == PDNN_OK)
        status = pdnn_journal_scan_next(&source->scan, &visit, &done, err);
    pdnn_journal_scan_rewind(&source->scan);
    if (status == PDNN_OK && !done) {
        job->n_sources++;
        return take_facts(job, source, err);
    }
    pdnn_journal_scan_close(&source->scan);
    if (status != PDNN_OK)
        return status;
    pdnn_session_warn(&job->session, "%s: no visits yet", path);
    return pdnn_path_has(path, "spec.yaml") ? take_spec(job, path, err) : PDNN_OK;
}

/* The parts of a joined directory. Whatever else lies there is named and left alone. */
static enum pdnn_status open_parts(struct pdnn_merge_job *job, const char *directory, struct pdnn_err *err) {
    char parts[PDNN_FOLDER_TEXT], path[PDNN_FOLDER_TEXT];
    struct dirent **entries = NULL;
    size_t strangers = 0;
    const int count =
        pdnn_path_join(parts, directory, "parts") ? scandir(parts, &entries, NULL, alphasort) : -1;
    enum pdnn_status status =
        count < 0 ? pdnn_fail(err, PDNN_INVALID, "%s/parts: cannot be read: %s", directory, strerror(errno))
                  : PDNN_OK;
    for (int i = 0; i < count; i++) {
        const bool is_part = status == PDNN_OK && *entries[i]->d_name != '.';
        if (is_part && !pdnn_path_join(path, parts, entries[i]->d_name))
            status = pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
        else if (is_part && pdnn_path_has(path, "journal.csv"))
            status = open_source(job, path, err);
        else if (is_part && strangers++ < NOTES)
            pdnn_session_warn(&job->session, "%s: ignored, it has no journal.csv", path);
        free(entries[i]);
    }
    free(entries);
    if (status == PDNN_OK && strangers > NOTES)
        pdnn_session_warn(&job->session, "%s: %zu more without a journal.csv ignored", parts,
                          strangers - NOTES);
    return status;
}

static enum pdnn_status open_operand(struct pdnn_merge_job *job, const char *directory,
                                     struct pdnn_err *err) {
    bool has_parts = pdnn_path_has(directory, "parts"), has_journal = pdnn_path_has(directory, "journal.csv");
    if (!pdnn_path_has(directory, "."))
        return pdnn_fail(err, PDNN_INVALID, "%s: %s", directory, strerror(errno));
    if (!has_parts && !has_journal)
        return pdnn_fail(err, PDNN_INVALID, "%s: has neither journal.csv nor parts, so there are no visits",
                         directory);
    /* That of a joined directory is frozen; a source's own is compared with it. */
    if (has_parts && pdnn_path_has(directory, "spec.yaml") && take_spec(job, directory, err) != PDNN_OK)
        return err->status;
    /* A joined directory that was merged before may hold more than its parts do. */
    if (has_journal && open_source(job, directory, err) != PDNN_OK)
        return err->status;
    return has_parts ? open_parts(job, directory, err) : PDNN_OK;
}

enum pdnn_status pdnn_merge_compare_sources(struct pdnn_merge_job *job, struct pdnn_err *err) {
    if (!job->n_sources)
        return pdnn_fail(err, PDNN_INVALID, "%s: no visits to merge", job->request->sources[0]);
    for (size_t i = 1; i < job->n_sources; i++) {
        const struct pdnn_merge_source *source = &job->source[i], *before = job->source;
        while (before < source && (source->host_of || before->host != source->host))
            before++;
        struct pdnn_str key = {0}, values = {0};
        bool differs = before < source &&
                       pdnn_environment_differs(before->environment, source->environment, &key, &values);
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
        pdnn_session_warn(&job->session, "%zu hosts: rows and roofs are those of the host that measured",
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
    return status;
}

/* The facts of the session's machine: of all sources, that of the one with most memory, so that nothing
 * counts as too large that some host had room for. "": there is no source. */
static const char *largest(const struct pdnn_merge_job *job) {
    const char *found = "";
    uint64_t most_bytes = 0, most_cores = 0;
    for (size_t i = 0; i < job->n_sources; i++) {
        const char *environment = job->source[i].environment;
        uint64_t bytes = pdnn_environment_count(environment, "limit_memory_bytes"),
                 cores = pdnn_environment_count(environment, "cores_usable");
        if (i && (bytes < most_bytes || (bytes == most_bytes && cores <= most_cores)))
            continue;
        found = environment;
        most_bytes = bytes;
        most_cores = cores;
    }
    return found;
}

enum pdnn_status pdnn_merge_open_session(struct pdnn_merge_job *job, struct pdnn_err *err) {
    if (!job->spec_path)
        return pdnn_fail(err, PDNN_INVALID, "%s: has no spec.yaml", job->request->sources[0]);
    join_specs(job);
    if (job->request->output && pdnn_folder_replace(&job->output, "spec.yaml", job->spec_text,
                                                    strlen(job->spec_text), err) != PDNN_OK)
        return err->status;
    if (job->request->output && pdnn_families_keep(&job->output, NULL, NULL, err) != PDNN_OK)
        return err->status;
    if (job->n_specs > 1)
        job->spec_path = pdnn_arena_printf(&job->arena, "%s/spec.yaml", job->output.path);
    return pdnn_session_open_there(&job->session, largest(job),
                                   job->takes_shard && job->n_sources == 1 ? job->source->path : NULL,
                                   job->spec_path, err);
}

/* `threads: all` gives the same model another id on a host with other cores, such as this one. It stands for
 * the task; where that was measured, too, it is a task of its own; unless it is in the spec anyway. */
static bool take_other(struct pdnn_merge_job *job, struct pdnn_texts *tasks, size_t task,
                       const struct pdnn_instance *there) {
    char text[PDNN_ID_TEXT];
    const size_t id = pdnn_texts_find(&job->ids, pdnn_instance_format(there, text));
    if (id == SIZE_MAX || pdnn_texts_find(tasks, text) != SIZE_MAX)
        return false;
    pdnn_texts_add(tasks, text);
    const bool is_twin = job->id_of_task[task] != SIZE_MAX;
    if (is_twin)
        pdnn_session_add_twin(&job->session, task, there);
    job->id_of_task[is_twin ? job->session.n_tasks - 1 : task] = id;
    return is_twin;
}

static enum pdnn_status find_on_hosts(struct pdnn_merge_job *job, struct pdnn_texts *tasks,
                                      struct pdnn_err *err) {
    struct pdnn_expand *words = pdnn_expand_create(&job->session.spec, 0, false);
    const int64_t threads = job->session.host.threads_all;
    struct pdnn_expanded item;
    size_t twins = 0;
    enum pdnn_status status;
    for (bool done = false; (status = pdnn_expand_next(words, &item, &done, err)) == PDNN_OK && !done;) {
        struct pdnn_instance here = item.instance;
        char text[PDNN_ID_TEXT];
        pdnn_instance_resolve(&here, threads);
        const size_t task = pdnn_texts_find(tasks, pdnn_instance_format(&here, text));
        for (size_t i = 0; task != SIZE_MAX && i < job->threads.count; i++) {
            struct pdnn_instance there = item.instance;
            pdnn_instance_resolve(&there, strtoll(job->threads.text[i], NULL, 10));
            twins += take_other(job, tasks, task, &there);
        }
    }
    pdnn_expand_destroy(words);
    if (twins)
        pdnn_session_warn(&job->session,
                          "%zu instances were measured with several numbers of threads, since the hosts have "
                          "several for `threads: all`; each is a row",
                          twins);
    return status;
}

static enum pdnn_status find_tasks(struct pdnn_merge_job *job, struct pdnn_err *err) {
    struct pdnn_texts tasks = {0};
    job->id_of_task =
        pdnn_arena_alloc(&job->arena, job->session.n_tasks + job->ids.count + 1, sizeof *job->id_of_task);
    for (size_t i = 0; i < job->session.n_tasks; i++) {
        pdnn_texts_add(&tasks, job->session.tasks[i].id);
        job->id_of_task[i] = pdnn_texts_find(&job->ids, job->session.tasks[i].id);
    }
    enum pdnn_status status = job->threads.count > 1 ? find_on_hosts(job, &tasks, err) : PDNN_OK;
    pdnn_texts_finish(&tasks);
    return status;
}

static int by_text(const void *left, const void *right, void *user) {
    const struct pdnn_texts *ids = user;
    return strcmp(ids->text[*(const size_t *)left], ids->text[*(const size_t *)right]);
}

/* Instances in the order of the spec, then those that are not in it, by id. */
enum pdnn_status pdnn_merge_order(struct pdnn_merge_job *job, struct pdnn_err *err) {
    size_t count = 0;
    job->order = pdnn_arena_alloc(&job->arena, job->ids.count + 1, sizeof *job->order);
    if (find_tasks(job, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; i < job->session.n_tasks; i++) {
        size_t id = job->id_of_task[i];
        if (id == SIZE_MAX || job->of[id].is_listed)
            continue;
        job->of[id].is_listed = true;
        job->order[count++] = id;
    }
    size_t listed = count;
    for (size_t id = 0; id < job->ids.count; id++)
        if (!job->of[id].is_listed)
            job->order[count++] = id;
    qsort_r(job->order + listed, count - listed, sizeof *job->order, by_text, &job->ids);
    return PDNN_OK;
}

/* Mean logarithm of the rates with this thread count; -INFINITY if there are none. */
static double score(const struct pdnn_roof_rows *roofs, int64_t threads) {
    struct pdnn_mean rates = {0};
    for (size_t i = 0; i < roofs->count; i++) {
        const struct pdnn_roof_row *row = &roofs->row[i];
        bool is_rate = strcmp(row->kind, "compute") == 0 || strcmp(row->kind, "bandwidth") == 0;
        if (row->threads == threads && is_rate)
            pdnn_mean_add(&rates, log(row->value), 0);
    }
    return rates.n ? rates.mean : -INFINITY;
}

/* Replaces the rows with this thread count; thread counts stay in ascending order. */
static void put_set(struct pdnn_roof_rows *roofs, const struct pdnn_roof_rows *from, int64_t threads) {
    size_t kept = 0;
    for (size_t i = 0; i < roofs->count; i++)
        if (roofs->row[i].threads != threads)
            roofs->row[kept++] = roofs->row[i];
    roofs->count = kept;
    for (size_t i = 0; i < from->count && roofs->count < PDNN_ROOF_ROWS_MAX; i++) {
        if (from->row[i].threads != threads)
            continue;
        size_t at = roofs->count++;
        for (; at && roofs->row[at - 1].threads > threads; at--)
            roofs->row[at] = roofs->row[at - 1];
        roofs->row[at] = from->row[i];
    }
}

/* Of several measurements with one thread count, a whole one is kept, since the rows of a measurement belong
 * to one state of the machine. It is the fastest: a roof is what was seen. */
static enum pdnn_status take_roofs(struct pdnn_merge_job *job, const char *path, uint32_t host,
                                   struct pdnn_roof_rows *scratch, struct pdnn_err *err) {
    struct pdnn_roof_rows *roofs = &job->roofs[host];
    scratch->count = 0;
    enum pdnn_status status = pdnn_roof_rows_read(path, job->hosts.text[host], scratch, err);
    for (size_t i = 0; i < scratch->count && status == PDNN_OK; i++) {
        const int64_t threads = scratch->row[i].threads;
        if (!pdnn_roof_rows_have_threads(roofs, threads) || score(scratch, threads) > score(roofs, threads))
            put_set(roofs, scratch, threads);
    }
    return status;
}

enum pdnn_status pdnn_merge_read_roofs(struct pdnn_merge_job *job, struct pdnn_err *err) {
    struct pdnn_roof_rows *scratch = pdnn_alloc(1, sizeof *scratch);
    job->roofs = pdnn_alloc(job->hosts.count + 1, sizeof *job->roofs);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < job->n_sources && status == PDNN_OK; i++) {
        char path[PDNN_FOLDER_TEXT];
        const struct pdnn_merge_source *source = &job->source[i];
        snprintf(path, sizeof path, "%s/ceilings.csv", source->path);
        for (uint32_t host = 0; host < job->hosts.count && status == PDNN_OK; host++) {
            bool has = source->host == host;
            for (size_t k = 0; k < source->ids.count; k++)
                has = has || source->host_of[k] == host;
            if (has && pdnn_path_has(source->path, "ceilings.csv"))
                status = take_roofs(job, path, host, scratch, err);
        }
    }
    free(scratch);
    return status;
}

/* Notes the visit, with its instance and its host. */
static enum pdnn_status note_visit(struct pdnn_merge_job *job, size_t source,
                                   const struct pdnn_scanned_visit *scanned, struct pdnn_err *err) {
    const struct pdnn_piece id = scanned->field[PDNN_JOURNAL_ID], rest = pdnn_row_rest(scanned->field);
    const struct pdnn_visit visit = pdnn_row_visit(scanned->field);
    char spelt[PDNN_ID_TEXT + 2], today[PDNN_ID_TEXT];
    struct pdnn_str row = {0};
    if (id.length >= sizeof spelt)
        return pdnn_fail(err, PDNN_INVALID, "the id '%.60s...' is too long", id.text);
    snprintf(spelt, sizeof spelt, "%.*s", (int)id.length, id.text);
    const size_t before = job->spellings.count, spelling = pdnn_texts_add(&job->spellings, spelt);
    if (spelling == before) {
        job->of_spelling = pdnn_arena_grow(&job->arena, job->of_spelling, &job->spellings_room, before,
                                           sizeof *job->of_spelling);
        job->of_spelling[before] = pdnn_texts_add(&job->ids, pdnn_piece_id(id, today));
    }
    const size_t instance = job->of_spelling[spelling];
    pdnn_str_append(&row, rest.text, rest.length);
    job->visits = pdnn_grow(job->visits, &job->visits_room, job->n_visits, sizeof *job->visits);
    job->visits[job->n_visits++] = (struct pdnn_merge_visit){
        .instance = (uint32_t)instance,
        .source = (uint32_t)source,
        .host = host_of(&job->source[source], job->ids.text[instance]),
        .started_ms = visit.started_unix_ms,
        .hash = pdnn_rng_seed(0, pdnn_str_text(&row)),
        .median_ns = visit.median_ns,
        .outcome = visit.outcome,
        .flags = visit.flags,
        .offset = scanned->offset,
        .length = scanned->line.length,
        .ops_offset = scanned->ops_offset,
        .ops_length = scanned->ops_length,
    };
    pdnn_str_finish(&row);
    return PDNN_OK;
}

static enum pdnn_status scan(struct pdnn_merge_job *job, size_t source, struct pdnn_err *err) {
    struct pdnn_journal_scan *scan = &job->source[source].scan;
    struct pdnn_scanned_visit visit;
    enum pdnn_status status = PDNN_OK;
    for (bool done = false; status == PDNN_OK && !done;) {
        status = pdnn_journal_scan_next(scan, &visit, &done, err);
        if (status == PDNN_OK && !done)
            status = note_visit(job, source, &visit, err);
    }
    pdnn_journal_scan_rewind(scan);
    if (status == PDNN_OK && scan->visits.torn)
        pdnn_session_warn(&job->session, "%s/journal.csv: an incomplete last row was left out",
                          job->source[source].path);
    return status == PDNN_OK ? pdnn_merge_check_stop(job, err) : status;
}

/* By instance, host, start, and what else the row says. */
static int compare_visits(const void *left, const void *right) {
    const struct pdnn_merge_visit *a = left, *b = right;
    if (a->instance != b->instance)
        return a->instance < b->instance ? -1 : 1;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->started_ms != b->started_ms)
        return a->started_ms < b->started_ms ? -1 : 1;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

struct pdnn_visit pdnn_merge_visit_of(const struct pdnn_merge_visit *visit) {
    return (struct pdnn_visit){.outcome = visit->outcome,
                               .started_unix_ms = visit->started_ms,
                               .median_ns = visit->median_ns,
                               .flags = visit->flags};
}

/* The visits of one host to an instance, from `from` on. */
static struct pdnn_merge_instance next_share(struct pdnn_merge_job *job, size_t from) {
    const struct pdnn_merge_visit *first = &job->visits[from];
    struct pdnn_merge_instance share = {.host = first->host, .from = from, .end = from};
    for (; share.end < job->n_visits && job->visits[share.end].instance == first->instance &&
           job->visits[share.end].host == first->host;
         share.end++) {
        struct pdnn_merge_visit *visit = &job->visits[share.end];
        visit->is_copy = share.end > from && compare_visits(visit - 1, visit) == 0;
        job->result.copies += visit->is_copy;
        const struct pdnn_visit plain = pdnn_merge_visit_of(visit);
        if (!visit->is_copy)
            pdnn_standing_add(&share.standing, &plain);
    }
    return share;
}

static const char *name_host(const struct pdnn_merge_job *job, uint32_t host) {
    return host < job->hosts.count ? job->hosts.text[host] : "";
}

/* Keeps the visits of one host, which has the best. Returns where those of the next instance begin. */
static size_t choose_host(struct pdnn_merge_job *job, size_t from) {
    const size_t number = job->visits[from].instance;
    struct pdnn_merge_instance kept = next_share(job, from), other = kept;
    size_t visits = kept.standing.visits, n_hosts = 1;
    for (; other.end < job->n_visits && job->visits[other.end].instance == number; n_hosts++) {
        other = next_share(job, other.end);
        visits += other.standing.visits;
        bool first = strcmp(name_host(job, other.host), name_host(job, kept.host)) < 0;
        int order = pdnn_standing_compare(&other.standing, &kept.standing);
        if (order > 0 || (order == 0 && first))
            kept = other;
    }
    job->result.visits += kept.standing.visits;
    job->result.left_out += visits - kept.standing.visits;
    if (n_hosts > 1 && job->result.conflicts++ < NOTES)
        pdnn_session_warn(&job->session,
                          "%s: measured on %zu hosts; kept the %zu visits of %s, left out %zu of others",
                          job->ids.text[number], n_hosts, kept.standing.visits, name_host(job, kept.host),
                          visits - kept.standing.visits);
    job->of[number] = kept;
    return other.end;
}

enum pdnn_status pdnn_merge_find_visits(struct pdnn_merge_job *job, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < job->n_sources && status == PDNN_OK; i++)
        status = scan(job, i, err);
    job->of = pdnn_arena_alloc(&job->arena, job->ids.count + 1, sizeof *job->of);
    if (job->n_visits)
        qsort(job->visits, job->n_visits, sizeof *job->visits, compare_visits);
    for (size_t from = 0; from < job->n_visits && status == PDNN_OK;)
        from = choose_host(job, from);
    if (job->result.conflicts > NOTES)
        pdnn_session_warn(&job->session, "%zu more instances were measured on several hosts",
                          job->result.conflicts - NOTES);
    return status;
}
