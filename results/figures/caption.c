#include "results/figures/caption.h"
#include "results/table/number.h"
#include "results/store/tables.h"

#include <math.h>
#include <string.h>

const char *pdnn_plot_directory(struct pdnn_arena *arena, const char *directory) {
    int length;
    const char *name = pdnn_directory_name(directory, &length);
    return pdnn_arena_printf(arena, "%.*s", length, name);
}

const char *pdnn_plot_directories(struct pdnn_arena *arena, const char *const *directory, size_t n) {
    const size_t shown = n > 3 ? 2 : n;
    const char *text = "";
    for (size_t i = 0; i < shown; i++) {
        const char *before = !i ? "" : i + 1 == n ? " and " : ", ";
        text = pdnn_arena_printf(arena, "%s%s%s", text, before, pdnn_plot_directory(arena, directory[i]));
    }
    return shown < n ? pdnn_arena_printf(arena, "%s and %zu more", text, n - shown) : text;
}

const char *pdnn_plot_keep(struct pdnn_arena *arena, struct pdnn_str *text) {
    const char *kept = pdnn_arena_strdup(arena, pdnn_str_text(text));
    pdnn_str_finish(text);
    return kept;
}

const char *pdnn_plot_cpu(struct pdnn_arena *arena, const char *const *directory, size_t n) {
    const char *first = NULL;
    for (size_t i = 0; i < n; i++) {
        struct pdnn_str text = {0};
        pdnn_environment_get(directory[i], "cpu", &text);
        const char *cpu = pdnn_plot_keep(arena, &text);
        if (first && strcmp(cpu, first) != 0)
            return "several processors";
        first = cpu;
    }
    return first && *first ? first : "unknown machine";
}

const char *pdnn_plot_caption(struct pdnn_arena *arena, struct pdnn_str *caption,
                              const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                              const char *said) {
    struct pdnn_str usual = {0};
    pdnn_selection_where(selection, SIZE_MAX, axes, &usual);
    if (usual.length)
        pdnn_str_printf(caption, "\n%s %s", usual.text, said);
    pdnn_str_finish(&usual);
    return pdnn_plot_keep(arena, caption);
}

const char *pdnn_plot_number(struct pdnn_arena *arena, double value, int digits) {
    struct pdnn_str text = {0};
    pdnn_number_format(&text, value, digits);
    return pdnn_plot_keep(arena, &text);
}

const char *pdnn_plot_ratio(struct pdnn_arena *arena, double value) {
    struct pdnn_str text = {0};
    if (!isnan(value))
        pdnn_factor_append(&text, value);
    return pdnn_plot_keep(arena, &text);
}

const char pdnn_plot_doubt[] = "above its roof, or unusable";
const struct pdnn_mark pdnn_plot_cross = {PDNN_CROSS, 6, {PDNN_INK_TEXT, PDNN_INK_WHITE, 0.5, 0}, false};

/* In the order of their bits. */
static const struct {
    enum pdnn_result_column column;
    const char *word, *said;
} notes[PDNN_NOTES] = {{PDNN_RESULT_METHOD, "composed", "composed"},
                       {PDNN_RESULT_METHOD, "predicted", "predicted"},
                       {PDNN_RESULT_ROW_FLAGS, "above_roof", "above their roof"},
                       {PDNN_RESULT_ROW_FLAGS, "unusable", "unusable"}};

unsigned pdnn_plot_notes(const struct pdnn_selection *selection, size_t at) {
    unsigned found = 0;
    for (size_t i = 0; i < PDNN_NOTES; i++)
        if (strstr(pdnn_selection_word(selection, at, notes[i].column), notes[i].word))
            found |= 1U << i;
    return found;
}

unsigned pdnn_plot_pair_notes(const struct pdnn_comparison *comparison, size_t pair) {
    unsigned found = 0;
    for (int side = 0; side < PDNN_SIDES; side++)
        found |= pdnn_plot_notes(&comparison->selection, comparison->at[pair][side]);
    return found;
}

void pdnn_plot_tally_add(struct pdnn_plot_tally *tally, unsigned found) {
    tally->rows++;
    for (size_t i = 0; i < PDNN_NOTES; i++)
        tally->noted[i] += found >> i & 1;
}

