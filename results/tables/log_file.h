/* A CSV file that only grows at its end, each write synced: what a crash left of a last line is cut off, and
 * nothing else is ever removed or rewritten. Knows nothing of what its rows mean. */
#ifndef RESULTS_TABLES_LOG_FILE_H
#define RESULTS_TABLES_LOG_FILE_H

#include "base/err.h"
#include "results/tables/columns.h"
#include "results/tables/csv.h"

#include <stdbool.h>
#include <stdint.h>

enum { PDNN_LOG_PATH_TEXT = 4096 };

struct pdnn_log_file {
    char directory[PDNN_LOG_PATH_TEXT], path[PDNN_LOG_PATH_TEXT];
    const struct pdnn_columns *columns;
    int fd;          /* -1: not open */
    uint64_t length; /* of what is to be kept */
    bool torn;       /* there was more than that */
};

/* DIR/NAME, the name being that of the columns' table. Opens nothing. */
enum pdnn_status pdnn_log_file_init(struct pdnn_log_file *file, const char *directory,
                                    const struct pdnn_columns *columns, struct pdnn_err *err);

/* Opens for appending, or makes the file. exclusive: takes a lock, PDNN_INVALID when another process has it.
 */
enum pdnn_status pdnn_log_file_open(struct pdnn_log_file *file, bool exclusive, struct pdnn_err *err);

/* Reads the complete rows; none of a file that is not there or was cut short within its header. PDNN_INVALID
 * when it has another header: it stays as it is. Release *csv with pdnn_csv_finish. */
enum pdnn_status pdnn_log_file_load(struct pdnn_log_file *file, struct pdnn_csv *csv, struct pdnn_err *err);

/* Keeps only the first bytes of what was loaded. In memory: pdnn_log_file_settle does it. */
void pdnn_log_file_keep(struct pdnn_log_file *file, uint64_t length);

/* Cuts the open file to what is to be kept, and gives it its header when that is nothing. */
enum pdnn_status pdnn_log_file_settle(struct pdnn_log_file *file, struct pdnn_err *err);

/* Appends whole lines as one write, synced. When that fails (disk full), the file is as it was before. */
enum pdnn_status pdnn_log_file_append(struct pdnn_log_file *file, const struct pdnn_str *lines,
                                      struct pdnn_err *err);

/* Takes back what came after the first `length` bytes; for a row elsewhere that could not follow it. */
void pdnn_log_file_take_back(struct pdnn_log_file *file, uint64_t length);

void pdnn_log_file_close(struct pdnn_log_file *file);

#endif
