#include "gen/spec.h"

#include "base/paths/program.h"
#include "base/units.h"
#include "gen/family/load.h"
#include "gen/language.h"
#include "gen/model.h"
#include "gen/override.h"
#include "gen/record.h"
#include "gen/operators/operators.h"
#include "gen/rows.h"
#include "gen/source.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* A document's top level. */
struct sections {
    int64_t seed;
    const struct pdnn_yaml *sweep, *run, *measure, *limits, *seqpoint, *dataset, *libraries, *families,
        *models;
};

static const struct pdnn_key_def section_keys[] = {
    {PDNN_KEY("sweep", pdnn_key_read_node, struct sections, sweep),
     .values = "a name of letters, digits, _, - and .", .absent = "the file's name",
     .help = "names the result directory, NAME.results", .example = "widths"},
    {PDNN_KEY("seed", pdnn_key_read_i64, struct sections, seed), PDNN_KEY_RANGE(0, INT64_MAX),
     .fallback = "1", .help = "decides the order of visits, samples and data", .example = "7"},
    {PDNN_KEY("run", pdnn_key_read_node, struct sections, run), .values = "a map of run settings",
     .absent = "the defaults below", .help = "how the models run; a list makes a setting an axis",
     .example = "{mode: infer, threads: [1, all]}"},
    {PDNN_KEY("measure", pdnn_key_read_node, struct sections, measure), .values = "a map",
     .absent = "the defaults below", .help = "how often and how long each instance is timed",
     .example = "{rounds: 3, max_time: 1s}"},
    {PDNN_KEY("limits", pdnn_key_read_node, struct sections, limits), .values = "a map",
     .absent = "the defaults below", .help = "what the sweep may use",
     .example = "{memory: 12GiB, budget: 2h}"},
    {PDNN_KEY("seqpoint", pdnn_key_read_node, struct sections, seqpoint), .values = "a map",
     .absent = "the defaults below",
     .help = "the epoch that `paradnn seqpoint` projects; other commands ignore it",
     .example = "{lengths: iwslt15-en-vi, sampler: bucket}"},
    {PDNN_KEY("dataset", pdnn_key_read_node, struct sections, dataset),
     .values = "a directory, or a list of directories", .absent = "an error with `data: file`",
     .help =
         "data sets of `data: file`; of several, each model reads the first that has what it reads; paths start at "
         "the spec's directory",
     .example = "[images.data, tokens.data]"},
    {PDNN_KEY("libraries", pdnn_key_read_node, struct sections, libraries),
     .values = "a map of names to directories", .absent = "models run with what workers load by themselves",
     .help = "builds of oneDNN or OpenBLAS for the run setting `library`, which compares all of them where "
             "nothing gives it values; paths start at the spec's directory",
     .example = "{old: /opt/onednn-3.5/lib, new: /opt/onednn-3.7/lib}"},
    {PDNN_KEY("families", pdnn_key_read_node, struct sections, families),
     .values = "a list of files and maps", .absent = "the families that ship",
     .help =
         "families of one's own, doc/families.md, by whose names the spec's models find them first; paths "
         "start at the spec's directory",
     .example =
         "[{family: mine, axes: {batch: {default: 8, range: 1..64}}, inputs: {x: {shape: [batch, 16]}}, "
         "ops: [{dense: {out: 4}, from: x}]}]"},
    {PDNN_KEY("models", pdnn_key_read_node, struct sections, models), .values = "a list of entries",
     .absent = "an error", .help = "what to run",
     .example = "[{fc: {layers: [2, 4]}}, {resnet50: {batch: 1}}]"},
};

const struct pdnn_key_table pdnn_spec_keys = {
    .name = "a spec", PDNN_KEY_ROWS(section_keys), .place = pdnn_key_place};

/* `measure`, with the keys that are not stored as they are read. */
struct measure {
    struct pdnn_spec_measure values;
    int order;                          /* enum pdnn_order, or BY_MODELS */
    const struct pdnn_yaml *order_node; /* where it is written */
    int choices;                        /* enum pdnn_spec_choices, or BY_MODELS */
    const struct pdnn_yaml *choices_node;
    const struct pdnn_yaml *cache; /* a run setting, so it may be an axis */
};

enum { BY_MODELS = -1 };
static const char *const orders[] = {"shuffled", "cost", "paired", NULL};

