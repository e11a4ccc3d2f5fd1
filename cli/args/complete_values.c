/* What the arguments in the tables may be: one row for each name of an operand or of an option's argument. */
#include "cli/args/complete_values.h"

#include "cli/args/options.h"
#include "cli/args/registry.h"
#include "gen/language.h"
#include "models/family.h"
#include "models/instance.h"
#include "results/query/shares.h"
#include "results/epochs/shipped_lengths.h"
#include "results/store/results.h"
#include "runtime/data/dataset.h"

#include <string.h>

void pdnn_complete_add(struct pdnn_completion *completion, const char *name, const char *suffix,
                       const char *help) {
    struct pdnn_str line = {0};
    pdnn_str_printf(&line, "\n%.*s%s%s\t", (int)completion->kept, completion->word, name, suffix);
    bool fits = strncmp(line.text + 1, completion->word, strlen(completion->word)) == 0;
    if (fits && !strstr(pdnn_str_text(&completion->lines), line.text))
        pdnn_str_printf(&completion->lines, "%s%s", line.text, help);
    pdnn_str_finish(&line);
}

/* The part of the word that is being completed. */
static const char *part_of(const struct pdnn_completion *completion) {
    return completion->word + completion->kept;
}

/* Goes on after the last of these letters in the part, if it has one. */
static void keep_to(struct pdnn_completion *completion, const char *letters) {
    const char *part = part_of(completion);
    for (size_t i = strlen(part); i-- > 0;) {
        if (strchr(letters, part[i])) {
            completion->kept += i + 1;
            return;
        }
    }
}

/* True if the part, without what follows its first '=', is the name. */
static bool names(const char *part, const char *name) {
    size_t length = strcspn(part, "=");
    return part[length] == '=' && strlen(name) == length && strncmp(part, name, length) == 0;
}

/* "mode=", or after "mode=" its words. */
static void add_param(struct pdnn_completion *completion, const struct pdnn_param_def *param) {
    const char *part = part_of(completion);
    if (!strchr(part, '=')) {
        pdnn_complete_add(completion, param->name, "=", param->help);
        return;
    }
    if (!names(part, param->name))
        return;
    struct pdnn_completion values = *completion;
    values.kept += strlen(param->name) + 1;
    for (const char *const *choice = param->choices; choice && *choice; choice++)
        pdnn_complete_add(&values, *choice, "", param->help);
    if (param->word)
        pdnn_complete_add(&values, param->word, "", param->help);
    completion->lines = values.lines;
}

static void add_settings(struct pdnn_completion *completion) {
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        add_param(completion, &pdnn_settings[i]);
}

static void add_hypers(struct pdnn_completion *completion) {
    for (const struct pdnn_family_def *const *family = pdnn_families; *family; family++)
        for (size_t i = 0; i < (*family)->n_params; i++)
            add_param(completion, &(*family)->params[i]);
}

static void add_params(struct pdnn_completion *completion) {
    add_hypers(completion);
    add_settings(completion);
}

/* What a row of results can be chosen by. */
static void add_selectors(struct pdnn_completion *completion) {
    keep_to(completion, ",/");
    const char *part = part_of(completion);
    if (!strchr(part, '=')) {
        pdnn_complete_add(completion, "family", "=", "the model family");
        pdnn_complete_add(completion, "id", "=", "one instance");
    } else if (names(part, "family")) {
        keep_to(completion, "=");
        for (const struct pdnn_family_def *const *family = pdnn_families; *family; family++)
            pdnn_complete_add(completion, (*family)->name, "", (*family)->help);
        return;
    }
    add_params(completion);
}

/* Names without values: keys that things differ in. */
static void add_key_names(struct pdnn_completion *completion) {
    keep_to(completion, ",");
    for (const struct pdnn_family_def *const *family = pdnn_families; *family; family++)
        for (size_t i = 0; i < (*family)->n_params; i++)
            pdnn_complete_add(completion, (*family)->params[i].name, "", (*family)->params[i].help);
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        pdnn_complete_add(completion, pdnn_settings[i].name, "", pdnn_settings[i].help);
}

static void add_parts(struct pdnn_completion *completion) {
    keep_to(completion, ",");
    for (enum pdnn_by by = 0; by < PDNN_BY_COUNT; by++)
        pdnn_complete_add(completion, pdnn_by_name(by), "", "");
}

