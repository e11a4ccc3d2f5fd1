#include "cli/args/spec_page.h"

#include "cli/args/help.h"
#include "gen/axis.h"
#include "gen/where/expression.h"
#include "gen/language.h"
#include "gen/spec.h"
#include "gen/where/where_text.h"
#include "models/instance.h"
#include "base/fill.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Markdown that reads well in a terminal too, put down block by block. */
struct page {
    struct pdnn_str *out;
    size_t width;
    bool in_list;
};

/* A text, and then what is made from tables. */
struct part {
    const char *text; /* Markdown, of which paragraphs and items are filled; NULL: none */
    void (*put)(struct page *page, const struct part *part);
    const char *section; /* of the keys, "" at the top of a spec; NULL: examples are entries of `models` */
    const struct pdnn_key_table *keys;
};

/* An item of a list, a paragraph, or what stays as it is: a heading or code. An empty line precedes every
 * block but the first, and items that follow others. */
static void put_block(struct page *page, const char *text, size_t length) {
    const bool is_item = strncmp(text, "- ", 2) == 0;
    struct pdnn_str block = {0};
    pdnn_str_printf(page->out, "%s", page->out->length && !(is_item && page->in_list) ? "\n" : "");
    page->in_list = is_item;
    pdnn_str_append(&block, text, length);
    if (*text == '#' || strncmp(text, "```", 3) == 0)
        pdnn_str_printf(page->out, "%s\n", pdnn_str_text(&block));
    else
        pdnn_fill_text(page->out, pdnn_str_text(&block), is_item ? 2 : 0, page->width);
    pdnn_str_finish(&block);
}

/* Finishes the text of a block. */
static void put_text(struct page *page, struct pdnn_str *text) {
    put_block(page, pdnn_str_text(text), text->length);
    pdnn_str_finish(text);
}

static void put_keys(struct page *page, const struct part *part) {
    for (size_t i = 0; i < part->keys->n_keys; i++) {
        const struct pdnn_key_def *key = &part->keys->keys[i];
        const char *section = part->section;
        struct pdnn_str text = {0};
        if (!key->help)
            continue;
        pdnn_str_printf(&text, "- `%s` (", key->name);
        pdnn_key_values_format(&text, key);
        if (key->absent)
            pdnn_str_printf(&text, "; without it %s", key->absent);
        else if (key->fallback && *key->fallback)
            pdnn_str_printf(&text, "; default %s", key->fallback);
        pdnn_str_printf(&text, "): %s. Example: `", key->help);
        if (section && *section)
            pdnn_str_printf(&text, "%s: {%s: %s}`", section, key->name, key->example);
        else
            pdnn_str_printf(&text, "%s%s%s`", section ? key->name : "", section ? ": " : "", key->example);
        put_text(page, &text);
    }
}

/* A run setting or hyper-parameter. before: what the example's map needs besides, "block: plain, ". */
static void put_param(struct page *page, const struct pdnn_param_def *param, const char *help,
                      const char *map, const char *before) {
    struct pdnn_str text = {0};
    char fallback[PDNN_PARAM_TEXT];
    pdnn_str_printf(&text, "- `%s` (", param->name);
    pdnn_param_range_format(&text, param);
    pdnn_str_printf(&text, "%s%s; default %s): %s. Example: `%s: {%s%s: %s}`", param->unit ? " " : "",
                    pdnn_param_unit(param),
                    pdnn_param_format(param, pdnn_value_of(param->fallback), fallback), help, map, before,
                    param->name, param->example);
    put_text(page, &text);
}

enum { BEFORE_TEXT = PDNN_CONDITION_TEXT + 8 };

/* "block: plain, " for a parameter that needs block=plain or some other word and does not apply by default.
 */
static void find_before(const struct pdnn_instance *defaults, size_t param, char before[BEFORE_TEXT]) {
    char condition[PDNN_CONDITION_TEXT];
    before[0] = 0;
    if (pdnn_hyper_applies(defaults, param))
        return;
    pdnn_hyper_condition(defaults, param, condition);
    for (const char *at = condition; at && *at;) {
        const char *equals = strchr(at, '='), *next = strstr(at, " and ");
        size_t used = strlen(before);
        if (equals)
            snprintf(before + used, BEFORE_TEXT - used, "%.*s: %.*s, ", (int)(equals - at), at,
                     (int)strcspn(equals + 1, " "), equals + 1);
        at = next ? next + strlen(" and ") : NULL;
    }
}

/* Of all settings only the state of the caches belongs to the section `measure`. */
static void put_settings(struct page *page, const struct part *part) {
    for (int i = 0; i < PDNN_SETTING_COUNT; i++)
        if ((i == PDNN_SETTING_CACHE) == (strcmp(part->section, "measure") == 0))
            put_param(page, &pdnn_settings[i], pdnn_settings[i].help, part->section, "");
}