static const char *const choices[] = {"shared", "own", NULL};

/* What holds in paired order unless the spec says otherwise: the first look at the pairs, and the time of all
 * sides together. */
static const int64_t paired_rounds = 8;
static const uint64_t paired_max_time_ns = UINT64_C(60000000000);

static const struct pdnn_key_def measure_keys[] = {
    {PDNN_KEY("rounds", pdnn_key_read_i64, struct measure, values.rounds), PDNN_KEY_RANGE(1, 10000),
     .absent = "5, in paired order 8", .example = "3",
     .help =
         "visits to each instance, spread over the sweep; up to four times as many while its interval is wider "
         "than precision and max_time lasts; in paired order up to 128, until all sides are decided"},
    {PDNN_KEY("precision", pdnn_key_read_percent, struct measure, values.precision), .fallback = "2%",
     .example = "5%",
     .help = "half-width of the 95 % interval that is good enough; in paired order, sides are alike if the "
             "interval of their ratio lies within it"},
    {PDNN_KEY("min_samples", pdnn_key_read_i64, struct measure, values.min_samples),
     PDNN_KEY_RANGE(1, PDNN_VISIT_SAMPLES_MAX), .fallback = "5", .example = "3",
     .help = "samples of a visit at least, after warm-up"},
    {PDNN_KEY("max_time", pdnn_key_read_time, struct measure, values.max_time_ns),
     .absent = "5s, in paired order 60s", .example = "800ms",
     .help =
         "time in samples of an instance, all its visits together, in paired order of all its sides; what "
         "prepares and warms up, and steps with stamps, come on top"},
    {PDNN_KEY("probe", pdnn_key_read_switch, struct measure, values.probe), .fallback = "on",
     .example = "off", .help = "a short compute and bandwidth probe beside every visit"},
    {PDNN_KEY("counters", pdnn_key_read_switch, struct measure, values.counters), .fallback = "off",
     .example = "on",
     .help =
         "cycles and instructions, by hardware counters, in three more steps a visit; where they may not be "
         "used, environment.yaml says why"},
    {PDNN_KEY("order", pdnn_key_read_word, struct measure, order), .words = orders,
     .absent =
         "paired where every model has one and the same run setting of 2 to 4 values that says how models run, else shuffled",
     .example = "cost",
     .help =
         "order of visits: shuffled by the seed; small to large; or paired: instances that differ in that "
         "setting alone next to each other, in new workers each round, until it is decided which is faster"},
    {PDNN_KEY("choices", pdnn_key_read_word, struct measure, choices), .words = choices, .absent = "shared",
     .example = "own",
     .help =
         "in paired order, whether sides under which a library uses the same instruction set run the same "
         "choices among implementations, measured once for the sweep, or each its own"},
    /* Its row is the run setting's. */
    {
        PDNN_KEY("cache", pdnn_key_read_node, struct measure, cache),
    },
};

const struct pdnn_key_table pdnn_measure_keys = {
    .name = "measure", PDNN_KEY_ROWS(measure_keys), .place = pdnn_key_place};

static enum pdnn_status read_memory(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                    void *target, struct pdnn_err *err) {
    struct pdnn_spec_limits *limits = target;
    enum pdnn_status status = pdnn_key_check_scalar(value, key->name, err);
    if (status != PDNN_OK)
        return status;
    double fraction;
    uint64_t bytes;
    if (pdnn_parse_percent(value->text, &fraction) && fraction > 0 && fraction <= 1) {
        limits->memory_fraction = fraction;
        limits->memory_bytes = 0;
        return PDNN_OK;
    }
    /* A bare number is more likely a forgotten % than a number of bytes that small. */
    bool has_unit = strpbrk(value->text, "B") != NULL;
    if (!has_unit || !pdnn_parse_bytes(value->text, &bytes) || !bytes)
        return pdnn_key_expected(key, value,
                                 "a percentage up to 100% or bytes with their unit, such as 12GiB", err);
    limits->memory_bytes = bytes;
    return PDNN_OK;
}

static enum pdnn_status read_budget(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                    void *target, struct pdnn_err *err) {
    struct pdnn_spec_limits *limits = target;
    if (value->kind != PDNN_YAML_SCALAR || strcmp(value->text, "none") != 0)
        return pdnn_key_read_time(key, value, target, err);
    limits->budget_ns = 0;
    return PDNN_OK;
}