static void add_lengths(struct pdnn_completion *completion) {
    for (size_t i = 0; i < pdnn_n_shipped_lengths; i++)
        pdnn_complete_add(completion, pdnn_shipped_lengths[i].name, "", pdnn_shipped_lengths[i].help);
}

static void add_columns(struct pdnn_completion *completion) {
    struct pdnn_arena arena;
    size_t n_families = 0;
    while (pdnn_families[n_families])
        n_families++;
    keep_to(completion, ",");
    pdnn_arena_init(&arena);
    const struct pdnn_table_def def = pdnn_results_def(pdnn_families, n_families, &arena);
    for (size_t i = 0; i < def.count; i++)
        pdnn_complete_add(completion, def.column[i].name, "", def.column[i].help);
    pdnn_arena_finish(&arena);
}

/* "rounds=", or the words after "order=". */
static void add_spec_keys(struct pdnn_completion *completion, const struct pdnn_key_table *table) {
    for (size_t i = 0; i < table->n_keys; i++) {
        const struct pdnn_key_def *key = &table->keys[i];
        add_param(completion, &(struct pdnn_param_def){.name = key->name,
                                                       .choices = key->words,
                                                       .help = key->help ? key->help : ""});
    }
}

/* A key of a spec by its path: "run.mode=", "measure.rounds=". */
static void add_spec_paths(struct pdnn_completion *completion) {
    static const struct {
        const char *section;
        const struct pdnn_key_table *keys; /* NULL: run settings */
    } sections[] = {{"run.", NULL},
                    {"measure.", &pdnn_measure_keys},
                    {"limits.", &pdnn_limits_keys},
                    {"seqpoint.", &pdnn_epoch_keys}};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const char *section = sections[i].section;
        if (strncmp(part_of(completion), section, strlen(section)) != 0) {
            pdnn_complete_add(completion, section, "", "a section of the spec");
            continue;
        }
        completion->kept += strlen(section);
        if (sections[i].keys)
            add_spec_keys(completion, sections[i].keys);
        else
            add_settings(completion);
        return;
    }
    pdnn_complete_add(completion, "seed", "=", "of visit order, samples and data");
}

/* True if the id up to here has a value for the parameter. */
static bool has_value(const char *id, const char *name) {
    for (const char *at = strpbrk(id, "/,"); at; at = strpbrk(at + 1, ","))
        if (names(at + 1, name))
            return true;
    return false;
}

/* Keys that apply after "fc/" or "cnn:resnet50,". */
static void add_id_keys(struct pdnn_completion *completion, const struct pdnn_family_def *family) {
    char before[PDNN_ID_TEXT] = "";
    struct pdnn_instance instance;
    const char *id = part_of(completion);
    keep_to(completion, ",/");
    size_t length = (size_t)(part_of(completion) - id) - 1;
    if (length >= sizeof before)
        return;
    strncat(before, id, length);
    if (pdnn_instance_parse(before, &instance, NULL) != PDNN_OK)
        return;
    for (size_t i = 0; i < family->n_params; i++)
        if (pdnn_hyper_applies(&instance, i) && !has_value(before, family->params[i].name))
            add_param(completion, &family->params[i]);
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        if (pdnn_setting_applies(&instance, (enum pdnn_setting)i) &&
            !has_value(before, pdnn_settings[i].name))
            add_param(completion, &pdnn_settings[i]);
}

static void add_presets(struct pdnn_completion *completion, const struct pdnn_family_def *family) {
    for (size_t i = 0; i < family->n_presets; i++)
        pdnn_complete_add(completion, family->presets[i].name, "", family->presets[i].help);
}

/* Families and presets, after "cnn:" its presets, and after a model its keys. */
static void add_ids(struct pdnn_completion *completion) {
    char name[PDNN_ID_TEXT] = "";
    const char *part = part_of(completion);
    size_t length = strcspn(part, "/:,");
    if (!part[length]) {
        for (const struct pdnn_family_def *const *family = pdnn_families; *family; family++) {
            pdnn_complete_add(completion, (*family)->name, "/", (*family)->help);
            if ((*family)->n_presets)
                pdnn_complete_add(completion, (*family)->name, ":", "a preset");
        }
        for (const struct pdnn_family_def *const *family = pdnn_families; *part && *family; family++)
            add_presets(completion, *family);
        return;
    }
    struct pdnn_model_name model;
    if (length >= sizeof name)
        return;
    strncat(name, part, length);
    if (pdnn_model_find(name, false, &model, NULL) != PDNN_OK)
        return;
    completion->files = PDNN_COMPLETE_NONE;
    if (part[length] != ':' || strchr(part, ',')) {
        add_id_keys(completion, model.family);
        return;
    }
    keep_to(completion, ":");
    add_presets(completion, model.family);
}

