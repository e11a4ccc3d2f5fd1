#define _POSIX_C_SOURCE 200809L /* strtok_r */
#include "gen/operators/shapes.h"

#include "base/str.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys of a descriptor, values of a row, and a number that is taken. */
enum { KEYS = 24, VALUES = 18, NOT_GIVEN = -1 };
#define MOST (INT64_C(1) << 24) /* products of two fit in any case */

/* --- convolutions --- */

enum { G, MB, IC, IH, IW, OC, OH, OW, KH, KW, SH, SW, PH, PW, DH, DW, ID, OD, KD, SD, PD, DD };
static const char *const conv_keys[] = {"g",  "mb", "ic", "ih", "iw", "oc", "oh", "ow",
                                        "kh", "kw", "sh", "sw", "ph", "pw", "dh", "dw",
                                        "id", "od", "kd", "sd", "pd", "dd", NULL};
static const char *const conv_numbers[] = {"w",        "h",     "c",     "n",       "k",       "filter_w",
                                           "filter_h", "pad_w", "pad_h", "wstride", "hstride", NULL};

static int64_t or_else(int64_t given, int64_t usual) {
    return given == NOT_GIVEN ? usual : given;
}

/* An axis of an image, as benchdnn completes it. */
struct axis {
    int64_t size, windows, kernel, stride, padding, dilation, end;
};

static const char windows_message[] = "oh and ow do not follow from ih, kh, sh, ph and dh; leave them out";

static const char *complete(struct axis *axis) {
    axis->stride = or_else(axis->stride, 1);
    axis->dilation = or_else(axis->dilation, 0) + 1;
    if (axis->size < 1 || axis->kernel < 1 || axis->stride < 1)
        return "a convolution needs ic, ih, oc and kh, and a stride above 0: ic3ih8oc4kh3";
    const int64_t reach = (axis->kernel - 1) * axis->dilation + 1;
    const bool is_free = axis->padding == NOT_GIVEN;
    if (is_free)
        axis->padding =
            axis->windows == NOT_GIVEN ? 0 : ((axis->windows - 1) * axis->stride - axis->size + reach) / 2;
    axis->end = axis->padding;
    const int64_t usual = (axis->size + 2 * axis->padding - reach) / axis->stride + 1;
    if (axis->padding < 0 || axis->size + 2 * axis->padding < reach)
        return "the kernel is larger than the image with its padding";
    if (is_free && axis->padding >= reach)
        return windows_message;
    if (axis->windows == NOT_GIVEN || axis->windows == usual)
        return NULL;
    axis->end = (axis->windows - 1) * axis->stride + reach - axis->size - axis->padding;
    if (axis->end <= -axis->stride || axis->end >= reach)
        return windows_message;
    axis->end = axis->end > 0 ? axis->end : 0;
    return NULL;
}

static const char *describe_conv(const int64_t *given, int64_t *value) {
    struct axis h = {given[IH], given[OH], given[KH], given[SH], given[PH], given[DH], 0},
                w = {given[IW], given[OW], given[KW], given[SW], given[PW], given[DW], 0};
    for (int i = ID; i <= DD; i++) {
        if (given[i] != NOT_GIVEN)
            return "an image has two dimensions, h and w";
    }
    if (w.size == NOT_GIVEN && w.kernel == NOT_GIVEN)
        w = h;
    else if (h.size == NOT_GIVEN && h.kernel == NOT_GIVEN)
        h = (struct axis){1, 1, 1, 1, 0, 0, 0};
    const char *wrong = complete(&h);
    wrong = wrong ? wrong : complete(&w);
    const int64_t groups = or_else(given[G], 1);
    if (!wrong && (given[IC] < 1 || given[OC] < 1))
        return "a convolution needs ic and oc: ic3ih8oc4kh3";
    if (!wrong && (groups < 1 || given[IC] % groups || given[OC] % groups))
        return "g has to divide ic and oc";
    const int64_t made[] = {or_else(given[MB], 2),
                            given[IC],
                            given[OC],
                            h.size,
                            w.size,
                            h.kernel,
                            w.kernel,
                            h.stride,
                            w.stride,
                            h.padding,
                            w.padding,
                            h.end,
                            w.end,
                            groups,
                            h.dilation,
                            w.dilation};
    memcpy(value, made, sizeof made);
    return wrong;
}

