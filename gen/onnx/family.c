#include "gen/onnx/family.h"

#include "base/memory.h"
#include "base/visible.h"
#include "gen/onnx/built.h"
#include "gen/onnx/polynomial.h"
#include "gen/onnx/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 48 };

/* A free dimension: those of one name, or one dimension of one input. */
struct axis {
    char name[NAME];
    const char *param; /* as the file names it; NULL: not */
    const struct Onnx__ValueInfoProto *input;
    size_t d;
    int64_t fixed; /* by the request; 0: free */
};

struct conversion {
    const struct pdnn_onnx *onnx;
    const struct pdnn_onnx_request *request;
    struct axis axis[PDNN_POLYNOMIAL_AXES * 2];
    int n_axes;    /* fixed ones too */
    int64_t first; /* dimension of all inputs, or 1 */
    bool is_batch; /* the first dimension of all inputs is an axis, though the file has a number there */
    struct pdnn_polynomial_axes sizes; /* of the free ones */
    const char *names[PDNN_POLYNOMIAL_AXES];
    int64_t now[PDNN_POLYNOMIAL_AXES]; /* where the network is followed */
    int32_t positions;                 /* as in pdnn_trace */
    struct pdnn_draft *program;        /* at the first point */
    int64_t **value;                   /* by point, then by what varies */
    size_t n_values, at;               /* at: the next that is written */
    struct pdnn_err *err;
    struct pdnn_str *text;
};

bool pdnn_onnx_is_name(const char *path) {
    const size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".onnx") == 0;
}

/* Dimension d of an input as one of the axes, or NULL: it has a size. */
static const struct axis *find_axis(const struct conversion *c, const struct Onnx__ValueInfoProto *input,
                                    size_t d) {
    const struct Onnx__TensorShapeProto__Dimension *dim = input->type->tensor_type->shape->dim[d];
    const bool is_named = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                          dim->dim_param && *dim->dim_param;
    for (int i = 0; i < c->n_axes; i++) {
        const struct axis *axis = &c->axis[i];
        if (is_named ? axis->param && strcmp(axis->param, dim->dim_param) == 0
                     : !axis->param && axis->input == input && axis->d == d)
            return axis;
        if (c->is_batch && i == 0 && d == 0)
            return axis;
    }
    return NULL;
}

static int64_t size_of(void *of, const struct Onnx__ValueInfoProto *input, size_t d) {
    const struct conversion *c = of;
    const struct Onnx__TensorShapeProto__Dimension *dim = input->type->tensor_type->shape->dim[d];
    const struct axis *axis = find_axis(c, input, d);
    if (axis && axis->fixed)
        return axis->fixed;
    for (int i = 0; axis && i < c->sizes.count; i++)
        if (strcmp(c->names[i], axis->name) == 0)
            return c->now[i];
    return dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ? dim->dim_value : 0;
}

/* Whether each of the request's texts gives a free dimension a size. */
static enum pdnn_status check_set(const struct conversion *c) {
    for (size_t i = 0; i < c->request->n_set; i++) {
        const char *set = c->request->set[i], *equals = strchr(set, '=');
        const int letters = equals ? (int)(equals - set) : (int)strlen(set);
        const char *words[PDNN_POLYNOMIAL_AXES * 2];
        char hint[PDNN_SUGGESTION_TEXT], *end = NULL;
        bool is_known = false;
        for (int k = 0; k < c->n_axes; k++) {
            words[k] = c->axis[k].name;
            is_known = is_known ||
                       ((int)strlen(words[k]) == letters && strncmp(words[k], set, (size_t)letters) == 0);
        }
        const int64_t size = equals ? strtoll(equals + 1, &end, 10) : 0;
        if (!is_known)
            return pdnn_fail(c->err, PDNN_INVALID, "%s has no free dimension '%.*s'%s", c->onnx->name,
                             letters < 40 ? letters : 40, set,
                             pdnn_suggest(hint, set, words, (size_t)c->n_axes));
        if (!end || *end || size < 1 || size > 1 << 24)
            return pdnn_fail(c->err, PDNN_INVALID, "--set %.60s: expected %.*s=N with N from 1 to 16777216",
                             set, letters, set);
    }
    return PDNN_OK;
}

/* A number that the request gives for an axis; 0: none. */
static int64_t fixed_size(const struct conversion *c, const char *name) {
    for (size_t i = 0; i < c->request->n_set; i++) {
        const char *set = c->request->set[i], *equals = strchr(set, '=');
        if (equals && strncmp(set, name, (size_t)(equals - set)) == 0 && !name[equals - set])
            return strtoll(equals + 1, NULL, 10);
    }
    return 0;
}

