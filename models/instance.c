#include "models/instance.h"

#include "base/rng.h"
#include "base/str.h"
#include "lists.h"
#include "models/zoo/catalog.h"
#include "models/isa.h"
#include "models/optimizer.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NAME(name) #name,
const char *const pdnn_backend_names[] = {PDNN_BACKENDS(NAME) NULL};

static const char *const modes[] = {"infer", "train", NULL};
static const char *const dtypes[] = {"f32", "bf16", "f16", "int8", NULL};
static const char *const caches[] = {"warm", "cold", NULL};
static const char *const fuses[] = {"none", "post-ops", "blocks", NULL};
static const char *const algorithms[] = {"auto", "direct", "winograd", "gemm", NULL};
static const char *const recurrences[] = {"auto", "fused", "unrolled", NULL};
static const char *const checkpoints[] = {"none", "layer", NULL};
static const char *const data_sources[] = {"resident", "generated", "file", NULL};
static const char *const page_states[] = {"warm", "dropped", NULL};
static const char *const allreduces[] = {"none", "blocking", "bucketed", "thread", NULL};

const struct pdnn_param_def pdnn_settings[PDNN_SETTING_COUNT] = {
    [PDNN_SETTING_MODE] = {PDNN_ROW_CHOICE("mode", modes, PDNN_MODE_TRAIN),
                           .column = "run_mode", /* DataFrame.mode is a method of pandas */
                           .help = "what one step does: forward only, or forward, backward and the "
                                   "optimizer's update",
                           .example = "[infer, train]"},
    [PDNN_SETTING_DTYPE] = {PDNN_ROW_CHOICE("dtype", dtypes, 0),
                            .help = "element type of activations, weights and their gradients; "
                                    "the loss and optimizer state are f32; int8 is for inference and covers "
                                    "the inputs and weights of dense layers and convolutions",
                            .example = "[f32, bf16]"},
    [PDNN_SETTING_OPTIMIZER] = {PDNN_ROW_CHOICE("optimizer", pdnn_optimizer_names, PDNN_OPTIMIZER_RMSPROP),
                                .help = "update rule; training only", .example = "[sgd, adam]"},
    [PDNN_SETTING_BACKEND] = {PDNN_ROW_CHOICE("backend", pdnn_backend_names, 0),
                              .help = "the software that runs the ops", .example = "[onednn, openblas]"},
    [PDNN_SETTING_THREADS] = {PDNN_ROW_INT("threads", 1, 4096, 0), .word = "all",
                              .help =
                                  "threads of a rank, one per core; all = the cores this process may use, "
                                  "divided among the ranks",
                              .example = "[1, 2, all]"},
    [PDNN_SETTING_CACHE] =
        {PDNN_ROW_CHOICE("cache", caches, 0),
         .help = "warm: the same buffers step after step; cold: caches evicted before each sample",
         .example = "[warm, cold]"},
    [PDNN_SETTING_FUSE] = {PDNN_ROW_CHOICE("fuse", fuses, 0),
                           .help = "post-ops: bias, activation, shortcut and, in inference, "
                                   "batch normalization run inside the op before them; blocks: "
                                   "also, everything between two matrix products of a Transformer becomes "
                                   "one pass, and so does an update by Adam",
                           .example = "[none, post-ops]"},
    [PDNN_SETTING_ALGORITHM] =
        {PDNN_ROW_CHOICE("algorithm", algorithms, 0),
         .help =
             "how convolutions are computed; auto: as the library chooses or by a kernel of ours, whichever is measured to be faster; winograd: those of 3x3 pixels with stride 1 (in f32 ours, of channels in sixteens, where the library has none), auto for others",
         .example = "[direct, winograd]"},
    [PDNN_SETTING_RNN] = {PDNN_ROW_CHOICE("rnn", recurrences, 0),
                          .help = "how recurrent layers run: fused, as the library's own primitive, "
                                  "or unrolled into GEMMs and element-wise kernels; auto: "
                                  "whichever is measured to be faster, of those that fit; the "
                                  "primitive may need several times the memory predicted",
                          .example = "[fused, unrolled]"},
    [PDNN_SETTING_ACCUMULATE] = {PDNN_ROW_INT("accumulate", 1, 256, 1),
                                 .help = "number of micro-steps, each forward and backward of one "
                                         "minibatch, whose gradients are added up before one update; "
                                         "training only",
                                 .example = "[1, 4]"},
    [PDNN_SETTING_CHECKPOINT] = {PDNN_ROW_CHOICE("checkpoint", checkpoints, 0),
                                 .help = "layer: what a layer computes for its backward pass is dropped and "
                                         "recomputed right before it; training only",
                                 .example = "[none, layer]"},
    [PDNN_SETTING_LAYERS_RUN] = {PDNN_ROW_INT("layers_run", 1, 4096, 0), .word = "all",
                                 .help = "number of identical layers that run; the times of the others are "
                                         "extrapolated from them and marked as such",
                                 .example = "2"},
    [PDNN_SETTING_ISA] = {PDNN_ROW_CHOICE("isa", pdnn_isa_names, 0),
                          .help = "caps the instruction set; each value runs in a process of its own; "
                                  "default: no cap",
                          .example = "[default, avx2]"},
    [PDNN_SETTING_LIBRARY] = {PDNN_ROW_NAME("library", "default"),
                              .help = "which of the spec's `libraries` the worker loads; default: what it "
                                      "loads without them; each value runs in a process of its own",
                              .example = "[default, new]"},
    [PDNN_SETTING_DATA] = {PDNN_ROW_CHOICE("data", data_sources, 0),
                           .help =
                               "the minibatch of a step; resident: the same in every step, already in place; "
                               "generated: drawn for each step; file: read, decoded and reshaped from the "
                               "spec's data set",
                           .example = "[resident, generated]"},
    [PDNN_SETTING_LOADERS] = {PDNN_ROW_INT("loaders", 0, 256, 1),
                              .help =
                                  "threads that prepare minibatches ahead of the step; 0: the step does so "
                                  "itself, in line; unless data is resident",
                              .example = "[0, 1, 2]"},
    [PDNN_SETTING_PAGES] = {PDNN_ROW_CHOICE("pages", page_states, 0),
                            .help = "files of the data set; warm: in the page cache before the first step; "
                                    "dropped: out of it, before the first step and again once read; with "
                                    "data=file",
                            .example = "[warm, dropped]"},
    [PDNN_SETTING_RANKS] = {PDNN_ROW_INT("ranks", 1, 4096, 1),
                            .help = "processes that train one model together, each with a minibatch of its "
                                    "own and `threads` cores of its own, over MPI; training only",
                            .example = "[1, 2]"},
    [PDNN_SETTING_ALLREDUCE] = {PDNN_ROW_CHOICE("allreduce", allreduces, PDNN_ALLREDUCE_BLOCKING),
                                .help =
                                    "how gradients are averaged over the ranks: none: not at all; "
                                    "blocking: each bucket as soon as it is complete; bucketed: the same, "
                                    "while later ops run; thread: the same, by a thread of its own; with "
                                    "two ranks or more",
                                .example = "[blocking, thread]"},
    [PDNN_SETTING_BUCKET] = {PDNN_ROW_INT("bucket", 1, 4096, 25), .column = "bucket_mb", .unit = "MB",
                             .help =
                                 "gradients that are averaged by one message; one larger tensor is a bucket "
                                 "of its own; with two ranks or more",
                             .example = "[1MB, 25MB]"},
};

