#define _GNU_SOURCE /* qsort_r */
/* The tables of a merge, instance by instance from the merged journal. */
#include "base/memory.h"
#include "gen/expansion/walk.h"
#include "session/rows.h"
#include "results/store/journal.h"
#include "results/store/journal_table.h"
#include "results/store/tables.h"
#include "results/table/write.h"
#include "runtime/protocol/standing.h"
#include "session/merge/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writing {
    struct pdnn_merge_job *job;
    struct pdnn_tables tables;
    struct pdnn_visits visits;      /* of the instance at hand */
    struct pdnn_scatter *pools;     /* by host */
    struct pdnn_ceilings *ceilings; /* of the host whose row was made last */
    uint32_t host;
};

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

enum pdnn_status pdnn_merge_open_session(struct pdnn_merge_job *job, bool is_shard, struct pdnn_err *err) {
    if (!job->spec_path)
        return pdnn_fail(err, PDNN_INVALID, "%s: has no spec.yaml", job->request->sources[0]);
    if (job->n_specs) {
        char path[PDNN_FOLDER_TEXT];
        if (pdnn_folder_replace(&job->output, "spec.yaml", job->spec_text, strlen(job->spec_text), err) !=
            PDNN_OK)
            return err->status;
        job->spec_path = pdnn_arena_strdup(&job->arena, pdnn_folder_path(&job->output, "spec.yaml", path));
    }
    return pdnn_session_open_there(&job->session, largest(job), is_shard, job->spec_path, err);
}

/* `threads: all` gives the same model another id on a host with other cores: the k-th instance of the spec on
 * that host stands for the k-th task. */
static enum pdnn_status find_with_threads(struct pdnn_merge_job *job, int64_t threads, struct pdnn_err *err) {
    struct pdnn_walk walk = {0};
    enum pdnn_status status = PDNN_OK;
    bool done = false;
    pdnn_walk_start(&walk, &job->session.spec, threads, false);
    for (size_t i = 0; status == PDNN_OK && !done && i < job->session.n_tasks; i++) {
        struct pdnn_expanded item;
        char id[PDNN_ID_TEXT];
        status = pdnn_walk_next(&walk, &item, &done, err);
        if (status == PDNN_OK && !done && job->id_of_task[i] == SIZE_MAX)
            job->id_of_task[i] = pdnn_texts_find(&job->ids, pdnn_instance_format(&item.instance, id));
    }
    pdnn_walk_finish(&walk);
    return status;
}

static enum pdnn_status find_tasks(struct pdnn_merge_job *job, struct pdnn_err *err) {
    job->id_of_task = pdnn_alloc(job->session.n_tasks + 1, sizeof *job->id_of_task);
    for (size_t i = 0; i < job->session.n_tasks; i++)
        job->id_of_task[i] = pdnn_texts_find(&job->ids, job->session.tasks[i].id);
    enum pdnn_status status = PDNN_OK;
    int64_t done[64] = {job->session.host.threads_all};
    size_t n_done = 1;
    for (size_t i = 0; i < job->n_sources && status == PDNN_OK && n_done < 64; i++) {
        int64_t threads = (int64_t)pdnn_environment_count(job->source[i].environment, "threads_all");
        bool known = job->source[i].has_hosts || !threads;
        for (size_t k = 0; k < n_done; k++)
            known = known || done[k] == threads;
        if (known)
            continue;
        done[n_done++] = threads;
        status = find_with_threads(job, threads, err);
    }
    return status;
}

static int by_text(const void *left, const void *right, void *user) {
    const struct pdnn_texts *ids = user;
    return strcmp(ids->text[*(const size_t *)left], ids->text[*(const size_t *)right]);
}

