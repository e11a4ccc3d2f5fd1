/* Rows of a visit to an instance with several ranks that are no part of its step (struct pdnn_visit_op): what
 * the ranks did apart from it. Times are those of the slowest rank, per step. */
#ifndef RUNTIME_PROTOCOL_RANKS_H
#define RUNTIME_PROTOCOL_RANKS_H

#include <stdbool.h>
#include <string.h>

#define PDNN_RANKS_ALONE "ranks/alone/"
static const char pdnn_ranks_compute[] = PDNN_RANKS_ALONE "compute"; /* steps without communication */
static const char pdnn_ranks_skew[] = PDNN_RANKS_ALONE "skew";       /* of these, slowest less fastest rank */
static const char pdnn_ranks_comm[] =
    PDNN_RANKS_ALONE "communication"; /* without steps; bytes: of the gradients */

static inline bool pdnn_ranks_is_alone(const char *key) {
    return strncmp(key, PDNN_RANKS_ALONE, sizeof PDNN_RANKS_ALONE - 1) == 0;
}

#endif
