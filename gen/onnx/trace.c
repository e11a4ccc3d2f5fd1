#include "gen/onnx/trace.h"

#include "base/visible.h"

#include <inttypes.h>
#include <string.h>

enum { NAME = 42 }; /* of layers and inputs */

/* Integers are numbers, which shapes depend on; of others only how many there are matters, unless a pattern
 * asks. */
static bool follow_initializers(struct pdnn_trace *trace) {
    const struct Onnx__GraphProto *graph = trace->onnx->graph;
    char shown[PDNN_VISIBLE_TEXT];
    for (size_t i = 0; i < graph->n_initializer; i++) {
        const struct Onnx__TensorProto *tensor = graph->initializer[i];
        const int32_t id = tensor->name ? pdnn_onnx_value(trace->onnx, tensor->name) : -1;
        if (id < 0)
            continue;
        struct pdnn_value_of *value = &trace->value[id];
        *value = (struct pdnn_value_of){
            .kind = PDNN_VALUE_WEIGHT, .base = (int32_t)i, .factor = 1, .tensor = tensor};
        bool is_empty = false;
        for (size_t d = 0; d < tensor->n_dims; d++)
            is_empty = is_empty || tensor->dims[d] == 0;
        const bool is_fine = is_empty || !pdnn_numbers_are_real(tensor->data_type)
                                 ? pdnn_numbers_tensor(trace, tensor, value)
                                 : pdnn_strided_shape(trace, value, (int)tensor->n_dims, tensor->dims);
        if (value->kind == PDNN_VALUE_REFUSED) { /* numbers that are in another file */
            value->kind = PDNN_VALUE_WEIGHT;
            value->base = (int32_t)i;
        }
        if (!is_fine)
            return pdnn_trace_fail(
                trace, "initializer '%.60s' has other data than its shape, or no shape that is read",
                pdnn_visible(shown, tensor->name));
    }
    return true;
}

/* Each row counts from 0 instead of being data, if there is room. */
static void count_positions(struct pdnn_trace *trace, struct pdnn_value_of *value) {
    struct pdnn_value_of rows = *value;
    const int last = value->rank - 1;
    double *number;
    if (!pdnn_strided_shape(trace, &rows, 1, &value->dim[last]) || !pdnn_numbers_room(trace, &rows, &number))
        return;
    for (int64_t k = 0; k < value->dim[last]; k++)
        number[k] = (double)k;
    rows.rank = value->rank;
    memcpy(rows.dim, value->dim, sizeof rows.dim);
    memset(rows.stride, 0, sizeof rows.stride);
    rows.stride[last] = 1;
    rows.is_plain = false;
    *value = rows;
}

static bool follow_input(struct pdnn_trace *trace, const struct Onnx__ValueInfoProto *input,
                         struct pdnn_value_of *value, pdnn_trace_size *size, void *of) {
    char shown[PDNN_VISIBLE_TEXT], made[NAME];
    const char *name = pdnn_visible(shown, input->name);
    const struct Onnx__TypeProto *type = input->type;
    if (!type || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE || !type->tensor_type->shape)
        return pdnn_trace_fail(trace, "input '%.60s' is not a tensor with a shape", name);
    const struct Onnx__TensorShapeProto *shape = type->tensor_type->shape;
    int64_t dim[PDNN_TRACE_RANK] = {0};
    if (shape->n_dim > PDNN_TRACE_RANK)
        return pdnn_trace_fail(trace, "input '%.60s' has %zu dimensions, at most %d are read", name,
                               shape->n_dim, PDNN_TRACE_RANK);
    for (size_t d = 0; d < shape->n_dim; d++)
        dim[d] = size(of, input, d);
    struct pdnn_value_of whole = {0};
    if (!pdnn_strided_shape(trace, &whole, (int)shape->n_dim, dim))
        return pdnn_trace_fail(trace, "input '%.60s' has a dimension below 1, or more than 2^48 elements",
                               name);
    const int64_t columns = shape->n_dim ? dim[shape->n_dim - 1] : 1;
    const bool is_plain = shape->n_dim <= 2 || shape->n_dim == 4;
    const bool is_whole = !pdnn_numbers_are_real(type->tensor_type->elem_type);
    const int64_t flat[2] = {pdnn_strided_elements(&whole) / columns, columns},
                  all = pdnn_strided_elements(&whole);
    const int64_t one = 1;
    const int rank = is_whole ? 1 : shape->n_dim == 0 ? 1 : is_plain ? (int)shape->n_dim : 2;
    struct pdnn_draft_entry *entry = pdnn_draft_add(&trace->program, NULL, NULL, rank,
                                                    is_whole            ? &all
                                                    : shape->n_dim == 0 ? &one
                                                    : is_plain          ? dim
                                                                        : flat);
    entry->input =
        pdnn_arena_printf(trace->program.arena, "in_%s",
                          pdnn_onnx_make_name(made, sizeof made, input->name, strlen(input->name)));
    if (!pdnn_strided_of(trace, trace->program.n_entries - 1, (int)shape->n_dim, dim, value))
        return false;
    value->is_whole = value->is_plain = is_whole;
    if (trace->positions >= 0 && value == &trace->value[trace->positions])
        count_positions(trace, value);
    return true;
}