/* Instances in the order of the spec, then those that are not in it, by id. */
enum pdnn_status pdnn_merge_order(struct pdnn_merge_job *job, struct pdnn_err *err) {
    size_t count = 0, room = job->ids.count + 1;
    job->order = pdnn_alloc(room, sizeof *job->order);
    enum pdnn_status status = find_tasks(job, err);
    for (size_t i = 0; i < job->session.n_tasks && status == PDNN_OK; i++) {
        size_t id = job->id_of_task[i];
        if (id == SIZE_MAX || job->of[id].is_listed)
            continue;
        job->of[id].is_listed = true;
        job->order[count++] = id;
    }
    size_t listed = count;
    for (size_t id = 0; id < job->ids.count && status == PDNN_OK; id++)
        if (!job->of[id].is_listed)
            job->order[count++] = id;
    if (status == PDNN_OK)
        qsort_r(job->order + listed, count - listed, sizeof *job->order, by_text, &job->ids);
    return status;
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
                scatters[count++] = job->of[job->order[i]].scatter;
        writing->pools[host] = pdnn_scatter_pool(scatters, count);
    }
    free(scatters);
}

/* Appends the rows of an extent to their header. */
static enum pdnn_status read_extent(const struct pdnn_merge_file *file, const struct pdnn_table_def *def,
                                    struct pdnn_merge_extent extent, struct pdnn_str *text,
                                    struct pdnn_err *err) {
    struct pdnn_str header = {0};
    pdnn_table_csv_header(&header, def);
    size_t used = header.length, length = used + extent.length;
    *text = (struct pdnn_str){.text = pdnn_alloc(length + 1, 1), .length = length, .room = length + 1};
    memcpy(text->text, header.text, used);
    pdnn_str_finish(&header);
    return pdnn_merge_read_at(fileno(file->stream), "the merged journal", extent.offset, text->text + used,
                              extent.length, err);
}

static enum pdnn_status read_visits(const struct writing *writing, size_t id, struct pdnn_visits *visits,
                                    struct pdnn_err *err) {
    const struct pdnn_merge_job *job = writing->job;
    const struct pdnn_merge_instance *of = &job->of[id];
    struct pdnn_str rows = {0}, ops = {0};
    enum pdnn_status status = read_extent(&job->visits_file, &pdnn_journal_def, of->visits, &rows, err);
    if (status == PDNN_OK)
        status = read_extent(&job->ops_file, &pdnn_journal_ops_def, of->ops, &ops, err);
    if (status == PDNN_OK)
        status = pdnn_journal_parse(job->ids.text[id], &rows, &ops, visits, err);
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
    const struct pdnn_merge_instance *instance = &job->of[id];
    if (read_visits(writing, id, &writing->visits, err) != PDNN_OK)
        return err->status;
    const struct pdnn_instance_visits of = pdnn_visits_of(&writing->visits, input->id);
    /* Ceilings of the host, as a directory of its own would have them. */
    const struct pdnn_merge_roofs *roofs = &job->roofs[instance->host];
    if (instance->host != writing->host) {
        writing->host = instance->host;
        writing->ceilings->count = roofs->count < PDNN_CEILINGS_MAX ? roofs->count : PDNN_CEILINGS_MAX;
        for (size_t i = 0; i < writing->ceilings->count; i++)
            writing->ceilings->row[i] = roofs->row[i];
    }
    input->visits = of.visit;
    input->ops = of.ops;
    input->n_visits = of.count;
    input->pool = writing->pools[instance->host];
    input->ceilings = writing->ceilings->count ? writing->ceilings : NULL;
    input->host = job->hosts.text[instance->host];
    for (size_t i = 0; i < of.count; i++)
        job->result.rows += 1 + of.ops[i].count;
    return pdnn_merge_check_stop(job, err);
}

enum pdnn_status pdnn_merge_write_tables(struct pdnn_merge_job *job, struct pdnn_err *err) {
    struct writing writing = {.job = job, .host = UINT32_MAX};
    struct pdnn_rows_sums sums;
    writing.ceilings = pdnn_alloc(1, sizeof *writing.ceilings);
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
            pdnn_merge_note(job, "missing: %s", job->session.tasks[i].id);
    enum pdnn_status status = pdnn_rows_make(&request, &sums, err);
    job->result.tally = sums.tally;
    if (status == PDNN_OK)
        status = pdnn_tables_write(&writing.tables, &job->output, err);
    pdnn_tables_finish(&writing.tables);
    pdnn_visits_finish(&writing.visits);
    free(writing.pools);
    free(writing.ceilings);
    return status;
}
