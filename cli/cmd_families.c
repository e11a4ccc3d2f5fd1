#include "cli/help.h"
#include "cli/output.h"
#include "cli/registry.h"
#include "models/family.h"
#include "models/instance.h"
#include "models/op.h"
#include "models/optimizer.h"

#include <inttypes.h>

static const char *const paragraphs[] = {
    "Without NAME, lists the model families. With NAME, a family or a preset, lists the family's hyper-parameters, "
    "the run settings that apply to it, the optimizers, and its presets. "
    "Every parameter and setting is a key in a spec and in an ID.",
    "A list is one to five numbers, such as 3-4-6-3; the last number stands for all that follow. "
    "A spec may also write [[3, 4, 6, 3]], whereas [3, 4] is an axis of two values. "
    "A parameter marked \"with\" some value applies only then, and is left out of other IDs.",
    NULL,
};

static const struct pdnn_option_def options[] = {PDNN_OPTION_FORMAT};

static const struct pdnn_example examples[] = {
    {"paradnn families fc", "the parameters of fully connected models, with their ranges and defaults"},
};

static const struct pdnn_sheet_column family_columns[] = {
    {"family", PDNN_ALIGN_LEFT},
    {"parameters", PDNN_ALIGN_WRAP},
    {"help", PDNN_ALIGN_WRAP},
};

static enum pdnn_status print_families(bool csv, struct pdnn_err *err) {
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, family_columns, sizeof family_columns / sizeof family_columns[0]);
    for (const struct pdnn_family_def *const *family = pdnn_families; *family; family++) {
        struct pdnn_str names = {0};
        for (size_t i = 0; i < (*family)->n_params; i++)
            pdnn_str_printf(&names, "%s%s", i ? " " : "", (*family)->params[i].name);
        pdnn_sheet_cell(&table, "%s", (*family)->name);
        pdnn_sheet_cell(&table, "%s", pdnn_str_text(&names));
        pdnn_sheet_cell(&table, "%s", (*family)->help);
        pdnn_str_finish(&names);
    }
    enum pdnn_status status = pdnn_sheet_print(&table, csv, err);
    pdnn_sheet_finish(&table);
    return status;
}

static const struct pdnn_sheet_column param_columns[] = {
    {"kind", PDNN_ALIGN_GROUP},
    {"name", PDNN_ALIGN_WRAP},
    {"values", PDNN_ALIGN_WRAP},
    {"default", PDNN_ALIGN_WRAP},
    {"unit", PDNN_ALIGN_LEFT | PDNN_SPARE(1)},
    {"help", PDNN_ALIGN_WRAP},
};

static void add_param(struct pdnn_sheet *table, const char *kind, const struct pdnn_param_def *param,
                      const char *help) {
    char buffer[PDNN_PARAM_TEXT];
    struct pdnn_str range = {0};
    pdnn_param_range_format(&range, param);
    pdnn_sheet_cell(table, "%s", kind);
    pdnn_sheet_cell(table, "%s", param->name);
    pdnn_sheet_cell(table, "%s", pdnn_str_text(&range));
    pdnn_sheet_cell(table, "%s", pdnn_param_format(param, pdnn_value_of(param->fallback), buffer));
    pdnn_sheet_cell(table, "%s", pdnn_param_unit(param));
    pdnn_sheet_cell(table, "%s", help);
    pdnn_str_finish(&range);
}

static void add_params(struct pdnn_sheet *table, const struct pdnn_instance *defaults) {
    const struct pdnn_family_def *family = defaults->family;
    for (size_t i = 0; i < family->n_params; i++) {
        struct pdnn_str help = {0};
        pdnn_hyper_help_format(&help, defaults, i);
        add_param(table, "hyper-parameter", &family->params[i], pdnn_str_text(&help));
        pdnn_str_finish(&help);
    }
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++) {
        if (pdnn_setting_applies(defaults, (enum pdnn_setting)i))
            add_param(table, "run setting", &pdnn_settings[i], pdnn_settings[i].help);
    }
}

