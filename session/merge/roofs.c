#define _POSIX_C_SOURCE 200809L
/* The roofs of each host: of several measurements with one thread count, a whole one is kept, since the rows
 * of a measurement belong to one state of the machine. It is the fastest: a roof is what was seen. */
#include "base/memory.h"
#include "results/stats/means.h"
#include "results/store/tables.h"
#include "session/merge/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Mean logarithm of the rates with this thread count; -INFINITY if there are none. */
static double score(const struct pdnn_ceiling *row, size_t count, int64_t threads) {
    struct pdnn_mean rates = {0};
    for (size_t i = 0; i < count; i++) {
        bool is_rate = strcmp(row[i].kind, "compute") == 0 || strcmp(row[i].kind, "bandwidth") == 0;
        if (row[i].threads == threads && is_rate)
            pdnn_mean_add(&rates, log(row[i].value), 0);
    }
    return rates.n ? rates.mean : -INFINITY;
}

static bool has_threads(const struct pdnn_ceiling *row, size_t count, int64_t threads) {
    for (size_t i = 0; i < count; i++)
        if (row[i].threads == threads)
            return true;
    return false;
}

/* Replaces the rows with this thread count; thread counts stay in ascending order. */
static void put_set(struct pdnn_merge_roofs *roofs, const struct pdnn_ceilings *from, int64_t threads,
                    const char *host) {
    struct pdnn_ceiling *made = pdnn_alloc(roofs->count + from->count + 1, sizeof *made);
    size_t count = 0;
    for (size_t i = 0; i < roofs->count; i++)
        if (roofs->row[i].threads < threads)
            made[count++] = roofs->row[i];
    for (size_t i = 0; i < from->count; i++) {
        if (from->row[i].threads != threads)
            continue;
        made[count] = from->row[i];
        snprintf(made[count++].host, sizeof made->host, "%.*s", PDNN_CEILING_HOST_TEXT - 1, host);
    }
    for (size_t i = 0; i < roofs->count; i++)
        if (roofs->row[i].threads > threads)
            made[count++] = roofs->row[i];
    free(roofs->row);
    *roofs = (struct pdnn_merge_roofs){made, count};
}

static enum pdnn_status take_roofs(struct pdnn_merge_job *job, const char *path, uint32_t host,
                                   struct pdnn_ceilings *scratch, struct pdnn_err *err) {
    struct pdnn_merge_roofs *roofs = &job->roofs[host];
    scratch->count = 0;
    enum pdnn_status status = pdnn_ceilings_read(path, job->hosts.text[host], scratch, err);
    for (size_t i = 0; i < scratch->count && status == PDNN_OK; i++) {
        int64_t threads = scratch->row[i].threads;
        if (has_threads(scratch->row, i, threads))
            continue;
        bool is_better =
            !has_threads(roofs->row, roofs->count, threads) ||
            score(scratch->row, scratch->count, threads) > score(roofs->row, roofs->count, threads);
        if (is_better)
            put_set(roofs, scratch, threads, job->hosts.text[host]);
    }
    return status;
}

/* Whether rows of this host may come from the source. */
static bool has_host(const struct pdnn_merge_source *source, uint32_t host) {
    for (size_t i = 0; source->has_hosts && i < source->ids.count; i++)
        if (source->host_of[i] == host)
            return true;
    return !source->has_hosts && source->host == host;
}

enum pdnn_status pdnn_merge_read_roofs(struct pdnn_merge_job *job, struct pdnn_err *err) {
    struct pdnn_ceilings *scratch = pdnn_alloc(1, sizeof *scratch);
    job->roofs = pdnn_alloc(job->hosts.count + 1, sizeof *job->roofs);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < job->n_sources && status == PDNN_OK; i++) {
        char path[PDNN_FOLDER_TEXT];
        snprintf(path, sizeof path, "%s/ceilings.csv", job->source[i].path);
        for (uint32_t host = 0; host < job->hosts.count && status == PDNN_OK; host++)
            if (has_host(&job->source[i], host) && pdnn_path_has(job->source[i].path, "ceilings.csv"))
                status = take_roofs(job, path, host, scratch, err);
    }
    free(scratch);
    return status;
}
