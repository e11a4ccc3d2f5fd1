#include "runtime/measure/measure.h"

#include "base/clock.h"
#include "base/memory.h"
#include "runtime/backend/core_share.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sample must be long compared with the cost and the resolution of the two clock reads around it. */
enum { SHORT_CLOCK_READS = 1000, SAMPLE_CLOCK_READS = 2 * SHORT_CLOCK_READS, SAMPLE_MIN_NS = 20000 };

enum { SAMPLES_MAX = PDNN_VISIT_SAMPLES_MAX, STAMPS_ROOM_MIN = 64, STEPS_MAX = 1 << 20 };

/* Stamped steps that every visit takes unless limits.time is close. While there is time, one more follows
 * each sample. */
enum { STAMPS_MIN = 3 };

/* Counted steps: whole ones, read before and after them, and one read part by part. An empty part costs the
 * least of so many. */
enum { COUNTED_WHOLE = 2, COUNTED = COUNTED_WHOLE + 1, EMPTY_PARTS = 3 };

/* A step is slow if limits.time leaves no room for this many samples beside the stamped steps. */
enum { SLOW_SAMPLES = 3 };

/* Warm-up continues while a block's median is more than 2 % better than the best so far. */
enum { BLOCK_SAMPLES = 3, WARM_BLOCKS_MAX = 50, WARM_STEPS_MIN = 2, WARM_SHARE = 8 };
static const double improvement = 0.02;

static const double drift_limit = 0.05;

/* Samples in which the process was stopped are taken again, so often. */
enum { STOPS_MAX = 8 };

struct session {
    const struct pdnn_measure_target *target;
    const struct pdnn_measure_rules *rules;
    uint64_t clock_cost_ns, start_ns;
    uint64_t steps;   /* per sample */
    uint64_t warmups; /* steps, not samples */
    struct pdnn_visit_spent spent;
    double *sample_ns, *sorted; /* SAMPLES_MAX each: ns per step in the order taken; scratch for sorting */
    size_t n_samples, n_stopped;
    struct pdnn_stops stops;
    struct pdnn_visit_hardware hardware; /* what has_usage says, and the share of the cores */
    bool short_sample;
    uint64_t longest_ns;            /* the longest sample or stamped step so far, with what surrounds it */
    uint64_t waited_ns, sampled_ns; /* in samples: waiting, and all */
    bool is_slow;                   /* a sample is a stamped step, since there is no time for both */
    uint64_t *stamp_ns; /* stamps_room rows of n_parts + 1: the parts, then the whole stamped step */
    double *column;     /* stamps_room */
    size_t n_stamps, stamps_room;
    size_t stride; /* samples between stamped steps */
};

static uint64_t now(const struct session *session) {
    return session->target->clock ? session->target->clock(session->target->user) : pdnn_clock_ns();
}

/* Times `steps` consecutive steps; *ns is the total. Nothing but steps runs between the two clock reads, and
 * the cost of a read is not the steps'. */
static int time_steps(const struct session *session, uint64_t steps, uint64_t *ns) {
    int (*step)(void *) = session->target->step;
    void *user = session->target->user;
    if (session->target->before)
        session->target->before(user, steps);
    uint64_t start = now(session);
    for (uint64_t i = 0; i < steps; i++) {
        int code = step(user);
        if (code)
            return code;
    }
    *ns = pdnn_clock_net_ns(now(session) - start, session->clock_cost_ns);
    if (session->target->after)
        *ns = session->target->after(user, *ns);
    return 0;
}

static uint64_t waited(const struct session *session) {
    return session->target->waited_ns ? session->target->waited_ns(session->target->user) : 0;
}

static void evict_if_cold(const struct session *session) {
    if (session->rules->cold && session->target->evict)
        session->target->evict(session->target->user);
}

/* Rounds up to whole periods. */
static uint64_t whole_periods(const struct session *session, uint64_t steps) {
    uint64_t period = session->target->period ? session->target->period : 1;
    return (steps + period - 1) / period * period;
}

/* Steps per sample so that a sample is long enough at this speed. */
static uint64_t calibrate(const struct session *session, double step_ns) {
    uint64_t wanted = SAMPLE_CLOCK_READS * session->clock_cost_ns;
    if (wanted < SAMPLE_MIN_NS)
        wanted = SAMPLE_MIN_NS;
    if (session->rules->cold || step_ns >= (double)wanted)
        return whole_periods(session, 1);
    double steps = (double)wanted / (step_ns > 0 ? step_ns : 1) + 1;
    return whole_periods(session, steps < STEPS_MAX ? (uint64_t)steps : STEPS_MAX);
}

