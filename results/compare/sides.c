#include "results/compare/sides.h"
#include "base/memory.h"
#include "base/paths/folder.h"
#include "base/stats.h"
#include "results/compare/beside.h"
#include "results/stats/means.h"
#include "results/store/tables.h"
#include "results/whatif/projection.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct pdnn_column_def columns[PDNN_SIDES_COLUMNS] = {
    {"kind", NULL, NULL, PDNN_KIND_TEXT, PDNN_SHOW_NEVER, .help = "environment or roof"},
    {"name", "differs", NULL, PDNN_KIND_TEXT,
     .help = "a key of environment.yaml; clock_ghz: the median of the rows; or a roof, of the most threads "
             "that a pair has: GFLOP/s by type, GB/s by level, overhead of an op in ns"},
    {"a", "A", NULL, PDNN_KIND_TEXT, PDNN_SHOW_PLAIN, PDNN_ALIGN_WRAP,
     .help = "of A; a roof that was measured several times has its range"},
    {"b", "B", NULL, PDNN_KIND_TEXT, PDNN_SHOW_PLAIN, PDNN_ALIGN_WRAP, .help = "of B"},
    {"ratio", "B over A", NULL, PDNN_KIND_NUMBER, PDNN_SHOW_FACTOR, .help = "b over a, of numbers"},
};
const struct pdnn_table_def pdnn_sides_def = {"compare-sides", "what the sides differ by besides times",
                                              columns, PDNN_SIDES_COLUMNS};

