#include "cli/args/help.h"

#include "cli/args/registry.h"
#include "cli/args/options.h"
#include "gen/language.h"
#include "gen/source.h"
#include "models/zoo/catalog.h"
#include "models/family.h"
#include "models/instance.h"
#include "models/op.h"
#include "results/query/shares.h"
#include "results/epochs/lengths.h"
#include "results/import/import.h"
#include "results/store/results.h"
#include "runtime/data/dataset.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Candidates for one word, of which the user has typed a part. */
struct completion {
    const char *word;
    size_t kept; /* letters of the word before the part that is being completed: "--set=", "fc/nodes=8," */
    const char *files;     /* that the shell offers besides: none, files, directories, specs (YAML files) */
    const char *assign;    /* what follows the name of a parameter: "=", or "" where names are all */
    struct pdnn_str lines; /* "\nCANDIDATE\tHELP", each a whole word, once; its last letter is one of ,./:= if
                              more must follow */
};

/* Adds the candidate after what is kept, if the word begins like it. */
__attribute__((format(printf, 3, 4))) static void add(struct completion *completion, const char *help,
                                                      const char *format, ...) {
    struct pdnn_str line = {0};
    va_list arguments;
    pdnn_str_printf(&line, "\n%.*s", (int)completion->kept, completion->word);
    va_start(arguments, format);
    pdnn_str_vprintf(&line, format, arguments);
    va_end(arguments);
    bool fits = strncmp(line.text + 1, completion->word, strlen(completion->word)) == 0;
    pdnn_str_append(&line, "\t", 1);
    if (fits && !strstr(pdnn_str_text(&completion->lines), line.text))
        pdnn_str_printf(&completion->lines, "%s%s", line.text, help);
    pdnn_str_finish(&line);
}

/* The part of the word that is being completed. */
static const char *part_of(const struct completion *completion) {
    return completion->word + completion->kept;
}

/* Goes on after the last of these letters in the part, if it has one. */
static void keep_to(struct completion *completion, const char *letters) {
    for (const char *at; (at = strpbrk(part_of(completion), letters));)
        completion->kept = (size_t)(at - completion->word) + 1;
}

/* "mode=", or after "mode=" its words. */
static void add_param(struct completion *completion, const struct pdnn_param_def *param) {
    if (!strchr(part_of(completion), '=')) {
        add(completion, param->help, "%s%s", param->name, completion->assign);
        return;
    }
    for (const char *const *choice = param->choices; choice && *choice; choice++)
        add(completion, param->help, "%s=%s", param->name, *choice);
    if (param->word)
        add(completion, param->help, "%s=%s", param->name, param->word);
}

static void add_settings(struct completion *completion) {
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        add_param(completion, &pdnn_settings[i]);
}

static void add_hypers(struct completion *completion) {
    for (const struct pdnn_family_def *const *family = pdnn_family_all(NULL); *family; family++)
        for (size_t i = 0; i < (*family)->n_params; i++)
            add_param(completion, &(*family)->params[i]);
}

static void add_params(struct completion *completion) {
    add_hypers(completion);
    add_settings(completion);
}

/* What a row of results can be chosen by. */
static void add_selectors(struct completion *completion) {
    const bool is_named = strchr(part_of(completion), '=');
    if (!is_named) {
        add(completion, "the model family", "family=");
        add(completion, "one instance", "id=");
    }
    for (const struct pdnn_family_def *const *family = pdnn_family_all(NULL); is_named && *family; family++)
        add(completion, (*family)->help, "family=%s", (*family)->name);
    add_params(completion);
}

/* Keys that things differ in. */
static void add_key_names(struct completion *completion) {
    completion->assign = "";
    add_params(completion);
}

static void add_dtypes(struct completion *completion) {
    for (const char *const *dtype = pdnn_settings[PDNN_SETTING_DTYPE].choices; *dtype; dtype++)
        add(completion, "", "%s=", *dtype);
}

static void add_lengths(struct completion *completion) {
    for (size_t i = 0; i < pdnn_n_shipped_lengths; i++)
        add(completion, pdnn_shipped_lengths[i].help, "%s", pdnn_shipped_lengths[i].name);
}