void pdnn_instance_init(struct pdnn_instance *instance, const struct pdnn_family_def *family) {
    *instance = (struct pdnn_instance){.family = family};
    for (size_t i = 0; i < family->n_params; i++)
        instance->hyper[i] = family->params[i].fallback;
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        instance->setting[i] = pdnn_settings[i].fallback.number;
}

/* When a setting applies: with what its family has, in training, and with another setting's value. */
struct need {
    enum pdnn_setting setting;
    enum { IS, IS_NOT } rule;
    int64_t value;
    const char *only; /* what else would do, as messages end */
};

static const struct setting_rule {
    bool of_family; /* `has` is an offset in the family's definition */
    size_t has;
    bool trains;
    struct need needs[2];
    size_t n_needs;
} rules[PDNN_SETTING_COUNT] = {
    [PDNN_SETTING_ALGORITHM] = {true, offsetof(struct pdnn_family_def, convolves)},
    [PDNN_SETTING_RNN] = {true, offsetof(struct pdnn_family_def, recurs)},
    [PDNN_SETTING_LAYERS_RUN] = {true, offsetof(struct pdnn_family_def, repeats_layers)},
    [PDNN_SETTING_CHECKPOINT] = {true, offsetof(struct pdnn_family_def, has_segments), .trains = true},
    [PDNN_SETTING_OPTIMIZER] = {.trains = true},
    [PDNN_SETTING_ACCUMULATE] = {.trains = true},
    [PDNN_SETTING_RANKS] = {.trains = true},
    [PDNN_SETTING_LOADERS] = {.n_needs = 1,
                              .needs = {{PDNN_SETTING_DATA, IS_NOT, PDNN_DATA_RESIDENT,
                                         ", only with data=generated or data=file"}}},
    [PDNN_SETTING_PAGES] = {.n_needs = 1,
                            .needs = {{PDNN_SETTING_DATA, IS, PDNN_DATA_FILE, ", only with data=file"}}},
    [PDNN_SETTING_ALLREDUCE] = {.trains = true,
                                .n_needs = 1,
                                .needs = {{PDNN_SETTING_RANKS, IS_NOT, 1, ", only with two or more"}}},
    [PDNN_SETTING_BUCKET] = {.trains = true,
                             .n_needs = 2,
                             .needs = {{PDNN_SETTING_RANKS, IS_NOT, 1, ", only with two or more"},
                                       {PDNN_SETTING_ALLREDUCE, IS_NOT, PDNN_ALLREDUCE_NONE, ""}}},
};

