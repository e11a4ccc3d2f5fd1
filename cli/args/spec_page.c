#include "cli/args/help.h"
#include "gen/axis.h"
#include "gen/where/expression.h"
#include "gen/language.h"
#include "gen/spec.h"
#include "gen/where/where_text.h"
#include "models/instance.h"
#include "base/fill.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

/* Markdown that reads well in a terminal too, put down block by block. */
struct page {
    struct pdnn_str *out;
    size_t width;
    bool in_list;
    const struct part *part; /* that is being put down */
};

/* What is made from tables. */
struct part {
    const char *name;
    void (*put)(struct page *page);
    const char *section; /* of the keys, "" at the top of a spec; NULL: examples are entries of `models` */
    const struct pdnn_key_table *keys;
};

/* An item of a list, a paragraph, or what stays as it is: a heading or code. An empty line precedes every
 * block but the first, and items that follow others. */
static void put_block(struct page *page, const char *text, size_t length) {
    const bool is_item = strncmp(text, "- ", 2) == 0;
    const bool is_filled = *text != '#' && strncmp(text, "```", 3) != 0;
    struct pdnn_str block = {0};
    pdnn_str_printf(page->out, "%s", page->out->length && !(is_item && page->in_list) ? "\n" : "");
    page->in_list = is_item;
    for (size_t i = 0; i < length; i++) {
        const bool is_end = is_filled && text[i] == '\n';
        pdnn_str_append(&block, is_end ? " " : text + i, 1);
        i += is_end ? strspn(text + i + 1, " ") : 0;
    }
    if (is_filled)
        pdnn_fill_text(page->out, pdnn_str_text(&block), is_item ? 2 : 0, page->width);
    else
        pdnn_str_printf(page->out, "%s\n", pdnn_str_text(&block));
    pdnn_str_finish(&block);
}

__attribute__((format(printf, 2, 3))) static void put_text(struct page *page, const char *format, ...) {
    struct pdnn_str text = {0};
    va_list arguments;
    va_start(arguments, format);
    pdnn_str_vprintf(&text, format, arguments);
    va_end(arguments);
    put_block(page, pdnn_str_text(&text), text.length);
    pdnn_str_finish(&text);
}

static void put_keys(struct page *page) {
    const struct pdnn_key_table *keys = page->part->keys;
    const char *section = page->part->section;
    for (const struct pdnn_key_def *key = keys->keys; key < keys->keys + keys->n_keys; key++) {
        struct pdnn_str values = {0};
        const bool has_default = !key->absent && key->fallback && *key->fallback;
        pdnn_key_values_format(&values, key);
        pdnn_str_printf(&values, "%s%s",
                        key->absent   ? "; without it "
                        : has_default ? "; default "
                                      : "",
                        key->absent   ? key->absent
                        : has_default ? key->fallback
                                      : "");
        if (key->help && section && *section)
            put_text(page, "- `%s` (%s): %s. Example: `%s: {%s: %s}`", key->name, pdnn_str_text(&values),
                     key->help, section, key->name, key->example);
        else if (key->help)
            put_text(page, "- `%s` (%s): %s. Example: `%s%s%s`", key->name, pdnn_str_text(&values), key->help,
                     section ? key->name : "", section ? ": " : "", key->example);
        pdnn_str_finish(&values);
    }
}

/* A run setting or hyper-parameter. before: what the example's map needs besides, "block: plain, ". */
static void put_param(struct page *page, const struct pdnn_param_def *param, const char *help,
                      const char *map, const char *before) {
    struct pdnn_str range = {0};
    char fallback[PDNN_PARAM_TEXT];
    pdnn_param_range_format(&range, param);
    put_text(page, "- `%s` (%s%s%s; default %s): %s. Example: `%s: {%s%s: %s}`", param->name,
             pdnn_str_text(&range), param->unit ? " " : "", pdnn_param_unit(param),
             pdnn_param_format(param, pdnn_value_of(param->fallback), fallback), help, map, before,
             param->name, param->example);
    pdnn_str_finish(&range);
}

/* Of all settings only the state of the caches belongs to the section `measure`. */
static void put_settings(struct page *page) {
    const char *section = page->part->section;
    for (int i = 0; i < PDNN_SETTING_COUNT; i++)
        if ((i == PDNN_SETTING_CACHE) == (strcmp(section, "measure") == 0))
            put_param(page, &pdnn_settings[i], pdnn_settings[i].help, section, "");
}

