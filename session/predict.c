#include "session/predict.h"

#include "base/units.h"
#include "results/table/number.h"
#include "runtime/driver/sweep/sweep_schedule.h"

#include <math.h>
#include <string.h>

/* Nominal rates: a core of a server with AVX2 or better. Memory serves a few cores' worth at most. */
static const double nominal_gflops[PDNN_DTYPE_COUNT] = {
    [PDNN_F32] = 60, [PDNN_BF16] = 100, [PDNN_F16] = 100, [PDNN_INT8] = 200, [PDNN_S32] = 60, [PDNN_U8] = 200,
};
static const double nominal_gbs = 10, nominal_gbs_max = 100;

/* What steps reach of a measured roof. */
static const double roof_share = 0.6;

static const double naive_share = 0.01;

/* What sweeps made of the extra visits that a wide interval can ask for: tests/cli/limits_test.py. */
static const double usual_share = 0.8;

/* Time of a visit beside its steps. */
static const double probe_seconds = 0.015, prepare_seconds = 0.005, prepare_seconds_per_gb = 0.3;

static const double sample_seconds_min = 20e-6, evict_seconds = 0.01;

/* The course of a visit: see runtime/measure/measure. */
enum { WARM_STEPS = 9, WARM_STEPS_MIN = 2, WARM_SHARE = 4, STAMPS_MIN = 3, COUNTED = 3, STEPS_LEAST = 3 };

/* A visit goes on until it was worth its preparation: see runtime/worker/visit. */
enum { WORTH = 16 };

/* Samples with the warm-up and the stamped steps around them, over samples alone. */
#define AROUND_SAMPLES 2.2

struct rates {
    double gflops, gbs;
    bool is_measured;
};

/* Measured where there are roofs for these threads, nominal elsewhere. Kernels do not reach the plain
 * multiply-add roof, so the fastest GEMM counts where one was measured. */
static struct rates find_rates(const struct pdnn_roof_rows *roof_rows, const struct pdnn_instance *instance) {
    const enum pdnn_dtype dtype = (enum pdnn_dtype)instance->setting[PDNN_SETTING_DTYPE];
    const int64_t threads = instance->setting[PDNN_SETTING_THREADS];
    double gemm = 0, any = 0, gbs = 0;
    for (size_t i = 0; roof_rows && i < roof_rows->count; i++) {
        const struct pdnn_roof_row *row = &roof_rows->row[i];
        if (row->threads != threads)
            continue;
        if (strcmp(row->kind, "compute") == 0 && strcmp(row->dtype, pdnn_dtype_name(dtype)) == 0) {
            any = fmax(any, row->value);
            gemm = strncmp(row->pattern, "gemm-", 5) == 0 ? fmax(gemm, row->value) : gemm;
        } else if (strcmp(row->kind, "bandwidth") == 0 && strcmp(row->level, "DRAM") == 0) {
            gbs = fmax(gbs, row->value);
        }
    }
    struct rates rates = {roof_share * (gemm > 0 ? gemm : any), roof_share * gbs, any > 0 && gbs > 0};
    if (!(rates.gflops > 0))
        rates.gflops = nominal_gflops[dtype] * (double)threads;
    if (!(rates.gbs > 0))
        rates.gbs = fmin(nominal_gbs * (double)threads, nominal_gbs_max);
    if (strcmp(pdnn_backend_names[instance->setting[PDNN_SETTING_BACKEND]], "reference") == 0)
        rates.gflops *= naive_share;
    return rates;
}

