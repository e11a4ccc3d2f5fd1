/* One pass over each source's ops.csv, in the order of its rows. */
#include "results/claims/op_times.h"
#include "base/paths/folder.h"
#include "results/query/op_groups.h"
#include "results/query/ops_reader.h"
#include "results/claims/networks.h"

#include <string.h>

enum { CATEGORIES_MAX = 64, KINDS_MAX = 64 };

struct pass {
    const struct pdnn_selection *all;
    struct pdnn_report_op_times *times;
};

static struct pdnn_report_kind *find_kind(const struct pass *pass, size_t row) {
    const struct pdnn_selection *all = pass->all;
    const int mode = pdnn_results_setting(&all->results, PDNN_SETTING_MODE);
    struct pdnn_report_op_times *times = pass->times;
    struct pdnn_str name = {0};
    struct pdnn_report_kind *kind = NULL;
    pdnn_str_printf(&name, "%s", pdnn_selection_get(all, row, all->family));
    if (mode >= 0 && all->key[mode].values)
        pdnn_str_printf(&name, " %s", pdnn_selection_get(all, row, mode));
    if (all->results.results >= 0)
        pdnn_str_printf(&name, " %s", pdnn_selection_get(all, row, all->results.results));
    for (size_t i = 0; i < times->n_kinds && !kind; i++) {
        if (strcmp(times->kind[i].name, pdnn_str_text(&name)) == 0)
            kind = &times->kind[i];
    }
    if (!kind && times->n_kinds < KINDS_MAX) {
        kind = &times->kind[times->n_kinds++];
        kind->name = pdnn_arena_strdup(&times->arena, pdnn_str_text(&name));
        kind->share = pdnn_arena_alloc(&times->arena, CATEGORIES_MAX, sizeof *kind->share);
    }
    pdnn_str_finish(&name);
    return kind;
}

/* Categories beyond what there is room for are one. */
static size_t category_of(struct pdnn_texts *categories, const char *category) {
    size_t at = pdnn_texts_find(categories, category);
    if (at == SIZE_MAX)
        at = pdnn_texts_add(categories, categories->count < CATEGORIES_MAX - 1 ? category : "all others");
    return at;
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
    struct pdnn_report_kind *kind = total > 0 ? find_kind(pass, row) : NULL;
    if (!kind)
        return;
    kind->n++;
    for (size_t i = 0; i < n_ops; i++) {
        if (ops[i].time_ns_median > 0)
            kind->share[category_of(&pass->times->category, ops[i].category)] +=
                ops[i].time_ns_median / total;
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

static void finish_shares(struct pdnn_report_op_times *times) {
    for (size_t i = 0; i < times->n_kinds; i++) {
        for (size_t c = 0; c < CATEGORIES_MAX; c++)
            times->kind[i].share[c] /= (double)times->kind[i].n;
    }
}

enum pdnn_status pdnn_report_op_times_read(const struct pdnn_selection *all,
                                           struct pdnn_report_op_times *times, struct pdnn_err *err) {
    struct pass pass = {.all = all, .times = times};
    *times = (struct pdnn_report_op_times){.present = false};
    times->kind = pdnn_arena_alloc(&times->arena, KINDS_MAX, sizeof *times->kind);
    enum pdnn_status status = PDNN_OK;
    for (size_t s = 0; status == PDNN_OK && s < all->results.n_directories; s++)
        status = read_source(&pass, s, err);
    finish_shares(times);
    if (status != PDNN_OK)
        pdnn_report_op_times_finish(times);
    return status;
}

void pdnn_report_op_times_finish(struct pdnn_report_op_times *times) {
    pdnn_texts_finish(&times->category);
    pdnn_arena_finish(&times->arena);
}