static void put_costs(struct page *page, const struct part *part) {
    (void)part;
    for (size_t i = 0; i < pdnn_where_n_costs; i++) {
        struct pdnn_str text = {0};
        pdnn_str_printf(&text, "- `%s`: %s", pdnn_where_costs[i].name, pdnn_where_costs[i].help);
        put_text(page, &text);
    }
}

static void put_functions(struct page *page, const struct part *part) {
    struct pdnn_str text = {0};
    (void)part;
    pdnn_str_printf(&text, "- Functions: `");
    for (size_t i = 0; i < PDNN_EXPRESSION_FUNCTIONS; i++)
        pdnn_str_printf(&text, "%s%s", i ? " " : "", pdnn_expression_functions[i]);
    pdnn_str_printf(&text, "`.");
    put_text(page, &text);
}

static void put_family(struct page *page, const struct pdnn_family_def *family) {
    struct pdnn_instance defaults;
    pdnn_instance_init(&defaults, family);
    struct pdnn_str presets = {0}, heading = {0};
    pdnn_str_printf(&heading, "### %s", family->name);
    put_text(page, &heading);
    put_block(page, family->help, strlen(family->help));
    for (size_t i = 0; i < family->n_params; i++) {
        struct pdnn_str help = {0};
        char before[BEFORE_TEXT];
        pdnn_hyper_help_format(&help, &defaults, i);
        find_before(&defaults, i, before);
        put_param(page, &family->params[i], pdnn_str_text(&help), family->name, before);
        pdnn_str_finish(&help);
    }
    pdnn_str_printf(&presets, "Presets (`paradnn families %s`):", family->name);
    for (size_t i = 0; i < family->n_presets; i++)
        pdnn_str_printf(&presets, "%s `%s`", i ? "," : "", family->presets[i].name);
    put_text(page, &presets);
}

static void put_families(struct page *page, const struct part *part) {
    (void)part;
    for (const struct pdnn_family_def *const *family = pdnn_families; *family; family++)
        put_family(page, *family);
}

/* A spec may be wrong but not expensive. */
static void put_bounds(struct page *page, const struct part *part) {
    struct pdnn_str text = {0};
    (void)part;
    pdnn_str_printf(
        &text,
        "A command takes at most %d values, aliases counted as often as used, %d MiB of text and %d models; "
        "a list has at most %d values, a document at most %d anchors.",
        PDNN_YAML_NODES, PDNN_YAML_TEXTS_BYTES >> 20, PDNN_SPEC_MODELS, PDNN_AXIS_VALUES, PDNN_YAML_ANCHORS);
    put_text(page, &text);
}

