/* operators.csv: the library of measured operators (runtime/protocol/operator.h), one row per measurement,
 * appended and synced as it is made. A row counts only in its context, the hash of a text that states
 * everything else a time depends on (runtime/host/environment_key.h). A last row cut short by a crash is
 * dropped on opening; nothing else is ever removed. */
#ifndef RESULTS_STORE_LIBRARY_H
#define RESULTS_STORE_LIBRARY_H

#include "results/table/table.h"
#include "runtime/protocol/operator.h"
#include "runtime/protocol/visit.h"

enum { PDNN_LIBRARY_CONTEXT_TEXT = 17, PDNN_LIBRARY_NAME_TEXT = 256 };

enum pdnn_library_column {
#define LIBRARY_COLUMN(word, ...) PDNN_LIBRARY_##word,
#include "results/store/columns/operators.inc"
#undef LIBRARY_COLUMN
    PDNN_LIBRARY_COLUMNS
};
extern const struct pdnn_table_def pdnn_library_def;

/* One measurement. */
struct pdnn_library_row {
    const char *context; /* 16 hexadecimal digits */
    const char *host;
    const char *software;           /* "oneDNN 2.6.3 (avx2)" */
    const char *key;                /* of the operator */
    const struct pdnn_visit *visit; /* one step being one run of the operator; no ops */
};

/* The context's hash as text. */
void pdnn_library_context(const char *text, char context[PDNN_LIBRARY_CONTEXT_TEXT]);

/* What the library knows about an operator. */
struct pdnn_library_times {
    const double *ns; /* medians of its ok measurements, in order */
    size_t count;
    enum pdnn_outcome outcome; /* of a host's last measurement, ok if it is that for any of them */
    const char *reason;
};

struct pdnn_library; /* opaque */

/* Opens or creates DIR/operators.csv for appending, with an exclusive lock, and reads what it has.
 * PDNN_BUSY if another process has it, PDNN_INVALID if it has another header; it stays as it is. */
enum pdnn_status pdnn_library_open(const char *directory, struct pdnn_library **library,
                                   struct pdnn_err *err);
void pdnn_library_close(struct pdnn_library *library); /* takes NULL */

/* False if there are no measurements in that context. *times is borrowed until the next addition. */
bool pdnn_library_find(const struct pdnn_library *library, const char *context, const char *key,
                       struct pdnn_library_times *times);

/* The next operator of the context after place `at`, 0 to begin; returns its place, or 0: there is none. */
size_t pdnn_library_next(const struct pdnn_library *library, size_t at, const char *context, const char **key,
                         struct pdnn_library_times *times);

/* Appends the row and syncs it. If that fails, the library is as it was. */
enum pdnn_status pdnn_library_add(struct pdnn_library *library, const struct pdnn_library_row *measured,
                                  struct pdnn_err *err);

/* The complete rows of DIR/operators.csv; none if there is no such file. Release *table with
 * pdnn_table_finish, after a failure too. */
enum pdnn_status pdnn_library_read(const char *directory, struct pdnn_table *table, struct pdnn_err *err);

#endif
