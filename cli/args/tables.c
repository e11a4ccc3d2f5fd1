#include "cli/args/tables.h"

#define ADDRESS(word) &pdnn_##word##_def,

const struct pdnn_table_def *const pdnn_table_defs[] = {PDNN_FILES(ADDRESS) PDNN_TABLES(ADDRESS)};
