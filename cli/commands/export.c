#include "base/paths/target.h"
#include "base/units.h"
#include "base/visible.h"
#include "cli/print/output.h"
#include "gen/chakra/write.h"
#include "gen/expansion/walk.h"
#include "gen/onnx/write.h"
#include "models/benchdnn/problems.h"
#include "models/build.h"
#include "models/cost/group.h"
#include "models/op.h"
#include "models/onnx/network.h"
#include "results/query/shares.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char description[] =
    "Writes a model's network, as inference runs it, for other runtimes: ONNX, opset 17, f32. Of the run settings only "
    "dtype counts, which has to be f32, and of a spec, which must have one instance, the seed. Beside FILE there is FILE.data, which the "
    "graph names. Without --weights, all weights are one block of zeros there, which takes no room on disk: a "
    "network of any size is a small file, and good for its shape and its speed. With --weights they are those that a run "
    "begins with. What a network keeps between steps, as the keys and values of earlier tokens, is an input and a result.\n\n"
    "Ops that ONNX has no form of are named, with how many nodes of each there are; nothing is written then, and the exit status is 1.\n\n"
    "--to benchdnn: the step's operators as command lines of benchdnn, oneDNN's benchmark (oneDNN 3), as the settings "
    "make them: mode, dtype, fuse, algorithm and cache. Equal operators are one line, below a comment that counts them; those that it has no driver for are comments.\n\n"
    "--to chakra: an execution trace of MLCommons Chakra for each rank, FILE.0.et and so on, with what each operator waits for, and all-reduces as collectives. "
    "With --results, operators have the durations that were measured or composed there; otherwise none.";

static const char *const form_names[] = {"onnx", "benchdnn", "chakra", NULL};

static const struct pdnn_option_def options[] = {
    {"to", 0, "FORMAT", .choices = form_names, .help = "what to write (default: onnx)"},
    {"output", 'o', "FILE", .help = "the file to write (default: stdout, for benchdnn; else required)"},
    {"weights", .help = "write the seeded weights, too: four bytes a parameter"},
    {"results", 0, "DIR", .help = "for chakra: durations from this result directory (default: none)"},
    PDNN_OPTION_SET,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn export cnn:resnet50,batch=1 -o resnet50.onnx", "the network, without its 102 MB of weights"},
    {"paradnn export cnn:resnet50,batch=1 -o resnet50.onnx --weights",
     "with them, so that results can be compared"},
    {"paradnn export cnn:resnet50,batch=32,mode=train --to benchdnn -o resnet50.txt",
     "its operators and their gradients for oneDNN's own benchmark"},
    {"paradnn export cnn:resnet50,batch=32,mode=train,ranks=2,allreduce=bucketed --to chakra -o resnet50",
     "traces of two ranks, resnet50.0.et and resnet50.1.et"},
};

/* The only instance of the spec. */
static enum pdnn_status find_instance(const struct pdnn_spec *spec, struct pdnn_instance *instance,
                                      struct pdnn_err *err) {
    struct pdnn_walk walk = {.next = 0};
    struct pdnn_expanded item;
    enum pdnn_status status;
    size_t count = 0;
    pdnn_walk_start(&walk, spec, 0, false);
    while (pdnn_walk_next(&walk, &item, &status, err)) {
        if (item.filtered)
            continue;
        *instance = item.instance;
        count++;
    }
    pdnn_walk_finish(&walk);
    if (status == PDNN_OK && count != 1)
        return pdnn_fail(err, PDNN_INVALID, "export writes one network, and there are %zu instances", count);
    return status;
}

/* What is asked for besides the instance. */
struct request {
    struct pdnn_export_file file;
    const char *results; /* a directory, or NULL */
};

static enum pdnn_status write_onnx(const struct pdnn_instance *instance, const struct request *request,
                                   struct pdnn_err *err) {
    struct pdnn_export_file file = request->file;
    struct pdnn_export_sizes sizes;
    struct pdnn_export *onnx;
    struct pdnn_arena arena = {0};
    char id[PDNN_ID_TEXT], shown[PDNN_VISIBLE_TEXT], graph[PDNN_UNIT_TEXT], data[PDNN_UNIT_TEXT];
    file.id = pdnn_instance_format(instance, id);
    id[pdnn_id_model_length(id)] = '\0';
    enum pdnn_status status = pdnn_export_build(instance, &arena, &onnx, err);
    if (status == PDNN_OK)
        status = pdnn_export_write(onnx, &file, &sizes, err);
    if (status == PDNN_OK)
        fprintf(stderr,
                sizes.data_bytes ? "%s: %zu nodes, %s, and %s of %s beside it\n" : "%s: %zu nodes, %s\n",
                pdnn_visible(shown, file.path), onnx->n_nodes,
                pdnn_format_si(graph, (double)sizes.graph_bytes, "B"),
                pdnn_format_si(data, (double)sizes.data_bytes, "B"),
                file.with_weights ? "weights" : "zeros for weights");
    pdnn_arena_finish(&arena);
    return status;
}

static enum pdnn_status write_file(const char *path, const struct pdnn_str *text, struct pdnn_err *err) {
    struct pdnn_target target = {.fd = -1};
    enum pdnn_status status = pdnn_target_open(&target, path, err);
    if (status == PDNN_OK)
        status = pdnn_target_write(&target, pdnn_str_text(text), text->length, err);
    pdnn_target_close(&target);
    return status;
}

