/* What part of op time is bound by memory. */
#include "results/claims/op_times.h"
#include "results/claims/claims.h"
#include "results/query/op_groups.h"
#include "results/query/shares.h"

static void add_model(struct pdnn_report_op_times *times, const struct pdnn_selection *all, size_t row,
                      const struct pdnn_op_rows *rows) {
    double total = 0, other = 0, memory = 0, memory_of_others = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const double ns = rows->op[i].time_ns_median;
        if (!(ns > 0))
            continue;
        const double bound = rows->op[i].place.bound == PDNN_BOUND_MEMORY ? ns : 0;
        total += ns;
        memory += bound;
        if (!pdnn_category_is_product(rows->op[i].category)) {
            other += ns;
            memory_of_others += bound;
        }
    }
    const size_t source = pdnn_selection_source(all, row);
    const struct pdnn_family_def *family = pdnn_family_find(rows->family);
    if (other > 0)
        pdnn_mean_add(&times->memory_of_others[source], memory_of_others / other, 0);
    if (total > 0 && family &&
        (pdnn_report_is_fully_connected(family) || pdnn_report_is_convolutional(family)))
        pdnn_mean_add(&times->memory_of_networks[source], memory / total, 0);
}

void pdnn_report_op_times_read(const struct pdnn_selection *all, struct pdnn_ops_reader *readers,
                               struct pdnn_report_op_times *times) {
    *times = (struct pdnn_report_op_times){.memory_of_others = {{.n = 0}}};
    for (size_t row = 0; row < all->count; row++) {
        if (!pdnn_selection_is_ok(all, row))
            continue;
        const struct pdnn_op_rows rows = pdnn_selection_rows(all, row, readers);
        add_model(times, all, row, &rows);
    }
}