/* Names of dimensions without one, and sizes at which the network is followed: small minibatches, images that
 * are halved five times, lengths of sequences that no table of positions is too short for. */
static const struct {
    const char *name;
    int64_t size[PDNN_POLYNOMIAL_SIZES];
} kinds[] = {
    {"batch", {2, 3, 4, 7}},
    {"pixels", {224, 256, 288, 352}},
    {"length", {16, 24, 40, 56}},
};

static void add_axis(struct conversion *c, const char *name, size_t length,
                     const struct Onnx__ValueInfoProto *input, size_t d) {
    struct axis *axis = &c->axis[c->n_axes++];
    pdnn_onnx_make_name(axis->name, NAME - PDNN_POLYNOMIAL_AXES * 2, name, length);
    for (int i = 0; i + 1 < c->n_axes; i++)
        if (strcmp(c->axis[i].name, axis->name) == 0) { /* and once more, as the longer name may be taken */
            strcat(axis->name, (char[2]){(char)('0' + c->n_axes)});
            i = -1;
        }
    axis->input = input;
    axis->d = d;
    axis->fixed = fixed_size(c, axis->name);
    if (axis->fixed || c->sizes.count == PDNN_POLYNOMIAL_AXES)
        return;
    const bool is_image = input->type->tensor_type->shape->n_dim == 4 && d >= 2;
    c->names[c->sizes.count] = axis->name;
    memcpy(c->sizes.size[c->sizes.count++], kinds[d == 0 ? 0 : is_image ? 1 : 2].size, sizeof kinds->size);
}

static bool is_data(const struct pdnn_onnx *onnx, const struct Onnx__ValueInfoProto *input) {
    for (size_t i = 0; i < onnx->graph->n_initializer; i++)
        if (input->name && onnx->graph->initializer[i]->name &&
            strcmp(onnx->graph->initializer[i]->name, input->name) == 0)
            return false;
    return input->name && input->type && input->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
           input->type->tensor_type->shape;
}

static enum pdnn_status find_axes(struct conversion *c) {
    const struct Onnx__GraphProto *graph = c->onnx->graph;
    int64_t first = -1;
    for (size_t i = 0; i < graph->n_input; i++) {
        const struct Onnx__ValueInfoProto *input = graph->input[i];
        for (size_t d = 0; is_data(c->onnx, input) && d < input->type->tensor_type->shape->n_dim; d++) {
            const struct Onnx__TensorShapeProto__Dimension *dim = input->type->tensor_type->shape->dim[d];
            char shown[PDNN_VISIBLE_TEXT];
            if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && d == 0)
                first = first == -1 || first == dim->dim_value ? dim->dim_value : -2;
            if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ||
                find_axis(c, input, d))
                continue;
            if (c->n_axes == PDNN_POLYNOMIAL_AXES * 2)
                return pdnn_fail(c->err, PDNN_INVALID, "%s: more than %d free dimensions", c->onnx->name,
                                 c->n_axes);
            const bool is_named = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                                  dim->dim_param && *dim->dim_param;
            const char *own = *input->name ? input->name : "axis",
                       *name = is_named ? dim->dim_param : pdnn_visible(shown, own);
            add_axis(c, name, strlen(name), input, d);
            c->axis[c->n_axes - 1].param = is_named ? dim->dim_param : NULL;
        }
    }
    int n_fixed = 0;
    for (int i = 0; i < c->n_axes; i++)
        n_fixed += c->axis[i].fixed > 0;
    if (c->n_axes - n_fixed > PDNN_POLYNOMIAL_AXES)
        return pdnn_fail(c->err, PDNN_INVALID,
                         "%s: %d free dimensions, at most %d are axes: give %s a number with --set %s=N",
                         c->onnx->name, c->n_axes - n_fixed, PDNN_POLYNOMIAL_AXES,
                         c->axis[c->n_axes - 1].name, c->axis[c->n_axes - 1].name);
    if (c->n_axes == 0 && first >= 1) {
        c->is_batch = true;
        for (size_t i = 0; i < graph->n_input && !c->n_axes; i++)
            if (is_data(c->onnx, graph->input[i]))
                add_axis(c, kinds[0].name, strlen(kinds[0].name), graph->input[i], 0);
    }
    if (c->request->n_set && check_set(c) != PDNN_OK)
        return c->err->status;
    c->first = first >= 1 ? first : 1;
    for (int i = 0; i < c->n_axes; i++)
        if (c->axis[i].fixed && c->axis[i].d == 0)
            c->first = c->axis[i].fixed;
    return PDNN_OK;
}

