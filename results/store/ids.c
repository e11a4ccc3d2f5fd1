#include "results/store/ids.h"
#include "models/instance.h"

#include <string.h>

/* Rows of an instance stand together, and equal texts of a table are one. */
void pdnn_ids_reprint(struct pdnn_table *table, size_t column) {
    char buffer[PDNN_ID_TEXT];
    const char *before = NULL, *after = NULL;
    for (size_t row = 0; row < table->n_rows; row++) {
        const char *id = pdnn_table_text(table, row, column);
        if (id != before)
            after = pdnn_instance_reprint(id, buffer);
        before = id;
        if (strcmp(after, id) != 0)
            pdnn_table_set_text(table, row, column, after);
    }
}
