#include "results/compare/compare.h"
#include "base/texts.h"
#include "base/units.h"
#include "models/instance.h"
#include "results/stats/means.h"
#include "runtime/protocol/visit.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const char pdnn_faster[] = "faster", pdnn_slower[] = "slower", pdnn_undecided[] = "undecided";

#define AS(kind, show) PDNN_KIND_##kind, PDNN_SHOW_##show
static const struct pdnn_column_def pair_columns[PDNN_PAIR_KEYS] = {
    {"id", "instance", NULL, AS(TEXT, PLAIN), PDNN_ALIGN_WRAP,
     .help = "the instance, without the keys that differ"},
    {"a_id", NULL, NULL, AS(TEXT, NEVER), .help = "its id in A's results.csv"},
    {"b_id", NULL, NULL, AS(TEXT, NEVER), .help = "its id in B's results.csv"},
    {"family", NULL, NULL, AS(TEXT, PLAIN), .help = "model family"},
    {"a_ns", "A", "ns", AS(NUMBER, TIME), .help = "A's time_ns_median"},
    {"b_ns", "B", "ns", AS(NUMBER, TIME), .help = "B's time_ns_median"},
    {"ratio", NULL, NULL, AS(NUMBER, FACTOR), .help = "a_ns over b_ns: above 1, B is faster"},
    {"ratio_low", "95 % interval", NULL, AS(NUMBER, INTERVAL), .rank = 2,
     .help =
         "lower end of the ratio's 95 % interval: with h = ln(ci_high_ns / ci_low_ns) / 2 of either side, "
         "ratio * exp(-sqrt((h_a^2 + h_b^2) / 2)); empty if a side has no interval"},
    {"ratio_high", NULL, NULL, AS(NUMBER, NEVER), .help = "upper end of that interval"},
    {"clear", NULL, NULL, AS(COUNT, NEVER),
     .help = "1: the interval excludes 1; 0: it does not; empty without an interval"},
    {"decision", NULL, NULL, AS(TEXT, PLAIN), .rank = 1,
     .help = "faster or slower: what B clearly is; otherwise undecided"},
    {"probe_ratio", NULL, NULL, AS(NUMBER, PLAIN),
     .help = "A's probe_gbs over B's: on one machine with the same threads, a sign of another state beyond "
             "15 %, for which intervals are not made. "
             "Columns for the hyper-parameters and run settings that both sides share follow"},
};
const struct pdnn_table_def pdnn_pairs_def = {"compare-pairs", "instances that ended ok on both sides",
                                              pair_columns, PDNN_PAIR_KEYS};

static const struct pdnn_column_def unpaired_columns[PDNN_UNPAIRED_COLUMNS] = {
    {"id", "instance", NULL, AS(TEXT, PLAIN), PDNN_ALIGN_WRAP,
     .help = "the instance, without the keys that differ"},
    {"a_id", NULL, NULL, AS(TEXT, NEVER), .help = "its id in A's results.csv; empty: A does not have it"},
    {"b_id", NULL, NULL, AS(TEXT, NEVER), .help = "its id in B's results.csv; empty: B does not have it"},
    {"a_status", "A", .blank = "absent", .words = pdnn_outcome_words, .help = "its status in A"},
    {"b_status", "B", .blank = "absent", .words = pdnn_outcome_words, .help = "its status in B"},
    {"a_reason", "A's reason", NULL, AS(TEXT, PLAIN), PDNN_ALIGN_WRAP, .rank = 1,
     .help = "why A has no time for it"},
    {"b_reason", "B's reason", NULL, AS(TEXT, PLAIN), PDNN_ALIGN_WRAP, .rank = 1,
     .help = "why B has no time for it"},
};
const struct pdnn_table_def pdnn_unpaired_def = {"compare-unpaired", "instances without a ratio",
                                                 unpaired_columns, PDNN_UNPAIRED_COLUMNS};

static int column_of(const struct pdnn_comparison *comparison, int side, const char *name) {
    return pdnn_results_named(&pdnn_comparison_side(comparison, side)->results, name);
}

