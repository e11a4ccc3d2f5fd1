#define _POSIX_C_SOURCE 200809L
/* Graphs of a thousand ids over all families, presets and settings that change a graph, against digests in a
 * file. A line is an id, the number of nodes of its whole graph, and digests of its forward and of its whole
 * graph; or an id and why it is refused. The ids of the file are the list: what is written in it is what is
 * compared, in whatever way the families are built.
 *
 * Usage: graphs FILE [--update]; graphs --dump ID [--forward]. --update writes the digests of today, and adds
 * ids where a family has fewer than its share, or none with one of its presets or words. A digest is of the
 * text that --dump prints; to find a difference, compare the texts of two builds. */
#include "base/rng.h"
#include "base/str.h"
#include "models/build.h"
#include "models/zoo/catalog.h"
#include "models/instance.h"
#include "models/op.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDS_PER_PARAM = 16, IDS_PER_PRESET = 4, LINES_MAX = 8192, DIFFERENCES_SHOWN = 10, LINE_TEXT = 2048 };

/* Tensors get numbers as they are met. */
struct dump {
    struct pdnn_str *text;
    const struct pdnn_graph *graph;
    uint32_t *number, next;
};

static void put_tensor(struct dump *dump, uint32_t id) {
    static const char *const fills[PDNN_FILL_COUNT] = {
        "zero",          "constant", "uniform", "near_one", "class",       "zipf",        "sequence_class",
        "sequence_mask", "position", "stride",  "masked",   "window_mask", "weight_scale"};
    const struct pdnn_tensor *tensor = &dump->graph->tensors[id];
    char shape[PDNN_SHAPE_TEXT];
    if (dump->number[id]) {
        pdnn_str_printf(dump->text, " %" PRIu32, dump->number[id]);
        return;
    }
    dump->number[id] = ++dump->next;
    pdnn_str_printf(dump->text, " %" PRIu32 ":%s:%s:%s", dump->number[id], pdnn_role_name(tensor->role),
                    pdnn_dtype_name(tensor->dtype), pdnn_tensor_shape(tensor, shape));
    if (tensor->fill.kind)
        pdnn_str_printf(dump->text, ":%s:%.9g", fills[tensor->fill.kind], tensor->fill.scale);
    if (tensor->of != PDNN_NONE) {
        pdnn_str_printf(dump->text, " of");
        put_tensor(dump, tensor->of);
    }
    const struct pdnn_fold *fold = tensor->fold;
    if (!fold)
        return;
    pdnn_str_printf(dump->text, " folded %d %.9g", fold->is_shift, fold->epsilon);
    const uint32_t parts[] = {fold->gamma, fold->mean, fold->variance, fold->bias};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i] != PDNN_NONE)
            put_tensor(dump, parts[i]);
}

static void put_tensors(struct dump *dump, const char *mark, const uint32_t *tensors, int count) {
    pdnn_str_printf(dump->text, "%s", mark);
    for (int i = 0; i < count; i++)
        put_tensor(dump, tensors[i]);
}

static void put_post(struct dump *dump, const struct pdnn_post *post) {
    pdnn_str_printf(dump->text, " + %s %s", post->op->name, pdnn_pass_name(post->pass));
    for (const struct pdnn_attribute *row = post->op->attributes; row->name; row++)
        if (row->coefficient)
            pdnn_str_printf(dump->text, " %s=%.9g", row->name, post->coef[row->index]);
    put_tensors(dump, " <-", &post->input, post->input != PDNN_NONE);
    put_tensors(dump, " ->", &post->output, post->output != PDNN_NONE);
}

static void put_node(struct dump *dump, const struct pdnn_node *node) {
    char layer[PDNN_LAYER_TEXT];
    pdnn_str_printf(dump->text, "%s %s '%s' %" PRIu32, node->op->name, pdnn_node_pass_name(node),
                    pdnn_layer_format(node->layer, layer), node->segment);
    for (const struct pdnn_attribute *row = node->op->attributes; row->name; row++) {
        const char *name = row->shown ? row->shown : row->name;
        if (row->coefficient)
            pdnn_str_printf(dump->text, " %s=%.9g", name, node->coef[row->index]);
        else if (row->index != PDNN_SIZE && node->attr[row->index])
            pdnn_str_printf(dump->text, " %s=%" PRId64, name, node->attr[row->index]);
    }
    put_tensors(dump, " <-", node->input, node->n_inputs);
    put_tensors(dump, " ->", node->output, node->n_outputs);
    for (int i = 0; i < node->n_posts; i++)
        put_post(dump, &node->posts[i]);
    pdnn_str_append(dump->text, "\n", 1);
}

