#include "results/compare/compare.h"
#include "base/paths/folder.h"
#include "base/texts.h"
#include "base/units.h"
#include "models/instance.h"
#include "results/compare/definitions.h"
#include "results/compare/paired.h"
#include "results/stats/means.h"
#include "runtime/protocol/visit.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const char pdnn_faster[] = "faster", pdnn_slower[] = "slower", pdnn_undecided[] = "undecided",
           pdnn_alike[] = "alike";

#define AS(kind, show) PDNN_KIND_##kind, PDNN_SHOW_##show
static const struct pdnn_column_def pair_columns[PDNN_PAIR_KEYS] = {
    {"id", "instance", NULL, AS(TEXT, PLAIN), PDNN_ALIGN_WRAP,
     .help = "the instance, without the keys that differ"},
    {"a_id", NULL, NULL, AS(TEXT, NEVER), .help = "its id in A's results.csv"},
    {"b_id", NULL, NULL, AS(TEXT, NEVER), .help = "its id in B's results.csv"},
    {"family", NULL, NULL, AS(TEXT, PLAIN), .help = "model family"},
    {"a_ns", "A", "ns", AS(NUMBER, TIME), .help = "A's time_ns_median"},
    {"b_ns", "B", "ns", AS(NUMBER, TIME), .help = "B's time_ns_median"},
    {"ratio", NULL, NULL, AS(NUMBER, FACTOR),
     .help = "a_ns over b_ns, or their trimmed mean over pairs: above 1, B is faster"},
    {"ratio_low", "95 % interval", NULL, AS(NUMBER, INTERVAL), .rank = 2,
     .help =
         "lower end of the ratio's interval: by pairs that of Yuen's t of their logarithms' trimmed mean, at "
         "interval_pct; otherwise, with h = ln(ci_high_ns / ci_low_ns) / 2 of either side, ratio * "
         "exp(-sqrt((h_a^2 + h_b^2) / 2)); empty if a side has no interval"},
    {"ratio_high", NULL, NULL, AS(NUMBER, NEVER), .help = "upper end of that interval"},
    {"pairs", NULL, NULL, AS(COUNT, PLAIN), .rank = 5,
     .help =
         "pairs of visits next to each other, at least 8, that the ratio is made of; empty: it is that of "
         "the two times"},
    {"other_choices", NULL, NULL, AS(COUNT, NEVER),
     .help =
         "pairs that are left out, since the sides ran other choices among implementations in them; if too "
         "few are left, the decision is undecided"},
    {"interval_pct", NULL, "%", AS(COUNT, NEVER), .help = "level of the interval: 99 by pairs, 95 otherwise"},
    {"clear", NULL, NULL, AS(COUNT, NEVER),
     .help = "1: B is faster or slower; 0: that is not decided; empty without an interval"},
    {"decision", NULL, NULL, AS(TEXT, PLAIN), .rank = 1,
     .help =
         "what B is. By pairs faster, slower, or alike within measure.precision: by the first look at the "
         "pairs that decides, all looks and comparisons together wrong once in a hundred. Otherwise faster "
         "or slower if the interval excludes 1. Else undecided"},
    {"instructions_factor", NULL, NULL, AS(NUMBER, FACTOR),
     .help = "A's instructions over B's, by hardware counters; empty without, as are the next two"},
    {"cpi_factor", NULL, NULL, AS(NUMBER, FACTOR), .help = "A's cycles per instruction over B's"},
    {"cycle_rate_factor", NULL, NULL, AS(NUMBER, FACTOR),
     .help = "cycles a second of all threads, B's over A's; the product of the three is the ratio"},
    {"beyond_roofs", "beyond", NULL, AS(NUMBER, FACTOR), .rank = 4,
     .help = "A's time projected onto B's roofs (paradnn project --onto) over b_ns: above 1, B is faster "
             "than they say; empty within one directory, or if keys other than threads differ"},
    {"state", NULL, NULL, AS(TEXT, PLAIN), .rank = 3,
     .help = "near or far: where the sides found their threads at different distances, the times are those "
             "of the visits in which they were so; empty: of all visits"},
    {"distance_ratio", NULL, NULL, AS(NUMBER, PLAIN),
     .help = "A's handoff_ns over B's: on one machine with the same threads, another state beyond 1.5"},
    {"clock_ratio", NULL, NULL, AS(NUMBER, PLAIN),
     .help = "A's clock_ghz over B's; another state beyond 5 %"},
    {"probe_ratio", NULL, NULL, AS(NUMBER, PLAIN),
     .help = "A's probe_gbs over B's; another state beyond 15 %, where intervals do not hold. Columns of the "
             "hyper-parameters and run settings that both sides share follow"},
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

int pdnn_comparison_side(const struct pdnn_comparison *comparison, int column) {
    for (size_t pair = 0; pair < comparison->pairs.n_rows; pair++)
        if (*pdnn_selection_get(&comparison->selection, comparison->at[pair][PDNN_SIDE_A], column))
            return PDNN_SIDE_A;
    return PDNN_SIDE_B;
}

const char *pdnn_comparison_setting(const struct pdnn_comparison *comparison, size_t pair, int side,
                                    enum pdnn_setting setting) {
    return pdnn_selection_get(&comparison->selection, comparison->at[pair][side],
                              pdnn_results_setting(&comparison->selection.results, setting));
}

double pdnn_pair_ratio(const struct pdnn_comparison *comparison, size_t pair) {
    return pdnn_table_number(&comparison->pairs, pair, PDNN_PAIR_RATIO);
}

double pdnn_pair_ns(const struct pdnn_comparison *comparison, size_t pair, int side) {
    return pdnn_table_number(&comparison->pairs, pair, PDNN_PAIR_A_NS + (size_t)side);
}

double pdnn_pair_half(const struct pdnn_comparison *comparison, size_t pair) {
    const struct pdnn_table *pairs = &comparison->pairs;
    const double half = pdnn_log_half(pdnn_table_number(pairs, pair, PDNN_PAIR_LOW),
                                      pdnn_table_number(pairs, pair, PDNN_PAIR_HIGH));
    return pdnn_table_is_empty(pairs, pair, PDNN_PAIR_PAIRS)
               ? half
               : half * pdnn_pairs_narrow(pdnn_table_count(pairs, pair, PDNN_PAIR_PAIRS));
}

bool pdnn_comparison_has_two(const struct pdnn_comparison *comparison) {
    return comparison->source[PDNN_SIDE_A] != comparison->source[PDNN_SIDE_B];
}

/* How many rows there are, those that failed too. */
static size_t n_rows(const struct pdnn_comparison *comparison) {
    return comparison->selection.count + comparison->selection.left_out;
}

static const char *name_of(const struct pdnn_comparison *comparison, int column) {
    return pdnn_results_name(&comparison->selection.results, column);
}

/* Whether the row is in the side's directory. */
static bool is_there(const struct pdnn_comparison *comparison, int side, size_t at) {
    return pdnn_selection_source(&comparison->selection, at) == comparison->source[side];
}

/* Whether the row has its side's values of the keys that differ. */
static bool belongs(const struct pdnn_comparison *comparison, int side, size_t at) {
    for (size_t k = 0; k < comparison->across.count; k++) {
        const char *value = comparison->value[k][side];
        if (value &&
            strcmp(pdnn_selection_get(&comparison->selection, at, comparison->across.column[k]), value) != 0)
            return false;
    }
    return is_there(comparison, side, at);
}

/* The values of a key on a side, those of failed rows too; they live as long as the comparison. */
static const struct pdnn_texts *values_of(const struct pdnn_comparison *comparison, int side, int column) {
    struct pdnn_texts *values = &comparison->values[side][column];
    const bool is_known = values->count > 0;
    for (size_t at = 0; !is_known && at < n_rows(comparison); at++)
        if (is_there(comparison, side, at))
            pdnn_texts_add(values, pdnn_selection_get(&comparison->selection, at, column));
    return values;
}

/* "1, 2, 4": the first of them. */
static const char *list_values(struct pdnn_comparison *comparison, int side, int key) {
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

/* The two values of the last key, in one directory: numbers ascending, words in the order of the table. */
static enum pdnn_status take_values(struct pdnn_comparison *comparison, struct pdnn_err *err) {
    const size_t k = comparison->across.count - 1;
    const int column = comparison->across.column[k];
    const char *key = name_of(comparison, column), *list = list_values(comparison, PDNN_SIDE_A, column);
    const struct pdnn_texts *values = values_of(comparison, PDNN_SIDE_A, column);
    double a, b;
    if (values->count > PDNN_SIDES)
        return pdnn_fail(err, PDNN_INVALID, "%s has the values %s: name two of them, as in --across %s=%s:%s",
                         key, list, key, values->text[0], values->text[1]);
    if (values->count < PDNN_SIDES)
        return pdnn_fail(err, PDNN_INVALID, "%s: %s has only the value %s", comparison->directory[0], key,
                         list);
    bool falls = pdnn_parse_double(values->text[0], &a) && pdnn_parse_double(values->text[1], &b) && b < a;
    for (int side = 0; side < PDNN_SIDES; side++)
        comparison->value[k][side] = values->text[falls ? 1 - side : side];
    return PDNN_OK;
}

/* KEY or KEY=A:B; a value that the user named must be there. */
static enum pdnn_status parse_key(struct pdnn_comparison *comparison, char *text, struct pdnn_err *err) {
    struct pdnn_axes *across = &comparison->across;
    char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
    int column;
    if (equals && !colon)
        return pdnn_fail(err, PDNN_INVALID, "'%.64s' is not KEY or KEY=A:B, with A's and B's value", text);
    if (equals)
        *equals = *colon = 0;
    if (strcmp(text, "host") == 0 && pdnn_comparison_has_two(comparison) && !equals)
        return PDNN_OK;
    if (pdnn_results_ask(&comparison->selection.results, text, true, &column, err) != PDNN_OK)
        return err->status;
    if (pdnn_axes_have(across, column))
        return pdnn_fail(err, PDNN_INVALID, "--across names %.64s twice", name_of(comparison, column));
    if (across->count == PDNN_SELECTION_AXES_MAX)
        return pdnn_fail(err, PDNN_INVALID, "--across names more than %d keys", PDNN_SELECTION_AXES_MAX);
    const char **value = comparison->value[across->count];
    across->column[across->count++] = column;
    if (!equals)
        return pdnn_comparison_has_two(comparison) ? PDNN_OK : take_values(comparison, err);
    value[PDNN_SIDE_A] = equals + 1;
    value[PDNN_SIDE_B] = colon + 1;
    if (!pdnn_comparison_has_two(comparison) && strcmp(equals + 1, colon + 1) == 0)
        return pdnn_fail(err, PDNN_INVALID, "both sides have %.64s=%.64s", text, equals + 1);
    for (int side = 0; side < PDNN_SIDES; side++)
        if (pdnn_texts_find(values_of(comparison, side, column), value[side]) == SIZE_MAX)
            return pdnn_fail(err, PDNN_INVALID, "%s: no instance has %s=%.64s, the values are %s",
                             comparison->directory[side], name_of(comparison, column), value[side],
                             list_values(comparison, side, column));
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

/* The number of the row's id without the keys that differ, whether or not those have their defaults. */
static size_t number_row(const struct pdnn_comparison *comparison, size_t at, struct pdnn_texts *ids) {
    struct pdnn_str id = {0};
    pdnn_selection_pattern(&comparison->selection, at, &comparison->across, false, &id);
    const size_t number = pdnn_texts_add(ids, pdnn_str_text(&id));
    pdnn_str_finish(&id);
    return number;
}

size_t pdnn_comparison_count_sides(const struct pdnn_comparison *comparison) {
    struct pdnn_texts ids = {0};
    for (size_t at = 0; at < n_rows(comparison); at++)
        number_row(comparison, at, &ids);
    const size_t models = ids.count;
    pdnn_texts_finish(&ids);
    return n_rows(comparison) - models;
}

/* Whether some row of B's directory is like one of A's, or in one directory any other, without the keys. */
static bool has_alike(const struct pdnn_comparison *comparison) {
    struct pdnn_texts ids = {0};
    bool alike = false;
    for (size_t at = 0; pdnn_comparison_has_two(comparison) && at < n_rows(comparison); at++)
        if (is_there(comparison, PDNN_SIDE_A, at))
            number_row(comparison, at, &ids);
    const size_t n_first = ids.count;
    for (size_t at = 0; at < n_rows(comparison) && !alike; at++) {
        const size_t known = pdnn_comparison_has_two(comparison) ? n_first : ids.count;
        alike = is_there(comparison, PDNN_SIDE_B, at) && number_row(comparison, at, &ids) < known;
    }
    pdnn_texts_finish(&ids);
    return alike;
}

/* The list, and "backend (onednn, openblas)" for one directory, "backend (onednn | openblas)" for two. */
static const char *describe(struct pdnn_comparison *comparison, const char *list, int key) {
    const bool two = pdnn_comparison_has_two(comparison);
    return pdnn_arena_printf(&comparison->arena, "%s%s%s (%s%s%s)", list, *list ? ", " : "",
                             name_of(comparison, key), list_values(comparison, PDNN_SIDE_A, key),
                             two ? " | " : "", two ? list_values(comparison, PDNN_SIDE_B, key) : "");
}

/* How the values of a key differ: between two tables, or, overlapping at most, within one. */
enum variation { SAME, OVERLAPPING, DISJOINT };
static enum variation variation_of(const struct pdnn_comparison *comparison, int key) {
    const struct pdnn_texts *a = values_of(comparison, PDNN_SIDE_A, key),
                            *b = values_of(comparison, PDNN_SIDE_B, key);
    size_t common = 0;
    if (!pdnn_comparison_has_two(comparison))
        return a->count > 1 ? OVERLAPPING : SAME;
    for (size_t i = 0; i < b->count; i++)
        common += pdnn_texts_find(a, b->text[i]) != SIZE_MAX;
    return common == 0 ? DISJOINT : common < a->count || common < b->count ? OVERLAPPING : SAME;
}

/* In one directory, settings that say how a step runs: what a step does, a sweep varies anyway. */
static bool may_differ(const struct pdnn_comparison *comparison, int key) {
    int setting = pdnn_param_find(pdnn_settings, PDNN_SETTING_COUNT, name_of(comparison, key));
    if (pdnn_comparison_has_two(comparison))
        return key != comparison->selection.results.results;
    return setting >= 0 && pdnn_setting_says_how((enum pdnn_setting)setting);
}

/* The only key whose change pairs instances, unless two directories have some in common. */
static enum pdnn_status find(struct pdnn_comparison *comparison, struct pdnn_err *err) {
    const struct pdnn_results *results = &comparison->selection.results;
    const bool two = pdnn_comparison_has_two(comparison);
    const char *candidates = "", *disjoint = "";
    int found = -1, n_found = 0, family = comparison->selection.family;
    if (two && has_alike(comparison))
        return PDNN_OK;
    comparison->across.count = 1;
    for (int key = results->first_key; key < results->end_key; key++) {
        const enum variation variation = may_differ(comparison, key) ? variation_of(comparison, key) : SAME;
        comparison->across.column[0] = key;
        if (variation != SAME && has_alike(comparison)) {
            found = key;
            n_found++;
            candidates = describe(comparison, candidates, key);
        }
        if (variation == DISJOINT)
            disjoint = describe(comparison, disjoint, key);
    }
    comparison->across.column[0] = found;
    if (n_found == 1)
        return two ? PDNN_OK : take_values(comparison, err);
    if (n_found)
        return pdnn_fail(err, PDNN_INVALID,
                         "more than one key could be the one to differ, name it with --across: %.700s",
                         candidates);
    const char *definitions =
        two ? pdnn_definitions_differ(values_of(comparison, PDNN_SIDE_A, family),
                                      values_of(comparison, PDNN_SIDE_B, family), &comparison->arena)
            : "";
    if (*disjoint)
        return pdnn_fail(err, PDNN_INVALID,
                         "no instance is in both; name the keys that are to differ with --across: %.700s%s",
                         disjoint, definitions);
    if (two)
        return pdnn_fail(err, PDNN_INVALID, "no instance is in both %s and %s%s", comparison->directory[0],
                         comparison->directory[1], definitions);
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
        for (size_t k = 0; k < comparison->across.count; k++) {
            const int column = comparison->across.column[k];
            const struct pdnn_texts *values = values_of(comparison, side, column);
            const char **value = &comparison->value[k][side];
            if (!*value && values->count == 1)
                *value = values->text[0];
            if (*value && column != comparison->selection.results.results)
                label = pdnn_arena_printf(&comparison->arena, "%s%s%s=%s", label, *label ? "," : "",
                                          name_of(comparison, column), *value);
        }
        comparison->label[side] = *label ? label : comparison->directory[side];
    }
    return PDNN_OK;
}

/* A column for each key that does not differ, unless its name is taken: A's values, or else B's. */
static void add_keys(struct pdnn_comparison *comparison) {
    const struct pdnn_results *results = &comparison->selection.results;
    struct pdnn_table *pairs = &comparison->pairs;
    for (int key = results->first_key; key < results->end_key; key++) {
        const char *name = name_of(comparison, key);
        const struct pdnn_column_def *of = &results->table.column[key].def;
        const struct pdnn_column_def def = {
            .name = pdnn_key_column(name), .title = name, .kind = of->kind, .digits = of->digits};
        if (key == results->results || pairs->n_columns == PDNN_TABLE_COLUMNS_MAX ||
            pdnn_axes_have(&comparison->across, key) || pdnn_table_find(pairs, def.name) != SIZE_MAX)
            continue;
        const int side = pdnn_comparison_side(comparison, key);
        size_t column = pdnn_table_add_column(pairs, &def);
        for (size_t pair = 0; pair < pairs->n_rows; pair++)
            pdnn_table_parse(pairs, pair, column,
                             pdnn_selection_get(&comparison->selection, comparison->at[pair][side], key));
    }
}

/* Advice on keys does not help where a side has no row. */
static enum pdnn_status check_sides(const struct pdnn_comparison *comparison, struct pdnn_err *err) {
    const struct pdnn_results *results = &comparison->selection.results;
    for (int side = 0; side < PDNN_SIDES; side++) {
        size_t at = 0, row = 0;
        while (at < n_rows(comparison) && !is_there(comparison, side, at))
            at++;
        while (row < results->table.n_rows && pdnn_results_source(results, row) != comparison->source[side])
            row++;
        if (at == n_rows(comparison))
            return pdnn_fail(err, PDNN_INVALID, "%s: %s", comparison->directory[side],
                             row < results->table.n_rows ? "no instance has all the values asked for"
                                                         : "results.csv has no instance");
    }
    return PDNN_OK;
}

/* by_id: the place in the selection + 1; 0: none. Those that did not end ok are merged in table order. */
static enum pdnn_status add_side(struct pdnn_comparison *comparison, size_t (*by_id)[PDNN_SIDES], int side,
                                 struct pdnn_err *err) {
    const struct pdnn_selection *rows = &comparison->selection;
    const size_t n_ok = rows->count, all = n_rows(comparison);
    for (size_t i = 0, k = n_ok; i < n_ok || k < all;) {
        const bool is_ok = k == all || (i < n_ok && rows->row[i] < rows->row[k]);
        const size_t at = is_ok ? i++ : k++;
        if (!belongs(comparison, side, at))
            continue;
        size_t *known = &by_id[number_row(comparison, at, &comparison->ids)][side];
        if (*known)
            return pdnn_fail(err, PDNN_INVALID,
                             "%s: lines %zu and %zu are one instance%s; name the values of both sides, as in "
                             "--across threads=1:2, or more keys",
                             comparison->directory[side],
                             pdnn_results_line(&rows->results, rows->row[*known - 1]),
                             pdnn_results_line(&rows->results, rows->row[at]),
                             comparison->across.count ? " but for what is to differ" : "");
        *known = at + 1;
    }
    return PDNN_OK;
}

/* That of A's time over B's, if the instance ended ok on both sides; NaN if there is none. */
static double ratio_of(const struct pdnn_selection *rows, const size_t at[PDNN_SIDES]) {
    double ns[PDNN_SIDES];
    for (int side = 0; side < PDNN_SIDES; side++)
        ns[side] = at[side] && at[side] <= rows->count ? pdnn_selection_step_ns(rows, at[side] - 1) : NAN;
    double ratio = ns[PDNN_SIDE_A] / ns[PDNN_SIDE_B];
    return isfinite(ratio) && ratio > 0 ? ratio : NAN;
}

double pdnn_pair_value(const struct pdnn_comparison *comparison, size_t pair, int side,
                       enum pdnn_result_column column) {
    return pdnn_selection_value(&comparison->selection, comparison->at[pair][side], column);
}

void pdnn_pair_set(struct pdnn_table *pairs, size_t pair, const double ns[PDNN_SIDES],
                   const double half[PDNN_SIDES]) {
    const double ratio = ns[PDNN_SIDE_A] / ns[PDNN_SIDE_B],
                 both = sqrt((half[0] * half[0] + half[1] * half[1]) / 2), low = ratio * exp(-both),
                 high = ratio * exp(both);
    for (size_t side = 0; side < PDNN_SIDES; side++)
        pdnn_table_set_number(pairs, pair, PDNN_PAIR_A_NS + side, ns[side]);
    pdnn_table_set_number(pairs, pair, PDNN_PAIR_RATIO, ratio);
    pdnn_table_set_number(pairs, pair, PDNN_PAIR_LOW, low);
    pdnn_table_set_number(pairs, pair, PDNN_PAIR_HIGH, high);
    pdnn_table_set_count(pairs, pair, PDNN_PAIR_INTERVAL_PCT, 95);
    if (isnan(both))
        pdnn_table_set_empty(pairs, pair, PDNN_PAIR_CLEAR);
    else
        pdnn_table_set_count(pairs, pair, PDNN_PAIR_CLEAR, low > 1 || high < 1);
    pdnn_table_set_text(pairs, pair, PDNN_PAIR_DECISION,
                        low > 1    ? pdnn_faster
                        : high < 1 ? pdnn_slower
                                   : pdnn_undecided);
}

static void add_pair(struct pdnn_comparison *comparison, const char *id, const size_t *at) {
    static const struct {
        size_t column;
        enum pdnn_result_column of;
    } ratios[] = {{PDNN_PAIR_DISTANCE_RATIO, PDNN_RESULT_HANDOFF_NS},
                  {PDNN_PAIR_CLOCK_RATIO, PDNN_RESULT_CLOCK_GHZ},
                  {PDNN_PAIR_PROBE_RATIO, PDNN_RESULT_PROBE_GBS}};
    const struct pdnn_selection *table = &comparison->selection;
    struct pdnn_table *pairs = &comparison->pairs;
    double half[PDNN_SIDES], ns[PDNN_SIDES];
    const size_t pair = pdnn_table_add_texts(pairs, 1, &id);
    for (int side = 0; side < PDNN_SIDES; side++) {
        const size_t row = comparison->at[pair][side] = at[side] - 1;
        half[side] = pdnn_log_half(pdnn_pair_value(comparison, pair, side, PDNN_RESULT_CI_LOW_NS),
                                   pdnn_pair_value(comparison, pair, side, PDNN_RESULT_CI_HIGH_NS));
        ns[side] = pdnn_selection_step_ns(table, row);
        pdnn_table_set_text(pairs, pair, PDNN_PAIR_A_ID + (size_t)side,
                            pdnn_selection_get(table, row, table->id));
        pdnn_table_set_text(pairs, pair, PDNN_PAIR_FAMILY, pdnn_selection_get(table, row, table->family));
    }
    pdnn_pair_set(pairs, pair, ns, half);
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        pdnn_table_set_number(pairs, pair, ratios[i].column,
                              pdnn_pair_value(comparison, pair, PDNN_SIDE_A, ratios[i].of) /
                                  pdnn_pair_value(comparison, pair, PDNN_SIDE_B, ratios[i].of));
}

static void add_unpaired(struct pdnn_comparison *comparison, const char *id, const size_t *at) {
    const struct pdnn_selection *table = &comparison->selection;
    const char *texts[PDNN_UNPAIRED_COLUMNS] = {id};
    for (size_t side = 0; side < PDNN_SIDES; side++) {
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
    const size_t rows = n_rows(comparison);
    comparison->of_id = pdnn_arena_alloc(&comparison->arena, 2 * rows, sizeof *comparison->of_id);
    comparison->at = comparison->of_id + rows;
    for (int side = 0; side < PDNN_SIDES; side++)
        if (add_side(comparison, comparison->of_id, side, err) != PDNN_OK)
            return err->status;
    for (size_t i = 0; i < comparison->ids.count; i++) {
        if (isnan(ratio_of(&comparison->selection, comparison->of_id[i])))
            add_unpaired(comparison, comparison->ids.text[i], comparison->of_id[i]);
        else
            add_pair(comparison, comparison->ids.text[i], comparison->of_id[i]);
    }
    return comparison->pairs.n_rows
               ? PDNN_OK
               : pdnn_fail(err, PDNN_UNSUPPORTED,
                           "no instance ended ok on both sides, %s and %s (%zu on one or none)",
                           comparison->label[0], comparison->label[1], comparison->unpaired.n_rows);
}

bool pdnn_comparison_are_alike(const struct pdnn_comparison *comparison, const char *name) {
    const struct pdnn_selection *rows = &comparison->selection;
    const int column = pdnn_results_named(&rows->results, name);
    for (size_t pair = 0; pair < comparison->pairs.n_rows; pair++)
        if (strcmp(pdnn_selection_get(rows, comparison->at[pair][PDNN_SIDE_A], column),
                   pdnn_selection_get(rows, comparison->at[pair][PDNN_SIDE_B], column)) != 0)
            return false;
    return true;
}

bool pdnn_comparison_are_apart(const struct pdnn_comparison *comparison) {
    return pdnn_comparison_has_two(comparison) || !pdnn_comparison_are_alike(comparison, "host");
}

enum pdnn_status pdnn_comparison_make(struct pdnn_comparison *comparison, const struct pdnn_selection *all,
                                      size_t other, const char *across, struct pdnn_err *err) {
    struct pdnn_comparison made = {.source = {0, other}, .number = other ? other : 1};
    pdnn_selection_part(all, -1, "", false, &made.selection);
    pdnn_table_init(&made.pairs, &pdnn_pairs_def);
    pdnn_table_init(&made.unpaired, &pdnn_unpaired_def);
    for (size_t side = 0; side < PDNN_SIDES; side++) {
        made.directory[side] = all->results.directory[made.source[side]];
        made.values[side] =
            pdnn_arena_alloc(&made.arena, (size_t)all->results.end_name, sizeof **made.values);
    }
    if (check_sides(&made, err) != PDNN_OK || find_across(&made, across, err) != PDNN_OK ||
        join_sides(&made, err) != PDNN_OK) {
        pdnn_comparison_close(&made);
        return err->status;
    }
    add_keys(&made);
    *comparison = made;
    return PDNN_OK;
}

bool pdnn_comparison_is_refused(enum pdnn_status status) {
    return status == PDNN_INVALID || status == PDNN_UNSUPPORTED;
}

void pdnn_comparison_close(struct pdnn_comparison *comparison) {
    for (size_t side = 0; side < PDNN_SIDES; side++)
        for (int c = 0; comparison->values[side] && c < comparison->selection.results.end_name; c++)
            pdnn_texts_finish(&comparison->values[side][c]);
    pdnn_selection_close(&comparison->selection);
    pdnn_table_finish(&comparison->pairs);
    pdnn_table_finish(&comparison->unpaired);
    pdnn_texts_finish(&comparison->ids);
    pdnn_arena_finish(&comparison->arena);
    *comparison = (struct pdnn_comparison){.across = {.count = 0}};
}
