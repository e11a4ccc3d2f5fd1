#include "cli/args/help.h"
#include "gen/axis.h"
#include "gen/language.h"
#include "gen/spec.h"
#include "gen/where/names.h"
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

static void put_setting(struct page *page, const struct pdnn_param_def *setting) {
    struct pdnn_str range = {0};
    char fallback[PDNN_PARAM_TEXT];
    pdnn_param_range_format(&range, setting);
    put_text(page, "- `%s` (%s%s%s; default %s): %s. Example: `%s: {%s: %s}`", setting->name,
             pdnn_str_text(&range), setting->unit ? " " : "", pdnn_param_unit(setting),
             pdnn_param_format(setting, setting->fallback, fallback), setting->help, page->part->section,
             setting->name, setting->example);
    pdnn_str_finish(&range);
}

/* Of all settings only the state of the caches belongs to the section `measure`. */
static void put_settings(struct page *page) {
    const bool is_measure = strcmp(page->part->section, "measure") == 0;
    for (int i = 0; i < PDNN_SETTING_COUNT; i++)
        if ((i == PDNN_SETTING_CACHE) == is_measure)
            put_setting(page, &pdnn_settings[i]);
}

static void put_costs(struct page *page) {
    for (size_t i = 0; i < pdnn_where_n_costs; i++)
        put_text(page, "- `%s`: %s", pdnn_where_costs[i].name, pdnn_where_costs[i].help);
}

static void put_functions(struct page *page) {
    struct pdnn_str names = {0};
    for (enum pdnn_expression_kind i = PDNN_EXPRESSION_FIRST_FUNCTION; i < PDNN_EXPRESSION_KIND_COUNT; i++)
        if (pdnn_where_has(i))
            pdnn_str_printf(&names, "%s%s", names.length ? " " : "", pdnn_expression_rows[i].head);
    put_text(page, "- Functions: `%s`.", pdnn_str_text(&names));
    pdnn_str_finish(&names);
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
