#include "results/store/ids.h"
#include "models/instance.h"

#include <string.h>

void pdnn_ids_reprint(struct pdnn_csv *csv, struct pdnn_arena *arena) {
    int column = pdnn_csv_find(csv, "id");
    const char *before = "", *after = ""; /* the previous row's: rows of an instance stand together */
    for (size_t row = 0; column >= 0 && row < csv->n_rows; row++) {
        const char **id = &csv->cells[row * csv->n_columns + (size_t)column];
        if (strcmp(*id, before) != 0) {
            char buffer[PDNN_ID_TEXT];
            before = *id;
            after = pdnn_instance_reprint(before, buffer);
            after = strcmp(after, before) == 0 ? before : pdnn_arena_strdup(arena, after);
        }
        *id = after;
    }
}
