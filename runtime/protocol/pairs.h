/* Visits next to each other in time: what a comparison of two sides is made of (base/stats.h judges them).
 * The driver stops by the same pairs as `compare` reads from the journal. */
#ifndef RUNTIME_PROTOCOL_PAIRS_H
#define RUNTIME_PROTOCOL_PAIRS_H

#include "runtime/protocol/visit.h"

/* Sides of one comparison. */
enum { PDNN_PAIRS_SIDES = 4 };

/* Nothing but themselves lies between the visits of a pair: the second begins before twice what is known of
 * the first has passed since that began, and this long. What a row does not tell are steps with stamps, with
 * counters, and without communication, fewer than those it tells. */
enum { PDNN_PAIR_GAP_MS = 10000 };

/* A direct visit to an instance, as far as a pair needs it. */
struct pdnn_turn {
    double ns; /* its median; 0: not ok */
    int64_t begun_unix_ms;
    double known_ms; /* what it took at least: preparation, warm-up and samples */
    bool is_other;   /* PDNN_FLAG_OTHER_CHOICES */
};

struct pdnn_turn pdnn_turn_of(const struct pdnn_visit *visit);

/* Whether the visit counts as a turn: it ran the model itself, whatever came of it. */
bool pdnn_visit_is_turn(const struct pdnn_visit *visit);

/* Sets logs[] to the logarithms of B's time over A's, in order, of those turns with the same number that are
 * both ok and near each other and ran the same choices, and returns how many; room for the fewer of the two.
 */
size_t pdnn_pairs_logs(const struct pdnn_turn *a, size_t n_a, const struct pdnn_turn *b, size_t n_b,
                       double *logs);

/* How many pairs are not among these only because one of the two ran other choices. */
size_t pdnn_pairs_others(const struct pdnn_turn *a, size_t n_a, const struct pdnn_turn *b, size_t n_b);

#endif
