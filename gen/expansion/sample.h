/* Which points of a space a sample visits. A point is a number below the product of the axes' counts, the
 * last axis fastest. Nothing is enumerated beforehand, so a space of 1e15 points costs no more than one of a
 * hundred.
 *
 * random: the points in the order of a pseudo-random permutation (a Feistel network over the next power of
 * four, cycle-walked until it lands in the space), so that every point comes exactly once. sobol: the points
 * of a Sobol sequence (direction numbers of Joe and Kuo, "Constructing Sobol sequences with better
 * two-dimensional projections", SIAM J. Sci. Comput. 30, 2008), shifted by the seed (digital shift) and
 * mapped to axis indices; once it finds no new points, the permutation takes over. */
#ifndef GEN_EXPANSION_SAMPLE_H
#define GEN_EXPANSION_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pdnn_sample_method { PDNN_SAMPLE_ALL, PDNN_SAMPLE_RANDOM, PDNN_SAMPLE_SOBOL, PDNN_SAMPLE_METHOD_COUNT };

enum { PDNN_SOBOL_DIMS = 21 };

struct pdnn_sample; /* opaque */

/* counts: of each axis, borrowed; points: their product, at least 1. method is random or sobol; sobol takes
 * at most PDNN_SOBOL_DIMS axes with more than one value. */
struct pdnn_sample *pdnn_sample_create(enum pdnn_sample_method method, const uint64_t *counts,
                                       size_t n_counts, uint64_t points, uint64_t seed);
void pdnn_sample_destroy(struct pdnn_sample *sample);

/* The next point that has not been kept, or false if there is none left. A point that is not
 * kept may come again. */
bool pdnn_sample_next(struct pdnn_sample *sample, uint64_t *point);

/* Keeps the point: it will not come again. Memory grows only with the number of points kept. */
void pdnn_sample_keep(struct pdnn_sample *sample, uint64_t point);

#endif
