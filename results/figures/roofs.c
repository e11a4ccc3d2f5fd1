#include "results/figures/roofs.h"
#include "base/memory.h"
#include "base/units.h"
#include "results/store/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The instances of a picture: those of one directory with one thread count become a panel. */
struct drawn {
    const struct pdnn_selection *selection;
    const size_t *at;
    size_t n;
    int threads, dtype; /* columns */
};

static const char *threads_of(const struct drawn *drawn, size_t i) {
    return pdnn_selection_get(drawn->selection, drawn->at[i], drawn->threads);
}

static bool is_in(const struct drawn *drawn, size_t i, size_t source, const char *threads) {
    return pdnn_selection_source(drawn->selection, drawn->at[i]) == source &&
           strcmp(threads_of(drawn, i), threads) == 0;
}

/* f32 where the table does not say. */
static void find_dtypes(struct pdnn_plot_roofs *p, const struct drawn *drawn) {
    for (size_t i = 0; i < drawn->n; i++) {
        if (!is_in(drawn, i, p->source, p->threads))
            continue;
        const char *name = pdnn_selection_get(drawn->selection, drawn->at[i], drawn->dtype);
        for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++)
            p->has_dtype[d] = p->has_dtype[d] || strcmp(*name ? name : "f32", pdnn_dtype_name(d)) == 0;
    }
}

static int count_dtypes(const struct pdnn_plot_roofs *p) {
    int count = 0;
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++)
        count += p->has_dtype[d];
    return count;
}

/* Roofs are kept highest first. A name includes the dtype if there are several. */
static void add_compute(struct pdnn_plot_roofs *p, const struct pdnn_ceiling *row) {
    static const char gemm_prefix[] = "gemm-";
    bool fma = strcmp(row->pattern, "fma") == 0;
    bool gemm = strncmp(row->pattern, gemm_prefix, sizeof gemm_prefix - 1) == 0;
    const char *detail = fma ? "" : row->pattern + (gemm ? sizeof gemm_prefix - 1 : 0);
    bool says_dtype = count_dtypes(p) > 1;
    struct pdnn_compute_roof roof = {.gflops = row->value};
    struct pdnn_str number = {0};
    pdnn_number_format(&number, row->value, 3);
    snprintf(roof.text, sizeof roof.text, "%s%s%s%s%s%s %s GFLOP/s", says_dtype ? row->dtype : "",
             says_dtype ? " " : "",
             fma    ? "FMA peak"
             : gemm ? "best GEMM"
                    : "compute",
             *detail ? " (" : "", detail, *detail ? ")" : "", pdnn_str_text(&number));
    pdnn_str_finish(&number);
    size_t at = p->n_compute++;
    for (; at > 0 && p->compute[at - 1].gflops < roof.gflops; at--)
        p->compute[at] = p->compute[at - 1];
    p->compute[at] = roof;
}

/* The FMA peak and the best of all other compute rows. */
static void add_dtype(struct pdnn_plot_roofs *p, enum pdnn_dtype dtype, int64_t threads) {
    const struct pdnn_ceiling *fma = NULL, *other = NULL;
    for (size_t i = 0; i < p->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &p->ceilings->row[i];
        if (row->threads != threads || strcmp(row->kind, "compute") != 0 ||
            strcmp(row->dtype, pdnn_dtype_name(dtype)) != 0)
            continue;
        const struct pdnn_ceiling **best = strcmp(row->pattern, "fma") == 0 ? &fma : &other;
        if (!*best || (*best)->value < row->value)
            *best = row;
    }
    if (fma)
        add_compute(p, fma);
    if (other)
        add_compute(p, other);
}

static enum pdnn_status find_roofs(struct pdnn_plot_roofs *p, struct pdnn_err *err) {
    int64_t threads = 0;
    pdnn_parse_i64(p->threads, &threads);
    pdnn_roofs_init(&p->roofs, p->ceilings, threads);
    const char *missing = NULL;
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
        if (!p->has_dtype[d])
            continue;
        bool has_peak = p->roofs.peak_gflops[d] > 0;
        if (!missing && (!has_peak || !p->roofs.n_levels))
            missing = pdnn_dtype_name(d);
        /* A dtype that ran without a fast path has no roof; its points lie below the others. */
        p->has_dtype[d] = has_peak;
        p->peak_gflops = fmax(p->peak_gflops, p->roofs.peak_gflops[d]);
    }
    if (!(p->peak_gflops > 0) || !p->roofs.n_levels)
        return pdnn_fail(err, PDNN_INVALID,
                         "ceilings.csv has no roofs for %s on %s threads, which most rows ran with",
                         missing ? missing : "any dtype", p->threads);
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
        if (p->has_dtype[d])
            add_dtype(p, d, threads);
    }
    return PDNN_OK;
}