static bool has_what_it_needs(const struct pdnn_instance *instance, const struct setting_rule *rule) {
    return !rule->of_family || *(const bool *)((const char *)instance->family + rule->has);
}

static bool is_met(const struct pdnn_instance *instance, const struct need *need) {
    return (instance->setting[need->setting] == need->value) == (need->rule == IS);
}

bool pdnn_setting_says_how(enum pdnn_setting setting) {
    return setting != PDNN_SETTING_MODE && setting != PDNN_SETTING_OPTIMIZER &&
           setting != PDNN_SETTING_ACCUMULATE;
}

bool pdnn_setting_applies(const struct pdnn_instance *instance, enum pdnn_setting setting) {
    const struct setting_rule *rule = &rules[setting];
    bool applies = has_what_it_needs(instance, rule) &&
                   (!rule->trains || instance->setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN);
    for (size_t i = 0; applies && i < rule->n_needs; i++)
        applies = is_met(instance, &rule->needs[i]);
    return applies;
}

/* PDNN_INVALID if the setting does not apply: "algorithm does not apply to fc", "optimizer does not apply
 * with mode=infer, only with mode=train". */
static enum pdnn_status check_setting(const struct pdnn_instance *instance, enum pdnn_setting setting,
                                      struct pdnn_err *err) {
    const struct setting_rule *rule = &rules[setting];
    const char *name = pdnn_settings[setting].name;
    char number[PDNN_PARAM_TEXT];
    if (!has_what_it_needs(instance, rule))
        return pdnn_fail(err, PDNN_INVALID, "%s does not apply to %s", name, instance->family->name);
    if (rule->trains && instance->setting[PDNN_SETTING_MODE] != PDNN_MODE_TRAIN)
        return pdnn_fail(err, PDNN_INVALID, "%s does not apply with mode=infer, only with mode=train", name);
    for (size_t i = 0; i < rule->n_needs; i++) {
        const struct need *need = &rule->needs[i];
        const struct pdnn_param_def *def = &pdnn_settings[need->setting];
        if (!is_met(instance, need))
            return pdnn_fail(err, PDNN_INVALID, "%s does not apply with %s=%s%s", name, def->name,
                             pdnn_param_format(def, pdnn_value_of(instance->setting[need->setting]), number),
                             need->only);
    }
    return PDNN_OK;
}

bool pdnn_hyper_applies(const struct pdnn_instance *instance, size_t param) {
    const struct pdnn_masks *masks = &instance->family->applies;
    int64_t at = 0;
    for (size_t k = 0; k < masks->n_deciding; k++)
        at += masks->stride[k] * instance->hyper[masks->deciding[k]].number;
    return !masks->bits || masks->bits[at] >> param & 1;
}