void pdnn_plot_tally_put(const struct pdnn_plot_tally *tally, struct pdnn_str *out) {
    for (size_t i = 0; i < PDNN_NOTES; i++)
        if (tally->noted[i])
            pdnn_str_printf(out, ", %zu of %zu %s", tally->noted[i], tally->rows, notes[i].said);
}

/* The processor, the columns in which all chosen rows, or those of all pairs, have the same value, and
 * the tally. Of several directories also rows that did not end ok count: one of them may have no others.
 * Costs do not depend on backends and threads. */
static const char *subtitle_of(struct pdnn_arena *arena, const struct pdnn_selection *rows,
                               const struct pdnn_comparison *pairs, const struct pdnn_plot_tally *tally) {
    static const char *const common[] = {"family",  "mode", "optimizer", "dtype",
                                         "backend", "fuse", "threads"};
    const size_t failed = rows->results.n_directories > 1 ? rows->left_out : 0,
                 n = pairs ? PDNN_SIDES * pairs->pairs.n_rows : rows->count + failed;
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "%s",
                    rows->results.is_costs ? "costs alone, nothing ran"
                    : pairs                ? pdnn_plot_cpu(arena, pairs->directory, PDNN_SIDES)
                            : pdnn_plot_cpu(arena, rows->results.directory, rows->results.n_directories));
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        const int column = pdnn_results_named(&rows->results, common[i]);
        const char *value = NULL;
        bool same =
            !rows->results.is_costs || !pdnn_parts_have("backend,threads", ",", common[i], strlen(common[i]));
        for (size_t k = 0; k < n && same; k++) {
            const size_t at = pairs ? pairs->at[k / PDNN_SIDES][k % PDNN_SIDES] : k;
            const char *here = pdnn_selection_get(rows, at, column);
            value = value ? value : here;
            same = strcmp(value, here) == 0;
        }
        if (same && value && *value)
            pdnn_str_printf(&text, ", %s%s%s", strcmp(common[i], "fuse") == 0 ? "fuse " : "", value,
                            strcmp(common[i], "threads") != 0 ? ""
                            : strcmp(value, "1") == 0         ? " thread"
                                                              : " threads");
    }
    pdnn_plot_tally_put(tally, &text);
    return pdnn_plot_keep(arena, &text);
}

struct pdnn_titles pdnn_plot_titles(struct pdnn_arena *arena, const char *what,
                                    const struct pdnn_selection *selection,
                                    const struct pdnn_plot_tally *tally) {
    const struct pdnn_results *results = &selection->results;
    const char *end = strrchr(what, ' '), *title = what;
    struct pdnn_plot_tally all = {0};
    if (end && (strcmp(end, " in") == 0 || strcmp(end, " of") == 0))
        title = pdnn_arena_printf(arena, "%s %s", what,
                                  pdnn_plot_directories(arena, results->directory, results->n_directories));
    for (size_t at = 0; at < selection->count; at++)
        pdnn_plot_tally_add(&all, pdnn_plot_notes(selection, at));
    return (struct pdnn_titles){title, subtitle_of(arena, selection, NULL, tally ? tally : &all)};
}

const char *pdnn_plot_side(const struct pdnn_comparison *c, int side) {
    const bool is_directory = pdnn_comparison_has_two(c) && c->label[side] == c->directory[side];
    return is_directory ? c->selection.results.name[c->source[side]] : c->label[side];
}

const char *pdnn_plot_base(const struct pdnn_comparison *of, size_t n) {
    return n > 1 ? of->selection.results.name[of->source[PDNN_SIDE_A]] : pdnn_plot_side(of, PDNN_SIDE_A);
}

struct pdnn_titles pdnn_plot_compare_titles(struct pdnn_arena *arena, const char *what,
                                            const struct pdnn_comparison *c) {
    enum { MOST = 90 }; /* letters that a title has room for, in pictures of 1200 pixels */
    struct pdnn_plot_tally all = {0};
    const char *title = pdnn_arena_printf(arena, "%s of %s over %s", what, pdnn_plot_side(c, PDNN_SIDE_B),
                                          pdnn_plot_side(c, PDNN_SIDE_A));
    const char *longer = pdnn_arena_printf(
        arena, "%s in %s", title,
        pdnn_plot_directories(arena, c->directory, pdnn_comparison_has_two(c) ? PDNN_SIDES : 1));
    for (size_t pair = 0; pair < c->pairs.n_rows; pair++)
        pdnn_plot_tally_add(&all, pdnn_plot_pair_notes(c, pair));
    return (struct pdnn_titles){c->across.count && strlen(longer) <= MOST ? longer : title,
                                subtitle_of(arena, &c->selection, c, &all)};
}

