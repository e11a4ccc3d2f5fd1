#include "base/memory.h"
#include "base/units.h"
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
    {"nodes", 'n', "NUMBERS", .help = "data parallel over so many devices each, such as 2,8,64 (default: 1)"},
    {"slice", 0, "NUMBERS",
     .help = "slice transformers over so many devices each, such as 2,4,8 (default: 1)"},
    {"link", 'l', "LINK", .help = "bandwidth per device and latency of a message: 12.5GB/s,2us or 200Mbit/s"},
    {"overlap", .help = "reduce gradients during the backward pass, in buckets"},
    {"bucket", 0, "BYTES", .help = "gradients that are reduced together (default: 25MB)"},
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

/* "2,8,64", each once; 1 where the option is not given. */
static enum pdnn_status parse_numbers(const struct pdnn_arguments *arguments, const char *option,
                                      int64_t *numbers, size_t *count, struct pdnn_err *err) {
    enum { MOST = 1 << 20 };
    const char *text = pdnn_argument(arguments, option), *rest = text ? text : "1", *at;
    char number[24];
    size_t length;
    for (*count = 0; (at = pdnn_part_next(&rest, ",", &length)); (*count)++) {
        snprintf(number, sizeof number, "%.*s", (int)length, at);
        bool is_good = *count < PDNN_SCALE_VALUES_MAX && length < sizeof number &&
                       pdnn_parse_i64(number, &numbers[*count]) && numbers[*count] >= 1 &&
                       numbers[*count] <= MOST;
        for (size_t before = 0; is_good && before < *count; before++)
            is_good = numbers[before] != numbers[*count];
        if (!is_good)
            return pdnn_fail(err, PDNN_INVALID,
                             "--%s is '%s', expected up to %d different numbers from 1 to %d such as 2,8,64",
                             option, text, PDNN_SCALE_VALUES_MAX, MOST);
    }
    return PDNN_OK;
}

static enum pdnn_status parse_bytes(const struct pdnn_arguments *arguments, const char *option,
                                    uint64_t *bytes, struct pdnn_err *err) {
    const char *text = pdnn_argument(arguments, option);
    if (text && (!pdnn_parse_bytes(text, bytes) || !*bytes))
        return pdnn_fail(err, PDNN_INVALID, "--%s is '%s', expected bytes such as 25MB or 16GiB", option,
                         text);
    return PDNN_OK;
}

static enum pdnn_status parse(struct pdnn_scale_request *request, const struct pdnn_arguments *arguments,
                              struct pdnn_err *err) {
    const char *link = pdnn_argument(arguments, "link");
    if (!pdnn_argument(arguments, "nodes") && !pdnn_argument(arguments, "slice"))
        return pdnn_fail(err, PDNN_INVALID, "nothing to scale to: give --nodes, --slice or both");
    if (!link)
        return pdnn_fail(err, PDNN_INVALID, "--link is missing: bandwidth and latency such as 12.5GB/s,2us");
    request->plan.overlap = pdnn_argument(arguments, "overlap") != NULL;
    request->plan.bucket_bytes = 25000000;
    if (parse_numbers(arguments, "nodes", request->nodes, &request->n_nodes, err) != PDNN_OK ||
        parse_numbers(arguments, "slice", request->slice, &request->n_slices, err) != PDNN_OK ||
        pdnn_link_parse(link, &request->plan.link, err) != PDNN_OK ||
        parse_bytes(arguments, "bucket", &request->plan.bucket_bytes, err) != PDNN_OK)
        return err->status;
    return parse_bytes(arguments, "memory", &request->memory_bytes, err);
}

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
    struct pdnn_ceilings *ceilings = pdnn_alloc(1, sizeof *ceilings);
    struct pdnn_selection selection = {.count = 0};
    struct pdnn_scale_request request = {.selection = &selection, .ceilings = ceilings};
    struct pdnn_scaling made = {.without_ops = 0};
    const bool parts = pdnn_argument_choice(arguments, "table", 0);
    enum pdnn_status status =
        parse(&request, arguments, err) != PDNN_OK ||
                pdnn_cli_select(arguments, 1, &selection, &request.readers, err) != PDNN_OK ||
                pdnn_ceilings_read_in(arguments->operands[0], ceilings, err) != PDNN_OK
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
    free(ceilings);
    return status;
}

PDNN_COMMAND(scale, PDNN_COMMANDS_LOOK, "RESULTS",
             "Models data parallel and sliced training from steps measured on one device.", .run = run,
             .reads_directories = true);
