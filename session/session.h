/* What sweep, run and check start from: the host, the spec, and its instances as tasks for the driver. Tasks
 * that need no run are closed. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "base/arena.h"
#include "base/paths/kept.h"
#include "session/hooks.h"
#include "session/join/presence.h"
#include "session/join/shard.h"
#include "gen/spec.h"
#include "models/cost/cost.h"
#include "models/varying.h"
#include "runtime/protocol/roof_rows.h"
#include "runtime/protocol/standing.h"
#include "runtime/host/host.h"
#include "runtime/driver/sweep/sweep.h"

/* What is known about a task without a visit. */
struct pdnn_session_row {
    struct pdnn_totals totals;
    bool has_totals;           /* it can be built, and all counts fit in 64 bits */
    enum pdnn_outcome outcome; /* of the row as long as it has no visit */
    const char *reason;
};

/* What open tasks run with, from what a worker said that loaded it. */
struct pdnn_session_library {
    const char *name;
    const struct pdnn_software *software;
    const char *hash[PDNN_SOFTWARE_MAX]; /* of the files of its rows; "": our own code */
};

struct pdnn_session {
    const struct pdnn_session_hooks *hooks; /* borrowed; NULL if nothing is measured */
    struct pdnn_shard shard;                /* the caller's; {0}: the whole sweep */
    const char
        *models;     /* the caller's, instead of the only argument's (pdnn_spec_load_models); NULL: those */
    bool allow_slow; /* even what has no fast path runs */
    bool no_cache;   /* the user wants nothing kept between processes, nor anything used that was */
    char cache[PDNN_KEPT_PATH]; /* directory of what is kept; "": nothing */
    struct pdnn_host host;
    struct pdnn_spec spec;
    uint64_t memory_limit_bytes; /* for one worker: limits.memory, of the host or in bytes */
    struct pdnn_arena arena;     /* ids, reasons */
    struct pdnn_task *tasks;     /* in spec order, each id once */
    struct pdnn_session_row *rows;
    size_t n_tasks, room;
    struct pdnn_varying varying;      /* what differs among the tasks */
    const char *common;               /* what their labels leave out; "" if nothing */
    struct pdnn_roof_rows *roof_rows; /* heap */
    uint64_t grace_ns;    /* what the current visit may take after a signal; 0: one second. The caller's */
    uint64_t started_ns;  /* when the budget began, on base/clock's scale. The caller's */
    uint64_t deadline_ns; /* when the process must have ended, on that scale; 0: never. The caller's */
    double later_seconds; /* what is guessed to come after the present visits or work, for the time left that
                             progress shows. The caller's */
    const char *largest; /* of tasks that share their weights: the id with most memory. Set when it is open */
    struct pdnn_presence presence;
    const struct pdnn_session_library *loaded; /* the builds, if an open task names a library */
    size_t n_loaded;
    struct pdnn_library_dirs libraries; /* those among them that are named, for the driver */
    char sets[PDNN_REQUEST_SETS];       /* of data sets, for workers; "": no open task reads files */
    const char *sets_text;              /* what they are, for people; NULL: none */
    enum pdnn_counters counters;        /* what the visits so far say of hardware counters */
    const char *places;      /* of the host's cores before free ones were put first; NULL: they were not */
    const char *shares_with; /* other sweeps on the same cores; NULL or "" if there are none */
};

/* The directory of what is kept between processes; "" if nothing is: no_cache, PARADNN_NO_CACHE, no home. */
void pdnn_session_cache(bool no_cache, char directory[PDNN_KEPT_PATH]);

/* Reads the host, loads the spec and expands it, and keeps the instances of the shard. `hooks`, `shard`,
 * `models`, `allow_slow`, `no_cache`, grace and deadline are the caller's, all else is {0} at first; what an
 * earlier opening left is released. A task starts closed if it is filtered out, needs more memory than the
 * limit or than can be counted, or needs more threads than there are. The others are open, and `interrupted`
 * until they have a visit. Always release *session with pdnn_session_finish. */
enum pdnn_status pdnn_session_open(struct pdnn_session *session, const char *const *arguments,
                                   size_t n_arguments, const char *const *sets, size_t n_sets,
                                   struct pdnn_err *err);