/* What a data set holds. */
static void add_contents(struct pdnn_completion *completion) {
    for (size_t i = 0; pdnn_dataset_kind_names[i]; i++)
        pdnn_complete_add(completion, pdnn_dataset_kind_names[i], "", "");
}

/* What help explains. */
static void add_topics(struct pdnn_completion *completion) {
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++)
        pdnn_complete_add(completion, (*command)->name, "", (*command)->summary);
    pdnn_complete_add(completion, "spec", "", "how to write a spec");
}

static const struct {
    const char *argument;
    enum pdnn_complete_files files;
    void (*add)(struct pdnn_completion *completion);
} arguments[] = {
    {"A", PDNN_COMPLETE_DIRECTORIES, NULL},
    {"B", PDNN_COMPLETE_DIRECTORIES, NULL},
    {"DIR", PDNN_COMPLETE_DIRECTORIES, NULL},
    {"OUT", PDNN_COMPLETE_DIRECTORIES, NULL},
    {"RESULTS", PDNN_COMPLETE_DIRECTORIES, NULL},
    {"CONTENT", PDNN_COMPLETE_DIRECTORIES, add_contents},
    {"COMMAND", PDNN_COMPLETE_FILES, NULL},
    {"FILE", PDNN_COMPLETE_FILES, NULL},
    {"LENGTHS", PDNN_COMPLETE_FILES, add_lengths},
    {"SPEC", PDNN_COMPLETE_SPECS, add_ids},
    {"ID", PDNN_COMPLETE_SPECS, add_ids},
    {"CONDITIONS", PDNN_COMPLETE_NONE, add_selectors},
    {"KEY=VALUE", PDNN_COMPLETE_NONE, add_spec_paths},
    {"PARAMETER=VALUE", PDNN_COMPLETE_NONE, add_params},
    {"KEY=LIST", PDNN_COMPLETE_NONE, add_hypers},
    {"KEY", PDNN_COMPLETE_NONE, add_key_names},
    {"KEYS", PDNN_COMPLETE_NONE, add_key_names},
    {"PARTS", PDNN_COMPLETE_NONE, add_parts},
    {"TOPIC", PDNN_COMPLETE_NONE, add_topics},
    {"COLUMN", PDNN_COMPLETE_NONE, add_columns},
    {"COLUMNS", PDNN_COMPLETE_NONE, add_columns},
    /* What only the user knows; of an operand, its command has the words. */
    {"0|1", PDNN_COMPLETE_NONE, NULL},
    {"ACTION", PDNN_COMPLETE_NONE, NULL},
    {"BYTES", PDNN_COMPLETE_NONE, NULL},
    {"FACTOR", PDNN_COMPLETE_NONE, NULL},
    {"FACTORS", PDNN_COMPLETE_NONE, NULL},
    {"I/N", PDNN_COMPLETE_NONE, NULL},
    {"KIND", PDNN_COMPLETE_NONE, NULL},
    {"LINK", PDNN_COMPLETE_NONE, NULL},
    {"N", PDNN_COMPLETE_NONE, NULL},
    {"NUMBERS", PDNN_COMPLETE_NONE, NULL},
    {"NAME", PDNN_COMPLETE_NONE, NULL},
    {"PERCENT", PDNN_COMPLETE_NONE, NULL},
    {"SECONDS", PDNN_COMPLETE_NONE, NULL},
    {"SIZE", PDNN_COMPLETE_NONE, NULL},
    {"TIME", PDNN_COMPLETE_NONE, NULL},
};

bool pdnn_complete_argument(struct pdnn_completion *completion, const char *name,
                            const struct pdnn_option_def *option) {
    for (const char *const *choice = option ? option->choices : NULL; choice && *choice; choice++)
        pdnn_complete_add(completion, *choice, "", "");
    if (option && option->choices)
        return true;
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        if (strcmp(arguments[i].argument, name) != 0)
            continue;
        completion->files = arguments[i].files;
        if (arguments[i].add)
            arguments[i].add(completion);
        return true;
    }
    return false;
}