void pdnn_instance_settle(struct pdnn_instance *instance) {
    const struct pdnn_family_def *family = instance->family;
    for (size_t i = 0; i < family->n_params; i++) {
        if (!pdnn_hyper_applies(instance, i))
            instance->hyper[i] = family->params[i].fallback;
    }
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++) {
        if (!pdnn_setting_applies(instance, (enum pdnn_setting)i))
            instance->setting[i] = pdnn_settings[i].fallback.number;
    }
    if (instance->setting[PDNN_SETTING_FUSE] == PDNN_FUSE_BLOCKS && !family->has_blocks)
        instance->setting[PDNN_SETTING_FUSE] = PDNN_FUSE_POST_OPS;
    if (family->repeats_layers &&
        instance->setting[PDNN_SETTING_LAYERS_RUN] >= instance->hyper[family->depth_param].number)
        instance->setting[PDNN_SETTING_LAYERS_RUN] = 0;
}

/* Folds the 128-bit product of two numbers, as wyhash does. */
static uint64_t fold(uint64_t a, uint64_t b) {
    pdnn_u128 product = (pdnn_u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static void mix(struct pdnn_instance_print *print, int64_t value) {
    print->a = fold(print->a ^ (uint64_t)value, UINT64_C(0x9e3779b97f4a7c15));
    print->b = fold(print->b + (uint64_t)value, UINT64_C(0xd6e8feb86659fd93)) + UINT64_C(0xbf58476d1ce4e5b9);
}

struct pdnn_instance_print pdnn_instance_print(const struct pdnn_instance *instance) {
    const struct pdnn_family_def *family = instance->family;
    struct pdnn_instance_print print = {UINT64_C(0xcbf29ce484222325), UINT64_C(0x94d049bb133111eb)};
    mix(&print, (int64_t)(intptr_t)family);
    for (size_t i = 0; i < family->n_params; i++) {
        mix(&print, instance->hyper[i].number);
        if (family->params[i].type != PDNN_PARAM_LIST)
            continue;
        mix(&print, instance->hyper[i].n_more);
        for (int k = 0; k < instance->hyper[i].n_more; k++)
            mix(&print, instance->hyper[i].more[k]);
    }
    for (int s = 0; s < PDNN_SETTING_COUNT; s++)
        mix(&print, pdnn_setting_applies(instance, (enum pdnn_setting)s) ? instance->setting[s] : -1);
    print.a = pdnn_rng_mix(print.a);
    print.b = pdnn_rng_mix(print.b) | 1;
    return print;
}

struct pdnn_instance pdnn_instance_as_run(const struct pdnn_instance *instance) {
    struct pdnn_instance run = *instance;
    if (instance->setting[PDNN_SETTING_LAYERS_RUN]) {
        run.hyper[instance->family->depth_param].number = instance->setting[PDNN_SETTING_LAYERS_RUN];
        run.setting[PDNN_SETTING_LAYERS_RUN] = 0;
    }
    return run;
}

double pdnn_instance_repetitions(const struct pdnn_instance *instance) {
    int64_t run = instance->setting[PDNN_SETTING_LAYERS_RUN];
    return run ? (double)instance->hyper[instance->family->depth_param].number / (double)run : 1;
}

static char *put(char *at, const char *end, const char *text) {
    while (*text && at < end)
        *at++ = *text++;
    *at = 0;
    return at;
}

/* Writes "block=plain or other": the words of the choice for which the parameter applies. False if it applies
 * for all words or for none. */
static bool describe_choice(const struct pdnn_instance *instance, size_t choice, size_t param,
                            char buffer[PDNN_CONDITION_TEXT]) {
    const struct pdnn_param_def *def = &instance->family->params[choice];
    struct pdnn_instance other = *instance;
    const char *end = buffer + PDNN_CONDITION_TEXT - 1;
    char *at = buffer;
    size_t yes = 0, no = 0;
    for (size_t i = 0; def->choices[i]; i++) {
        other.hyper[choice].number = (int64_t)i;
        if (!pdnn_hyper_applies(&other, param)) {
            no++;
            continue;
        }
        at = put(at, end, yes ? " or " : def->name);
        at = put(at, end, yes ? "" : "=");
        at = put(at, end, def->choices[i]);
        yes++;
    }
    return yes && no;
}

/* The index of the hyper-parameter that decides, or -1. */
static int find_one_condition(const struct pdnn_instance *instance, size_t param,
                              char buffer[PDNN_CONDITION_TEXT]) {
    const struct pdnn_family_def *family = instance->family;
    for (size_t i = 0; i < family->n_params; i++) {
        if (family->params[i].type == PDNN_PARAM_CHOICE && i != param &&
            describe_choice(instance, i, param, buffer))
            return (int)i;
    }
    *buffer = 0;
    return -1;
}

/* The same where two decide together: "architecture=decoder and phase=decode". */
static int find_condition(const struct pdnn_instance *instance, size_t param,
                          char buffer[PDNN_CONDITION_TEXT]) {
    const struct pdnn_family_def *family = instance->family;
    int found = find_one_condition(instance, param, buffer);
    for (size_t i = 0; i < family->n_params && found < 0 && !pdnn_hyper_applies(instance, param); i++) {
        const struct pdnn_param_def *def = &family->params[i];
        struct pdnn_instance other = *instance;
        for (int64_t word = 0; def->type == PDNN_PARAM_CHOICE && def->choices[word] && found < 0; word++) {
            char second[PDNN_CONDITION_TEXT];
            other.hyper[i].number = word;
            found = find_one_condition(&other, param, second);
            if (found >= 0)
                snprintf(buffer, PDNN_CONDITION_TEXT, "%.24s=%.20s and %.44s", def->name, def->choices[word],
                         second);
        }
    }
    return found;
}

const char *pdnn_hyper_condition(const struct pdnn_instance *instance, size_t param,
                                 char buffer[PDNN_CONDITION_TEXT]) {
    find_condition(instance, param, buffer);
    return buffer;
}

enum pdnn_status pdnn_hyper_check(const struct pdnn_instance *instance, size_t param, struct pdnn_err *err) {
    if (pdnn_hyper_applies(instance, param))
        return PDNN_OK;
    const struct pdnn_family_def *family = instance->family;
    char condition[PDNN_CONDITION_TEXT], number[PDNN_PARAM_TEXT], has[2 * PDNN_CONDITION_TEXT] = "",
                                                                          wants[2 * PDNN_CONDITION_TEXT] = "";
    int at = find_condition(instance, param, condition);
    if (at < 0)
        return pdnn_fail(err, PDNN_INVALID, "%s does not apply to this %s", family->params[param].name,
                         family->name);
    /* Each of several choices may decide alone. */
    for (size_t i = (size_t)at, used = 0, more = 0; i < family->n_params; i++) {
        bool decides = i == (size_t)at || (family->params[i].type == PDNN_PARAM_CHOICE && i != param &&
                                           describe_choice(instance, i, param, condition));
        if (!decides)
            continue;
        used += (size_t)snprintf(has + used, sizeof has - used, "%s%s=%s", used ? " and " : "",
                                 family->params[i].name,
                                 pdnn_param_format(&family->params[i], instance->hyper[i], number));
        more +=
            (size_t)snprintf(wants + more, sizeof wants - more, "%s%s", more ? ", or with " : "", condition);
        used = used < sizeof has ? used : sizeof has - 1;
        more = more < sizeof wants ? more : sizeof wants - 1;
    }
    return pdnn_fail(err, PDNN_INVALID, "%s does not apply to %s with %s, only with %s",
                     family->params[param].name, family->name, has, wants);
}

int64_t pdnn_instance_examples(const struct pdnn_instance *instance) {
    return instance->hyper[instance->family->minibatch_param].number *
           instance->setting[PDNN_SETTING_ACCUMULATE] * instance->setting[PDNN_SETTING_RANKS];
}

void pdnn_instance_resolve(struct pdnn_instance *instance, int64_t threads) {
    int64_t ranks = instance->setting[PDNN_SETTING_RANKS];
    if (!instance->setting[PDNN_SETTING_THREADS])
        instance->setting[PDNN_SETTING_THREADS] = threads <= 1 || ranks == 1 ? threads
                                                  : threads > ranks          ? threads / ranks
                                                                             : 1;
    instance->family->resolve(instance);
}

static char *put_pair(char *at, const char *end, char mark, const struct pdnn_param_def *def,
                      struct pdnn_value value) {
    char number[PDNN_PARAM_TEXT], sign[2] = {mark, 0};
    at = put(at, end, sign);
    at = put(at, end, def->name);
    at = put(at, end, "=");
    return put(at, end, pdnn_param_format(def, value, number));
}

/* `threads` has no default that fits every machine, so it is printed wherever it is known. */
static bool is_printed(const struct pdnn_instance *instance, enum pdnn_setting setting) {
    return pdnn_setting_applies(instance, setting) &&
           instance->setting[setting] != pdnn_settings[setting].fallback.number;
}

const char *pdnn_instance_format(const struct pdnn_instance *instance, char buffer[PDNN_ID_TEXT]) {
    const struct pdnn_family_def *family = instance->family;
    const char *end = buffer + PDNN_ID_TEXT - 1;
    char *at = put(buffer, end, family->name);
    if (family->hash && !family->ships)
        at = put(put(at, end, "@"), end, family->hash);
    char mark = '/';
    for (size_t i = 0; i < family->n_params; i++) {
        if (!pdnn_hyper_applies(instance, i))
            continue;
        at = put_pair(at, end, mark, &family->params[i], instance->hyper[i]);
        mark = ',';
    }
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++) {
        if (is_printed(instance, (enum pdnn_setting)i))
            at = put_pair(at, end, ',', &pdnn_settings[i], pdnn_value_of(instance->setting[i]));
    }
    assert(at < end); /* a truncated id would not parse back */
    return buffer;
}

static bool is_setting(const char *text, size_t length) {
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++) {
        const char *name = pdnn_settings[i].name;
        if (strncmp(name, text, length) == 0 && !name[length])
            return true;
    }
    return false;
}

