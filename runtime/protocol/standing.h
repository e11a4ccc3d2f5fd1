/* Which visits count: the one rule, for tables, sweeps, merges, compositions and status alike.
 *
 * A visit's method is how its time was obtained: direct (the model ran), composed of measured operators, or
 * predicted (composed, with some operators interpolated). A row has one method, the most trusted that any ok
 * visit has, and its times are those of the ok visits of that method. Of composed visits, settled ones
 * (PDNN_FLAG_SETTLED) sum up all rounds and replace them: those of the last composition, which began
 * together, count. A visit that failed counts in the row's status if it would have counted had it been ok.
 *
 * An instance is done when the row's method has as many rounds as the spec asks for (settled visits are no
 * rounds), or when its last direct visit is final: neither ok nor interrupted, and a crash only if it is the
 * second in a row. Composed visits between two crashes do not part them. Without direct visits, a composition
 * that failed is final. What an option of one run adds to that (--retry, --allow-slow, or a sweep that wants
 * direct visits where there are composed ones) is up to that run. */
#ifndef RUNTIME_PROTOCOL_STANDING_H
#define RUNTIME_PROTOCOL_STANDING_H

#include "runtime/protocol/visit.h"

#include <stdbool.h>
#include <stddef.h>

/* The most trusted first. */
enum pdnn_method { PDNN_METHOD_DIRECT, PDNN_METHOD_COMPOSED, PDNN_METHOD_PREDICTED, PDNN_METHOD_COUNT };

/* Of a visit or a row with these flags. */
enum pdnn_method pdnn_method_of(unsigned flags);
const char *pdnn_method_name(enum pdnn_method method);

/* What the visits to an instance so far come to. {0}: none. */
struct pdnn_standing {
    size_t visits, direct;            /* ok or not; of these, of the model itself */
    size_t rounds[PDNN_METHOD_COUNT]; /* ok visits by method, without settled ones */
    size_t settled;                   /* settled visits; of the last of them: */
    int64_t settled_unix_ms;
    enum pdnn_method settled_method;
    size_t crashes; /* direct visits at the end that crashed, in a row */
    enum pdnn_outcome last, last_direct;
    bool was_slow; /* some direct visit ran only because of --allow-slow */
};

/* Takes one more visit into account, later than the others: its outcome, flags and start. */
void pdnn_standing_add(struct pdnn_standing *standing, const struct pdnn_visit *visit);
struct pdnn_standing pdnn_standing_of(const struct pdnn_visit *visits, size_t n);

/* Whether the last direct visit is final; false without any. */
bool pdnn_standing_is_final(const struct pdnn_standing *standing);
/* The ok visits of the row's method, without settled ones. */
size_t pdnn_standing_rounds(const struct pdnn_standing *standing);
bool pdnn_standing_is_done(const struct pdnn_standing *standing, size_t rounds);

/* The method of a row of composed visits, as if the model had never run; PDNN_METHOD_COUNT: there is none. */
enum pdnn_method pdnn_standing_composed(const struct pdnn_standing *standing);

/* The status of the row; there must be a visit. */
enum pdnn_outcome pdnn_standing_outcome(const struct pdnn_standing *standing);

/* Of visits on two hosts, which cannot share a row: above 0 if the first are the better ones, by method, then
 * by number; 0 if neither are. */
int pdnn_standing_compare(const struct pdnn_standing *one, const struct pdnn_standing *other);

/* Whether a visit counts in its instance's row, also if it failed. */
bool pdnn_visit_counts(const struct pdnn_visit *visit, const struct pdnn_standing *standing);

/* Whether it is an ok one of the model itself. */
bool pdnn_visit_is_direct(const struct pdnn_visit *visit);

/* Whether it is an ok round of composed operators, which settled ones are not. */
bool pdnn_visit_is_round(const struct pdnn_visit *visit);

/* Which ok visits: those that make the row; the model's own; the composed ones that would make the row if the
 * model had never run. */
enum pdnn_visits_of { PDNN_VISITS_ROW, PDNN_VISITS_DIRECT, PDNN_VISITS_COMPOSED };
bool pdnn_visit_is(const struct pdnn_visit *visit, enum pdnn_visits_of which,
                   const struct pdnn_standing *standing);

/* Their medians, in order; returns how many. medians has room for n. */
size_t pdnn_visits_medians(const struct pdnn_visit *visits, size_t n, enum pdnn_visits_of which,
                           double *medians);

/* Their median, NaN without any. scratch has room for n. */
double pdnn_visits_median_ns(const struct pdnn_visit *visits, size_t n, enum pdnn_visits_of which,
                             double *scratch);

#endif
