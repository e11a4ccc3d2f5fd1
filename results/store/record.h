/* What the tables say about one instance and about one of its ops: plain rows with measured and derived
 * fields side by side. results/rows fills them, results/store/columns prints them. Not available: NaN
 * for a double, PDNN_ABSENT for a count, "" for text. */
#ifndef RESULTS_STORE_RECORD_H
#define RESULTS_STORE_RECORD_H

#include "models/cost.h"
#include "models/instance.h"
#include "runtime/facts/visit.h"

#include <stdbool.h>
#include <stdint.h>

#define PDNN_ABSENT UINT64_MAX

/* Version of the tables, raised when the name or meaning of a column or the journal's layout changes; only
 * this one is read. */
enum { PDNN_SCHEMA = 3 };

/* What limits a row: see results/rows/roofline.h. */
enum pdnn_bound {
    PDNN_BOUND_UNKNOWN,
    PDNN_BOUND_COMPUTE,
    PDNN_BOUND_MEMORY,
    PDNN_BOUND_OVERHEAD,
    PDNN_BOUND_COUNT
};

/* The rows from PDNN_BOUND_COMPUTE on, the last one empty. */
extern const struct pdnn_word pdnn_bound_words[];

/* "" for none, "compute", "memory", "overhead". */
const char *pdnn_bound_name(enum pdnn_bound bound);

enum { PDNN_LEVEL_TEXT = 24 };

/* Where a row stands against the machine's roofs; the definitions are in results/rows/roofline.h. */
struct pdnn_placement {
    double gflops, bw_gbs, intensity_flop_per_byte;
    double attainable_gflops, pct_of_roof, pct_of_peak;
    double roof_ns; /* the least time that the roofs, scaled to the machine's speed, allow */
    enum pdnn_bound bound;
    char roof_level[PDNN_LEVEL_TEXT]; /* L1, L2, L3, DRAM: where most of the memory time goes */
};

/* One row of results.csv. */
struct pdnn_record {
    char id[PDNN_ID_TEXT];
    size_t model_length; /* of the part of the id that names the model */
    bool parsed;         /* this program knows the id, so `instance` is set */
    struct pdnn_instance instance;
    bool has_totals;
    struct pdnn_totals totals;
    enum pdnn_outcome outcome;
    char reason[PDNN_REASON_TEXT];
    uint64_t plan_bytes, prepare_ns;
    double time_ns_median, time_ns_min, time_ns_mean, time_ns_p10, time_ns_p90, time_ns_mad, ci_low_ns,
        ci_high_ns;
    uint64_t rounds, samples, warmups;
    uint64_t extrapolated;            /* 1: not all layers ran */
    const char *method, *stop_reason; /* static text */
    double speed_index, probe_gflops, probe_gbs, examples_per_s, residual_pct;
    /* With data that changes from step to step: share of the step that waits, and the loaders alone, of which
     * the last one is for files only. */
    double infeed_pct, loader_examples_per_s, loader_bytes_per_s;
    const char *page_cache;                                               /* static text */
    double compute_ns, skew_ns, comm_ns, exposed_ns, hidden_pct, bus_gbs; /* of several ranks; else NAN */
    uint64_t allreduce_bytes;
    struct pdnn_placement place;
    unsigned flags;
    const char *host;        /* borrowed */
    int64_t started_unix_ms; /* start of the first visit; 0: none */
};

/* Room for the implementations of all ops in a row. */
enum { PDNN_IMPLEMENTATIONS_TEXT = 4 * PDNN_IMPLEMENTATION_TEXT };

/* One row of ops.csv. */
struct pdnn_op_record {
    const char *id;               /* borrowed from the record */
    const struct pdnn_record *of; /* the instance's row, where this one is written; NULL where it was read */
    uint64_t op_index;
    char layer[2 * PDNN_LAYER_TEXT + 2]; /* see models/group.h */
    char op[PDNN_LAYER_TEXT];
    const char *category, *pass, *dtype; /* static text */
    char shape[PDNN_OP_KEY_TEXT];
    uint64_t count, flop_count, in_bounds_flop_count, byte_count;
    uint64_t extrapolated; /* 1: some of its ops did not run */
    double time_ns_median, share_pct;
    struct pdnn_placement place;
    char implementation[PDNN_IMPLEMENTATIONS_TEXT]; /* several: joined by " | " */
};

/* Sets everything to not available, and the outcome to `interrupted`. */
void pdnn_record_init(struct pdnn_record *record, const char *id);
void pdnn_placement_init(struct pdnn_placement *place);

/* "2026-05-01T12:00:00.123Z" and back; false if the text is not such a time. Returns buffer. */
enum { PDNN_UTC_TEXT = 96 };
const char *pdnn_utc_format(int64_t unix_ms, char buffer[PDNN_UTC_TEXT]);
bool pdnn_utc_parse(const char *text, int64_t *unix_ms);

#endif
