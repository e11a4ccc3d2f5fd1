/* The node tests of ONNX itself: each network becomes a family, which the ops' reference kernels compute in
 * double of the test's own inputs.
 *
 * Usage: onnx_nodes DIR..., folders with model.onnx and test_data_set_0/{input,output}_K.pb. Writes a line
 * for each: its name, and "same", "differs: ..." or "refused: ...".
 */
#include "gen/family/family.h"
#include "gen/onnx/family.h"
#include "gen/onnx/trace.h"
#include "models/build.h"
#include "models/definition/compile.h"
#include "tests/models/reference_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, PATH = 4096, PART = 1 << 14 };

/* A test: its network, whose inputs may become initializers, and its tensors. */
struct example {
    Onnx__ModelProto *model;
    Onnx__TensorProto *input[MOST], *output[MOST];
    const char *name[MOST]; /* of inputs */
    size_t n_inputs, n_outputs;
};

static void *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    *length = 0;
    for (size_t got = 1; file && got > 0; *length += got) {
        bytes = realloc(bytes, *length + PART);
        got = fread(bytes + *length, 1, PART, file);
    }
    if (file)
        fclose(file);
    return bytes;
}

static size_t read_tensors(const char *dir, const char *kind, Onnx__TensorProto **tensor) {
    size_t count = 0, length;
    for (; count < MOST; count++) {
        char path[PATH];
        snprintf(path, sizeof path, "%s/test_data_set_0/%s_%zu.pb", dir, kind, count);
        uint8_t *bytes = read_file(path, &length);
        tensor[count] = bytes ? onnx__tensor_proto__unpack(NULL, length, bytes) : NULL;
        free(bytes);
        if (!tensor[count])
            break;
    }
    return count;
}

static bool read_example(const char *dir, struct example *example) {
    char path[PATH];
    size_t length;
    snprintf(path, sizeof path, "%s/model.onnx", dir);
    uint8_t *bytes = read_file(path, &length);
    *example = (struct example){.model = bytes ? onnx__model_proto__unpack(NULL, length, bytes) : NULL};
    free(bytes);
    if (!example->model || !example->model->graph)
        return false;
    example->n_inputs = read_tensors(dir, "input", example->input);
    example->n_outputs = read_tensors(dir, "output", example->output);
    for (size_t k = 0; k < example->n_inputs && k < example->model->graph->n_input; k++)
        example->name[k] = example->model->graph->input[k]->name;
    return example->n_inputs == example->model->graph->n_input &&
           example->n_outputs == example->model->graph->n_output;
}

/* The network's bytes, in which the inputs that are not data are initializers. */
static uint8_t *make_network(const struct example *example, unsigned data, size_t *length) {
    Onnx__GraphProto *graph = example->model->graph;
    Onnx__ValueInfoProto *inputs[MOST], **all = graph->input;
    Onnx__TensorProto *initializers[2 * MOST], **own = graph->initializer, tensors[MOST];
    const size_t n_inputs = graph->n_input, n_own = graph->n_initializer;
    size_t n_data = 0, n_constant = 0;
    for (size_t k = 0; k < n_own && k < MOST; k++)
        initializers[n_constant++] = own[k];
    for (size_t k = 0; k < n_inputs; k++) {
        tensors[k] = *example->input[k];
        tensors[k].name = all[k]->name;
        if (data >> k & 1)
            inputs[n_data++] = all[k];
        else
            initializers[n_constant++] = &tensors[k];
    }
    graph->input = inputs;
    graph->n_input = n_data;
    graph->initializer = initializers;
    graph->n_initializer = n_constant;
    *length = onnx__model_proto__get_packed_size(example->model);
    uint8_t *bytes = malloc(*length);
    onnx__model_proto__pack(example->model, bytes);
    graph->input = all;
    graph->n_input = n_inputs;
    graph->initializer = own;
    graph->n_initializer = n_own;
    return bytes;
}

static const Onnx__TensorProto *tensor_of(const struct example *example, const char *name) {
    for (size_t k = 0; k < example->n_inputs; k++)
        if (strcmp(example->name[k], name) == 0)
            return example->input[k];
    return NULL;
}

static int64_t size_of(void *of, const struct Onnx__ValueInfoProto *input, size_t d) {
    const Onnx__TensorProto *tensor = tensor_of(of, input->name);
    return tensor && d < tensor->n_dims ? tensor->dims[d] : 0;
}

