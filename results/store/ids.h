/* Ids are reprinted in today's form when a table is read: with or without what equals a default, an instance
 * has one id, and a new setting orphans no row. */
#ifndef RESULTS_STORE_IDS_H
#define RESULTS_STORE_IDS_H

#include "base/arena.h"
#include "results/table/csv.h"

/* Replaces the cells of the column `id` that differ from today's form by texts in the arena, which must live
 * as long as the table. An id that does not parse stays. */
void pdnn_ids_reprint(struct pdnn_csv *csv, struct pdnn_arena *arena);

#endif