/* Distinct thread counts of one directory in ascending order, with how many instances have each. */
struct thread_counts {
    const char *threads[PDNN_CEILINGS_THREADS_MAX];
    size_t instances[PDNN_CEILINGS_THREADS_MAX], count, most;
};

static void tally(const struct drawn *drawn, size_t source, struct thread_counts *counts) {
    *counts = (struct thread_counts){.count = 0};
    for (size_t i = 0; i < drawn->n; i++) {
        size_t k = 0;
        int64_t threads = 0, before = 0;
        if (pdnn_selection_source(drawn->selection, drawn->at[i]) != source)
            continue;
        while (k < counts->count && strcmp(counts->threads[k], threads_of(drawn, i)) != 0)
            k++;
        if (k == PDNN_CEILINGS_THREADS_MAX)
            continue;
        counts->instances[k]++;
        if (k < counts->count)
            continue;
        counts->count++;
        pdnn_parse_i64(threads_of(drawn, i), &threads);
        for (; k > 0 && pdnn_parse_i64(counts->threads[k - 1], &before) && before > threads; k--) {
            counts->threads[k] = counts->threads[k - 1];
            counts->instances[k] = counts->instances[k - 1];
        }
        counts->threads[k] = threads_of(drawn, i);
        counts->instances[k] = 1;
    }
    for (size_t k = 1; k < counts->count; k++)
        counts->most = counts->instances[k] > counts->instances[counts->most] ? k : counts->most;
}

/* The panels of one directory. */
static enum pdnn_status find_panels(struct pdnn_roof_panels *panels, const struct drawn *drawn, size_t source,
                                    struct pdnn_err *err) {
    struct thread_counts counts;
    tally(drawn, source, &counts);
    size_t main_panel = 0, first = panels->count;
    if (counts.count) {
        panels->ceilings[source] = pdnn_alloc(1, sizeof **panels->ceilings);
        if (pdnn_ceilings_read_in(drawn->selection->results.directory[source], panels->ceilings[source],
                                  err) != PDNN_OK)
            return err->status;
    }
    for (size_t k = 0; k < counts.count; k++) {
        struct pdnn_err missing = {.status = PDNN_OK};
        struct pdnn_plot_roofs p = {.ceilings = panels->ceilings[source],
                                    .source = source,
                                    .threads = counts.threads[k],
                                    .count = counts.instances[k]};
        find_dtypes(&p, drawn);
        bool found = find_roofs(&p, &missing) == PDNN_OK;
        if (!found && k == counts.most)
            return pdnn_fail(err, missing.status, "%s", missing.text);
        if (found && panels->count == PDNN_CHART_PANELS_MAX)
            return pdnn_fail(err, PDNN_INVALID,
                             "more than %d directories and numbers of threads have roofs: choose some with "
                             "--only",
                             PDNN_CHART_PANELS_MAX);
        main_panel = found && k == counts.most ? panels->count : main_panel;
        if (found)
            panels->panel[panels->count++] = p;
    }
    for (size_t i = 0; i < drawn->n; i++) {
        if (pdnn_selection_source(drawn->selection, drawn->at[i]) != source)
            continue;
        size_t panel = first;
        while (panel < panels->count && strcmp(panels->panel[panel].threads, threads_of(drawn, i)) != 0)
            panel++;
        panels->panel_of[i] = panel < panels->count ? panel : main_panel;
        panels->panel[main_panel].otherwise += panel == panels->count;
        panels->panel[main_panel].count += panel == panels->count;
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_roof_panels_find(struct pdnn_roof_panels *panels,
                                       const struct pdnn_selection *selection, const size_t *at, size_t n,
                                       struct pdnn_arena *arena, struct pdnn_err *err) {
    const struct drawn drawn = {selection, at, n,
                                pdnn_results_setting(&selection->results, PDNN_SETTING_THREADS),
                                pdnn_results_setting(&selection->results, PDNN_SETTING_DTYPE)};
    *panels = (struct pdnn_roof_panels){.selection = selection};
    panels->panel_of = pdnn_arena_alloc(arena, n + 1, sizeof *panels->panel_of);
    panels->ceilings = pdnn_alloc(selection->results.n_directories, sizeof *panels->ceilings);
    enum pdnn_status status = PDNN_OK;
    for (size_t source = 0; status == PDNN_OK && source < selection->results.n_directories; source++)
        status = find_panels(panels, &drawn, source, err);
    return status;
}

void pdnn_roof_panels_finish(struct pdnn_roof_panels *panels) {
    for (size_t i = 0; panels->ceilings && i < panels->selection->results.n_directories; i++)
        free(panels->ceilings[i]);
    free(panels->ceilings);
}
