#include "results/query/ops_reader.h"
#include "base/memory.h"
#include "base/paths/folder.h"
#include "results/table/read.h"
#include "results/table/record.h"

#include <stdint.h>
#include <stdlib.h>

#define OPS_LIMIT_BYTES ((size_t)1 << 34)

static const char *id_of(const struct pdnn_ops_reader *reader, size_t row) {
    return pdnn_table_text(&reader->table, row, PDNN_OPS_ID);
}

/* If the rows of an instance are not contiguous, the first of them count. */
static void index_rows(struct pdnn_ops_reader *reader) {
    const size_t n_rows = reader->table.n_rows;
    reader->first = pdnn_alloc(n_rows + 1, sizeof *reader->first);
    for (size_t row = 0; row < n_rows; row++) {
        if (row && id_of(reader, row) == id_of(reader, row - 1))
            continue;
        size_t known = reader->ids.count, number = pdnn_texts_add(&reader->ids, id_of(reader, row));
        if (number == known)
            reader->first[number] = row;
    }
}

enum pdnn_status pdnn_ops_reader_open(struct pdnn_ops_reader *reader, const char *directory,
                                      struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT];
    struct pdnn_ops_reader opened = {.ops = NULL};
    if (!pdnn_path_join(path, directory, "ops.csv"))
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    struct pdnn_table_file file = {.path = path, .limit_bytes = OPS_LIMIT_BYTES, .check = pdnn_record_check};
    enum pdnn_status status = pdnn_table_read(&file, &pdnn_ops_def, &opened.table, err);
    if (status != PDNN_OK)
        return status;
    pdnn_ids_reprint(&opened.table, PDNN_OPS_ID);
    index_rows(&opened);
    *reader = opened;
    return PDNN_OK;
}

void pdnn_ops_reader_close(struct pdnn_ops_reader *reader) {
    pdnn_table_finish(&reader->table);
    pdnn_texts_finish(&reader->ids);
    free(reader->first);
    free(reader->ops);
    *reader = (struct pdnn_ops_reader){.ops = NULL};
}

size_t pdnn_ops_reader_find(struct pdnn_ops_reader *reader, const char *id,
                            const struct pdnn_op_record **ops) {
    size_t number = pdnn_texts_find(&reader->ids, id), count = 0;
    size_t first = number == SIZE_MAX ? reader->table.n_rows : reader->first[number];
    while (first + count < reader->table.n_rows && id_of(reader, first + count) == id_of(reader, first))
        count++;
    reader->ops = pdnn_resize(reader->ops, count, sizeof *reader->ops);
    for (size_t i = 0; i < count; i++)
        reader->ops[i] = pdnn_ops_row(&reader->table, first + i);
    *ops = reader->ops;
    return count;
}
