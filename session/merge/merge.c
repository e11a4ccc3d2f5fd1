#include "session/merge/merge.h"

#include "base/clock.h"
#include "session/merge/job.h"

#include <stdlib.h>

enum pdnn_status pdnn_merge(const struct pdnn_merge_request *request, struct pdnn_merge_result *result,
                            struct pdnn_err *err) {
    struct pdnn_merge_job job = {.request = request, .output.fd = -1};
    enum pdnn_status status = pdnn_merge_find_sources(&job, err);
    if (status == PDNN_OK)
        status = pdnn_merge_compare_sources(&job, err);
    if (status == PDNN_OK)
        status = pdnn_merge_begin_output(&job, err);
    if (status == PDNN_OK)
        status = pdnn_merge_open_session(&job, false, err);
    if (status == PDNN_OK)
        status = pdnn_merge_read_roofs(&job, err);
    uint64_t began_ns = pdnn_clock_ns();
    if (status == PDNN_OK)
        status = pdnn_merge_find_visits(&job, err);
    if (status == PDNN_OK)
        status = pdnn_merge_order(&job, err);
    if (status == PDNN_OK)
        status = pdnn_merge_write_journal(&job, err);
    uint64_t journal_ns = pdnn_clock_ns();
    if (status == PDNN_OK)
        status = pdnn_merge_write_tables(&job, err);
    job.result.journal_ns = journal_ns - began_ns;
    job.result.tables_ns = pdnn_clock_ns() - journal_ns;
    if (status == PDNN_OK)
        status = pdnn_merge_write_facts(&job, err);
    if (status == PDNN_OK)
        status = pdnn_merge_publish(&job, err);
    pdnn_merge_remove_output(&job);
    job.result.directories = job.n_sources;
    job.result.hosts = job.hosts.count;
    *result = job.result;
    pdnn_merge_finish(&job);
    return status;
}

void pdnn_merge_finish(struct pdnn_merge_job *job) {
    struct pdnn_merge_file *const files[] = {&job->visits_file, &job->ops_file};
    for (size_t i = 0; i < 2; i++)
        if (files[i]->stream)
            fclose(files[i]->stream);
    for (size_t i = 0; i < job->n_sources; i++) {
        pdnn_journal_scan_close(&job->source[i].scan);
        pdnn_texts_finish(&job->source[i].ids);
        free(job->source[i].host_of);
    }
    for (size_t i = 0; job->roofs && i < job->hosts.count; i++)
        free(job->roofs[i].row);
    for (size_t i = 0; i < job->n_specs; i++)
        free(job->specs[i]);
    pdnn_session_finish(&job->session);
    pdnn_texts_finish(&job->hosts);
    pdnn_texts_finish(&job->ids);
    pdnn_texts_finish(&job->spellings);
    pdnn_arena_finish(&job->arena);
    free(job->source);
    free(job->roofs);
    free(job->specs);
    free(job->spec_text);
    free(job->of_spelling);
    free(job->of);
    free(job->places);
    free(job->order);
    free(job->id_of_task);
}