static const char *count_conv(const int64_t *given, int64_t *value) {
    int64_t keys[KEYS];
    memset(keys, 0xff, sizeof keys);
    static const int order[] = {IW, IH, IC, MB, OC, KW, KH, PW, PH, SW, SH};
    for (int i = 0; i < (int)(sizeof order / sizeof *order); i++)
        keys[order[i]] = given[i];
    return describe_conv(keys, value);
}

const struct pdnn_shape_form pdnn_shape_conv2d = {"conv", conv_keys, conv_numbers, describe_conv, count_conv};

/* --- dense layers --- */

static const char *const ip_keys[] = {"mb", "ic", "oc", "id", "ih", "iw", NULL};

static const char *describe_ip(const int64_t *given, int64_t *value) {
    const int64_t d = or_else(given[3], 1), h = or_else(given[4], d),
                  sizes[] = {given[1], d, h, or_else(given[5], h)};
    int64_t input = 1;
    for (int i = 0; i < 4 && input <= MOST; i++)
        input *= sizes[i];
    const int64_t made[] = {or_else(given[0], 2), input, given[2]};
    memcpy(value, made, sizeof made);
    return input < 1 || given[2] < 1 ? "a dense layer needs ic and oc: mb64ic1024oc1000" : NULL;
}

const struct pdnn_shape_form pdnn_shape_dense = {"ip", ip_keys, NULL, describe_ip, NULL};

/* --- products --- */

static const char *const matmul_numbers[] = {"m", "n", "k", "a_t", "b_t", NULL};

/* Theirs are stored by columns: by rows, that is the transposed product. */
static const char *count_matmul(const int64_t *given, int64_t *value) {
    const int64_t made[] = {1, given[1], given[0], given[2], given[4], given[3]};
    memcpy(value, made, sizeof made);
    return NULL;
}

const struct pdnn_shape_form pdnn_shape_matmul = {"matmul", NULL, matmul_numbers, NULL, count_matmul};

/* --- recurrent layers --- */

static const char *const rnn_keys[] = {"l", "t", "mb", "sic", "slc", "dhc", "dic", "CELL", NULL},
                         *const rnn_numbers[] = {"hidden", "minibatch", "steps", "cell", NULL};

static const char *describe_rnn(const int64_t *given, int64_t *value) {
    const int64_t hidden = or_else(given[5], given[3]),
                  made[] = {or_else(given[7], 0), or_else(given[1], 1), or_else(given[2], 2),
                            or_else(given[4], given[3]), hidden};
    memcpy(value, made, sizeof made);
    if (hidden < 1 || made[3] < 1)
        return "a recurrent layer needs sic, or slc and dhc: t50mb64sic512";
    if (or_else(given[0], 1) != 1 || or_else(given[6], hidden) != hidden)
        return "a row is one layer without projection: l1, and no dic";
    return NULL;
}

static const char *count_rnn(const int64_t *given, int64_t *value) {
    const int64_t made[] = {given[3], given[2], given[1], given[0], given[0]};
    memcpy(value, made, sizeof made);
    return NULL;
}

const struct pdnn_shape_form pdnn_shape_rnn = {"rnn", rnn_keys, rnn_numbers, describe_rnn, count_rnn};

/* --- lines --- */

static const char *const drivers[] = {
    "conv",    "deconv", "ip",        "matmul", "pool",       "bnorm",   "gnorm", "lnorm", "softmax",
    "eltwise", "binary", "reduction", "concat", "resampling", "reorder", "rnn",   "lrn",   "prelu",
    "shuffle", "sum",    "zeropad",   "brgemm", "graph",      "sdpa",    "reset", NULL};

/* What options said, which holds to the next driver. */
struct state {
    const char *driver, *dtype;       /* dtype: NULL: none said */
    const char *other_dtype;          /* one that no row has, or NULL */
    bool is_backward;                 /* lines are left out */
    int64_t minibatch, steps, layers; /* 0: the descriptor's */
    int64_t cell;
    bool transpose[2];
};