/* What no node uses is told only where it takes memory or is counted. */
static void put_unused(struct dump *dump) {
    for (uint32_t i = 0; i < dump->graph->n_tensors; i++) {
        enum pdnn_role role = dump->graph->tensors[i].role;
        bool counts = role == PDNN_ROLE_INPUT || role == PDNN_ROLE_LABEL || role == PDNN_ROLE_WEIGHT ||
                      role == PDNN_ROLE_STATE;
        if (!counts || dump->number[i])
            continue;
        put_tensors(dump, "unused", &i, 1);
        pdnn_str_append(dump->text, "\n", 1);
    }
}

static void put_graph(struct pdnn_str *text, const struct pdnn_graph *graph) {
    struct dump dump = {text, graph, pdnn_arena_alloc(graph->arena, graph->n_tensors + 1, sizeof(uint32_t)),
                        0};
    pdnn_str_printf(text, "%s masters=%d algorithm=%" PRId64 " rnn=%" PRId64 " apart=%d,%d segments=%" PRIu32,
                    pdnn_dtype_name(graph->dtype), graph->has_masters, graph->algorithm, graph->rnn,
                    graph->updates_apart, graph->stems_apart, graph->n_segments);
    pdnn_str_printf(text, " %s\n", graph->unsupported ? graph->unsupported : "");
    for (size_t i = 0; i < graph->n_nodes; i++)
        put_node(&dump, &graph->nodes[i]);
    put_tensors(&dump, "loss", &graph->loss, graph->loss != PDNN_NONE);
    put_tensors(&dump, " result", &graph->result, graph->result != PDNN_NONE);
    pdnn_str_append(text, "\n", 1);
    put_unused(&dump);
}

/* The instance that runs; PDNN_INVALID also if the id is not as instances print theirs. */
static enum pdnn_status parse(const char *id, struct pdnn_instance *instance, struct pdnn_err *err) {
    struct pdnn_instance parsed;
    char printed[PDNN_ID_TEXT];
    if (pdnn_instance_parse(id, &parsed, err) != PDNN_OK)
        return err->status;
    if (strcmp(pdnn_instance_format(&parsed, printed), id) != 0)
        return pdnn_fail(err, PDNN_INVALID, "the id is %s", printed);
    pdnn_instance_resolve(&parsed, 2);
    *instance = pdnn_instance_as_run(&parsed);
    return PDNN_OK;
}

/* Begins the text with the resolved id, which is what the graph is of. */
static enum pdnn_status dump_graph(const struct pdnn_instance *instance, bool forward, struct pdnn_str *text,
                                   size_t *n_nodes, struct pdnn_err *err) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    char id[PDNN_ID_TEXT];
    pdnn_arena_init(&arena);
    pdnn_str_clear(text);
    enum pdnn_status status = forward ? pdnn_instance_forward(instance, &arena, &graph, err)
                                      : pdnn_instance_graph(instance, &arena, &graph, err);
    if (status == PDNN_OK) {
        pdnn_str_printf(text, "%s\n", pdnn_instance_format(instance, id));
        put_graph(text, &graph);
        *n_nodes = graph.n_nodes;
    }
    pdnn_arena_finish(&arena);
    return status;
}

/* What the file says of the id: "ID NODES FORWARD WHOLE" or "ID refused: REASON". Returns whether it has a
 * graph. */
static bool describe(const char *id, char line[LINE_TEXT]) {
    struct pdnn_instance instance;
    struct pdnn_err err = {0};
    struct pdnn_str text = {0};
    uint64_t digest[2];
    size_t n_nodes = 0;
    enum pdnn_status status = parse(id, &instance, &err);
    for (int i = 0; i < 2 && status == PDNN_OK; i++) {
        status = dump_graph(&instance, i == 0, &text, &n_nodes, &err);
        digest[i] = pdnn_rng_seed(0, pdnn_str_text(&text));
    }
    if (status == PDNN_OK)
        snprintf(line, LINE_TEXT, "%s %zu %016" PRIx64 " %016" PRIx64, id, n_nodes, digest[0], digest[1]);
    else
        snprintf(line, LINE_TEXT, "%s refused: %s", id, err.text);
    pdnn_str_finish(&text);
    return status == PDNN_OK;
}

