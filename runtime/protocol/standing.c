#include "runtime/protocol/standing.h"

#include "base/stats.h"

#include <math.h>

enum pdnn_method pdnn_method_of(unsigned flags) {
    return flags & PDNN_FLAG_PREDICTED  ? PDNN_METHOD_PREDICTED
           : flags & PDNN_FLAG_COMPOSED ? PDNN_METHOD_COMPOSED
                                        : PDNN_METHOD_DIRECT;
}

const char *pdnn_method_name(enum pdnn_method method) {
    static const char *const names[] = {"direct", "composed", "predicted"};
    return names[method];
}

bool pdnn_visit_is_direct(const struct pdnn_visit *visit) {
    return visit->outcome == PDNN_OUTCOME_OK && pdnn_method_of(visit->flags) == PDNN_METHOD_DIRECT;
}

bool pdnn_visit_is_round(const struct pdnn_visit *visit) {
    return visit->outcome == PDNN_OUTCOME_OK && pdnn_method_of(visit->flags) != PDNN_METHOD_DIRECT &&
           !(visit->flags & PDNN_FLAG_SETTLED);
}

void pdnn_standing_add(struct pdnn_standing *standing, const struct pdnn_visit *visit) {
    enum pdnn_method method = pdnn_method_of(visit->flags);
    bool is_settled = visit->flags & PDNN_FLAG_SETTLED;
    standing->visits++;
    standing->last = visit->outcome;
    standing->rounds[method] += visit->outcome == PDNN_OUTCOME_OK && !is_settled;
    if (is_settled && (!standing->settled++ || visit->started_unix_ms > standing->settled_unix_ms)) {
        standing->settled_unix_ms = visit->started_unix_ms;
        standing->settled_method = method;
    }
    if (method != PDNN_METHOD_DIRECT)
        return;
    standing->direct++;
    standing->last_direct = visit->outcome;
    standing->crashes = visit->outcome == PDNN_OUTCOME_CRASH ? standing->crashes + 1 : 0;
    standing->was_slow = standing->was_slow || (visit->flags & PDNN_FLAG_SLOW);
}

struct pdnn_standing pdnn_standing_of(const struct pdnn_visit *visits, size_t n) {
    struct pdnn_standing standing = {0};
    for (size_t i = 0; i < n; i++)
        pdnn_standing_add(&standing, &visits[i]);
    return standing;
}

enum pdnn_method pdnn_standing_composed(const struct pdnn_standing *standing) {
    if (standing->settled)
        return standing->settled_method;
    return standing->rounds[PDNN_METHOD_COMPOSED]    ? PDNN_METHOD_COMPOSED
           : standing->rounds[PDNN_METHOD_PREDICTED] ? PDNN_METHOD_PREDICTED
                                                     : PDNN_METHOD_COUNT;
}

static enum pdnn_method row_method(const struct pdnn_standing *standing) {
    return standing->rounds[PDNN_METHOD_DIRECT] ? PDNN_METHOD_DIRECT : pdnn_standing_composed(standing);
}

static bool is_replaced(const struct pdnn_visit *visit, const struct pdnn_standing *standing) {
    bool is_last = (visit->flags & PDNN_FLAG_SETTLED) && visit->started_unix_ms == standing->settled_unix_ms;
    return pdnn_method_of(visit->flags) != PDNN_METHOD_DIRECT && standing->settled && !is_last;
}

bool pdnn_visit_counts(const struct pdnn_visit *visit, const struct pdnn_standing *standing) {
    return pdnn_method_of(visit->flags) <= row_method(standing) && !is_replaced(visit, standing);
}

static bool is_final(enum pdnn_outcome outcome, size_t crashes) {
    return outcome != PDNN_OUTCOME_OK && outcome != PDNN_OUTCOME_INTERRUPTED &&
           (outcome != PDNN_OUTCOME_CRASH || crashes > 1);
}

bool pdnn_standing_is_final(const struct pdnn_standing *standing) {
    return standing->direct && is_final(standing->last_direct, standing->crashes);
}

size_t pdnn_standing_rounds(const struct pdnn_standing *standing) {
    enum pdnn_method method = row_method(standing);
    return method < PDNN_METHOD_COUNT ? standing->rounds[method] : 0;
}

bool pdnn_standing_is_done(const struct pdnn_standing *standing, size_t rounds) {
    if (standing->visits && pdnn_standing_rounds(standing) >= rounds)
        return true;
    return standing->direct ? pdnn_standing_is_final(standing)
                            : standing->visits && is_final(standing->last, 0);
}

enum pdnn_outcome pdnn_standing_outcome(const struct pdnn_standing *standing) {
    return row_method(standing) < PDNN_METHOD_COUNT ? PDNN_OUTCOME_OK : standing->last;
}

int pdnn_standing_compare(const struct pdnn_standing *one, const struct pdnn_standing *other) {
    enum pdnn_method a = row_method(one), b = row_method(other);
    if (a != b)
        return a < b ? 1 : -1;
    size_t n = pdnn_standing_rounds(one), m = pdnn_standing_rounds(other);
    return (n > m) - (n < m);
}

bool pdnn_visit_is(const struct pdnn_visit *visit, enum pdnn_visits_of which,
                   const struct pdnn_standing *standing) {
    enum pdnn_method method = pdnn_method_of(visit->flags);
    bool is_ok = visit->outcome == PDNN_OUTCOME_OK;
    switch (which) {
    case PDNN_VISITS_ROW:
        return is_ok && pdnn_visit_counts(visit, standing);
    case PDNN_VISITS_DIRECT:
        return pdnn_visit_is_direct(visit);
    default:
        return is_ok && method != PDNN_METHOD_DIRECT && method <= pdnn_standing_composed(standing) &&
               !is_replaced(visit, standing);
    }
}

size_t pdnn_visits_medians(const struct pdnn_visit *visits, size_t n, enum pdnn_visits_of which,
                           double *medians) {
    const struct pdnn_standing standing = pdnn_standing_of(visits, n);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (pdnn_visit_is(&visits[i], which, &standing))
            medians[count++] = visits[i].median_ns;
    return count;
}

double pdnn_visits_median_ns(const struct pdnn_visit *visits, size_t n, enum pdnn_visits_of which,
                             double *scratch) {
    size_t count = pdnn_visits_medians(visits, n, which, scratch);
    return count ? pdnn_median(scratch, count) : NAN;
}