/* Writes a tensor's numbers. False if there are others in number. */
static bool put_numbers(struct pdnn_trace *trace, const Onnx__TensorProto *tensor, bool is_transposed,
                        int64_t count, double *values) {
    struct pdnn_value_of numbers = {0};
    if (!tensor || !pdnn_numbers_tensor(trace, tensor, &numbers) || numbers.kind != PDNN_VALUE_NUMBERS ||
        pdnn_strided_elements(&numbers) != count)
        return false;
    const int64_t columns = is_transposed ? tensor->dims[tensor->n_dims - 1] : 1, rows = count / columns;
    for (int64_t k = 0; k < count; k++)
        values[is_transposed ? k % columns * rows + k / columns : k] = pdnn_numbers_at(&numbers, k);
    return true;
}

/* Operands that no attribute of an entry names: those of the ONNX node. */
static const struct {
    const char *op, *operand;
    size_t input;
} known[] = {{"batchnorm", "gamma", 1},    {"batchnorm", "beta", 2},  {"batchnorm", "mean", 3},
             {"batchnorm", "variance", 4}, {"groupnorm", "gamma", 1}, {"groupnorm", "beta", 2}};

/* Gives the tensors that a node reads what the test has for them. */
static bool put_operands(struct pdnn_trace *trace, const struct example *example,
                         const struct pdnn_graph *graph, const struct pdnn_draft_entry *entry,
                         const struct pdnn_node *node, double **values) {
    const Onnx__NodeProto *proto = example->model->graph->node[0];
    const bool is_gemm = strcmp(proto->op_type, "Gemm") == 0;
    int from = 0;
    for (int k = 0; k < node->n_inputs; k++) {
        const struct pdnn_tensor *tensor = &graph->tensors[node->input[k]];
        const char *name = node->op->operands[k].name ? node->op->operands[k].name : "";
        const struct pdnn_draft_attribute *weight = pdnn_draft_find(entry, name);
        const int64_t count = pdnn_tensor_elements(tensor);
        if (tensor->role == PDNN_ROLE_WEIGHT || tensor->role == PDNN_ROLE_STATE) {
            const Onnx__TensorProto *of = NULL;
            if (weight && weight->kind == PDNN_DRAFT_WEIGHT)
                of = trace->onnx->graph->initializer[weight->size];
            for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                if (!weight && strcmp(known[i].op, entry->op) == 0 && strcmp(known[i].operand, name) == 0)
                    of = tensor_of(example, proto->input[known[i].input]);
            const bool turns = strcmp(entry->op, "dense") == 0 &&
                               !(is_gemm && pdnn_trace_int(&trace->onnx->nodes[0], "transB", 0));
            if (!put_numbers(trace, of, turns, count, values[node->input[k]]))
                return false;
            continue;
        }
        const struct pdnn_draft_entry *of = trace->program.entry[entry->from[from++]];
        for (size_t i = 0; !of->op && i < example->n_inputs; i++)
            if (strcmp(of->input + strlen("in_"), example->name[i]) == 0)
                put_numbers(trace, example->input[i], false, count, values[node->input[k]]);
    }
    return true;
}

static const char *compare(struct pdnn_trace *trace, const struct example *example,
                           const struct pdnn_graph *graph, double **values, char *said, size_t room) {
    size_t node = 0;
    for (int32_t i = 0; i < trace->program.n_entries; i++) {
        const struct pdnn_draft_entry *entry = trace->program.entry[i];
        if (!entry->op || !entry->is_live)
            continue;
        if (node == graph->n_nodes || strcmp(graph->nodes[node].op->name, entry->op) != 0)
            return "refused: entries that are no nodes";
        if (!put_operands(trace, example, graph, entry, &graph->nodes[node++], values))
            return "refused: weights in another arrangement";
    }
    if (graph->n_results != example->n_outputs)
        return "refused: results that are constant or its inputs";
    reference_run(graph, values, 0, graph->n_nodes);
    for (size_t k = 0; k < graph->n_results; k++) {
        const struct pdnn_tensor *tensor = &graph->tensors[graph->results[k]];
        const int64_t count = pdnn_tensor_elements(tensor);
        double *expected = calloc((size_t)count, sizeof *expected), worst = 0;
        if (!put_numbers(trace, example->output[k], false, count, expected)) {
            free(expected);
            return "differs: another number of elements";
        }
        for (int64_t i = 0; i < count; i++) {
            const double is = values[graph->results[k]][i];
            const double error = fabs(is - expected[i]) / (fabs(expected[i]) + 0.01);
            worst = error > worst || isnan(error) ? error : worst;
        }
        free(expected);
        if (!(worst <= 1e-3)) {
            snprintf(said, room, "differs: by %.3g of result %zu", worst, k);
            return said;
        }
    }
    return "same";
}

