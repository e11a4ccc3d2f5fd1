/* Where a source has a seqpoint.csv: what its SeqPoints say of an epoch. */
#include "base/paths/folder.h"
#include "results/report/page.h"
#include "results/store/seqpoint_table.h"

/* The picture says what is wrong with a table that cannot be read. */
static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    static const size_t columns[] = {PDNN_SEQPOINT_SOURCE, PDNN_SEQPOINT_ITERATIONS, PDNN_SEQPOINT_WEIGHT,
                                     PDNN_SEQPOINT_TIME, PDNN_SEQPOINT_TARGET};
    for (size_t s = 0; s < page->data.n_sources; s++) {
        struct pdnn_table table = {.name = NULL};
        struct pdnn_row_list rows = {0};
        char path[PDNN_FOLDER_TEXT];
        if (!pdnn_path_has(page->source[s].directory, "seqpoint.csv") ||
            !pdnn_path_join(path, page->source[s].directory, "seqpoint.csv"))
            continue;
        pdnn_report_put_figure(page, "seqpoint", pdnn_report_plot(page, s), out);
        if (pdnn_seqpoint_table_read(path, &table, &(struct pdnn_err){0}) == PDNN_OK) {
            for (size_t row = 0; row < table.n_rows; row++)
                if (!pdnn_table_is_empty(&table, row, PDNN_SEQPOINT_WEIGHT))
                    pdnn_rows_add(&rows, row);
            pdnn_html_put_table(out, &table, &rows, columns,
                                pdnn_table_whole(&table, 0, PDNN_SEQPOINT_TARGET) ? 5 : 4, "SeqPoints");
        }
        pdnn_rows_finish(&rows);
        pdnn_table_finish(&table);
    }
}

const struct pdnn_report_section pdnn_section_epoch = {.title = "Epoch by length", .put = put};