static void add_columns(struct completion *completion) {
    struct pdnn_arena arena = {0};
    const struct pdnn_table_def def = pdnn_results_def(NULL, 0, &arena);
    for (size_t i = 0; i < def.count; i++)
        add(completion, def.column[i].help, "%s", def.column[i].name);
    pdnn_arena_finish(&arena);
}

/* "rounds=", or the words after "order=". */
static void add_spec_keys(struct completion *completion, const struct pdnn_key_table *table) {
    for (size_t i = 0; i < table->n_keys; i++) {
        const struct pdnn_key_def *key = &table->keys[i];
        add_param(completion, &(struct pdnn_param_def){.name = key->name,
                                                       .choices = key->words,
                                                       .help = key->help ? key->help : ""});
    }
}

/* A key of a spec by its path: "run.mode=", "measure.rounds=". */
static void add_spec_paths(struct completion *completion) {
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
            add(completion, "a section of the spec", "%s", section);
            continue;
        }
        completion->kept += strlen(section);
        if (sections[i].keys)
            add_spec_keys(completion, sections[i].keys);
        else
            add_settings(completion);
        return;
    }
    add(completion, "of visit order, samples and data", "seed=");
}

/* True if the id up to here has a value for the parameter. */
static bool has_value(const char *id, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = strpbrk(id, "/,"); at; at = strchr(at + 1, ','))
        if (strncmp(at + 1, name, length) == 0 && at[1 + length] == '=')
            return true;
    return false;
}

/* "cnn:resnet50", "./mynet.yaml,batch=8". */
static bool parse_model(const char *text, struct pdnn_instance *instance) {
    struct pdnn_yaml_count count = {0};
    struct pdnn_arena arena = {0};
    struct pdnn_source source = {0};
    bool is_known = pdnn_instance_parse(text, instance, NULL) == PDNN_OK;
    if (!is_known && pdnn_source_is(text) &&
        pdnn_source_read(text, &count, &source, &arena, NULL) == PDNN_OK && source.family)
        is_known = pdnn_instance_parse(
                       pdnn_arena_printf(&arena, "%s%s", source.family->name, text + strlen(source.name)),
                       instance, NULL) == PDNN_OK;
    pdnn_arena_finish(&arena);
    return is_known;
}

/* Keys that apply after "fc/", "cnn:resnet50," or "./mynet.yaml,". */
static void add_id_keys(struct completion *completion) {
    char before[PDNN_ID_TEXT];
    struct pdnn_instance instance;
    const char *id = part_of(completion);
    keep_to(completion, ",/");
    snprintf(before, sizeof before, "%.*s", (int)(part_of(completion) - id) - 1, id);
    if (!parse_model(before, &instance))
        return;
    const struct pdnn_family_def *family = instance.family;
    completion->files = "none";
    for (size_t i = 0; i < family->n_params; i++)
        if (pdnn_hyper_applies(&instance, i) && !has_value(before, family->params[i].name))
            add_param(completion, &family->params[i]);
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        if (pdnn_setting_applies(&instance, (enum pdnn_setting)i) &&
            !has_value(before, pdnn_settings[i].name))
            add_param(completion, &pdnn_settings[i]);
}

static void add_presets(struct completion *completion, const struct pdnn_family_def *family) {
    for (size_t i = 0; i < family->n_presets; i++)
        add(completion, family->presets[i].help, "%s", family->presets[i].name);
}

/* Families and presets, after "cnn:" its presets, and after a model its keys. */
static void add_ids(struct completion *completion) {
    char name[PDNN_ID_TEXT];
    struct pdnn_model_name model;
    const char *part = part_of(completion);
    const int length = (int)strcspn(part, "/:,");
    for (const struct pdnn_family_def *const *family = pdnn_family_all(NULL); !part[length] && *family;
         family++) {
        add(completion, (*family)->help, "%s/", (*family)->name);
        if ((*family)->n_presets)
            add(completion, "a preset", "%s:", (*family)->name);
        if (*part)
            add_presets(completion, *family);
    }
    snprintf(name, sizeof name, "%.*s", length, part);
    if (!part[length])
        return;
    const bool is_model = pdnn_model_find(name, false, &model, NULL) == PDNN_OK;
    if (strchr(part, ',') || (is_model && part[length] == '/')) {
        add_id_keys(completion);
        return;
    }
    if (!is_model || part[length] != ':')
        return;
    completion->files = "none";
    keep_to(completion, ":");
    add_presets(completion, model.family);
}