/* Sizes that may vary, in order: of live inputs their dimensions, of entries attributes, of results their
 * dimensions. Returns how many; writes none where `to` is NULL. */
static size_t collect(const struct pdnn_draft *program, int64_t *to) {
    size_t count = 0;
    for (int32_t i = 0; i < program->n_entries; i++) {
        const struct pdnn_draft_entry *entry = program->entry[i];
        for (int d = 0; entry->is_live && !entry->op && d < entry->rank; d++, count++)
            if (to)
                to[count] = entry->dim[d];
        for (int k = 0; entry->is_live && k < entry->n_attributes; k++)
            if (entry->attribute[k].kind == PDNN_DRAFT_SIZE) {
                if (to)
                    to[count] = entry->attribute[k].size;
                count++;
            }
    }
    for (int i = 0; i < program->n_results; i++)
        for (int d = 0; d < program->entry[program->result[i]]->rank; d++, count++)
            if (to)
                to[count] = program->entry[program->result[i]]->dim[d];
    return count;
}

static bool is_alike(const struct pdnn_draft_entry *a, const struct pdnn_draft_entry *b) {
    bool alike = a->is_live == b->is_live && !a->op == !b->op &&
                 strcmp(a->op ? a->op : a->input, b->op ? b->op : b->input) == 0 && a->n_from == b->n_from &&
                 a->n_attributes == b->n_attributes && a->rank == b->rank &&
                 (!a->n_from || memcmp(a->from, b->from, (size_t)a->n_from * sizeof *a->from) == 0);
    for (int k = 0; k < a->n_attributes && alike; k++) {
        const struct pdnn_draft_attribute *x = &a->attribute[k], *y = &b->attribute[k];
        alike = x->kind == y->kind && strcmp(x->name, y->name) == 0 &&
                (x->kind == PDNN_DRAFT_SIZE   ? true
                 : x->kind == PDNN_DRAFT_WORD ? strcmp(x->word, y->word) == 0
                 : x->kind == PDNN_DRAFT_REAL ? !(x->real < y->real || x->real > y->real)
                                              : x->size == y->size);
    }
    return alike;
}

/* Follows the network where c->now is, and once more where that shows an input of positions. */
static enum pdnn_status follow_point(struct conversion *c, struct pdnn_arena *arena,
                                     struct pdnn_trace *trace) {
    *trace = (struct pdnn_trace){
        .onnx = c->onnx, .program = {.arena = arena}, .positions = c->positions, .err = c->err};
    const enum pdnn_status status = pdnn_trace_run(trace, size_of, c);
    if (trace->positions == c->positions)
        return status;
    c->positions = trace->positions;
    *c->err = (struct pdnn_err){0};
    return follow_point(c, arena, trace);
}

/* Follows the network at all points; all but the first program are compared with it and forgotten. */
static enum pdnn_status follow(struct conversion *c, struct pdnn_arena *arena) {
    const int points = pdnn_polynomial_points(&c->sizes);
    struct pdnn_arena other = {0};
    enum pdnn_status status = PDNN_OK;
    c->value = pdnn_arena_alloc(arena, (size_t)points, sizeof *c->value);
    for (int k = 0; k < points && status == PDNN_OK; k++) {
        struct pdnn_trace trace;
        pdnn_polynomial_point(&c->sizes, k, c->now);
        status = follow_point(c, k ? &other : arena, &trace);
        if (status != PDNN_OK)
            break;
        if (!k) {
            c->program = pdnn_arena_alloc(arena, 1, sizeof *c->program);
            *c->program = trace.program;
            c->n_values = collect(c->program, NULL);
        }
        bool alike = trace.program.n_entries == c->program->n_entries &&
                     trace.program.n_results == c->program->n_results;
        for (int32_t i = 0; i < c->program->n_entries && alike; i++)
            alike = is_alike(c->program->entry[i], trace.program.entry[i]);
        if (!alike) {
            status =
                pdnn_fail(c->err, PDNN_INVALID,
                          "%s: is another network where %s is %" PRId64 ": give it a number with --set %s=N",
                          c->onnx->name, c->names[c->sizes.count - 1], c->now[c->sizes.count - 1],
                          c->names[c->sizes.count - 1]);
            break;
        }
        c->value[k] = pdnn_arena_room(arena, c->n_values + 1, sizeof **c->value);
        collect(&trace.program, c->value[k]);
        pdnn_arena_reset(&other);
    }
    pdnn_arena_finish(&other);
    return status;
}

