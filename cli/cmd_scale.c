#include "base/memory.h"
#include "base/units.h"
#include "cli/output.h"
#include "cli/registry.h"
#include "cli/scaling_text.h"
#include "results/tables/columns.h"
#include "results/tables/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const paragraphs[] = {
    "Models training on several devices from steps that were measured on one: data parallel over --nodes, "
    "tensor slicing of transformers over --slice, or every combination of both. Prints the step, the "
    "communication, how much of it is exposed, and what a device needs. Every row is labelled modelled; nothing is "
    "measured.",
    "Each node runs the measured minibatch, so throughput is that of weak scaling. An all-reduce is a ring: "
    "2 (N - 1) / N of the bytes over the bandwidth, and 2 (N - 1) latencies. Without --overlap, gradients are "
    "reduced after the backward pass. With it, each bucket starts as soon as its gradients are complete and the link is "
    "free, which the order and the times of the ops decide, and costs the ops nothing.",
    "Slicing divides products, attention and the activation between them by the number of devices and reduces "
    "activations four times per layer, which nothing hides. The same link serves both kinds of communication.",
    "RESULTS is the directory that a sweep wrote; only training rows count. `paradnn columns` explains what --format csv "
    "prints: scaling and scaling-parts. Method and limits: doc/projection.md.",
    NULL,
};

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
    PDNN_OPTION_FORMAT,
};

static const struct pdnn_example examples[] = {
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
    struct pdnn_arena arena;
    struct pdnn_scaling made;
    struct pdnn_str out;
};

/* "2,8,64"; 1 where the option is not given. */
static enum pdnn_status parse_numbers(const char *option, const char *text, int64_t *numbers, size_t *count,
                                      struct pdnn_err *err) {
    enum { MOST = 1 << 20, TEXT = 512 };
    char buffer[TEXT];
    numbers[0] = 1;
    *count = !text;
    if (text && snprintf(buffer, sizeof buffer, "%s", text) >= (int)sizeof buffer)
        return pdnn_fail(err, PDNN_INVALID, "--%s: the text is too long", option);
    for (char *at = text ? buffer : NULL; at;) {
        char *comma = strchr(at, ',');
        if (comma)
            *comma++ = 0;
        if (*count == PDNN_SCALE_VALUES_MAX)
            return pdnn_fail(err, PDNN_INVALID, "--%s has more than %d numbers", option,
                             PDNN_SCALE_VALUES_MAX);
        if (!pdnn_parse_i64(at, &numbers[*count]) || numbers[*count] < 1 || numbers[*count] > MOST)
            return pdnn_fail(err, PDNN_INVALID, "--%s is '%s', expected numbers from 1 to %d such as 2,8,64",
                             option, text, MOST);
        (*count)++;
        at = comma;
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
    request->overlap = pdnn_argument(arguments, "overlap") != NULL;
    if (parse_numbers("nodes", nodes, request->nodes, &request->n_nodes, err) != PDNN_OK ||
        parse_numbers("slice", slice, request->slice, &request->n_slices, err) != PDNN_OK ||
        pdnn_link_parse(link, &request->link, err) != PDNN_OK ||
        parse_bytes("bucket", pdnn_argument(arguments, "bucket"), &bucket, err) != PDNN_OK ||
        parse_bytes("memory", pdnn_argument(arguments, "memory"), &request->memory_bytes, err) != PDNN_OK)
        return err->status;
    request->bucket_bytes = (double)bucket;
    return PDNN_OK;
}

static enum pdnn_status open_tables(struct command *c, const struct pdnn_arguments *arguments,
                                    struct pdnn_err *err) {
    const char **only = NULL;
    char path[4096];
    size_t n_only = 0;
    pdnn_argument_all(arguments, "only", &only, &n_only);
    enum pdnn_status status = pdnn_selection_open(&c->selection, arguments->operands[0], only, n_only, err);
    free(only);
    if (status == PDNN_OK)
        status = pdnn_selection_ops_open(&c->selection, &c->readers, err);
    if (status == PDNN_OK &&
        snprintf(path, sizeof path, "%s/ceilings.csv", arguments->operands[0]) >= (int)sizeof path)
        status = pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", arguments->operands[0]);
    c->ceilings = pdnn_alloc(1, sizeof *c->ceilings);
    if (status == PDNN_OK)
        status = pdnn_ceilings_read(path, NULL, c->ceilings, err);
    c->request.selection = &c->selection;
    c->request.readers = c->readers;
    c->request.ceilings = c->ceilings;
    return status;
}

static void append_csv(struct command *c, bool parts) {
    const struct pdnn_columns *columns = parts ? &pdnn_scaled_parts_columns : &pdnn_scaled_columns;
    pdnn_columns_header(columns, &c->out);
    for (size_t i = 0; i < c->made.count; i++) {
        const struct pdnn_scaled *row = &c->made.row[i];
        for (size_t k = 0; k < row->n_parts && parts; k++)
            pdnn_columns_row(columns, &row->part[k], &c->out);
        if (!parts)
            pdnn_columns_row(columns, row, &c->out);
    }
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    (void)some_failed;
    struct command c = {.readers = NULL};
    const char *table = pdnn_argument(arguments, "table");
    bool csv = pdnn_wants_csv(arguments), parts = table && strcmp(table, tables[1]) == 0;
    enum pdnn_status status = parse(&c, arguments, err);
    if (status == PDNN_OK)
        status = open_tables(&c, arguments, err);
    if (status == PDNN_OK)
        status = pdnn_scale(&c.request, &c.arena, &c.made, err);
    if (status == PDNN_OK && csv)
        append_csv(&c, parts);
    else if (status == PDNN_OK && parts)
        pdnn_scaling_parts_text(&c.out, &c.made);
    else if (status == PDNN_OK)
        pdnn_scaling_text(&c.out, &c.made, c.request.memory_bytes > 0);
    if (status == PDNN_OK)
        pdnn_text_print(&c.out, csv);
    if (status == PDNN_OK)
        fprintf(
            stderr,
            "%zu row%s modelled; left out: %zu instance%s not trained or without ops, %zu row%s that cannot be sliced so\n",
            c.made.count, c.made.count == 1 ? "" : "s", c.selection.left_out + c.made.without_ops,
            c.selection.left_out + c.made.without_ops == 1 ? "" : "s", c.made.not_sliced,
            c.made.not_sliced == 1 ? "" : "s");
    pdnn_str_finish(&c.out);
    pdnn_selection_ops_close(&c.selection, c.readers);
    pdnn_selection_close(&c.selection);
    free(c.ceilings);
    pdnn_arena_finish(&c.arena);
    return status;
}

const struct pdnn_command_def pdnn_command_scale = {
    .name = "scale",
    .summary = "Models data parallel and sliced training from steps measured on one device.",
    .operands = "RESULTS",
    .min_operands = 1,
    .max_operands = 1,
    .reads_directories = true,
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .run = run,
};