const char *pdnn_instance_group(const struct pdnn_instance *instance, int setting,
                                char buffer[PDNN_ID_TEXT]) {
    struct pdnn_instance without = *instance;
    without.setting[setting] = pdnn_settings[setting].fallback.number;
    pdnn_instance_settle(&without);
    return pdnn_instance_format(&without, buffer);
}

const char *pdnn_instance_platform(const struct pdnn_instance *instance, char buffer[PDNN_CONDITION_TEXT]) {
    static const enum pdnn_setting settings[] = {PDNN_SETTING_THREADS, PDNN_SETTING_LIBRARY,
                                                 PDNN_SETTING_ISA};
    const char *end = buffer + PDNN_CONDITION_TEXT - 1;
    char *at = put(buffer, end, pdnn_backend_names[instance->setting[PDNN_SETTING_BACKEND]]);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i] != PDNN_SETTING_LIBRARY || instance->setting[PDNN_SETTING_LIBRARY])
            at = put_pair(at, end, ' ', &pdnn_settings[settings[i]],
                          pdnn_value_of(instance->setting[settings[i]]));
    return buffer;
}

size_t pdnn_id_model_length(const char *id) {
    const char *at = id + strcspn(id, "/:");
    while (*at && !is_setting(at + 1, strcspn(at + 1, "=,")))
        at += 1 + strcspn(at + 1, ",");
    return (size_t)(at - id);
}