static const struct pdnn_trace_row *find_row(const char *op) {
    static const struct pdnn_trace_row *const tables[] = {pdnn_trace_structure, pdnn_trace_arithmetic,
                                                          pdnn_trace_layers, pdnn_trace_products};
    for (size_t i = 0; op && i < sizeof tables / sizeof *tables; i++)
        for (const struct pdnn_trace_row *row = tables[i]; row->op; row++)
            if (strcmp(row->op, op) == 0)
                return row;
    return op ? pdnn_trace_elementwise(op) : NULL;
}

/* The node whose operator stands between an input and a result, or NULL. */
static const struct pdnn_onnx_node *find_refusal(const struct pdnn_trace *trace,
                                                 const struct pdnn_onnx_node *node,
                                                 const struct pdnn_trace_row *row) {
    if (!row)
        return node;
    for (size_t k = 0; k < node->proto->n_input; k++) {
        const struct pdnn_value_of *in = pdnn_trace_in(trace, node, k);
        const bool is_nothing = in && pdnn_strided_elements(in) == 0 && strcmp(row->op, "Concat") == 0;
        if (in && !is_nothing &&
            (in->kind == PDNN_VALUE_REFUSED || (in->kind == PDNN_VALUE_FORMULA && !row->takes_formulas)))
            return in->node ? in->node : node;
    }
    return NULL;
}

static const char *layer_of(const struct pdnn_trace *trace, const struct Onnx__NodeProto *node) {
    const char *at = node->name ? node->name : "", *end = strrchr(at, '/');
    if (!end)
        return NULL;
    /* The first module with a number, or else the outermost one. */
    const char *part = at + (*at == '/'), *found = NULL;
    size_t length = 0;
    for (const char *next; part < end; part = next + 1) {
        next = strchr(part, '/');
        const size_t letters = (size_t)(next - part);
        bool has_digit = false;
        for (size_t i = 0; i < letters; i++)
            has_digit = has_digit || (part[i] >= '0' && part[i] <= '9');
        if (!found || has_digit) {
            found = part;
            length = letters;
        }
        if (has_digit)
            break;
    }
    if (!found || !length)
        return NULL;
    char name[NAME];
    return pdnn_arena_strdup(trace->program.arena, pdnn_onnx_make_name(name, sizeof name, found, length));
}

static bool follow_node(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const struct pdnn_trace_row *row = find_row(node->proto->op_type);
    const int32_t first = trace->program.n_entries;
    trace->node = node;
    if (row && node->proto->n_input > PDNN_TRACE_INPUTS && strcmp(row->op, "Concat") != 0)
        return pdnn_trace_fail(trace, "%zu inputs, at most %d are read", node->proto->n_input,
                               PDNN_TRACE_INPUTS);
    if ((size_t)first > PDNN_TRACE_ENTRIES + trace->onnx->length / PDNN_TRACE_SHARE)
        return pdnn_trace_fail(trace, "the network has more than %d operators, many for the size of its file",
                               first);
    if (row && strcmp(row->op, "Constant") != 0 && !pdnn_trace_in(trace, node, 0))
        return pdnn_trace_fail(trace, "has no first input");
    const struct pdnn_onnx_node *refusal = find_refusal(trace, node, row);
    if (row && strcmp(node->proto->op_type, "Cos") == 0)
        pdnn_rotary_count(trace, node->in[0]);
    for (size_t k = 0; k < node->proto->n_output; k++)
        if (node->out[k] >= 0 && node->proto->op_type)
            trace->giver[node->out[k]] = node;
    for (size_t k = 0; k < node->proto->n_output; k++)
        *pdnn_trace_out(trace, node, k) =
            (struct pdnn_value_of){.kind = PDNN_VALUE_REFUSED, .node = refusal ? refusal : node};
    if (!refusal && !row->rule(trace, node))
        return false;
    for (size_t k = 0; k < node->proto->n_output; k++) {
        struct pdnn_value_of *out = pdnn_trace_out(trace, node, k);
        if (out->kind != PDNN_VALUE_REFUSED && out->kind != PDNN_VALUE_FORMULA)
            out->node = node;
    }
    const char *layer = trace->program.n_entries > first ? layer_of(trace, node->proto) : NULL;
    for (int32_t i = first; i < trace->program.n_entries; i++)
        trace->program.entry[i]->layer = trace->program.entry[i]->op ? layer : NULL;
    return true;
}