/* The next of the sizes as an expression; `what` names it. */
static const char *next_size(struct conversion *c, const char *what, struct pdnn_arena *arena) {
    const int points = pdnn_polynomial_points(&c->sizes);
    int64_t value[PDNN_POLYNOMIAL_POINTS + 1];
    struct pdnn_polynomial polynomial;
    struct pdnn_str text = {0};
    for (int k = 0; k < points; k++)
        value[k] = c->value[k][c->at];
    c->at++;
    if (pdnn_polynomial_fit(&c->sizes, value, &polynomial))
        pdnn_polynomial_say(&c->sizes, &polynomial, c->names, &text);
    else if (c->err->status == PDNN_OK)
        pdnn_fail(c->err, PDNN_INVALID,
                  "%s: %s is %" PRId64 ", %" PRId64 " and %" PRId64
                  " at three sizes of %s, no polynomial of it: give that a number with --set %s=N",
                  c->onnx->name, what, value[0], value[1 << (c->sizes.count - 1)], value[points - 2],
                  c->names[c->sizes.count - 1], c->names[c->sizes.count - 1]);
    const char *made = pdnn_arena_strdup(arena, pdnn_str_text(&text));
    pdnn_str_finish(&text);
    return made;
}

/* What is written of entries. */
struct writer {
    struct conversion *c;
    struct pdnn_arena *arena;
    const char **name; /* by entry: of inputs, and of results that others than the next entry read */
    int32_t *uses;     /* by initializer: how many entries read it */
    const char **weight, **shape; /* by initializer: what it is called if several do, and its shape */
    int32_t last;                 /* the entry before */
    struct pdnn_str inputs, ops, weights;
};

static const char *real_text(struct pdnn_arena *arena, double real) {
    return isfinite(real) ? pdnn_arena_printf(arena, "%.7g", real) : real < 0 ? "-1e30" : "1e30";
}

/* Whether the operator does the same without the attribute. */
static bool is_usual(const struct pdnn_draft_entry *entry, const char *name, const char *text) {
    static const char *const usual[][2] = {{"stride_h", "1"},   {"stride_w", "1"},    {"dilation_h", "1"},
                                           {"dilation_w", "1"}, {"padding_h", "0"},   {"padding_w", "0"},
                                           {"groups", "1"},     {"a_column", "0"},    {"b_column", "0"},
                                           {"heads", "1"},      {"epsilon", "1e-05"}, {"kernel_h", "1"},
                                           {"kernel_w", "1"},   {"column", "0"},      {"theta", "10000"}};
    const bool is_pool = strcmp(entry->op, "pool2d") == 0, is_norm = strcmp(entry->op, "rmsnorm") == 0,
               is_bias = strcmp(entry->op, "relative_bias") == 0;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strcmp(usual[i][0], name) == 0 && strcmp(usual[i][1], text) == 0)
            return !(is_pool && (*name == 'k' || *name == 's')) &&
                   !(is_norm && (*name == 'e' || *name == 'h')) && !(is_bias && *name == 'h');
    return is_pool && name[0] == 'd';
}

static const char *attribute_text(struct writer *w, const struct pdnn_draft_entry *entry,
                                  const struct pdnn_draft_attribute *attribute) {
    switch (attribute->kind) {
    case PDNN_DRAFT_SIZE:
        return next_size(w->c, attribute->name, w->arena);
    case PDNN_DRAFT_REAL:
        return real_text(w->arena, attribute->real);
    case PDNN_DRAFT_WORD:
        return strcmp(attribute->name, "pattern") == 0
                   ? pdnn_arena_printf(w->arena, "\"'%s'\"", attribute->word)
                   : attribute->word;
    default:
        return w->uses[attribute->size] > 1 && strcmp(entry->op, "concat") != 0 ? w->weight[attribute->size]
                                                                                : NULL;
    }
}

