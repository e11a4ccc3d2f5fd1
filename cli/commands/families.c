#include "cli/args/help.h"
#include "cli/print/output.h"
#include "gen/family/shipped.h"
#include "gen/source.h"
#include "models/cost/cost.h"
#include "models/definition/check.h"
#include "models/family.h"
#include "models/instance.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/zoo/catalog.h"

#include <stdio.h>
#include <string.h>

static const char description[] =
    "Without MODEL, lists the model families and their presets. With MODEL, a family or the file of one of your own, lists its "
    "hyper-parameters, the run settings that apply to it, the optimizers, and its presets; of a preset, its values. Every parameter and "
    "setting is a key in a spec and in an ID. One that is marked \"with\" some value applies only then, and is left "
    "out of other IDs.\n\n"
    "A list is one to five numbers, such as 3-4-6-3; the last number stands for all that follow. A spec may also "
    "write [[3, 4, 6, 3]], whereas [3, 4] is an axis of two values.";

static const struct pdnn_option_def options[] = {
    {.name = "source", .help = "print the file of MODEL's family instead, to start one of your own from"},
    PDNN_OPTIONS_TABLE,
};

static const struct pdnn_help_row examples[] = {
    {"paradnn families fc", "the parameters of fully connected models, with their ranges and defaults"},
    {"paradnn families cnn --source > mynet.yaml", "a family of your own, to be changed"},
    {"paradnn families ./mynet.yaml", "its parameters"},
};

enum { MODEL, FAMILY, PARAMS, FLOP, PARAMETERS, FAMILY_HELP, N_FAMILY_COLUMNS };
static const struct pdnn_column_def family_columns[N_FAMILY_COLUMNS] = {
    {"model", .help = "a family or a preset: what a spec and an ID call it"},
    {"family", .help = "the family that a preset belongs to"},
    {"params", NULL, NULL, PDNN_KIND_COUNT, PDNN_SHOW_SI,
     .help = "trainable parameters; of a family, with its defaults"},
    {"flop_count", "FLOP", "FLOP", PDNN_KIND_COUNT, PDNN_SHOW_SI,
     .help = "floating point operations of inference on one example"},
    {"parameters", .align = PDNN_ALIGN_WRAP, .help = "the names of its hyper-parameters"},
    {"help", .align = PDNN_ALIGN_WRAP, .help = "what its models are"},
};
static const struct pdnn_table_def families_def = {"families", "the model families and their presets",
                                                   family_columns, N_FAMILY_COLUMNS};

/* A family, or one of its presets; with the costs of inference on one example. */
static void add_model(struct pdnn_table *table, const struct pdnn_family_def *family,
                      const struct pdnn_preset *preset) {
    const char *name = preset ? preset->name : family->name;
    struct pdnn_instance instance;
    struct pdnn_totals totals;
    struct pdnn_model_name found;
    struct pdnn_arena arena = {0};
    struct pdnn_str params = {0};
    if (preset)
        pdnn_instance_init_preset(&instance, family, preset);
    else
        pdnn_instance_init(&instance, family);
    instance.hyper[family->minibatch_param] = pdnn_value_of(1);
    instance.setting[PDNN_SETTING_MODE] = PDNN_MODE_INFER;
    pdnn_instance_resolve(&instance, 1);
    pdnn_instance_settle(&instance);
    const bool is_plain =
        !preset || (pdnn_model_find(name, false, &found, NULL) == PDNN_OK && found.preset == preset);
    const char *model = is_plain ? name : pdnn_arena_printf(&arena, "%s:%s", family->name, name);
    for (size_t i = 0; !preset && i < family->n_params; i++)
        pdnn_str_printf(&params, "%s%s", i ? " " : "", family->params[i].name);
    const size_t row = pdnn_table_add_texts(table, 2, (const char *[]){model, family->name});
    pdnn_table_set_text(table, row, PARAMETERS, pdnn_str_text(&params));
    pdnn_table_set_text(table, row, FAMILY_HELP, preset ? preset->help : family->help);
    if (pdnn_cost_instance(&instance, &arena, false, &totals, NULL) == PDNN_OK) {
        pdnn_table_set_count(table, row, PARAMS, totals.params);
        pdnn_table_set_count(table, row, FLOP, totals.cost.flop_count);
    }
    pdnn_str_finish(&params);
    pdnn_arena_finish(&arena);
}