static int dump_id(const char *id, bool forward) {
    struct pdnn_instance instance;
    struct pdnn_err err = {0};
    struct pdnn_str text = {0};
    size_t n_nodes;
    enum pdnn_status status = pdnn_instance_parse(id, &instance, &err);
    if (status == PDNN_OK) {
        pdnn_instance_resolve(&instance, 2);
        instance = pdnn_instance_as_run(&instance);
        status = dump_graph(&instance, forward, &text, &n_nodes, &err);
    }
    if (status == PDNN_OK)
        fputs(pdnn_str_text(&text), stdout);
    else
        fprintf(stderr, "graphs: %s\n", err.text);
    pdnn_str_finish(&text);
    return status == PDNN_OK ? 0 : 1;
}

struct list {
    char *line[LINES_MAX];
    size_t count;
};

static void add_line(struct list *list, const char *line) {
    if (list->count == LINES_MAX) {
        fprintf(stderr, "graphs: more than %d ids\n", LINES_MAX);
        exit(1);
    }
    list->line[list->count++] = strdup(line);
}

static bool is_of(const char *line, const struct pdnn_family_def *family) {
    size_t length = strlen(family->name);
    return strncmp(line, family->name, length) == 0 && line[length] == '/';
}

static bool has_id(const struct list *list, const char *id) {
    size_t length = strlen(id);
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->line[i], id, length) == 0 && list->line[i][length] == ' ')
            return true;
    return false;
}

static size_t count_of(const struct list *list, const struct pdnn_family_def *family) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += is_of(list->line[i], family);
    return count;
}

/* Whether an id of the family has the value, and a graph. */
static bool has_word(const struct list *list, const struct pdnn_family_def *family, const char *name,
                     const char *word) {
    char pair[PDNN_ID_TEXT];
    size_t length = (size_t)snprintf(pair, sizeof pair, "%s=%s", name, word);
    for (size_t i = 0; i < list->count; i++) {
        const char *at = list->line[i];
        if (!is_of(at, family) || strstr(at, " refused: "))
            continue;
        while ((at = strstr(at + 1, pair)) != NULL)
            if (strchr("/,", at[-1]) && strchr(", ", at[length]))
                return true;
    }
    return false;
}

/* The settings that change graphs. */
static const enum pdnn_setting settings[] = {
    PDNN_SETTING_MODE,       PDNN_SETTING_DTYPE, PDNN_SETTING_OPTIMIZER,  PDNN_SETTING_FUSE,
    PDNN_SETTING_ALGORITHM,  PDNN_SETTING_RNN,   PDNN_SETTING_ACCUMULATE, PDNN_SETTING_CHECKPOINT,
    PDNN_SETTING_LAYERS_RUN, PDNN_SETTING_RANKS, PDNN_SETTING_ALLREDUCE,  PDNN_SETTING_BUCKET,
};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

/* Whether ids of the family name the setting with this value: they do unless it does not apply or is the
 * default. */
static bool is_named(const struct pdnn_family_def *family, enum pdnn_setting setting, int64_t value) {
    struct pdnn_instance instance;
    pdnn_instance_init(&instance, family);
    instance.setting[PDNN_SETTING_RANKS] = 2;
    instance.setting[setting] = value;
    pdnn_instance_settle(&instance);
    return instance.setting[setting] == value && value != pdnn_settings[setting].fallback.number;
}

/* A word of the family that no id has, as "activation=silu" in the buffer; NULL: each is in one. */
static const char *find_missing_word(const struct list *list, const struct pdnn_family_def *family,
                                     char buffer[PDNN_ID_TEXT]) {
    for (size_t i = 0; i < family->n_params + N_SETTINGS; i++) {
        bool is_setting = i >= family->n_params;
        enum pdnn_setting setting = is_setting ? settings[i - family->n_params] : PDNN_SETTING_COUNT;
        const struct pdnn_param_def *def = is_setting ? &pdnn_settings[setting] : &family->params[i];
        for (int64_t k = 0; def->choices && def->choices[k]; k++) {
            snprintf(buffer, PDNN_ID_TEXT, "%s=%s", def->name, def->choices[k]);
            if ((!is_setting || is_named(family, setting, k)) &&
                !has_word(list, family, def->name, def->choices[k]))
                return buffer;
        }
        if (!is_setting && def->word && !has_word(list, family, def->name, def->word)) {
            snprintf(buffer, PDNN_ID_TEXT, "%s=%s", def->name, def->word);
            return buffer;
        }
    }
    return NULL;
}