static const struct part parts[] = {
    {"# Specs\n\n"
     "A spec is a YAML file that says which models to run and how. `paradnn list FILE` shows what it amounts to and "
     "what that costs, `paradnn sweep FILE` runs it. Errors name file, line and column and the nearest valid word. "
     "This page is what `paradnn help spec` prints; it is made from the tables that the program reads specs with.\n\n"
     "```yaml\n"
     "sweep: widths\n"
     "run: {mode: [infer, train], threads: 1}\n"
     "measure: {rounds: 5, max_time: 1s}\n"
     "limits: {memory: 75%, budget: 2h}\n"
     "models:\n"
     "  - fc:\n"
     "      layers: [4, 16]\n"
     "      nodes: {from: 128, to: 4096, times: 2}\n"
     "      batch: [1, 64, 1024]\n"
     "    where: memory <= 2GiB and flop_count < 1e12\n"
     "    sample: {count: 50, method: sobol}\n"
     "  - resnet50: {batch: [1, 8]}\n"
     "```\n\n"
     "The smallest one:\n\n"
     "```yaml\n"
     "models: [resnet50: {}]\n"
     "```\n\n"
     "## The top of a spec",
     put_keys, "", &pdnn_spec_keys},
    {"## Values and axes\n\n"
     "A value is a scalar, a list, or a range from one number to another. More than one value makes an axis. Axes "
     "multiply, except those that `zip` or `rows` advance together. Run settings vary slowest, the axis written last varies "
     "fastest. Values that come out the same are one instance. A number may be written `1e3`, `4k` (4000) or `4Ki` (4096).\n\n"
     "For a hyper-parameter that takes lists, one value is `3`, `3-4-6-3` or `[3, 4, 6, 3]`: `blocks: [[3, 4, 6, 3], "
     "2]` has two values, and so does `blocks: [3, 4]`. The last number of a list stands for all that follow.\n\n"
     "A range is a map with these keys, one of `plus` and `times` among them:",
     put_keys, NULL, &pdnn_range_keys},
    {"## Run settings\n\n"
     "`run` belongs to the models of its own file, or of its own document if a file has several. A list makes a "
     "setting an axis of every model. A setting that changes nothing (the optimizer of an inference) does not multiply.",
     put_settings, "run", NULL},
    {"## Measuring\n\n"
     "A time is a number with its unit: ns, us, ms, s, m or h.",
     put_keys, "measure", &pdnn_measure_keys},
    {NULL, put_settings, "measure", NULL},
    {"## Limits\n\n"
     "Bytes are a number with their unit: 1 GB is 1e9 bytes, 1 GiB is 2^30. What does not fit becomes a row with a "
     "status (`paradnn columns status`).",
     put_keys, "limits", &pdnn_limits_keys},
    {"## The epoch of paradnn seqpoint", put_keys, "seqpoint", &pdnn_epoch_keys},
    {"## Models\n\n"
     "An entry of `models` names a family and gives some of its hyper-parameters values; those left out have their "
     "defaults. It may name a preset instead. A preset that several families have is a key of the family's map: `fc: "
     "{preset: paper-min}`.\n\n"
     "```yaml\n"
     "models:\n"
     "  - fc: {layers: 8, nodes: 4096}\n"
     "  - bert-base: {length: [128, 512]}\n"
     "  - cnn: {preset: resnet50, batch: [1, 8]} # the same as resnet50: {...}\n"
     "  - rnn:\n"
     "```\n\n"
     "A hyper-parameter may apply only with a certain word of another (`kernel` with `block: plain`). Elsewhere it does "
     "not multiply; giving it where it can never apply is an error. Values that contradict each other (an image smaller "
     "than a network's windows) make the instance `invalid` if the entry has others, and are an error otherwise.\n\n"
     "What several entries share is written once, as an anchor that YAML's merge key takes up: `- fc: &wide {nodes: "
     "4096, batch: 64}`, then `- fc: {<<: *wide, layers: 8}`.\n\n"
     "Beside the family an entry may have:",
     put_keys, NULL, &pdnn_entry_keys},
    {"`rows` is a map:", put_keys, NULL, &pdnn_rows_keys},
    {"`sample` is a map:", put_keys, NULL, &pdnn_sample_keys},
    {"What `where` excludes does not count. A longer sample with the same seed starts with the shorter one.\n\n"
     "## Where\n\n"
     "An instance is kept if the expression is true of it. Names are the family's hyper-parameters, the run settings, "
     "`preset`, and the costs below. Compared with something that does not apply, `!=` is true and everything else false.",
     put_costs, NULL, NULL},
    {"```yaml\n"
     "models:\n"
     "  - cnn: {block: [residual, plain], blocks: [2, 3-4-6-3], filters: [16, 64]}\n"
     "    where: (block == plain or blocks != 3-4-6-3) and flop_count / byte_count > 10\n"
     "  - transformer: {length: [128, 512, 2048], batch: [1, 8]}\n"
     "    where: length * batch <= 4096 and min(params, 1e12) >= 100MB\n"
     "```\n\n"
     "- Operators: `and or not`, `== != < <= > >=`, `+ - * / ^`, `c ? a : b`. A remainder is `mod(a, b)`.\n\n"
     "- Numbers: `1e9`, `100MB`, `8GiB`. Words: `activation == relu`, `preset == vgg11`. Lists, without spaces: `blocks != 3-4-6-3`.\n\n"
     "- A word that stands for a number equals that number, and values that build the same network are equal: `padding "
     "== same` is true of 1 if the kernel is 3. A list of one number is a number; using a longer one as a number is "
     "an error.\n\n"
     "- If it uses costs, it is false for instances whose counts do not fit in 64 bits.",
     put_functions, NULL, NULL},
    {"## Hyper-parameters of each family", put_families, NULL, NULL},
    {"## Several specs, IDs and overrides\n\n"
     "A command takes several specs: files, IDs, and `-` for standard input. Their models follow one another. `sweep`, "
     "`seed`, `measure` and `limits` are taken from the first file; `run` and `measure: cache` belong to the models of "
     "their own. A file may hold several documents with `---` between; each counts as a file of its own.\n\n"
     "An ID is one model with its settings: a family or preset, then keys and values, `fc,layers=8,batch=256` or "
     "`resnet50,batch=1,mode=infer`. `cnn:resnet50` names family and preset. IDs in tables have a slash after the family.\n\n"
     "`--set KEY=VALUE` overrides a key in every file: `--set run.threads=1`, `--set measure.rounds=3`. Models are "
     "counted from 0 through all files: `--set models.0.fc.batch=[64,128]`.\n\n"
     "## How large a spec may be",
     put_bounds, NULL, NULL},
};

void pdnn_spec_page_format(struct pdnn_str *out, size_t width) {
    struct page page = {.out = out, .width = width};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *text = parts[i].text, *end;
        for (; text && *text; text = end + strspn(end, "\n")) {
            end = strstr(text, "\n\n");
            end = end ? end : text + strlen(text);
            put_block(&page, text, (size_t)(end - text));
        }
        parts[i].put(&page, &parts[i]);
    }
}
