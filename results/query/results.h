/* results.csv of one or several directories as one table, typed by the columns' definitions. Ids are
 * reprinted in today's form, and the column of a hyper-parameter or run setting has the key's name, also
 * where files have another one. Columns that nobody knows stay, as text.
 *
 * The keys are the columns between `family` and `status`: hyper-parameters and run settings, wherever a file
 * has them, and what nobody knows and stands between these two. Of several directories, what only some tables
 * have is empty in the others, and two columns say where a row comes from: the key `results`, the name of its
 * directory; and behind the keys `version`, the software that ran it by environment.yaml. */
#ifndef RESULTS_QUERY_RESULTS_H
#define RESULTS_QUERY_RESULTS_H

#include "base/arena.h"
#include "base/str.h"
#include "base/texts.h"
#include "results/store/results.h"
#include "results/table/rows.h"

struct pdnn_results {
    struct pdnn_table table;
    int at[PDNN_RESULT_COLUMNS]; /* the fixed columns; -1: not in the files */
    int first_key, end_key;      /* the range of the keys */
    int end_name;                /* the end of what may be named like a key: also `version` */
    int results, version;        /* these columns; -1 for one directory */
    bool is_costs;               /* nothing ran: there is a name in place of a directory */
    const char *const *directory;
    const char **name; /* by directory: the last part of its path, or all of it where two end alike */
    size_t n_directories;
    size_t *first_row; /* by directory */
    struct pdnn_arena arena;
    const char ***text;       /* by column: the cells' texts, once somebody has asked */
    struct pdnn_texts *shown; /* of cells that are not texts */
};

/* The directory's `results` and `version`. */
#define PDNN_RESULTS_KEY         "results"
#define PDNN_RESULTS_VERSION_KEY "version"

/* Reads DIR/results.csv of each directory, or the text of one, which is changed and has its path in place of
 * a directory. PDNN_INVALID with file, line and column for a cell that is not of its column's kind; if a
 * directory is named twice; if id, family, status or time_ns_median is missing. */
enum pdnn_status pdnn_results_open(struct pdnn_results *results, const char *const *directories, size_t n,
                                   struct pdnn_str *text, struct pdnn_err *err);

/* The same of a text that has costs alone: no times, and as the status why an instance would not run. */
enum pdnn_status pdnn_results_open_costs(struct pdnn_results *results, const char *name,
                                         struct pdnn_str *text, struct pdnn_err *err);
void pdnn_results_close(struct pdnn_results *results);

/* The column of a run setting; -1: not in the files. */
int pdnn_results_setting(const struct pdnn_results *results, enum pdnn_setting setting);

/* The column that a user names by its key, or by its name in files; -1 if there is none. The same of one that
 * must be there, and be a key's if `is_key`: PDNN_INVALID names the nearest. */
int pdnn_results_named(const struct pdnn_results *results, const char *name);
enum pdnn_status pdnn_results_ask(const struct pdnn_results *results, const char *name, bool is_key,
                                  int *column, struct pdnn_err *err);

/* The column's name, which is a key's. */
const char *pdnn_results_name(const struct pdnn_results *results, int column);

/* The cell as in files, never NULL: "" if it is empty or column is -1. Equal texts are one pointer. Its
 * number; NaN if it has none. */
const char *pdnn_results_text(const struct pdnn_results *results, size_t row, int column);
double pdnn_results_number(const struct pdnn_results *results, size_t row, int column);

/* The number of the directory that the row comes from; its line there, where no cell has several. */
size_t pdnn_results_source(const struct pdnn_results *results, size_t row);
size_t pdnn_results_line(const struct pdnn_results *results, size_t row);

/* The rows for which all conditions hold, in their order; to be finished by the caller. A condition is
 * written as in an id or in a spec's `where`: "batch=64", "params>=1e6". Those of one text are joined by
 * commas; a word without an operator is another value of the key before it: "mode=train,batch=32,64". The
 * text may begin like an id: "fc/nodes=8,batch=64" is "family=fc,nodes=8,batch=64", and "resnet50,batch=1" is
 * "preset=resnet50,batch=1". `id`, `model` and `settings` take the rest of the text, since their values have
 * commas. PDNN_INVALID names the nearest column, or says what is wrong. */
enum pdnn_status pdnn_results_select(const struct pdnn_results *results, const char *const *only,
                                     size_t n_only, struct pdnn_row_list *rows, struct pdnn_err *err);

/* The name that a key's column has in files. */
const char *pdnn_key_column(const char *key);

/* The directory's own name without its path; it has *length letters. */
const char *pdnn_directory_name(const char *directory, int *length);

#endif