struct pdnn_prediction pdnn_predict(const struct pdnn_roof_rows *roof_rows, const struct pdnn_spec *spec,
                                    const struct pdnn_instance *instance, const struct pdnn_totals *totals) {
    const struct rates rates = find_rates(roof_rows, instance);
    const struct pdnn_spec_measure *measure = &spec->measure;
    double limit = spec->limits.time_ns ? (double)spec->limits.time_ns / 1e9 : INFINITY;
    const bool is_paired = measure->order == PDNN_ORDER_PAIRED;
    double rounds = (double)measure->rounds,
           max_time = (double)measure->max_time_ns / 1e9 / (double)(is_paired ? measure->sides : 1);
    double share = fmin(max_time / rounds, is_paired ? (double)PDNN_SCHEDULE_PAIRED_NS * 1e-9 : INFINITY),
           samples = (double)measure->min_samples;
    double step_ns = fmax((double)totals->cost.in_bounds_flop_count / rates.gflops,
                          (double)totals->cost.byte_count / rates.gbs);
    struct pdnn_prediction made = {.step = step_ns * 1e-9 / pdnn_instance_repetitions(instance),
                                   .is_measured = rates.is_measured};
    bool is_cold = instance->setting[PDNN_SETTING_CACHE] == PDNN_CACHE_COLD;
    double sample = is_cold ? made.step + evict_seconds : fmax(made.step, sample_seconds_min);
    double prepare = prepare_seconds + prepare_seconds_per_gb * (double)totals->memory_bytes * 1e-9;
    double fixed = (measure->probe ? probe_seconds : 0) + prepare, worth = fmin(WORTH * prepare, share);
    if (fixed + STEPS_LEAST * sample > limit) {
        made.visit = made.rounds = made.usual = made.total = limit;
        return made;
    }
    fixed += measure->counters ? COUNTED * sample : 0;
    double warm = fmax(fmin(WARM_STEPS * sample, share / WARM_SHARE), WARM_STEPS_MIN * sample);
    double taken = fmax(fmin(2 * samples * sample, share - warm), (samples + STAMPS_MIN) * sample);
    made.visit = fmin(fixed + fmax(warm + taken, worth), limit);
    made.rounds = made.total = rounds * made.visit;
    /* While intervals are wide there are more visits, until their samples have taken max_time. */
    double in_samples = fmax(fmin(samples * sample, taken), worth - warm);
    const double visits =
        is_paired ? fmax((double)pdnn_looks[PDNN_LOOKS - 1], rounds) : PDNN_SCHEDULE_EXTRA * rounds;
    if (rounds > 1 && in_samples * rounds < max_time)
        made.total = fmax(made.rounds, fmin(visits * made.visit, visits * fixed + AROUND_SAMPLES * max_time));
    made.usual = made.rounds + usual_share * (made.total - made.rounds);
    return made;
}

void pdnn_estimate_add(struct pdnn_estimate *estimate, const struct pdnn_instance *instance,
                       const struct pdnn_totals *totals) {
    const struct pdnn_prediction made = pdnn_predict(estimate->roof_rows, estimate->spec, instance, totals);
    *(made.is_measured ? &estimate->any_measured : &estimate->any_nominal) = true;
    estimate->rounds += made.rounds;
    estimate->usual += made.usual;
    estimate->total += made.total;
}

void pdnn_estimate_format(const struct pdnn_estimate *estimate, struct pdnn_str *out) {
    char rounds[PDNN_DURATION_TEXT], usual[PDNN_DURATION_TEXT], total[PDNN_DURATION_TEXT], utc[PDNN_UTC_TEXT];
    const int64_t measured_ms = estimate->roof_rows ? estimate->roof_rows->row[0].measured_unix_ms : 0;
    pdnn_duration_format(rounds, estimate->rounds);
    pdnn_duration_format(usual, estimate->usual);
    pdnn_duration_format(total, estimate->total);
    pdnn_str_printf(out, "a sweep takes about %s", usual);
    if (strcmp(rounds, total) != 0)
        pdnn_str_printf(out, ", from %s where intervals are narrow at once to %s where they stay wide",
                        rounds, total);
    pdnn_str_printf(out, " (");
    if (estimate->any_measured && measured_ms)
        pdnn_str_printf(out, "by the roofs measured %.16sZ", pdnn_utc_format(measured_ms, utc));
    else if (estimate->any_measured)
        pdnn_str_printf(out, "by the measured roofs");
    if (estimate->any_nominal)
        pdnn_str_printf(out, "%sat nominal speed%s", estimate->any_measured ? ", and " : "",
                        estimate->any_measured ? " where there are none" : "");
    pdnn_str_printf(out, ")");
}