enum { ID_KEYS = PDNN_HYPER_MAX + PDNN_SETTING_COUNT };

/* "unknown key 'lenght' for rnn, did you mean 'length'?" */
static enum pdnn_status unknown_key(const struct pdnn_family_def *family, const char *key,
                                    struct pdnn_err *err) {
    const char *words[ID_KEYS];
    size_t count = 0;
    for (size_t i = 0; i < family->n_params; i++)
        words[count++] = family->params[i].name;
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        words[count++] = pdnn_settings[i].name;
    char buffer[PDNN_SUGGESTION_TEXT], elsewhere[PDNN_SUGGESTION_TEXT];
    const char *hint = pdnn_param_suggest(buffer, key, words, count);
    snprintf(elsewhere, sizeof elsewhere, family->file ? ", see %.80s" : ", see 'paradnn families %.40s'",
             family->file ? family->file : family->name);
    return pdnn_fail(err, PDNN_INVALID, "unknown key '%.40s' for %s%s", key, family->name,
                     *hint ? hint : elsewhere);
}

/* Parses one "key=value"; `seen` marks by row the keys already given. */
static enum pdnn_status parse_pair(char *pair, struct pdnn_instance *instance, bool *seen,
                                   struct pdnn_err *err) {
    const struct pdnn_family_def *family = instance->family;
    char *equals = strchr(pair, '=');
    if (!equals)
        return pdnn_fail(err, PDNN_INVALID, "'%.60s' is not key=value", pair);
    *equals = 0;
    int row = pdnn_param_find(family->params, family->n_params, pair);
    const struct pdnn_param_def *def = row < 0 ? NULL : &family->params[row];
    if (!def) {
        row = pdnn_param_find(pdnn_settings, PDNN_SETTING_COUNT, pair);
        if (row < 0)
            return unknown_key(family, pair, err);
        def = &pdnn_settings[row];
        row += PDNN_HYPER_MAX;
    }
    if (seen[row])
        return pdnn_fail(err, PDNN_INVALID, "%s is given twice", pair);
    seen[row] = true;
    struct pdnn_value value;
    enum pdnn_status status = pdnn_param_parse(def, equals + 1, &value, err);
    if (status == PDNN_OK && row < PDNN_HYPER_MAX)
        instance->hyper[row] = value;
    else if (status == PDNN_OK)
        instance->setting[row - PDNN_HYPER_MAX] = value.number;
    return status;
}

