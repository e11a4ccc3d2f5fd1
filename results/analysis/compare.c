#include "results/analysis/compare.h"
#include "base/texts.h"
#include "base/units.h"
#include "results/analysis/compare_across.h"
#include "results/analysis/means.h"
#include "results/analysis/several.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

const char *pdnn_decision_name(enum pdnn_decision decision) {
    static const char *const names[PDNN_DECISION_COUNT] = {"undecided", "faster", "slower"};
    return names[decision];
}

const struct pdnn_selection *pdnn_comparison_side(const struct pdnn_comparison *comparison, int side) {
    return &comparison->table[comparison->n_directories > 1 ? side : 0];
}

const char *pdnn_comparison_get(const struct pdnn_comparison *comparison, const struct pdnn_pair *pair,
                                int side, const char *column) {
    const struct pdnn_selection *table = pdnn_comparison_side(comparison, side);
    return pdnn_selection_get(table, pair->at[side], pdnn_csv_find(&table->results, column));
}

/* The keys of A's table in its order, then those that only B's has. */
static void find_keys(struct pdnn_comparison *comparison) {
    struct pdnn_texts names = {0};
    for (size_t t = 0; t < comparison->n_directories; t++) {
        const struct pdnn_selection *table = &comparison->table[t];
        for (int column = table->first_key; column < table->end_key; column++)
            pdnn_texts_add(&names, table->results.header[column]);
    }
    comparison->key = pdnn_arena_alloc(&comparison->arena, names.count + 1, sizeof *comparison->key);
    for (size_t k = 0; k < names.count; k++) {
        comparison->key[k] = pdnn_arena_strdup(&comparison->arena, names.text[k]);
        comparison->n_keys++;
    }
    pdnn_texts_finish(&names);
}

/* What differs is no longer common. */
static void drop_across(struct pdnn_comparison *comparison) {
    size_t kept = 0;
    for (size_t k = 0; k < comparison->n_keys; k++) {
        size_t a = 0;
        while (a < comparison->n_across && strcmp(comparison->across[a].name, comparison->key[k]) != 0)
            a++;
        if (a == comparison->n_across)
            comparison->key[kept++] = comparison->key[k];
    }
    comparison->n_keys = kept;
}

/* The value of a key is A's, or B's if A's table lacks it. */
static void fill_values(struct pdnn_comparison *comparison) {
    size_t n_keys = comparison->n_keys, n_pairs = comparison->n_pairs;
    const char **values = pdnn_arena_alloc(&comparison->arena, n_pairs + 1, n_keys * sizeof *values);
    for (size_t i = 0; i < n_pairs; i++)
        comparison->pair[i].value = values + i * n_keys;
    for (size_t k = 0; k < n_keys; k++) {
        for (size_t i = 0; i < n_pairs; i++)
            values[i * n_keys + k] = "";
        for (int side = 0; side < PDNN_SIDES; side++) {
            const struct pdnn_selection *table = pdnn_comparison_side(comparison, side);
            int column = pdnn_csv_find(&table->results, comparison->key[k]);
            for (size_t i = 0; i < n_pairs; i++) {
                const char **value = &values[i * n_keys + k];
                if (!**value)
                    *value = pdnn_selection_get(table, comparison->pair[i].at[side], column);
            }
        }
    }
}

/* One instance without the keys that differ. A row that does not end ok has no place among the chosen ones.
 */
struct entry {
    const char *id;
    bool has[PDNN_SIDES];
    size_t row[PDNN_SIDES], at[PDNN_SIDES];
};

struct join {
    struct pdnn_texts ids;
    struct entry *entry; /* by number of the id */
    size_t room;
};

static enum pdnn_status add_row(struct pdnn_comparison *comparison, struct join *join, int side, size_t row,
                                size_t at, struct pdnn_err *err) {
    const struct pdnn_selection *table = pdnn_comparison_side(comparison, side);
    struct pdnn_str id = {0};
    pdnn_compare_strip(comparison, table, row, &id);
    size_t number = pdnn_texts_add(&join->ids, pdnn_str_text(&id));
    pdnn_str_finish(&id);
    struct entry *entry = &join->entry[number];
    entry->id = join->ids.text[number];
    if (entry->has[side])
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: lines %zu and %zu are one instance%s; name the values of both sides, as in "
                         "--across threads=1:2, or more keys",
                         comparison->directory[side], table->results.lines[entry->row[side]],
                         table->results.lines[row], comparison->n_across ? " but for what is to differ" : "");
    entry->has[side] = true;
    entry->row[side] = row;
    entry->at[side] = at;
    return PDNN_OK;
}