struct reader {
    const struct pdnn_shape_form *form;
    const struct pdnn_family_def *family;
    struct pdnn_yaml place;
    struct state state;
    struct pdnn_yaml_count *count;
    struct pdnn_arena *arena;
    struct pdnn_yaml *rows;
    bool *has_dtype;
    struct pdnn_err *err;
};

static bool is_form(const struct reader *reader) {
    return strcmp(reader->state.driver, reader->form->driver) == 0;
}

static void add_value(struct reader *reader, struct pdnn_yaml *row, const char *text) {
    struct pdnn_yaml *node = pdnn_arena_alloc(reader->arena, 1, sizeof *node);
    *node = reader->place;
    node->text = text;
    node->plain = true;
    node->text_offset = -1;
    pdnn_yaml_append(row, node);
    reader->count->nodes++;
    reader->count->text_bytes += strlen(text);
}

static enum pdnn_status add_row(struct reader *reader, const int64_t *value) {
    struct pdnn_yaml *row = pdnn_arena_alloc(reader->arena, 1, sizeof *row);
    *row = reader->place;
    row->kind = PDNN_YAML_LIST;
    for (size_t i = 0; i < reader->family->n_params; i++) {
        char text[PDNN_PARAM_TEXT];
        const struct pdnn_value number = {.number = value[i]};
        add_value(
            reader, row,
            pdnn_arena_strdup(reader->arena, pdnn_param_format(&reader->family->params[i], number, text)));
    }
    *reader->has_dtype |= reader->state.dtype != NULL;
    add_value(reader, row, reader->state.dtype ? reader->state.dtype : "f32");
    pdnn_yaml_append(reader->rows, row);
    return reader->count->nodes > PDNN_YAML_NODES
               ? pdnn_yaml_fail(&reader->place, reader->err, "more than %d values with those of the spec",
                                PDNN_YAML_NODES)
               : PDNN_OK;
}

/* A whole number, of which *end is behind it; NOT_GIVEN: there is none. */
static int64_t number_at(const char *text, const char **end) {
    char *stop;
    const long long number = isdigit((unsigned char)*text) ? strtoll(text, &stop, 10) : NOT_GIVEN;
    if (number < 0 || number > MOST)
        return NOT_GIVEN;
    *end = stop;
    return number;
}

static int find(const char *const *words, const char *text, size_t length) {
    for (int i = 0; words[i]; i++) {
        if (strlen(words[i]) == length && strncmp(words[i], text, length) == 0)
            return i;
    }
    return -1;
}

/* "mb1_ic3ih8_oc4kh3_n"name"": letters and a number each, up to the name. */
static enum pdnn_status read_descriptor(struct reader *reader, const char *text) {
    int64_t given[KEYS], value[VALUES];
    memset(given, 0xff, sizeof given);
    for (const char *at = text; *at && *at != 'n';) {
        if (*at == '_') {
            at++;
            continue;
        }
        const size_t letters = strspn(at, "abcdefghijklmnopqrstuvwxyz");
        const int key = find(reader->form->keys, at, letters);
        const int64_t number = key < 0 ? NOT_GIVEN : number_at(at + letters, &at);
        if (number == NOT_GIVEN)
            return pdnn_yaml_fail(&reader->place, reader->err,
                                  "'%.60s' is no descriptor of --%s: it goes wrong at '%.20s'", text,
                                  reader->form->driver, at);
        given[key] = number;
    }
    const struct {
        const char *key;
        int64_t said;
    } options[] = {{"mb", reader->state.minibatch}, {"t", reader->state.steps}, {"l", reader->state.layers}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const int key = find(reader->form->keys, options[i].key, strlen(options[i].key));
        if (key >= 0 && options[i].said)
            given[key] = options[i].said;
    }
    const int cell = find(reader->form->keys, "CELL", 4);
    if (cell >= 0)
        given[cell] = reader->state.cell;
    const char *wrong = reader->form->describe(given, value);
    return wrong ? pdnn_yaml_fail(&reader->place, reader->err, "'%.60s': %s", text, wrong)
                 : add_row(reader, value);
}