/* Whether something that takes this long ends before the driver ends the visit. */
static bool fits(const struct session *session, double ns) {
    uint64_t limit_ns = session->rules->time_limit_ns;
    return !limit_ns || (double)(now(session) - session->start_ns) + ns <= (double)limit_ns;
}

static bool warm_time_is_up(const struct session *session) {
    uint64_t limit_ns = session->rules->time_limit_ns, most_ns = session->rules->max_visit_ns;
    if (limit_ns && limit_ns < most_ns)
        most_ns = limit_ns;
    return now(session) - session->start_ns >= most_ns / WARM_SHARE;
}

/* After a warm-up step: whether there is no time for the rest of the least that a visit usually takes. */
static bool is_slow(const struct session *session, double step_ns) {
    const double steps = WARM_STEPS_MIN - 1 + SLOW_SAMPLES + STAMPS_MIN;
    return session->target->stamped_step && session->warmups == 1 && !fits(session, steps * step_ns);
}

/* One block of warm-up samples. *median_ns is the median per step of the samples there was time for. */
static int warm_block(struct session *session, double *median_ns, bool *time_is_up) {
    double block_ns[BLOCK_SAMPLES];
    size_t taken = 0;
    while (taken < BLOCK_SAMPLES && !*time_is_up) {
        uint64_t ns;
        int code = time_steps(session, session->steps, &ns);
        if (code)
            return code;
        block_ns[taken++] = (double)ns / (double)session->steps;
        session->spent.warmup_ns += ns;
        session->warmups += session->steps;
        session->is_slow = session->is_slow || is_slow(session, (double)ns);
        *time_is_up = session->is_slow || (session->warmups >= WARM_STEPS_MIN && warm_time_is_up(session));
    }
    *median_ns = pdnn_median(block_ns, taken);
    return 0;
}

/* The first step pays for page faults, lazy initialisation and cold caches, the next few for the ramp-up of
 * the core clock. */
static int warm_up(struct session *session) {
    double best_ns = 0, median_ns;
    bool time_is_up = false;
    session->steps = 1;
    for (size_t block = 0; block < WARM_BLOCKS_MAX && !time_is_up; block++) {
        int code = warm_block(session, &median_ns, &time_is_up);
        if (code)
            return code;
        session->steps = calibrate(session, median_ns);
        bool settled = block > 0 && median_ns > best_ns * (1 - improvement);
        best_ns = block == 0 || median_ns < best_ns ? median_ns : best_ns;
        if (settled)
            break;
    }
    session->steps = calibrate(session, best_ns);
    return 0;
}

/* Whether what was just timed is no sample, since the process was stopped meanwhile (Ctrl-Z, a gang
 * scheduler). Several processes must agree on their samples, so there it counts. */
static bool was_stopped(struct session *session, uint64_t waited_ns) {
    bool counts = !pdnn_stops_end(&session->stops, waited_ns) || session->target->before ||
                  session->n_stopped == STOPS_MAX;
    session->n_stopped += !counts;
    return !counts;
}

static int take_whole_sample(struct session *session) {
    uint64_t ns;
    evict_if_cold(session);
    uint64_t waited_ns = waited(session);
    pdnn_stops_begin(&session->stops);
    int code = time_steps(session, session->steps, &ns);
    if (code)
        return code;
    waited_ns = waited(session) - waited_ns;
    if (was_stopped(session, waited_ns))
        return 0;
    session->waited_ns += waited_ns;
    session->sampled_ns += ns;
    session->spent.samples_ns += ns;
    session->short_sample |= ns < SHORT_CLOCK_READS * session->clock_cost_ns;
    session->sample_ns[session->n_samples++] = (double)ns / (double)session->steps;
    return 0;
}

/* The table is full: keep every second row and halve the rate, so that stamps stay spread over the visit. */
static void thin_stamps(struct session *session) {
    size_t row = session->target->n_parts + 1;
    session->n_stamps = session->stamps_room / 2;
    for (size_t i = 1; i < session->n_stamps; i++)
        memcpy(session->stamp_ns + i * row, session->stamp_ns + 2 * i * row, row * sizeof *session->stamp_ns);
    session->stride *= 2;
}

