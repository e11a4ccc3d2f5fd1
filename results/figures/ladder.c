#include "results/figures/ladder.h"
#include "base/units.h"
#include "results/figures/color.h"
#include "results/figures/file.h"
#include "results/figures/gnuplot.h"
#include "results/table/csv.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SERIES_MAX = 8, LEVELS_MAX = 8 };

/* Least distance between the centers of two levels' names. */
static const double name_pixels = 116;

/* Lines are in the color of the pattern; those with streaming stores are dashed. */
struct series {
    const char *name;
    size_t color;
    bool is_streaming;
};

struct ladder {
    struct pdnn_str *script;
    const struct pdnn_ceilings *ceilings;
    struct series series[SERIES_MAX];
    size_t n_series;
    double xmin, xmax, ymin, ymax; /* of all panels */
};

/* A level of one thread count, in order of capacity. */
struct level {
    const char *name;
    double capacity_bytes, reported_bytes; /* INFINITY: DRAM; 0: not reported */
    double gbs;                            /* the best of the patterns */
};

static bool is_ladder(const struct pdnn_ceiling *row) {
    return strcmp(row->kind, "ladder") == 0;
}

static bool is_roof(const struct pdnn_ceiling *row) {
    return strcmp(row->kind, "bandwidth") == 0;
}

/* Length of the pattern's name without its kind of store. */
static size_t plain_length(const char *pattern) {
    return strcspn(pattern, "-");
}

static bool is_same_pattern(const char *a, const char *b) {
    return plain_length(a) == plain_length(b) && memcmp(a, b, plain_length(a)) == 0;
}

static size_t find_series(const struct ladder *ladder, const char *name) {
    size_t at = 0;
    while (at < ladder->n_series && strcmp(ladder->series[at].name, name) != 0)
        at++;
    return at;
}

/* A series for which there is no room is not drawn. */
static void add_series(struct ladder *ladder, const char *name) {
    if (find_series(ladder, name) < ladder->n_series || ladder->n_series == SERIES_MAX)
        return;
    struct series made = {name, ladder->n_series, name[plain_length(name)] != 0};
    for (size_t i = ladder->n_series; i-- > 0;) {
        if (is_same_pattern(ladder->series[i].name, name))
            made.color = ladder->series[i].color;
    }
    ladder->series[ladder->n_series++] = made;
}

/* The roofs come first, so that each pattern has a color of its own. */
static void collect_series(struct ladder *ladder) {
    for (int roofs = 1; roofs >= 0; roofs--) {
        for (size_t i = 0; i < ladder->ceilings->count; i++) {
            const struct pdnn_ceiling *row = &ladder->ceilings->row[i];
            if (roofs ? is_roof(row) : is_ladder(row))
                add_series(ladder, row->pattern);
        }
    }
}

/* Without a ladder there is room on both sides of the capacities. */
static void set_ranges(struct ladder *ladder) {
    bool has_ladder = false;
    double least = INFINITY, most = 0;
    ladder->ymin = INFINITY;
    ladder->ymax = 0;
    for (size_t i = 0; i < ladder->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &ladder->ceilings->row[i];
        if (!is_ladder(row) && !is_roof(row))
            continue;
        has_ladder = has_ladder || is_ladder(row);
        if (row->value > 0) {
            ladder->ymin = fmin(ladder->ymin, row->value);
            ladder->ymax = fmax(ladder->ymax, row->value);
        }
        if (row->capacity_bytes) {
            least = fmin(least, (double)row->capacity_bytes);
            most = fmax(most, (double)row->capacity_bytes);
        }
    }
    if (!(most > 0))
        least = most = 1 << 20;
    ladder->xmin = has_ladder ? least / 1.2 : least / 6;
    ladder->xmax = has_ladder ? most * 1.2 : most * 16;
    if (!(ladder->ymax > 0))
        ladder->ymin = ladder->ymax = 1;
    ladder->ymin /= 1.2;
    ladder->ymax *= 1.2;
}

static size_t collect_levels(const struct ladder *ladder, int64_t threads, struct level levels[LEVELS_MAX]) {
    size_t count = 0;
    for (size_t i = 0; i < ladder->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &ladder->ceilings->row[i];
        size_t at = 0;
        if (!is_roof(row) || row->threads != threads)
            continue;
        while (at < count && strcmp(levels[at].name, row->level) != 0)
            at++;
        if (at == count && count < LEVELS_MAX) {
            double capacity = row->capacity_bytes ? (double)row->capacity_bytes : INFINITY;
            for (at = count++; at > 0 && levels[at - 1].capacity_bytes > capacity; at--)
                levels[at] = levels[at - 1];
            levels[at] =
                (struct level){row->level, capacity,
                               row->reported_bytes == PDNN_ABSENT ? 0 : (double)row->reported_bytes, 0};
        }
        if (at < count)
            levels[at].gbs = fmax(levels[at].gbs, row->value);
    }
    return count;
}

