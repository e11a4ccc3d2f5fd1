#define _GNU_SOURCE /* environ */
#include "session/estimate.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "results/store/results.h"
#include "runtime/driver/worker/worker.h"
#include "session/roof_cache.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MAX = 4097 };

struct pdnn_estimate {
    const struct pdnn_spec *spec;
    const struct pdnn_host *host;
    const char *cache;
    const struct pdnn_ceilings *given; /* or NULL */
    struct pdnn_ceilings *kept;
    bool is_looked_up[THREADS_MAX]; /* by thread count */
    double rounds, total;
    bool any_nominal, any_measured;
    /* Rates of the last instance, and what they depend on. */
    int64_t dtype, threads, backend;
    struct pdnn_rates rates;
};

struct pdnn_estimate *pdnn_estimate_create(const struct pdnn_spec *spec, const struct pdnn_host *host,
                                           const char *cache, const struct pdnn_ceilings *ceilings) {
    struct pdnn_estimate *made = pdnn_alloc(1, sizeof *made);
    struct pdnn_ceilings *kept = pdnn_alloc(1, sizeof *kept);
    *made = (struct pdnn_estimate){
        .spec = spec, .host = host, .cache = cache, .given = ceilings, .kept = kept, .threads = -1};
    return made;
}

void pdnn_estimate_destroy(struct pdnn_estimate *estimate) {
    if (!estimate)
        return;
    free(estimate->kept);
    free(estimate);
}

enum pdnn_status pdnn_estimate_add(struct pdnn_estimate *estimate, const struct pdnn_instance *instance,
                                   const struct pdnn_totals *totals, struct pdnn_err *err) {
    const int64_t dtype = instance->setting[PDNN_SETTING_DTYPE],
                  threads = instance->setting[PDNN_SETTING_THREADS],
                  backend = instance->setting[PDNN_SETTING_BACKEND];
    bool is_known = dtype == estimate->dtype && threads == estimate->threads && backend == estimate->backend;
    if (!is_known && !estimate->given && threads < THREADS_MAX && !estimate->is_looked_up[threads]) {
        const struct pdnn_roofs_job job = {
            .directory = estimate->cache,
            .context = {.host = estimate->host,
                        .build = pdnn_build,
                        .isa = pdnn_isa_names[PDNN_ISA_DEFAULT],
                        .threads = threads,
                        .variables = environ},
        };
        estimate->is_looked_up[threads] = true;
        if (pdnn_roof_cache_last(&job, pdnn_clock_unix_ms(), estimate->kept, err) != PDNN_OK)
            return err->status;
    }
    if (!is_known) {
        estimate->dtype = dtype;
        estimate->threads = threads;
        estimate->backend = backend;
        estimate->rates = pdnn_predict_rates(estimate->given ? estimate->given : estimate->kept, instance);
        estimate->any_measured = estimate->any_measured || estimate->rates.is_measured;
        estimate->any_nominal = estimate->any_nominal || !estimate->rates.is_measured;
    }
    const struct pdnn_prediction made = pdnn_predict_at(&estimate->rates, estimate->spec, instance, totals);
    estimate->rounds += made.rounds;
    estimate->total += made.total;
    return PDNN_OK;
}

static void append_source(const struct pdnn_estimate *estimate, struct pdnn_str *out) {
    const struct pdnn_ceilings *roofs = estimate->given ? estimate->given : estimate->kept;
    char utc[PDNN_UTC_TEXT];
    if (estimate->any_measured && roofs->row[0].measured_unix_ms)
        pdnn_str_printf(out, "by the roofs measured %.16sZ",
                        pdnn_utc_format(roofs->row[0].measured_unix_ms, utc));
    else if (estimate->any_measured)
        pdnn_str_printf(out, "by the measured roofs");
    if (estimate->any_nominal)
        pdnn_str_printf(out, "%sat nominal speed%s", estimate->any_measured ? ", and " : "",
                        estimate->any_measured ? " where there are none" : "");
}

void pdnn_estimate_format(const struct pdnn_estimate *estimate, struct pdnn_str *out) {
    char rounds[PDNN_DURATION_TEXT], total[PDNN_DURATION_TEXT];
    pdnn_duration_format(rounds, estimate->rounds);
    pdnn_duration_format(total, estimate->total);
    pdnn_str_printf(out, "a sweep takes about %s", rounds);
    if (strcmp(rounds, total) != 0)
        pdnn_str_printf(out, ", up to %s where intervals stay wide", total);
    pdnn_str_printf(out, " (");
    append_source(estimate, out);
    pdnn_str_printf(out, ")");
}