static const char *const reaches[] = {"spread", "smallest", NULL};

static const struct pdnn_key_def limits_keys[] = {
    {.name = "memory",
     .read = read_memory,
     .values = "up to 100%, or bytes such as 12GiB",
     .fallback = "75%",
     .example = "12GiB",
     .help = "tensor memory of a worker; a percentage is of what this process may use"},
    {PDNN_KEY("time", pdnn_key_read_time, struct pdnn_spec_limits, time_ns), .fallback = "60s",
     .example = "10m", .help = "end an instance after this"},
    {PDNN_KEY("budget", read_budget, struct pdnn_spec_limits, budget_ns),
     .values = "none, or a time such as 45s, 10m or 2h", .fallback = "none", .example = "2h",
     .help = "end within this, from the start of the command; or none"},
    {PDNN_KEY("reach", pdnn_key_read_word, struct pdnn_spec_limits, reach), .words = reaches,
     .fallback = "spread", .example = "smallest",
     .help = "which instances come first if a budget, or a job's time, does not suffice for all"},
    {PDNN_KEY("instances", pdnn_key_read_i64, struct pdnn_spec_limits, instances),
     PDNN_KEY_RANGE(1, INT64_C(1) << 40), .fallback = "100000", .example = "2000000",
     .help = "an error if the models have more, `where` not yet applied"},
};

const struct pdnn_key_table pdnn_limits_keys = {
    .name = "limits", PDNN_KEY_ROWS(limits_keys), .place = pdnn_key_place};

static enum pdnn_status unknown_setting(const struct pdnn_yaml *key, struct pdnn_err *err) {
    const char *words[PDNN_SETTING_COUNT];
    char place[PDNN_PLACE_TEXT];
    struct pdnn_key_unknown unknown = {
        .what = "run", .place = pdnn_key_place(place, key->text), .words = words};
    for (int i = 0; i < PDNN_SETTING_COUNT; i++) {
        if (i != PDNN_SETTING_CACHE)
            words[unknown.n_words++] = pdnn_settings[i].name;
    }
    unknown.n_listed = unknown.n_words;
    return pdnn_key_unknown(key, &unknown, err);
}

/* `run`, then `measure: cache`: the axes that every model of the file has. */
static enum pdnn_status read_settings(const struct pdnn_yaml *run, const struct pdnn_yaml *cache,
                                      struct pdnn_arena *arena, struct pdnn_axis *axes, size_t *n_axes,
                                      struct pdnn_err *err) {
    size_t count = 0;
    enum pdnn_status status = run ? pdnn_key_check_map(run, "run", err) : PDNN_OK;
    for (const struct pdnn_yaml *child = run ? run->first : NULL; child && status == PDNN_OK;
         child = child->next) {
        int row = pdnn_param_find(pdnn_settings, PDNN_SETTING_COUNT, child->key->text);
        if (row < 0 || row == PDNN_SETTING_CACHE)
            return unknown_setting(child->key, err);
        axes[count] = (struct pdnn_axis){.is_setting = true, .index = row};
        status = pdnn_axis_read(&pdnn_settings[row], child, arena, &axes[count++], err);
    }
    if (status == PDNN_OK && cache) {
        axes[count] = (struct pdnn_axis){.is_setting = true, .index = PDNN_SETTING_CACHE};
        status = pdnn_axis_read(&pdnn_settings[PDNN_SETTING_CACHE], cache, arena, &axes[count++], err);
    }
    *n_axes = count;
    return status;
}

static enum pdnn_status read_name(const struct pdnn_yaml *node, const char **name, struct pdnn_err *err) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    enum { NAME_MAX_LENGTH = 64 };
    enum pdnn_status status = pdnn_key_check_scalar(node, "sweep", err);
    if (status != PDNN_OK)
        return status;
    size_t length = strlen(node->text);
    if (strspn(node->text, allowed) != length || strchr(".-", *node->text) || length > NAME_MAX_LENGTH)
        return pdnn_yaml_fail(
            node, err,
            "sweep is '%.60s', expected a name of letters, digits, '_', '-' and '.' (it names the result "
            "directory)",
            node->text);
    *name = node->text;
    return PDNN_OK;
}

