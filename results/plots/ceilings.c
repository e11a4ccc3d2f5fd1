/* `paradnn plot ceilings`: ceilings.csv as bars. One row of panels per thread count: bandwidth by level and
 * pattern, arithmetic by dtype and kernel. The looks are in results/plots/ceilings.gp. */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "base/units.h"
#include "results/plots/color.h"
#include "results/plots/file.h"
#include "results/plots/gnuplot.h"
#include "results/tables/csv.h"
#include "results/tables/tables.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A panel shows the rows of one kind: a set of bars per word of `group`, a color per pattern. */
static const struct panel {
    const char *kind, *unit;
    size_t group; /* offset of the text in a ceiling */
} panels[] = {
    {"bandwidth", "bandwidth (GB/s)", offsetof(struct pdnn_ceiling, level)},
    {"compute", "arithmetic (GFLOP/s)", offsetof(struct pdnn_ceiling, dtype)},
};

enum { N_PANELS = sizeof panels / sizeof panels[0], WORDS_MAX = 32 };

/* Distinct words in order of appearance; borrowed. Words beyond the capacity are drawn as the last one. */
struct words {
    const char *word[WORDS_MAX];
    size_t count;
};

static size_t find_word(const struct words *words, const char *word) {
    size_t at = 0;
    while (at < words->count && strcmp(words->word[at], word) != 0)
        at++;
    return at < WORDS_MAX ? at : WORDS_MAX - 1;
}

static void add_word(struct words *words, const char *word) {
    size_t at = find_word(words, word);
    if (at == words->count)
        words->word[words->count++] = word;
}

struct picture {
    struct pdnn_ceilings *ceilings;
    struct words groups[N_PANELS], patterns[N_PANELS]; /* shared by all thread counts */
    bool has[N_PANELS][WORDS_MAX][WORDS_MAX];          /* by group and pattern */
    int64_t threads[PDNN_CEILINGS_THREADS_MAX];
    size_t n_threads, drawn;
    struct pdnn_str script;
};

static const char *group_of(const struct panel *panel, const struct pdnn_ceiling *row) {
    return (const char *)row + panel->group;
}

static void add_threads(struct picture *p, int64_t threads) {
    for (size_t i = 0; i < p->n_threads; i++)
        if (p->threads[i] == threads)
            return;
    if (p->n_threads < PDNN_CEILINGS_THREADS_MAX)
        p->threads[p->n_threads++] = threads;
}

static enum pdnn_status read_ceilings(struct picture *p, const char *directory, struct pdnn_err *err) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/ceilings.csv", directory) >= (int)sizeof path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    p->ceilings = calloc(1, sizeof *p->ceilings);
    if (!p->ceilings)
        return pdnn_fail(err, PDNN_NO_MEMORY, "%s: out of memory for its rows", path);
    if (pdnn_ceilings_read(path, p->ceilings, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; i < p->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &p->ceilings->row[i];
        for (size_t k = 0; k < N_PANELS; k++) {
            if (strcmp(row->kind, panels[k].kind) != 0)
                continue;
            add_word(&p->groups[k], group_of(&panels[k], row));
            add_word(&p->patterns[k], row->pattern);
            p->has[k][find_word(&p->groups[k], group_of(&panels[k], row))]
                  [find_word(&p->patterns[k], row->pattern)] = true;
            add_threads(p, row->threads);
            p->drawn++;
        }
    }
    return p->drawn ? PDNN_OK : pdnn_fail(err, PDNN_INVALID, "%s: no row is bandwidth or compute", path);
}

/* How many of the first `end` patterns the group has. */
static size_t count_patterns(const struct picture *p, size_t panel, size_t group, size_t end) {
    size_t count = 0;
    for (size_t i = 0; i < end; i++)
        count += p->has[panel][group][i];
    return count;
}

/* All bars of a panel have the width that fits its largest set. */
static double bar_width(const struct picture *p, size_t panel) {
    size_t most = 1;
    for (size_t g = 0; g < p->groups[panel].count; g++) {
        size_t count = count_patterns(p, panel, g, WORDS_MAX);
        most = count > most ? count : most;
    }
    return 0.88 / (double)most;
}