static int take_stamp(struct session *session) {
    size_t parts = session->target->n_parts;
    if (session->n_stamps == session->stamps_room)
        thin_stamps(session);
    uint64_t *stamp = session->stamp_ns + session->n_stamps * (parts + 1);
    memset(stamp, 0, (parts + 1) * sizeof *stamp);
    evict_if_cold(session);
    if (session->target->before)
        session->target->before(session->target->user, 1);
    int code = session->target->stamped_step(session->target->user, stamp);
    if (session->target->after) /* each process's own stamps count */
        session->target->after(session->target->user, 0);
    for (size_t i = 0; i < parts; i++)
        stamp[parts] += stamp[i];
    session->spent.stamped_ns += stamp[parts];
    session->n_stamps += code == 0;
    return code;
}

/* The clock reads of a stamped step are nothing beside a slow step, so one serves as both. */
static int take_slow_sample(struct session *session) {
    size_t row = session->target->n_parts + 1;
    uint64_t waited_ns = waited(session);
    pdnn_stops_begin(&session->stops);
    int code = take_stamp(session);
    if (code)
        return code;
    waited_ns = waited(session) - waited_ns;
    if (was_stopped(session, waited_ns)) {
        session->n_stamps--;
        return 0;
    }
    uint64_t ns = session->stamp_ns[session->n_stamps * row - 1] + waited_ns;
    session->waited_ns += waited_ns;
    session->sampled_ns += ns;
    session->sample_ns[session->n_samples++] = (double)ns;
    return 0;
}

/* Takes a sample or a stamped step and notes how long that took in all. */
static int take(struct session *session, int (*take_one)(struct session *session)) {
    uint64_t begun_ns = now(session), lost_ns = session->stops.lost_ns;
    int code = take_one(session);
    uint64_t took_ns = now(session) - begun_ns;
    if (session->stops.lost_ns == lost_ns)
        session->longest_ns = took_ns > session->longest_ns ? took_ns : session->longest_ns;
    return code;
}

/* Whether the quartiles lie within the requested precision of the median. */
static bool is_precise(const struct session *session) {
    size_t count = session->n_samples;
    memcpy(session->sorted, session->sample_ns, count * sizeof *session->sorted);
    double median = pdnn_median(session->sorted, count);
    double reach = median * session->rules->precision;
    return pdnn_quantile_sorted(session->sorted, count, 0.25) >= median - reach &&
           pdnn_quantile_sorted(session->sorted, count, 0.75) <= median + reach;
}

/* Whether enough time went into samples for what the visit has cost before. */
static bool is_worth_it(const struct session *session) {
    return !session->rules->least_ns || now(session) - session->start_ns >= session->rules->least_ns;
}

static bool visit_time_is_up(const struct session *session) {
    return now(session) - session->start_ns >= session->rules->max_visit_ns + session->stops.lost_ns;
}

/* Due after every stride-th sample. */
static bool stamp_is_due(const struct session *session) {
    return session->target->stamped_step && !session->is_slow &&
           (session->n_samples - 1) % session->stride == 0 &&
           (session->n_stamps < STAMPS_MIN || !visit_time_is_up(session)) &&
           (!session->n_stamps || fits(session, (double)session->longest_ns));
}

/* Samples until a rule says stop. Precision is checked each time the count has grown by a quarter, not after
 * each sample: the check costs time, and stopping at the first lucky moment would bias the spread. */
static int take_samples(struct session *session, enum pdnn_stop *stop) {
    size_t next_look = session->rules->min_samples;
    for (;;) {
        int code = take(session, session->is_slow ? take_slow_sample : take_whole_sample);
        if (code == 0 && session->n_samples && stamp_is_due(session))
            code = take(session, take_stamp);
        if (code)
            return code;
        if (session->n_samples && !fits(session, (double)session->longest_ns)) {
            *stop = PDNN_STOP_TIME_LIMIT;
            return 0;
        }
        if (session->n_samples < session->rules->min_samples)
            continue;
        if (session->n_samples >= next_look && is_worth_it(session) && is_precise(session)) {
            *stop = PDNN_STOP_PRECISION;
            return 0;
        }
        if (session->n_samples == SAMPLES_MAX) {
            *stop = PDNN_STOP_SAMPLES;
            return 0;
        }
        if (session->n_samples >= next_look)
            next_look += next_look / 4 + 1;
        if (visit_time_is_up(session)) {
            *stop = PDNN_STOP_MAX_TIME;
            return 0;
        }
    }
}

