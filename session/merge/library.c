/* operators.csv of the merged directory: the rows of all sources' libraries, each once. */
#include "results/store/library.h"
#include "session/merge/job.h"

struct joined {
    struct pdnn_texts lines; /* so far: a row that was copied is the same line */
    struct pdnn_str text;
};

static enum pdnn_status add(void *user, const struct pdnn_library_row *row, struct pdnn_err *err) {
    struct joined *joined = user;
    struct pdnn_str line = {0};
    (void)err;
    pdnn_columns_row(&pdnn_library_columns, row, &line);
    size_t before = joined->lines.count;
    pdnn_texts_add(&joined->lines, pdnn_str_text(&line));
    if (joined->lines.count > before)
        pdnn_str_append(&joined->text, line.text, line.length);
    pdnn_str_finish(&line);
    return PDNN_OK;
}

enum pdnn_status pdnn_merge_write_library(struct pdnn_merge_job *job, struct pdnn_err *err) {
    struct joined joined = {.text = {0}};
    enum pdnn_status status = PDNN_OK;
    pdnn_columns_header(&pdnn_library_columns, &joined.text);
    for (size_t i = 0; i < job->n_sources && status == PDNN_OK; i++) {
        bool there;
        status = pdnn_library_read(job->source[i].path, &there, add, &joined, err);
    }
    if (status == PDNN_OK && joined.lines.count)
        status = pdnn_folder_replace(&job->output, pdnn_library_columns.table, pdnn_str_text(&joined.text),
                                     joined.text.length, err);
    pdnn_str_finish(&joined.text);
    pdnn_texts_finish(&joined.lines);
    return status;
}