static void append_rule(struct pdnn_str *help, const struct pdnn_op_def *op, const double *coef) {
    const char *const *names = op->coef_names;
    pdnn_str_printf(help, "%s with", op->formula);
    for (size_t c = 0; names[c]; c++)
        pdnn_str_printf(help, "%s %s=%g", c ? "," : "", names[c], coef[c]);
}

/* The help column shows the update rule and its constants. */
static void add_optimizers(struct pdnn_sheet *table) {
    for (size_t i = 0; i < PDNN_OPTIMIZER_COUNT; i++) {
        const struct pdnn_optimizer_def *optimizer = &pdnn_optimizers[i];
        struct pdnn_str help = {0};
        append_rule(&help, optimizer->op, optimizer->coef);
        if (optimizer->last != optimizer->op) {
            pdnn_str_printf(&help, "; ");
            append_rule(&help, optimizer->last, optimizer->last->coef);
        }
        pdnn_sheet_cell(table, "optimizer");
        pdnn_sheet_cell(table, "%s", optimizer->name);
        for (int empty = 0; empty < 3; empty++)
            pdnn_sheet_cell(table, "%s", "");
        pdnn_sheet_cell(table, "%s", pdnn_str_text(&help));
        pdnn_str_finish(&help);
    }
}

/* A preset's values go into the help column. */
static void add_presets(struct pdnn_sheet *table, const struct pdnn_family_def *family) {
    for (size_t i = 0; i < family->n_presets; i++) {
        struct pdnn_str help = {0};
        struct pdnn_instance preset;
        pdnn_instance_init_preset(&preset, family, &family->presets[i]);
        pdnn_str_printf(&help, "%s:", family->presets[i].help);
        const char *comma = "";
        for (size_t p = 0; p < family->n_params; p++) {
            char buffer[PDNN_PARAM_TEXT];
            if (!pdnn_hyper_applies(&preset, p))
                continue;
            pdnn_str_printf(&help, "%s %s=%s", comma, family->params[p].name,
                            pdnn_param_format(&family->params[p], preset.hyper[p], buffer));
            comma = ",";
        }
        pdnn_sheet_cell(table, "preset");
        pdnn_sheet_cell(table, "%s", family->presets[i].name);
        for (int empty = 0; empty < 3; empty++)
            pdnn_sheet_cell(table, "%s", "");
        pdnn_sheet_cell(table, "%s", pdnn_str_text(&help));
        pdnn_str_finish(&help);
    }
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, bool *some_failed, struct pdnn_err *err) {
    (void)some_failed;
    bool csv = pdnn_wants_csv(arguments);
    if (!arguments->n_operands)
        return print_families(csv, err);
    struct pdnn_model_name model;
    if (pdnn_model_find(arguments->operands[0], false, &model, err) != PDNN_OK)
        return err->status;
    const struct pdnn_family_def *family = model.family;
    struct pdnn_instance defaults;
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, param_columns, sizeof param_columns / sizeof param_columns[0]);
    pdnn_instance_init(&defaults, family);
    add_params(&table, &defaults);
    add_optimizers(&table);
    add_presets(&table, family);
    enum pdnn_status status = pdnn_sheet_print(&table, csv, err);
    pdnn_sheet_finish(&table);
    return status;
}

static bool word(size_t index, const char **name, const char **help) {
    const struct pdnn_family_def *family = pdnn_families[index];
    *name = family ? family->name : NULL;
    *help = family ? family->help : NULL;
    return family != NULL;
}

const struct pdnn_command_def pdnn_command_families = {
    .name = "families",
    .summary = "Lists the model families, or one family's parameters.",
    .operands = "[NAME]",
    .word = word,
    .max_operands = 1,
    .paragraphs = paragraphs,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .examples = examples,
    .n_examples = sizeof examples / sizeof examples[0],
    .run = run,
};
