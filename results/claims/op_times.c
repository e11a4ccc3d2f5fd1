/* One pass over each source's ops.csv, in the order of its rows. */
#include "results/claims/op_times.h"
#include "base/paths/folder.h"
#include "results/query/op_groups.h"
#include "results/query/ops_reader.h"
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
    if (mode >= 0 && all->key[mode].values)
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

static enum pdnn_status read_source(struct pass *pass, size_t source, struct pdnn_err *err) {
    const char *directory = pass->all->results.directory[source];
    struct pdnn_ops_reader reader;
    if (!pdnn_path_has(directory, "ops.csv"))
        return PDNN_OK;
    if (pdnn_ops_reader_open(&reader, directory, err) != PDNN_OK)
        return err->status;
    pass->times->present = true;
    for (size_t r = 0; r < pass->all->count; r++) {
        const struct pdnn_op_record *ops;
        if (pdnn_selection_source(pass->all, r) != source || !pdnn_selection_is_ok(pass->all, r))
            continue;
        size_t n_ops = pdnn_ops_reader_find(&reader, pdnn_selection_get(pass->all, r, pass->all->id), &ops);
        add_model(pass, r, ops, n_ops);
    }
    pdnn_ops_reader_close(&reader);
    return PDNN_OK;
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

enum pdnn_status pdnn_report_op_times_read(const struct pdnn_selection *all,
                                           struct pdnn_report_op_times *times, struct pdnn_err *err) {
    struct pass pass = {.all = all, .times = times};
    *times = (struct pdnn_report_op_times){.present = false};
    pdnn_table_init(&times->kinds, &def);
    enum pdnn_status status = PDNN_OK;
    for (size_t s = 0; status == PDNN_OK && s < all->results.n_directories; s++)
        status = read_source(&pass, s, err);
    finish_shares(&times->kinds);
    pdnn_texts_finish(&pass.kinds);
    return status;
}

void pdnn_report_op_times_finish(struct pdnn_report_op_times *times) {
    pdnn_table_finish(&times->kinds);
}