/* What differs between any two runs, or follows from another fact. */
static bool is_incidental(const char *key) {
    static const char *const prefixes[] = {"written_utc", "memory_", "limit_",  "cache_directory",
                                           "openmp_",     "shard",   "counters"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(key, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* What the sides of n comparisons with one base are told by. */
struct work {
    struct pdnn_sides *sides;
    struct pdnn_comparison *comparisons;
    size_t n;
    struct pdnn_roof_rows **roof_rows; /* by side, of which there is one more */
};

/* A row, without the ratios. */
static size_t add_texts(struct work *work, const char *kind, const char *name, const struct pdnn_str *text) {
    struct pdnn_table *table = &work->sides->differing;
    const size_t row = pdnn_table_add_texts(table, 2, (const char *[]){kind, name});
    for (size_t side = 0; side <= work->n; side++)
        pdnn_table_set_text(table, row, PDNN_SIDES_A + side, pdnn_str_text(&text[side]));
    return row;
}

/* Adds the keys of the facts that one side has otherwise than A. Each variable that was obeyed is a fact; of
 * earlier versions there is one text of all variables. */
static void find_facts(struct pdnn_side *side, const char *a, const char *b, struct pdnn_texts *keys) {
    static const char obeyed[] = "\nopenblas_coretype: ";
    const bool has_obeyed = strstr(a, obeyed) && strstr(b, obeyed);
    struct pdnn_fact_difference fact = {.key = {0}};
    while (pdnn_environment_next(&a, b, &fact)) {
        const char *key = pdnn_str_text(&fact.key);
        if (is_incidental(key) || (has_obeyed && strcmp(key, "library_variables") == 0))
            continue;
        pdnn_texts_add(keys, key);
        side->by_intent = side->by_intent || strncmp(key, "cpu", 3) == 0 || strcmp(key, "isa") == 0;
    }
    pdnn_str_finish(&fact.key);
    pdnn_str_finish(&fact.one);
    pdnn_str_finish(&fact.other);
}

static const char *directory_of(const struct work *work, size_t side) {
    return side ? work->comparisons[side - 1].directory[PDNN_SIDE_B] : work->comparisons[0].directory[0];
}

/* In the order of A's file. */
static enum pdnn_status add_environments(struct work *work, struct pdnn_err *err) {
    char **text = pdnn_alloc(work->n + 1, sizeof *text);
    struct pdnn_texts keys = {0};
    enum pdnn_status status = PDNN_OK;
    for (size_t side = 0; side <= work->n && status == PDNN_OK; side++)
        status = pdnn_environment_read(directory_of(work, side), &text[side], err);
    for (size_t i = 0; i < work->n && text[0] && status == PDNN_OK; i++)
        if (text[i + 1])
            find_facts(&work->sides->of[i], text[0], text[i + 1], &keys);
    struct pdnn_str *value = pdnn_alloc(work->n + 1, sizeof *value), key = {0};
    for (const char *at = keys.count ? text[0] : ""; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        pdnn_str_clear(&key);
        pdnn_str_append(&key, at, strcspn(at, ":\n"));
        if (pdnn_texts_find(&keys, pdnn_str_text(&key)) == SIZE_MAX)
            continue;
        for (size_t side = 0; side <= work->n; side++) {
            pdnn_str_clear(&value[side]);
            if (text[side])
                pdnn_environment_value(text[side], pdnn_str_text(&key), &value[side]);
        }
        add_texts(work, "environment", pdnn_str_text(&key), value);
    }
    pdnn_str_finish(&key);
    for (size_t side = 0; side <= work->n; side++) {
        pdnn_str_finish(&value[side]);
        free(text[side]);
    }
    free(value);
    free(text);
    pdnn_texts_finish(&keys);
    return status;
}

/* The median clock of a side's rows; NaN where none has one. */
static double clock_of(const struct pdnn_comparison *comparison, int side) {
    double *ghz = pdnn_alloc(comparison->pairs.n_rows, sizeof *ghz);
    size_t count = 0;
    for (size_t pair = 0; pair < comparison->pairs.n_rows; pair++) {
        const double value =
            pdnn_selection_value(&comparison->selection, comparison->at[pair][side], PDNN_RESULT_CLOCK_GHZ);
        if (!isnan(value))
            ghz[count++] = value;
    }
    const double median = count ? pdnn_median(ghz, count) : NAN;
    free(ghz);
    return median;
}

/* "59.8", or "59.8 (57.1 to 60.2)" with the ends of several measurements; nothing for what is unknown. */
static void append_number(struct pdnn_str *out, const double value[3]) {
    if (value[0] > 0)
        pdnn_str_printf(out, "%.4g", value[0]);
    if (value[0] > 0 && value[1] < value[2])
        pdnn_str_printf(out, " (%.4g to %.4g)", value[1], value[2]);
}

/* A number of all sides, each with its least and its greatest value. */
static void add_numbers(struct work *work, const char *kind, const char *name, const double (*value)[3]) {
    struct pdnn_str *text = pdnn_alloc(work->n + 1, sizeof *text);
    bool is_known = false;
    for (size_t side = 0; side <= work->n; side++) {
        append_number(&text[side], value[side]);
        is_known = is_known || text[side].length;
    }
    if (is_known) {
        const size_t row = add_texts(work, kind, name, text);
        for (size_t i = 0; i < work->n; i++)
            if (value[0][0] > 0 && value[i + 1][0] > 0)
                pdnn_table_set_number(&work->sides->differing, row, PDNN_SIDES_A + work->n + 1 + i,
                                      value[i + 1][0] / value[0][0]);
    }
    for (size_t side = 0; side <= work->n; side++)
        pdnn_str_finish(&text[side]);
    free(text);
}

static void add_clock(struct work *work) {
    double(*value)[3] = pdnn_alloc(work->n + 1, sizeof *value);
    bool differs = false;
    for (size_t side = 0; side <= work->n; side++) {
        const double a = value[0][0], b = side ? clock_of(&work->comparisons[side - 1], PDNN_SIDE_B)
                                               : clock_of(&work->comparisons[0], PDNN_SIDE_A);
        for (int end = 0; end < 3; end++)
            value[side][end] = b;
        differs = differs || (side && (a > b * PDNN_SAME_CLOCK || b > a * PDNN_SAME_CLOCK));
    }
    if (differs)
        add_numbers(work, "environment", "clock_ghz", (const double(*)[3])value);
    free(value);
}

/* The threads of a pair on one side; 0: not said. */
static int64_t threads_of(const struct pdnn_comparison *comparison, size_t pair, int side) {
    return strtoll(pdnn_comparison_setting(comparison, pair, side, PDNN_SETTING_THREADS), NULL, 10);
}

/* The most threads that a pair has on A's side, and those of that pair on this side. */
static int64_t widest_of(const struct pdnn_comparison *comparison, int side) {
    size_t widest = 0;
    for (size_t pair = 1; pair < comparison->pairs.n_rows; pair++)
        if (threads_of(comparison, pair, PDNN_SIDE_A) > threads_of(comparison, widest, PDNN_SIDE_A))
            widest = pair;
    return threads_of(comparison, widest, side);
}

/* A side's roofs: as they are, at their lowest, at their highest. */
struct side_roofs {
    struct pdnn_roofs of[3];
};

/* The roof that is at this place of the struct. */
static void add_roof(struct work *work, const struct side_roofs *roofs, size_t offset, const char *of,
                     const char *unit) {
    double(*value)[3] = pdnn_alloc(work->n + 1, sizeof *value);
    struct pdnn_str name = {0};
    for (size_t side = 0; side <= work->n; side++)
        for (int end = 0; end < 3; end++)
            memcpy(&value[side][end], (const char *)&roofs[side].of[end] + offset, sizeof(double));
    for (size_t i = 0; i < work->n; i++) {
        const double *a = value[0], *b = value[i + 1];
        const bool differs = a[1] > b[2] * PDNN_SAME_READS || b[1] > a[2] * PDNN_SAME_READS;
        struct pdnn_side *side = &work->sides->of[i];
        side->roofs_differ = side->roofs_differ || (a[0] > 0 && b[0] > 0 && differs);
    }
    pdnn_str_printf(&name, "%s (%s)", of, unit);
    add_numbers(work, "roof", pdnn_str_text(&name), (const double(*)[3])value);
    pdnn_str_finish(&name);
    free(value);
}

/* Those of the most threads that a pair has. */
static void add_roofs(struct work *work) {
    struct side_roofs *roofs = pdnn_alloc(work->n + 1, sizeof *roofs);
    int64_t most = 0;
    for (size_t i = 0; i < work->n; i++) {
        const int64_t threads = widest_of(&work->comparisons[i], PDNN_SIDE_A);
        most = threads > most ? threads : most;
    }
    for (size_t side = 0; side <= work->n; side++) {
        const int64_t threads = side ? widest_of(&work->comparisons[side - 1], PDNN_SIDE_B) : most;
        pdnn_roofs_init(&roofs[side].of[0], work->roof_rows[side], threads);
        pdnn_roofs_range(work->roof_rows[side], threads, &roofs[side].of[1], &roofs[side].of[2]);
    }
    for (size_t d = 0; d < PDNN_DTYPE_COUNT; d++)
        add_roof(work, roofs, offsetof(struct pdnn_roofs, peak_gflops) + d * sizeof(double),
                 pdnn_dtype_name((enum pdnn_dtype)d), "GFLOP/s");
    for (size_t level = 0; level < PDNN_ROOF_LEVELS; level++) {
        size_t named = 0;
        while (named < work->n && !*roofs[named].of[0].level[level].name)
            named++;
        add_roof(work, roofs,
                 offsetof(struct pdnn_roofs, level) + level * sizeof(struct pdnn_roof_level) +
                     offsetof(struct pdnn_roof_level, gbs),
                 roofs[named].of[0].level[level].name, "GB/s");
    }
    add_roof(work, roofs, offsetof(struct pdnn_roofs, overhead_ns), "calling an op", "ns");
    free(roofs);
}

/* Projects A's rows of the pairs whose B ran on so many threads, as far as there are roofs and times of ops.
 */
static enum pdnn_status project(struct pdnn_comparison *comparison, int64_t threads,
                                struct pdnn_roof_rows *const roof_rows[PDNN_SIDES],
                                struct pdnn_ops_reader *readers, struct pdnn_err *err) {
    const struct pdnn_hardware onto = {.onto = roof_rows[PDNN_SIDE_B], .threads = threads};
    struct pdnn_table *pairs = &comparison->pairs;
    struct pdnn_hardware_projection made;
    struct pdnn_selection chosen = comparison->selection; /* a view of it */
    size_t *of = pdnn_alloc(pairs->n_rows, sizeof *of), row = 0;
    chosen.row = pdnn_alloc(pairs->n_rows, sizeof *chosen.row);
    chosen.count = 0;
    for (size_t pair = 0; pair < pairs->n_rows; pair++) {
        if (threads_of(comparison, pair, PDNN_SIDE_B) != threads)
            continue;
        of[chosen.count] = pair;
        chosen.row[chosen.count++] = comparison->selection.row[comparison->at[pair][PDNN_SIDE_A]];
    }
    struct pdnn_projection_request request = {&chosen, readers, roof_rows[PDNN_SIDE_A], &onto, NULL};
    enum pdnn_status status = pdnn_project(&request, &made, err);
    for (size_t i = 0; i < chosen.count && row < made.models.n_rows; i++) {
        const char *id = pdnn_table_text(pairs, of[i], PDNN_PAIR_A_ID);
        if (strcmp(id, pdnn_table_text(&made.models, row, PDNN_PROJECTED_ID)) == 0)
            pdnn_table_set_number(pairs, of[i], PDNN_PAIR_BEYOND,
                                  pdnn_pair_ratio(comparison, of[i]) /
                                      pdnn_table_number(&made.models, row++, PDNN_PROJECTED_SPEEDUP));
    }
    pdnn_hardware_projection_finish(&made);
    free(chosen.row);
    free(of);
    return status == PDNN_INVALID ? PDNN_OK : status; /* what cannot be projected has no cell */
}

/* Once for each number of threads. Keys that differ would be in what is beyond the roofs. */
static enum pdnn_status project_all(struct pdnn_comparison *comparison,
                                    struct pdnn_roof_rows *const roof_rows[PDNN_SIDES],
                                    struct pdnn_ops_reader *readers, struct pdnn_err *err) {
    const struct pdnn_axes *across = &comparison->across;
    enum pdnn_status status = PDNN_OK;
    for (size_t k = 0; k < across->count; k++)
        if (across->column[k] != pdnn_results_setting(&comparison->selection.results, PDNN_SETTING_THREADS))
            return PDNN_OK;
    for (size_t pair = 0; pair < comparison->pairs.n_rows && status == PDNN_OK; pair++) {
        const int64_t threads = threads_of(comparison, pair, PDNN_SIDE_B);
        size_t before = 0;
        while (threads_of(comparison, before, PDNN_SIDE_B) != threads)
            before++;
        if (before == pair)
            status = project(comparison, threads, roof_rows, readers, err);
    }
    return status;
}

static void sum_up(struct pdnn_side *side, const struct pdnn_comparison *comparison) {
    struct pdnn_mean ratio = {0}, beyond = {0};
    for (size_t pair = 0; pair < comparison->pairs.n_rows; pair++) {
        const double rest = pdnn_table_number(&comparison->pairs, pair, PDNN_PAIR_BEYOND);
        if (isnan(rest))
            continue;
        pdnn_mean_add(&ratio, log(pdnn_pair_ratio(comparison, pair)), 0);
        pdnn_mean_add(&beyond, log(rest), 0);
    }
    side->n_projected = beyond.n;
    side->ratio = pdnn_mean_geometric(&ratio);
    side->beyond = pdnn_mean_geometric(&beyond);
}

static enum pdnn_status compare_directories(struct work *work, struct pdnn_ops_reader *readers,
                                            struct pdnn_err *err) {
    enum pdnn_status status = add_environments(work, err);
    size_t n_known = 0;
    for (size_t side = 0; side <= work->n && status == PDNN_OK; side++) {
        if (pdnn_path_has(directory_of(work, side), "ceilings.csv"))
            status = pdnn_roof_rows_read_in(directory_of(work, side), work->roof_rows[side], err);
        n_known += work->roof_rows[side]->count > 0;
    }
    add_clock(work);
    if (status == PDNN_OK && work->roof_rows[0]->count && n_known > 1)
        add_roofs(work);
    for (size_t i = 0; i < work->n && status == PDNN_OK && work->roof_rows[0]->count; i++)
        if (work->roof_rows[i + 1]->count)
            status = project_all(&work->comparisons[i],
                                 (struct pdnn_roof_rows *[]){work->roof_rows[0], work->roof_rows[i + 1]},
                                 readers, err);
    return status;
}

/* Its columns behind A's. */
static void add_columns(struct pdnn_table *table, size_t n) {
    for (size_t column = PDNN_SIDES_B; column < PDNN_SIDES_COLUMNS; column++)
        for (size_t i = 0; i < n; i++)
            pdnn_side_column(table, &columns[column], i + 1, n);
}

enum pdnn_status pdnn_sides_make(struct pdnn_sides *sides, struct pdnn_comparison *comparisons, size_t n,
                                 struct pdnn_ops_reader *readers, struct pdnn_err *err) {
    const struct pdnn_table_def base = {pdnn_sides_def.name, pdnn_sides_def.help, columns, PDNN_SIDES_B};
    struct work work = {sides, comparisons, n, pdnn_alloc(n + 1, sizeof *work.roof_rows)};
    enum pdnn_status status = PDNN_OK;
    *sides = (struct pdnn_sides){.of = pdnn_alloc(n, sizeof *sides->of)};
    pdnn_table_init(&sides->differing, &base);
    add_columns(&sides->differing, n);
    for (size_t i = 0; i < n; i++)
        sides->of[i].by_intent = comparisons[i].across.count > 0;
    for (size_t side = 0; side <= n; side++)
        work.roof_rows[side] = pdnn_alloc(1, sizeof **work.roof_rows);
    if (pdnn_comparison_has_two(&comparisons[0]))
        status = compare_directories(&work, readers, err);
    for (size_t i = 0; i < n; i++)
        sum_up(&sides->of[i], &comparisons[i]);
    for (size_t side = 0; side <= n; side++)
        free(work.roof_rows[side]);
    free(work.roof_rows);
    return status;
}

void pdnn_sides_finish(struct pdnn_sides *sides) {
    pdnn_table_finish(&sides->differing);
    free(sides->of);
    sides->of = NULL;
}

void pdnn_sides_say(const struct pdnn_side *side, const char *const name[PDNN_SIDES], struct pdnn_str *out) {
    if (!side->roofs_differ || !side->n_projected)
        return;
    pdnn_str_printf(out, "From the roofs alone, the time of %s over that of %s would be ", name[PDNN_SIDE_A],
                    name[PDNN_SIDE_B]);
    pdnn_factor_append(out, side->ratio / side->beyond);
    pdnn_str_printf(out, "; it is ");
    pdnn_factor_append(out, side->beyond);
    pdnn_str_printf(out, " times that (geometric means over %zu instance%s, projected onto the roofs of %s).",
                    side->n_projected, side->n_projected == 1 ? "" : "s", name[PDNN_SIDE_B]);
}