/* What becomes of the example if these inputs are data; "refused" if nothing does. */
static const char *try_example(const struct example *example, unsigned data, char *said, size_t room) {
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    struct pdnn_onnx onnx;
    struct pdnn_onnx_summary summary;
    struct pdnn_str text = {0};
    const struct pdnn_definition *definition;
    const struct pdnn_family_def *family;
    struct pdnn_instance instance;
    struct pdnn_graph graph = {0};
    size_t length;
    uint8_t *bytes = make_network(example, data, &length);
    const char *found = NULL;
    enum pdnn_status status = pdnn_onnx_parse("f.onnx", bytes, length, &onnx, &err);
    if (status == PDNN_OK)
        status = pdnn_onnx_family(&onnx, &(struct pdnn_onnx_request){0}, &text, &summary, &err);
    struct pdnn_trace trace = {.onnx = &onnx, .program = {.arena = &arena}, .positions = -1, .err = &err};
    union {
        const struct example *in;
        void *out;
    } of = {example};
    if (status == PDNN_OK)
        status = pdnn_trace_run(&trace, size_of, of.out);
    if (status == PDNN_OK)
        status = pdnn_family_parse("f.yaml", pdnn_str_text(&text), text.length, &arena, &definition, &err);
    if (status == PDNN_OK)
        status = pdnn_definition_family(definition, false, &arena, &family, &err);
    if (status == PDNN_OK) {
        pdnn_instance_init(&instance, family);
        instance.setting[PDNN_SETTING_MODE] = PDNN_MODE_INFER;
        for (size_t k = example->n_inputs; k-- > 0;)
            if (data >> k & 1 && example->input[k]->n_dims &&
                example->input[k]->dims[0] >= family->params[0].min)
                instance.hyper[0] = pdnn_value_of(example->input[k]->dims[0]);
        pdnn_instance_resolve(&instance, 1);
        status = pdnn_instance_forward(&instance, &arena, &graph, &err);
    }
    if (status == PDNN_OK) {
        double **values = reference_values(&graph);
        reference_fill(&graph, values, 1);
        found = compare(&trace, example, &graph, values, said, room);
        reference_values_free(&graph, values);
    } else {
        snprintf(said, room, "refused: %.900s", err.text);
        found = said;
    }
    pdnn_onnx_finish(&onnx);
    pdnn_str_finish(&text);
    pdnn_arena_finish(&arena);
    free(bytes);
    return found;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        struct example example;
        char said[1024];
        const char *name = strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i], *found = NULL;
        if (!read_example(argv[i], &example)) {
            printf("%s\trefused: f.onnx: inputs or outputs that are no tensors\n", name);
            continue;
        }
        /* Real inputs are data, or the first one alone, or the second; the first way that is read counts. */
        unsigned real = 0;
        for (size_t k = 0; k < example.n_inputs; k++)
            real |= (unsigned)pdnn_numbers_are_real(example.input[k]->data_type) << k;
        const unsigned ways[] = {real, 1, 2};
        char first[sizeof said] = "";
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            if (!ways[k] || ways[k] >> example.n_inputs)
                continue;
            found = try_example(&example, ways[k], said, sizeof said);
            if (!*first)
                snprintf(first, sizeof first, "%s", found);
            if (strncmp(found, "refused", 7) != 0)
                break;
        }
        const bool is_refused = !found || strncmp(found, "refused", 7) == 0;
        printf("%s\t%s\n", name,
               !is_refused        ? found
               : found && real    ? first
               : example.n_inputs ? "refused: integers alone"
                                  : "refused: no inputs");
        fflush(stdout);
        onnx__model_proto__free_unpacked(example.model, NULL);
        for (size_t k = 0; k < example.n_inputs; k++)
            onnx__tensor_proto__free_unpacked(example.input[k], NULL);
        for (size_t k = 0; k < example.n_outputs; k++)
            onnx__tensor_proto__free_unpacked(example.output[k], NULL);
    }
    return 0;
}