/* What people call the columns whose names say something else, and units, as one axis has room for. */
static const struct {
    const char *column, *words, *unit;
} words[] = {{"pct_of_peak", "share of the measured peak", "%"},
             {"pct_of_roof", "share of the roof", "%"},
             {"gflops", "performance", "GFLOP/s"},
             {"attainable_gflops", "roof", "GFLOP/s"},
             {"bw_gbs", "bandwidth", "GB/s"},
             {"bus_gbs", "bandwidth of the bus", "GB/s"},
             {"intensity_flop_per_byte", "operational intensity", "FLOP/byte"},
             {"time_ns_median", "time of a step", "ns"},
             {"examples_per_s", "throughput", "examples/s"},
             {"loader_examples_per_s", "throughput of the loaders", "examples/s"},
             {"infeed_pct", "share of the step that waits for data", "%"},
             {"residual_pct", "share of the step in no op", "%"},
             {"ci_half_pct", "half of the 95 % interval", "%"},
             {"flop_count", "work of a step", "FLOP"},
             {"in_bounds_flop_count", "work of a step within bounds", "FLOP"},
             {"byte_count", "traffic of a step", "bytes"},
             {"speed_index", "speed of the machine", "ratio"},
             {"params", "parameters", ""}};
static const struct {
    const char *unit, *end, *said;
} units[] = {{"1e9 FLOP/s", "gflops", "GFLOP/s"},
             {"1e9 B/s", "gbs", "GB/s"},
             {"1e9/s", "ghz", "GHz"},
             {"1/s", "per_s", "1/s"},
             {"B/s", "bytes_per_s", "B/s"},
             {"bytes", "bytes", "bytes"},
             {"ns", "ns", "ns"},
             {"%", "pct", "%"}};

/* A column without words of its own: its name without the unit at its end and without underscores. */
static const char *spell(struct pdnn_arena *arena, const char *name, const char **unit) {
    char *spelled = pdnn_arena_strdup(arena, name);
    for (size_t k = 0; *unit && k < sizeof units / sizeof *units; k++)
        if (strcmp(units[k].unit, *unit) == 0) {
            const size_t length = strlen(name), end = strlen(units[k].end);
            *unit = units[k].said;
            if (length > end + 1 && name[length - end - 1] == '_' &&
                strcmp(name + length - end, units[k].end) == 0)
                spelled[length - end - 1] = '\0';
            break;
        }
    for (char *at = spelled; *at; at++)
        *at = *at == '_' ? ' ' : *at;
    return spelled;
}

/* Keys are called as users type them. */
static const char *words_of(struct pdnn_arena *arena, const struct pdnn_results *results, int column,
                            const char **unit) {
    const char *name = pdnn_results_name(results, column);
    *unit = results->table.column[column].def.unit;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcmp(words[k].column, name) == 0) {
            *unit = words[k].unit;
            return words[k].words;
        }
    const bool is_key = column >= results->first_key && column < results->end_key;
    return is_key ? name : spell(arena, name, unit);
}

const char *pdnn_plot_words(struct pdnn_arena *arena, const struct pdnn_results *results, int column) {
    return words_of(arena, results, column, &(const char *){NULL});
}

const char *pdnn_plot_axis(struct pdnn_arena *arena, const struct pdnn_results *results, int column) {
    const char *unit, *said = words_of(arena, results, column, &unit);
    return unit && *unit ? pdnn_arena_printf(arena, "%s (%s)", said, unit) : said;
}

const char *pdnn_plot_column_axis(struct pdnn_arena *arena, const struct pdnn_column_def *column) {
    const char *unit = column->unit, *said = spell(arena, column->name, &unit);
    return unit && *unit ? pdnn_arena_printf(arena, "%s (%s)", said, unit) : said;
}

const char *pdnn_plot_ratio_axis(struct pdnn_arena *arena, const char *what, const struct pdnn_comparison *of,
                                 size_t n) {
    return pdnn_arena_printf(arena, "%s of %s over that of %s", what, pdnn_plot_base(of, n),
                             n > 1 ? "the other" : pdnn_plot_side(of, PDNN_SIDE_B));
}