/* The middle of the level's working sets, on a logarithmic axis. */
static double middle_of(const struct ladder *ladder, const struct level *levels, size_t at) {
    double low = at ? levels[at - 1].capacity_bytes : ladder->xmin;
    return sqrt(fmax(low, ladder->xmin) * fmin(levels[at].capacity_bytes, ladder->xmax));
}

/* Where the roof stands: at the working set that it was taken from, if the file has it. */
static double place_of(const struct ladder *ladder, const struct pdnn_ceiling *roof,
                       const struct level *levels, size_t n_levels) {
    for (size_t i = 0; i < ladder->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &ladder->ceilings->row[i];
        if (is_ladder(row) && row->threads == roof->threads && row->value == roof->value &&
            strcmp(row->level, roof->level) == 0 && is_same_pattern(row->pattern, roof->pattern))
            return (double)row->capacity_bytes;
    }
    for (size_t at = 0; at < n_levels; at++) {
        if (strcmp(levels[at].name, roof->level) == 0)
            return middle_of(ladder, levels, at);
    }
    return NAN;
}

static void put_lines(const struct ladder *ladder, int64_t threads) {
    for (size_t s = 0; s < ladder->n_series; s++) {
        bool any = false;
        for (size_t i = 0; i < ladder->ceilings->count; i++) {
            const struct pdnn_ceiling *row = &ladder->ceilings->row[i];
            if (!is_ladder(row) || row->threads != threads ||
                strcmp(row->pattern, ladder->series[s].name) != 0)
                continue;
            pdnn_plot_number(ladder->script, (double)row->capacity_bytes, " ");
            pdnn_plot_number(ladder->script, row->value, "\n");
            any = true;
        }
        pdnn_str_printf(ladder->script, "%s\n\n", any ? "" : "NaN NaN\n");
    }
}

static void put_marks(const struct ladder *ladder, int64_t threads) {
    struct level levels[LEVELS_MAX];
    size_t n_levels = collect_levels(ladder, threads, levels);
    pdnn_str_printf(ladder->script, "NaN NaN 0\n");
    for (size_t i = 0; i < ladder->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &ladder->ceilings->row[i];
        size_t series = find_series(ladder, row->pattern);
        if (!is_roof(row) || row->threads != threads || series == ladder->n_series)
            continue;
        pdnn_plot_number(ladder->script, place_of(ladder, row, levels, n_levels), " ");
        pdnn_plot_number(ladder->script, row->value, " ");
        pdnn_str_printf(ladder->script, "%u\n", pdnn_plot_distinct_color(ladder->series[series].color));
    }
    pdnn_str_printf(ladder->script, "\n\n");
}

/* x, and whether it is the reported size */
static void put_ends(const struct ladder *ladder, int64_t threads) {
    struct level levels[LEVELS_MAX];
    size_t n_levels = collect_levels(ladder, threads, levels);
    pdnn_str_printf(ladder->script, "NaN 0\n");
    for (size_t i = 0; i < n_levels; i++) {
        if (isinf(levels[i].capacity_bytes))
            continue;
        pdnn_plot_number(ladder->script, levels[i].capacity_bytes, " 0\n");
        if (levels[i].reported_bytes > 0)
            pdnn_plot_number(ladder->script, levels[i].reported_bytes, " 1\n");
    }
    pdnn_str_printf(ladder->script, "\n\n");
}

static void put_blocks(const struct ladder *ladder, const char *name,
                       void (*put)(const struct ladder *ladder, int64_t threads), const int64_t *threads,
                       size_t n_threads) {
    pdnn_str_printf(ladder->script, "$%s << END\n", name);
    for (size_t t = 0; t < n_threads; t++)
        put(ladder, threads[t]);
    pdnn_str_printf(ladder->script, "END\n");
}

