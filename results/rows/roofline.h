/* Where a model or an op stands against the machine's measured roofs: pure functions of costs, the graph's
 * order of accesses, and roofs. Nothing comes from a data sheet.
 *
 * Peak of a dtype: its largest compute row at this number of threads. A 16-bit peak is at least that of f32,
 * since f32 kernels can multiply widened operands. Bandwidth of a level: from its read, copy and triad rows
 * at this number of threads, the better kind of store for each.
 *
 * Where the bytes come from: the nodes' accesses are walked in the order of execution over the addresses of
 * the predicted plan (models/cost/memory.h), twice, since a measured step follows a step like it. The reuse
 * distance of an access is the number of bytes accessed since its memory was last accessed, itself included.
 * It is served as fast as the largest working set of the ladder that is not larger (caches do not end all at
 * once), or, without a ladder, by the smallest level that holds the distance. In the cold regime, the first
 * access to each byte of a step comes from DRAM.
 *
 * A working set has three rates. With read, copy, triad and update the best GB/s that were measured at it or
 * at a larger one (what a larger one reached, it can reach, and disturbances only lower what is measured),
 * the roof of the outermost level among them: r = max(read, copy / 2, 2 triad / 3, 2 update / 3), of reads
 * alone; m = max(read, copy, triad), of reads and writes together (a byte written takes as long as a byte
 * read beside it); and u, of what is written in place over what the same node reads: an update takes 3 /
 * update = 2 / m + 1 / u. u is a difference of two measured times, and noise can be all that is left of it:
 * it is neither below m nor above 16 m, for which m is raised where necessary.
 *
 * An implementation that moves more than the compulsory bytes (struct pdnn_extra_traffic) moves the rest at
 * the rates of the working set that it names. These bytes count in the times below, and so in the roof and in
 * what bounds a row; intensity and bandwidth are those of the compulsory bytes alone.
 *
 * With F_d the FLOP in bounds (models/cost/cost.h) in dtype d (pdnn_node_dtype), F their sum, and R_l, W_l
 * and U_l the bytes read, written and updated in place at the rates of working set l, compute time is sum(F_d
 * / peak_d), memory time is max(sum(R_l / r_l), sum((R_l + W_l) / m_l + U_l / u_l)), and roof_level is the
 * level with the largest share of the latter. The roof is the larger of the two times (Williams, Waterman,
 * Patterson, 2009): attainable = F / that, which in one dtype, and where nothing but compulsory bytes is
 * moved, equals min(peak, intensity * effective bandwidth). A model in int8 also has ops in f32, each under
 * the roof of its own dtype.
 *
 * A speed index (results/rows/aggregate.h) scales the roof to the machine's speed at the moment of the
 * measurement. A scaled roof is never above the highest measured one, and never below what the row reached as
 * long as that is not above it, since a disturbed probe makes no roof.
 *
 * Where several measurements were joined, a row's roofs have ends: their least and greatest values, and for a
 * row whose visits were in both states of the threads' distance, those of both. Arithmetic and memory may be
 * at any of their ends, which gives the lowest and the highest roof and, where the longest time of two of
 * arithmetic, memory and calls may be either's, all of them as the bound. No place is above a roof that is
 * not known within PDNN_ROOF_KNOWN.
 *
 * Gradients that are averaged over ranks need at least the time of messages of their buckets' sizes over the
 * link (pdnn_roof_rows_link_ns), which is the roof, with roof_level `link`, where it is longer than the other
 * two times; no speed index scales it.
 *
 * pct_of_roof = roof time / measured time * 100: of gflops over attainable, or of bytes where there is no
 * FLOP. bound = overhead when calling the ops at all (their number times the measured cost of an empty one)
 * takes longer than the roof and not longer than they took; else compute or memory, whichever time is larger.
 */
#ifndef RESULTS_ROWS_ROOFLINE_H
#define RESULTS_ROWS_ROOFLINE_H

#include "base/arena.h"
#include "models/graph.h"
#include "models/instance.h"
#include "results/store/results.h"
#include "runtime/protocol/roof_rows.h"

#include <stdbool.h>

enum { PDNN_ROOF_LEVELS = 8, PDNN_ROOF_RUNGS = 40 };

enum pdnn_traffic_rate {
    PDNN_TRAFFIC_READ,  /* reads alone */
    PDNN_TRAFFIC_MIXED, /* reads and writes */
    PDNN_TRAFFIC_UPDATE,
    PDNN_TRAFFIC_COUNT
};

/* The roofs for one thread count, with it in one state of the threads' distance. */
struct pdnn_roofs {
    bool repeats;                            /* several measurements were joined */
    double peak_gflops[PDNN_DTYPE_COUNT];    /* 0: not measured */
    double product_gflops[PDNN_DTYPE_COUNT]; /* of the fastest library's matrix products; 0: not measured */
    double overhead_ns;                      /* of one op; 0: not measured */
    double probe_gflops, probe_gbs;          /* the probes' reference speeds; 0: not measured */
    size_t n_levels;                         /* nearest to the core first; 0: not measured */
    struct pdnn_roof_level {
        char name[PDNN_LEVEL_TEXT];
        uint64_t capacity_bytes; /* UINT64_MAX for the last one */
        double gbs, read_gbs;    /* the best of the patterns, and r: for pictures and words */
    } level[PDNN_ROOF_LEVELS];
    size_t n_rungs; /* working sets, ascending; without a ladder one for each level; 0: not measured */
    struct pdnn_roof_rung {
        uint64_t from_bytes; /* the reuse distances from here on, to the next one, are served so: */
        double ns_per_byte[PDNN_TRAFFIC_COUNT]; /* 1 / r, 1 / m, 1 / u */
        size_t level;
    } rung[PDNN_ROOF_RUNGS];
};