static enum pdnn_status read_datasets(const struct pdnn_yaml *node, struct pdnn_spec *spec,
                                      struct pdnn_err *err) {
    const struct pdnn_yaml *each = node && node->kind == PDNN_YAML_LIST ? node->first : node;
    spec->n_datasets = 0;
    if (node && node->kind == PDNN_YAML_LIST && (!node->count || node->count > PDNN_SPEC_DATASETS))
        return pdnn_yaml_fail(node, err, "dataset takes a directory, or a list of 1 to %d",
                              PDNN_SPEC_DATASETS);
    for (; each; each = node->kind == PDNN_YAML_LIST ? each->next : NULL) {
        enum pdnn_status status = pdnn_key_check_scalar(each, "dataset", err);
        if (status == PDNN_OK && (!*each->text || strchr(each->text, '\n')))
            status = pdnn_yaml_fail(each, err, "dataset is not the name of a directory");
        if (status != PDNN_OK)
            return status;
        spec->datasets[spec->n_datasets++] = each->text;
    }
    return PDNN_OK;
}

static enum pdnn_status read_models(const struct pdnn_yaml *root, const struct sections *sections,
                                    const struct pdnn_yaml *cache, struct pdnn_spec *spec,
                                    struct pdnn_err *err) {
    const struct pdnn_yaml *models = sections->models;
    if (!models)
        return pdnn_yaml_fail(root, err, "no models, a spec has a list of them under `models`");
    if (models->kind != PDNN_YAML_LIST || !models->count)
        return pdnn_yaml_fail(models, err,
                              "models takes a list with an entry per model (- fc: {...}), not %s",
                              models->kind == PDNN_YAML_LIST ? "an empty one" : pdnn_yaml_kind_name(models));
    struct pdnn_axis settings[PDNN_SETTING_COUNT];
    size_t n_settings = 0, n_given;
    enum pdnn_status status = read_settings(sections->run, cache, &spec->arena, settings, &n_settings, err);
    n_given = n_settings;
    pdnn_libraries_add_axis(&spec->libraries, &spec->arena, settings, &n_settings);
    for (const struct pdnn_yaml *entry = models->first; entry && status == PDNN_OK; entry = entry->next) {
        struct pdnn_spec_model *model = &spec->models[spec->n_models++];
        const bool has_own = pdnn_rows_have_column(entry, pdnn_settings[PDNN_SETTING_LIBRARY].name);
        status =
            pdnn_spec_model_read(entry, settings, has_own ? n_given : n_settings, &spec->arena, model, err);
    }
    return status;
}

/* Adds one document to the spec. seed, measure, limits and seqpoint come from the document that governs
 * (NULL: another does), the name from the first that has one; all are checked in every document. */
static enum pdnn_status read_document(const struct pdnn_source *source, const struct pdnn_yaml *root,
                                      struct measure *governs, struct pdnn_spec *spec, struct pdnn_err *err) {
    struct sections sections = {0};
    struct measure measure = {.order = BY_MODELS, .choices = BY_MODELS};
    struct pdnn_spec_limits limits = {0};
    struct pdnn_spec_seqpoint seqpoint = {0};
    const char *name = NULL;
    pdnn_keys_default(&pdnn_spec_keys, &sections);
    pdnn_keys_default(&pdnn_measure_keys, &measure);
    pdnn_keys_default(&pdnn_limits_keys, &limits);
    pdnn_keys_default(&pdnn_epoch_keys, &seqpoint);
    enum pdnn_status status = pdnn_keys_read(root, &pdnn_spec_keys, &sections, err);
    if (status == PDNN_OK && sections.sweep)
        status = read_name(sections.sweep, &name, err);
    if (status == PDNN_OK && sections.measure)
        status = pdnn_keys_read(sections.measure, &pdnn_measure_keys, &measure, err);
    if (status == PDNN_OK && sections.limits)
        status = pdnn_keys_read(sections.limits, &pdnn_limits_keys, &limits, err);
    if (status == PDNN_OK && sections.seqpoint)
        status = pdnn_keys_read(sections.seqpoint, &pdnn_epoch_keys, &seqpoint, err);
    if (status == PDNN_OK && governs)
        status = read_datasets(sections.dataset, spec, err);
    if (status == PDNN_OK)
        status = read_models(root, &sections, measure.cache, spec, err);
    if (status == PDNN_OK && !spec->name)
        spec->name = name ? name : pdnn_source_name(source, &spec->arena);
    if (status != PDNN_OK || !governs)
        return status;
    measure.order_node = sections.measure ? pdnn_yaml_find(sections.measure, "order") : NULL;
    measure.choices_node = sections.measure ? pdnn_yaml_find(sections.measure, "choices") : NULL;
    *governs = measure;
    spec->seed = (uint64_t)sections.seed;
    spec->limits = limits;
    spec->seqpoint = seqpoint;
    return PDNN_OK;
}