/* Three lines: the level and its best roof, what it was found to hold, what the host reports. */
static void put_name(const struct ladder *ladder, size_t at, const struct level *level) {
    char size[PDNN_UNIT_TEXT];
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "%s: ", level->name);
    pdnn_number_format(&text, level->gbs, 3);
    pdnn_str_printf(&text, " GB/s");
    pdnn_str_printf(ladder->script, "NAME[%zu] = ", at);
    pdnn_gnuplot_quote(ladder->script, pdnn_str_text(&text));
    if (!isinf(level->capacity_bytes))
        pdnn_str_printf(ladder->script, " . \"\\nholds %s\"", pdnn_format_bytes(size, level->capacity_bytes));
    if (level->reported_bytes > 0)
        pdnn_str_printf(ladder->script, " . \"\\nreported %s\"",
                        pdnn_format_bytes(size, level->reported_bytes));
    pdnn_str_append(ladder->script, "\n", 1);
    pdnn_str_finish(&text);
}

/* Names stand above the middle of their levels, apart from each other, and within the frame. */
static void place_names(const struct ladder *ladder, const struct level *levels, size_t count, double *x) {
    double octaves = log2(ladder->xmax / ladder->xmin);
    double apart = name_pixels / PDNN_PLOT_LADDER_WIDTH * octaves, right = octaves - apart / 2;
    for (size_t i = 0; i < count; i++) {
        x[i] = log2(middle_of(ladder, levels, i) / ladder->xmin);
        x[i] = fmax(x[i], i ? x[i - 1] + apart : apart / 2);
    }
    for (size_t i = count; i-- > 0; right -= apart)
        x[i] = fmin(x[i], right);
    for (size_t i = 0; i < count; i++)
        x[i] = ladder->xmin * exp2(x[i]);
}

static void put_names(const struct ladder *ladder, const int64_t *threads, size_t n_threads) {
    struct level levels[LEVELS_MAX];
    size_t total = 0, at = 1;
    for (size_t t = 0; t < n_threads; t++)
        total += collect_levels(ladder, threads[t], levels);
    pdnn_str_printf(ladder->script, "array NAME[%zu]\narray NAME_X[%zu]\narray FIRST_NAME[%zu]\n", total + 1,
                    total + 1, n_threads + 1);
    for (size_t t = 0; t < n_threads; t++) {
        double x[LEVELS_MAX];
        size_t count = collect_levels(ladder, threads[t], levels);
        place_names(ladder, levels, count, x);
        pdnn_str_printf(ladder->script, "FIRST_NAME[%zu] = %zu\n", t + 1, at);
        for (size_t i = 0; i < count; i++, at++) {
            put_name(ladder, at, &levels[i]);
            pdnn_str_printf(ladder->script, "NAME_X[%zu] = ", at);
            pdnn_plot_number(ladder->script, x[i], "\n");
        }
    }
    pdnn_str_printf(ladder->script, "FIRST_NAME[%zu] = %zu\n", n_threads + 1, at);
}

static void put_series(const struct ladder *ladder) {
    pdnn_plot_variable(ladder->script, "N_SERIES", (double)ladder->n_series);
    pdnn_str_printf(ladder->script, "array SERIES[%d]\narray SERIES_COLOR[%d]\narray DASH[%d]\n", SERIES_MAX,
                    SERIES_MAX, SERIES_MAX);
    for (size_t i = 0; i < ladder->n_series; i++) {
        const struct series *series = &ladder->series[i];
        pdnn_str_printf(ladder->script, "SERIES[%zu] = ", i + 1);
        pdnn_gnuplot_quote(ladder->script, series->name);
        pdnn_str_printf(ladder->script, "\nSERIES_COLOR[%zu] = %u\nDASH[%zu] = %d\n", i + 1,
                        pdnn_plot_distinct_color(series->color), i + 1, series->is_streaming ? 3 : 1);
    }
}

void pdnn_plot_ladder(struct pdnn_str *script, const struct pdnn_ceilings *ceilings, const int64_t *threads,
                      size_t n_threads) {
    struct ladder ladder = {.script = script, .ceilings = ceilings};
    collect_series(&ladder);
    set_ranges(&ladder);
    pdnn_plot_variable(script, "LADDER_WIDTH", PDNN_PLOT_LADDER_WIDTH);
    pdnn_plot_variable(script, "XMIN", ladder.xmin);
    pdnn_plot_variable(script, "XMAX", ladder.xmax);
    pdnn_plot_variable(script, "YMIN", ladder.ymin);
    pdnn_plot_variable(script, "YMAX", ladder.ymax);
    put_series(&ladder);
    put_names(&ladder, threads, n_threads);
    put_blocks(&ladder, "lines", put_lines, threads, n_threads);
    put_blocks(&ladder, "marks", put_marks, threads, n_threads);
    put_blocks(&ladder, "ends", put_ends, threads, n_threads);
}