/* "2x3:3x4", with as many products before as there are: "8x2x3:8x3x4". */
static enum pdnn_status read_matrices(struct reader *reader, const char *text) {
    int64_t dim[2][12], products = 1;
    int rank[2] = {0, 0};
    const char *at = text;
    bool fits = true;
    for (int k = 0; k < 2 && fits; k++) {
        do {
            fits = rank[k] < 12 && (dim[k][rank[k]++] = number_at(at, &at)) > 0;
        } while (fits && *at == 'x' && at++);
        fits = fits && (k || *at++ == ':');
    }
    fits = fits && rank[0] == rank[1] && rank[0] >= 2 && dim[0][rank[0] - 1] == dim[1][rank[0] - 2];
    for (int i = 0; fits && i < rank[0] - 2; i++) {
        fits = dim[0][i] == dim[1][i] && products < MOST / dim[0][i];
        products *= fits ? dim[0][i] : 1;
    }
    if (!fits || (*at && *at != ':' && *at != 'n' && *at != '_'))
        return pdnn_yaml_fail(
            &reader->place, reader->err,
            "'%.60s' is no product, expected MxK:KxN, or with as many in both before it: BxMxK:BxKxN", text);
    return add_row(reader,
                   (int64_t[]){products, dim[0][rank[0] - 2], dim[1][rank[0] - 1], dim[0][rank[0] - 1],
                               reader->state.transpose[0], reader->state.transpose[1]});
}

/* Whether the last dimension is not the innermost: "ba", "acb", or strides "8x1x4". */
static bool is_transposed(const char *text, size_t length) {
    const char *last = length >= 2 ? text + length - 2 : "ab";
    if (isdigit((unsigned char)*text))
        return strncmp(last, "x1", 2) != 0;
    return last[0] <= 'l' && last[1] < last[0];
}

static void set_dtype(struct reader *reader, const char *value) {
    static const struct {
        const char *dtype, *spellings;
    } rows[] = {{"f32", " f32 f32:f32:f32 f32f32f32 "},
                {"bf16", " bf16 bf16:bf16:bf16 bf16bf16bf16 bf16f32 "},
                {"f16", " f16 f16:f16:f16 f16f16f16 "}};
    char word[64];
    snprintf(word, sizeof word, " %.40s ", value);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strstr(rows[i].spellings, word)) {
            reader->state.dtype = rows[i].dtype;
            reader->state.other_dtype = NULL;
            return;
        }
    }
    reader->state.other_dtype = value;
}

static enum pdnn_status set_number(struct reader *reader, const char *option, int64_t *number) {
    const char *end = "", *value = strchr(option, '=') + 1;
    *number = number_at(value, &end);
    return *number == NOT_GIVEN || *end
               ? pdnn_yaml_fail(&reader->place, reader->err, "'--%.40s' is no number, expected --%.*s64",
                                option, (int)(value - option), option)
               : PDNN_OK;
}

static enum pdnn_status set_layout(struct reader *reader, const char *option) {
    const char *first = strchr(option, '=') + 1, *second = first + strcspn(first, ":");
    bool *transpose = reader->state.transpose;
    if (strchr(first, ','))
        return pdnn_yaml_fail(&reader->place, reader->err, "'--%.40s' is a list, and a row has one layout",
                              option);
    if (strncmp(option, "strides=", 8) != 0) {
        transpose[*option == 'w'] = is_transposed(first, strlen(first));
        return PDNN_OK;
    }
    transpose[0] = is_transposed(first, (size_t)(second - first));
    second += *second == ':';
    transpose[1] = is_transposed(second, strcspn(second, ":"));
    return PDNN_OK;
}

