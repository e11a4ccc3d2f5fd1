/* `paradnn plot ceilings`: ceilings.csv as pictures. One row of panels per thread count: bandwidth against
 * working set (results/figures/ladder.h), and arithmetic by dtype and kernel as bars. The looks are in
 * results/figures/ceilings.gp. */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "base/memory.h"
#include "base/units.h"
#include "results/table/number.h"
#include "results/figures/caption.h"
#include "results/figures/color.h"
#include "results/figures/file.h"
#include "results/figures/gnuplot.h"
#include "results/figures/ladder.h"
#include "results/store/tables.h"
#include "results/table/write.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bars and dtypes beyond these are left out of a panel. */
enum { BARS_MAX = 48, DTYPES_MAX = PDNN_PLOT_COLORS };

/* The rows of several directories in one table: each has its threads plus its number times this. */
static const int64_t directory_step = 1000000;

struct picture {
    const struct pdnn_plot_request *request;
    struct pdnn_ceilings *ceilings;
    int64_t threads[PDNN_CEILINGS_THREADS_MAX]; /* with the directory's number */
    size_t n_threads, drawn;
    const char *dtype[DTYPES_MAX]; /* distinct ones, in order of appearance; borrowed */
    size_t n_dtypes;
    struct pdnn_str script;
    struct pdnn_table data; /* what is drawn */
};

static bool is_compute(const struct pdnn_ceiling *row) {
    return strcmp(row->kind, "compute") == 0;
}

static bool is_drawn(const struct pdnn_ceiling *row) {
    return is_compute(row) || strcmp(row->kind, "bandwidth") == 0 || strcmp(row->kind, "ladder") == 0;
}

static void add_threads(struct picture *p, int64_t threads) {
    for (size_t i = 0; i < p->n_threads; i++)
        if (p->threads[i] == threads)
            return;
    if (p->n_threads < PDNN_CEILINGS_THREADS_MAX)
        p->threads[p->n_threads++] = threads;
}

static void add_dtype(struct picture *p, const char *dtype) {
    for (size_t i = 0; i < p->n_dtypes; i++)
        if (strcmp(p->dtype[i], dtype) == 0)
            return;
    if (p->n_dtypes < DTYPES_MAX)
        p->dtype[p->n_dtypes++] = dtype;
}

static enum pdnn_status add_directory(struct picture *p, size_t directory, struct pdnn_ceilings *read,
                                      struct pdnn_err *err) {
    char path[PATH_MAX];
    size_t drawn = p->drawn;
    if (snprintf(path, sizeof path, "%s/ceilings.csv", p->request->directory[directory]) >= (int)sizeof path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", p->request->directory[directory]);
    if (pdnn_ceilings_read(path, NULL, read, err) != PDNN_OK)
        return err->status;
    if (read->count > PDNN_CEILINGS_MAX - p->ceilings->count)
        return pdnn_fail(err, PDNN_INVALID, "%s: more than %d roofs together", path, PDNN_CEILINGS_MAX);
    for (size_t i = 0; i < read->count; i++) {
        struct pdnn_ceiling *row = &p->ceilings->row[p->ceilings->count++];
        *row = read->row[i];
        if (row->threads < 0 || row->threads >= directory_step)
            return pdnn_fail(err, PDNN_INVALID, "%s: %" PRId64 " is not a number of threads", path,
                             row->threads);
        row->threads += (int64_t)directory * directory_step;
        if (!is_drawn(row))
            continue;
        add_threads(p, row->threads);
        if (is_compute(row))
            add_dtype(p, row->dtype);
        p->drawn++;
    }
    return p->drawn > drawn
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID, "%s: no row is compute, bandwidth or ladder", path);
}

static enum pdnn_status read_ceilings(struct picture *p, struct pdnn_err *err) {
    struct pdnn_ceilings *read = pdnn_alloc(1, sizeof *read);
    enum pdnn_status status = PDNN_OK;
    p->ceilings = pdnn_alloc(1, sizeof *p->ceilings);
    for (size_t d = 0; status == PDNN_OK && d < p->request->n_directories; d++)
        status = add_directory(p, d, read, err);
    free(read);
    return status;
}

