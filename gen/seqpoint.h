/* The section `seqpoint` of a spec: the epoch that `paradnn seqpoint` projects, and how; other commands
 * ignore it. Words are in the order of the enums of results/epochs. */
#ifndef GEN_SEQPOINT_H
#define GEN_SEQPOINT_H

#include <stdint.h>

extern const char *const pdnn_samplers[], *const pdnn_seqpoint_keys[], *const pdnn_seqpoint_statistics[];
enum pdnn_spec_statistic { PDNN_STATISTIC_LENGTH, PDNN_STATISTIC_FLOP, PDNN_STATISTIC_TIME };

/* Texts are in the spec's arena. */
struct pdnn_spec_seqpoint {
    const char *lengths;         /* NULL: not given */
    int64_t examples;            /* 0: as many as the data set has */
    int sampler, key, statistic; /* by their words */
    int64_t longest;             /* 0: no limit */
    int64_t multiple, shard_batches;
    int64_t frames_per_second; /* 0: the model's own */
    int64_t unique_max, bins;
    double error;
    int64_t sample;
    double target_error; /* 0: none */
};

#endif