/* How many ids have the preset's hyper-parameters. */
static int count_preset(const struct list *list, const struct pdnn_family_def *family,
                        const struct pdnn_preset *preset) {
    struct pdnn_instance instance;
    char id[PDNN_ID_TEXT];
    int count = 0;
    pdnn_instance_init_preset(&instance, family, preset);
    instance.setting[PDNN_SETTING_MODE] = pdnn_settings[PDNN_SETTING_MODE].fallback.number;
    size_t length = strlen(pdnn_instance_format(&instance, id));
    for (size_t i = 0; i < list->count; i++)
        count += strncmp(list->line[i], id, length) == 0 && strchr(", ", list->line[i][length]);
    return count;
}

static int64_t draw_number(struct pdnn_rng *rng, const struct pdnn_param_def *def, bool is_count) {
    static const int64_t numbers[] = {0, 1, 2, 3, 4, 7, 8, 12, 16, 33, 64};
    bool is_small = is_count || def->type == PDNN_PARAM_LIST;
    int64_t number = numbers[pdnn_rng_below(rng, is_small ? 4 : sizeof numbers / sizeof *numbers)];
    number *= def->type == PDNN_PARAM_DECIMAL ? PDNN_MILLION / 2 : 1;
    return number < def->min ? def->min : number > def->max ? def->max : number;
}

/* Words are equally likely. Of numbers, a quarter is the parameter's word, if it has one, half of the others
 * are the default, and the rest are small; of what is built as often (is_count), all are very small. */
static struct pdnn_value draw_value(struct pdnn_rng *rng, const struct pdnn_param_def *def, bool is_count) {
    int64_t n_words = 0, numbers[PDNN_LIST_MAX];
    while (def->choices && def->choices[n_words])
        n_words++;
    if (n_words)
        return pdnn_value_of((int64_t)pdnn_rng_below(rng, (uint64_t)n_words));
    if (def->word && pdnn_rng_below(rng, 4) == 0)
        return pdnn_value_of(def->word_value);
    if (!is_count && pdnn_rng_below(rng, 2) == 0)
        return def->fallback;
    int n = def->type == PDNN_PARAM_LIST ? 1 + (int)pdnn_rng_below(rng, PDNN_LIST_MAX) : 1;
    for (int i = 0; i < n; i++)
        numbers[i] = draw_number(rng, def, is_count);
    return pdnn_list_make(numbers, n);
}

static void draw_id(struct pdnn_rng *rng, const struct pdnn_family_def *family,
                    const struct pdnn_preset *preset, char id[PDNN_ID_TEXT]) {
    struct pdnn_instance instance;
    pdnn_instance_init(&instance, family);
    for (size_t i = 0; i < family->n_params && !preset; i++)
        instance.hyper[i] = draw_value(rng, &family->params[i], (int)i == family->depth_param);
    if (preset)
        pdnn_instance_init_preset(&instance, family, preset);
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (pdnn_settings[settings[i]].choices || pdnn_rng_below(rng, 2))
            instance.setting[settings[i]] = draw_value(rng, &pdnn_settings[settings[i]], true).number;
    pdnn_instance_settle(&instance);
    pdnn_instance_format(&instance, id);
}

/* Whether two reasons are equal but for their numbers and lists. */
static bool is_same_reason(const char *a, const char *b) {
    for (;; a++, b++) {
        a += strspn(a, "0123456789-");
        b += strspn(b, "0123456789-");
        if (*a != *b || !*a)
            return *a == *b;
    }
}

static bool has_reason(const struct list *list, const char *line) {
    for (size_t i = 0; i < list->count; i++) {
        const char *reason = strstr(list->line[i], " refused: ");
        if (reason && is_same_reason(reason, strstr(line, " refused: ")))
            return true;
    }
    return false;
}

