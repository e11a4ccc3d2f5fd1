/* How long a sweep takes for one instance, known before anything runs: for dealing instances to shards and
 * workers, for deciding whether a visit still fits into the time left, and for telling how long a sweep
 * takes. Not a claim about any machine. */
#ifndef SESSION_PREDICT_H
#define SESSION_PREDICT_H

#include "base/str.h"
#include "gen/spec.h"
#include "models/cost/cost.h"
#include "runtime/host/host.h"
#include "runtime/protocol/roof_rows.h"

/* All in seconds of wall time. */
struct pdnn_prediction {
    double step;      /* one step of the model */
    double visit;     /* one visit: preparation, probes, warm-up and samples */
    double rounds;    /* the visits of its rounds */
    double total;     /* those, and all extra ones that a wide interval can ask for */
    double usual;     /* with as many of these as sweeps on shared machines made */
    bool is_measured; /* both rates come from the roofs */
};

/* With R GFLOP/s and B GB/s of the instance's dtype and threads:
 *
 *   step  = max(flop / R, bytes / B), without taps on padding and only for layers that run; a sample is at
 *           least 20 us, since shorter steps are batched, so the calls' overhead never matters
 *   fixed = 15 ms for the probes and the journal, 5 ms and 0.3 s per GB for the preparation; with counters,
 *           three samples
 *   warm  = 9 steps, but at most a quarter of the visit's share of max_time, and at least 2 steps
 *   taken = min_samples samples, each with a stamped step, but at most the rest of that share, and at least
 *           min_samples + 3 steps
 *   visit = fixed + warm + taken, at most limits.time
 *   total = visits * visit; visits = rounds, and if rounds > 1, up to that many extra ones while max_time
 *           lasts; if not even fixed + 3 steps fit into limits.time, one visit of that length
 *
 * roof_rows: measured roofs, of which GEMMs and streams reach 60 %; NULL, or without rows for these threads:
 * nominal rates, which are the same on every machine. The naive backend runs at a hundredth of R. */
struct pdnn_prediction pdnn_predict(const struct pdnn_roof_rows *roof_rows, const struct pdnn_spec *spec,
                                    const struct pdnn_instance *instance, const struct pdnn_totals *totals);

/* How long a sweep over many instances takes, as it is told to people before anything runs. */
struct pdnn_estimate {
    const struct pdnn_spec *spec;
    /* Roofs; NULL, or without rows for some threads: the rates are nominal. */
    const struct pdnn_roof_rows *roof_rows;
    /* {0} at first. */
    double rounds, usual, total; /* seconds */
    bool any_nominal, any_measured;
};

/* Adds an instance. */
void pdnn_estimate_add(struct pdnn_estimate *estimate, const struct pdnn_instance *instance,
                       const struct pdnn_totals *totals);

/* Appends one line: "a sweep takes about 47 h 30 min, from 33 h 10 min where intervals are narrow at once to
 * 51 h 02 min where they stay wide (by the roofs measured 2026-11-22T18:40Z)". Measuring roofs and choosing
 * implementations is not in it. */
void pdnn_estimate_format(const struct pdnn_estimate *estimate, struct pdnn_str *out);

#endif