/* Chosen rows and those that did not end ok, merged in the table's order. */
static enum pdnn_status add_side(struct pdnn_comparison *comparison, struct join *join, int side,
                                 struct pdnn_err *err) {
    const struct pdnn_selection *table = pdnn_comparison_side(comparison, side);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0, k = 0; status == PDNN_OK && i + k < table->count + table->left_out;) {
        bool is_ok = k == table->left_out || (i < table->count && table->row[i] < table->left[k]);
        size_t row = is_ok ? table->row[i] : table->left[k];
        if (pdnn_compare_belongs(comparison, side, row))
            status = add_row(comparison, join, side, row, is_ok ? i : SIZE_MAX, err);
        i += is_ok;
        k += !is_ok;
    }
    return status;
}

static double number_of(const struct pdnn_comparison *comparison, const struct pdnn_pair *pair, int side,
                        const char *column) {
    double value;
    return pdnn_parse_double(pdnn_comparison_get(comparison, pair, side, column), &value) ? value : NAN;
}

/* ln(high / low) / 2; NaN without an interval. */
static double half_of(const struct pdnn_comparison *comparison, const struct pdnn_pair *pair, int side) {
    double low = number_of(comparison, pair, side, "ci_low_ns");
    double high = number_of(comparison, pair, side, "ci_high_ns");
    return pdnn_log_half(low, high);
}

static void measure(const struct pdnn_comparison *comparison, struct pdnn_pair *pair) {
    double half[PDNN_SIDES];
    for (int side = 0; side < PDNN_SIDES; side++)
        half[side] = half_of(comparison, pair, side);
    pair->ratio = pair->ns[PDNN_SIDE_A] / pair->ns[PDNN_SIDE_B];
    pair->half = sqrt((half[0] * half[0] + half[1] * half[1]) / 2);
    pair->low = pair->ratio * exp(-pair->half);
    pair->high = pair->ratio * exp(pair->half);
    pair->probe_ratio = number_of(comparison, pair, PDNN_SIDE_A, "probe_gbs") /
                        number_of(comparison, pair, PDNN_SIDE_B, "probe_gbs");
    pair->decision = pair->low > 1 ? PDNN_FASTER : pair->high < 1 ? PDNN_SLOWER : PDNN_UNDECIDED;
}

/* True if the instance ended ok on both sides with a time that has a ratio. */
static bool make_pair(const struct pdnn_comparison *comparison, const struct entry *entry,
                      struct pdnn_pair *pair) {
    *pair = (struct pdnn_pair){.id = entry->id};
    for (int side = 0; side < PDNN_SIDES; side++) {
        if (!entry->has[side] || entry->at[side] == SIZE_MAX)
            return false;
        const struct pdnn_selection *table = pdnn_comparison_side(comparison, side);
        pair->at[side] = entry->at[side];
        pair->row_id[side] = pdnn_selection_get(table, pair->at[side], table->id);
        pair->family = pdnn_selection_get(table, pair->at[side], table->family);
        pair->ns[side] = pdnn_selection_step_ns(table, pair->at[side]);
        if (!(pair->ns[side] > 0))
            return false;
    }
    measure(comparison, pair);
    return isfinite(pair->ratio) && pair->ratio > 0;
}

static void put_unpaired(const struct pdnn_comparison *comparison, const struct entry *entry,
                         struct pdnn_unpaired *unpaired) {
    unpaired->id = entry->id;
    for (int side = 0; side < PDNN_SIDES; side++) {
        const struct pdnn_selection *table = pdnn_comparison_side(comparison, side);
        const struct pdnn_csv *results = &table->results;
        size_t row = entry->row[side];
        bool has = entry->has[side];
        unpaired->status[side] = has ? pdnn_csv_get(results, row, table->status) : "";
        unpaired->reason[side] = has ? pdnn_csv_get(results, row, pdnn_csv_find(results, "reason")) : "";
        unpaired->row_id[side] = has ? pdnn_csv_get(results, row, table->id) : "";
        if (has && entry->at[side] != SIZE_MAX && !*unpaired->reason[side] &&
            !(pdnn_selection_step_ns(table, entry->at[side]) > 0))
            unpaired->reason[side] = "its time is not above zero";
    }
}

