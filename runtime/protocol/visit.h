/* The result of one visit to an instance. Plain data without pointers to anything outside: the worker fills
 * it, the driver appends it to the journal, and results/ reads it back. */
#ifndef RUNTIME_PROTOCOL_VISIT_H
#define RUNTIME_PROTOCOL_VISIT_H

#include "base/word.h"
#include "runtime/host/counters.h"

#include <stdbool.h>

#include <stddef.h>
#include <stdint.h>

enum pdnn_outcome {
    PDNN_OUTCOME_OK,
    PDNN_OUTCOME_FILTERED, /* excluded by `where`; nothing ran */
    /* the backend, library or processor cannot run it; reason says what is missing */
    PDNN_OUTCOME_UNSUPPORTED,
    PDNN_OUTCOME_OOM_PREDICTED, /* needs more than the limit; nothing was allocated */
    PDNN_OUTCOME_OOM,           /* ran out of memory, or was killed for it */
    PDNN_OUTCOME_TIMEOUT,       /* exceeded limits.time */
    PDNN_OUTCOME_CRASH,         /* the worker died */
    PDNN_OUTCOME_INVALID,       /* cannot be run as asked, for example more threads than cores */
    PDNN_OUTCOME_NUMERIC_ERROR, /* a result is not finite */
    PDNN_OUTCOME_UNPREDICTED,   /* composed of operators, one of which could not be measured */
    PDNN_OUTCOME_INTERRUPTED,   /* a signal or the budget ended the sweep before a visit */
    PDNN_OUTCOME_COUNT
};

/* The rows of each enum's names, in its order, the last one empty. */
extern const struct pdnn_word pdnn_outcome_words[], pdnn_stop_words[], pdnn_flag_words[];

/* The name in the tables: "ok", "oom_predicted", ... */
const char *pdnn_outcome_name(enum pdnn_outcome outcome);
/* PDNN_OUTCOME_COUNT if it is not the name of an outcome. */
enum pdnn_outcome pdnn_outcome_find(const char *name);

/* Why a visit stopped sampling: its samples agreed closely enough, its time was spent, it could hold no
 * more samples, or another one would not have fitted into limits.time. */
enum pdnn_stop {
    PDNN_STOP_PRECISION,
    PDNN_STOP_MAX_TIME,
    PDNN_STOP_SAMPLES,
    PDNN_STOP_TIME_LIMIT,
    PDNN_STOP_COUNT
};
const char *pdnn_stop_name(enum pdnn_stop stop); /* "precision", "max_time", "samples", "time_limit" */

/* Bits of flags. */
enum pdnn_flag {
    /* faster than a measured roof allows: a count or a roof is wrong, or caches were warm */
    PDNN_FLAG_ABOVE_ROOF = 1 << 0,
    PDNN_FLAG_NOISY = 1 << 1, /* half the interval is wider than five times the requested precision */
    /* visit: the second half of its samples differs from the first by more than 5 %; row: most visits have
     * the flag, or the later half of the visits differs from the earlier by as much */
    PDNN_FLAG_DRIFT = 1 << 2,
    PDNN_FLAG_PREEMPTED =
        1 << 3, /* the threads had less than 85 % of their cores while sampling (core_share.h) */
    PDNN_FLAG_SHORT = 1 << 4,     /* a sample took less than 1000 clock reads */
    PDNN_FLAG_REF = 1 << 5,       /* a library ran an implementation called ref */
    PDNN_FLAG_THROTTLED = 1 << 6, /* the host's throttle counters moved during the visit */
    PDNN_FLAG_SLOW = 1 << 7,      /* ops without a fast path for the dtype ran, because of --allow-slow */
    /* rows only: the probes beside it and those beside the roofs differ too much to tell how fast the machine
     * was; the row's roof is that of the roofs */
    PDNN_FLAG_ODD_SPEED = 1 << 8,
    /* limits.memory left no room to try the implementations of some op: it runs the usual one */
    PDNN_FLAG_UNTRIED = 1 << 9,
    /* the model did not run: its time is the sum of its operators' times (session/compose/compose.h) */
    PDNN_FLAG_COMPOSED = 1 << 10,
    /* besides composed: some of these times were predicted (results/fit/interpolate.h) */
    PDNN_FLAG_PREDICTED = 1 << 11,
    /* besides composed: from all rounds of operators together (session/compose/visits.c) */
    PDNN_FLAG_SETTLED = 1 << 12,
    PDNN_FLAG_QUOTA = 1 << 13, /* a control group's quota stopped its threads during the visit */
    /* imported rows: the file's number of parameters is not that of the model that its label names */
    PDNN_FLAG_MISLABELED = 1 << 14,
    PDNN_FLAG_UNPLACED =
        1 << 15, /* rows only: faster than its probes allow, so no roof of that moment is known */
    /* measured rows only, noisy, too: the interval is wider than a factor of three: the time says nothing */
    PDNN_FLAG_UNUSABLE = 1 << 16,
    /* rows only: pdnn_distances_differ for some of its visits */
    PDNN_FLAG_MOVED = 1 << 17,
    /* in paired order: it ran other choices than the first visit of its round, although they share them */
    PDNN_FLAG_OTHER_CHOICES = 1 << 18,
};

