/* operators.csv: the library of measured operators (runtime/facts/operator.h), one row per measurement,
 * appended and synced as it is made. A row counts only in its context, the hash of a text that states
 * everything else a time depends on (runtime/facts/context.h), so that times of another processor, library,
 * build or binding are never mixed in. A last row cut short by a crash is dropped on opening; nothing else is
 * ever removed or rewritten. */
#ifndef RESULTS_STORE_LIBRARY_H
#define RESULTS_STORE_LIBRARY_H

#include "base/folder.h"
#include "results/store/columns.h"
#include "runtime/facts/operator.h"

enum { PDNN_LIBRARY_CONTEXT_TEXT = 17, PDNN_LIBRARY_NAME_TEXT = 256 };

/* One row. */
struct pdnn_library_row {
    char context[PDNN_LIBRARY_CONTEXT_TEXT]; /* 16 hexadecimal digits */
    char host[PDNN_LIBRARY_NAME_TEXT];
    char software[PDNN_LIBRARY_NAME_TEXT]; /* "oneDNN 2.6.3 (avx2)" */
    char key[PDNN_OPERATOR_KEY_TEXT];
    struct pdnn_visit visit; /* one step being one run of the operator; no ops */
};

extern const struct pdnn_columns pdnn_library_columns; /* rows: struct pdnn_library_row; also read back */

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
enum pdnn_status pdnn_library_add(struct pdnn_library *library, const struct pdnn_library_row *row,
                                  struct pdnn_err *err);

/* Calls each for every complete row of DIR/operators.csv, in order; *there says whether there is such a file.
 */
enum pdnn_status pdnn_library_read(const char *directory, bool *there,
                                   enum pdnn_status (*each)(void *user, const struct pdnn_library_row *row,
                                                            struct pdnn_err *err),
                                   void *user, struct pdnn_err *err);

#endif