/* Appends the attributes in braces; what is the same along height and width is one. */
static void write_attributes(struct writer *w, const struct pdnn_draft_entry *entry, struct pdnn_str *out) {
    const char *text[PDNN_DRAFT_ATTRIBUTES], *comma = ": {";
    const size_t length = out->length;
    for (int k = 0; k < entry->n_attributes; k++)
        text[k] = attribute_text(w, entry, &entry->attribute[k]);
    for (int k = 0; k < entry->n_attributes; k++) {
        const char *name = entry->attribute[k].name;
        const size_t letters = strlen(name);
        if (!text[k] || is_usual(entry, name, text[k]))
            continue;
        if (strncmp(name, "end_", 4) == 0) { /* usually what padding is */
            int other = 0;
            while (strncmp(entry->attribute[other].name, "padding_", 8) != 0 ||
                   entry->attribute[other].name[8] != name[4])
                other++;
            if (strcmp(text[other], text[k]) == 0)
                continue;
        }
        const bool is_pair = letters > 2 && strcmp(name + letters - 2, "_h") == 0 &&
                             k + 1 < entry->n_attributes && text[k + 1] &&
                             strcmp(text[k], text[k + 1]) == 0 &&
                             strncmp(name, entry->attribute[k + 1].name, letters - 1) == 0;
        pdnn_str_printf(out, "%s%.*s: %s", comma, (int)(letters - (is_pair ? 2 : 0)), name, text[k]);
        comma = ", ";
        k += is_pair;
    }
    pdnn_str_append(out, "}", out->length > length);
}

/* An input: of several that are alike, one. */
static void write_input(struct writer *w, int32_t i) {
    const struct pdnn_draft_entry *entry = w->c->program->entry[i];
    struct pdnn_str row = {0};
    char *name = pdnn_arena_strdup(w->arena, entry->input);
    pdnn_str_printf(&row, ": {shape: [");
    for (int d = 0; d < entry->rank; d++)
        pdnn_str_printf(&row, "%s%s", d ? ", " : "", next_size(w->c, "a dimension of an input", w->arena));
    pdnn_str_printf(&row, "]");
    for (int k = 0; k < entry->n_attributes; k++) {
        const struct pdnn_draft_attribute *fill = &entry->attribute[k];
        pdnn_str_printf(&row, ", fill: {%s: %s}", fill->name,
                        fill->kind == PDNN_DRAFT_REAL ? real_text(w->arena, fill->real)
                                                      : next_size(w->c, "a fill", w->arena));
    }
    pdnn_str_printf(&row, "}\n");
    for (int number = 2;; number++) {
        const char *line = pdnn_arena_printf(w->arena, "\n  %s%s", name, pdnn_str_text(&row));
        const char *start = pdnn_arena_printf(w->arena, "\n  %s:", name);
        const bool is_there = w->inputs.length && strstr(w->inputs.text, line);
        if (!is_there && w->inputs.length && strstr(w->inputs.text, start)) {
            name = pdnn_arena_printf(w->arena, "%s_%d", entry->input, number);
            continue;
        }
        if (!is_there)
            pdnn_str_append(&w->inputs, line + 1, strlen(line) - 1);
        break;
    }
    w->name[i] = name;
    pdnn_str_finish(&row);
}

/* The shape that the operator's weight has, and so a row of `weights` must have. */
static const char *weight_shape(struct writer *w, const struct pdnn_draft_entry *entry,
                                const struct pdnn_draft_attribute *attribute) {
    const struct Onnx__TensorProto *root = w->c->onnx->graph->initializer[attribute->size];
    const struct pdnn_draft_attribute *out = pdnn_draft_find(entry, "out");
    struct pdnn_str text = {0};
    int64_t all = 1;
    for (size_t d = 0; d < root->n_dims; d++)
        all *= root->dims[d];
    const bool is_product = strcmp(entry->op, "dense") == 0 || strcmp(entry->op, "embedding") == 0;
    const bool is_rows = strcmp(entry->op, "embedding") == 0;
    if (is_product && out)
        pdnn_str_printf(&text, "[%" PRId64 ", %" PRId64 "]", is_rows ? all / out->size : out->size,
                        is_rows ? out->size : all / out->size);
    else if (strncmp(entry->op, "conv", 4) != 0)
        pdnn_str_printf(&text, "[%" PRId64 "]", all);
    for (size_t d = text.length ? root->n_dims : 0; d < root->n_dims; d++)
        pdnn_str_printf(&text, "%s%" PRId64 "%s", d ? ", " : "[", root->dims[d],
                        d + 1 == root->n_dims ? "]" : "");
    const char *made = pdnn_arena_strdup(w->arena, pdnn_str_text(&text));
    pdnn_str_finish(&text);
    return made;
}