static enum pdnn_status write_benchdnn(const struct pdnn_instance *instance, const struct request *request,
                                       struct pdnn_err *err) {
    struct pdnn_str text = {0};
    enum pdnn_status status = pdnn_benchdnn_append(instance, &text, err);
    if (status == PDNN_OK && request->file.path)
        status = write_file(request->file.path, &text, err);
    else if (status == PDNN_OK)
        pdnn_text_print(&text, true);
    pdnn_str_finish(&text);
    return status;
}

/* The time of each node, as the directory has that of its group; NaN where it has none. Returns how many
 * have. */
static size_t find_times(const struct pdnn_graph *graph, const struct pdnn_group *groups,
                         const uint32_t *group_of, const struct pdnn_op_record *ops, size_t n_ops,
                         double *time_ns) {
    size_t known = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        const struct pdnn_group *group = &groups[group_of[i]];
        time_ns[i] = NAN;
        for (size_t k = 0; k < n_ops; k++) {
            if (strcmp(ops[k].op, node->op->name) == 0 && strcmp(ops[k].shape, group->shape) == 0 &&
                strcmp(ops[k].pass, pdnn_node_pass_name(node)) == 0 && ops[k].count)
                time_ns[i] = ops[k].time_ns_median / (double)ops[k].count;
        }
        known += isnan(time_ns[i]) ? 0 : 1;
    }
    return known;
}

static enum pdnn_status read_times(const struct pdnn_graph *graph, const char *id, const char *directory,
                                   double *time_ns, struct pdnn_err *err) {
    struct pdnn_ops_reader reader = {0};
    struct pdnn_group *groups;
    uint32_t *group_of;
    size_t n_groups, known;
    const struct pdnn_op_record *ops = NULL;
    if (pdnn_graph_groups(graph, &groups, &n_groups, &group_of, err) != PDNN_OK ||
        (directory && pdnn_ops_reader_open(&reader, directory, err) != PDNN_OK))
        return err->status;
    const size_t n_ops = directory ? pdnn_ops_reader_find(&reader, id, &ops) : 0;
    known = find_times(graph, groups, group_of, ops, n_ops, time_ns);
    if (directory && !n_ops)
        pdnn_fail(err, PDNN_INVALID, "%s has no operators of %s", directory, id);
    else if (known < graph->n_nodes)
        fprintf(stderr, "%zu of %zu nodes have no duration%s\n", graph->n_nodes - known, graph->n_nodes,
                directory ? "" : ", give --results DIR");
    if (directory)
        pdnn_ops_reader_close(&reader);
    return directory && !n_ops ? PDNN_INVALID : PDNN_OK;
}

/* All ranks do the same. */
static enum pdnn_status write_chakra(const struct pdnn_instance *instance, const struct request *request,
                                     struct pdnn_err *err) {
    struct pdnn_arena arena = {0};
    struct pdnn_graph graph;
    char id[PDNN_ID_TEXT];
    double *time_ns = NULL;
    enum pdnn_status status = pdnn_instance_graph(instance, &arena, &graph, err);
    pdnn_instance_format(instance, id);
    if (status == PDNN_OK) {
        time_ns = pdnn_arena_room(&arena, graph.n_nodes, sizeof *time_ns);
        status = read_times(&graph, id, request->results, time_ns, err);
    }
    for (int64_t rank = 0; status == PDNN_OK && rank < instance->setting[PDNN_SETTING_RANKS]; rank++) {
        struct pdnn_str trace = {0};
        status = pdnn_chakra_append(&graph, id, rank, time_ns, &trace, err);
        if (status == PDNN_OK)
            status = write_file(pdnn_arena_printf(&arena, "%s.%" PRId64 ".et", request->file.path, rank),
                                &trace, err);
        pdnn_str_finish(&trace);
    }
    pdnn_arena_finish(&arena);
    return status;
}

/* By form_names. */
static const struct {
    enum pdnn_status (*write)(const struct pdnn_instance *instance, const struct request *request,
                              struct pdnn_err *err);
    bool is_text;
} forms[] = {{write_onnx, false}, {write_benchdnn, true}, {write_chakra, false}};

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    size_t n_sets;
    const char *const *sets = pdnn_argument_all(arguments, "set", &n_sets);
    struct request request = {.file = {.path = pdnn_argument(arguments, "output"),
                                       .with_weights = pdnn_argument(arguments, "weights") != NULL},
                              .results = pdnn_argument(arguments, "results")};
    struct pdnn_spec spec;
    struct pdnn_instance instance;
    const size_t form = pdnn_argument_choice(arguments, "to", 0);
    if (!request.file.path && !forms[form].is_text)
        return pdnn_fail(err, PDNN_INVALID, "export needs a file to write, give -o FILE");
    if (request.file.with_weights && form)
        return pdnn_fail(err, PDNN_INVALID, "--weights goes with --to onnx, %s has none", form_names[form]);
    if (request.results && forms[form].write != write_chakra)
        return pdnn_fail(err, PDNN_INVALID, "--results goes with --to chakra, %s has no durations",
                         form_names[form]);
    if (pdnn_spec_load(arguments->operands, arguments->n_operands, sets, n_sets, &spec, err) != PDNN_OK)
        return err->status;
    request.file.seed = spec.seed;
    enum pdnn_status status = find_instance(&spec, &instance, err);
    if (status == PDNN_OK)
        status = forms[form].write(&instance, &request, err);
    pdnn_spec_finish(&spec);
    return status;
}

PDNN_COMMAND(export, PDNN_COMMANDS_FILES, "ID|SPEC", "Writes a model's network for other runtimes.",
             .run = run);