/* The name of the directory that a row comes from; it has *length letters. */
static const char *directory_of(const struct picture *p, int64_t threads, int *length) {
    return pdnn_directory_name(p->request->directory[threads / directory_step], length);
}

/* The bars of a thread count from top to bottom: by dtype, in the order of the file. */
static size_t collect_bars(const struct picture *p, int64_t threads,
                           const struct pdnn_ceiling *bars[BARS_MAX], size_t dtypes[BARS_MAX]) {
    size_t count = 0;
    for (size_t d = 0; d < p->n_dtypes; d++) {
        for (size_t i = 0; i < p->ceilings->count; i++) {
            const struct pdnn_ceiling *row = &p->ceilings->row[i];
            if (!is_compute(row) || row->threads != threads || strcmp(row->dtype, p->dtype[d]) != 0)
                continue;
            if (count == BARS_MAX)
                return count;
            dtypes[count] = d;
            bars[count++] = row;
        }
    }
    return count;
}

/* y value low high rgb number. One block per thread count; a block without bars is an empty frame. */
static void put_bars(struct picture *p) {
    const struct pdnn_ceiling *bars[BARS_MAX];
    size_t dtypes[BARS_MAX];
    pdnn_str_printf(&p->script, "$bars << END\n");
    for (size_t t = 0; t < p->n_threads; t++) {
        size_t count = collect_bars(p, p->threads[t], bars, dtypes);
        for (size_t i = 0; i < count; i++) {
            pdnn_str_printf(&p->script, "%zu ", i);
            pdnn_plot_number(&p->script, bars[i]->value, " ");
            pdnn_plot_number(&p->script, bars[i]->low, " ");
            pdnn_plot_number(&p->script, bars[i]->high, " ");
            pdnn_str_printf(&p->script, "%u ", pdnn_plot_distinct_color(dtypes[i]));
            pdnn_number_format(&p->script, bars[i]->value, 3);
            pdnn_str_append(&p->script, "\n", 1);
        }
        pdnn_str_printf(&p->script, "%s\n\n", count ? "" : "0 NaN NaN NaN 0 ''\n");
    }
    pdnn_str_printf(&p->script, "END\n");
}

/* TIC: the names of the bars; those of thread count t from FIRST_TIC[t] up to, but not including,
 * FIRST_TIC[t + 1]. MOST_BARS: of any thread count. */
static void put_tics(struct picture *p) {
    const struct pdnn_ceiling *bars[BARS_MAX];
    size_t dtypes[BARS_MAX], total = 0, most = 1, at = 1;
    for (size_t t = 0; t < p->n_threads; t++) {
        size_t count = collect_bars(p, p->threads[t], bars, dtypes);
        total += count;
        most = count > most ? count : most;
    }
    pdnn_plot_variable(&p->script, "MOST_BARS", (double)most);
    pdnn_str_printf(&p->script, "array TIC[%zu]\narray FIRST_TIC[%zu]\n", total + 1, p->n_threads + 1);
    for (size_t t = 0; t < p->n_threads; t++) {
        size_t count = collect_bars(p, p->threads[t], bars, dtypes);
        pdnn_str_printf(&p->script, "FIRST_TIC[%zu] = %zu\n", t + 1, at);
        for (size_t i = 0; i < count; i++, at++) {
            pdnn_str_printf(&p->script, "TIC[%zu] = ", at);
            pdnn_gnuplot_quote(&p->script, bars[i]->dtype);
            pdnn_str_printf(&p->script, " . \"  \" . ");
            pdnn_gnuplot_quote(&p->script, bars[i]->pattern);
            pdnn_str_append(&p->script, "\n", 1);
        }
    }
    pdnn_str_printf(&p->script, "FIRST_TIC[%zu] = %zu\n", p->n_threads + 1, at);
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
        int64_t threads = p->threads[t] % directory_step;
        struct pdnn_str text = {0};
        char name[32];
        int length;
        const char *directory = directory_of(p, p->threads[t], &length);
        if (p->request->n_directories > 1)
            pdnn_str_printf(&text, "%.*s, ", length, directory);
        pdnn_str_printf(&text, "%" PRId64 " thread%s", threads, threads == 1 ? "" : "s");
        if (overhead_ns > 0)
            pdnn_str_printf(&text, ": calling an operator takes %s", pdnn_format_ns(time, overhead_ns));
        snprintf(name, sizeof name, "ROW[%zu]", t + 1);
        pdnn_gnuplot_text(&p->script, name, pdnn_str_text(&text));
        pdnn_str_finish(&text);
    }
}

