/* The files of a result directory other than the journal: results.csv and ops.csv, which are replaced
 * atomically, ceilings.csv and environment.yaml. */
#ifndef RESULTS_STORE_TABLES_H
#define RESULTS_STORE_TABLES_H

#include "base/arena.h"
#include "base/paths/folder.h"
#include "base/str.h"
#include "results/store/results.h"
#include "results/table/write.h"
#include "runtime/protocol/roof_rows.h"

/* results.csv and ops.csv while they are made row by row. */
struct pdnn_tables {
    struct pdnn_arena arena;
    struct pdnn_table results, ops;         /* the rows at hand */
    struct pdnn_str results_text, ops_text; /* those before */
};

/* Of results with these families. */
void pdnn_tables_init(struct pdnn_tables *tables, const struct pdnn_family_def *const *families,
                      size_t n_families);

/* Writes the rows at hand behind those before and forgets them as tables. */
void pdnn_tables_flush(struct pdnn_tables *tables);

/* Replaces results.csv and ops.csv in the folder. */
enum pdnn_status pdnn_tables_write(struct pdnn_tables *tables, const struct pdnn_folder *folder,
                                   struct pdnn_err *err);
void pdnn_tables_finish(struct pdnn_tables *tables);

/* The columns of ceilings.csv. */
enum pdnn_roof_row_column {
#define ROOF_ROW_COLUMN(word, ...) PDNN_ROOF_ROW_##word,
#include "results/store/columns/ceilings.inc"
#undef ROOF_ROW_COLUMN
    PDNN_ROOF_ROWS_COLUMNS
};
extern const struct pdnn_table_def pdnn_ceilings_def;

/* Adds a row to a table of these columns. */
void pdnn_roof_rows_add(const struct pdnn_roof_row *roof, struct pdnn_table *table);

/* Appends the text of a ceilings.csv; reads such a file. If it has rows of several hosts, those of the given
 * one are read, of the first one in the file if host is NULL; rows that name no host belong to all. */
void pdnn_roof_rows_format(const struct pdnn_roof_rows *roof_rows, struct pdnn_str *out);
enum pdnn_status pdnn_roof_rows_read(const char *path, const char *host, struct pdnn_roof_rows *roof_rows,
                                     struct pdnn_err *err);
/* The same of DIR/ceilings.csv. */
enum pdnn_status pdnn_roof_rows_read_in(const char *directory, struct pdnn_roof_rows *roof_rows,
                                        struct pdnn_err *err);
/* The same from text of the given length plus a NUL, which is changed; path is for messages. NULL: the file.
 */
enum pdnn_status pdnn_roof_rows_parse(const char *path, char *text, size_t length, const char *host,
                                      struct pdnn_roof_rows *roof_rows, struct pdnn_err *err);

enum pdnn_fact_type { PDNN_FACT_TEXT, PDNN_FACT_WHOLE, PDNN_FACT_NUMBER };

/* One line of environment.yaml. */
struct pdnn_fact {
    const char *key; /* [a-z0-9_]+ */
    enum pdnn_fact_type type;
    const char *text;
    int64_t whole;
    double number;
    bool identity;        /* a sweep continues in this directory only if this is unchanged */
    const char *variable; /* the environment variable whose value it is, or NULL */
    bool varies;          /* a sweep continues under another one, which is said, and the file has both */
};

/* What hardware counters counted, or why nothing: "off", or "" before the first visit that tells. */
#define PDNN_FACT_COUNTERS "counters"
/* The key of measure.precision, which only directories in paired order have. */
#define PDNN_FACT_PAIRED "paired_precision"
/* The build that a library's name stands for, of a backend: version and hash of its file. */
#define PDNN_FACT_LIBRARY "library_%s_%s"

/* Makes each fact that varies a list of what it was in DIR/environment.yaml and is now, in the arena, and
 * appends "governor was performance and is powersave now" of those that changed. What is not shown does not
 * count. */
void pdnn_environment_follow(const char *directory, struct pdnn_fact *facts, size_t n_facts,
                             struct pdnn_arena *arena, struct pdnn_str *said);

/* Replaces environment.yaml in the folder. */
enum pdnn_status pdnn_environment_write(const struct pdnn_folder *folder, const struct pdnn_fact *facts,
                                        size_t n_facts, struct pdnn_err *err);

/* Compares the identity facts with DIR/environment.yaml, if there is one. PDNN_INVALID names the first that
 * differs, both values, and what to do; a missing key differs, unless it is a variable's. */
enum pdnn_status pdnn_environment_check(const char *directory, const struct pdnn_fact *facts, size_t n_facts,
                                        struct pdnn_err *err);

/* The text of DIR/environment.yaml, which is the caller's; NULL if the file does not exist. */
enum pdnn_status pdnn_environment_read(const char *directory, char **text, struct pdnn_err *err);

/* Append the value of a key in DIR/environment.yaml, or in the text of an environment.yaml, without its
 * quotes; nothing if the file or the key is missing. */
void pdnn_environment_get(const char *directory, const char *key, struct pdnn_str *value);
void pdnn_environment_value(const char *text, const char *key, struct pdnn_str *value);
/* The number that the value begins with; 0 if there is none. */
uint64_t pdnn_environment_count(const char *text, const char *key);

/* Whether two environment.yaml differ in an identity fact that both have, the first of which is appended:
 * its key and, as written, both values. */
bool pdnn_environment_differs(const char *one, const char *other, struct pdnn_str *key,
                              struct pdnn_str *values);

/* Takes the next fact of the text that both have with different values, without quotes; false after the last
 * one. {0} before the first call; the caller finishes the texts. */
struct pdnn_fact_difference {
    struct pdnn_str key, one, other;
};
bool pdnn_environment_next(const char **one, const char *other, struct pdnn_fact_difference *differing);

/* Appends the facts of several hosts as one: the lines of the first text, where a value that is not the same
 * in all of them is all of them, joined by the separator. */
#define PDNN_FACTS_SEPARATOR " | "
void pdnn_environment_join(const char *const *texts, size_t n_texts, struct pdnn_str *out);

#endif
