#define _POSIX_C_SOURCE 200809L
/* The parts of a joined sweep. */
#include "base/clock.h"
#include "results/store/journal.h"
#include "results/store/tables.h"
#include "session/join/job.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool path_of_part(const struct pdnn_join_job *job, const char *part, char path[PDNN_FOLDER_TEXT]) {
    int written = snprintf(path, PDNN_FOLDER_TEXT, "%s/parts/%s", job->request->sweep.path, part);
    return written > 0 && written < PDNN_FOLDER_TEXT;
}

bool pdnn_join_is_here(const struct pdnn_join_job *job, const char *part) {
    char path[PDNN_FOLDER_TEXT];
    struct pdnn_str host = {0};
    if (path_of_part(job, part, path))
        pdnn_environment_get(path, "host", &host);
    bool is_here = host.length && strcmp(pdnn_str_text(&host), job->session->host.name) == 0;
    pdnn_str_finish(&host);
    return is_here;
}

/* Earlier parts of this host must have had its setup, or their visits could not be merged. Their roofs are
 * taken over. */
static enum pdnn_status use_earlier(struct pdnn_join_job *job, struct pdnn_err *err) {
    const struct pdnn_sweep_request *request = &job->request->sweep;
    char path[PDNN_FOLDER_TEXT];
    pdnn_path_join(path, request->path, "parts");
    DIR *entries = opendir(path);
    enum pdnn_status status = PDNN_OK;
    for (const struct dirent *entry; entries && status == PDNN_OK && (entry = readdir(entries));) {
        if (*entry->d_name == '.' || !pdnn_join_is_here(job, entry->d_name))
            continue;
        path_of_part(job, entry->d_name, path);
        status = pdnn_environment_check(path, request->facts, request->n_facts, err);
        if (status == PDNN_OK && !request->ceilings_file && !job->session->ceilings->count &&
            pdnn_path_has(path, "ceilings.csv"))
            status = pdnn_ceilings_read_in(path, job->session->ceilings, err);
    }
    if (entries)
        closedir(entries);
    return status;
}

enum pdnn_status pdnn_join_make_part(struct pdnn_join_job *job, struct pdnn_err *err) {
    struct pdnn_sweep_request request = job->request->sweep;
    char path[PDNN_FOLDER_TEXT];
    if (use_earlier(job, err) != PDNN_OK)
        return err->status;
    if (!path_of_part(job, job->leases.self.part, path))
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", job->leases.self.part);
    if (mkdir(path, 0777) != 0)
        return pdnn_fail(err, PDNN_IO, "%s: cannot be created: %s", path, strerror(errno));
    request.path = path;
    enum pdnn_status status = pdnn_sweep_directory_open(&job->sweep, &request, err);
    if (status != PDNN_OK) {
        pdnn_sweep_directory_close(&job->sweep);
        return status;
    }
    job->has_part = true;
    snprintf(job->result.part, sizeof job->result.part, "%s", job->leases.self.part);
    uint64_t began_ns = pdnn_clock_ns();
    status = pdnn_sweep_directory_ceilings(&job->sweep, err);
    job->result.roofs_ns = pdnn_clock_ns() - began_ns;
    pdnn_session_predict(job->session);
    return status;
}

static bool is_wanted(const void *user, const char *id) {
    return pdnn_texts_find(user, id) != SIZE_MAX;
}

void pdnn_join_read_part(const struct pdnn_join_job *job, const struct pdnn_lease *lease,
                         struct pdnn_visits *visits) {
    char path[PDNN_FOLDER_TEXT];
    struct pdnn_err cause = {0};
    struct pdnn_texts ids = {0};
    if (!path_of_part(job, lease->holder.part, path) || !pdnn_path_has(path, "journal.csv"))
        return;
    for (size_t i = 0; i < lease->count; i++)
        pdnn_texts_add(&ids, job->session->tasks[lease->instance[i]].id);
    if (pdnn_journal_read(path, is_wanted, &ids, visits, &cause) != PDNN_OK)
        pdnn_session_warn(job->session, "%s; instances of this part are measured again", cause.text);
    pdnn_texts_finish(&ids);
}

/* Whether all of a part can be read; if not, *cause says why. What a merge took over from a part that is gone
 * is in DIR's own journal. */
static enum pdnn_status check_part(const struct pdnn_join_job *job, const char *path,
                                   struct pdnn_err *cause) {
    struct pdnn_visits visits = {0};
    if (!pdnn_path_has(path, "journal.csv") && (errno == ENOENT || errno == ENOTDIR))
        return pdnn_path_has(job->request->sweep.path, "journal.csv")
                   ? PDNN_OK
                   : pdnn_fail(cause, PDNN_INVALID, "%s/journal.csv: is gone", path);
    enum pdnn_status status = pdnn_journal_read(path, NULL, NULL, &visits, cause);
    pdnn_visits_finish(&visits);
    return status;
}

/* Whether a process that may be alive writes there. */
static bool is_in_use(const struct pdnn_join_job *job, const char *part) {
    bool is_held = strcmp(part, job->leases.self.part) == 0;
    for (size_t i = 0; i < job->leases.count && !is_held; i++)
        is_held = job->leases.lease[i].state == PDNN_LEASE_HELD &&
                  strcmp(part, job->leases.lease[i].holder.part) == 0;
    return is_held;
}

enum pdnn_status pdnn_join_void_damaged(struct pdnn_join_job *job, bool *has_freed, struct pdnn_err *err) {
    struct pdnn_leases *leases = &job->leases;
    size_t n_leases = leases->count; /* voiding one may read more */
    enum pdnn_status status = PDNN_OK;
    *has_freed = false;
    for (size_t i = 0; i < n_leases && status == PDNN_OK; i++) {
        struct pdnn_err cause = {0};
        char path[PDNN_FOLDER_TEXT], part[PDNN_PART_TEXT];
        if (!leases->lease[i].done || leases->lease[i].is_checked)
            continue;
        snprintf(part, sizeof part, "%s", leases->lease[i].holder.part);
        if (is_in_use(job, part) || !path_of_part(job, part, path))
            continue;
        enum pdnn_status found = check_part(job, path, &cause);
        bool is_void =
            found == PDNN_INVALID; /* otherwise it may be sound, and others may be able to read it */
        if (found != PDNN_OK)
            pdnn_session_warn(job->session, "%s%s", cause.text,
                              is_void ? "; instances of this part are measured again" : "");
        for (size_t k = i; k < n_leases && status == PDNN_OK; k++) {
            if (strcmp(leases->lease[k].holder.part, part) != 0)
                continue;
            leases->lease[k].is_checked = true;
            if (is_void && leases->lease[k].done) {
                *has_freed = true;
                status = pdnn_leases_void(leases, k, err);
            }
        }
    }
    return status;
}