static bool is_matrix(const struct Onnx__TensorProto *tensor) {
    int longer = 0;
    for (size_t d = 0; d < tensor->n_dims; d++)
        longer += tensor->dims[d] != 1;
    return longer > 1;
}

/* Names the weights that several entries read; those need one shape. Vectors are weights of their own:
 * exporters make one initializer of those that happen to be equal, as biases are before training. */
static enum pdnn_status find_weights(struct writer *w) {
    const struct pdnn_draft *program = w->c->program;
    char shown[PDNN_VISIBLE_TEXT], name[NAME];
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < program->n_entries; i++) {
            const struct pdnn_draft_entry *entry = program->entry[i];
            for (int k = 0; entry->is_live && k < entry->n_attributes; k++) {
                const struct pdnn_draft_attribute *attribute = &entry->attribute[k];
                if (attribute->kind != PDNN_DRAFT_WEIGHT)
                    continue;
                const int64_t root = attribute->size;
                if (!pass) {
                    w->uses[root] += is_matrix(w->c->onnx->graph->initializer[root]);
                    continue;
                }
                if (w->uses[root] < 2)
                    continue;
                const char *shape = weight_shape(w, entry, attribute);
                if (w->weight[root] && strcmp(w->shape[root], shape) != 0)
                    return pdnn_fail(
                        w->c->err, PDNN_INVALID,
                        "%s: initializer '%.60s' is a weight %s of one operator and %s of another",
                        w->c->onnx->name, pdnn_visible(shown, w->c->onnx->graph->initializer[root]->name),
                        w->shape[root], shape);
                if (w->weight[root])
                    continue;
                const char *own = w->c->onnx->graph->initializer[root]->name;
                pdnn_onnx_make_name(name, NAME, own, strlen(own));
                w->weight[root] = pdnn_arena_printf(w->arena, "w%d_%.30s", (int)root, name);
                w->shape[root] = shape;
                pdnn_str_printf(&w->weights, "  %s: {shape: %s}\n", w->weight[root], shape);
            }
        }
    return PDNN_OK;
}

/* The result that a loss is taken of: rows of classes; -1: none. */
static int loss_of(const struct conversion *c) {
    const char *loss = c->request->loss;
    for (int k = 0; k < c->program->n_results && !(loss && strcmp(loss, "none") == 0); k++) {
        const struct pdnn_draft_entry *entry = c->program->entry[c->program->result[k]];
        if (entry->rank == 2 && entry->dim[1] > 1)
            return k;
    }
    return -1;
}

/* What a loss reads: that result, or what a softmax at the end reads. */
static int32_t logits_of(const struct conversion *c, int result) {
    const int32_t entry = c->program->result[result];
    return strcmp(c->program->entry[entry]->op, "softmax") == 0 ? c->program->entry[entry]->from[0] : entry;
}

/* Which results have names: those that another entry than the next one reads. */
static void find_names(struct writer *w, int loss) {
    const struct pdnn_draft *program = w->c->program;
    int32_t last = -1, count = 0;
    for (int32_t i = 0; i < program->n_entries; i++) {
        const struct pdnn_draft_entry *entry = program->entry[i];
        if (!entry->is_live || !entry->op)
            continue;
        for (int k = 0; k < entry->n_from; k++)
            if (entry->from[k] != last && program->entry[entry->from[k]]->op)
                w->name[entry->from[k]] = "";
        last = i;
    }
    for (int k = 0; k < program->n_results; k++)
        if (program->n_results > 1 || program->result[k] != last)
            w->name[program->result[k]] = "";
    if (loss >= 0)
        w->name[logits_of(w->c, loss)] = "";
    for (int32_t i = 0; i < program->n_entries; i++)
        if (w->name[i])
            w->name[i] = pdnn_arena_printf(w->arena, "r%d", ++count);
}

static void write_entry(struct writer *w, int32_t i) {
    const struct pdnn_draft_entry *entry = w->c->program->entry[i];
    struct pdnn_str attributes = {0};
    write_attributes(w, entry, &attributes);
    const bool goes_on = entry->n_from == 1 && entry->from[0] == w->last;
    const bool is_word = goes_on && !w->name[i] && !entry->layer;
    pdnn_str_printf(&w->ops, is_word && !attributes.length ? "  - %s%s" : "  - {%s%s", entry->op,
                    pdnn_str_text(&attributes));
    if (!goes_on) {
        pdnn_str_printf(&w->ops, ", from: %s", entry->n_from > 1 ? "[" : "");
        for (int k = 0; k < entry->n_from; k++)
            pdnn_str_printf(&w->ops, "%s%s", k ? ", " : "",
                            entry->from[k] == w->last ? "in" : w->name[entry->from[k]]);
        pdnn_str_append(&w->ops, "]", entry->n_from > 1);
    }
    if (w->name[i])
        pdnn_str_printf(&w->ops, ", as: %s", w->name[i]);
    if (entry->layer)
        pdnn_str_printf(&w->ops, ", layer: \"%s[0]\"", entry->layer);
    pdnn_str_printf(&w->ops, is_word && !attributes.length ? "\n" : "}\n");
    pdnn_str_finish(&attributes);
    w->last = i;
}

