#include "results/plots/caption.h"
#include "results/plots/file.h"
#include "results/plots/gnuplot.h"
#include "results/tables/columns.h"
#include "results/tables/tables.h"

#include <stdio.h>
#include <string.h>

/* The column's value if all chosen instances share it, else NULL. */
static const char *common_value(const struct pdnn_selection *selection, const char *name) {
    int column = pdnn_csv_find(&selection->results, name);
    const char *value = selection->count ? pdnn_selection_get(selection, 0, column) : "";
    for (size_t at = 1; at < selection->count; at++) {
        if (strcmp(pdnn_selection_get(selection, at, column), value) != 0)
            return NULL;
    }
    return *value ? value : NULL;
}

void pdnn_plot_names(const struct pdnn_selection *selection, struct pdnn_str *out) {
    size_t n = selection->n_directories, shown = n > 3 ? 2 : n;
    for (size_t i = 0; i < shown; i++) {
        int length;
        const char *name = pdnn_directory_name(selection->directory[i], &length);
        pdnn_str_printf(out, "%s%.*s", !i ? "" : i + 1 == n ? " and " : ", ", length, name);
    }
    if (shown < n)
        pdnn_str_printf(out, " and %zu more", n - shown);
}

void pdnn_plot_cpu(const struct pdnn_selection *selection, struct pdnn_str *out) {
    struct pdnn_str first = {0};
    bool several = false;
    for (size_t i = 0; i < selection->n_directories; i++) {
        struct pdnn_str cpu = {0};
        pdnn_environment_get(selection->directory[i], "cpu", i ? &cpu : &first);
        several = several || (i && strcmp(pdnn_str_text(&cpu), pdnn_str_text(&first)) != 0);
        out->failed = out->failed || cpu.failed || first.failed;
        pdnn_str_finish(&cpu);
    }
    pdnn_str_printf(out, "%s",
                    several        ? "several processors"
                    : first.length ? pdnn_str_text(&first)
                                   : "unknown machine");
    pdnn_str_finish(&first);
}

void pdnn_plot_titles(struct pdnn_str *script, const char *what, const struct pdnn_selection *selection) {
    static const char *const common[] = {"family",  "mode", "optimizer", "dtype",
                                         "backend", "fuse", "threads"};
    struct pdnn_str title = {0}, subtitle = {0};
    pdnn_str_printf(&title, "%s ", what);
    pdnn_plot_names(selection, &title);
    pdnn_plot_cpu(selection, &subtitle);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        const char *value = common_value(selection, common[i]);
        if (value)
            pdnn_str_printf(&subtitle, ", %s%s", strcmp(common[i], "fuse") == 0 ? "fuse " : "", value);
        if (value && strcmp(common[i], "threads") == 0)
            pdnn_str_printf(&subtitle, " thread%s", strcmp(value, "1") == 0 ? "" : "s");
    }
    script->failed = script->failed || title.failed || subtitle.failed;
    pdnn_gnuplot_text(script, "TITLE", pdnn_str_text(&title));
    pdnn_gnuplot_text(script, "SUBTITLE", pdnn_str_text(&subtitle));
    pdnn_str_finish(&title);
    pdnn_str_finish(&subtitle);
}

enum pdnn_status pdnn_plot_column(const struct pdnn_selection *selection, const char *name, int *column,
                                  struct pdnn_err *err) {
    const struct pdnn_csv *results = &selection->results;
    char suggestion[PDNN_SUGGESTION_TEXT];
    *column = pdnn_csv_find(results, name);
    if (*column >= 0)
        return PDNN_OK;
    pdnn_suggest(suggestion, name, results->header, results->n_columns);
    return pdnn_fail(err, PDNN_INVALID, "results.csv has no column '%.64s'%s", name, suggestion);
}

int pdnn_plot_minibatch(const struct pdnn_selection *selection) {
    const struct pdnn_family_def *family =
        selection->count ? pdnn_family_find(pdnn_selection_get(selection, 0, selection->family)) : NULL;
    return family ? pdnn_csv_find(&selection->results, family->params[family->minibatch_param].name) : -1;
}

const char *pdnn_plot_axis(const char *column, char buffer[PDNN_AXIS_TEXT]) {
    struct pdnn_arena arena = {0};
    struct pdnn_columns columns = {.count = 0};
    struct pdnn_err err = {0};
    size_t n_families = 0;
    while (pdnn_families[n_families])
        n_families++;
    int at = pdnn_results_columns(pdnn_families, n_families, false, &arena, &columns, &err) == PDNN_OK
                 ? pdnn_columns_find(&columns, column)
                 : -1;
    const char *unit = at >= 0 ? columns.column[at].unit : "";
    snprintf(buffer, PDNN_AXIS_TEXT, "%.120s%s%.30s%s", column, *unit ? " (" : "", unit, *unit ? ")" : "");
    pdnn_arena_finish(&arena);
    return buffer;
}