/* Samples, and what the process used meanwhile. */
static int sample(struct session *session, enum pdnn_stop *stop) {
    const struct pdnn_measure_target *target = session->target;
    struct pdnn_usage before, after;
    if (!target->usage)
        return take_samples(session, stop);
    const uint64_t begun_ns = now(session), waited_before_ns = waited(session);
    target->usage(target->user, &before);
    const int code = take_samples(session, stop);
    target->usage(target->user, &after);
    const uint64_t wall_ns = now(session) - begun_ns - session->stops.lost_ns,
                   waited_ns = waited(session) - waited_before_ns;
    struct pdnn_core_share share = {0};
    if (before.cpu_ns && after.cpu_ns > before.cpu_ns && wall_ns > waited_ns)
        share =
            (struct pdnn_core_share){.cpu_ns = after.cpu_ns - before.cpu_ns, .wall_ns = wall_ns - waited_ns};
    session->hardware = (struct pdnn_visit_hardware){
        .cpu_share_pct = fmin(1, pdnn_core_share_of(&share, target->threads)) * 100,
        .has_usage = true,
        .page_faults = after.page_faults - before.page_faults,
        .context_switches = after.context_switches - before.context_switches,
        .steal_pct = (after.steal_ns - before.steal_ns) / (double)wall_ns / (double)target->cores * 100};
    return code;
}

/* What reading alone counts. */
static bool count_empty_part(const struct session *session, struct pdnn_counts *least) {
    const struct pdnn_measure_target *target = session->target;
    struct pdnn_counts cost;
    target->count(target->user, least); /* begins */
    bool is_whole = target->count(target->user, least);
    for (int i = 1; i < EMPTY_PARTS && is_whole; i++) {
        is_whole = target->count(target->user, &cost);
        *least = cost.instructions < least->instructions ? cost : *least;
    }
    return is_whole;
}

/* As many steps as a sample has. */
static int count_whole(const struct session *session, const struct pdnn_counts *cost, struct pdnn_counts *sum,
                       bool *is_whole) {
    const struct pdnn_measure_target *target = session->target;
    struct pdnn_counts counts;
    evict_if_cold(session);
    target->count(target->user, &counts);
    for (uint64_t i = 0; i < session->steps; i++) {
        const int code = target->step(target->user);
        if (code)
            return code;
    }
    *is_whole = target->count(target->user, &counts);
    counts = pdnn_counts_net(counts, cost);
    pdnn_counts_add(sum, &counts);
    return 0;
}

/* The counted steps, where there is time for them. */
static int count_steps(const struct session *session, struct pdnn_visit_counted *counted) {
    const struct pdnn_measure_target *target = session->target;
    struct pdnn_counts cost, sum = {0};
    bool is_whole = true;
    int code = 0;
    if (!target->count)
        return 0;
    if (!fits(session, COUNTED * (double)session->longest_ns)) {
        counted->counters = PDNN_COUNTERS_LATE;
        return 0;
    }
    is_whole = count_empty_part(session, &cost);
    for (int i = 0; i < COUNTED_WHOLE && is_whole && !code; i++)
        code = count_whole(session, &cost, &sum, &is_whole);
    if (!code && is_whole) {
        evict_if_cold(session);
        code = target->counted_step(target->user, &cost);
        counted->of = pdnn_counted_of(&sum, COUNTED_WHOLE * session->steps);
        counted->slowest_ghz = sum.slowest_ghz;
    }
    if (!is_whole)
        counted->counters = PDNN_COUNTERS_SHARED;
    return code;
}

/* Whether the medians of the two halves differ by more than drift_limit. Needs at least three
 * samples per half. */
static bool drifted(const struct session *session) {
    size_t half = session->n_samples / 2;
    if (half < 3)
        return false;
    memcpy(session->sorted, session->sample_ns, session->n_samples * sizeof *session->sorted);
    double first = pdnn_median(session->sorted, half);
    double second = pdnn_median(session->sorted + half, session->n_samples - half);
    double larger = first > second ? first : second, smaller = first > second ? second : first;
    return larger > smaller * (1 + drift_limit);
}

static double stamp_median(const struct session *session, size_t part) {
    size_t row = session->target->n_parts + 1;
    for (size_t i = 0; i < session->n_stamps; i++)
        session->column[i] = (double)session->stamp_ns[i * row + part];
    return pdnn_median(session->column, session->n_stamps);
}

