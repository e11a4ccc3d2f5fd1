/* What the parts of a merge share. Private to session/merge. */
#ifndef SESSION_MERGE_JOB_H
#define SESSION_MERGE_JOB_H

#include "results/table/table.h"
#include "base/arena.h"
#include "base/paths/folder.h"
#include "base/texts.h"
#include "results/store/journal.h"
#include "runtime/protocol/ceilings.h"
#include "runtime/protocol/standing.h"
#include "base/stats.h"
#include "session/merge/merge.h"
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
    uint32_t host; /* of all its visits, unless: */
    bool has_hosts;
    struct pdnn_texts
        ids; /* it was merged from several hosts: instances of hosts.csv, and the host of each */
    uint32_t *host_of;
};

/* A visit, of which a source has the row. */
struct pdnn_merge_visit {
    uint32_t instance, source, host;
    bool is_copy;
    enum pdnn_outcome outcome;
    unsigned flags;
    int64_t started_ms;
    double median_ns;
    uint64_t hash; /* of the row, but for id and number */
    uint64_t offset, length, ops_offset, ops_length;
};

/* Its visits from `from` to `end`, of one host, are kept, but for copies. */
struct pdnn_merge_instance {
    size_t from, end;
    struct pdnn_standing standing; /* of those that are kept */
    uint32_t host;
    bool is_listed; /* it has its row in the tables */
};

struct pdnn_merge_job {
    const struct pdnn_merge_request *request;
    const volatile int *stop; /* nonzero: end; NULL: never */
    struct pdnn_merge_result result;
    struct pdnn_arena arena;
    struct pdnn_merge_source *source;
    size_t n_sources, source_room;
    struct pdnn_texts hosts;
    struct pdnn_ceilings *roofs; /* by host: whole sets, one for each thread count */
    const char *spec_path;       /* where the first was read */
    char *spec_text;
    char **specs; /* those that differ: several only of a union */
    size_t n_specs, spec_room;
    struct pdnn_session session; /* what the spec asked for, on the largest of the hosts */
    bool takes_shard;            /* if there is one source, only what its shard has */
    struct pdnn_texts ids;       /* in the order they were found, in today's form */
    /* An id as it stands in a file, quotes included, and its number: most rows need nothing more. */
    struct pdnn_texts spellings;
    size_t *of_spelling;
    size_t spellings_room;
    struct pdnn_merge_instance *of; /* by id */
    struct pdnn_merge_visit *visits;
    size_t n_visits, visits_room;
    size_t *order;                    /* ids in the order of the merged journal */
    size_t *id_of_task;               /* by task: its id, or SIZE_MAX */
    struct pdnn_folder output;        /* the directory under its temporary name */
    char temporary[PDNN_FOLDER_TEXT]; /* "" if there is none */
    bool is_inside;                   /* the temporary directory is in the output, which has parts/ */
};

/* PDNN_INTERRUPTED if the user wants it to end. */
enum pdnn_status pdnn_merge_check_stop(const struct pdnn_merge_job *job, struct pdnn_err *err);

/* Orders texts for qsort. */
int pdnn_merge_by_text(const void *left, const void *right);

/* Opens all sources that have visits, and refuses those of different specs, unless their union is wanted. */
enum pdnn_status pdnn_merge_find_sources(struct pdnn_merge_job *job, struct pdnn_err *err);
/* One host has one setup, or it is PDNN_INVALID. Between hosts the machine may differ, and that is noted. */
enum pdnn_status pdnn_merge_compare_sources(struct pdnn_merge_job *job, struct pdnn_err *err);

/* Finds the instances and the visits of all sources, and decides which visits are kept. */
enum pdnn_status pdnn_merge_find_visits(struct pdnn_merge_job *job, struct pdnn_err *err);

/* What counts in it (runtime/protocol/standing.h). */
struct pdnn_visit pdnn_merge_visit_of(const struct pdnn_merge_visit *visit);

/* Appends the rows of the instance's visits, numbered again, in both files of a journal. */
enum pdnn_status pdnn_merge_append_instance(const struct pdnn_merge_job *job, size_t instance,
                                            struct pdnn_str *rows, struct pdnn_str *ops,
                                            struct pdnn_err *err);
/* UINT32_MAX if it is not known. */
uint32_t pdnn_merge_host_of(const struct pdnn_merge_source *source, const char *id);

/* Chooses the roofs of each host among those of the sources. */
enum pdnn_status pdnn_merge_read_roofs(struct pdnn_merge_job *job, struct pdnn_err *err);

enum pdnn_status pdnn_merge_open_session(struct pdnn_merge_job *job, struct pdnn_err *err);
/* Fills id_of_task and order from ids. */
enum pdnn_status pdnn_merge_order(struct pdnn_merge_job *job, struct pdnn_err *err);

/* Releases the job, except for the output. */
void pdnn_merge_finish(struct pdnn_merge_job *job);

/* hosts.csv. */
enum pdnn_hosts_column { PDNN_HOSTS_ID, PDNN_HOSTS_HOST, PDNN_HOSTS_COLUMNS };
extern const struct pdnn_table_def pdnn_hosts_def;

#endif
