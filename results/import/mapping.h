/* What is asked of an import, and which column of the file says what, by the mapping that the user gives or
 * ParaDnn's own. */
#ifndef RESULTS_IMPORT_MAPPING_H
#define RESULTS_IMPORT_MAPPING_H

#include "results/import/source.h"

struct pdnn_import_request {
    const char *path;   /* the file */
    const char *output; /* the new directory */
    /* "KEY=COLUMN" or "KEY=COLUMN:UNIT"; none: those of ParaDnn's files. KEY is a hyper-parameter or run
     * setting, or one of pdnn_import_roles. A second `label` or `model` begins another group of columns,
     * whose rows come after those of the first. */
    const char *const *map;
    size_t n_map;
    const char *model; /* a family, a preset or an id, where no column says it; NULL: one does */
    /* "KEY=VALUE": hyper-parameters and run settings that no column says. */
    const char *const *set;
    size_t n_set;
    int64_t shards;   /* FLOP and rates are those of one of this many shards; at least 1 */
    const char *host; /* the platform's name; NULL: the file's, or the file's name without its extension */
    const char *software; /* what ran the models, with its version; NULL: not said */
    const char *version;  /* this program's */
    /* Roofs: a ceilings.csv; or the peak in GFLOP/s, "14900" or "f32=14900,bf16=312000", and the bandwidth in
     * GB/s. NULL, 0: none. */
    const char *roof_rows, *peak;
    double bandwidth_gbs;
};

extern const char *const pdnn_import_roles[]; /* NULL-terminated: what KEY is, besides parameters */

/* What a column of the file says: the numbers that it has of an instance, then texts. */
enum pdnn_mapped_role {
    PDNN_MAPPED_PARAMS,
    PDNN_MAPPED_FLOP,
    PDNN_MAPPED_GFLOPS,
    PDNN_MAPPED_INTENSITY,
    PDNN_MAPPED_STEPS,
    PDNN_MAPPED_EXAMPLES,
    PDNN_MAPPED_TIME,
    PDNN_MAPPED_NUMBERS,
    PDNN_MAPPED_LABEL = PDNN_MAPPED_NUMBERS,
    PDNN_MAPPED_MODEL,
    PDNN_MAPPED_STATE,
    PDNN_MAPPED_HOST,
    PDNN_MAPPED_KEY
};

/* A column that the mapping names. */
struct pdnn_mapped {
    enum pdnn_mapped_role role;
    const char *key, *name; /* PDNN_MAPPED_KEY: of the hyper-parameter or setting; the column's */
    double factor;          /* into the unit of imported.csv */
    size_t at;              /* the column's number in the file */
};

/* Columns whose rows belong together. */
struct pdnn_mapped_group {
    const struct pdnn_table *rows;                    /* the file's */
    struct pdnn_mapped *column, *of[PDNN_MAPPED_KEY]; /* all; by role, NULL: none */
    size_t n, n_rows;
};

enum { PDNN_MAPPED_GROUPS = 2 };

struct pdnn_mapping {
    struct pdnn_mapped_group group[PDNN_MAPPED_GROUPS];
    size_t n_groups, n_mapped, n_rows; /* n_mapped: columns, n_rows: rows, of all groups */
};

/* Finds the columns that the request maps, in the arena. PDNN_INVALID for a mapping that is not one, that
 * lacks what an import needs, or has what does nothing. */
enum pdnn_status pdnn_mapping_make(struct pdnn_mapping *mapping, const struct pdnn_import_request *request,
                                   const struct pdnn_import_source *source, struct pdnn_arena *arena,
                                   struct pdnn_err *err);

/* The text of a cell; "": empty, or no column has the role. */
const char *pdnn_mapped_text(const struct pdnn_mapped_group *group, size_t row, enum pdnn_mapped_role role);

/* Whether the mapping names the file's column. */
bool pdnn_mapping_has(const struct pdnn_mapping *mapping, size_t column);

#endif
