#include "session/compose/correct.h"

#include "base/clock.h"
#include "base/memory.h"
#include "results/stats/conformal.h"
#include "results/stats/correction.h"
#include "runtime/facts/standing.h"
#include "runtime/facts/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A model is large if it needs this many times the last-level cache. */
enum { LARGE = 4 };

struct settle {
    struct pdnn_sweep_directory *sweep;
    const enum pdnn_settle_use *use;
    struct pdnn_texts kinds, strata;
    struct pdnn_correction_row *rows;
    size_t n_rows, room, n_models;
    double *factor; /* by kind, then that of all others; NULL: 1 */
    size_t n_factors;
    struct pdnn_conformal_case *cases;
    size_t n_cases;
    double *scratch; /* as many as there are cases */
    int64_t started_unix_ms;
    enum pdnn_status status; /* of the commits; nothing is done any more once it is not PDNN_OK */
    struct pdnn_err *err;
};

/* The rounds of one model: visits with the same rows. */
struct rounds {
    struct pdnn_instance_visits of;
    size_t *visit; /* indices */
    size_t count;
    double *scratch;
};

static bool has_same_rows(const struct pdnn_measured_ops *a, const struct pdnn_measured_ops *b) {
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = a->op[i].key == b->op[i].key && a->op[i].implementation == b->op[i].implementation &&
               a->op[i].layer == b->op[i].layer;
    return same;
}

/* The last round that was not predicted; if there is none, the last; SIZE_MAX: none. */
static size_t find_last(const struct pdnn_instance_visits *of) {
    size_t last = SIZE_MAX;
    for (size_t i = of->count; i-- > 0;) {
        if (!pdnn_visit_is_round(&of->visit[i]))
            continue;
        if (!(of->visit[i].flags & PDNN_FLAG_PREDICTED))
            return i;
        last = last == SIZE_MAX ? i : last;
    }
    return last;
}

static void find_rounds(const struct settle *settle, size_t task, struct rounds *rounds) {
    rounds->of =
        pdnn_visits_of(pdnn_journal_visits(settle->sweep->journal), settle->sweep->session->tasks[task].id);
    const struct pdnn_instance_visits *of = &rounds->of;
    rounds->count = 0;
    rounds->visit = pdnn_alloc(of->count + 1, sizeof *rounds->visit);
    rounds->scratch = pdnn_alloc(of->count + 1, sizeof *rounds->scratch);
    size_t last = find_last(of);
    for (size_t i = of->count; i-- > 0;) {
        if (pdnn_visit_is_round(&of->visit[i]) && of->visit[i].flags == of->visit[last].flags &&
            has_same_rows(&of->ops[i], &of->ops[last]))
            rounds->visit[rounds->count++] = i;
    }
}

static void rounds_finish(struct rounds *rounds) {
    free(rounds->visit);
    free(rounds->scratch);
}

/* What was predicted says nothing of the method's own error. */
static bool is_predicted(const struct rounds *rounds) {
    return rounds->of.visit[rounds->visit[0]].flags & PDNN_FLAG_PREDICTED;
}

static const struct pdnn_measured_op *row_of(const struct rounds *rounds, size_t row) {
    return &rounds->of.ops[rounds->visit[0]].op[row];
}

static double median_of_row(const struct rounds *rounds, size_t row) {
    for (size_t i = 0; i < rounds->count; i++)
        rounds->scratch[i] = rounds->of.ops[rounds->visit[i]].op[row].time_ns;
    return pdnn_median(rounds->scratch, rounds->count);
}

/* The median over the model's own visits; NaN if it has none. */
static double direct_of(const struct rounds *rounds) {
    return pdnn_visits_median_ns(rounds->of.visit, rounds->of.count, PDNN_VISITS_DIRECT, rounds->scratch);
}

/* What the row took where the model ran, as a share of what all rows took: the median over its visits. */
static double direct_share_of(const struct rounds *rounds, size_t row) {
    const struct pdnn_measured_op *of = row_of(rounds, row);
    size_t count = 0;
    for (size_t i = 0; i < rounds->of.count; i++) {
        double all = 0, own = 0;
        if (!pdnn_visit_is_direct(&rounds->of.visit[i]))
            continue;
        for (size_t k = 0; k < rounds->of.ops[i].count; k++) {
            const struct pdnn_measured_op *op = &rounds->of.ops[i].op[k];
            all += op->time_ns;
            own += op->key == of->key && op->implementation == of->implementation && op->layer == of->layer
                       ? op->time_ns
                       : 0;
        }
        rounds->scratch[count++] = all > 0 ? own / all : 0;
    }
    return count ? pdnn_median(rounds->scratch, count) : 0;
}

/* Op and pass of "dense/forward/64x8:...". */
static size_t kind_of(struct settle *settle, const char *key) {
    char text[PDNN_OP_KEY_TEXT];
    size_t length = strcspn(key, "/");
    length += key[length] ? 1 + strcspn(key + length + 1, "/") : 0;
    snprintf(text, sizeof text, "%.*s", (int)length, key);
    return pdnn_texts_add(&settle->kinds, text);
}