/* Options of recurrent layers alone. */
static enum pdnn_status set_rnn(struct reader *reader, const char *option) {
    static const char *const algorithms[] = {"VANILLA_RNN", "VANILLA_LSTM", "VANILLA_GRU", "LBR_GRU", NULL},
                             *const only[] = {"direction=left2right",
                                              "direction=right2left",
                                              "with-projection=false",
                                              "with-projection=0",
                                              "with-peephole=false",
                                              "with-peephole=0",
                                              NULL};
    const size_t name = strcspn(option, "=") + 1;
    if (strncmp(option, "t=", name) == 0)
        return set_number(reader, option, &reader->state.steps);
    if (strncmp(option, "l=", name) == 0)
        return set_number(reader, option, &reader->state.layers);
    if (strncmp(option, "alg=", name) == 0) {
        reader->state.cell = find(algorithms, option + name, strlen(option + name));
        return reader->state.cell < 0
                   ? pdnn_yaml_fail(
                         &reader->place, reader->err,
                         "'--%.40s' is no cell, expected VANILLA_RNN, VANILLA_LSTM, VANILLA_GRU or LBR_GRU",
                         option)
                   : PDNN_OK;
    }
    for (size_t i = 0; only[i]; i++) {
        if (strncmp(option, only[i], name) == 0 && find(only, option, strlen(option)) < 0)
            return pdnn_yaml_fail(&reader->place, reader->err, "'--%.40s': a row has --%s alone", option,
                                  only[i]);
    }
    return PDNN_OK;
}

/* Of other drivers, only where they begin. */
static enum pdnn_status read_option(struct reader *reader, const char *option) {
    char hint[PDNN_SUGGESTION_TEXT];
    struct state *state = &reader->state;
    if (!strchr(option, '=')) {
        const int driver = find(drivers, option, strlen(option));
        if (driver < 0)
            return pdnn_yaml_fail(&reader->place, reader->err, "benchdnn has no driver --%.40s%s", option,
                                  pdnn_suggest(hint, option, drivers, sizeof drivers / sizeof *drivers - 1));
        *state = (struct state){.driver = strcmp(option, "reset") == 0 ? state->driver : drivers[driver]};
        return PDNN_OK;
    }
    if (!is_form(reader))
        return PDNN_OK;
    if (strncmp(option, "batch=", 6) == 0)
        return pdnn_yaml_fail(&reader->place, reader->err,
                              "--batch names another file, give that one: rows: {file: ...}");
    if (strncmp(option, "dt=", 3) == 0 || strncmp(option, "cfg=", 4) == 0)
        set_dtype(reader, strchr(option, '=') + 1);
    if (strncmp(option, "dir=", 4) == 0 || strncmp(option, "prop=", 5) == 0)
        state->is_backward = strncmp(strchr(option, '=') + 1, "BWD", 3) == 0;
    if (strncmp(option, "mb=", 3) == 0)
        return set_number(reader, option, &state->minibatch);
    if (reader->form == &pdnn_shape_rnn)
        return set_rnn(reader, option);
    if (reader->form == &pdnn_shape_matmul &&
        (strncmp(option, "stag=", 5) == 0 || strncmp(option, "wtag=", 5) == 0 ||
         strncmp(option, "strides=", 8) == 0))
        return set_layout(reader, option);
    return PDNN_OK;
}

static enum pdnn_status read_problem(struct reader *reader, const char *word) {
    if (reader->state.other_dtype)
        return pdnn_yaml_fail(&reader->place, reader->err,
                              "elements are %.40s, and a row's are all f32, bf16 or f16",
                              reader->state.other_dtype);
    return reader->form->keys ? read_descriptor(reader, word) : read_matrices(reader, word);
}

static bool is_benchdnn(const char *word) {
    const char *slash = strrchr(word, '/');
    return strcmp(slash ? slash + 1 : word, "benchdnn") == 0;
}

/* benchdnn's words. */
static enum pdnn_status read_words(struct reader *reader, char *line) {
    enum pdnn_status status = PDNN_OK;
    char *rest = NULL;
    bool is_first = true;
    for (char *word = strtok_r(line, " \t\r\\", &rest); word && status == PDNN_OK;
         word = strtok_r(NULL, " \t\r\\", &rest)) {
        const bool is_program = is_first && is_benchdnn(word);
        is_first = false;
        reader->place.column = (int)(word - line) + 1;
        if (is_program)
            continue;
        if (strncmp(word, "--", 2) == 0)
            status = read_option(reader, word + 2);
        else if (*word != '-' && is_form(reader) && !reader->state.is_backward)
            status = read_problem(reader, word);
    }
    return status;
}