static enum pdnn_status parse_pairs(char *pairs, struct pdnn_instance *instance, bool *seen,
                                    struct pdnn_err *err) {
    while (*pairs) {
        char *comma = strchr(pairs, ',');
        if (comma)
            *comma = 0;
        enum pdnn_status status = parse_pair(pairs, instance, seen, err);
        if (status != PDNN_OK)
            return status;
        if (!comma)
            return PDNN_OK;
        pairs = comma + 1;
    }
    return pdnn_fail(err, PDNN_INVALID, "expected key=value after the last '/' or ','");
}

/* Checks what applies last, once all keys are read. */
static enum pdnn_status parse_values(char *pairs, struct pdnn_instance *instance, struct pdnn_err *err) {
    bool seen[ID_KEYS] = {false};
    enum pdnn_status status = pairs ? parse_pairs(pairs, instance, seen, err) : PDNN_OK;
    for (size_t i = 0; i < instance->family->n_params && status == PDNN_OK; i++)
        status = seen[i] ? pdnn_hyper_check(instance, i, err) : PDNN_OK;
    for (size_t i = 0; i < PDNN_SETTING_COUNT && status == PDNN_OK; i++)
        status = seen[PDNN_HYPER_MAX + i] ? check_setting(instance, (enum pdnn_setting)i, err) : PDNN_OK;
    pdnn_instance_settle(instance);
    return status;
}

enum pdnn_status pdnn_instance_parse_preset(struct pdnn_instance *instance,
                                            const struct pdnn_family_def *family,
                                            const struct pdnn_preset *preset, struct pdnn_err *err) {
    char pairs[PDNN_ID_TEXT];
    pdnn_instance_init(instance, family);
    if (strlen(preset->values) >= sizeof pairs)
        return pdnn_fail(err, PDNN_INVALID, "more than %zu letters of values", sizeof pairs - 1);
    snprintf(pairs, sizeof pairs, "%s", preset->values);
    return parse_values(*pairs ? pairs : NULL, instance, err);
}

void pdnn_instance_init_preset(struct pdnn_instance *instance, const struct pdnn_family_def *family,
                               const struct pdnn_preset *preset) {
    enum pdnn_status status = pdnn_instance_parse_preset(instance, family, preset, NULL);
    assert(status == PDNN_OK); /* whoever makes a family parses its presets */
    (void)status;
}

/* What follows "family:", up to the comma behind which *pairs is left. */
static enum pdnn_status parse_preset(char **pairs, struct pdnn_model_name *model, struct pdnn_err *err) {
    char *name = *pairs, *comma = strchr(name, ',');
    if (comma)
        *comma = 0;
    *pairs = comma ? comma + 1 : NULL;
    if (model->preset)
        return pdnn_fail(err, PDNN_INVALID, "%s is a preset, key=value follows it after a comma",
                         model->preset->name);
    model->preset = pdnn_preset_find(model->family, name);
    return model->preset ? PDNN_OK : pdnn_preset_unknown(model->family, name, err);
}

/* What ends the name of a model in an id. */
#define MODEL_MARKS "/:,"

bool pdnn_instance_is_named(const char *text) {
    return pdnn_model_is_known(text, strcspn(text, MODEL_MARKS));
}

/* "nodes=128", where a model should be: names one that has the key. */
static enum pdnn_status missing_model(const char *pair, struct pdnn_err *err) {
    char key[PDNN_PARAM_TEXT];
    snprintf(key, sizeof key, "%.*s", (int)strcspn(pair, "="), pair);
    for (size_t i = 0; pdnn_family_at(i); i++) {
        if (pdnn_param_find(pdnn_family_at(i)->params, pdnn_family_at(i)->n_params, key) >= 0)
            return pdnn_fail(err, PDNN_INVALID, "a model comes first, such as %s,%.60s",
                             pdnn_family_at(i)->name, pair);
    }
    return pdnn_fail(err, PDNN_INVALID, "a family or preset comes before key=value, see 'paradnn families'");
}