static double factor_of(struct settle *settle, const char *key) {
    if (!settle->factor)
        return 1;
    size_t kind = kind_of(settle, key);
    return settle->factor[kind < settle->n_factors ? kind : settle->n_factors];
}

static double total_of(struct settle *settle, const struct rounds *rounds) {
    double sum = 0;
    for (size_t i = 0; i < rounds->of.ops[rounds->visit[0]].count; i++)
        sum += median_of_row(rounds, i) * factor_of(settle, row_of(rounds, i)->key);
    return sum;
}

static void add_to_fit(struct settle *settle, size_t task, const struct rounds *rounds) {
    size_t count = rounds->of.ops[rounds->visit[0]].count;
    double direct_ns = direct_of(rounds);
    (void)task;
    if (is_predicted(rounds))
        return;
    if (settle->n_rows + count > settle->room) {
        settle->room = 2 * (settle->n_rows + count);
        settle->rows = pdnn_resize(settle->rows, settle->room, sizeof *settle->rows);
    }
    for (size_t i = 0; i < count; i++) {
        size_t kind = kind_of(settle, row_of(rounds, i)->key);
        settle->rows[settle->n_rows++] = (struct pdnn_correction_row){
            kind, settle->n_models, median_of_row(rounds, i), direct_share_of(rounds, i) * direct_ns};
    }
    settle->n_models++;
}

/* The strata of a model, from the finest. */
static void find_strata(struct settle *settle, size_t task, uint64_t plan_bytes,
                        size_t stratum[PDNN_CONFORMAL_STRATA]) {
    const struct pdnn_session *session = settle->sweep->session;
    const struct pdnn_instance *instance = &session->tasks[task].instance;
    const char *family = instance->family->name,
               *mode = instance->setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN ? "train" : "infer";
    uint64_t cache_bytes =
        pdnn_ceilings_cache_bytes(session->ceilings, instance->setting[PDNN_SETTING_THREADS]);
    char text[PDNN_CONFORMAL_STRATA][96];
    snprintf(text[0], sizeof text[0], "%s %s %s", family, mode,
             plan_bytes / LARGE < cache_bytes ? "small" : "large");
    snprintf(text[1], sizeof text[1], "%s %s", family, mode);
    snprintf(text[2], sizeof text[2], "%s", mode);
    snprintf(text[3], sizeof text[3], "all");
    for (int i = 0; i < PDNN_CONFORMAL_STRATA; i++)
        stratum[i] = pdnn_texts_add(&settle->strata, text[i]);
}

static void add_to_calibration(struct settle *settle, size_t task, const struct rounds *rounds) {
    struct pdnn_conformal_case *one = &settle->cases[settle->n_cases];
    if (is_predicted(rounds))
        return;
    uint64_t plan_bytes = rounds->of.visit[rounds->visit[0]].plan_bytes;
    find_strata(settle, task, plan_bytes, one->stratum);
    one->score = fabs(direct_of(rounds) / total_of(settle, rounds) - 1);
    settle->n_cases++;
}

/* A model that was to say something and did not run, such as in an interrupted composition, is one like the
 * others. */
static enum pdnn_settle_use use_of(enum pdnn_settle_use use, const struct rounds *rounds) {
    bool has_run = !isnan(direct_of(rounds));
    return use == PDNN_SETTLE_NOTHING || has_run ? use : PDNN_SETTLE_COMPOSED;
}

/* Calls each for every task of this use that has rounds. */
static void for_each(struct settle *settle, enum pdnn_settle_use use,
                     void (*each)(struct settle *settle, size_t task, const struct rounds *rounds)) {
    for (size_t i = 0; i < settle->sweep->session->n_tasks && settle->status == PDNN_OK; i++) {
        struct rounds rounds = {0};
        if (settle->use[i] == PDNN_SETTLE_NOTHING)
            continue;
        find_rounds(settle, i, &rounds);
        if (rounds.count && use_of(settle->use[i], &rounds) == use)
            each(settle, i, &rounds);
        rounds_finish(&rounds);
    }
}

static void fit(struct settle *settle, struct pdnn_settle_result *result) {
    for_each(settle, PDNN_SETTLE_FITS, add_to_fit);
    result->fitted = settle->n_models;
    if (!settle->n_models)
        return;
    settle->n_factors = settle->kinds.count;
    settle->factor = pdnn_alloc(settle->n_factors + 1, sizeof *settle->factor);
    pdnn_correction_fit(settle->rows, settle->n_rows, settle->n_models, settle->n_factors + 1,
                        settle->factor);
    for (size_t i = 0; i < settle->n_factors; i++) {
        result->least_factor = fmin(result->least_factor, settle->factor[i]);
        result->greatest_factor = fmax(result->greatest_factor, settle->factor[i]);
    }
}