/* DeepBench's numbers and words. */
static enum pdnn_status read_numbers(struct reader *reader, char *line) {
    static const char *const words[] = {"false", "N", "vanilla", "true", "T", "lstm", "gru", NULL};
    static const int64_t meant[] = {0, 0, 0, 1, 1, 1, 2};
    int64_t given[KEYS], value[VALUES];
    size_t n_given = 0, n_wanted = 0;
    char *rest = NULL;
    bool fits = true;
    while (reader->form->numbers && reader->form->numbers[n_wanted])
        n_wanted++;
    for (char *word = strtok_r(line, " \t\r,\"", &rest); word && fits;
         word = strtok_r(NULL, " \t\r,\"", &rest)) {
        const char *end = "";
        const int known = find(words, word, strlen(word));
        fits = n_given < n_wanted;
        if (fits)
            given[n_given++] = known >= 0 ? meant[known] : number_at(word, &end);
        fits = fits && given[n_given - 1] != NOT_GIVEN && !*end;
    }
    if (fits && n_given == n_wanted) {
        const char *wrong = reader->form->count(given, value);
        return wrong ? pdnn_yaml_fail(&reader->place, reader->err, "%s", wrong) : add_row(reader, value);
    }
    struct pdnn_str expected = {0};
    for (size_t i = 0; i < n_wanted; i++)
        pdnn_str_printf(&expected, "%s%s", i ? ", " : "", reader->form->numbers[i]);
    pdnn_yaml_fail(&reader->place, reader->err,
                   n_wanted ? "expected a line of DeepBench's list: %s" : "DeepBench has no such list%s",
                   pdnn_str_text(&expected));
    pdnn_str_finish(&expected);
    return PDNN_INVALID;
}

/* "std::make_tuple(5124, 700, 2048, false, false)", as many as there are. */
static enum pdnn_status read_tuples(struct reader *reader, char *line) {
    static const char begin[] = "make_tuple(";
    enum pdnn_status status = PDNN_OK;
    char *comment = strstr(line, "//"), *tuple;
    if (comment)
        *comment = '\0';
    for (char *at = line; status == PDNN_OK && (tuple = strstr(at, begin));) {
        tuple += strlen(begin);
        at = tuple + strcspn(tuple, ")");
        if (*at)
            *at++ = '\0';
        reader->place.column = (int)(tuple - line) + 1;
        status = read_numbers(reader, tuple);
    }
    return status;
}

static enum pdnn_status read_line(struct reader *reader, char *line, bool is_source) {
    if (is_source)
        return read_tuples(reader, line);
    line[strcspn(line, "#")] = '\0';
    const char *first = line + strspn(line, " \t\r"), *behind = first + strspn(first, "0123456789"),
               *next = behind + strspn(behind, " \t\r,");
    return behind > first && next > behind && *next ? read_numbers(reader, line) : read_words(reader, line);
}

enum pdnn_status pdnn_shapes_read(const struct pdnn_shape_form *form, const struct pdnn_family_def *family,
                                  const char *file, const char *text, struct pdnn_yaml_count *count,
                                  struct pdnn_arena *arena, struct pdnn_yaml *rows, bool *has_dtype,
                                  struct pdnn_err *err) {
    struct reader reader = {.form = form,
                            .family = family,
                            .place = {.file = file, .line = 0, .column = 1, .text = ""},
                            .state = {.driver = form->driver},
                            .count = count,
                            .arena = arena,
                            .rows = rows,
                            .has_dtype = has_dtype,
                            .err = err};
    const bool is_source = strstr(text, "make_tuple(") != NULL;
    enum pdnn_status status = PDNN_OK;
    while (*text && status == PDNN_OK) {
        const size_t length = strcspn(text, "\n");
        char *line = pdnn_arena_printf(arena, "%.*s", (int)length, text);
        reader.place.line++;
        reader.place.column = 1;
        status = read_line(&reader, line, is_source);
        text += length + (text[length] == '\n');
    }
    return status;
}