static void write_axes(const struct conversion *c) {
    pdnn_str_printf(c->text, "axes:\n");
    if (!c->sizes.count) /* the only minibatch that there is */
        pdnn_str_printf(c->text,
                        "  %s: {default: %" PRId64 ", range: %" PRId64 "..%" PRId64
                        ", help: \"the only one that the ONNX file, or --set, leaves\"}\n",
                        kinds[0].name, c->first, c->first, c->first);
    for (int i = 0; i < c->sizes.count; i++)
        pdnn_str_printf(c->text,
                        "  %s: {default: %" PRId64
                        ", range: 1..16777216, help: \"free dimension of the ONNX file\"}\n",
                        c->names[i], c->sizes.size[i][0] == kinds[0].size[0] ? 1 : c->sizes.size[i][0]);
    pdnn_str_printf(c->text, "minibatch: %s\n", c->sizes.count ? c->names[0] : kinds[0].name);
}

static void write_head(const struct conversion *c) {
    const char *name = strrchr(c->onnx->name, '/') ? strrchr(c->onnx->name, '/') + 1 : c->onnx->name;
    char stem[NAME], producer[NAME], positions[NAME] = "";
    pdnn_onnx_make_name(stem, NAME, name, strlen(name) - (pdnn_onnx_is_name(name) ? 5 : 0));
    const char *by = c->onnx->proto->producer_name ? c->onnx->proto->producer_name : "";
    pdnn_onnx_make_name(producer, NAME, by, strlen(by));
    if (c->positions >= 0)
        pdnn_onnx_make_name(positions, NAME, c->onnx->values[c->positions],
                            strlen(c->onnx->values[c->positions]));
    pdnn_str_printf(c->text, "family: %s\nhelp: \"from an ONNX file of %s, opset %" PRId64 "%s%s%s\"\n",
                    *stem ? stem : "network", *producer ? producer : "nobody", c->onnx->opset,
                    *positions ? "; its input " : "", positions, *positions ? " counts 0, 1, 2, ..." : "");
    write_axes(c);
}

static enum pdnn_status write_family(struct conversion *c, struct pdnn_arena *arena,
                                     struct pdnn_onnx_summary *summary) {
    const struct pdnn_draft *program = c->program;
    const size_t n_roots = c->onnx->graph->n_initializer + 1;
    struct writer w = {.c = c,
                       .arena = arena,
                       .last = -1,
                       .name = pdnn_arena_alloc(arena, (size_t)program->n_entries, sizeof *w.name),
                       .uses = pdnn_arena_alloc(arena, n_roots, sizeof *w.uses),
                       .weight = pdnn_arena_alloc(arena, n_roots, sizeof *w.weight),
                       .shape = pdnn_arena_alloc(arena, n_roots, sizeof *w.shape)};
    const int loss = loss_of(c);
    if (loss < 0 && c->request->loss && strcmp(c->request->loss, "none") != 0)
        return pdnn_fail(c->err, PDNN_INVALID, "%s: --loss %s needs a result (rows, classes); expected none",
                         c->onnx->name, c->request->loss);
    bool has_norm = false, has_bias = false;
    write_head(c);
    find_names(&w, loss);
    pdnn_str_printf(&w.inputs, "inputs:\n");
    enum pdnn_status status = find_weights(&w);
    for (int32_t i = 0; i < program->n_entries && status == PDNN_OK; i++) {
        const struct pdnn_draft_entry *entry = program->entry[i];
        if (!entry->is_live)
            continue;
        if (entry->op)
            write_entry(&w, i);
        else
            write_input(&w, i);
        summary->entries += entry->op != NULL;
        has_norm = has_norm || (entry->op && strstr(entry->op, "norm"));
        const char *before = entry->op && entry->n_from ? program->entry[entry->from[0]]->op : NULL;
        has_bias = has_bias || (before && strcmp(entry->op, "bias") == 0 && strcmp(before, "conv2d") == 0);
        status = c->err->status;
    }
    summary->may_be_folded = has_bias && !has_norm;
    for (int k = 0; k < program->n_results; k++) {
        const char *rows = "", *classes = "";
        for (int d = 0; d < program->entry[program->result[k]]->rank; d++)
            *(d ? &classes : &rows) = next_size(c, "a dimension of a result", arena);
        if (k == loss)
            pdnn_str_printf(&w.inputs, "  labels: {shape: [%s], fill: {class: %s}}\n", rows, classes);
    }
    pdnn_str_printf(c->text, "%s", pdnn_str_text(&w.inputs));
    if (w.weights.length)
        pdnn_str_printf(c->text, "weights:\n%s", w.weights.text);
    pdnn_str_printf(c->text, "ops:\n%s", pdnn_str_text(&w.ops));
    if (program->n_results > 1 || program->result[0] != w.last) {
        pdnn_str_printf(c->text, "result: [");
        for (int k = 0; k < program->n_results; k++)
            pdnn_str_printf(c->text, "%s%s", k ? ", " : "", w.name[program->result[k]]);
        pdnn_str_printf(c->text, "]\n");
    }
    if (loss >= 0)
        pdnn_str_printf(c->text, "loss: [{softmax_cross_entropy, from: [%s, labels], layer: loss}]\n",
                        w.name[logits_of(c, loss)]);
    pdnn_str_finish(&w.inputs);
    pdnn_str_finish(&w.ops);
    pdnn_str_finish(&w.weights);
    return status == PDNN_OK ? c->err->status : status;
}

