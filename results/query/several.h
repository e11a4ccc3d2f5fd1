/* results.csv of several directories as one table, so that whatever reads one directory reads several. Rows
 * keep their order, and so do columns; what only some tables have is empty in the others. Two columns say
 * where a row comes from: `results`, the name of its directory, a key like a hyper-parameter; and `version`,
 * the software that ran it by environment.yaml. */
#ifndef RESULTS_QUERY_SEVERAL_H
#define RESULTS_QUERY_SEVERAL_H

#include "base/arena.h"
#include "base/err.h"
#include "results/table/csv.h"

#include <stdbool.h>

struct pdnn_several {
    struct pdnn_csv table;
    struct pdnn_csv *part; /* what the directories have; their texts are those of the table */
    size_t n_parts;
    size_t *source; /* by row: the number of its directory */
};

/* The two columns. `results` ends the keys; `version` follows from the others and comes after it. */
#define PDNN_SEVERAL_RESULTS "results"
#define PDNN_SEVERAL_VERSION "version"

/* Reads DIR/results.csv of each of n directories, at least two. The arena gets the texts that no file has.
 * PDNN_INVALID if a directory is named twice, or if a table lacks `id`, `family`, `status` or
 * `time_ns_median`. Release *several with pdnn_several_finish after a success. */
enum pdnn_status pdnn_several_read(const char *const *directories, size_t n, struct pdnn_arena *arena,
                                   struct pdnn_several *several, struct pdnn_err *err);

/* Not the table, which belongs to whoever took it. */
void pdnn_several_finish(struct pdnn_several *several);

bool pdnn_same_directory(const char *a, const char *b);

/* The directory's own name without its path; it has *length letters. */
const char *pdnn_directory_name(const char *directory, int *length);

#endif
