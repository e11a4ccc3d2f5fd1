/* A CSV file that only grows at its end, with every write synced, and its reader. A last line cut short by a
 * crash is removed; nothing else is ever removed or rewritten. The meaning of its rows is not known here.
 *
 * A file of the schema before this one lacks the columns that came `since`: it is read as if they were there
 * and empty, and before anything is added to it, it is converted. */
#ifndef RESULTS_STORE_LOG_FILE_H
#define RESULTS_STORE_LOG_FILE_H

#include "base/paths/folder.h"
#include "results/table/read.h"

#include <stdbool.h>
#include <stdint.h>

/* The file read from front to back in blocks: it may be too large for memory, and somebody may still be
 * writing it. Takes no lock and changes nothing. */
struct pdnn_log_scan {
    const struct pdnn_table_def *def;
    int fd; /* -1: there is no such file, or it is not open */
    char path[PDNN_FOLDER_TEXT];
    char *block;
    size_t at, used, room; /* in the block */
    uint64_t offset;       /* of the block in the file */
    uint64_t header;       /* length of the header; 0: it is not there, or is not complete */
    size_t mark;           /* bytes of the byte order mark that the header begins with */
    uint64_t line;         /* lines taken so far */
    bool torn;             /* the last line was incomplete and was left out */
    bool is_older;         /* of the schema before: what is read, fd too, is its converted text */
};

/* Opens the file in the directory that is named like its table, and takes its header. PDNN_INVALID if it is
 * not the one that this version writes. Release with pdnn_log_scan_close, after a failure too. */
enum pdnn_status pdnn_log_scan_open(struct pdnn_log_scan *scan, const char *directory,
                                    const struct pdnn_table_def *def, struct pdnn_err *err);

/* The next line, with its newline; text NULL if there is none. Valid until the next call. */
enum pdnn_status pdnn_log_scan_line(struct pdnn_log_scan *scan, struct pdnn_piece *line,
                                    struct pdnn_err *err);

/* The same of a row with as many fields as the table has columns, the first of which, up to `room`, are set.
 * PDNN_INVALID for any other row than the last. */
enum pdnn_status pdnn_log_scan_row(struct pdnn_log_scan *scan, struct pdnn_piece *line,
                                   struct pdnn_piece *fields, size_t room, struct pdnn_err *err);

/* Goes back to the first row and frees the memory; the file stays open, also for reading rows where they are.
 */
void pdnn_log_scan_rewind(struct pdnn_log_scan *scan);
void pdnn_log_scan_close(struct pdnn_log_scan *scan);

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

/* Opens or creates the file for appending. exclusive: takes a lock, PDNN_BUSY if another process has it. */
enum pdnn_status pdnn_log_file_open(struct pdnn_log_file *file, bool exclusive, struct pdnn_err *err);

/* What was scanned is kept up to this length; nothing of it without its header. */
void pdnn_log_file_keep(struct pdnn_log_file *file, const struct pdnn_log_scan *scan, uint64_t length);

/* Converts the folder's file, if it is of the schema before; the old one stays beside it, as
 * "NAME-schema-3.csv".
 */
enum pdnn_status pdnn_log_file_convert(const struct pdnn_folder *folder, const struct pdnn_table_def *def,
                                       struct pdnn_err *err);

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
