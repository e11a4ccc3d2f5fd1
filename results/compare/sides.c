#include "results/compare/sides.h"
#include "base/memory.h"
#include "base/paths/folder.h"
#include "base/stats.h"
#include "results/stats/means.h"
#include "results/store/tables.h"
#include "results/whatif/projection.h"

#include <math.h>
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

/* Each variable that was obeyed is a fact; of earlier versions there is one text of all variables. */
static void add_facts(struct pdnn_sides *sides, const char *a, const char *b) {
    static const char obeyed[] = "\nopenblas_coretype: ";
    const bool has_obeyed = strstr(a, obeyed) && strstr(b, obeyed);
    struct pdnn_fact_difference fact = {.key = {0}};
    while (pdnn_environment_next(&a, b, &fact)) {
        const char *key = pdnn_str_text(&fact.key);
        if (is_incidental(key) || (has_obeyed && strcmp(key, "library_variables") == 0))
            continue;
        pdnn_table_add_texts(
            &sides->differing, PDNN_SIDES_RATIO,
            (const char *[]){"environment", key, pdnn_str_text(&fact.one), pdnn_str_text(&fact.other)});
        sides->by_intent = sides->by_intent || strncmp(key, "cpu", 3) == 0 || strcmp(key, "isa") == 0;
    }
    pdnn_str_finish(&fact.key);
    pdnn_str_finish(&fact.one);
    pdnn_str_finish(&fact.other);
}

static enum pdnn_status add_environments(struct pdnn_sides *sides, const struct pdnn_comparison *comparison,
                                         struct pdnn_err *err) {
    char *text[PDNN_SIDES] = {NULL};
    enum pdnn_status status = PDNN_OK;
    for (int side = 0; side < PDNN_SIDES && status == PDNN_OK; side++)
        status = pdnn_environment_read(comparison->directory[side], &text[side], err);
    if (text[PDNN_SIDE_A] && text[PDNN_SIDE_B])
        add_facts(sides, text[PDNN_SIDE_A], text[PDNN_SIDE_B]);
    free(text[PDNN_SIDE_A]);
    free(text[PDNN_SIDE_B]);
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

/* A number of both sides, each with its least and its greatest value. */
static void add_numbers(struct pdnn_sides *sides, const char *kind, const char *name,
                        const double value[PDNN_SIDES][3]) {
    struct pdnn_str text[PDNN_SIDES] = {{0}};
    const double a = value[PDNN_SIDE_A][0], b = value[PDNN_SIDE_B][0];
    for (int side = 0; side < PDNN_SIDES; side++)
        append_number(&text[side], value[side]);
    if (text[PDNN_SIDE_A].length || text[PDNN_SIDE_B].length) {
        const size_t row =
            pdnn_table_add_texts(&sides->differing, PDNN_SIDES_RATIO,
                                 (const char *[]){kind, name, pdnn_str_text(&text[PDNN_SIDE_A]),
                                                  pdnn_str_text(&text[PDNN_SIDE_B])});
        if (a > 0 && b > 0)
            pdnn_table_set_number(&sides->differing, row, PDNN_SIDES_RATIO, b / a);
    }
    pdnn_str_finish(&text[PDNN_SIDE_A]);
    pdnn_str_finish(&text[PDNN_SIDE_B]);
}

static void add_clock(struct pdnn_sides *sides, const struct pdnn_comparison *comparison) {
    const double a = clock_of(comparison, PDNN_SIDE_A), b = clock_of(comparison, PDNN_SIDE_B);
    if (a > b * PDNN_SAME_CLOCK || b > a * PDNN_SAME_CLOCK)
        add_numbers(sides, "environment", "clock_ghz", (const double[][3]){{a, a, a}, {b, b, b}});
}

/* The threads of a pair on one side; 0: not said. */
static int64_t threads_of(const struct pdnn_comparison *comparison, size_t pair, int side) {
    return strtoll(pdnn_comparison_setting(comparison, pair, side, PDNN_SETTING_THREADS), NULL, 10);
}

/* A side's roofs: as they are, at their lowest, at their highest. */
struct side_roofs {
    struct pdnn_roofs of[3];
};

/* The roof that is at this place of the struct. */
static void add_roof(struct pdnn_sides *sides, const struct side_roofs *roofs, size_t offset, const char *of,
                     const char *unit) {
    double value[PDNN_SIDES][3];
    struct pdnn_str name = {0};
    for (int side = 0; side < PDNN_SIDES; side++)
        for (int end = 0; end < 3; end++)
            memcpy(&value[side][end], (const char *)&roofs[side].of[end] + offset, sizeof(double));
    const double *a = value[PDNN_SIDE_A], *b = value[PDNN_SIDE_B];
    const bool differs = a[1] > b[2] * PDNN_SAME_READS || b[1] > a[2] * PDNN_SAME_READS;
    sides->roofs_differ = sides->roofs_differ || (a[0] > 0 && b[0] > 0 && differs);
    pdnn_str_printf(&name, "%s (%s)", of, unit);
    add_numbers(sides, "roof", pdnn_str_text(&name), (const double(*)[3])value);
    pdnn_str_finish(&name);
}

/* Those of the most threads that a pair has. */
static void add_roofs(struct pdnn_sides *sides, const struct pdnn_comparison *comparison,
                      struct pdnn_ceilings *const ceilings[PDNN_SIDES]) {
    struct side_roofs *roofs = pdnn_alloc(PDNN_SIDES, sizeof *roofs);
    size_t widest = 0;
    for (size_t pair = 1; pair < comparison->pairs.n_rows; pair++)
        if (threads_of(comparison, pair, PDNN_SIDE_A) > threads_of(comparison, widest, PDNN_SIDE_A))
            widest = pair;
    for (int side = 0; side < PDNN_SIDES; side++) {
        const int64_t threads = threads_of(comparison, widest, side);
        pdnn_roofs_init(&roofs[side].of[0], ceilings[side], threads);
        pdnn_roofs_range(ceilings[side], threads, &roofs[side].of[1], &roofs[side].of[2]);
    }
    for (size_t d = 0; d < PDNN_DTYPE_COUNT; d++)
        add_roof(sides, roofs, offsetof(struct pdnn_roofs, peak_gflops) + d * sizeof(double),
                 pdnn_dtype_name((enum pdnn_dtype)d), "GFLOP/s");
    for (size_t level = 0; level < PDNN_ROOF_LEVELS; level++) {
        const char *a = roofs[PDNN_SIDE_A].of[0].level[level].name,
                   *b = roofs[PDNN_SIDE_B].of[0].level[level].name;
        add_roof(sides, roofs,
                 offsetof(struct pdnn_roofs, level) + level * sizeof(struct pdnn_roof_level) +
                     offsetof(struct pdnn_roof_level, gbs),
                 *a ? a : b, "GB/s");
    }
    add_roof(sides, roofs, offsetof(struct pdnn_roofs, overhead_ns), "calling an op", "ns");
    free(roofs);
}

/* Projects A's rows of the pairs whose B ran on so many threads, as far as there are roofs and times of ops.
 */
static enum pdnn_status project(struct pdnn_comparison *comparison, int64_t threads,
                                struct pdnn_ceilings *const ceilings[PDNN_SIDES],
                                struct pdnn_ops_reader *readers, struct pdnn_err *err) {
    const struct pdnn_hardware onto = {.onto = ceilings[PDNN_SIDE_B], .threads = threads};
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
    struct pdnn_projection_request request = {&chosen, readers, ceilings[PDNN_SIDE_A], &onto, NULL};
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
                                    struct pdnn_ceilings *const ceilings[PDNN_SIDES],
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
            status = project(comparison, threads, ceilings, readers, err);
    }
    return status;
}

