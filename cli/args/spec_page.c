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

/* Markdown that reads well in a terminal too, put down part by part. */
struct page {
    struct pdnn_str *out;
    size_t width;
};

/* Every part but the first is preceded by an empty line. level: from 1. */
static void put_heading(struct page *page, size_t level, const char *text) {
    pdnn_str_printf(page->out, "%s%.*s %s\n", page->out->length ? "\n" : "", (int)level, "####", text);
}

static void put_paragraph(struct page *page, const char *text) {
    pdnn_str_append(page->out, "\n", 1);
    pdnn_fill_text(page->out, text, 0, page->width);
}

static void put_item(struct page *page, const char *text) {
    pdnn_str_printf(page->out, "- ");
    pdnn_fill_text(page->out, text, 2, page->width);
}

/* YAML, lines as they are, each ended. */
static void put_code(struct page *page, const char *text) {
    pdnn_str_printf(page->out, "\n```yaml\n%s```\n", text);
}

static const char *const introduction[] = {
    "A spec is a YAML file that says which models to run and how. `paradnn list FILE` shows what it amounts to and "
    "what that costs, `paradnn sweep FILE` runs it. Errors name file, line and column and the nearest valid word. "
    "This page is what `paradnn help spec` prints; it is made from the tables that the program reads specs with.",
    NULL,
};

static const char complete[] = "sweep: widths\n"
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
                               "  - resnet50: {batch: [1, 8]}\n";

static const char smallest[] = "models: [resnet50: {}]\n";

static const char *const axes[] = {
    "A value is a scalar, a list, or a range from one number to another. More than one value makes an axis. Axes "
    "multiply, except those that `zip` or `rows` advance together. Run settings vary slowest, the axis written last varies "
    "fastest. Values that come out the same are one instance. A number may be written `1e3`, `4k` (4000) or `4Ki` (4096).",
    "For a hyper-parameter that takes lists, one value is `3`, `3-4-6-3` or `[3, 4, 6, 3]`: `blocks: [[3, 4, 6, 3], "
    "2]` has two values, and so does `blocks: [3, 4]`. The last number of a list stands for all that follow.",
    "A range is a map with these keys, one of `plus` and `times` among them:",
    NULL,
};

static const char *const run_text[] = {
    "`run` belongs to the models of its own file, or of its own document if a file has several. A list makes a "
    "setting an axis of every model. A setting that changes nothing (the optimizer of an inference) does not multiply.",
    NULL,
};

static const char *const measure_text[] = {
    "A time is a number with its unit: ns, us, ms, s, m or h.",
    NULL,
};

static const char *const limits_text[] = {
    "Bytes are a number with their unit: 1 GB is 1e9 bytes, 1 GiB is 2^30. What does not fit becomes a row with a "
    "status (`paradnn columns status`).",
    NULL,
};

static const char *const models_text[] = {
    "An entry of `models` names a family and gives some of its hyper-parameters values; those left out have their "
    "defaults. It may name a preset instead. A preset that several families have is a key of the family's map: `fc: "
    "{preset: paper-min}`.",
    NULL,
};

static const char presets_example[] =
    "models:\n"
    "  - fc: {layers: 8, nodes: 4096}\n"
    "  - bert-base: {length: [128, 512]}\n"
    "  - cnn: {preset: resnet50, batch: [1, 8]} # the same as resnet50: {...}\n"
    "  - rnn:\n";

static const char *const models_more[] = {
    "A hyper-parameter may apply only with a certain word of another (`kernel` with `block: plain`). Elsewhere it does "
    "not multiply; giving it where it can never apply is an error. Values that contradict each other (an image smaller "
    "than a network's windows) make the instance `invalid` if the entry has others, and are an error otherwise.",
    "What several entries share is written once, as an anchor that YAML's merge key takes up: `- fc: &wide {nodes: "
    "4096, batch: 64}`, then `- fc: {<<: *wide, layers: 8}`.",
    "Beside the family an entry may have:",
    NULL,
};

static const char *const sample_text[] = {
    "What `where` excludes does not count. A longer sample with the same seed starts with the shorter one.",
    NULL,
};

static const char *const where_text[] = {
    "An instance is kept if the expression is true of it. Names are the family's hyper-parameters, the run settings, "
    "`preset`, and the costs below. Compared with something that does not apply, `!=` is true and everything else false.",
    NULL,
};