enum { PDNN_FLAG_COUNT = 19 };
/* "above_roof|noisy"; "" for no flags. Returns buffer. */
enum { PDNN_FLAGS_TEXT = 192 };
const char *pdnn_flags_format(unsigned flags, char buffer[PDNN_FLAGS_TEXT]);
unsigned pdnn_flags_parse(const char *text);

enum {
    PDNN_OP_KEY_TEXT = 704,
    PDNN_OP_LAYER_TEXT = 48,
    PDNN_IMPLEMENTATION_TEXT = 64,
    PDNN_REASON_TEXT = 256
};

/* What an implementation moves besides the compulsory bytes of its op (models/cost/cost.h): operands that it
 * reads again, copies that it makes. {0}: nothing. What is blocked for the caches nearest to the core, as in
 * any product, does not count. */
struct pdnn_extra_traffic {
    uint64_t read_bytes, written_bytes;
    /* The different bytes, of all threads together, touched from one use of a byte to the next: the level
     * that holds so many serves them. */
    uint64_t set_bytes;
};

/* *sum += more, which is served like the larger set of the two. */
void pdnn_extra_traffic_add(struct pdnn_extra_traffic *sum, const struct pdnn_extra_traffic *more);

/* What all threads together counted in one step; 0: not known. */
struct pdnn_counted {
    double effective_ghz; /* cycles over the time that the threads had their cores */
    uint64_t instructions;
    double ipc; /* instructions a cycle */
};

/* One measured row of ops.csv: a group of equal nodes, or of equal reorders. */
struct pdnn_visit_op {
    /* "dense/forward/64x2000:2000x1024:64x1024": op, pass and shape as models/cost/group.h prints them */
    char key[PDNN_OP_KEY_TEXT];
    char layer[PDNN_OP_LAYER_TEXT]; /* stem of its layers if that tells nodes apart, else "" */
    char implementation[PDNN_IMPLEMENTATION_TEXT];
    uint32_t count; /* executions in one step */
    uint64_t bytes; /* reorders only: bytes moved by all of them; for nodes the graph gives the bytes */
    struct pdnn_extra_traffic extra; /* of all of them */
    double time_ns;                  /* of all of them together, median over the stamped steps */
    struct pdnn_counted counted;     /* likewise, in one step */
};

/* The worker's plan set (runtime/plan/plan_set.h) after a visit to one of its members. */
struct pdnn_visit_set {
    uint64_t shared_bytes; /* weights and state, shared by all members */
    uint64_t block_bytes;  /* size of the set's one block so far */
    uint64_t prepared;     /* members prepared so far */
    uint64_t kept;         /* of these, ready to run now */
    uint64_t most;         /* the most that are kept at a time */
};

/* What the ranks of one instance did apart from whole steps, per step, as the slowest rank had it; 0: there
 * was one rank. */
struct pdnn_visit_ranks {
    double compute_ns; /* steps without communication */
    double skew_ns;    /* of these, slowest less fastest rank */
    double comm_ns;    /* communication without steps; 0: nothing is averaged */
    uint64_t bytes;    /* of the gradients that are averaged */
};

