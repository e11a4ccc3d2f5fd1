/* The tables of result directories, which are NAME.csv there, then those that commands print, in the order of
 * the lists in the build. A word there says how the definition is called, pdnn_<word>_def. That of
 * results.csv lacks the columns of parameters (pdnn_results_def). */
#ifndef CLI_ARGS_TABLES_H
#define CLI_ARGS_TABLES_H

#include "results/table/table.h"

#include "lists.h"
#define PDNN_COUNT_TABLE(word)   +1
#define PDNN_DECLARE_TABLE(word) extern const struct pdnn_table_def pdnn_##word##_def;
PDNN_FILES(PDNN_DECLARE_TABLE)
PDNN_TABLES(PDNN_DECLARE_TABLE)

enum { PDNN_TABLE_FILES = PDNN_FILES(PDNN_COUNT_TABLE) };
enum { PDNN_TABLE_DEFS = PDNN_TABLE_FILES PDNN_TABLES(PDNN_COUNT_TABLE) };
extern const struct pdnn_table_def *const pdnn_table_defs[PDNN_TABLE_DEFS];

#endif