static const char *const where_items[] = {
    "Operators: `and or not`, `== != < <= > >=`, `+ - * / ^`, `c ? a : b`. A remainder is `mod(a, b)`.",
    "Numbers: `1e9`, `100MB`, `8GiB`. Words: `activation == relu`, `preset == vgg11`. Lists, without spaces: `blocks != 3-4-6-3`.",
    "A word that stands for a number equals that number, and values that build the same network are equal: `padding "
    "== same` is true of 1 if the kernel is 3. A list of one number is a number; using a longer one as a number is "
    "an error.",
    "If it uses costs, it is false for instances whose counts do not fit in 64 bits.",
    NULL,
};

static const char where_example[] =
    "models:\n"
    "  - cnn: {block: [residual, plain], blocks: [2, 3-4-6-3], filters: [16, 64]}\n"
    "    where: (block == plain or blocks != 3-4-6-3) and flop_count / byte_count > 10\n"
    "  - transformer: {length: [128, 512, 2048], batch: [1, 8]}\n"
    "    where: length * batch <= 4096 and min(params, 1e12) >= 100MB\n";

static const char *const several[] = {
    "A command takes several specs: files, IDs, and `-` for standard input. Their models follow one another. `sweep`, "
    "`seed`, `measure` and `limits` are taken from the first file; `run` and `measure: cache` belong to the models of "
    "their own. A file may hold several documents with `---` between; each counts as a file of its own.",
    "An ID is one model with its settings: a family or preset, then keys and values, `fc,layers=8,batch=256` or "
    "`resnet50,batch=1,mode=infer`. `cnn:resnet50` names family and preset. IDs in tables have a slash after the family.",
    "`--set KEY=VALUE` overrides a key in every file: `--set run.threads=1`, `--set measure.rounds=3`. Models are "
    "counted from 0 through all files: `--set models.0.fc.batch=[64,128]`.",
    NULL,
};

static void paragraphs(struct page *page, const char *const *text) {
    for (; *text; text++)
        put_paragraph(page, *text);
}

/* section: of the key, "" at the top of a spec; NULL: the example is an entry of `models`. */
static void put_key(struct page *page, const struct pdnn_key_def *key, const char *section) {
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "`%s` (", key->name);
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
    put_item(page, pdnn_str_text(&text));
    pdnn_str_finish(&text);
}

static void put_keys(struct page *page, const struct pdnn_key_table *table, const char *section) {
    pdnn_str_append(page->out, "\n", 1);
    for (size_t i = 0; i < table->n_keys; i++)
        if (table->keys[i].help)
            put_key(page, &table->keys[i], section);
}