/* The same for a sweep that ran on the machine that an environment.yaml tells of ("": this one): what its
 * spec asked of that machine; shard_of: of the shard that its directory has; NULL: of the whole. It measures
 * nothing and has no roofs. */
enum pdnn_status pdnn_session_open_there(struct pdnn_session *session, const char *environment,
                                         const char *shard_of, const char *spec, struct pdnn_err *err);
/* Adds a task that is another one but for its threads. */
void pdnn_session_add_twin(struct pdnn_session *session, size_t task, const struct pdnn_instance *instance);
void pdnn_session_finish(struct pdnn_session *session);

/* Starts a worker with each library that an open task names, and with what workers load by themselves if
 * others do not, and notes what each loaded. PDNN_INVALID with the place in the spec if a directory is not
 * there, has no library that workers need, or has one that they do not load. */
enum pdnn_status pdnn_session_load_libraries(struct pdnn_session *session, struct pdnn_err *err);

/* The kind of worker that a task needs. */
struct pdnn_worker_kind pdnn_session_kind(const struct pdnn_session *session, size_t task);

/* Announces the session to other sweeps on this machine, with the cores that its open tasks take, and warns
 * of each that is running on one of those. is_joined: it takes cores that no other sweep has first, and says
 * so. directory: where the results go. */
void pdnn_session_announce(struct pdnn_session *session, bool is_joined, const char *directory);