/* x value low high width rgb text */
static void put_bar(struct picture *p, size_t panel, const struct pdnn_ceiling *row) {
    double width = bar_width(p, panel);
    size_t pattern = find_word(&p->patterns[panel], row->pattern);
    size_t group = find_word(&p->groups[panel], group_of(&panels[panel], row));
    double place = (double)count_patterns(p, panel, group, pattern);
    double center = ((double)count_patterns(p, panel, group, WORDS_MAX) - 1) / 2;
    pdnn_plot_number(&p->script, (double)group + (place - center) * width, " ");
    pdnn_plot_number(&p->script, row->value, " ");
    pdnn_plot_number(&p->script, row->low, " ");
    pdnn_plot_number(&p->script, row->high, " ");
    pdnn_plot_number(&p->script, width * 0.92, " ");
    pdnn_str_printf(&p->script, "%u ", pdnn_plot_distinct_color(pattern));
    pdnn_number_format(&p->script, row->value, 3);
    pdnn_str_append(&p->script, "\n", 1);
}

/* One block per thread count and panel; a block without bars is an empty frame. */
static void put_bars(struct picture *p) {
    pdnn_str_printf(&p->script, "$bars << END\n");
    for (size_t t = 0; t < p->n_threads; t++) {
        for (size_t k = 0; k < N_PANELS; k++) {
            bool any = false;
            for (size_t i = 0; i < p->ceilings->count; i++) {
                const struct pdnn_ceiling *row = &p->ceilings->row[i];
                if (row->threads != p->threads[t] || strcmp(row->kind, panels[k].kind) != 0)
                    continue;
                put_bar(p, k, row);
                any = true;
            }
            pdnn_str_printf(&p->script, "%s\n\n", any ? "" : "0 NaN NaN NaN 1 0 ''\n");
        }
    }
    pdnn_str_printf(&p->script, "END\n");
}

/* The capacity of the level, summed over the caches that these threads use; "" if unknown. */
static const char *format_capacity(const struct picture *p, const char *level, int64_t threads,
                                   char text[PDNN_UNIT_TEXT]) {
    for (size_t i = 0; i < p->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &p->ceilings->row[i];
        if (row->threads == threads && strcmp(row->kind, "bandwidth") == 0 && row->capacity_bytes &&
            strcmp(row->level, level) == 0)
            return pdnn_format_bytes(text, (double)row->capacity_bytes);
    }
    return "";
}

/* TIC: the names below the bars, one per group, by thread count and panel; FIRST_TIC: where those begin. */
static void put_tics(struct picture *p) {
    size_t per_row = 0, at = 1;
    for (size_t k = 0; k < N_PANELS; k++)
        per_row += p->groups[k].count;
    pdnn_str_printf(&p->script, "array TIC[%zu]\narray FIRST_TIC[%zu]\n", p->n_threads * per_row,
                    p->n_threads * N_PANELS);
    for (size_t t = 0; t < p->n_threads; t++) {
        for (size_t k = 0; k < N_PANELS; k++) {
            pdnn_str_printf(&p->script, "FIRST_TIC[%zu] = %zu\n", 1 + t * N_PANELS + k, at);
            for (size_t g = 0; g < p->groups[k].count; g++, at++) {
                char text[PDNN_UNIT_TEXT];
                const char *name = p->groups[k].word[g];
                pdnn_str_printf(&p->script, "TIC[%zu] = ", at);
                pdnn_gnuplot_quote(&p->script, name);
                pdnn_str_printf(&p->script, " . \"\\n\" . ");
                pdnn_gnuplot_quote(&p->script, format_capacity(p, name, p->threads[t], text));
                pdnn_str_append(&p->script, "\n", 1);
            }
        }
    }
}

static double overhead_of(const struct picture *p, int64_t threads) {
    for (size_t i = 0; i < p->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &p->ceilings->row[i];
        if (row->threads == threads && strcmp(row->kind, "overhead") == 0)
            return row->value;
    }
    return 0;
}

