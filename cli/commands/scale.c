#include "base/memory.h"
#include "cli/job.h"
#include "cli/print/output.h"
#include "results/whatif/distribution.h"
#include "results/store/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char description[] =
    "Models training on several devices from steps that were measured on one: data parallel over --nodes, tensor "
    "slicing of transformers over --slice, or every combination of both. Prints the step, the communication, how much "
    "of it is exposed, and what a device needs. Every row is labelled modelled; nothing is measured, and only "
    "training rows count.\n\n"
    "Each node runs the measured minibatch, so throughput is that of weak scaling. An all-reduce is a ring: 2 (N - 1) "
    "/ N of the bytes over the bandwidth, and 2 (N - 1) latencies. Without --overlap, gradients are reduced after the "
    "backward pass. With it, each bucket starts as soon as its gradients are complete and the link is free, which the "
    "order and the times of the ops decide, and costs the ops nothing.\n\n"
    "Slicing divides products, attention and the activation between them by the number of devices and reduces "
    "activations four times per layer, which nothing hides. The same link serves both kinds of communication. Method "
    "and limits: doc/projection.md.";

static const char *const tables[] = {"devices", "parts", NULL};

static const struct pdnn_option_def options[] = {
    PDNN_OPTIONS_DISTRIBUTION,
    {"memory", 0, "BYTES", .help = "memory of a device, for the largest minibatch that fits"},
    PDNN_OPTION_ONLY,
    {"table", 0, "TABLE", .choices = tables,
     .help = "devices (the default), or parts: where the step of a device goes"},
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn scale bert.results --nodes 2,8,64 --link 12.5GB/s,2us --overlap",
     "how much of the reduction of the gradients the backward pass hides"},
    {"paradnn scale bert.results --slice 1,2,4,8 --link 32GB/s,2us --table parts",
     "how the parts of a step shift as a model is sliced"},
};

/* Parts of the step side by side: a column per nodes and slices, "2 x 4". */
static void show_parts(struct pdnn_table *parts) {
    static const struct pdnn_column_def both = {.name = "nodes x slices"};
    static const size_t keys[] = {PDNN_SCALED_PART_ID, PDNN_SCALED_PART_PART};
    struct pdnn_table wide;
    struct pdnn_str out = {0};
    size_t across = pdnn_table_add_column(parts, &both);
    for (size_t row = 0; row < parts->n_rows; row++) {
        char text[64];
        snprintf(text, sizeof text, "%" PRId64 " x %" PRId64,
                 pdnn_table_whole(parts, row, PDNN_SCALED_PART_NODES),
                 pdnn_table_whole(parts, row, PDNN_SCALED_PART_SLICE));
        pdnn_table_set_text(parts, row, across, text);
    }
    pdnn_table_pivot(parts, &(struct pdnn_pivot){keys, 2, across, PDNN_SCALED_PART_SHARE}, &wide);
    pdnn_table_show(&out, &wide, NULL, NULL, 0);
    pdnn_text_print(&out, false);
    pdnn_table_finish(&wide);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_roof_rows *roof_rows = pdnn_alloc(1, sizeof *roof_rows);
    struct pdnn_selection selection = {.count = 0};
    struct pdnn_scale_request request = {.selection = &selection, .roof_rows = roof_rows};
    struct pdnn_scaling made = {.without_ops = 0};
    struct pdnn_distribution_request wanted = pdnn_cli_distribution(arguments);
    const bool parts = pdnn_argument_choice(arguments, "table", 0);
    wanted.memory = pdnn_argument(arguments, "memory");
    enum pdnn_status status =
        pdnn_distribution_parse(&request, &wanted, err) != PDNN_OK ||
                pdnn_cli_select(arguments, 1, &selection, &request.readers, err) != PDNN_OK ||
                pdnn_roof_rows_read_in(arguments->operands[0], roof_rows, err) != PDNN_OK
            ? err->status
            : pdnn_scale(&request, &made, err);
    const size_t rows = made.devices.n_rows, left_out = selection.left_out + made.without_ops;
    if (status == PDNN_OK && parts && pdnn_wants_text(arguments)) {
        show_parts(&made.parts);
    } else if (status == PDNN_OK) {
        /* People see the largest batch where they asked for it. */
        if (!request.memory_bytes)
            made.devices.column[PDNN_SCALED_LARGEST_BATCH].def.show = PDNN_SHOW_NEVER;
        status = pdnn_table_print(parts ? &made.parts : &made.devices, arguments, err);
    }
    if (status == PDNN_OK)
        fprintf(
            stderr,
            "%zu row%s modelled; left out: %zu instance%s not trained or without ops, %zu row%s that cannot be sliced so\n",
            rows, rows == 1 ? "" : "s", left_out, left_out == 1 ? "" : "s", made.not_sliced,
            made.not_sliced == 1 ? "" : "s");
    pdnn_scaling_finish(&made);
    pdnn_selection_ops_close(&selection, request.readers);
    pdnn_selection_close(&selection);
    free(roof_rows);
    return status;
}

PDNN_COMMAND(scale, PDNN_COMMANDS_LOOK, "RESULTS",
             "Models data parallel and sliced training from steps measured on one device.", .run = run,
             .reads_directories = true);
