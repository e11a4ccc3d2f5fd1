/* What commands share for printing: tables in the format that --format asks for, and text. */
#ifndef CLI_PRINT_OUTPUT_H
#define CLI_PRINT_OUTPUT_H

#include "cli/args/options.h"
#include "results/table/rows.h"
#include "results/table/write.h"
#include "runtime/protocol/visit.h"

#include <stdio.h>

struct pdnn_spec;
struct pdnn_tally;
struct pdnn_varying;

/* True if the output is for people, as the command lays it out. With --columns it is the table that programs
 * get, whatever its format. */
bool pdnn_wants_text(const struct pdnn_arguments *arguments);

/* Says on stderr which file a spec's name stood for, if that came with the program. */
void pdnn_tell_spec(const struct pdnn_spec *spec);

/* Prints the table to stdout as --format and --columns say (PDNN_OPTIONS_TABLE), and finishes it.
 * PDNN_INVALID if it has no such column; nothing was printed then. */
enum pdnn_status pdnn_table_print(struct pdnn_table *table, const struct pdnn_arguments *arguments,
                                  struct pdnn_err *err);

/* Whether a table like this can be printed, for commands that measure first. */
enum pdnn_status pdnn_table_check_columns(const struct pdnn_table_def *def,
                                          const struct pdnn_arguments *arguments, struct pdnn_err *err);

/* As pdnn_table_print, of a table that is for reading: as text it also fits the screen that a pager shows it
 * on. */
enum pdnn_status pdnn_table_print_prose(struct pdnn_table *table, const struct pdnn_arguments *arguments,
                                        struct pdnn_err *err);

/* Appends the table as people see it on stdout, or these of its rows and columns (NULL: all). */
void pdnn_table_show(struct pdnn_str *out, const struct pdnn_table *table, const struct pdnn_row_list *rows,
                     const size_t *columns, size_t n_columns);

/* As pdnn_table_print, chunk by chunk: the table's rows, or these of them (NULL: all). */
struct pdnn_table_writer pdnn_table_printer(const struct pdnn_arguments *arguments);
enum pdnn_status pdnn_table_print_rows(struct pdnn_table_writer *printer, const struct pdnn_table *table,
                                       const struct pdnn_row_list *rows, struct pdnn_err *err);
void pdnn_table_print_end(struct pdnn_table_writer *printer);

/* Appends a line for people, which may hold text from outside, filled to the terminal or, where there is
 * none, to plain_width; what does not fit follows indented. Finishes the line; an empty one appends nothing.
 */
void pdnn_line_append(struct pdnn_str *out, struct pdnn_str *line, size_t indent, size_t plain_width);

/* "not repeated below: ...", what the rows of a table have in common, and an empty line; or nothing. */
void pdnn_common_append(struct pdnn_str *out, const struct pdnn_varying *varying);

/* Prints the text and frees it. Control characters other than newlines are escaped; those of data for
 * programs only on a terminal. */
void pdnn_text_print(struct pdnn_str *text, bool is_data);

/* Appends a path or an ID as one word of a command line, which is neither split nor taken for an option. */
void pdnn_word_append(struct pdnn_str *out, const char *text);

/* Appends "next:   paradnn merge fc -o fc" for "merge * -o *": each * is the path. */
void pdnn_next_append(struct pdnn_str *out, const char *format, const char *path);

/* Appends "14 instances: 12 ok, 2 oom"; returns the sum. */
size_t pdnn_outcomes_append(struct pdnn_str *out, const size_t counts[PDNN_OUTCOME_COUNT]);

/* "30 instances: 18 ok, 12 interrupted; 5 done, 13 begun, 12 open": what all commands say of how far a sweep
 * has come. The stages follow where not all is done. */
void pdnn_tally_append(struct pdnn_str *out, const struct pdnn_tally *tally);

#endif
