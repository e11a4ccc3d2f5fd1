/* The last step of a composition: from what each round of operators gave, and from models that also ran, to
 * the times and intervals of the composed rows. The rounds' visits stay in the journal; those appended here
 * have PDNN_FLAG_SETTLED and replace them.
 *
 * A row of operators has the median of its times over the rounds, so that what disturbed one measurement does
 * not count, times the factor of its kind (results/stats/correction.h) from the models that fit it. The
 * visits' sums scatter about that total as the rounds did. Their quantiles p10 and p90 are the limits of an
 * interval by the models that calibrate (results/stats/conformal.h): family, mode and size of memory, with
 * fewer of these where there are too few; without them, the rounds' own. */
#ifndef SESSION_COMPOSE_CORRECT_H
#define SESSION_COMPOSE_CORRECT_H

#include "session/directory.h"

enum pdnn_settle_use {
    PDNN_SETTLE_NOTHING,
    PDNN_SETTLE_COMPOSED,  /* gets visits */
    PDNN_SETTLE_FITS,      /* says what operators really take; gets visits if it did not run */
    PDNN_SETTLE_CALIBRATES /* says how far corrected times are off; gets visits if it did not run */
};

/* Of the intervals of composed rows, and how many models it takes to have any. */
#define PDNN_SETTLE_LEVEL 0.9
enum { PDNN_SETTLE_LEAST = 9 };

struct pdnn_settle_result {
    size_t fitted, calibrated;            /* models */
    double least_factor, greatest_factor; /* of all kinds; NaN: none was fitted */
};

/* use: by task of the session. Appends nothing where that would repeat what is there. */
enum pdnn_status pdnn_compose_settle(struct pdnn_sweep_directory *sweep, const enum pdnn_settle_use *use,
                                     struct pdnn_settle_result *result, struct pdnn_err *err);

#endif
