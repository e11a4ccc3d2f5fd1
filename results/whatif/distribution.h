/* Training on several devices, modelled from a step measured on one: data parallel, tensor slicing, or both
 * (doc/projection.md).
 *
 * A ring all-reduce of S bytes over N devices takes 2 (N - 1) / N * S / B + 2 (N - 1) * latency. Data
 * parallel: gradients are reduced in buckets that fill in the order in which the backward pass finishes them,
 * after it or, with overlap, as soon as one is full and the link is free; what outlasts it is exposed.
 *
 * Slicing over m devices, of transformers only (Shoeybi et al., arXiv 1909.08053): products of queries, keys,
 * values and the first of the feed-forward net by columns, the two others by rows, attention by heads; all
 * else is on every device. Four reductions of activations per layer, which nothing hides. Sliced ops take
 * 1 / m of their time, less calls, and a device reduces the gradients that it has. */
#ifndef RESULTS_WHATIF_DISTRIBUTION_H
#define RESULTS_WHATIF_DISTRIBUTION_H

#include "models/instance.h"
#include "results/query/selection.h"
#include "results/query/shares.h"
#include "runtime/protocol/roof_rows.h"

struct pdnn_link {
    double bytes_per_ns, latency_ns;
};

/* "12.5GB/s,2us", "200Mbit/s"; without a latency it is 0. PDNN_INVALID says what is expected. */
enum pdnn_status pdnn_link_parse(const char *text, struct pdnn_link *link, struct pdnn_err *err);

double pdnn_ring_ns(const struct pdnn_link *link, double bytes, int64_t devices);

/* One node of a step on one device, in the order of execution. */
struct pdnn_timed_node {
    double ns;
    double gradient_bytes; /* of weights, complete when it ends */
    bool is_update;
};

struct pdnn_reduction_plan {
    struct pdnn_link link;
    uint64_t bucket_bytes; /* a gradient that is larger is a bucket of its own */
    bool overlap;
};

struct pdnn_reduced_step {
    double compute_ns; /* without communication */
    double update_ns;  /* of these, the update */
    double comm_ns;    /* all reductions, one after another */
    double exposed_ns; /* how much longer they make the step */
    size_t buckets;
};

struct pdnn_reduced_step pdnn_reduce_gradients(const struct pdnn_timed_node *node, size_t n_nodes,
                                               const struct pdnn_reduction_plan *plan, int64_t devices);

enum { PDNN_SCALE_VALUES_MAX = 32 };

/* What --nodes, --slice, --link, --bucket and --memory say; NULL: not given. */
struct pdnn_distribution_request {
    const char *nodes, *slice, *link, *bucket, *memory;
    bool overlap;
};

struct pdnn_scale_request {
    const struct pdnn_selection *selection;
    struct pdnn_ops_reader *readers;
    const struct pdnn_roof_rows *roof_rows; /* for the cost of calls */
    int64_t nodes[PDNN_SCALE_VALUES_MAX], slice[PDNN_SCALE_VALUES_MAX];
    size_t n_nodes, n_slices;
    struct pdnn_reduction_plan plan;
    uint64_t memory_bytes; /* of a device; 0: not given, so no largest batch */
};

/* The columns of the tables below; ten times and what follows from them begin with PDNN_SCALED_TIMES. */
enum { PDNN_SCALED_ID, PDNN_SCALED_FAMILY, PDNN_SCALED_METHOD, PDNN_SCALED_NODES, PDNN_SCALED_SLICE };
enum { PDNN_SCALED_DEVICES = 5, PDNN_SCALED_OVERLAP, PDNN_SCALED_TIMES, PDNN_SCALED_PARAMS = 17 };
enum { PDNN_SCALED_GRADIENT_BYTES = 18, PDNN_SCALED_BUCKETS, PDNN_SCALED_MEMORY };
enum { PDNN_SCALED_LARGEST_BATCH = 21, PDNN_SCALED_COLUMNS };
enum { PDNN_SCALED_PART_ID, PDNN_SCALED_PART_METHOD, PDNN_SCALED_PART_NODES, PDNN_SCALED_PART_SLICE };
enum { PDNN_SCALED_PART_PART = 4, PDNN_SCALED_PART_TIME, PDNN_SCALED_PART_SHARE, PDNN_SCALED_PART_COLUMNS };
extern const struct pdnn_table_def pdnn_scaled_def, pdnn_scaled_parts_def;

struct pdnn_scaling {
    struct pdnn_table devices; /* one row per instance, nodes and slices */
    struct pdnn_table parts;   /* where the steps of these go: groups of ops, and exposed communication */
    size_t without_ops; /* chosen instances that do not train, or on several ranks, or without times of ops */
    size_t not_sliced;  /* rows left out: the family is not sliced, or its heads cannot be divided so */
};

/* Fills numbers, plan and memory. PDNN_INVALID says what is missing or expected of which option. */
enum pdnn_status pdnn_distribution_parse(struct pdnn_scale_request *scale,
                                         const struct pdnn_distribution_request *request,
                                         struct pdnn_err *err);

/* To be finished by the caller in any case. PDNN_INVALID if there is no row. */
enum pdnn_status pdnn_scale(const struct pdnn_scale_request *request, struct pdnn_scaling *scaling,
                            struct pdnn_err *err);
void pdnn_scaling_finish(struct pdnn_scaling *scaling);

#endif