/* What was predicted has the error of its rounds beside that of the method. */
static void set_limits(const struct settle *settle, const struct rounds *rounds,
                       const size_t stratum[PDNN_CONFORMAL_STRATA], double total_ns,
                       struct pdnn_visit *visit) {
    const struct pdnn_visit *round = &rounds->of.visit[rounds->visit[0]];
    double reach =
        pdnn_conformal_find(settle->cases, settle->n_cases, stratum, PDNN_SETTLE_LEVEL, settle->scratch);
    double below = 1 - round->p10_ns / round->median_ns, above = round->p90_ns / round->median_ns - 1;
    reach = isinf(reach) ? 0 : reach;
    visit->p10_ns = total_ns * (1 - fmin(reach + below, 1));
    visit->p90_ns = total_ns * (1 + reach + above);
}

/* Whether the last settled visits of the model say this already. */
static bool is_known(const struct rounds *rounds, const struct pdnn_visit *visits) {
    const struct pdnn_standing standing = pdnn_standing_of(rounds->of.visit, rounds->of.count);
    size_t count = 0;
    bool same = true;
    for (size_t i = 0; i < rounds->of.count && same; i++) {
        const struct pdnn_visit *old = &rounds->of.visit[i];
        if (!(old->flags & PDNN_FLAG_SETTLED) || !pdnn_visit_is(old, PDNN_VISITS_COMPOSED, &standing))
            continue;
        same = count < rounds->count &&
               fabs(old->median_ns - visits[count].median_ns) <= 1e-6 * old->median_ns &&
               fabs(old->p10_ns - visits[count].p10_ns) <= 1e-6 * old->median_ns &&
               fabs(old->p90_ns - visits[count].p90_ns) <= 1e-6 * old->median_ns;
        count++;
    }
    return same && count == rounds->count;
}

static void copy_rows(struct settle *settle, const struct rounds *rounds, double scale,
                      struct pdnn_visit *visit) {
    size_t count = rounds->of.ops[rounds->visit[0]].count;
    visit->ops = pdnn_alloc(count + 1, sizeof *visit->ops);
    visit->n_ops = count;
    for (size_t i = 0; i < count; i++) {
        const struct pdnn_measured_op *from = row_of(rounds, i);
        struct pdnn_visit_op *to = &visit->ops[i];
        snprintf(to->key, sizeof to->key, "%s", from->key);
        snprintf(to->layer, sizeof to->layer, "%s", from->layer);
        snprintf(to->implementation, sizeof to->implementation, "%s", from->implementation);
        to->count = from->count;
        to->bytes = from->bytes;
        to->time_ns = median_of_row(rounds, i) * factor_of(settle, from->key) * scale;
    }
}

/* As many visits as rounds, whose sums scatter about the total as those did. */
static void settle_one(struct settle *settle, size_t task, const struct rounds *rounds) {
    size_t stratum[PDNN_CONFORMAL_STRATA];
    double total_ns = total_of(settle, rounds);
    struct pdnn_visit *visits = pdnn_alloc(rounds->count, sizeof *visits);
    for (size_t i = 0; i < rounds->count; i++)
        rounds->scratch[i] = rounds->of.visit[rounds->visit[i]].median_ns;
    double middle_ns = pdnn_median(rounds->scratch, rounds->count);
    find_strata(settle, task, rounds->of.visit[rounds->visit[0]].plan_bytes, stratum);
    for (size_t i = 0; i < rounds->count; i++) {
        struct pdnn_visit *visit = &visits[i];
        *visit = rounds->of.visit[rounds->visit[i]];
        double scale = visit->median_ns / middle_ns;
        visit->flags |= PDNN_FLAG_SETTLED;
        visit->started_unix_ms = settle->started_unix_ms;
        visit->ops = NULL;
        visit->median_ns = visit->min_ns = visit->mean_ns = visit->stamped_ns = total_ns * scale;
        set_limits(settle, rounds, stratum, total_ns, visit);
        copy_rows(settle, rounds, scale, visit);
    }
    bool is_new = !is_known(rounds, visits);
    for (size_t i = 0; i < rounds->count; i++) {
        if (is_new && settle->status == PDNN_OK)
            settle->status = pdnn_sweep_directory_commit(settle->sweep, task, &visits[i], settle->err);
        pdnn_visit_finish(&visits[i]);
    }
    free(visits);
}

enum pdnn_status pdnn_compose_settle(struct pdnn_sweep_directory *sweep, const enum pdnn_settle_use *use,
                                     struct pdnn_settle_result *result, struct pdnn_err *err) {
    struct settle settle = {.sweep = sweep, .use = use, .started_unix_ms = pdnn_clock_unix_ms(), .err = err};
    *result = (struct pdnn_settle_result){.least_factor = NAN, .greatest_factor = NAN};
    settle.cases = pdnn_alloc(sweep->session->n_tasks + 1, sizeof *settle.cases);
    settle.scratch = pdnn_alloc(sweep->session->n_tasks + 1, sizeof *settle.scratch);
    fit(&settle, result);
    for_each(&settle, PDNN_SETTLE_CALIBRATES, add_to_calibration);
    result->calibrated = settle.n_cases;
    for_each(&settle, PDNN_SETTLE_COMPOSED, settle_one);
    pdnn_texts_finish(&settle.kinds);
    pdnn_texts_finish(&settle.strata);
    free(settle.rows);
    free(settle.factor);
    free(settle.cases);
    free(settle.scratch);
    return settle.status;
}