/* A run setting or hyper-parameter. before: what the example's map needs besides, "block: plain, ". */
static void put_param(struct page *page, const struct pdnn_param_def *param, const char *help,
                      const char *map, const char *before) {
    struct pdnn_str text = {0};
    char fallback[PDNN_PARAM_TEXT];
    pdnn_str_printf(&text, "`%s` (", param->name);
    pdnn_param_range_format(&text, param);
    pdnn_str_printf(&text, "%s%s; default %s): %s. Example: `%s: {%s%s: %s}`", param->unit ? " " : "",
                    pdnn_param_unit(param),
                    pdnn_param_format(param, pdnn_value_of(param->fallback), fallback), help, map, before,
                    param->name, param->example);
    put_item(page, pdnn_str_text(&text));
    pdnn_str_finish(&text);
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

static void put_family(struct page *page, const struct pdnn_family_def *family) {
    struct pdnn_instance defaults;
    pdnn_instance_init(&defaults, family);
    put_heading(page, 3, family->name);
    put_paragraph(page, family->help);
    pdnn_str_append(page->out, "\n", 1);
    for (size_t i = 0; i < family->n_params; i++) {
        struct pdnn_str help = {0};
        char before[BEFORE_TEXT];
        pdnn_hyper_help_format(&help, &defaults, i);
        find_before(&defaults, i, before);
        put_param(page, &family->params[i], pdnn_str_text(&help), family->name, before);
        pdnn_str_finish(&help);
    }
    struct pdnn_str presets = {0};
    pdnn_str_printf(&presets, "Presets (`paradnn families %s`):", family->name);
    for (size_t i = 0; i < family->n_presets; i++)
        pdnn_str_printf(&presets, "%s `%s`", i ? "," : "", family->presets[i].name);
    put_paragraph(page, pdnn_str_text(&presets));
    pdnn_str_finish(&presets);
}

static void put_models(struct page *page) {
    put_heading(page, 2, "Models");
    paragraphs(page, models_text);
    put_code(page, presets_example);
    paragraphs(page, models_more);
    put_keys(page, &pdnn_entry_keys, NULL);
    put_paragraph(page, "`rows` is a map:");
    put_keys(page, &pdnn_rows_keys, NULL);
    put_paragraph(page, "`sample` is a map:");
    put_keys(page, &pdnn_sample_keys, NULL);
    paragraphs(page, sample_text);
}

static void put_where(struct page *page) {
    struct pdnn_str functions = {0};
    put_heading(page, 2, "Where");
    paragraphs(page, where_text);
    pdnn_str_append(page->out, "\n", 1);
    for (size_t i = 0; i < pdnn_where_n_costs; i++) {
        struct pdnn_str text = {0};
        pdnn_str_printf(&text, "`%s`: %s", pdnn_where_costs[i].name, pdnn_where_costs[i].help);
        put_item(page, pdnn_str_text(&text));
        pdnn_str_finish(&text);
    }
    put_code(page, where_example);
    pdnn_str_append(page->out, "\n", 1);
    for (const char *const *item = where_items; *item; item++)
        put_item(page, *item);
    pdnn_str_printf(&functions, "Functions: `");
    for (size_t i = 0; i < PDNN_EXPRESSION_FUNCTIONS; i++)
        pdnn_str_printf(&functions, "%s%s", i ? " " : "", pdnn_expression_functions[i]);
    pdnn_str_printf(&functions, "`.");
    put_item(page, pdnn_str_text(&functions));
    pdnn_str_finish(&functions);
}

/* A spec may be wrong but not expensive. */
static void put_bounds(struct page *page) {
    struct pdnn_str text = {0};
    pdnn_str_printf(
        &text,
        "A command takes at most %d values, aliases counted as often as used, %d MiB of text and %d models; "
        "a list has at most %d values, a document at most %d anchors.",
        PDNN_YAML_NODES, PDNN_YAML_TEXTS_BYTES >> 20, PDNN_SPEC_MODELS, PDNN_AXIS_VALUES, PDNN_YAML_ANCHORS);
    put_heading(page, 2, "How large a spec may be");
    put_paragraph(page, pdnn_str_text(&text));
    pdnn_str_finish(&text);
}

void pdnn_spec_page_format(struct pdnn_str *out, size_t width) {
    struct page page = {.out = out, .width = width};
    put_heading(&page, 1, "Specs");
    paragraphs(&page, introduction);
    put_code(&page, complete);
    put_paragraph(&page, "The smallest one:");
    put_code(&page, smallest);
    put_heading(&page, 2, "The top of a spec");
    put_keys(&page, &pdnn_spec_keys, "");
    put_heading(&page, 2, "Values and axes");
    paragraphs(&page, axes);
    put_keys(&page, &pdnn_range_keys, NULL);
    put_heading(&page, 2, "Run settings");
    paragraphs(&page, run_text);
    pdnn_str_append(out, "\n", 1);
    for (int i = 0; i < PDNN_SETTING_COUNT; i++)
        if (i != PDNN_SETTING_CACHE)
            put_param(&page, &pdnn_settings[i], pdnn_settings[i].help, "run", "");
    put_heading(&page, 2, "Measuring");
    paragraphs(&page, measure_text);
    put_keys(&page, &pdnn_measure_keys, pdnn_measure_keys.name);
    put_param(&page, &pdnn_settings[PDNN_SETTING_CACHE], pdnn_settings[PDNN_SETTING_CACHE].help,
              pdnn_measure_keys.name, "");
    put_heading(&page, 2, "Limits");
    paragraphs(&page, limits_text);
    put_keys(&page, &pdnn_limits_keys, pdnn_limits_keys.name);
    put_heading(&page, 2, "The epoch of paradnn seqpoint");
    put_keys(&page, &pdnn_epoch_keys, pdnn_epoch_keys.name);
    put_models(&page);
    put_where(&page);
    put_heading(&page, 2, "Hyper-parameters of each family");
    for (const struct pdnn_family_def *const *family = pdnn_families; *family; family++)
        put_family(&page, *family);
    put_heading(&page, 2, "Several specs, IDs and overrides");
    paragraphs(&page, several);
    put_bounds(&page);
}