/* What to do about operators that are not read. */
static const struct {
    const char *op, *instead;
} remedies[] = {
    {"If", "export one branch: torch.onnx.export of a traced model has none"},
    {"Loop", "export one round, or a traced model"},
    {"Scan", "export one round, or a traced model"},
    {"NonZero", "its shape depends on data: export the part before it"},
    {"NonMaxSuppression", "its shape depends on data: export the network without its last step"},
    {"TopK", "export the part before it"},
    {"QuantizeLinear", "export the float model; --set dtype=int8 quantizes it"},
    {"DequantizeLinear", "export the float model; --set dtype=int8 quantizes it"},
    {"DynamicQuantizeLinear", "export the float model; --set dtype=int8 quantizes it"},
};

static bool refuse(struct pdnn_trace *trace, const struct pdnn_onnx_node *node) {
    const char *op = node->proto->op_type ? node->proto->op_type : "", *instead = "export the part before it";
    size_t count = 0;
    for (size_t i = 0; i < trace->onnx->graph->n_node; i++)
        count +=
            trace->onnx->nodes[i].proto->op_type && strcmp(trace->onnx->nodes[i].proto->op_type, op) == 0;
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (strcmp(remedies[i].op, op) == 0)
            instead = remedies[i].instead;
    trace->node = node;
    return find_row(op) ? pdnn_trace_fail(trace, "no operator of a family does this here; %s", instead)
                        : pdnn_trace_fail(trace, "this operator is not read (%zu node%s); %s", count,
                                          count == 1 ? "" : "s", instead);
}

static bool follow_results(struct pdnn_trace *trace) {
    const struct Onnx__GraphProto *graph = trace->onnx->graph;
    struct pdnn_draft *program = &trace->program;
    char shown[PDNN_VISIBLE_TEXT];
    program->result = pdnn_arena_alloc(program->arena, graph->n_output + 1, sizeof *program->result);
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *name = graph->output[i]->name ? graph->output[i]->name : "";
        const int32_t id = pdnn_onnx_value(trace->onnx, name);
        trace->node = NULL;
        if (id < 0)
            return pdnn_trace_fail(trace, "nothing gives its output '%.60s'", pdnn_visible(shown, name));
        const struct pdnn_value_of *value = &trace->value[id];
        if (value->kind == PDNN_VALUE_REFUSED || value->kind == PDNN_VALUE_FORMULA)
            return refuse(trace, value->node);
        if (value->kind != PDNN_VALUE_DATA)
            continue;
        trace->node = value->node;
        const int32_t entry = pdnn_strided_entry(trace, value, 0, NULL);
        bool is_new = entry >= 0 && program->entry[entry]->op;
        for (int k = 0; k < program->n_results; k++)
            is_new = is_new && program->result[k] != entry;
        if (entry < 0)
            return false;
        if (is_new)
            program->result[program->n_results++] = entry;
    }
    trace->node = NULL;
    return program->n_results || pdnn_trace_fail(trace, "its outputs are its inputs, or constant");
}

enum pdnn_status pdnn_trace_run(struct pdnn_trace *trace, pdnn_trace_size *size, void *of) {
    const struct Onnx__GraphProto *graph = trace->onnx->graph;
    trace->node = NULL;
    if ((size_t)trace->onnx->n_values > PDNN_TRACE_VALUES + trace->onnx->length / PDNN_TRACE_SHARE)
        return pdnn_fail(trace->err, PDNN_INVALID, "%s: %d values, many for the size of the file",
                         trace->onnx->name, trace->onnx->n_values);
    trace->value =
        pdnn_arena_alloc(trace->program.arena, (size_t)trace->onnx->n_values + 1, sizeof *trace->value);
    trace->giver =
        pdnn_arena_alloc(trace->program.arena, (size_t)trace->onnx->n_values + 1, sizeof *trace->giver);
    trace->same =
        pdnn_arena_alloc(trace->program.arena, (size_t)trace->onnx->n_values + 1, sizeof *trace->same);
    for (int32_t i = 0; i < trace->onnx->n_values; i++)
        trace->same[i] = i;
    bool is_fine = follow_initializers(trace);
    for (size_t i = 0; i < graph->n_input && is_fine; i++) {
        const int32_t id = graph->input[i]->name ? pdnn_onnx_value(trace->onnx, graph->input[i]->name) : -1;
        if (id >= 0 && trace->value[id].kind == PDNN_VALUE_REFUSED)
            is_fine = follow_input(trace, graph->input[i], &trace->value[id], size, of);
    }
    for (size_t i = 0; i < graph->n_node && is_fine; i++)
        is_fine = follow_node(trace, &trace->onnx->nodes[i]);
    is_fine = is_fine && follow_results(trace);
    if (is_fine)
        pdnn_draft_mark(&trace->program);
    return is_fine ? PDNN_OK : trace->err->status;
}