/* How many values the axis has in instances that are alike otherwise: one, if others vary with it. */
static uint64_t count_alone(const struct pdnn_spec_model *model, size_t axis) {
    for (size_t i = 0; i < model->n_groups; i++) {
        const struct pdnn_axis_group *group = &model->groups[i];
        if (group->n_axes > 1 && axis >= group->first && axis < group->first + group->n_axes)
            return 1;
    }
    return model->axes[axis].count;
}

/* What a sweep may compare in pairs. */
struct compared {
    size_t settings;    /* that say how models run and have several values in some model */
    int setting;        /* the last of them */
    size_t sides;       /* its values in all models together, counted to one more than are compared */
    bool is_everywhere; /* every model has several */
};

/* Adds the values that the setting has in a model; true if it has several in instances that are alike. */
static bool add_sides(const struct pdnn_spec_model *model, int setting, int64_t *values, size_t *n_values) {
    const struct pdnn_axis *axis = NULL;
    bool has_several = false;
    for (size_t k = 0; k < model->n_axes; k++)
        if (model->axes[k].is_setting && model->axes[k].index == setting) {
            axis = &model->axes[k];
            has_several = count_alone(model, k) > 1;
        }
    for (uint64_t at = 0; at < (axis ? axis->count : 1) && *n_values <= PDNN_SPEC_SIDES; at++) {
        struct pdnn_instance instance = model->base;
        size_t known = 0;
        if (axis)
            pdnn_axis_apply(axis, at, &instance);
        while (known < *n_values && values[known] != instance.setting[setting])
            known++;
        values[known] = instance.setting[setting];
        *n_values += known == *n_values;
    }
    return has_several;
}

static struct compared find_compared(const struct pdnn_spec *spec) {
    struct compared found = {.sides = 1};
    for (int setting = 0; setting < PDNN_SETTING_COUNT; setting++) {
        int64_t values[PDNN_SPEC_SIDES + 1];
        size_t n_values = 0, n_models = 0;
        if (!pdnn_setting_says_how((enum pdnn_setting)setting))
            continue;
        for (size_t i = 0; i < spec->n_models; i++)
            n_models += add_sides(&spec->models[i], setting, values, &n_values);
        if (n_models)
            found = (struct compared){found.settings + 1, setting, n_values, n_models == spec->n_models};
    }
    return found;
}

static enum pdnn_status refuse_pairs(const struct pdnn_yaml *order, const struct compared *compared,
                                     struct pdnn_err *err) {
    if (!compared->settings)
        return pdnn_yaml_fail(order, err,
                              "order is paired, and no run setting that says how models run has several "
                              "values, such as fuse: [none, blocks]");
    if (compared->settings > 1)
        return pdnn_yaml_fail(order, err,
                              "order is paired, and %zu run settings that say how models run have several "
                              "values: one is compared, the others need one value each",
                              compared->settings);
    return pdnn_yaml_fail(
        order, err,
        "order is paired, and %s has more than %d values in all models together: no more are "
        "compared",
        pdnn_settings[compared->setting].name, PDNN_SPEC_SIDES);
}

