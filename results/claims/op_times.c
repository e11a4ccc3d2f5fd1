#include "results/claims/op_times.h"
#include "results/query/op_groups.h"
#include "results/query/shares.h"
#include "results/claims/claims.h"

#include <math.h>

enum { KIND, MODELS, CATEGORIES, CATEGORIES_MOST = 64 };
static const struct pdnn_column_def columns[] = {
    {"kind", .help = "models of a family, and of a mode and a source where those vary"},
    {"models", NULL, NULL, PDNN_KIND_COUNT, .help = "models of this kind"}};
static const struct pdnn_table_def def = {"kinds", "mean shares of time by kind of model", columns,
                                          CATEGORIES};

struct pass {
    const struct pdnn_selection *all;
    struct pdnn_report_op_times *times;
    struct pdnn_texts kinds; /* by row */
};

static size_t find_kind(struct pass *pass, size_t row) {
    const struct pdnn_selection *all = pass->all;
    const int mode = pdnn_results_setting(&all->results, PDNN_SETTING_MODE);
    struct pdnn_table *table = &pass->times->kinds;
    struct pdnn_str name = {0};
    pdnn_str_printf(&name, "%s", pdnn_selection_get(all, row, all->family));
    if (mode >= 0 && pdnn_selection_key(all, mode)->values)
        pdnn_str_printf(&name, " %s", pdnn_selection_get(all, row, mode));
    if (all->results.results >= 0)
        pdnn_str_printf(&name, " %s", pdnn_selection_get(all, row, all->results.results));
    const size_t kind = pdnn_texts_add(&pass->kinds, pdnn_str_text(&name));
    if (kind == table->n_rows) {
        pdnn_table_add_row(table);
        pdnn_table_set_text(table, kind, KIND, pdnn_str_text(&name));
        pdnn_table_set_count(table, kind, MODELS, 0);
    }
    pdnn_str_finish(&name);
    return kind;
}

/* Categories beyond what there is room for are one. */
static size_t category_of(struct pdnn_table *kinds, const char *category) {
    const bool is_full = kinds->n_columns == CATEGORIES + CATEGORIES_MOST;
    const char *name = kinds->n_columns + 1 < CATEGORIES + CATEGORIES_MOST ? category : "all others";
    const struct pdnn_column_def column = {name, .kind = PDNN_KIND_NUMBER, .show = PDNN_SHOW_FIXED,
                                           .decimals = 1, .help = "mean share of the ops' time"};
    const size_t at = pdnn_table_find(kinds, category);
    return at != SIZE_MAX ? at : is_full ? kinds->n_columns - 1 : pdnn_table_add_column(kinds, &column);
}

static void add_model(struct pass *pass, size_t row, const struct pdnn_op_record *ops, size_t n_ops) {
    double total = 0, other = 0, memory = 0, memory_of_others = 0;
    for (size_t i = 0; i < n_ops; i++) {
        if (!(ops[i].time_ns_median > 0))
            continue;
        double bound = ops[i].place.bound == PDNN_BOUND_MEMORY ? ops[i].time_ns_median : 0;
        total += ops[i].time_ns_median;
        memory += bound;
        if (!pdnn_category_is_product(ops[i].category)) {
            other += ops[i].time_ns_median;
            memory_of_others += bound;
        }
    }
    if (!(total > 0))
        return;
    struct pdnn_table *kinds = &pass->times->kinds;
    const size_t kind = find_kind(pass, row);
    pdnn_table_set_count(kinds, kind, MODELS, pdnn_table_count(kinds, kind, MODELS) + 1);
    for (size_t i = 0; i < n_ops; i++) {
        if (!(ops[i].time_ns_median > 0))
            continue;
        const size_t column = category_of(kinds, ops[i].category);
        const double sum = pdnn_table_number(kinds, kind, column);
        pdnn_table_set_number(kinds, kind, column,
                              (isnan(sum) ? 0 : sum) + 100 * ops[i].time_ns_median / total);
    }
    size_t source = pdnn_selection_source(pass->all, row);
    const struct pdnn_family_def *family =
        pdnn_family_find(pdnn_selection_get(pass->all, row, pass->all->family));
    if (other > 0)
        pdnn_mean_add(&pass->times->memory_of_others[source], memory_of_others / other, 0);
    if (family && (pdnn_report_is_fully_connected(family) || pdnn_report_is_convolutional(family)))
        pdnn_mean_add(&pass->times->memory_of_networks[source], memory / total, 0);
}

/* Sums become means; what no model of a kind has is 0. */
static void finish_shares(struct pdnn_table *kinds) {
    for (size_t row = 0; row < kinds->n_rows; row++)
        for (size_t c = CATEGORIES; c < kinds->n_columns; c++)
            pdnn_table_set_number(kinds, row, c,
                                  pdnn_table_is_empty(kinds, row, c)
                                      ? 0
                                      : pdnn_table_number(kinds, row, c) /
                                            (double)pdnn_table_count(kinds, row, MODELS));
}

void pdnn_report_op_times_read(const struct pdnn_selection *all, struct pdnn_ops_reader *readers,
                               struct pdnn_report_op_times *times) {
    struct pass pass = {.all = all, .times = times};
    *times = (struct pdnn_report_op_times){.kinds = {.n_rows = 0}};
    pdnn_table_init(&times->kinds, &def);
    for (size_t row = 0; row < all->count; row++) {
        if (!pdnn_selection_is_ok(all, row))
            continue;
        const struct pdnn_op_rows ops = pdnn_selection_rows(all, row, readers);
        add_model(&pass, row, ops.op, ops.count);
    }
    finish_shares(&times->kinds);
    pdnn_texts_finish(&pass.kinds);
}
