/* A CSV file that only grows at its end, with every write synced. A last line cut short by a crash is
 * removed; nothing else is ever removed or rewritten. The meaning of its rows is not known here. */
#ifndef RESULTS_STORE_LOG_FILE_H
#define RESULTS_STORE_LOG_FILE_H

#include "base/paths/folder.h"
#include "results/table/read.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the file, which begins like the text, begins with the whole of the table's header; it may also end
 * within it. PDNN_INVALID: it has another one; says so if an older version of the program wrote it. */
enum pdnn_status pdnn_header_check(const struct pdnn_table_def *def, const char *path, const char *text,
                                   size_t length, bool *is_whole, struct pdnn_err *err);

/* Makes the row one line, whatever its texts hold: control characters become blanks. */
void pdnn_log_row_flatten(struct pdnn_table *table, size_t row);

enum { PDNN_LOG_FILE_TEXT = 32 };

struct pdnn_log_file {
    const struct pdnn_folder *folder; /* borrowed */
    char name[PDNN_LOG_FILE_TEXT], path[PDNN_FOLDER_TEXT];
    const struct pdnn_table_def *def;
    int fd;          /* -1: not open */
    uint64_t length; /* bytes to keep */
    bool torn;       /* the file was longer than that */
};

/* The file named like its table. Opens nothing. */
void pdnn_log_file_init(struct pdnn_log_file *file, const struct pdnn_folder *folder,
                        const struct pdnn_table_def *def);

/* Opens or creates the file for appending. exclusive: takes a lock. PDNN_BUSY if another process has it,
 * or if the file cannot be opened for writing. */
enum pdnn_status pdnn_log_file_open(struct pdnn_log_file *file, bool exclusive, struct pdnn_err *err);

/* Reads the complete rows, which are checked as in struct pdnn_table_file; none if the file does not exist or
 * ends within its header. PDNN_INVALID if it has another header; the file stays as it is. Release *table with
 * pdnn_table_finish, after a failure too. */
enum pdnn_status pdnn_log_file_load(struct pdnn_log_file *file,
                                    enum pdnn_status (*check)(const struct pdnn_table *table, size_t row,
                                                              struct pdnn_err *err),
                                    struct pdnn_table *table, struct pdnn_err *err);

/* Truncates the open file to the bytes to keep, and writes the header if there are none. */
enum pdnn_status pdnn_log_file_settle(struct pdnn_log_file *file, struct pdnn_err *err);

/* Appends whole lines in one synced write. If that fails (disk full), the file is as it was before. */
enum pdnn_status pdnn_log_file_append(struct pdnn_log_file *file, const struct pdnn_str *lines,
                                      struct pdnn_err *err);

/* Removes everything after the first `length` bytes, when the row in the other file could not be written. */
void pdnn_log_file_take_back(struct pdnn_log_file *file, uint64_t length);

/* PDNN_IO if the file of that name in the folder is another one by now, or none. */
enum pdnn_status pdnn_log_file_check(const struct pdnn_log_file *file, struct pdnn_err *err);

void pdnn_log_file_close(struct pdnn_log_file *file);

#endif