/* The order, which the models decide if the spec does not say it, and what depends on it. */
static enum pdnn_status settle_order(struct measure *measure, struct pdnn_spec *spec, struct pdnn_err *err) {
    struct pdnn_spec_measure *values = &spec->measure;
    const struct compared compared = find_compared(spec);
    *values = measure->values;
    const bool may_pair = compared.settings == 1 && compared.sides <= PDNN_SPEC_SIDES;
    if (measure->order == PDNN_ORDER_PAIRED && !may_pair)
        return refuse_pairs(measure->order_node, &compared, err);
    const bool is_paired = measure->order == PDNN_ORDER_PAIRED ||
                           (measure->order == BY_MODELS && may_pair && compared.is_everywhere);
    values->order = is_paired                           ? PDNN_ORDER_PAIRED
                    : measure->order == PDNN_ORDER_COST ? PDNN_ORDER_COST
                                                        : PDNN_ORDER_SHUFFLED;
    if (measure->choices_node && !is_paired)
        return pdnn_yaml_fail(
            measure->choices_node, err,
            "choices is for paired order, and this sweep compares no setting's values in pairs");
    values->choices = measure->choices == PDNN_CHOICES_OWN ? PDNN_CHOICES_OWN : PDNN_CHOICES_SHARED;
    values->compared = compared.setting;
    values->sides = is_paired ? compared.sides : 1;
    values->unpaired_rounds = values->rounds ? values->rounds : 5;
    values->unpaired_max_time_ns = values->max_time_ns ? values->max_time_ns : UINT64_C(5000000000);
    if (!values->rounds)
        values->rounds = is_paired ? paired_rounds : values->unpaired_rounds;
    if (!values->max_time_ns)
        values->max_time_ns = is_paired ? paired_max_time_ns : values->unpaired_max_time_ns;
    return PDNN_OK;
}

void pdnn_spec_unpair(struct pdnn_spec *spec) {
    struct pdnn_spec_measure *measure = &spec->measure;
    if (measure->order != PDNN_ORDER_PAIRED)
        return;
    measure->order = PDNN_ORDER_SHUFFLED;
    measure->sides = 1;
    measure->rounds = measure->unpaired_rounds;
    measure->max_time_ns = measure->unpaired_max_time_ns;
}

/* How many points of all models together will be walked, in the order of the models. */
static enum pdnn_status check_instances(const struct pdnn_spec *spec, struct pdnn_err *err) {
    uint64_t limit = (uint64_t)spec->limits.instances, count = 0;
    for (size_t i = 0; i < spec->n_models; i++) {
        const struct pdnn_spec_model *model = &spec->models[i];
        bool is_sampled = model->method != PDNN_SAMPLE_ALL && model->sample_count < model->points;
        uint64_t more = is_sampled ? model->sample_count : model->points;
        if (more > limit - count)
            return pdnn_yaml_fail(model->node, err,
                                  "more than %" PRIu64 " instances: %s has %" PRIu64
                                  ", where not yet applied;"
                                  " take a sample, or raise limits: instances",
                                  limit, model->base.family->name, more);
        count += more;
    }
    return PDNN_OK;
}

static size_t count_models(struct pdnn_yaml *const *roots, size_t n_roots) {
    size_t count = 0;
    for (size_t i = 0; i < n_roots; i++) {
        const struct pdnn_yaml *models = pdnn_yaml_find(roots[i], "models");
        count += models ? models->count : 0;
    }
    return count;
}

/* The documents of all sources in order, each with its source. Those of the first file govern,
 * if there is a file. */
static enum pdnn_status gather_documents(struct pdnn_origin *origin, struct pdnn_arena *arena,
                                         struct pdnn_yaml ***roots, const struct pdnn_source ***source_of,
                                         struct pdnn_err *err) {
    size_t count = 0;
    for (size_t i = 0; i < origin->n_sources; i++) {
        for (const struct pdnn_yaml *root = origin->sources[i].root; root; root = root->next)
            if (++count > PDNN_SPEC_MODELS)
                return pdnn_yaml_fail(root, err, "more than %d specs, each document of a file counted as one",
                                      PDNN_SPEC_MODELS);
    }
    *roots = pdnn_arena_alloc(arena, count, sizeof **roots);
    *source_of = pdnn_arena_alloc(arena, count, sizeof **source_of);
    bool has_file = false;
    for (size_t i = 0; i < origin->n_sources; i++) {
        const struct pdnn_source *source = &origin->sources[i];
        if (!source->family && !has_file)
            origin->governor = origin->n_roots;
        has_file = has_file || !source->family;
        for (struct pdnn_yaml *root = source->root; root; root = root->next) {
            (*source_of)[origin->n_roots] = source;
            (*roots)[origin->n_roots++] = root;
        }
    }
    origin->roots = *roots;
    return PDNN_OK;
}

