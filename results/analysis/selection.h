/* The instances of a result directory that ended ok, by what they were run with: chosen by values, and put
 * into series of instances that differ in some keys only. A key is a column of results.csv between `family`
 * and `status`: a hyper-parameter or a run setting. Knows nothing of what was measured. */
#ifndef RESULTS_ANALYSIS_SELECTION_H
#define RESULTS_ANALYSIS_SELECTION_H

#include "base/arena.h"
#include "base/str.h"
#include "results/tables/csv.h"

struct pdnn_selection {
    struct pdnn_csv results;
    struct pdnn_arena arena;      /* reprinted ids */
    int id, family, status, step; /* columns of it; step is time_ns_median */
    int extrapolated;             /* -1: an older table, where nothing was */
    int first_key, end_key;       /* the keys' columns */
    size_t *row;                  /* of results: those chosen, in order */
    size_t count;
    size_t left_out; /* did not end ok */
};

/* Reads DIR/results.csv and keeps the rows that ended ok and have all the values asked for, "KEY=VALUE" each
 * with a key, `id` (which may leave out what ids may) or `family`. PDNN_INVALID names the nearest key, or
 * says that nothing is left. */
enum pdnn_status pdnn_selection_open(struct pdnn_selection *selection, const char *directory,
                                     const char *const *only, size_t n_only, struct pdnn_err *err);
void pdnn_selection_close(struct pdnn_selection *selection);

/* The field of a chosen row, never NULL. */
const char *pdnn_selection_get(const struct pdnn_selection *selection, size_t at, int column);

/* Its step time; NaN when the field is none. */
double pdnn_selection_step_ns(const struct pdnn_selection *selection, size_t at);

/* Whether fewer layers ran than the model has, so that its times were scaled. */
bool pdnn_selection_extrapolated(const struct pdnn_selection *selection, size_t at);

/* Column of a key. PDNN_INVALID names the nearest one. */
enum pdnn_status pdnn_selection_key(const struct pdnn_selection *selection, const char *name, int *column,
                                    struct pdnn_err *err);

enum { PDNN_SELECTION_AXES_MAX = 8 };

/* The keys in which the members of a series may differ, the first of which orders them. */
struct pdnn_axes {
    int column[PDNN_SELECTION_AXES_MAX];
    size_t count;
    /* What two members must have in common beside the other keys, or NULL. */
    bool (*alike)(const struct pdnn_selection *selection, size_t a, size_t b);
};

/* "length,batch", as typed. */
enum pdnn_status pdnn_axes_parse(const struct pdnn_selection *selection, const char *text,
                                 struct pdnn_axes *axes, struct pdnn_err *err);

/* Chosen rows, ascending by the axes: numbers before words, words in the order of the file. */
struct pdnn_series {
    size_t *at;
    size_t count;
};

/* Every chosen row is in one series; series of one are there too. In order of their first rows, in the arena.
 */
enum pdnn_status pdnn_selection_series(const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                                       struct pdnn_arena *arena, struct pdnn_series **series,
                                       size_t *n_series, struct pdnn_err *err);

/* Appends the id with a star for the value of each axis: "fc/layers=4,batch=*,mode=train". */
void pdnn_selection_pattern(const struct pdnn_selection *selection, size_t at, const struct pdnn_axes *axes,
                            struct pdnn_str *out);

/* Appends what the axes are: "length", or "length, batch" of two. */
void pdnn_selection_names(const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                          struct pdnn_str *out);

/* Appends the values of the axes: "128", or "128, 32" of two. */
void pdnn_selection_values(const struct pdnn_selection *selection, size_t at, const struct pdnn_axes *axes,
                           struct pdnn_str *out);

/* Appends the other keys that differ among the chosen rows, with the row's values: "length=512, fuse=none". A
 * value that more than half of the rows have is usual and left out. */
void pdnn_selection_where(const struct pdnn_selection *selection, size_t at, const struct pdnn_axes *axes,
                          struct pdnn_str *out);

/* Appends those usual values: what pdnn_selection_where does not say. */
void pdnn_selection_usual(const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                          struct pdnn_str *out);

#endif