/* What a column of an imported file may say; how it is called there is not known. */
static void add_mapped(struct completion *completion) {
    if (strchr(part_of(completion), '='))
        return;
    for (size_t i = 0; pdnn_import_roles[i]; i++)
        add(completion, "", "%s=", pdnn_import_roles[i]);
    add_params(completion);
}

static void add_ops(struct completion *completion) {
    for (const struct pdnn_op_def *const *op = pdnn_ops; *op; op++)
        add(completion, (*op)->formula, "%s", (*op)->name);
    add_ids(completion);
}

/* Names of models, without their parameters. */
static void add_models(struct completion *completion) {
    for (const struct pdnn_family_def *const *family = pdnn_family_all(NULL); *family; family++) {
        add(completion, (*family)->help, "%s", (*family)->name);
        add_presets(completion, *family);
    }
}

/* Everything that has an entry in the dictionary. */
static void add_entries(struct completion *completion) {
    add_columns(completion);
    for (size_t i = 0; i < PDNN_TABLE_DEFS; i++) {
        const struct pdnn_table_def *def = pdnn_table_defs[i];
        add(completion, def->help, "%s", def->name);
        for (size_t c = 0; c < def->count; c++) {
            add(completion, def->column[c].help, "%s", def->column[c].name);
            for (const struct pdnn_word *word = def->column[c].words; word && word->name; word++)
                add(completion, word->meaning, "%s", word->name);
        }
    }
}

static void add_commands(struct completion *completion) {
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++)
        add(completion, (*command)->summary, "%s", (*command)->name);
}

/* What an operand or an option's argument may be, by its names in the tables; any other is known to the user
 * alone. */
static const struct {
    const char *names; /* joined by commas */
    const char *files;
    const char *letters; /* what separates parts, each completed for itself */
    void (*add)(struct completion *completion);
    const char *const *words; /* besides */
} arguments[] = {
    {"A,B,DIR,OUT,RESULTS", "directories", "", NULL, NULL},
    {"CONTENT", "directories", "", NULL, pdnn_dataset_kind_names},
    {"COMMAND,FILE", "files", "", NULL, NULL},
    {"LENGTHS", "files", "", add_lengths, NULL},
    {"SPEC,ID", "specs", "", add_ids, NULL},
    {"OP", "specs", "", add_ops, NULL},
    {"MODEL", "none", "", add_models, NULL},
    {"CONDITIONS", "none", ",/", add_selectors, NULL},
    {"KEY=VALUE", "none", "", add_spec_paths, NULL},
    {"PARAMETER=VALUE", "none", "", add_params, NULL},
    {"KEY=LIST", "none", "", add_hypers, NULL},
    {"KEY=COLUMN", "none", "", add_mapped, NULL},
    {"KEY,KEYS", "none", ",", add_key_names, NULL},
    {"PARTS", "none", ",", NULL, pdnn_by_names},
    {"PARTS|KEYS", "none", ",", add_key_names, pdnn_by_names},
    {"TOPIC", "none", "", add_commands, (const char *const[]){"spec", NULL}},
    {"TABLE", "none", "", add_entries, (const char *const[]){"tables", "words", "brief", NULL}},
    {"COLUMN,COLUMNS", "none", ",", add_columns, NULL},
    {"CHOICE", "none", ",", add_columns, (const char *const[]){"brief", "all", NULL}},
    {"NAME=DIR", "directories", "=", NULL, NULL},
    {"N|all", "none", "", NULL, (const char *const[]){"all", NULL}},
    {"DTYPE=FACTOR", "none", ",", add_dtypes, NULL},
    {"LEVEL=FACTOR", "none", ",", NULL, (const char *const[]){"L1=", "L2=", "L3=", "DRAM=", NULL}},
    {"I/N", "none", "", NULL, (const char *const[]){"auto/", NULL}},
};