static enum pdnn_status split(struct pdnn_comparison *comparison, const struct join *join,
                              struct pdnn_err *err) {
    size_t count = join->ids.count;
    comparison->pair = pdnn_arena_alloc(&comparison->arena, count + 1, sizeof *comparison->pair);
    comparison->unpaired = pdnn_arena_alloc(&comparison->arena, count + 1, sizeof *comparison->unpaired);
    for (size_t i = 0; i < count; i++) {
        struct entry entry = join->entry[i];
        entry.id = pdnn_arena_strdup(&comparison->arena, entry.id);
        if (make_pair(comparison, &entry, &comparison->pair[comparison->n_pairs]))
            comparison->n_pairs++;
        else
            put_unpaired(comparison, &entry, &comparison->unpaired[comparison->n_unpaired++]);
    }
    size_t rows = 0, used = 0;
    for (size_t t = 0; t < comparison->n_directories; t++)
        rows += comparison->table[t].count + comparison->table[t].left_out;
    for (size_t i = 0; i < count; i++)
        used += (size_t)join->entry[i].has[PDNN_SIDE_A] + join->entry[i].has[PDNN_SIDE_B];
    comparison->n_beside = rows - used;
    return comparison->n_pairs
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID,
                           "no instance ended ok on both sides, %s and %s (%zu on one or none)",
                           comparison->label[0], comparison->label[1], comparison->n_unpaired);
}

static enum pdnn_status join_sides(struct pdnn_comparison *comparison, struct pdnn_err *err) {
    struct join join = {.room = 0};
    for (size_t t = 0; t < comparison->n_directories; t++)
        join.room += comparison->table[t].count + comparison->table[t].left_out;
    join.entry = pdnn_arena_alloc(&comparison->arena, join.room + 1, sizeof *join.entry);
    enum pdnn_status status = PDNN_OK;
    for (int side = 0; status == PDNN_OK && side < PDNN_SIDES; side++)
        status = add_side(comparison, &join, side, err);
    if (status == PDNN_OK)
        status = split(comparison, &join, err);
    pdnn_texts_finish(&join.ids);
    return status;
}

bool pdnn_comparison_has_state(const struct pdnn_comparison *comparison) {
    static const char *const columns[] = {"host", "threads", "isa"};
    for (size_t i = 0; i < comparison->n_pairs; i++) {
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
            const struct pdnn_pair *pair = &comparison->pair[i];
            if (strcmp(pdnn_comparison_get(comparison, pair, PDNN_SIDE_A, columns[k]),
                       pdnn_comparison_get(comparison, pair, PDNN_SIDE_B, columns[k])) != 0)
                return false;
        }
    }
    return true;
}

size_t pdnn_comparison_other_state(const struct pdnn_comparison *comparison) {
    size_t count = 0;
    for (size_t i = 0; i < comparison->n_pairs; i++) {
        double ratio = comparison->pair[i].probe_ratio;
        count += ratio > PDNN_SAME_STATE || ratio < 1 / PDNN_SAME_STATE;
    }
    return count;
}

static enum pdnn_status read_tables(struct pdnn_comparison *comparison,
                                    const struct pdnn_compare_request *request, struct pdnn_err *err) {
    for (int side = 0; side < PDNN_SIDES; side++) {
        const char *directory = request->directory[request->directory[side] ? side : PDNN_SIDE_A];
        comparison->directory[side] = pdnn_arena_strdup(&comparison->arena, directory);
    }
    size_t given = request->directory[PDNN_SIDE_B] ? PDNN_SIDES : 1;
    if (given > 1 && pdnn_same_directory(request->directory[PDNN_SIDE_A], request->directory[PDNN_SIDE_B]))
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: both sides are the same directory; to compare within it, name it once",
                         request->directory[PDNN_SIDE_A]);
    for (size_t t = 0; t < given; t++) {
        if (pdnn_selection_open(&comparison->table[t], request->directory[t], request->only, request->n_only,
                                err) != PDNN_OK)
            return err->status;
        comparison->n_directories++;
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_comparison_open(struct pdnn_comparison *comparison,
                                      const struct pdnn_compare_request *request, struct pdnn_err *err) {
    struct pdnn_comparison made = {.n_directories = 0};
    enum pdnn_status status = read_tables(&made, request, err);
    if (status == PDNN_OK)
        find_keys(&made);
    if (status == PDNN_OK)
        status = pdnn_compare_across(&made, request->across, err);
    if (status == PDNN_OK)
        status = join_sides(&made, err);
    drop_across(&made);
    if (status == PDNN_OK)
        fill_values(&made);
    if (status == PDNN_OK)
        *comparison = made;
    else
        pdnn_comparison_close(&made);
    return status;
}

void pdnn_comparison_close(struct pdnn_comparison *comparison) {
    for (int side = 0; side < PDNN_SIDES; side++)
        pdnn_selection_close(&comparison->table[side]);
    pdnn_arena_finish(&comparison->arena);
    *comparison = (struct pdnn_comparison){.n_directories = 0};
}
