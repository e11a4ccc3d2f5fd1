/* Ids are reprinted in today's form when a table is read: with or without what equals a default, an instance
 * has one id, and a new setting orphans no row. */
#ifndef RESULTS_STORE_IDS_H
#define RESULTS_STORE_IDS_H

#include "results/table/table.h"

/* Prints the ids in the column in today's form. One that does not parse stays. */
void pdnn_ids_reprint(struct pdnn_table *table, size_t column);

#endif