static enum pdnn_status print_families(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_table table;
    pdnn_table_init(&table, &families_def);
    const struct pdnn_family_def *const *all = pdnn_family_all(NULL);
    for (const struct pdnn_family_def *const *family = all; *family; family++)
        add_model(&table, *family, NULL);
    for (const struct pdnn_family_def *const *family = all; *family; family++)
        for (size_t i = 0; i < (*family)->n_presets; i++)
            if (strcmp((*family)->presets[i].name, (*family)->name) != 0) /* then it is the family itself */
                add_model(&table, *family, &(*family)->presets[i]);
    return pdnn_table_print_prose(&table, arguments, err);
}

enum { KIND, NAME, VALUES, DEFAULT, UNIT, EXAMPLE, HELP, N_PARAM_COLUMNS };
static const struct pdnn_column_def param_columns[N_PARAM_COLUMNS] = {
    [KIND] = {"kind", .align = PDNN_ALIGN_GROUP, .help = "hyper-parameter, run setting, optimizer or preset"},
    [NAME] = {"name", .align = PDNN_ALIGN_WRAP, .help = "its key in a spec and in an ID"},
    [VALUES] = {"values", .align = PDNN_ALIGN_WRAP, .help = "what it may be"},
    [DEFAULT] = {"default", .align = PDNN_ALIGN_WRAP,
                 .help = "what it is where nothing is said; of a preset, its value"},
    [UNIT] = {"unit", .rank = 1, .help = "of its values"},
    [EXAMPLE] = {"example", .rank = 2, .help = "a value as a spec has it, or several"},
    [HELP] = {"help", .align = PDNN_ALIGN_WRAP, .help = "what it means"},
};
static const struct pdnn_table_def params_def = {"families MODEL", "the parameters of a family",
                                                 param_columns, N_PARAM_COLUMNS};

static void add_param(struct pdnn_table *table, const char *kind, const struct pdnn_param_def *param,
                      struct pdnn_value value, const char *help) {
    char buffer[PDNN_PARAM_TEXT];
    struct pdnn_str range = {0};
    pdnn_param_range_format(&range, param);
    const char *const texts[] = {kind,
                                 param->name,
                                 pdnn_str_text(&range),
                                 pdnn_param_format(param, value, buffer),
                                 pdnn_param_unit(param),
                                 param->example,
                                 help};
    pdnn_table_add_texts(table, N_PARAM_COLUMNS, texts);
    pdnn_str_finish(&range);
}

static void add_params(struct pdnn_table *table, const struct pdnn_instance *defaults) {
    const struct pdnn_family_def *family = defaults->family;
    for (size_t i = 0; i < family->n_params; i++) {
        struct pdnn_str help = {0};
        pdnn_hyper_help_format(&help, defaults, i);
        add_param(table, "hyper-parameter", &family->params[i], defaults->hyper[i], pdnn_str_text(&help));
        pdnn_str_finish(&help);
    }
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++) {
        if (pdnn_setting_applies(defaults, (enum pdnn_setting)i))
            add_param(table, "run setting", &pdnn_settings[i], pdnn_settings[i].fallback,
                      pdnn_settings[i].help);
    }
}

static void append_rule(struct pdnn_str *help, const struct pdnn_op_def *op, const double *coef) {
    pdnn_str_printf(help, "%s with", op->formula);
    for (const struct pdnn_attribute *row = op->attributes; row->name; row++)
        if (row->coefficient)
            pdnn_str_printf(help, "%s %s=%g", row->index ? "," : "", row->name, coef[row->index]);
}