/* Whether the text is the network that was followed. */
static enum pdnn_status check_built(struct conversion *c) {
    const int64_t *dims[PDNN_POLYNOMIAL_POINTS + 1];
    size_t count = 0;
    for (int i = 0; i < c->program->n_results; i++)
        count += (size_t)c->program->entry[c->program->result[i]]->rank;
    for (int k = 0; k < pdnn_polynomial_points(&c->sizes); k++) /* the last of what was collected */
        dims[k] = c->value[k] + c->n_values - count;
    return pdnn_built_check(c->onnx->name, c->text, &c->sizes, c->program, dims, c->err);
}

enum pdnn_status pdnn_onnx_family(const struct pdnn_onnx *onnx, const struct pdnn_onnx_request *request,
                                  struct pdnn_str *text, struct pdnn_onnx_summary *summary,
                                  struct pdnn_err *err) {
    struct pdnn_arena arena = {0};
    struct conversion *c = pdnn_alloc(1, sizeof *c);
    struct pdnn_err problem = {0};
    *c =
        (struct conversion){.onnx = onnx, .request = request, .positions = -1, .err = &problem, .text = text};
    *summary = (struct pdnn_onnx_summary){.nodes = onnx->graph->n_node};
    enum pdnn_status status = find_axes(c);
    if (status == PDNN_OK)
        status = follow(c, &arena);
    if (status != PDNN_OK && c->is_batch &&
        !c->axis[0].fixed) { /* sizes that the exporter wrote as numbers: as it is, then */
        pdnn_arena_reset(&arena);
        problem = (struct pdnn_err){0};
        c->is_batch = false;
        c->n_axes = c->sizes.count = 0;
        status = follow(c, &arena);
    }
    summary->axes = (size_t)c->sizes.count;
    if (status == PDNN_OK)
        status = write_family(c, &arena, summary);
    if (status == PDNN_OK)
        status = check_built(c);
    pdnn_arena_finish(&arena);
    free(c);
    return status == PDNN_OK ? status : pdnn_fail(err, status, "%s", problem.text);
}

enum pdnn_status pdnn_onnx_text(const char *path, const struct pdnn_onnx_request *request, char **text,
                                size_t *length, struct pdnn_onnx_summary *summary, struct pdnn_err *err) {
    struct pdnn_onnx onnx;
    struct pdnn_str made = {0};
    struct pdnn_onnx_summary own;
    enum pdnn_status status = pdnn_onnx_read(path, &onnx, err);
    if (status == PDNN_OK)
        status = pdnn_onnx_family(&onnx, request, &made, summary ? summary : &own, err);
    pdnn_onnx_finish(&onnx);
    if (status == PDNN_OK) {
        *text = made.text;
        *length = made.length;
    } else {
        pdnn_str_finish(&made);
    }
    return status;
}