const char *pdnn_comparison_get(const struct pdnn_comparison *comparison, size_t pair, int side, int column) {
    return pdnn_selection_get(pdnn_comparison_side(comparison, side), comparison->at[pair][side], column);
}

double pdnn_comparison_number(const struct pdnn_comparison *comparison, size_t pair, int side, int column) {
    return pdnn_selection_number(pdnn_comparison_side(comparison, side), comparison->at[pair][side], column);
}

const char *pdnn_comparison_setting(const struct pdnn_comparison *comparison, size_t pair, int side,
                                    enum pdnn_setting setting) {
    const struct pdnn_results *results = &pdnn_comparison_side(comparison, side)->results;
    return pdnn_comparison_get(comparison, pair, side, pdnn_results_setting(results, setting));
}

double pdnn_pair_ratio(const struct pdnn_comparison *comparison, size_t pair) {
    return pdnn_table_number(&comparison->pairs, pair, PDNN_PAIR_RATIO);
}

double pdnn_pair_ns(const struct pdnn_comparison *comparison, size_t pair, int side) {
    return pdnn_table_number(&comparison->pairs, pair, side == PDNN_SIDE_A ? PDNN_PAIR_A_NS : PDNN_PAIR_B_NS);
}

double pdnn_pair_half(const struct pdnn_comparison *comparison, size_t pair) {
    return pdnn_log_half(pdnn_table_number(&comparison->pairs, pair, PDNN_PAIR_LOW),
                         pdnn_table_number(&comparison->pairs, pair, PDNN_PAIR_HIGH));
}

/* The keys of A's table in its order, then those that only B's has. */
static void find_keys(struct pdnn_comparison *comparison) {
    for (size_t t = 0; t < comparison->n_directories; t++) {
        const struct pdnn_results *results = &comparison->table[t].results;
        for (int column = results->first_key; column < results->end_key; column++)
            pdnn_texts_add(&comparison->keys, pdnn_results_name(results, column));
    }
    const size_t count = comparison->keys.count;
    comparison->across = pdnn_arena_alloc(&comparison->arena, count + 1, sizeof *comparison->across);
    for (size_t t = 0; t < PDNN_SIDES; t++)
        comparison->values[t] = pdnn_arena_alloc(&comparison->arena, count, sizeof **comparison->values);
}

/* Whether the key, a name of that length, is one that differs. */
static bool is_across(const struct pdnn_comparison *comparison, const char *name, size_t length) {
    for (size_t k = 0; k < comparison->n_across; k++)
        if (strlen(comparison->across[k].name) == length &&
            memcmp(comparison->across[k].name, name, length) == 0)
            return true;
    return false;
}

/* The id of a row without the keys that differ. After the family, an id is KEY=VALUE joined by commas,
 * without settings at their defaults, so it is the same whether such a key had its default or not. */