/* Puts a list of models in place of the document's. */
static enum pdnn_status replace_models(struct pdnn_yaml *root, const char *models, struct pdnn_arena *arena,
                                       struct pdnn_err *err) {
    struct pdnn_yaml *before = pdnn_yaml_find(root, "models"), *made = NULL;
    const struct pdnn_yaml_input input = {
        .file = "models", .whole_name = true, .text = models, .length = strlen(models)};
    enum pdnn_status status = pdnn_yaml_parse(&input, arena, &made, err);
    if (status != PDNN_OK || !before)
        return status;
    made->key = before->key;
    made->next = before->next;
    *before = *made;
    return PDNN_OK;
}

static void start_at(struct pdnn_yaml *value, const struct pdnn_source *source, const char *here,
                     bool is_sure, struct pdnn_arena *arena) {
    if (value->kind != PDNN_YAML_SCALAR || !*value->text || pdnn_yaml_is_null(value))
        return;
    const char *path = here && *value->text != '/' ? pdnn_arena_printf(arena, "%s/%s", here, value->text)
                       : here || source->installed ? value->text
                                                   : pdnn_key_path(value, arena);
    if (is_sure || access(path, F_OK) == 0)
        value->text = path;
}

/* Lets the paths of a document start at its file's directory; those of an installed spec are the user's, and
 * not there. here: at that directory, for the record, which lies elsewhere. Lengths may be a distribution. */
static void start_paths(struct pdnn_yaml *root, const struct pdnn_source *source, const char *here,
                        struct pdnn_arena *arena) {
    struct pdnn_yaml *sets = pdnn_yaml_find(root, "dataset"), *epoch = pdnn_yaml_find(root, "seqpoint");
    struct pdnn_yaml *lengths = epoch ? pdnn_yaml_find(epoch, "lengths") : NULL;
    struct pdnn_yaml *libraries = pdnn_yaml_find(root, "libraries");
    const bool is_list = sets && sets->kind == PDNN_YAML_LIST;
    for (struct pdnn_yaml *set = is_list ? sets->first : sets; set; set = is_list ? set->next : NULL)
        start_at(set, source, here, true, arena);
    for (struct pdnn_yaml *library = libraries ? libraries->first : NULL; library; library = library->next)
        start_at(library, source, here, true, arena);
    if (lengths)
        start_at(lengths, source, here, false, arena);
}