/* The rows that are drawn, as ceilings.csv has them; the column `results` comes first where there are several
 * directories. */
static void fill_data(struct picture *p) {
    pdnn_table_init(&p->data, &pdnn_ceilings_def);
    pdnn_table_add_column(&p->data, &(struct pdnn_column_def){.name = PDNN_RESULTS_KEY});
    for (size_t i = 0; i < p->ceilings->count; i++) {
        struct pdnn_ceiling roof = p->ceilings->row[i];
        char name[PATH_MAX];
        int length;
        if (!is_drawn(&roof))
            continue;
        const char *directory = directory_of(p, roof.threads, &length);
        snprintf(name, sizeof name, "%.*s", length, directory);
        roof.threads %= directory_step;
        pdnn_ceilings_add(&roof, &p->data);
        pdnn_table_set_text(&p->data, p->data.n_rows - 1, PDNN_CEILINGS_COLUMNS, name);
    }
}

/* "Roofs of new.results: the processor"; of several directories without it. */
static void put_title(struct picture *p) {
    const struct pdnn_plot_request *request = p->request;
    struct pdnn_str title = {0}, cpu = {0};
    pdnn_str_printf(&title, "Roofs of ");
    pdnn_plot_directories(request->directory, request->n_directories, &title);
    if (request->n_directories == 1)
        pdnn_environment_get(request->directory[0], "cpu", &cpu);
    pdnn_str_printf(&title, "%s%s", cpu.length ? ": " : "", pdnn_str_text(&cpu));
    pdnn_plot_put_titles(&p->script, pdnn_str_text(&title), NULL);
    pdnn_str_finish(&title);
    pdnn_str_finish(&cpu);
}

static enum pdnn_status draw(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err) {
    struct picture picture = {.request = request};
    struct pdnn_plot_result drawn = {.n_paths = 0};
    enum pdnn_status status = read_ceilings(&picture, err);
    if (status == PDNN_OK) {
        put_title(&picture);
        pdnn_plot_variable(&picture.script, "N_ROWS", (double)picture.n_threads);
        put_rows(&picture);
        pdnn_plot_ladder(&picture.script, picture.ceilings, picture.threads, picture.n_threads);
        put_tics(&picture);
        put_bars(&picture);
        fill_data(&picture);
        size_t columns[PDNN_CEILINGS_COLUMNS + 1] = {PDNN_CEILINGS_COLUMNS};
        for (size_t i = 0; i < PDNN_CEILINGS_COLUMNS; i++)
            columns[i + 1] = i;
        bool several = request->n_directories > 1;
        const struct pdnn_plot_parts parts = {"ceilings",
                                              &picture.script,
                                              pdnn_plot_script_ceilings,
                                              &picture.data,
                                              several ? columns : columns + 1,
                                              PDNN_CEILINGS_COLUMNS + several};
        status = pdnn_plot_write(request, &parts, &drawn, err);
        drawn.drawn = (int)picture.drawn;
        drawn.left_out = (int)(picture.ceilings->count - picture.drawn);
    }
    pdnn_str_finish(&picture.script);
    pdnn_table_finish(&picture.data);
    free(picture.ceilings);
    if (status == PDNN_OK)
        *result = drawn;
    return status;
}

static const char *const options[] = {NULL};

const struct pdnn_plot_def pdnn_plot_ceilings = {
    .name = "ceilings",
    .help =
        "the measured roofs of each of RESULTS for each thread count: bandwidth by working set with the levels found, "
        "arithmetic by dtype",
    .options = options,
    .drawn = "roofs",
    .left_out_as = "rows of other kinds",
    .draw = draw,
};
