/* What commands share when they print: one table as text or CSV, and the --format option. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "cli/options.h"
#include "cli/table.h"

#include <stdio.h>

/* --format csv was given. */
bool pdnn_wants_csv(const struct pdnn_arguments *arguments);

/* Prints the table to stdout: as CSV with the titles as column names, or aligned to the terminal's width. */
enum pdnn_status pdnn_table_print(const struct pdnn_table *table, bool csv, struct pdnn_err *err);

/* Prints the text, ends it, and says PDNN_NO_MEMORY when it is not whole. */
enum pdnn_status pdnn_text_print(struct pdnn_str *text, struct pdnn_err *err);

#endif
