/* The tables that `paradnn scale` prints as CSV. */
#include "results/analysis/distribution.h"
#include "results/tables/columns.h"

#include <stddef.h>

#define WORD(field)   PDNN_COLUMN_WORD, AT(field)
#define NUMBER(field) PDNN_COLUMN_NUMBER, AT(field), .digits = PDNN_DIGITS_TABLE
#define COUNT(field)  PDNN_COLUMN_COUNT, AT(field)
#define WHOLE(field)  PDNN_COLUMN_WHOLE, AT(field)
#define METHOD                                                                                               \
    { "method", "", WORD(method), .help = "modelled: no row of this table was measured" }
#define NODES                                                                                                \
    {                                                                                                        \
        "nodes", "", WHOLE(nodes),                                                                           \
            .help = "data parallel: groups of devices, each with a minibatch of its own"                     \
    }
#define SLICE                                                                                                \
    { "slice_ways", "", WHOLE(slice), .help = "devices that a model is sliced over; 1: not at all" }

#define AT(field) .offset = offsetof(struct pdnn_scaled, field)
static const struct pdnn_column rows[] = {
    {"id", "", WORD(id), .help = "the instance"},
    {"family", "", WORD(family), .help = "model family"},
    METHOD,
    NODES,
    SLICE,
    {"devices", "", WHOLE(devices), .help = "nodes times slice_ways"},
    {"overlap", "", WORD(overlap), .help = "yes: gradients are reduced during the backward pass"},
    {"one_device_ns", "ns", NUMBER(one_ns), .help = "the step measured on one device"},
    {"step_ns", "ns", NUMBER(time_ns), .help = "the modelled step: compute_ns and exposed_ns"},
    {"compute_ns", "ns", NUMBER(compute_ns), .help = "of a device, without communication"},
    {"gradients_ns", "ns", NUMBER(gradients_ns), .help = "all reductions of gradients, one after another"},
    {"slices_ns", "ns", NUMBER(slices_ns), .help = "all reductions of activations between slices"},
    {"exposed_ns", "ns", NUMBER(exposed_ns), .help = "communication that nothing hides"},
    {"exposed_pct", "%", NUMBER(exposed_pct), .help = "of the step"},
    {"hidden_pct", "%", NUMBER(hidden_pct), .help = "of the communication: what the backward pass hides"},
    {"examples_per_s", "1/s", NUMBER(examples_per_s), .help = "of all devices together"},
    {"efficiency_pct", "%", NUMBER(efficiency_pct), .help = "throughput over that of as many single devices"},
    {"params_per_device", "", COUNT(params), .help = "elements of the weights on a device"},
    {"gradient_bytes", "bytes", COUNT(gradient_bytes), .help = "what a device reduces in a step"},
    {"buckets", "", COUNT(buckets), .help = "reductions of gradients in a step"},
    {"memory_bytes", "bytes", COUNT(memory_bytes), .help = "peak of a device's tensors, packed"},
    {"largest_batch", "", COUNT(largest_batch), .help = "the largest minibatch of a node that fits --memory"},
};
#undef AT

#define AT(field) .offset = offsetof(struct pdnn_scaled_part, field)
static const struct pdnn_column parts[] = {
    {"id", "", WORD(id), .help = "the instance"},
    METHOD,
    NODES,
    SLICE,
    {"part", "", WORD(part), .help = "a group of ops as in breakdown, or exposed communication"},
    {"time_ns", "ns", NUMBER(time_ns), .help = "on a device"},
    {"share_pct", "%", NUMBER(share_pct), .help = "of the modelled step"},
};

const struct pdnn_columns pdnn_scaled_columns = {"scaling", rows, sizeof rows / sizeof rows[0]};
const struct pdnn_columns pdnn_scaled_parts_columns = {"scaling-parts", parts,
                                                       sizeof parts / sizeof parts[0]};
