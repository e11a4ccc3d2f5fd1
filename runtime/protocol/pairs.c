#include "runtime/protocol/pairs.h"

#include "runtime/protocol/standing.h"

#include <math.h>

bool pdnn_visit_is_turn(const struct pdnn_visit *visit) {
    return pdnn_method_of(visit->flags) == PDNN_METHOD_DIRECT;
}

struct pdnn_turn pdnn_turn_of(const struct pdnn_visit *visit) {
    const double steps = (double)visit->warmups + (double)visit->samples * (double)visit->steps_per_sample;
    return (struct pdnn_turn){.ns = pdnn_visit_is_direct(visit) ? visit->median_ns : 0,
                              .begun_unix_ms = visit->started_unix_ms,
                              .known_ms = 1e-6 * ((double)visit->prepare_ns + steps * visit->mean_ns),
                              .is_other = visit->flags & PDNN_FLAG_OTHER_CHOICES};
}

static bool are_near(const struct pdnn_turn *a, const struct pdnn_turn *b) {
    const struct pdnn_turn *first = a->begun_unix_ms <= b->begun_unix_ms ? a : b,
                           *second = first == a ? b : a;
    return (double)(second->begun_unix_ms - first->begun_unix_ms) <= 2 * first->known_ms + PDNN_PAIR_GAP_MS;
}

static bool are_pair(const struct pdnn_turn *a, const struct pdnn_turn *b, bool are_others) {
    return a->ns > 0 && b->ns > 0 && are_near(a, b) && (a->is_other || b->is_other) == are_others;
}

size_t pdnn_pairs_logs(const struct pdnn_turn *a, size_t n_a, const struct pdnn_turn *b, size_t n_b,
                       double *logs) {
    size_t count = 0;
    for (size_t i = 0; i < n_a && i < n_b; i++)
        if (are_pair(&a[i], &b[i], false))
            logs[count++] = log(b[i].ns / a[i].ns);
    return count;
}

size_t pdnn_pairs_others(const struct pdnn_turn *a, size_t n_a, const struct pdnn_turn *b, size_t n_b) {
    size_t count = 0;
    for (size_t i = 0; i < n_a && i < n_b; i++)
        count += are_pair(&a[i], &b[i], true);
    return count;
}
