#include "base/memory.h"
#include "base/units.h"
#include "cli/job.h"
#include "cli/print/output.h"
#include "cli/args/registry.h"
#include "results/whatif/distribution.h"
#include "results/store/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    {"nodes", 'n', "NUMBERS", NULL, false,
     "data parallel over so many devices each, such as 2,8,64 (default: 1)"},
    {"slice", 0, "NUMBERS", NULL, false,
     "slice transformers over so many devices each, such as 2,4,8 (default: 1)"},
    {"link", 'l', "LINK", NULL, false,
     "bandwidth per device and latency of a message: 12.5GB/s,2us or 200Mbit/s"},
    {"overlap", 0, NULL, NULL, false, "reduce gradients during the backward pass, in buckets"},
    {"bucket", 0, "BYTES", NULL, false, "gradients that are reduced together (default: 25MB)"},
    {"memory", 0, "BYTES", NULL, false, "memory of a device, for the largest minibatch that fits"},
    PDNN_OPTION_ONLY,
    {"table", 0, "TABLE", tables, false, "devices (the default), or parts: where the step of a device goes"},
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn scale bert.results --nodes 2,8,64 --link 12.5GB/s,2us --overlap",
     "how much of the reduction of the gradients the backward pass hides"},
    {"paradnn scale bert.results --slice 1,2,4,8 --link 32GB/s,2us --table parts",
     "how the parts of a step shift as a model is sliced"},
};

struct command {
    struct pdnn_selection selection;
    struct pdnn_ops_reader *readers;
    struct pdnn_ceilings *ceilings;
    struct pdnn_scale_request request;
    struct pdnn_scaling made;
};

/* "2,8,64"; 1 where the option is not given. */
static enum pdnn_status parse_numbers(const char *option, const char *text, int64_t *numbers, size_t *count,
                                      struct pdnn_err *err) {
    enum { MOST = 1 << 20 };
    const char *rest = text ? text : "1", *at;
    char number[24];
    size_t length;
    for (*count = 0; (at = pdnn_part_next(&rest, ",", &length)); (*count)++) {
        snprintf(number, sizeof number, "%.*s", (int)length, at);
        if (*count == PDNN_SCALE_VALUES_MAX || length >= sizeof number ||
            !pdnn_parse_i64(number, &numbers[*count]) || numbers[*count] < 1 || numbers[*count] > MOST)
            return pdnn_fail(err, PDNN_INVALID,
                             "--%s is '%s', expected up to %d numbers from 1 to %d such as 2,8,64", option,
                             text, PDNN_SCALE_VALUES_MAX, MOST);
    }
    return PDNN_OK;
}

static enum pdnn_status parse_bytes(const char *option, const char *text, uint64_t *bytes,
                                    struct pdnn_err *err) {
    if (text && (!pdnn_parse_bytes(text, bytes) || !*bytes))
        return pdnn_fail(err, PDNN_INVALID, "--%s is '%s', expected bytes such as 25MB or 16GiB", option,
                         text);
    return PDNN_OK;
}

static enum pdnn_status parse(struct command *c, const struct pdnn_arguments *arguments,
                              struct pdnn_err *err) {
    struct pdnn_scale_request *request = &c->request;
    const char *nodes = pdnn_argument(arguments, "nodes"), *slice = pdnn_argument(arguments, "slice");
    const char *link = pdnn_argument(arguments, "link");
    uint64_t bucket = 25000000;
    if (!nodes && !slice)
        return pdnn_fail(err, PDNN_INVALID, "nothing to scale to: give --nodes, --slice or both");
    if (!link)
        return pdnn_fail(err, PDNN_INVALID, "--link is missing: bandwidth and latency such as 12.5GB/s,2us");
    request->plan.overlap = pdnn_argument(arguments, "overlap") != NULL;
    if (parse_numbers("nodes", nodes, request->nodes, &request->n_nodes, err) != PDNN_OK ||
        parse_numbers("slice", slice, request->slice, &request->n_slices, err) != PDNN_OK ||
        pdnn_link_parse(link, &request->plan.link, err) != PDNN_OK ||
        parse_bytes("bucket", pdnn_argument(arguments, "bucket"), &bucket, err) != PDNN_OK ||
        parse_bytes("memory", pdnn_argument(arguments, "memory"), &request->memory_bytes, err) != PDNN_OK)
        return err->status;
    request->plan.bucket_bytes = (double)bucket;
    return PDNN_OK;
}

static enum pdnn_status open_tables(struct command *c, const struct pdnn_arguments *arguments,
                                    struct pdnn_err *err) {
    c->ceilings = pdnn_alloc(1, sizeof *c->ceilings);
    if (pdnn_cli_select(arguments, 1, &c->selection, &c->readers, err) != PDNN_OK)
        return err->status;
    c->request.selection = &c->selection;
    c->request.readers = c->readers;
    c->request.ceilings = c->ceilings;
    return pdnn_ceilings_read_in(arguments->operands[0], c->ceilings, err);
}

/* Parts of the step side by side: a column per nodes and slices, "2 x 4". */
static void show_parts(struct command *c) {
    static const struct pdnn_column_def both = {.name = "nodes x slices"};
    static const size_t keys[] = {PDNN_SCALED_PART_ID, PDNN_SCALED_PART_PART};
    struct pdnn_table *parts = &c->made.parts, wide;
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

static enum pdnn_status print(struct command *c, const struct pdnn_arguments *arguments,
                              struct pdnn_err *err) {
    const bool parts = pdnn_argument_choice(arguments, "table", 0);
    if (parts && pdnn_wants_text(arguments)) {
        show_parts(c);
        return PDNN_OK;
    }
    /* People see the largest batch where they asked for it. */
    if (!c->request.memory_bytes)
        c->made.devices.column[PDNN_SCALED_LARGEST_BATCH].def.show = PDNN_SHOW_NEVER;
    return pdnn_table_print(parts ? &c->made.parts : &c->made.devices, arguments, err);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct command c = {.readers = NULL};
    enum pdnn_status status = parse(&c, arguments, err) != PDNN_OK ||
                                      open_tables(&c, arguments, err) != PDNN_OK ||
                                      pdnn_scale(&c.request, &c.made, err) != PDNN_OK
                                  ? err->status
                                  : print(&c, arguments, err);
    size_t rows = c.made.devices.n_rows, left_out = c.selection.left_out + c.made.without_ops;
    if (status == PDNN_OK)
        fprintf(
            stderr,
            "%zu row%s modelled; left out: %zu instance%s not trained or without ops, %zu row%s that cannot be sliced so\n",
            rows, rows == 1 ? "" : "s", left_out, left_out == 1 ? "" : "s", c.made.not_sliced,
            c.made.not_sliced == 1 ? "" : "s");
    pdnn_scaling_finish(&c.made);
    pdnn_selection_ops_close(&c.selection, c.readers);
    pdnn_selection_close(&c.selection);
    free(c.ceilings);
    return status;
}

PDNN_COMMAND(scale, PDNN_COMMANDS_LOOK, "RESULTS",
             "Models data parallel and sliced training from steps measured on one device.", .run = run,
             .reads_directories = true);
