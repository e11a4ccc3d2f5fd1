/* An epoch by its lengths, where a source has a seqpoint.csv: its picture, and the SeqPoints as a
 * table. */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "results/epochs/seqpoint_summary.h"
#include "results/report/html.h"
#include "results/report/page.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static bool is_seqpoint(const struct pdnn_table *table, size_t row, const void *user) {
    (void)user;
    return !pdnn_table_is_empty(table, row, PDNN_SEQPOINT_WEIGHT);
}

static void put_seqpoints(const struct pdnn_table *table, struct pdnn_str *out) {
    static const size_t two[] = {PDNN_SEQPOINT_SOURCE, PDNN_SEQPOINT_TARGET, PDNN_SEQPOINT_ITERATIONS,
                                 PDNN_SEQPOINT_WEIGHT, PDNN_SEQPOINT_TIME};
    static const size_t one[] = {PDNN_SEQPOINT_SOURCE, PDNN_SEQPOINT_ITERATIONS, PDNN_SEQPOINT_WEIGHT,
                                 PDNN_SEQPOINT_TIME};
    struct pdnn_row_list rows = pdnn_rows_all(table);
    struct pdnn_seqpoint_summary summary;
    struct pdnn_arena arena = {0};
    pdnn_seqpoint_summarize(table, &arena, &summary);
    pdnn_rows_keep(&rows, table, is_seqpoint, NULL);
    if (rows.count)
        pdnn_html_put_table(out, table, &rows,
                            (struct pdnn_table_writer){.caption = "SeqPoints",
                                                       .columns = summary.two ? two : one,
                                                       .n_columns = summary.two ? 5 : 4});
    pdnn_rows_finish(&rows);
    pdnn_arena_finish(&arena);
}

/* A table that cannot be read is said in a sentence: the rest of the page does not need it. */
static enum pdnn_status put(const struct pdnn_report_page *page, struct pdnn_str *out, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    for (size_t s = 0; s < page->n_sources && status == PDNN_OK; s++) {
        struct pdnn_table table = {0};
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s/seqpoint.csv", page->source[s].directory) >= (int)sizeof path ||
            access(path, F_OK) != 0)
            continue;
        if (pdnn_report_put_figure(page, "seqpoint", s, (struct pdnn_plot_request){0}, out))
            status = pdnn_seqpoint_table_read(path, &table, err);
        if (table.n_rows)
            put_seqpoints(&table, out);
        pdnn_table_finish(&table);
    }
    return status;
}

const struct pdnn_report_section pdnn_section_epoch = {"epoch", "Epoch by length", "An epoch by its lengths",
                                                       .put = put};
