/* What the parts of a merge share. Private to session/merge. */
#ifndef SESSION_MERGE_JOB_H
#define SESSION_MERGE_JOB_H

#include "results/table/table.h"
#include "base/arena.h"
#include "base/paths/folder.h"
#include "base/texts.h"
#include "results/store/journal_scan.h"
#include "runtime/protocol/ceilings.h"
#include "runtime/protocol/standing.h"
#include "base/stats.h"
#include "session/merge/request.h"
#include "session/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PDNN_MERGE_NOTES = 10 }; /* lines of one kind; the rest are counted */

/* A directory with a journal. */
struct pdnn_merge_source {
    const char *path;
    dev_t device;
    ino_t inode;
    const char *environment; /* text of environment.yaml */
    struct pdnn_journal_scan scan;
    uint64_t end;  /* of what the first scan saw of journal.csv */
    uint32_t host; /* of all its visits, unless: */
    bool has_hosts;
    struct pdnn_texts
        ids; /* it was merged from several hosts: instances of hosts.csv, and the host of each */
    uint32_t *host_of;
};

/* The measured roofs of a host: whole sets, one for each thread count. */
struct pdnn_merge_roofs {
    struct pdnn_ceiling *row;
    size_t count;
};

/* Bytes in the merged journal. */
struct pdnn_merge_extent {
    uint64_t offset, length;
};

struct pdnn_merge_instance {
    size_t found; /* visits in all sources */
    size_t start; /* of the batch's visits: its first */
    size_t kept;  /* visits */
    struct pdnn_merge_extent visits, ops;
    struct pdnn_scatter scatter;
    uint32_t host;
    bool is_listed; /* it has its row in the tables */
};

struct pdnn_merge_job {
    const struct pdnn_merge_request *request;
    struct pdnn_merge_result result;
    struct pdnn_arena arena;
    struct pdnn_merge_source *source;
    size_t n_sources;
    struct pdnn_texts hosts;
    struct pdnn_merge_roofs *roofs; /* by host */
    const char *spec_path;          /* where the text was read */
    char *spec_text;
    char **specs; /* those that differ, of a union */
    size_t n_specs, spec_room;
    struct pdnn_session session; /* what the spec asked for, on the largest of the hosts */
    struct pdnn_texts ids;       /* in the order they were found, in today's form */
    /* An id as it stands in a file, quotes included, and its number: most rows need nothing more. */
    struct pdnn_texts spellings;
    size_t *of_spelling;
    size_t spellings_room;
    struct pdnn_merge_instance *of;   /* by id */
    size_t *order;                    /* ids in the order of the merged journal */
    size_t *id_of_task;               /* by task: its id, or SIZE_MAX */
    struct pdnn_folder output;        /* the directory under its temporary name */
    char temporary[PDNN_FOLDER_TEXT]; /* "" if there is none */
    bool is_inside;                   /* the temporary directory is in the output, which has parts/ */
};

/* Passes a formatted line to the caller. */
void pdnn_merge_note(const struct pdnn_merge_job *job, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool pdnn_merge_is_stopped(const struct pdnn_merge_job *job);

/* Orders texts for qsort. */
int pdnn_merge_by_text(const void *left, const void *right);

/* Reads that many bytes of an open file. */
enum pdnn_status pdnn_merge_read_at(int fd, const char *path, uint64_t offset, char *bytes, size_t length,
                                    struct pdnn_err *err);

/* Opens all sources that have visits, and refuses those of different specs, unless their union is wanted. */
enum pdnn_status pdnn_merge_find_sources(struct pdnn_merge_job *job, struct pdnn_err *err);
/* One host has one setup, or it is PDNN_INVALID. Between hosts the machine may differ, and that is noted. */
enum pdnn_status pdnn_merge_compare_sources(const struct pdnn_merge_job *job, struct pdnn_err *err);
void pdnn_merge_close_sources(struct pdnn_merge_job *job);

/* Scans a source from its front: `each` gets every visit with the number of its instance among job->ids, and
 * says whether to go on. */
typedef bool pdnn_merge_each(void *user, size_t source, size_t instance,
                             const struct pdnn_scanned_visit *visit);
enum pdnn_status pdnn_merge_scan(struct pdnn_merge_job *job, size_t source, pdnn_merge_each *each, void *user,
                                 struct pdnn_err *err);
/* UINT32_MAX if it is not known. */
uint32_t pdnn_merge_host_of(const struct pdnn_merge_source *source, const char *id);

/* Chooses the roofs of each host among those of the sources. */
enum pdnn_status pdnn_merge_read_roofs(struct pdnn_merge_job *job, struct pdnn_err *err);
void pdnn_merge_free_roofs(struct pdnn_merge_job *job);

/* Opens the session: of the whole sweep, or of the only source's shard. */
enum pdnn_status pdnn_merge_open_session(struct pdnn_merge_job *job, bool is_shard, struct pdnn_err *err);
/* Fills id_of_task from ids. */
enum pdnn_status pdnn_merge_find_tasks(struct pdnn_merge_job *job, struct pdnn_err *err);
enum pdnn_status pdnn_merge_order(struct pdnn_merge_job *job, struct pdnn_err *err);

/* Finds the instances; writes journal.csv and journal-ops.csv. */
enum pdnn_status pdnn_merge_write_journal(struct pdnn_merge_job *job, struct pdnn_err *err);

/* Writes results.csv and ops.csv from the merged journal, and counts what is missing. */
enum pdnn_status pdnn_merge_write_tables(struct pdnn_merge_job *job, struct pdnn_err *err);

/* Writes operators.csv, if any source has one. */
enum pdnn_status pdnn_merge_write_library(struct pdnn_merge_job *job, struct pdnn_err *err);

/* The directory: begin, the small files, rename or remove. */
enum pdnn_status pdnn_merge_begin_output(struct pdnn_merge_job *job, struct pdnn_err *err);
enum pdnn_status pdnn_merge_write_facts(struct pdnn_merge_job *job, struct pdnn_err *err);
enum pdnn_status pdnn_merge_publish(struct pdnn_merge_job *job, struct pdnn_err *err);
void pdnn_merge_remove_output(struct pdnn_merge_job *job);

/* hosts.csv. */
enum pdnn_hosts_column { PDNN_HOSTS_ID, PDNN_HOSTS_HOST, PDNN_HOSTS_COLUMNS };
extern const struct pdnn_table_def pdnn_hosts_def;

#endif