/* Adds one more id that has the words, or any if that is NULL; of a preset, or of none if that is NULL. */
static void add_id(struct list *list, struct pdnn_rng *rng, const struct pdnn_family_def *family,
                   const struct pdnn_preset *preset, const char *words) {
    char id[PDNN_ID_TEXT], line[LINE_TEXT];
    for (int tries = 0; tries < 100000; tries++) {
        draw_id(rng, family, preset, id);
        if ((words && !strstr(id, words)) || has_id(list, id))
            continue;
        bool is_refused = !describe(id, line);
        if (is_refused && (words || has_reason(list, line)))
            continue;
        add_line(list, line);
        return;
    }
    fprintf(stderr, "graphs: no id of %s has %s\n", family->name, words ? words : "a graph");
    exit(1);
}

static void complete(struct list *list, const struct pdnn_family_def *family) {
    struct pdnn_rng rng = {pdnn_rng_seed(count_of(list, family), family->name), 0};
    char missing[PDNN_ID_TEXT];
    for (size_t i = 0; i < family->n_presets; i++)
        while (count_preset(list, family, &family->presets[i]) < IDS_PER_PRESET)
            add_id(list, &rng, family, &family->presets[i], NULL);
    while (count_of(list, family) < IDS_PER_PARAM * family->n_params)
        add_id(list, &rng, family, NULL, NULL);
    while (find_missing_word(list, family, missing))
        add_id(list, &rng, family, NULL, missing);
}

/* Reads the file; what it says of each id today is in the second list. */
static void read_list(const char *path, struct list *said, struct list *today) {
    char line[LINE_TEXT], id[LINE_TEXT], now[LINE_TEXT];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        snprintf(id, sizeof id, "%.*s", (int)strcspn(line, " "), line);
        describe(id, now);
        add_line(said, line);
        add_line(today, now);
    }
    if (file)
        fclose(file);
}

static int write_list(const char *path, const struct list *list) {
    FILE *file = fopen(path, "w");
    for (size_t i = 0; file && i < list->count; i++)
        fprintf(file, "%s\n", list->line[i]);
    if (file && fclose(file) == 0)
        return 0;
    fprintf(stderr, "graphs: cannot write %s\n", path);
    return 1;
}

static size_t report_missing(const struct list *list) {
    size_t count = 0;
    for (size_t i = 0; pdnn_family_at(i); i++) {
        const struct pdnn_family_def *family = pdnn_family_at(i);
        char missing[PDNN_ID_TEXT];
        if (find_missing_word(list, family, missing)) {
            fprintf(stderr, "graphs: no id of %s has %s; --update adds some\n", family->name, missing);
            count++;
        }
        for (size_t k = 0; k < family->n_presets; k++)
            if (!count_preset(list, family, &family->presets[k])) {
                fprintf(stderr, "graphs: no id is %s:%s; --update adds some\n", family->name,
                        family->presets[k].name);
                count++;
            }
    }
    return count;
}

static int compare(const struct list *said, const struct list *today) {
    size_t differences = 0;
    for (size_t i = 0; i < said->count; i++) {
        if (strcmp(said->line[i], today->line[i]) == 0)
            continue;
        if (differences++ < DIFFERENCES_SHOWN)
            fprintf(stderr, "graphs: expected %s\n             is %s\n", said->line[i], today->line[i]);
    }
    fprintf(stderr, "graphs: %zu of %zu ids differ%s\n", differences, said->count,
            differences ? "; graphs --dump ID in both builds shows where" : "");
    return differences || report_missing(said) || !said->count;
}

int main(int argc, char **argv) {
    static struct list said, today;
    const char *option = argc > 2 ? argv[2] : "";
    if (argc > 2 && strcmp(argv[1], "--dump") == 0)
        return dump_id(argv[2], argc > 3 && strcmp(argv[3], "--forward") == 0);
    if (argc < 2 || argc > 3 || (*option && strcmp(option, "--update") != 0)) {
        fprintf(stderr, "usage: graphs FILE [--update]; graphs --dump ID [--forward]\n");
        return 2;
    }
    read_list(argv[1], &said, &today);
    if (!*option)
        return compare(&said, &today);
    for (size_t i = 0; pdnn_family_at(i); i++)
        complete(&today, pdnn_family_at(i));
    return write_list(argv[1], &today);
}
