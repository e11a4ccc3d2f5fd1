/* The commands, and the tables of result directories, which are NAME.csv there, then those that commands
 * print: in the order of the lists in the build, which say how each row is called, pdnn_command_<word> and
 * pdnn_<word>_def. The definition of results.csv lacks the columns of parameters (pdnn_results_def). */
#ifndef CLI_ARGS_REGISTRY_H
#define CLI_ARGS_REGISTRY_H

#include "cli/args/options.h"
#include "results/table/table.h"

#include "lists.h"
#define PDNN_COUNT_TABLE(word)     +1
#define PDNN_DECLARE_TABLE(word)   extern const struct pdnn_table_def pdnn_##word##_def;
#define PDNN_DECLARE_COMMAND(word) extern const struct pdnn_command_def pdnn_command_##word;
PDNN_COMMANDS(PDNN_DECLARE_COMMAND)
PDNN_FILES(PDNN_DECLARE_TABLE)
PDNN_TABLES(PDNN_DECLARE_TABLE)

/* NULL-terminated. */
extern const struct pdnn_command_def *const pdnn_commands[];

/* NULL if there is none of that name. */
const struct pdnn_command_def *pdnn_command_find(const char *name);

/* PDNN_INVALID with a line that says what was probably meant, if an operand of a command that reads result
 * directories is not a directory, or if KIND does not come first. */
enum pdnn_status pdnn_operands_check(const struct pdnn_arguments *arguments, struct pdnn_err *err);

/* Whether an operand that may be either is a spec or an id, not a directory. */
bool pdnn_operand_is_spec(const char *operand);

/* "unknown command 'x'" and what was probably meant: a command of nearly that name, or one for the file,
 * directory or model that x is. Returns PDNN_INVALID. */
enum pdnn_status pdnn_command_unknown(const char *name, struct pdnn_err *err);

enum { PDNN_TABLE_FILES = PDNN_FILES(PDNN_COUNT_TABLE) };
enum { PDNN_TABLE_DEFS = PDNN_TABLE_FILES PDNN_TABLES(PDNN_COUNT_TABLE) };
extern const struct pdnn_table_def *const pdnn_table_defs[PDNN_TABLE_DEFS];

#endif