static void put_costs(struct page *page) {
    for (size_t i = 0; i < pdnn_where_n_costs; i++)
        put_text(page, "- `%s`: %s", pdnn_where_costs[i].name, pdnn_where_costs[i].help);
}

static void put_functions(struct page *page) {
    struct pdnn_str names = {0};
    for (size_t i = 0; i < PDNN_EXPRESSION_FUNCTIONS; i++)
        pdnn_str_printf(&names, "%s%s", i ? " " : "", pdnn_expression_functions[i]);
    put_text(page, "- Functions: `%s`.", pdnn_str_text(&names));
    pdnn_str_finish(&names);
}

/* Appends "block: plain, " for a parameter that needs block=plain or some other word and does not apply by
 * default. */
static void append_before(struct pdnn_str *out, const struct pdnn_instance *defaults, size_t param) {
    char condition[PDNN_CONDITION_TEXT];
    const char *rest = pdnn_hyper_condition(defaults, param, condition), *at;
    for (size_t n; !pdnn_hyper_applies(defaults, param) && (at = pdnn_part_next(&rest, " and ", &n));) {
        const int key = (int)strcspn(at, "=");
        if (at[key])
            pdnn_str_printf(out, "%.*s: %.*s, ", key, at, (int)strcspn(at + key + 1, " "), at + key + 1);
    }
}

static void put_family(struct page *page, const struct pdnn_family_def *family) {
    struct pdnn_instance defaults;
    struct pdnn_str presets = {0};
    pdnn_instance_init(&defaults, family);
    put_text(page, "### %s", family->name);
    put_text(page, "%s", family->help);
    for (size_t i = 0; i < family->n_params; i++) {
        struct pdnn_str help = {0}, before = {0};
        pdnn_hyper_help_format(&help, &defaults, i);
        append_before(&before, &defaults, i);
        put_param(page, &family->params[i], pdnn_str_text(&help), family->name, pdnn_str_text(&before));
        pdnn_str_finish(&help);
        pdnn_str_finish(&before);
    }
    for (size_t i = 0; i < family->n_presets; i++)
        pdnn_str_printf(&presets, "%s `%s`", i ? "," : "", family->presets[i].name);
    put_text(page, "Presets (`paradnn families %s`):%s", family->name, pdnn_str_text(&presets));
    pdnn_str_finish(&presets);
}

static void put_families(struct page *page) {
    for (const struct pdnn_family_def *const *family = pdnn_families; *family; family++)
        put_family(page, *family);
}

/* A spec may be wrong but not expensive. */
static void put_bounds(struct page *page) {
    put_text(
        page,
        "A command takes at most %d values, aliases counted as often as used, %d MiB of text and %d models; "
        "a document has at most %d anchors.",
        PDNN_YAML_NODES, PDNN_YAML_TEXTS_BYTES >> 20, PDNN_SPEC_MODELS, PDNN_YAML_ANCHORS);
}

/* A line of the text that is one of these names is made from tables. */
static const struct part parts[] = {
    {"@top", put_keys, "", &pdnn_spec_keys},
    {"@range", put_keys, NULL, &pdnn_range_keys},
    {"@run", put_settings, "run", NULL},
    {"@measure", put_keys, "measure", &pdnn_measure_keys},
    {"@cache", put_settings, "measure", NULL},
    {"@limits", put_keys, "limits", &pdnn_limits_keys},
    {"@seqpoint", put_keys, "seqpoint", &pdnn_epoch_keys},
    {"@entry", put_keys, NULL, &pdnn_entry_keys},
    {"@rows", put_keys, NULL, &pdnn_rows_keys},
    {"@sample", put_keys, NULL, &pdnn_sample_keys},
    {"@costs", put_costs, NULL, NULL},
    {"@functions", put_functions, NULL, NULL},
    {"@families", put_families, NULL, NULL},
    {"@bounds", put_bounds, NULL, NULL},
};

void pdnn_spec_page_format(struct pdnn_str *out, size_t width) {
    struct page page = {.out = out, .width = width};
    const char *rest = pdnn_spec_text, *text;
    size_t length;
    while ((text = pdnn_part_next(&rest, "\n\n", &length))) {
        length -= text[length - 1] == '\n';
        page.part = parts;
        while (*text == '@' &&
               (strlen(page.part->name) != length || strncmp(page.part->name, text, length) != 0))
            page.part++;
        if (*text == '@')
            page.part->put(&page);
        else
            put_block(&page, text, length);
    }
}