static enum pdnn_status load(const char *const *arguments, size_t n_arguments, const char *const *sets,
                             size_t n_sets, const char *models, struct pdnn_spec *spec,
                             struct pdnn_err *err) {
    struct pdnn_source *sources = pdnn_arena_alloc(&spec->arena, n_arguments, sizeof *sources);
    struct pdnn_yaml **roots = NULL;
    const struct pdnn_source **source_of = NULL;
    struct pdnn_yaml_count count = {0};
    struct measure measure = {0};
    struct pdnn_origin origin = {
        .sources = sources, .n_sources = n_arguments, .sets = sets, .n_sets = n_sets};
    enum pdnn_status status = PDNN_OK;
    size_t n_stdin = 0;
    char here[PDNN_PROGRAM_TEXT];
    for (size_t i = 0; i < n_arguments; i++)
        n_stdin += strcmp(arguments[i], "-") == 0;
    if (n_stdin > 1)
        return pdnn_fail(err, PDNN_INVALID, "'-' is given twice, and there is one standard input");
    for (size_t i = 0; i < n_arguments && status == PDNN_OK; i++)
        status = i < PDNN_SPEC_MODELS ? pdnn_source_read(arguments[i], &count, &sources[i], &spec->arena, err)
                                      : pdnn_fail(err, PDNN_INVALID, "more than %d specs", PDNN_SPEC_MODELS);
    for (size_t i = n_arguments; i-- > 0 && status == PDNN_OK;)
        spec->installed = sources[i].installed ? sources[i].name : spec->installed;
    if (status == PDNN_OK)
        status = gather_documents(&origin, &spec->arena, &roots, &source_of, err);
    for (size_t i = 0; i < origin.n_roots && status == PDNN_OK; i++) {
        status = pdnn_families_load(roots[i], &count, &spec->arena, err);
        pdnn_spec_models_spell_out(roots[i], &spec->arena);
    }
    for (size_t i = 0; i < n_sets && status == PDNN_OK; i++)
        status = pdnn_override_apply(sets[i], roots, origin.n_roots, &count, &spec->arena, err);
    for (size_t i = 0; i < origin.n_roots && status == PDNN_OK; i++) {
        start_paths(roots[i], source_of[i], NULL, &spec->arena);
        status = pdnn_operators_load(roots[i], &count, &spec->arena, err);
        if (status == PDNN_OK)
            status = pdnn_rows_load(roots[i], &count, &spec->arena, err);
    }
    if (status == PDNN_OK && models)
        status = origin.n_roots == 1
                     ? replace_models(roots[0], models, &spec->arena, err)
                     : pdnn_fail(err, PDNN_INVALID, "%zu specs, expected one", origin.n_roots);
    if (status != PDNN_OK)
        return status;
    size_t n_models = count_models(roots, origin.n_roots);
    if (n_models > PDNN_SPEC_MODELS)
        return pdnn_fail(err, PDNN_INVALID, "%zu models in all specs, the limit is %d", n_models,
                         PDNN_SPEC_MODELS);
    spec->models = pdnn_arena_alloc(&spec->arena, n_models + 1, sizeof *spec->models);
    status = pdnn_libraries_read(pdnn_yaml_find(roots[origin.governor], "libraries"), &spec->libraries, err);
    /* Once more: overrides may have changed them, and each document's own are found first. */
    for (size_t i = 0; i < origin.n_roots && status == PDNN_OK; i++) {
        status = pdnn_families_load(roots[i], &count, &spec->arena, err);
        if (status == PDNN_OK)
            status = read_document(source_of[i], roots[i], i == origin.governor ? &measure : NULL, spec, err);
    }
    if (status == PDNN_OK)
        status = pdnn_libraries_check(&spec->libraries, spec->models, spec->n_models, PDNN_SPEC_SIDES, err);
    if (status == PDNN_OK)
        status = check_instances(spec, err);
    if (status == PDNN_OK)
        status = settle_order(&measure, spec, err);
    for (size_t i = 0; i < origin.n_roots && getcwd(here, sizeof here); i++)
        start_paths(roots[i], source_of[i], here, &spec->arena);
    if (status == PDNN_OK)
        status = pdnn_origin_record(&origin, &spec->arena, &spec->text, err);
    return status;
}

static enum pdnn_status load_whole(const char *const *arguments, size_t n_arguments, const char *const *sets,
                                   size_t n_sets, const char *models, struct pdnn_spec *spec,
                                   struct pdnn_err *err) {
    if (!n_arguments)
        return pdnn_fail(err, PDNN_INVALID, "no spec given, expected a YAML file or an instance id");
    struct pdnn_spec made = {0};
    pdnn_arena_init(&made.arena);
    enum pdnn_status status = load(arguments, n_arguments, sets, n_sets, models, &made, err);
    if (status == PDNN_OK)
        *spec = made;
    else
        pdnn_arena_finish(&made.arena);
    return status;
}

enum pdnn_status pdnn_spec_load(const char *const *arguments, size_t n_arguments, const char *const *sets,
                                size_t n_sets, struct pdnn_spec *spec, struct pdnn_err *err) {
    return load_whole(arguments, n_arguments, sets, n_sets, NULL, spec, err);
}

enum pdnn_status pdnn_spec_load_models(const char *argument, const char *const *sets, size_t n_sets,
                                       const char *models, struct pdnn_spec *spec, struct pdnn_err *err) {
    return load_whole(&argument, 1, sets, n_sets, models, spec, err);
}

void pdnn_spec_finish(struct pdnn_spec *spec) {
    if (!spec)
        return;
    pdnn_arena_finish(&spec->arena);
    *spec = (struct pdnn_spec){0};
}

size_t pdnn_spec_families(const struct pdnn_spec *spec, struct pdnn_arena *arena,
                          const struct pdnn_family_def ***families) {
    size_t count = 0;
    *families = pdnn_arena_alloc(arena, spec->n_models + 1, sizeof **families);
    for (size_t i = 0; i < spec->n_models; i++) {
        size_t k = 0;
        while (k < count && (*families)[k] != spec->models[i].base.family)
            k++;
        (*families)[k] = spec->models[i].base.family;
        count += k == count;
    }
    return count;
}
