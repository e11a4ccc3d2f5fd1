/* Where a step's time goes: by category of op for each kind of model, and for each of a few models. */
#include "results/query/shares.h"
#include "results/report/page.h"

#include <math.h>
#include <stdio.h>

enum { BARS_MOST = 60 };

/* A category's column has its number for a name, since a category may be called as another column is. Those
 * beyond what there is room for are one. */
enum { MODELS = 1, CATEGORIES, CATEGORIES_MOST = 64 };
static const struct pdnn_column_def columns[] = {
    {"kind", .help = "models of a family, and of a mode and a source where those vary"},
    {"models", .kind = PDNN_KIND_COUNT, .help = "models of this kind"}};
static const struct pdnn_table_def def = {"kinds", "mean shares of time by kind of model", columns,
                                          CATEGORIES};

struct kinds {
    struct pdnn_table table;
    struct pdnn_texts names, categories; /* by row and by column */
};

static size_t find_kind(struct kinds *kinds, const struct pdnn_selection *all, size_t at) {
    const int mode = pdnn_results_setting(&all->results, PDNN_SETTING_MODE);
    struct pdnn_str name = {0};
    pdnn_str_printf(&name, "%s", pdnn_selection_get(all, at, all->family));
    if (mode >= 0 && pdnn_selection_key(all, mode)->values)
        pdnn_str_printf(&name, " %s", pdnn_selection_get(all, at, mode));
    if (all->results.results >= 0)
        pdnn_str_printf(&name, " %s", pdnn_selection_get(all, at, all->results.results));
    const size_t kind = pdnn_texts_add(&kinds->names, pdnn_str_text(&name));
    if (kind == kinds->table.n_rows) {
        pdnn_table_add_texts(&kinds->table, 1, &kinds->names.text[kind]);
        pdnn_table_set_count(&kinds->table, kind, MODELS, 0);
    }
    pdnn_str_finish(&name);
    return kind;
}

static size_t find_category(struct kinds *kinds, const char *category) {
    const size_t number = pdnn_texts_add(&kinds->categories, category), last = CATEGORIES_MOST - 1;
    const size_t column = CATEGORIES + (number < last ? number : last);
    char name[24];
    snprintf(name, sizeof name, "%zu", number);
    if (column == kinds->table.n_columns)
        pdnn_table_add_column(&kinds->table,
                              &(struct pdnn_column_def){name, number < last ? category : "all others",
                                                        .kind = PDNN_KIND_NUMBER, .show = PDNN_SHOW_FIXED,
                                                        .decimals = 1});
    return column;
}

static void add_model(struct kinds *kinds, const struct pdnn_report_page *page, size_t at,
                      struct pdnn_arena *arena) {
    const struct pdnn_op_rows rows = pdnn_selection_rows(&page->all, at, page->data.readers);
    struct pdnn_table *table = &kinds->table;
    struct pdnn_share *shares;
    double ops_ns = 0;
    pdnn_arena_reset(arena);
    const size_t n = pdnn_shares(&rows, NULL, arena, &shares);
    for (size_t i = 0; i < n; i++)
        ops_ns += shares[i].is_residual ? 0 : shares[i].work.time_ns;
    if (!(ops_ns > 0))
        return;
    const size_t kind = find_kind(kinds, &page->all, at);
    pdnn_table_set_count(table, kind, MODELS, pdnn_table_count(table, kind, MODELS) + 1);
    for (size_t i = 0; i < n; i++) {
        if (shares[i].is_residual)
            continue;
        const size_t column = find_category(kinds, shares[i].key[PDNN_BY_CATEGORY]);
        const double sum = pdnn_table_number(table, kind, column);
        pdnn_table_set_number(table, kind, column,
                              (isnan(sum) ? 0 : sum) + 100 * shares[i].work.time_ns / ops_ns);
    }
}

/* Sums become means; what no model of a kind has is 0. */
static void finish_means(struct pdnn_table *table) {
    for (size_t row = 0; row < table->n_rows; row++)
        for (size_t c = CATEGORIES; c < table->n_columns; c++) {
            const double sum = pdnn_table_number(table, row, c);
            pdnn_table_set_number(table, row, c,
                                  isnan(sum) ? 0 : sum / (double)pdnn_table_count(table, row, MODELS));
        }
}

static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    struct pdnn_arena arena = {0};
    struct kinds kinds = {.names = {0}};
    struct pdnn_plot_request request = pdnn_report_plot(page, PDNN_REPORT_ALL);
    request.ops = page->data.readers;
    for (size_t s = 0; s < page->data.n_sources; s++)
        if (!page->data.readers[s].first)
            request.ops = NULL;
    pdnn_table_init(&kinds.table, &def);
    for (size_t at = 0; at < page->all.count; at++)
        if (pdnn_selection_is_ok(&page->all, at))
            add_model(&kinds, page, at, &arena);
    finish_means(&kinds.table);
    if (kinds.table.n_rows && page->all.count - page->n_failed <= BARS_MOST)
        pdnn_report_put_figure(page, "breakdown", request, out);
    if (kinds.table.n_rows)
        pdnn_html_put_table(out, &kinds.table, NULL, NULL, 0,
                            "Share of the time of a step's ops by category in %%, the mean over models, each "
                            "counted alike.");
    pdnn_table_finish(&kinds.table);
    pdnn_texts_finish(&kinds.names);
    pdnn_texts_finish(&kinds.categories);
    pdnn_arena_finish(&arena);
}

const struct pdnn_report_section pdnn_section_ops = {.title = "Where the time goes", .put = put};