/* A row that has only a help, which it finishes. */
static void add_named(struct pdnn_table *table, const char *kind, const char *name, struct pdnn_str *help) {
    const char *const texts[N_PARAM_COLUMNS] = {[KIND] = kind, [NAME] = name, [HELP] = pdnn_str_text(help)};
    pdnn_table_add_texts(table, N_PARAM_COLUMNS, texts);
    pdnn_str_finish(help);
}

/* The help column shows the update rule and its constants. */
static void add_optimizers(struct pdnn_table *table) {
    for (size_t i = 0; i < PDNN_OPTIMIZER_COUNT; i++) {
        const struct pdnn_optimizer_def *optimizer = &pdnn_optimizers[i];
        struct pdnn_str help = {0};
        append_rule(&help, optimizer->op, optimizer->coef);
        if (optimizer->last != optimizer->op) {
            pdnn_str_printf(&help, "; ");
            append_rule(&help, optimizer->last, optimizer->last->coef);
        }
        add_named(table, "optimizer", optimizer->name, &help);
    }
}

/* A preset's values go into the help column. */
static void add_presets(struct pdnn_table *table, const struct pdnn_family_def *family) {
    for (size_t i = 0; i < family->n_presets; i++) {
        struct pdnn_str help = {0};
        struct pdnn_instance preset;
        char id[PDNN_ID_TEXT];
        pdnn_instance_init_preset(&preset, family, &family->presets[i]);
        pdnn_str_printf(&help, "%s: %s", family->presets[i].help, pdnn_instance_format(&preset, id));
        add_named(table, "preset", family->presets[i].name, &help);
    }
}

static enum pdnn_status find_model(const char *operand, struct pdnn_model_name *model, struct pdnn_err *err) {
    struct pdnn_arena arena = {0};
    struct pdnn_yaml_count count = {0};
    struct pdnn_source source;
    enum pdnn_status status;
    if (!pdnn_source_is(operand) || pdnn_instance_is_named(operand))
        return pdnn_model_find(operand, false, model, err);
    status = pdnn_source_read(operand, &count, &source, &arena, err);
    if (status == PDNN_OK && !source.family)
        status = pdnn_fail(err, PDNN_INVALID, "%s: is a spec, expected a model or a family's file", operand);
    if (status == PDNN_OK && strlen(source.name) < strlen(operand))
        status = pdnn_fail(err, PDNN_INVALID, "%s: expected a family's file alone", operand);
    if (status == PDNN_OK)
        status = pdnn_family_check_claims(source.family, err);
    if (status == PDNN_OK)
        *model = (struct pdnn_model_name){.family = source.family};
    pdnn_arena_finish(&arena);
    return status;
}

static enum pdnn_status print_source(const struct pdnn_family_def *family, struct pdnn_err *err) {
    const char *text = family->file ? NULL : pdnn_family_source(family->name);
    if (!text)
        return pdnn_fail(err, PDNN_INVALID,
                         "--source prints the files of families that ship, and %s is not one of them",
                         family->name);
    fputs(text, stdout);
    return PDNN_OK;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    const bool wants_source = pdnn_argument(arguments, "source");
    struct pdnn_model_name model;
    if (!arguments->n_operands && wants_source)
        return pdnn_fail(err, PDNN_INVALID, "--source takes a MODEL, such as %s", pdnn_family_name(0));
    if (!arguments->n_operands)
        return print_families(arguments, err);
    if (find_model(arguments->operands[0], &model, err) != PDNN_OK)
        return err->status;
    if (wants_source)
        return print_source(model.family, err);
    const struct pdnn_family_def *family = model.family;
    struct pdnn_instance defaults;
    struct pdnn_table table;
    pdnn_table_init(&table, &params_def);
    if (model.preset)
        pdnn_instance_init_preset(&defaults, family, model.preset);
    else
        pdnn_instance_init(&defaults, family);
    add_params(&table, &defaults);
    add_optimizers(&table);
    if (!model.preset)
        add_presets(&table, family);
    return pdnn_table_print_prose(&table, arguments, err);
}

PDNN_COMMAND(families, PDNN_COMMANDS_EXPLAIN, "[MODEL]",
             "Lists the model families, or one family's parameters.", .run = run);
