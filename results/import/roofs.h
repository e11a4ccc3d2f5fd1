/* A platform's roofs as its data sheet or its owner says them: a peak, or one for each dtype, and a
 * bandwidth. */
#ifndef RESULTS_IMPORT_ROOFS_H
#define RESULTS_IMPORT_ROOFS_H

#include "base/texts.h"
#include "models/instance.h"
#include "results/rows/roofline.h"

struct pdnn_given_roofs {
    double peak_gflops[PDNN_DTYPE_COUNT]; /* 0: none */
    bool is_named; /* the dtypes were; otherwise the peak is that of the first instance */
    double bandwidth_gbs;
    struct pdnn_texts taken; /* threads and dtypes that have roofs */
};

/* Reads "14900", or "f32=14900,bf16=312000"; NULL: none. */
enum pdnn_status pdnn_given_roofs_parse(struct pdnn_given_roofs *given, const char *peak,
                                        double bandwidth_gbs, struct pdnn_err *err);
void pdnn_given_roofs_finish(struct pdnn_given_roofs *given);

/* Adds those of the instance's threads and dtype, unless they are there. PDNN_INVALID for a second dtype
 * where none was named. */
enum pdnn_status pdnn_given_roofs_add(struct pdnn_given_roofs *given, const struct pdnn_instance *instance,
                                      struct pdnn_roof_rows *roof_rows, struct pdnn_err *err);

/* Whether roofs are given, and none is of that dtype: another one's does not hold. */
bool pdnn_given_roofs_lack(const struct pdnn_given_roofs *given, int64_t dtype);

#endif
