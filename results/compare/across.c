#include "results/compare/across.h"
#include "base/texts.h"
#include "base/units.h"
#include "models/instance.h"

#include <stdint.h>
#include <string.h>

/* How many values a message lists. */
enum { VALUES_SHOWN = 8 };

bool pdnn_compare_is_across(const struct pdnn_comparison *comparison, const char *name, size_t length) {
    for (size_t k = 0; k < comparison->n_across; k++)
        if (strlen(comparison->across[k].name) == length &&
            memcmp(comparison->across[k].name, name, length) == 0)
            return true;
    return false;
}

/* After the family, an id is KEY=VALUE joined by commas, without settings at their defaults. So an id without
 * a key is the same whether the key had its default or not. */
void pdnn_compare_strip(const struct pdnn_comparison *comparison, const struct pdnn_selection *table,
                        size_t row, struct pdnn_str *id) {
    const char *text = pdnn_results_text(&table->results, row, table->id);
    size_t length = strcspn(text, "/:");
    const char *between = "";
    length += text[length] ? 1 : 0;
    pdnn_str_clear(id);
    pdnn_str_append(id, text, length);
    for (text += length; *text; text += length + (text[length] ? 1 : 0)) {
        length = strcspn(text, ",");
        if (pdnn_compare_is_across(comparison, text, strcspn(text, "=,")))
            continue;
        pdnn_str_printf(id, "%s", between);
        pdnn_str_append(id, text, length);
        between = ",";
    }
}

/* The values of a key on a side, those of failed rows too; they live as long as the comparison. */
static const struct pdnn_texts *values_of(const struct pdnn_comparison *comparison, int side,
                                          const char *key) {
    const struct pdnn_selection *table = pdnn_comparison_side(comparison, side);
    struct pdnn_texts *values =
        &comparison->values[table - comparison->table][pdnn_texts_find(&comparison->keys, key)];
    int column = pdnn_results_named(&table->results, key);
    const bool is_known = values->count > 0;
    for (size_t at = 0; !is_known && at < table->count + table->left_out; at++)
        pdnn_texts_add(values, pdnn_selection_get(table, at, column));
    return values;
}

bool pdnn_compare_belongs(const struct pdnn_comparison *comparison, int side, size_t row) {
    const struct pdnn_results *results = &pdnn_comparison_side(comparison, side)->results;
    for (size_t k = 0; k < comparison->n_across; k++) {
        const struct pdnn_across_key *key = &comparison->across[k];
        if (key->value[side] &&
            strcmp(pdnn_results_text(results, row, pdnn_results_named(results, key->name)),
                   key->value[side]) != 0)
            return false;
    }
    return true;
}

/* "1, 2, 4" */
static const char *list_values(struct pdnn_comparison *comparison, int side, const char *key) {
    const struct pdnn_texts *values = values_of(comparison, side, key);
    const char *list = "";
    for (size_t i = 0; i < values->count && i < VALUES_SHOWN; i++)
        list = pdnn_arena_printf(&comparison->arena, "%s%s%s", list, i ? ", " : "",
                                 *values->text[i] ? values->text[i] : "-");
    if (values->count > VALUES_SHOWN)
        list = pdnn_arena_printf(&comparison->arena, "%s and %zu more", list, values->count - VALUES_SHOWN);
    return list;
}

/* The two values of a key in one directory: numbers ascending, words in the order of the table. */
static enum pdnn_status take_values(struct pdnn_comparison *comparison, struct pdnn_across_key *key,
                                    struct pdnn_err *err) {
    const struct pdnn_texts *values = values_of(comparison, PDNN_SIDE_A, key->name);
    const char *list = list_values(comparison, PDNN_SIDE_A, key->name);
    double a, b;
    if (values->count > PDNN_SIDES)
        return pdnn_fail(err, PDNN_INVALID, "%s has the values %s: name two of them, as in --across %s=%s:%s",
                         key->name, list, key->name, values->text[0], values->text[1]);
    if (values->count < PDNN_SIDES)
        return pdnn_fail(err, PDNN_INVALID, "%s: %s has only the value %s", comparison->directory[0],
                         key->name, list);
    bool falls = pdnn_parse_double(values->text[0], &a) && pdnn_parse_double(values->text[1], &b) && b < a;
    for (int side = 0; side < PDNN_SIDES; side++)
        key->value[side] = values->text[falls ? 1 - side : side];
    return PDNN_OK;
}

/* A value that the user named must be there. */
static enum pdnn_status check_value(struct pdnn_comparison *comparison, const struct pdnn_across_key *key,
                                    int side, struct pdnn_err *err) {
    if (pdnn_texts_find(values_of(comparison, side, key->name), key->value[side]) != SIZE_MAX)
        return PDNN_OK;
    return pdnn_fail(err, PDNN_INVALID, "%s: no instance has %s=%.64s, the values are %s",
                     comparison->directory[side], key->name, key->value[side],
                     list_values(comparison, side, key->name));
}

