/* What the op `allreduce` calls: the gradients of a step, handed over one by one and averaged in buckets with
 * those of the other ranks. This module packs the buckets and decides who calls when; the communication
 * itself is behind struct pdnn_wire, which only a worker that is a rank has. There is one exchange per
 * process. */
#ifndef RUNTIME_DISTRIBUTED_GRADIENT_ALLREDUCE_H
#define RUNTIME_DISTRIBUTED_GRADIENT_ALLREDUCE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sums over all ranks, in place. Each returns 0 or an error code. */
struct pdnn_wire {
    int ranks;
    /* Returns once the values are summed: f32, or f64 if is_double. */
    int (*sum)(void *values, size_t count, bool is_double);
    /* Returns at once; *request is freed by test or wait. What has been summed already has the request NULL.
     */
    int (*start)(void *values, size_t count, bool is_double, void **request);
    /* *done: the sum is there, and the request has been freed. */
    int (*test)(void **request, bool *done);
    int (*wait)(void **request);
};

/* Makes the wire, which is borrowed, that of this process. PDNN_INVALID for fewer than two ranks. */
enum pdnn_status pdnn_gradient_allreduce_open(const struct pdnn_wire *wire, struct pdnn_err *err);
void pdnn_gradient_allreduce_close(void);

/* Where the communication thread runs. */
struct pdnn_gradient_allreduce_cores {
    const int *units; /* processing units, borrowed until the next call */
    int64_t count;
    bool are_spare; /* no step computes on them, so the thread may spin */
};

/* Before the first step of a model. Without it, or with a count of 0, the thread runs where the step does. */
void pdnn_gradient_allreduce_place(const struct pdnn_gradient_allreduce_cores *cores);

/* Begins with another model: forgets the buckets of the one before. */
void pdnn_gradient_allreduce_begin(void);

/* While off, gradients stay as they are, and steps cost what they cost without communication. */
void pdnn_gradient_allreduce_switch(bool on);

/* One gradient. */
struct pdnn_gradient_allreduce_part {
    void *values;
    size_t count;
    bool is_double; /* else f32 */
    int mode;       /* enum pdnn_allreduce */
    size_t bucket;
    bool is_last; /* of the bucket */
};

/* Without an exchange, both do nothing. Return 0 or the code of the first failure, after which nothing is
 * averaged until a model begins. */
int pdnn_gradient_allreduce_start(const struct pdnn_gradient_allreduce_part *part);
int pdnn_gradient_allreduce_wait(size_t bucket);
/* Lets communication that has begun progress, between the steps of a program (struct pdnn_plan_options);
 * cheap when there is none. Returns as these. */
int pdnn_gradient_allreduce_poll(void);

/* Averages all buckets of the last step once more, by the calls of their mode, one after the other, with
 * nothing beside it. */
int pdnn_gradient_allreduce_repeat(void);

#endif
