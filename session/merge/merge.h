/* Journals of shards, of joined workers and of earlier runs made into one result directory. Sources are only
 * read. The new directory is complete or not there: it is built under another name and renamed.
 *
 * A visit is known by its host and by its row, all but the visit's number: two rows that begin in the same
 * millisecond and agree in every measured digit are one visit that was copied. An instance has the visits of
 * one host only; if several measured it, those of the host with most ok visits are kept, of equal ones those
 * of the first by name. Visits are in order of their start and numbered again, instances in the order of the
 * spec, so the result does not depend on the order of the sources.
 *
 * Time grows with the rows; memory with the instances and by 80 bytes a visit. */
#ifndef SESSION_MERGE_MERGE_H
#define SESSION_MERGE_MERGE_H

#include "base/paths/folder.h"
#include "results/store/journal.h"
#include "session/session.h"

struct pdnn_merge_request {
    /* result directories, and directories with parts/ that stand for their parts */
    const char *const *sources;
    size_t n_sources;
    bool is_union; /* sources of different specs are merged, too: the new spec is all of theirs */
    /* a path where nothing or an empty directory is, or a source with parts/: its tables are then written
     * beside parts/ */
    const char *output;
    const struct pdnn_session_hooks *hooks; /* for warnings, and for the end that the user wants; borrowed */
};

struct pdnn_merge_result {
    size_t directories, hosts;
    size_t visits;           /* in the merged journal */
    size_t copies, left_out; /* visits seen before; visits of hosts not kept */
    size_t conflicts;        /* instances that several hosts measured */
    struct pdnn_tally tally;
};

/* PDNN_INVALID, with a message that names the file, for what cannot be merged: damaged or foreign journals,
 * two specs, one host with two setups, an output that exists. PDNN_IO if the result cannot be written. */
enum pdnn_status pdnn_merge(const struct pdnn_merge_request *request, struct pdnn_merge_result *result,
                            struct pdnn_err *err);

/* The steps of it that only read, which session/status takes, too. */

/* A directory with a journal. */
struct pdnn_merge_source {
    const char *path;
    dev_t device;
    ino_t inode;
    const char *environment; /* text of environment.yaml */
    struct pdnn_journal_scan scan;
    uint32_t host;         /* of all its visits; UINT32_MAX if it was merged from several hosts: */
    struct pdnn_texts ids; /* instances of hosts.csv, and the host of each; NULL: there is none */
    uint32_t *host_of;
};

/* A visit, of which a source has the row. */
struct pdnn_merge_visit {
    uint32_t instance, source, host; /* UINT32_MAX if the host is not known */
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
    struct pdnn_texts hosts, threads; /* names; what `threads: all` was there */
    struct pdnn_roof_rows *roofs;     /* by host: whole sets, one for each thread count */
    const char *spec_path;            /* where the first was read */
    char *spec_text;
    const char **specs; /* those that differ: several only of a union */
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
    size_t *order;             /* ids in the order of the merged journal */
    size_t *id_of_task;        /* by task: its id, or SIZE_MAX */
    struct pdnn_folder output; /* the directory under its temporary name */
    const char *temporary;     /* NULL: there is none */
    bool is_inside;            /* the temporary directory is in the output, which has parts/ */
};

/* PDNN_INTERRUPTED if the user wants it to end. */
enum pdnn_status pdnn_merge_check_stop(const struct pdnn_merge_job *job, struct pdnn_err *err);

/* Orders texts for qsort. */
int pdnn_merge_by_text(const void *left, const void *right);

/* Opens all sources that have visits, and refuses those of different specs, unless their union is wanted. */
enum pdnn_status pdnn_merge_find_sources(struct pdnn_merge_job *job, struct pdnn_err *err);
/* One host has one setup, or it is PDNN_INVALID. Between hosts the machine may differ, and that is noted. */
enum pdnn_status pdnn_merge_compare_sources(struct pdnn_merge_job *job, struct pdnn_err *err);
/* Opens the session, after writing spec.yaml where there is an output. */
enum pdnn_status pdnn_merge_open_session(struct pdnn_merge_job *job, struct pdnn_err *err);
/* Chooses the roofs of each host among those of the sources. */
enum pdnn_status pdnn_merge_read_roofs(struct pdnn_merge_job *job, struct pdnn_err *err);
/* Finds the instances and the visits of all sources, and decides which visits are kept. */
enum pdnn_status pdnn_merge_find_visits(struct pdnn_merge_job *job, struct pdnn_err *err);
/* Fills id_of_task and order from ids. */
enum pdnn_status pdnn_merge_order(struct pdnn_merge_job *job, struct pdnn_err *err);

/* What counts in it (runtime/protocol/standing.h). */
struct pdnn_visit pdnn_merge_visit_of(const struct pdnn_merge_visit *visit);

/* Releases the job, except for the output. */
void pdnn_merge_finish(struct pdnn_merge_job *job);

/* hosts.csv. */
enum pdnn_hosts_column { PDNN_HOSTS_ID, PDNN_HOSTS_HOST, PDNN_HOSTS_COLUMNS };
extern const struct pdnn_table_def pdnn_hosts_def;

#endif