static void summarize(const struct session *session, struct pdnn_visit *visit, double *part_ns) {
    size_t count = session->n_samples;
    double *sorted = session->sorted, sum = 0;
    visit->flags &= ~(unsigned)(PDNN_FLAG_SHORT | PDNN_FLAG_DRIFT | PDNN_FLAG_PREEMPTED);
    if (session->short_sample)
        visit->flags |= PDNN_FLAG_SHORT;
    visit->hardware.cpu_share_pct = session->hardware.cpu_share_pct;
    visit->hardware.has_usage = session->hardware.has_usage;
    visit->hardware.page_faults = session->hardware.page_faults;
    visit->hardware.context_switches = session->hardware.context_switches;
    visit->hardware.steal_pct = session->hardware.steal_pct;
    if (pdnn_core_share_is_low(visit->hardware.cpu_share_pct / 100))
        visit->flags |= PDNN_FLAG_PREEMPTED;
    if (drifted(session))
        visit->flags |= PDNN_FLAG_DRIFT;
    visit->samples = count;
    visit->steps_per_sample = session->steps;
    visit->warmups = session->warmups;
    visit->spent.warmup_ns = session->spent.warmup_ns;
    visit->spent.samples_ns = session->spent.samples_ns;
    visit->spent.stamped_ns = session->spent.stamped_ns;
    visit->waited_share = session->sampled_ns ? (double)session->waited_ns / (double)session->sampled_ns : 0;
    visit->stamped_ns = session->n_stamps ? stamp_median(session, session->target->n_parts) : 0;
    for (size_t part = 0; part < session->target->n_parts; part++)
        part_ns[part] = stamp_median(session, part);
    for (size_t i = 0; i < count; i++)
        sum += session->sample_ns[i];
    visit->mean_ns = sum / (double)count;
    memcpy(sorted, session->sample_ns, count * sizeof *sorted);
    visit->median_ns = pdnn_median(sorted, count);
    visit->min_ns = sorted[0];
    visit->p10_ns = pdnn_quantile_sorted(sorted, count, 0.1);
    visit->p90_ns = pdnn_quantile_sorted(sorted, count, 0.9);
    visit->mad_ns = pdnn_mad(session->sample_ns, count, visit->median_ns, sorted);
}

/* Allocates and touches everything a visit writes to, so that no sample takes a page fault. */
static enum pdnn_status reserve(struct session *session, struct pdnn_err *err) {
    size_t row = session->target->n_parts + 1, stamps = STAMPS_ROOM_MIN;
    if (session->rules->min_samples > SAMPLES_MAX)
        return pdnn_fail(err, PDNN_INVALID, "min_samples is %llu, at most %d are kept",
                         (unsigned long long)session->rules->min_samples, SAMPLES_MAX);
    while (stamps < 2 * session->rules->min_samples)
        stamps *= 2;
    session->stamps_room = stamps;
    session->sample_ns = pdnn_alloc(SAMPLES_MAX, sizeof *session->sample_ns);
    session->sorted = pdnn_alloc(SAMPLES_MAX, sizeof *session->sorted);
    session->stamp_ns = pdnn_alloc(stamps * row, sizeof *session->stamp_ns);
    session->column = pdnn_alloc(stamps, sizeof *session->column);
    memset(session->sample_ns, 1, SAMPLES_MAX * sizeof *session->sample_ns);
    memset(session->stamp_ns, 1, stamps * row * sizeof *session->stamp_ns);
    return PDNN_OK;
}

enum pdnn_status pdnn_measure_visit(const struct pdnn_measure_target *target,
                                    const struct pdnn_measure_rules *rules, struct pdnn_visit *visit,
                                    double *part_ns, struct pdnn_err *err) {
    struct session session = {.target = target, .rules = rules, .stride = 1};
    struct pdnn_visit_counted counted = visit->counted;
    enum pdnn_stop stop = PDNN_STOP_SAMPLES;
    enum pdnn_status status = reserve(&session, err);
    if (status != PDNN_OK)
        goto out;
    session.start_ns = now(&session);
    session.clock_cost_ns = target->clock ? now(&session) - session.start_ns : pdnn_clock_read_cost_ns();
    int code = warm_up(&session);
    if (code == 0)
        code = sample(&session, &stop);
    if (code == 0)
        code = count_steps(&session, &counted);
    if (code) {
        status = pdnn_fail(err, PDNN_INTERNAL, "a step failed with code %d", code);
        goto out;
    }
    visit->stop = stop;
    visit->counted = counted;
    summarize(&session, visit, part_ns);
out:
    free(session.sample_ns);
    free(session.sorted);
    free(session.stamp_ns);
    free(session.column);
    return status;
}