static enum pdnn_status parse_id(char *text, struct pdnn_instance *instance, struct pdnn_err *err) {
    char *mark = text + strcspn(text, MODEL_MARKS);
    char kind = *mark;
    char *pairs = kind ? mark + 1 : NULL;
    struct pdnn_model_name model;
    *mark = 0;
    if (strchr(text, '='))
        return missing_model(text, err);
    enum pdnn_status status = pdnn_model_find(text, false, &model, err);
    if (status == PDNN_OK && kind == ':')
        status = parse_preset(&pairs, &model, err);
    if (status != PDNN_OK)
        return status;
    struct pdnn_instance parsed;
    if (model.preset)
        pdnn_instance_init_preset(&parsed, model.family, model.preset);
    else
        pdnn_instance_init(&parsed, model.family);
    status = parse_values(pairs, &parsed, err);
    if (status == PDNN_OK)
        *instance = parsed;
    return status;
}

enum pdnn_status pdnn_instance_parse(const char *text, struct pdnn_instance *instance, struct pdnn_err *err) {
    char copy[PDNN_ID_TEXT];
    if (strlen(text) >= sizeof copy)
        return pdnn_fail(err, PDNN_INVALID, "the instance id is longer than %d characters", PDNN_ID_TEXT - 1);
    strcpy(copy, text);
    if (parse_id(copy, instance, err) != PDNN_OK)
        return pdnn_wrap(err, "'%.80s'", text);
    return PDNN_OK;
}

const char *pdnn_instance_reprint(const char *id, char buffer[PDNN_ID_TEXT]) {
    struct pdnn_instance instance;
    if (pdnn_instance_parse(id, &instance, NULL) != PDNN_OK)
        return id;
    pdnn_instance_resolve(&instance, instance.setting[PDNN_SETTING_THREADS]);
    return pdnn_instance_format(&instance, buffer);
}

static void parse_presets(const struct pdnn_family_def *family, struct pdnn_parsed_presets *parsed) {
    assert(family->n_presets <= PDNN_PRESETS_MAX);
    parsed->family = family;
    pdnn_instance_init(&parsed->plain, family);
    for (size_t i = 0; i < family->n_presets; i++)
        pdnn_instance_init_preset(&parsed->preset[i], family, &family->presets[i]);
}

/* Which hyper-parameters are the user's whatever the preset. */
static bool is_free(const struct pdnn_family_def *family, int param) {
    return param == family->minibatch_param || family->params[param].is_input ||
           (family->lengths && (param == family->lengths->source || param == family->lengths->target));
}

/* The instance has what distinguishes the preset from the defaults. */
static bool is_alike(const struct pdnn_instance *instance, const struct pdnn_instance *preset,
                     const struct pdnn_instance *plain) {
    for (int i = 0; i < (int)instance->family->n_params; i++) {
        int64_t number = preset->hyper[i].number;
        if (number != plain->hyper[i].number && number != instance->hyper[i].number &&
            !is_free(instance->family, i) && pdnn_hyper_applies(instance, (size_t)i))
            return false;
    }
    return true;
}

const struct pdnn_preset *pdnn_instance_preset(const struct pdnn_instance *instance,
                                               struct pdnn_parsed_presets *parsed) {
    const struct pdnn_family_def *family = instance->family;
    if (parsed->family != family)
        parse_presets(family, parsed);
    for (size_t i = 0; i < family->n_presets; i++) {
        if (!is_alike(instance, &parsed->preset[i], &parsed->plain))
            continue;
        struct pdnn_instance preset = *instance;
        for (int k = 0; k < (int)family->n_params; k++)
            preset.hyper[k] = is_free(family, k) ? instance->hyper[k] : parsed->preset[i].hyper[k];
        pdnn_instance_settle(&preset);
        pdnn_instance_resolve(&preset, instance->setting[PDNN_SETTING_THREADS]);
        if (memcmp(preset.hyper, instance->hyper, sizeof preset.hyper) == 0)
            return &family->presets[i];
    }
    return NULL;
}
