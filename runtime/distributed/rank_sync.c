#include "runtime/distributed/rank_sync.h"

#include "base/memory.h"
#include "base/clock.h"
#include "models/attributes.h"
#include "models/op.h"
#include "base/stats.h"

#include <stdio.h>
#include <stdlib.h>

/* Runs of compute and of communication alone: as many as begin within this share of a visit's time, and
 * at least one. */
enum { ALONE_SHARE = 8, ALONE_MAX = 200 };

struct command {
    uint64_t what, count;
};

enum pdnn_status pdnn_rank_sync_agree(const struct pdnn_world *world, enum pdnn_status status,
                                      struct pdnn_err *err) {
    double worst = (double)status;
    if (!world)
        return status;
    world->max(&worst, 1);
    if (worst > 0 && status == PDNN_OK)
        return pdnn_fail(err, (enum pdnn_status)(int)worst, "another rank cannot run it");
    return status;
}

void pdnn_rank_sync_begin(struct pdnn_rank_sync *together, enum pdnn_rank_sync_what what, uint64_t count) {
    struct command command = {(uint64_t)what, count};
    together->world->share(&command, sizeof command);
    together->world->meet();
}

uint64_t pdnn_rank_sync_end(struct pdnn_rank_sync *together, uint64_t ns) {
    double times[] = {(double)ns, -(double)ns};
    together->world->max(times, 2);
    together->skew_ns = times[0] + times[1];
    return (uint64_t)times[0];
}

int pdnn_rank_sync_check(const struct pdnn_world *world, int code) {
    char reason[64];
    if (!code || !world)
        return code;
    snprintf(reason, sizeof reason, "a step of rank %d failed with code %d", world->rank, code);
    world->end(reason);
    return code;
}

/* FNV-1a over the weights' bytes, cut to what a double holds exactly. */
static double weights_print(const struct pdnn_plan *plan, enum pdnn_status *status) {
    uint64_t print = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < plan->graph->n_tensors && *status == PDNN_OK; i++) {
        const struct pdnn_tensor *tensor = &plan->graph->tensors[i];
        uint64_t bytes = pdnn_tensor_bytes(tensor);
        if (tensor->role != PDNN_ROLE_WEIGHT || !pdnn_plan_has(plan, i))
            continue;
        unsigned char *plain = pdnn_ask(bytes, "to compare weights in", NULL);
        *status = plain ? pdnn_plan_get(plan, i, plain, NULL) : PDNN_NO_MEMORY;
        for (uint64_t k = 0; k < bytes && *status == PDNN_OK; k++)
            print = (print ^ plain[k]) * UINT64_C(0x100000001b3);
        free(plain);
    }
    return (double)(print >> 12);
}

/* All ranks. */
static enum pdnn_status compare_weights(const struct pdnn_rank_sync *together, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    double print = weights_print(together->plan, &status);
    double both[] = {print, -print, status};
    together->world->max(both, 3);
    if (both[2] > 0)
        return pdnn_fail(err, (enum pdnn_status)both[2], "the weights of a rank cannot be read");
    if (both[0] + both[1] != 0)
        return pdnn_fail(err, PDNN_INTERNAL, "the weights of the ranks differ after the same steps");
    return PDNN_OK;
}

/* What was announced, on any rank. */
static int run(const struct pdnn_rank_sync *together, const struct command *command) {
    int code = 0;
    pdnn_gradient_allreduce_switch(command->what != PDNN_RANK_SYNC_COMPUTE);
    for (uint64_t i = 0; i < command->count && !code; i++)
        code = command->what == PDNN_RANK_SYNC_COMM ? pdnn_gradient_allreduce_repeat()
                                                    : pdnn_plan_run(together->plan);
    pdnn_gradient_allreduce_switch(true);
    return pdnn_rank_sync_check(together->world, code);
}

/* Median of the slowest rank's time, and of the skew, for one of `count` runs. */
static int measure_alone(struct pdnn_rank_sync *together, enum pdnn_rank_sync_what what, uint64_t count,
                         uint64_t limit_ns, double *median_ns, double *skew_ns) {
    const struct command command = {(uint64_t)what, count};
    double ns[ALONE_MAX], skew[ALONE_MAX];
    uint64_t begun_ns = pdnn_clock_ns();
    size_t taken = 0;
    while (!taken || (taken < ALONE_MAX && pdnn_clock_ns() - begun_ns < limit_ns)) {
        if (together->evictor)
            pdnn_evictor_run(together->evictor);
        pdnn_rank_sync_begin(together, what, count);
        uint64_t start_ns = pdnn_clock_ns();
        int code = run(together, &command);
        if (code)
            return code;
        ns[taken] = (double)pdnn_rank_sync_end(together, pdnn_clock_ns() - start_ns) / (double)count;
        skew[taken++] = together->skew_ns / (double)count;
    }
    *median_ns = pdnn_median(ns, taken);
    *skew_ns = pdnn_median(skew, taken);
    return 0;
}

/* What the ranks average, without the padding that layouts in memory may have. */
static uint64_t gradient_bytes(const struct pdnn_graph *graph) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        if (node->op == &pdnn_op_allreduce && node->attr[PDNN_ALLREDUCE_PHASE] != PDNN_ALLREDUCE_WAIT)
            bytes += (uint64_t)node->coef[PDNN_ALLREDUCE_LAST];
    }
    return bytes;
}

enum pdnn_status pdnn_rank_sync_measure(struct pdnn_rank_sync *together,
                                        const struct pdnn_measure_rules *rules, uint64_t steps_per_sample,
                                        struct pdnn_err *err) {
    struct pdnn_visit_ranks *ranks = &together->times;
    bool is_short = rules->time_limit_ns && rules->time_limit_ns < rules->max_visit_ns;
    uint64_t limit_ns = (is_short ? rules->time_limit_ns : rules->max_visit_ns) / ALONE_SHARE;
    double unused;
    ranks->bytes = gradient_bytes(together->plan->graph);
    if (ranks->bytes) {
        pdnn_rank_sync_begin(together, PDNN_RANK_SYNC_WEIGHTS, 0);
        if (compare_weights(together, err) != PDNN_OK)
            return err->status;
    }
    int code = measure_alone(together, PDNN_RANK_SYNC_COMPUTE, steps_per_sample, limit_ns, &ranks->compute_ns,
                             &ranks->skew_ns);
    if (!code && ranks->bytes)
        code = measure_alone(together, PDNN_RANK_SYNC_COMM, steps_per_sample, limit_ns, &ranks->comm_ns,
                             &unused);
    return code ? pdnn_fail(err, PDNN_INTERNAL, "a step failed with code %d", code) : PDNN_OK;
}

enum pdnn_status pdnn_rank_sync_follow(struct pdnn_rank_sync *together, struct pdnn_err *err) {
    struct command command;
    for (;;) {
        together->world->share(&command, sizeof command);
        if (together->evictor && command.what < PDNN_RANK_SYNC_WEIGHTS)
            pdnn_evictor_run(together->evictor);
        together->world->meet();
        if (command.what == PDNN_RANK_SYNC_DONE)
            return PDNN_OK;
        if (command.what == PDNN_RANK_SYNC_WEIGHTS) {
            compare_weights(together, err); /* rank 0 finds the same, and says done */
            continue;
        }
        uint64_t start_ns = pdnn_clock_ns();
        int code = run(together, &command);
        if (code)
            return pdnn_fail(err, PDNN_INTERNAL, "a step failed with code %d", code);
        pdnn_rank_sync_end(together, pdnn_clock_ns() - start_ns);
    }
}