/* Passes a formatted line to hooks->warn, if there are hooks. */
void pdnn_session_warn(const struct pdnn_session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Notes what the visit to the task says of hardware counters, and warns of the first that could not be
 * counted. True if that is news. */
bool pdnn_session_note_counters(struct pdnn_session *session, size_t task, const struct pdnn_visit *visit);

/* Whether the exit status is 1: some row ended as oom, timeout, crash, invalid or numeric_error, or no row
 * ended ok. The other outcomes are results like any other. */
bool pdnn_session_has_failed(const size_t counts[PDNN_OUTCOME_COUNT]);

/* How long visits may still take, so that the tables are written by the end of the budget and of the
 * process's time, whichever comes first; INFINITY: there is no end. */
double pdnn_session_seconds_left(const struct pdnn_session *session);

/* What progress says is left, given that of the present visits or work: with what comes later, at most until
 * that end. < 0: not known. */
double pdnn_session_shown_seconds(const struct pdnn_session *session, double seconds);

/* "the budget is spent" or "the time is up": what that end is. */
const char *pdnn_session_end_text(const struct pdnn_session *session);

/* If the result says that there was no time, rows without a visit get that as their reason, instead of a
 * signal. */
void pdnn_session_note_end(struct pdnn_session *session, const struct pdnn_sweep_result *result);

/* Predicts what a visit to each task takes, from the session's roofs as far as they are there. */
void pdnn_session_predict(struct pdnn_session *session);

/* The spec's rules in the driver's terms. From here on the session watches for an interrupt. */
struct pdnn_sweep_rules pdnn_session_rules(const struct pdnn_session *session);

/* In paired order, has all workers choose alike, however busy the machine is: what one measured is kept in
 * the directory for the others, and by measure.choices shared by all sides under which the library has the
 * same instruction set. Also with no_cache, which is of what lies elsewhere: each process of its own choices
 * would be another side. */
void pdnn_session_share_choices(const struct pdnn_session *session, const char *directory,
                                struct pdnn_sweep_rules *rules);

/* Roofs into session->roofs, for the thread counts of open tasks that have no row there yet: kept ones if
 * they still hold (session/roof_cache.h), or measured in a worker of its own: a second or two for each count.
 * Where a third of the time left is less than that, none, and a warning. A count that takes limits.time
 * longer than four times its part, or with all others a third of the time left, is an error. PDNN_INTERRUPTED
 * if the user asked to end. */
enum pdnn_status pdnn_session_measure_roofs(struct pdnn_session *session, struct pdnn_err *err);

/* Rows of links into session->roofs, for the ranks of open tasks that have none there yet, measured by
 * ranks that are started for this: some seconds for each. */
enum pdnn_status pdnn_session_measure_links(struct pdnn_session *session, struct pdnn_err *err);

/* pdnn_session_measure_roofs for a given list of thread counts. */
struct pdnn_roof_rows_job {
    const struct pdnn_host *host;
    const int64_t *threads;
    size_t n_threads;
    double seconds_each;
    uint64_t time_limit_ns; /* for each; 0: none */
    const char *cache;      /* directory of what is kept between processes; "": nothing */
    bool must_measure;      /* even if kept roofs would do */
};
/* Whether there are rows for this thread count. */
bool pdnn_roof_rows_have_threads(const struct pdnn_roof_rows *roof_rows, int64_t threads);
/* The time limit of a count that is meant to take this long. */
uint64_t pdnn_roof_rows_limit_ns(double seconds, uint64_t overtime_ns);
enum pdnn_status pdnn_measure_roofs(const struct pdnn_roof_rows_job *request,
                                    const struct pdnn_session_hooks *hooks, struct pdnn_roof_rows *roof_rows,
                                    struct pdnn_err *err);

/* Appends the roofs that are kept for this thread count, unless the rows have some; measures nothing. */
void pdnn_recall_roofs(const struct pdnn_host *host, const char *cache, int64_t threads,
                       struct pdnn_roof_rows *roof_rows);

/* Warns about thread counts of open tasks that the roofs do not have. */
void pdnn_session_warn_roofs(const struct pdnn_session *session, const char *path);

struct pdnn_fact;

/* What a sweep ran on and with, for environment.yaml: facts about host, software, effective settings and
 * limits, in the arena. Starts a worker to get them: only it links the libraries, and only it can see where
 * threads really run. */
enum pdnn_status pdnn_environment_facts(const struct pdnn_session *session, struct pdnn_arena *arena,
                                        struct pdnn_fact **facts, size_t *n_facts, struct pdnn_err *err);

/* Warns where what may vary did since the directory was written, and makes these facts lists of both. */
void pdnn_session_follow(struct pdnn_session *session, const char *directory, struct pdnn_fact *facts,
                         size_t n_facts);

/* How far a sweep has come: its instances by what their visits come to (runtime/protocol/standing.h). The one
 * count behind what sweep, compose, merge, status and the report say, with the same words. */
enum pdnn_stage {
    PDNN_STAGE_DONE,  /* all its visits are there, or it failed for good, or it has nothing to run */
    PDNN_STAGE_BEGUN, /* its row is made of fewer visits than the spec asks for */
    PDNN_STAGE_OPEN,  /* no visit yet */
    PDNN_STAGE_OTHER, /* it has visits, but this spec does not have it */
    PDNN_STAGE_COUNT
};
extern const char *const pdnn_stage_names[PDNN_STAGE_COUNT];

struct pdnn_tally {
    size_t instances; /* of the spec */
    size_t stage[PDNN_STAGE_COUNT];
    size_t counts[PDNN_OUTCOME_COUNT]; /* of the spec's instances: the status of their rows */
};

/* The stage of a task of the session with these visits, {0} for none; SIZE_MAX: the spec does not have it. */
enum pdnn_stage pdnn_stage_of(const struct pdnn_session *session, size_t task,
                              const struct pdnn_standing *standing);

/* Counts it; returns its stage. */
enum pdnn_stage pdnn_tally_add(struct pdnn_tally *tally, const struct pdnn_session *session, size_t task,
                               const struct pdnn_standing *standing);

/* The text of DIR/spec.yaml, which the caller frees. PDNN_INVALID if it cannot be read. */
enum pdnn_status pdnn_spec_read(const char *directory, char **text, struct pdnn_err *err);

enum { PDNN_SPEC_LINE_TEXT = 160 };

/* Whether two spec.yaml ask for other sweeps: line by line, but for comments, which say where a spec came
 * from. Then sets the first lines that differ, cut short. */
bool pdnn_spec_differs(const char *one, const char *other, char one_line[PDNN_SPEC_LINE_TEXT],
                       char other_line[PDNN_SPEC_LINE_TEXT]);

#endif