/* Either table may lack the key: it has families of its own. *key: as the tables name it. */
static enum pdnn_status check_key(const struct pdnn_comparison *comparison, const char *name,
                                  const char **key, struct pdnn_err *err) {
    int column;
    for (size_t i = comparison->n_directories; i-- > 0;) {
        struct pdnn_err missing = {0};
        if (pdnn_results_ask_key(&comparison->table[i].results, name, &column, &missing) == PDNN_OK) {
            *key = pdnn_results_name(&comparison->table[i].results, column);
            return PDNN_OK;
        }
        if (i == 0 && err)
            *err = missing;
    }
    return PDNN_INVALID;
}

/* KEY or KEY=A:B. */
static enum pdnn_status parse_key(struct pdnn_comparison *comparison, char *text, struct pdnn_err *err) {
    struct pdnn_across_key *key = &comparison->across[comparison->n_across];
    char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
    if (equals && !colon)
        return pdnn_fail(err, PDNN_INVALID, "'%.64s' is not KEY or KEY=A:B, with A's and B's value", text);
    if (equals)
        *equals = *colon = 0;
    if (strcmp(text, "host") == 0 && comparison->n_directories > 1 && !equals)
        return PDNN_OK;
    const char *name;
    if (check_key(comparison, text, &name, err) != PDNN_OK)
        return err->status;
    if (pdnn_compare_is_across(comparison, name, strlen(name)))
        return pdnn_fail(err, PDNN_INVALID, "--across names %.64s twice", name);
    *key = (struct pdnn_across_key){.name = name};
    comparison->n_across++;
    if (!equals)
        return comparison->n_directories > 1 ? PDNN_OK : take_values(comparison, key, err);
    key->value[PDNN_SIDE_A] = equals + 1;
    key->value[PDNN_SIDE_B] = colon + 1;
    if (comparison->n_directories == 1 && strcmp(key->value[PDNN_SIDE_A], key->value[PDNN_SIDE_B]) == 0)
        return pdnn_fail(err, PDNN_INVALID, "both sides have %.64s=%.64s", text, key->value[PDNN_SIDE_A]);
    enum pdnn_status status = check_value(comparison, key, PDNN_SIDE_A, err);
    return status == PDNN_OK ? check_value(comparison, key, PDNN_SIDE_B, err) : status;
}

static enum pdnn_status parse(struct pdnn_comparison *comparison, const char *text, struct pdnn_err *err) {
    char *copy = pdnn_arena_strdup(&comparison->arena, text), *next;
    size_t room = 1;
    for (const char *at = text; *at; at++)
        room += *at == ',';
    comparison->across = pdnn_arena_alloc(&comparison->arena, room, sizeof *comparison->across);
    for (char *key = copy; key; key = next) {
        next = strchr(key, ',');
        if (next)
            *next++ = 0;
        if (parse_key(comparison, key, err) != PDNN_OK)
            return err->status;
    }
    return PDNN_OK;
}

/* Whether another row is like some row of the last table, without the keys that differ: a row of A's
 * table, or in one directory any other. */
static bool has_alike(const struct pdnn_comparison *comparison) {
    struct pdnn_texts texts = {0};
    struct pdnn_str id = {0};
    size_t last = comparison->n_directories - 1;
    bool alike = false;
    for (size_t t = 0; t <= last && !alike; t++) {
        const struct pdnn_selection *table = &comparison->table[t];
        for (size_t at = 0; at < table->count + table->left_out && !alike; at++) {
            size_t known = texts.count;
            pdnn_compare_strip(comparison, table, table->row[at], &id);
            size_t number = t && t == last ? pdnn_texts_find(&texts, pdnn_str_text(&id))
                                           : pdnn_texts_add(&texts, pdnn_str_text(&id));
            alike = number < known && t == last;
        }
    }
    pdnn_str_finish(&id);
    pdnn_texts_finish(&texts);
    return alike;
}

/* The list, and "backend (onednn, openblas)" for one directory, "backend (onednn | openblas)" for two. */
static const char *describe(struct pdnn_comparison *comparison, const char *list, const char *key) {
    const bool two = comparison->n_directories > 1;
    return pdnn_arena_printf(&comparison->arena, "%s%s%s (%s%s%s)", list, *list ? ", " : "", key,
                             list_values(comparison, PDNN_SIDE_A, key), two ? " | " : "",
                             two ? list_values(comparison, PDNN_SIDE_B, key) : "");
}

enum variation { SAME, OVERLAPPING, DISJOINT };

