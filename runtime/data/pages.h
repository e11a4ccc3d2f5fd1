/* The kernel's page cache: whether a file is in it, and getting it there or out of it. Any user may do so
 * with files of their own; what the kernel refuses shows in what pdnn_pages_count finds afterwards. */
#ifndef RUNTIME_DATA_PAGES_H
#define RUNTIME_DATA_PAGES_H

#include "base/err.h"
#include "runtime/data/dataset.h"

/* Of some of a data set's files, spread evenly: pages in the cache, and pages in all. Files that cannot be
 * looked at do not count. */
struct pdnn_pages_found {
    uint64_t cached, all;
};
struct pdnn_pages_found pdnn_pages_count(const struct pdnn_dataset *dataset);

/* "warm" if nearly all were in the cache, "dropped" if nearly none, else "mixed"; "" if nothing is known. */
const char *pdnn_pages_name(const struct pdnn_pages_found *found);

/* Reads every file once, as many of them as have limit_bytes together, unless they are in the cache already.
 */
enum pdnn_status pdnn_pages_load(const struct pdnn_dataset *dataset, uint64_t limit_bytes,
                                 struct pdnn_err *err);

/* Asks the kernel to forget what it has of every file, written back before. */
enum pdnn_status pdnn_pages_drop(const struct pdnn_dataset *dataset, struct pdnn_err *err);

#endif