static void sum_up(struct pdnn_sides *sides, const struct pdnn_comparison *comparison) {
    struct pdnn_mean ratio = {0}, beyond = {0};
    for (size_t pair = 0; pair < comparison->pairs.n_rows; pair++) {
        const double rest = pdnn_table_number(&comparison->pairs, pair, PDNN_PAIR_BEYOND);
        if (isnan(rest))
            continue;
        pdnn_mean_add(&ratio, log(pdnn_pair_ratio(comparison, pair)), 0);
        pdnn_mean_add(&beyond, log(rest), 0);
    }
    sides->n_projected = beyond.n;
    sides->ratio = pdnn_mean_geometric(&ratio);
    sides->beyond = pdnn_mean_geometric(&beyond);
}

static enum pdnn_status compare_directories(struct pdnn_sides *sides, struct pdnn_comparison *comparison,
                                            struct pdnn_ops_reader *readers, struct pdnn_err *err) {
    struct pdnn_ceilings *ceilings[PDNN_SIDES];
    enum pdnn_status status = add_environments(sides, comparison, err);
    for (int side = 0; side < PDNN_SIDES; side++) {
        const char *directory = comparison->directory[side];
        ceilings[side] = pdnn_alloc(1, sizeof *ceilings[side]);
        if (status == PDNN_OK && pdnn_path_has(directory, "ceilings.csv"))
            status = pdnn_ceilings_read_in(directory, ceilings[side], err);
    }
    add_clock(sides, comparison);
    if (status == PDNN_OK && ceilings[PDNN_SIDE_A]->count && ceilings[PDNN_SIDE_B]->count) {
        add_roofs(sides, comparison, ceilings);
        status = project_all(comparison, ceilings, readers, err);
    }
    free(ceilings[PDNN_SIDE_A]);
    free(ceilings[PDNN_SIDE_B]);
    return status;
}

enum pdnn_status pdnn_sides_make(struct pdnn_sides *sides, struct pdnn_comparison *comparison,
                                 struct pdnn_ops_reader *readers, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    *sides = (struct pdnn_sides){.by_intent = comparison->across.count > 0};
    pdnn_table_init(&sides->differing, &pdnn_sides_def);
    if (comparison->selection.results.n_directories > 1)
        status = compare_directories(sides, comparison, readers, err);
    sum_up(sides, comparison);
    return status;
}

void pdnn_sides_finish(struct pdnn_sides *sides) {
    pdnn_table_finish(&sides->differing);
}

void pdnn_sides_say(const struct pdnn_sides *sides, const char *const name[PDNN_SIDES],
                    struct pdnn_str *out) {
    if (!sides->roofs_differ || !sides->n_projected)
        return;
    pdnn_str_printf(out, "From the roofs alone, the time of %s over that of %s would be ", name[PDNN_SIDE_A],
                    name[PDNN_SIDE_B]);
    pdnn_factor_append(out, sides->ratio / sides->beyond);
    pdnn_str_printf(out, "; it is ");
    pdnn_factor_append(out, sides->beyond);
    pdnn_str_printf(out, " times that (geometric means over %zu instance%s, projected onto the roofs of %s).",
                    sides->n_projected, sides->n_projected == 1 ? "" : "s", name[PDNN_SIDE_B]);
}