/* The minibatches of a visit whose data is not resident; 0: it is. */
#define PDNN_INFEED_OP "infeed" /* the op that the waiting is in its row of ops */
enum { PDNN_PAGE_CACHE_TEXT = 8 };
struct pdnn_visit_infeed {
    double wait_ns;                        /* waited in a step of median length, also a row of its ops */
    double loader_ns;                      /* the loaders alone: per minibatch */
    uint64_t loader_bytes;                 /* and read from files */
    char page_cache[PDNN_PAGE_CACHE_TEXT]; /* before the first step: "warm", "dropped", "mixed"; "" without
                                              files */
};

/* A lower share of their cores means that other programs ran there, too. */
enum { PDNN_LOW_SHARE_PCT = 85 };

/* Whether threads that were once this far apart and once that far, the smaller first, were in two states of
 * the machine: each state's handoffs repeat far more closely. False where one of them is 0 or NaN. */
bool pdnn_distances_differ(double least_ns, double most_ns);

/* What the hardware did beside the samples. The first three are means of the probes before and after the
 * visit. 0: not known, but for what has_usage says. */
struct pdnn_visit_hardware {
    double clock_ghz;     /* of the slowest thread's core */
    double handoff_ns;    /* a cache line's round trip between the neighbouring threads farthest apart */
    double fork_ns;       /* an empty parallel region */
    double cpu_share_pct; /* of their cores' time that the threads had while sampling */
    bool has_usage;       /* the rest is known: of the process while sampling */
    uint64_t page_faults, context_switches;
    double steal_pct; /* of the cores' time that the host took for others; NaN: not known */
};

/* By hardware counters, in steps of their own after the samples. */
struct pdnn_visit_counted {
    struct pdnn_counted of;
    double slowest_ghz;          /* not in the journal: the slowest thread's */
    enum pdnn_counters counters; /* not in the journal: what was counted, or why nothing was */
};

/* Where the time of a visit went; not in the journal. */
struct pdnn_visit_spent {
    uint64_t prepare_ns; /* all before the first probe: graph, primitives, layouts, memory, data, choosing */
    uint64_t choose_ns;  /* part of prepare_ns: running candidates to choose between implementations */
    uint64_t probe_ns, warmup_ns;
    uint64_t samples_ns, stamped_ns; /* steps that became samples, and stamped steps */
    uint64_t measured, recalled;     /* choices measured now; choices that another process had measured */
};

/* What a visit chose among implementations, as hashes: visits with the same questions are to have the same
 * answers. {0}: it chose nothing, or for itself alone. Not in the journal. */
struct pdnn_visit_choices {
    uint64_t questions; /* the instance, but for its isa and library, and the instruction set in effect */
    uint64_t answers;   /* each choice and what was picked */
};

struct pdnn_visit {
    enum pdnn_outcome outcome;
    char reason[PDNN_REASON_TEXT]; /* "" when ok */
    int64_t started_unix_ms;
    uint64_t prepare_ns; /* graph, primitives, layouts, memory, data */
    /* the block: tensors in their layouts, copies, scratch; for a member of a set, what
     * it would take alone */
    uint64_t plan_bytes;
    struct pdnn_visit_set set; /* not in the journal; {0}: the instance had a plan of its own */
    uint64_t samples, steps_per_sample;
    uint64_t warmups;                                          /* steps, not samples */
    double median_ns, min_ns, mean_ns, p10_ns, p90_ns, mad_ns; /* per step */
    /* not in the journal: the part of the samples' time that went into waiting for minibatches */
    double waited_share;
    double stamped_ns; /* median over stamped steps of the sum of their parts, which leave no gaps */
    struct pdnn_visit_ranks ranks;
    struct pdnn_visit_infeed infeed;
    double probe_gflops, probe_gbs; /* the probes just before and after, together; 0: no probe */
    struct pdnn_visit_hardware hardware;
    struct pdnn_visit_counted counted;
    enum pdnn_stop stop;
    struct pdnn_visit_choices choices;
    struct pdnn_visit_spent spent;
    unsigned flags;
    size_t n_ops;
    struct pdnn_visit_op *ops; /* heap, owned; freed by pdnn_visit_finish */
};

void pdnn_visit_finish(struct pdnn_visit *visit);

#endif