/* How the values of a key differ: between two tables, or, overlapping at most, within one. */
static enum variation variation_of(const struct pdnn_comparison *comparison, const char *key) {
    const struct pdnn_texts *a = values_of(comparison, PDNN_SIDE_A, key),
                            *b = values_of(comparison, PDNN_SIDE_B, key);
    size_t common = 0;
    if (comparison->n_directories == 1)
        return a->count > 1 ? OVERLAPPING : SAME;
    for (size_t i = 0; i < b->count; i++)
        common += pdnn_texts_find(a, b->text[i]) != SIZE_MAX;
    return common == 0 ? DISJOINT : common < a->count || common < b->count ? OVERLAPPING : SAME;
}

/* Within one directory, candidates are the run settings that say how a step runs. Hyper-parameters, the mode
 * and what belongs to training say what a step does, which a sweep varies anyway. */
static bool may_differ(const struct pdnn_comparison *comparison, const char *key) {
    int setting = pdnn_param_find(pdnn_settings, PDNN_SETTING_COUNT, key);
    return comparison->n_directories > 1 ||
           (setting >= 0 && setting != PDNN_SETTING_MODE && setting != PDNN_SETTING_OPTIMIZER &&
            setting != PDNN_SETTING_ACCUMULATE);
}

struct search {
    const char *found; /* the last one */
    size_t n_found;
    const char *candidates; /* keys whose change pairs instances */
    const char *disjoint;   /* keys with no common value */
};

static void try_key(struct pdnn_comparison *comparison, const char *name, struct search *search) {
    struct pdnn_across_key key = {.name = name};
    enum variation variation = may_differ(comparison, name) ? variation_of(comparison, name) : SAME;
    if (variation == SAME)
        return;
    comparison->across = &key;
    comparison->n_across = 1;
    if (has_alike(comparison)) {
        search->found = name;
        search->n_found++;
        search->candidates = describe(comparison, search->candidates, name);
    }
    comparison->n_across = 0;
    if (variation == DISJOINT)
        search->disjoint = describe(comparison, search->disjoint, name);
}

static enum pdnn_status not_one(const struct pdnn_comparison *comparison, const struct search *search,
                                struct pdnn_err *err) {
    if (search->n_found)
        return pdnn_fail(err, PDNN_INVALID,
                         "more than one key could be the one to differ, name it with --across: %.700s",
                         search->candidates);
    if (*search->disjoint)
        return pdnn_fail(err, PDNN_INVALID,
                         "no instance is in both; name the keys that are to differ with --across: %.700s",
                         search->disjoint);
    if (comparison->n_directories > 1)
        return pdnn_fail(err, PDNN_INVALID, "no instance is in both %s and %s", comparison->directory[0],
                         comparison->directory[1]);
    return pdnn_fail(err, PDNN_INVALID,
                     "%s: no two instances differ only in how they run; name the keys that are to differ "
                     "with --across, or a second directory",
                     comparison->directory[0]);
}

static enum pdnn_status find(struct pdnn_comparison *comparison, struct pdnn_err *err) {
    struct search search = {.candidates = "", .disjoint = ""};
    if (comparison->n_directories > 1 && has_alike(comparison))
        return PDNN_OK;
    for (size_t k = 0; k < comparison->keys.count; k++)
        try_key(comparison, comparison->keys.text[k], &search);
    comparison->across = NULL;
    if (search.n_found != 1)
        return not_one(comparison, &search, err);
    comparison->across = pdnn_arena_alloc(&comparison->arena, 1, sizeof *comparison->across);
    comparison->across->name = search.found;
    comparison->n_across = 1;
    return comparison->n_directories > 1 ? PDNN_OK : take_values(comparison, comparison->across, err);
}

/* Between two directories a key that the user did not give values has them if they are the same throughout.
 */
static void put_label(struct pdnn_comparison *comparison, int side) {
    const char *label = "";
    for (size_t k = 0; k < comparison->n_across; k++) {
        struct pdnn_across_key *key = &comparison->across[k];
        const struct pdnn_texts *values = values_of(comparison, side, key->name);
        if (!key->value[side] && values->count == 1)
            key->value[side] = values->text[0];
        if (key->value[side])
            label = pdnn_arena_printf(&comparison->arena, "%s%s%s=%s", label, *label ? "," : "", key->name,
                                      key->value[side]);
    }
    comparison->label[side] = *label ? label : comparison->directory[side];
}

enum pdnn_status pdnn_compare_across(struct pdnn_comparison *comparison, const char *text,
                                     struct pdnn_err *err) {
    enum pdnn_status status = text ? parse(comparison, text, err) : find(comparison, err);
    if (status == PDNN_OK && comparison->n_directories == 1 && !comparison->n_across)
        status = pdnn_fail(err, PDNN_INVALID, "--across names nothing that differs within one directory");
    for (int side = 0; status == PDNN_OK && side < PDNN_SIDES; side++)
        put_label(comparison, side);
    return status;
}