/* ROW: the text above each row of panels. */
static void put_rows(struct picture *p) {
    pdnn_str_printf(&p->script, "array ROW[%zu]\n", p->n_threads);
    for (size_t t = 0; t < p->n_threads; t++) {
        char time[PDNN_UNIT_TEXT];
        double overhead_ns = overhead_of(p, p->threads[t]);
        pdnn_str_printf(&p->script, "ROW[%zu] = '%" PRId64 " thread%s", t + 1, p->threads[t],
                        p->threads[t] == 1 ? "" : "s");
        if (overhead_ns > 0)
            pdnn_str_printf(&p->script, ": calling an operator takes %s", pdnn_format_ns(time, overhead_ns));
        pdnn_str_printf(&p->script, "'\n");
    }
}

/* GROUPS: the number of sets of bars by panel. The legend is in WORD and WORD_COLOR: panel k has the entries
 * from FIRST[k] up to, but not including, FIRST[k + 1]. */
static void put_words(struct picture *p) {
    size_t count = 0;
    for (size_t k = 0; k < N_PANELS; k++)
        count += p->patterns[k].count;
    pdnn_str_printf(&p->script,
                    "array WORD[%zu]\narray WORD_COLOR[%zu]\narray FIRST[%d]\narray UNIT[%d]\n"
                    "array GROUPS[%d]\n",
                    count, count, N_PANELS + 1, N_PANELS, N_PANELS);
    size_t at = 1;
    for (size_t k = 0; k < N_PANELS; k++) {
        pdnn_str_printf(&p->script, "FIRST[%zu] = %zu\nUNIT[%zu] = '%s'\nGROUPS[%zu] = %zu\n", k + 1, at,
                        k + 1, panels[k].unit, k + 1, p->groups[k].count);
        for (size_t i = 0; i < p->patterns[k].count; i++, at++) {
            pdnn_str_printf(&p->script, "WORD[%zu] = ", at);
            pdnn_gnuplot_quote(&p->script, p->patterns[k].word[i]);
            pdnn_str_printf(&p->script, "\nWORD_COLOR[%zu] = %u\n", at, pdnn_plot_distinct_color(i));
        }
    }
    pdnn_str_printf(&p->script, "FIRST[%d] = %zu\n", N_PANELS + 1, at);
}

static void put_title(struct picture *p, const char *directory) {
    int length;
    const char *name = pdnn_plot_directory_name(directory, &length);
    struct pdnn_str title = {0}, cpu = {0};
    pdnn_environment_get(directory, "cpu", &cpu);
    pdnn_str_printf(&title, "Roofs of %.*s%s%s", length, name, cpu.length ? ": " : "", pdnn_str_text(&cpu));
    pdnn_gnuplot_text(&p->script, "TITLE", pdnn_str_text(&title));
    p->script.failed = p->script.failed || title.failed || cpu.failed;
    pdnn_str_finish(&title);
    pdnn_str_finish(&cpu);
}

static enum pdnn_status draw(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err) {
    struct picture picture = {.drawn = 0};
    struct pdnn_plot_result drawn = {.n_paths = 0};
    enum pdnn_status status = read_ceilings(&picture, request->directory, err);
    if (status == PDNN_OK) {
        put_title(&picture, request->directory);
        pdnn_plot_variable(&picture.script, "N_ROWS", (double)picture.n_threads);
        pdnn_plot_variable(&picture.script, "N_PANELS", N_PANELS);
        put_rows(&picture);
        put_tics(&picture);
        put_words(&picture);
        put_bars(&picture);
        status =
            pdnn_plot_write(request, "ceilings", &picture.script, pdnn_plot_script_ceilings, &drawn, err);
        drawn.drawn = (int)picture.drawn;
        drawn.left_out = (int)(picture.ceilings->count - picture.drawn);
    }
    pdnn_str_finish(&picture.script);
    free(picture.ceilings);
    if (status == PDNN_OK)
        *result = drawn;
    return status;
}

static const char *const options[] = {NULL};

const struct pdnn_plot_def pdnn_plot_ceilings = {
    .name = "ceilings",
    .help = "the measured roofs: bandwidth by level and pattern, arithmetic by dtype, for each thread count",
    .options = options,
    .drawn = "roofs",
    .left_out_as = "rows of other kinds",
    .draw = draw,
};