/* Adds what an operand or an option's argument may be. `name` is its name in the tables ("DIR"); choices: or
 * NULL. */
static void complete_argument(struct completion *completion, const char *name, const char *const *choices) {
    for (size_t i = 0; !choices && i < sizeof arguments / sizeof *arguments; i++) {
        if (!pdnn_parts_have(arguments[i].names, ",", name, strlen(name)))
            continue;
        completion->files = arguments[i].files;
        keep_to(completion, arguments[i].letters);
        if (arguments[i].add)
            arguments[i].add(completion);
        choices = arguments[i].words;
        break;
    }
    for (; choices && *choices; choices++)
        add(completion, "", "%s", *choices);
}

/* Those that may still be given after these words. */
static void add_options(struct completion *completion, const struct pdnn_arguments *before) {
    for (size_t i = 0; i < before->command->n_options; i++) {
        const struct pdnn_option_def *option = &before->command->options[i];
        if (option->repeats || !pdnn_argument(before, option->name))
            add(completion, option->help, "--%s", option->name);
    }
    add(completion, "show help and exit", "--help");
}

/* The operand behind these, by the names in the synopsis: "KIND RESULTS...", "A [B]", "SPEC|ID...", whose
 * first name stands for both; where a kind takes specs, these, and directories are among their files. */
static void add_operand(struct completion *completion, const struct pdnn_command_def *command,
                        const struct pdnn_arguments *before) {
    const char *name, *help, *at = command->operands;
    size_t number = before->n_operands;
    const bool is_spec = number && command->takes_specs && command->takes_specs(before->operands[0]);
    struct pdnn_str first = {0};
    for (size_t i = 0; !number && command->kind && command->kind(i, &name, &help); i++)
        add(completion, help, "%s", name);
    for (; number && at[strcspn(at, " ")]; number--)
        at += strcspn(at, " ") + 1;
    at += strspn(at, "[");
    pdnn_str_append(&first, at, strcspn(at, "|.] "));
    if (!number || strstr(at, "..."))
        complete_argument(completion, is_spec ? "SPEC" : pdnn_str_text(&first), NULL);
    pdnn_str_finish(&first);
}

/* The last word, by those before it. */
static void complete_word(struct completion *completion, const struct pdnn_command_def *command, int count,
                          char **words) {
    struct pdnn_arguments before;
    const char *word = completion->word;
    pdnn_arguments_scan(command, count - 1, words, &before, NULL);
    const struct pdnn_option_def *option = before.open;
    const bool is_dash = !option && !before.options_ended && word[0] == '-', is_option = is_dash && word[1];
    if (is_option) {
        /* What stands before an argument in the option's own word: --set=KEY=VALUE, -oDIR. */
        const char *last = word[1] == '-' ? strchr(word, '=') : word[2] ? word + 1 : NULL;
        option = last ? pdnn_option_find(command, word) : NULL;
        option = option && option->argument ? option : NULL;
        completion->kept = option ? (size_t)(last + 1 - word) : 0;
    }
    if (option)
        complete_argument(completion, option->argument, option->choices);
    else if (!is_option && !before.rest)
        add_operand(completion, command, &before);
    if (is_dash && !option)
        add_options(completion, &before);
    pdnn_arguments_finish(&before);
}

void pdnn_complete(struct pdnn_str *out, int count, char **words) {
    struct completion completion = {.word = count ? words[count - 1] : "", .files = "none", .assign = "="};
    const struct pdnn_command_def *command = count > 1 ? pdnn_command_find(words[0]) : NULL;
    if (count < 2 || (count == 2 && strcmp(words[0], "--man") == 0))
        add_commands(&completion);
    else if (command)
        complete_word(&completion, command, count - 1, words + 1);
    if (count < 2 && completion.word[0] == '-') {
        add(&completion, "show help and exit", "--help");
        add(&completion, "show versions and exit", "--version");
        add(&completion, "print a manual page and exit", "--man");
    }
    pdnn_str_printf(out, "%s%s\n", completion.files, pdnn_str_text(&completion.lines));
    pdnn_str_finish(&completion.lines);
}
