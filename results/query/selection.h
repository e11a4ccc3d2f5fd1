/* The instances of result directories, mostly those that ended ok: filtered by values, and grouped into
 * series of instances that differ only in some keys. */
#ifndef RESULTS_QUERY_SELECTION_H
#define RESULTS_QUERY_SELECTION_H

#include "results/query/results.h"

/* A key among the chosen rows. */
struct pdnn_selection_key {
    bool varies;       /* two rows differ, perhaps because one lacks it */
    bool values;       /* two rows have different values */
    bool follows;      /* from `results`: all rows of one directory have the same value, others another one */
    const char *usual; /* what more than half of the rows have; NULL: there is no such value */
    bool is_known;     /* false until somebody asks for it */
};

struct pdnn_selection {
    struct pdnn_results results;
    int id, family, status, step; /* column numbers; step is time_ns_median */
    size_t *row;     /* the chosen rows of results, in order, then those that match but did not end ok */
    size_t count;    /* of the chosen */
    size_t left_out; /* of the others */
    struct pdnn_selection_key *keys; /* by column; for pdnn_selection_key */
    bool is_part;                    /* the results belong to another selection */
};

/* Reads DIR/results.csv of each directory and keeps all rows that all texts of `only` ask for
 * (pdnn_results_select), whether or not they ended ok. */
enum pdnn_status pdnn_selection_read(struct pdnn_selection *selection, const char *const *directories,
                                     size_t n_directories, const char *const *only, size_t n_only,
                                     struct pdnn_err *err);

/* The same of costs alone (pdnn_results_open_costs), where what would run takes the place of what ended ok.
 */
enum pdnn_status pdnn_selection_read_costs(struct pdnn_selection *selection, const char *name,
                                           struct pdnn_str *text, const char *const *only, size_t n_only,
                                           struct pdnn_err *err);

/* The rows of a selection that have this text in a column, which all have if it is -1, those that did not end
 * ok among the chosen or left out. It borrows the results, and is closed before their owner. */
void pdnn_selection_part(const struct pdnn_selection *all, int column, const char *text, bool with_failed,
                         struct pdnn_selection *part);

/* Reads the same, and leaves out what did not end ok. PDNN_INVALID also if `only` leaves no row. */
enum pdnn_status pdnn_selection_open_all(struct pdnn_selection *selection, const char *const *directories,
                                         size_t n_directories, const char *const *only, size_t n_only,
                                         struct pdnn_err *err);
void pdnn_selection_close(struct pdnn_selection *selection);

/* The cell of a chosen row as in files, never NULL; its number, NaN if it has none. The same of a column that
 * does not depend on families. */
const char *pdnn_selection_get(const struct pdnn_selection *selection, size_t at, int column);
double pdnn_selection_number(const struct pdnn_selection *selection, size_t at, int column);
const char *pdnn_selection_word(const struct pdnn_selection *selection, size_t at,
                                enum pdnn_result_column column);
double pdnn_selection_value(const struct pdnn_selection *selection, size_t at,
                            enum pdnn_result_column column);

/* Of a chosen row: whether it ended ok and has a time; its step time, NaN if that is not a number; the number
 * of its directory; whether fewer layers ran than the model has, so that times were scaled up; the minibatch
 * of its family, NaN if that is unknown. */
bool pdnn_selection_is_ok(const struct pdnn_selection *selection, size_t at);
double pdnn_selection_step_ns(const struct pdnn_selection *selection, size_t at);
size_t pdnn_selection_source(const struct pdnn_selection *selection, size_t at);
bool pdnn_selection_extrapolated(const struct pdnn_selection *selection, size_t at);
double pdnn_selection_examples(const struct pdnn_selection *selection, size_t at);

/* The distinct texts of a column: numbers ascending, then words by their letters; which of them each row has
 * goes to `of`, unless it is NULL. Returns how many. In the arena. */
size_t pdnn_selection_distinct(const struct pdnn_selection *selection, int column, struct pdnn_arena *arena,
                               const char ***texts, size_t *of);

/* The column that says how much of the machine is used: pct_of_peak, or gflops if no chosen row has that; of
 * costs alone intensity_flop_per_byte, which says how much could be. */
const char *pdnn_selection_utilization(const struct pdnn_selection *selection);

/* A column from the family to the end of the keys, among the chosen rows. */
const struct pdnn_selection_key *pdnn_selection_key(const struct pdnn_selection *selection, int column);

enum { PDNN_SELECTION_AXES_MAX = 8 };

/* The keys in which the members of a series may differ; the first one orders them. */
struct pdnn_axes {
    int column[PDNN_SELECTION_AXES_MAX];
    size_t count;
    /* What else two members must have in common besides the other keys; may be NULL. */
    bool (*alike)(const struct pdnn_selection *selection, size_t a, size_t b);
};

/* "length,batch", as typed. */
enum pdnn_status pdnn_axes_parse(const struct pdnn_selection *selection, const char *text,
                                 struct pdnn_axes *axes, struct pdnn_err *err);

bool pdnn_axes_have(const struct pdnn_axes *axes, int column);

/* Adds the minibatch of each family of the chosen rows, as far as there is room. */
void pdnn_axes_add_minibatch(const struct pdnn_selection *selection, struct pdnn_axes *axes);

/* Chosen rows in ascending order of the axes: numbers before words, words in the order of the file. */
struct pdnn_series {
    size_t *at;
    size_t count;
};

/* Every chosen row belongs to one series, perhaps alone. Series are in the order of their first rows, in the
 * arena. Where `results` is an axis, so are the keys that follow from it. Where the axes decide whether a row
 * has a key, as the mode decides on the optimizer, a row without it is in the first series like it otherwise.
 */
void pdnn_selection_series(const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                           struct pdnn_arena *arena, struct pdnn_series **series, size_t *n_series);

/* Appends the id of a row, chosen or not, with a star for the value of each axis, "fc/layers=4,batch=*", or
 * without the axes. */
void pdnn_selection_pattern(const struct pdnn_selection *selection, size_t at, const struct pdnn_axes *axes,
                            bool starred, struct pdnn_str *out);

/* The same for people, who call a preset by its name: "resnet50,batch=*"; axes: or NULL. */
void pdnn_selection_name(const struct pdnn_selection *selection, size_t at, const struct pdnn_axes *axes,
                         struct pdnn_str *out);

/* Appends the row's values of the axes: "128", or "128, 32" for two; of SIZE_MAX, their names. */
void pdnn_selection_values(const struct pdnn_selection *selection, size_t at, const struct pdnn_axes *axes,
                           struct pdnn_str *out);

/* Appends the other keys that differ among the chosen rows, with this row's values: "length=512, fuse=none",
 * but no usual value and nothing that follows from `results`. Of SIZE_MAX, the usual values. A preset's name
 * stands for what it says: "resnet50, mode=train". */
void pdnn_selection_where(const struct pdnn_selection *selection, size_t at, const struct pdnn_axes *axes,
                          struct pdnn_str *out);

/* By row of the results, what tells each row of the selection from the others, by its preset's name where it
 * is one (models/varying.h): "batch=64,mode=infer", "resnet50,batch=4". Rows whose ids this program does not
 * know are told apart by their keys. In the arena. */
const char **pdnn_selection_names(const struct pdnn_selection *selection, struct pdnn_arena *arena);

#endif