/* Those of threads near each other, where there are two states. */
void pdnn_roofs_init(struct pdnn_roofs *roofs, const struct pdnn_roof_rows *roof_rows, int64_t threads);

/* What roofs range over: the least and the greatest of joined measurements, of one state or of both; {0}: not
 * known. Levels and working sets are the same in all of them. */
struct pdnn_roof_ends {
    size_t count;
    struct pdnn_roofs end[4];
};

/* Those of the state that most of the visits with these handoffs were in, near on a tie, and the ends of the
 * states that they were in. Without any, that may be either. */
void pdnn_roofs_of_visits(const struct pdnn_roof_rows *roof_rows, int64_t threads, const double *handoff_ns,
                          size_t count, struct pdnn_roofs *roofs, struct pdnn_roof_ends *ends);

/* The lowest and the highest peaks and levels, over all states. Equal to those of pdnn_roofs_init where all
 * was measured once. */
void pdnn_roofs_range(const struct pdnn_roof_rows *roof_rows, int64_t threads, struct pdnn_roofs *low,
                      struct pdnn_roofs *high);

/* Bytes read and written by rung. */
struct pdnn_traffic {
    uint64_t read_bytes[PDNN_ROOF_RUNGS], written_bytes[PDNN_ROOF_RUNGS];
    uint64_t updated_bytes[PDNN_ROOF_RUNGS]; /* written in place */
    uint64_t extra_bytes;                    /* of all of these: not compulsory */
};

/* How fast the machine was, relative to its speed when the roofs were measured; 1 if unknown. */
struct pdnn_speed {
    double compute; /* from the FMA probe: for rows bound by compute, overhead or caches */
    double memory;  /* from the read probe, which streams from DRAM: for rows bound by DRAM */
};

struct pdnn_place_input {
    uint64_t flop_count[PDNN_DTYPE_COUNT]; /* in bounds, by the dtype of the computation */
    struct pdnn_traffic traffic;
    uint64_t calls; /* ops executed, for the overhead */
    double time_ns; /* NaN: not measured; then only intensity, attainable, bound and level are filled */
    struct pdnn_speed speed;
    double link_ns; /* that averaging gradients needs at the measured roof of the link; 0: none is averaged */
};

/* What every node of the graph asks of the machine, except for its time (n_nodes of them, in the graph's
 * arena). PDNN_OVERFLOW if a count does not fit. */
enum pdnn_status pdnn_graph_inputs(const struct pdnn_graph *graph, const struct pdnn_roofs *roofs, bool cold,
                                   struct pdnn_place_input **inputs, struct pdnn_err *err);

/* Adds FLOP, traffic and calls. */
void pdnn_place_input_add(struct pdnn_place_input *sum, const struct pdnn_place_input *input);

/* Traffic of bytes that all have the same reuse distance, half of them read and half written: of a reorder,
 * which is in no graph, its own size. */
void pdnn_traffic_from(struct pdnn_traffic *traffic, const struct pdnn_roofs *roofs, uint64_t bytes,
                       uint64_t distance);

/* Adds what an implementation moves besides the compulsory bytes. */
void pdnn_traffic_add_extra(struct pdnn_traffic *traffic, const struct pdnn_roofs *roofs,
                            const struct pdnn_extra_traffic *extra);

/* What a roof is made of, at the speed that the roofs were measured at. */
struct pdnn_roof_times {
    double flop, bytes; /* bytes: compulsory ones */
    double compute_ns, memory_ns;
    double calls_ns;                  /* of the calls alone; 0: not measured, or more than the time */
    enum pdnn_bound bound;            /* the longest of them */
    char roof_level[PDNN_LEVEL_TEXT]; /* as in a placement */
};

/* False if there is no work, or the roofs lack what it needs; flop and bytes are there anyway. Reads
 * flop_count, traffic, calls and time_ns. */
bool pdnn_roof_times(const struct pdnn_roofs *roofs, const struct pdnn_place_input *input,
                     struct pdnn_roof_times *times);

/* Without ends, the roof has no range. */
void pdnn_place(const struct pdnn_roofs *roofs, const struct pdnn_place_input *input,
                struct pdnn_placement *place);
void pdnn_place_within(const struct pdnn_roofs *roofs, const struct pdnn_roof_ends *ends,
                       const struct pdnn_place_input *input, struct pdnn_placement *place);

/* The speed index that applies to the placement's bound and level. */
double pdnn_place_speed(const struct pdnn_placement *place, struct pdnn_speed speed);

#endif