static void strip(const struct pdnn_comparison *comparison, const struct pdnn_selection *table, size_t row,
                  struct pdnn_str *id) {
    const char *text = pdnn_results_text(&table->results, row, table->id), *between = "", *part;
    size_t length = strcspn(text, "/:");
    length += text[length] ? 1 : 0;
    pdnn_str_clear(id);
    pdnn_str_append(id, text, length);
    for (text += length; (part = pdnn_part_next(&text, ",", &length));) {
        if (is_across(comparison, part, strcspn(part, "=,")))
            continue;
        pdnn_str_printf(id, "%s%.*s", between, (int)length, part);
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

/* Whether the row has its side's values of the keys that differ. */
static bool belongs(const struct pdnn_comparison *comparison, int side, size_t row) {
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

/* "1, 2, 4": the first of them. */
static const char *list_values(struct pdnn_comparison *comparison, int side, const char *key) {
    enum { SHOWN = 8 };
    const struct pdnn_texts *values = values_of(comparison, side, key);
    const char *list = "";
    for (size_t i = 0; i < values->count && i < SHOWN; i++)
        list = pdnn_arena_printf(&comparison->arena, "%s%s%s", list, i ? ", " : "",
                                 *values->text[i] ? values->text[i] : "-");
    if (values->count > SHOWN)
        list = pdnn_arena_printf(&comparison->arena, "%s and %zu more", list, values->count - SHOWN);
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

/* KEY or KEY=A:B; a value that the user named must be there. */
static enum pdnn_status parse_key(struct pdnn_comparison *comparison, char *text, struct pdnn_err *err) {
    struct pdnn_across_key *key = &comparison->across[comparison->n_across];
    char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
    if (equals && !colon)
        return pdnn_fail(err, PDNN_INVALID, "'%.64s' is not KEY or KEY=A:B, with A's and B's value", text);
    if (equals)
        *equals = *colon = 0;
    if (strcmp(text, "host") == 0 && comparison->n_directories > 1 && !equals)
        return PDNN_OK;
    /* Either table may lack the key: it has families of its own. */
    const struct pdnn_results *results = &comparison->table[comparison->n_directories - 1].results;
    int column;
    if (pdnn_results_ask_key(results, text, &column, &(struct pdnn_err){0}) != PDNN_OK)
        results = &comparison->table[0].results;
    if (pdnn_results_ask_key(results, text, &column, err) != PDNN_OK)
        return err->status;
    const char *name = pdnn_results_name(results, column);
    if (is_across(comparison, name, strlen(name)))
        return pdnn_fail(err, PDNN_INVALID, "--across names %.64s twice", name);
    *key = (struct pdnn_across_key){.name = name};
    comparison->n_across++;
    if (!equals)
        return comparison->n_directories > 1 ? PDNN_OK : take_values(comparison, key, err);
    key->value[PDNN_SIDE_A] = equals + 1;
    key->value[PDNN_SIDE_B] = colon + 1;
    if (comparison->n_directories == 1 && strcmp(key->value[PDNN_SIDE_A], key->value[PDNN_SIDE_B]) == 0)
        return pdnn_fail(err, PDNN_INVALID, "both sides have %.64s=%.64s", text, key->value[PDNN_SIDE_A]);
    for (int side = 0; side < PDNN_SIDES; side++)
        if (pdnn_texts_find(values_of(comparison, side, name), key->value[side]) == SIZE_MAX)
            return pdnn_fail(err, PDNN_INVALID, "%s: no instance has %s=%.64s, the values are %s",
                             comparison->directory[side], name, key->value[side],
                             list_values(comparison, side, name));
    return PDNN_OK;
}

static enum pdnn_status parse(struct pdnn_comparison *comparison, const char *text, struct pdnn_err *err) {
    const char *part;
    for (size_t n; (part = pdnn_part_next(&text, ",", &n));)
        if (parse_key(comparison, pdnn_arena_printf(&comparison->arena, "%.*s", (int)n, part), err) !=
            PDNN_OK)
            return err->status;
    return PDNN_OK;
}

/* Whether some row of the last table is like one of A's, or in one directory any other, without the keys. */
static bool has_alike(const struct pdnn_comparison *comparison) {
    struct pdnn_texts texts = {0};
    struct pdnn_str id = {0};
    size_t last = comparison->n_directories - 1;
    bool alike = false;
    for (size_t t = 0; t <= last && !alike; t++) {
        const struct pdnn_selection *table = &comparison->table[t];
        for (size_t at = 0; at < table->count + table->left_out && !alike; at++) {
            size_t known = texts.count;
            strip(comparison, table, table->row[at], &id);
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

/* How the values of a key differ: between two tables, or, overlapping at most, within one. */
enum variation { SAME, OVERLAPPING, DISJOINT };
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

/* The only key whose change pairs instances, unless two directories have some in common. */
static enum pdnn_status find(struct pdnn_comparison *comparison, struct pdnn_err *err) {
    const bool two = comparison->n_directories > 1;
    const char *found = NULL, *candidates = "", *disjoint = "";
    size_t n_found = 0;
    if (two && has_alike(comparison))
        return PDNN_OK;
    comparison->n_across = 1;
    for (size_t k = 0; k < comparison->keys.count; k++) {
        const char *key = comparison->keys.text[k];
        const enum variation variation = may_differ(comparison, key) ? variation_of(comparison, key) : SAME;
        comparison->across[0] = (struct pdnn_across_key){.name = key};
        if (variation != SAME && has_alike(comparison)) {
            found = key;
            n_found++;
            candidates = describe(comparison, candidates, key);
        }
        if (variation == DISJOINT)
            disjoint = describe(comparison, disjoint, key);
    }
    comparison->across[0] = (struct pdnn_across_key){.name = found};
    if (n_found == 1)
        return two ? PDNN_OK : take_values(comparison, comparison->across, err);
    if (n_found)
        return pdnn_fail(err, PDNN_INVALID,
                         "more than one key could be the one to differ, name it with --across: %.700s",
                         candidates);
    if (*disjoint)
        return pdnn_fail(err, PDNN_INVALID,
                         "no instance is in both; name the keys that are to differ with --across: %.700s",
                         disjoint);
    if (two)
        return pdnn_fail(err, PDNN_INVALID, "no instance is in both %s and %s", comparison->directory[0],
                         comparison->directory[1]);
    return pdnn_fail(err, PDNN_INVALID,
                     "%s: no two instances differ only in how they run; name the keys that are to differ "
                     "with --across, or a second directory",
                     comparison->directory[0]);
}

/* Between two directories a key without values of the user's has them if they are the same throughout. */
static enum pdnn_status find_across(struct pdnn_comparison *comparison, const char *text,
                                    struct pdnn_err *err) {
    if ((text ? parse(comparison, text, err) : find(comparison, err)) != PDNN_OK)
        return err->status;
    for (int side = 0; side < PDNN_SIDES; side++) {
        const char *label = "";
        for (size_t k = 0; k < comparison->n_across; k++) {
            struct pdnn_across_key *key = &comparison->across[k];
            const struct pdnn_texts *values = values_of(comparison, side, key->name);
            if (!key->value[side] && values->count == 1)
                key->value[side] = values->text[0];
            if (key->value[side])
                label = pdnn_arena_printf(&comparison->arena, "%s%s%s=%s", label, *label ? "," : "",
                                          key->name, key->value[side]);
        }
        comparison->label[side] = *label ? label : comparison->directory[side];
    }
    return PDNN_OK;
}

/* A column for each key that does not differ, unless the file calls it as another column is called: A's
 * values, or B's where A has none. */
static void add_keys(struct pdnn_comparison *comparison) {
    struct pdnn_table *pairs = &comparison->pairs;
    for (size_t k = 0; k < comparison->keys.count && pairs->n_columns < PDNN_TABLE_COLUMNS_MAX; k++) {
        const char *key = comparison->keys.text[k];
        struct pdnn_column_def def = {.name = pdnn_key_column(key), .title = key};
        int of_side[PDNN_SIDES];
        if (is_across(comparison, key, strlen(key)) || pdnn_table_find(pairs, def.name) != SIZE_MAX)
            continue;
        for (int side = 0; side < PDNN_SIDES; side++) {
            const struct pdnn_results *results = &pdnn_comparison_side(comparison, side)->results;
            of_side[side] = column_of(comparison, side, key);
            if (of_side[side] >= 0 && results->table.column[of_side[side]].def.kind == PDNN_KIND_WHOLE)
                def.kind = PDNN_KIND_WHOLE;
        }
        size_t column = pdnn_table_add_column(pairs, &def);
        for (size_t pair = 0; pair < pairs->n_rows; pair++) {
            const char *a = pdnn_comparison_get(comparison, pair, PDNN_SIDE_A, of_side[PDNN_SIDE_A]);
            pdnn_table_parse(pairs, pair, column,
                             *a ? a
                                : pdnn_comparison_get(comparison, pair, PDNN_SIDE_B, of_side[PDNN_SIDE_B]));
        }
    }
}

/* Adds the side's rows by the numbers of their ids without the keys that differ: the place in the selection
 * + 1; 0: none. Chosen rows and those that did not end ok are merged in the table's order. */
static enum pdnn_status add_side(struct pdnn_comparison *comparison, size_t (*by_id)[PDNN_SIDES], int side,
                                 struct pdnn_err *err) {
    const struct pdnn_selection *table = pdnn_comparison_side(comparison, side);
    const size_t n_ok = table->count, all = n_ok + table->left_out;
    enum pdnn_status status = PDNN_OK;
    struct pdnn_str id = {0};
    for (size_t i = 0, k = n_ok; status == PDNN_OK && (i < n_ok || k < all);) {
        const bool is_ok = k == all || (i < n_ok && table->row[i] < table->row[k]);
        const size_t at = is_ok ? i++ : k++, row = table->row[at];
        if (!belongs(comparison, side, row))
            continue;
        strip(comparison, table, row, &id);
        size_t *known = &by_id[pdnn_texts_add(&comparison->ids, pdnn_str_text(&id))][side];
        if (*known)
            status = pdnn_fail(
                err, PDNN_INVALID,
                "%s: lines %zu and %zu are one instance%s; name the values of both sides, as in "
                "--across threads=1:2, or more keys",
                comparison->directory[side], pdnn_results_line(&table->results, table->row[*known - 1]),
                pdnn_results_line(&table->results, row),
                comparison->n_across ? " but for what is to differ" : "");
        *known = at + 1;
    }
    pdnn_str_finish(&id);
    return status;
}

/* That of A's time over B's, if the instance ended ok on both sides; NaN if there is none. */
static double ratio_of(const struct pdnn_comparison *comparison, const size_t at[PDNN_SIDES]) {
    double ns[PDNN_SIDES];
    for (int side = 0; side < PDNN_SIDES; side++) {
        const struct pdnn_selection *table = pdnn_comparison_side(comparison, side);
        ns[side] = at[side] && at[side] <= table->count ? pdnn_selection_step_ns(table, at[side] - 1) : NAN;
    }
    double ratio = ns[PDNN_SIDE_A] / ns[PDNN_SIDE_B];
    return isfinite(ratio) && ratio > 0 ? ratio : NAN;
}

static void add_pair(struct pdnn_comparison *comparison, const char *id, const size_t *at, double ratio) {
    struct pdnn_table *pairs = &comparison->pairs;
    double half[PDNN_SIDES], probe[PDNN_SIDES];
    const size_t pair = pdnn_table_add_texts(pairs, 1, &id);
    for (size_t side = 0; side < PDNN_SIDES; side++) {
        const struct pdnn_selection *table = pdnn_comparison_side(comparison, (int)side);
        size_t row = comparison->at[pair][side] = at[side] - 1;
        half[side] = pdnn_log_half(pdnn_selection_value(table, row, PDNN_RESULT_CI_LOW_NS),
                                   pdnn_selection_value(table, row, PDNN_RESULT_CI_HIGH_NS));
        probe[side] = pdnn_selection_value(table, row, PDNN_RESULT_PROBE_GBS);
        pdnn_table_set_text(pairs, pair, PDNN_PAIR_A_ID + side, pdnn_selection_get(table, row, table->id));
        pdnn_table_set_text(pairs, pair, PDNN_PAIR_FAMILY, pdnn_selection_get(table, row, table->family));
        pdnn_table_set_number(pairs, pair, PDNN_PAIR_A_NS + side, pdnn_selection_step_ns(table, row));
    }
    double both = sqrt((half[0] * half[0] + half[1] * half[1]) / 2);
    double low = ratio * exp(-both), high = ratio * exp(both);
    pdnn_table_set_number(pairs, pair, PDNN_PAIR_RATIO, ratio);
    pdnn_table_set_number(pairs, pair, PDNN_PAIR_LOW, low);
    pdnn_table_set_number(pairs, pair, PDNN_PAIR_HIGH, high);
    if (!isnan(both))
        pdnn_table_set_count(pairs, pair, PDNN_PAIR_CLEAR, low > 1 || high < 1);
    pdnn_table_set_text(pairs, pair, PDNN_PAIR_DECISION,
                        low > 1    ? pdnn_faster
                        : high < 1 ? pdnn_slower
                                   : pdnn_undecided);
    pdnn_table_set_number(pairs, pair, PDNN_PAIR_PROBE_RATIO, probe[PDNN_SIDE_A] / probe[PDNN_SIDE_B]);
}

static void add_unpaired(struct pdnn_comparison *comparison, const char *id, const size_t *at) {
    const char *texts[PDNN_UNPAIRED_COLUMNS] = {id};
    for (size_t side = 0; side < PDNN_SIDES; side++) {
        const struct pdnn_selection *table = pdnn_comparison_side(comparison, (int)side);
        if (!at[side])
            continue;
        const size_t row = at[side] - 1;
        const char *status = pdnn_selection_get(table, row, table->status),
                   *reason = pdnn_selection_word(table, row, PDNN_RESULT_REASON);
        const bool is_timeless = !*reason && strcmp(status, "ok") == 0 && row >= table->count;
        texts[PDNN_UNPAIRED_A_ID + side] = pdnn_selection_get(table, row, table->id);
        texts[PDNN_UNPAIRED_A_STATUS + side] = status;
        texts[PDNN_UNPAIRED_A_REASON + side] = is_timeless ? "its time is not above zero" : reason;
    }
    pdnn_table_add_texts(&comparison->unpaired, PDNN_UNPAIRED_COLUMNS, texts);
}

static enum pdnn_status join_sides(struct pdnn_comparison *comparison, struct pdnn_err *err) {
    size_t rows = 0;
    for (size_t t = 0; t < comparison->n_directories; t++)
        rows += comparison->table[t].count + comparison->table[t].left_out;
    size_t(*by_id)[PDNN_SIDES] = pdnn_arena_alloc(&comparison->arena, rows, sizeof *by_id);
    comparison->at = pdnn_arena_alloc(&comparison->arena, rows, sizeof *comparison->at);
    for (int side = 0; side < PDNN_SIDES; side++)
        if (add_side(comparison, by_id, side, err) != PDNN_OK)
            return err->status;
    for (size_t i = 0; i < comparison->ids.count; i++) {
        double ratio = ratio_of(comparison, by_id[i]);
        if (isnan(ratio))
            add_unpaired(comparison, comparison->ids.text[i], by_id[i]);
        else
            add_pair(comparison, comparison->ids.text[i], by_id[i], ratio);
    }
    return comparison->pairs.n_rows
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID,
                           "no instance ended ok on both sides, %s and %s (%zu on one or none)",
                           comparison->label[0], comparison->label[1], comparison->unpaired.n_rows);
}

static bool has_state(const struct pdnn_comparison *comparison) {
    static const char *const columns[] = {"host", "threads", "isa"};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        int a = column_of(comparison, PDNN_SIDE_A, columns[k]),
            b = column_of(comparison, PDNN_SIDE_B, columns[k]);
        for (size_t pair = 0; pair < comparison->pairs.n_rows; pair++)
            if (strcmp(pdnn_comparison_get(comparison, pair, PDNN_SIDE_A, a),
                       pdnn_comparison_get(comparison, pair, PDNN_SIDE_B, b)) != 0)
                return false;
    }
    return true;
}

static bool is_unusable(const struct pdnn_comparison *comparison, size_t pair) {
    unsigned flags = 0;
    for (int side = 0; side < PDNN_SIDES; side++)
        flags |= pdnn_flags_parse(pdnn_selection_word(pdnn_comparison_side(comparison, side),
                                                      comparison->at[pair][side], PDNN_RESULT_ROW_FLAGS));
    return flags & PDNN_FLAG_UNUSABLE;
}

bool pdnn_comparison_doubt(const struct pdnn_comparison *comparison, struct pdnn_str *out) {
    const struct pdnn_table *pairs = &comparison->pairs;
    const bool has_probes = has_state(comparison);
    size_t moved = 0, without = 0, unusable = 0;
    for (size_t pair = 0; pair < pairs->n_rows; pair++) {
        double ratio = pdnn_table_number(pairs, pair, PDNN_PAIR_PROBE_RATIO);
        moved += has_probes && (ratio > PDNN_SAME_STATE || ratio < 1 / PDNN_SAME_STATE);
        without += pdnn_table_is_empty(pairs, pair, PDNN_PAIR_LOW);
        unusable += is_unusable(comparison, pair);
    }
    const bool is_doubtful = 2 * moved > pairs->n_rows;
    if (unusable)
        pdnn_str_printf(out, "Unusable, the machine was busy: %zu of %zu%s", unusable, pairs->n_rows,
                        moved ? ". " : ".");
    if (moved)
        pdnn_str_printf(
            out,
            "%s%zu of %zu found the machine in another state on either side (their read probes differ "
            "by more than 15 %%)%s.",
            is_doubtful ? "Which side is faster cannot be told: " : "", moved, pairs->n_rows,
            is_doubtful ? "" : ", so that their intervals are too narrow");
    else if (without == pairs->n_rows && !unusable)
        pdnn_str_printf(out, "No ratio has an interval, because the times of a side have none, so that no "
                             "difference is clear.");
    return is_doubtful || unusable;
}

static enum pdnn_status read_tables(struct pdnn_comparison *comparison,
                                    const struct pdnn_compare_request *request, struct pdnn_err *err) {
    const char *a = request->directory[PDNN_SIDE_A], *b = request->directory[PDNN_SIDE_B];
    const size_t given = b ? PDNN_SIDES : 1;
    comparison->directory[PDNN_SIDE_A] = pdnn_arena_strdup(&comparison->arena, a);
    comparison->directory[PDNN_SIDE_B] = pdnn_arena_strdup(&comparison->arena, b ? b : a);
    if (b && pdnn_same_directory(a, b))
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: both sides are the same directory; to compare within it, name it once", a);
    for (size_t t = 0; t < given; t++) {
        if (pdnn_selection_open_all(&comparison->table[t], &request->directory[t], 1, request->only,
                                    request->n_only, err) != PDNN_OK)
            return err->status;
        comparison->n_directories++;
    }
    find_keys(comparison);
    return PDNN_OK;
}

enum pdnn_status pdnn_comparison_open(struct pdnn_comparison *comparison,
                                      const struct pdnn_compare_request *request, struct pdnn_err *err) {
    struct pdnn_comparison made = {.n_directories = 0};
    pdnn_table_init(&made.pairs, &pdnn_pairs_def);
    pdnn_table_init(&made.unpaired, &pdnn_unpaired_def);
    if (read_tables(&made, request, err) != PDNN_OK || find_across(&made, request->across, err) != PDNN_OK ||
        join_sides(&made, err) != PDNN_OK) {
        pdnn_comparison_close(&made);
        return err->status;
    }
    add_keys(&made);
    *comparison = made;
    return PDNN_OK;
}

void pdnn_comparison_close(struct pdnn_comparison *comparison) {
    for (int side = 0; side < PDNN_SIDES; side++)
        pdnn_selection_close(&comparison->table[side]);
    pdnn_table_finish(&comparison->pairs);
    pdnn_table_finish(&comparison->unpaired);
    for (size_t t = 0; t < PDNN_SIDES; t++)
        for (size_t k = 0; comparison->values[t] && k < comparison->keys.count; k++)
            pdnn_texts_finish(&comparison->values[t][k]);
    pdnn_texts_finish(&comparison->keys);
    pdnn_texts_finish(&comparison->ids);
    pdnn_arena_finish(&comparison->arena);
    *comparison = (struct pdnn_comparison){.n_directories = 0};
}
