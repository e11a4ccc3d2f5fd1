#include "results/store/placement.h"

#include <math.h>

const struct pdnn_word pdnn_bound_words[PDNN_BOUND_COUNT] = {
    {"compute", "its arithmetic at the measured peak takes longer than its memory traffic",
     "a 16-bit dtype has a higher peak; where it is far below its roof, ops.csv has the op and its "
     "implementation"},
    {"memory", "its traffic at the measured bandwidths takes longer than its arithmetic",
     "a larger minibatch, fuse or a 16-bit dtype gives more FLOP per byte"},
    {"overhead", "calling its ops at all takes longer than their arithmetic and traffic",
     "larger layers or minibatches, fuse, or fewer threads"},
};

const char *pdnn_bound_name(enum pdnn_bound bound) {
    return bound == PDNN_BOUND_UNKNOWN ? "" : pdnn_bound_words[bound - 1].name;
}

void pdnn_placement_init(struct pdnn_placement *place) {
    *place = (struct pdnn_placement){
        .gflops = NAN,
        .bw_gbs = NAN,
        .intensity_flop_per_byte = NAN,
        .attainable_gflops = NAN,
        .pct_of_roof = NAN,
        .pct_of_peak = NAN,
        .roof_ns = NAN,
    };
}
