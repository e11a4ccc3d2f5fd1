#define _DEFAULT_SOURCE /* mincore */
#include "runtime/data/pages.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files looked at, and bytes of each: enough to tell nearly all from nearly none. */
enum { FILES_LOOKED_AT = 64, LOOK_BYTES = 1 << 28, READ_BYTES = 1 << 18 };

static const double nearly = 0.05;

/* Adds what a file has. */
static void count_file(const char *path, struct pdnn_pages_found *found) {
    struct stat info;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    size_t length = fstat(fd, &info) == 0 && info.st_size > 0 ? (size_t)info.st_size : 0;
    length = length < LOOK_BYTES ? length : LOOK_BYTES;
    void *memory = length ? mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    size_t pages = (length + page - 1) / page;
    unsigned char *state = pdnn_alloc(pages, 1);
    if (memory != MAP_FAILED && mincore(memory, length, state) == 0) {
        found->all += pages;
        for (size_t i = 0; i < pages; i++)
            found->cached += state[i] & 1;
    }
    free(state);
    if (memory != MAP_FAILED)
        munmap(memory, length);
    close(fd);
}

struct pdnn_pages_found pdnn_pages_count(const struct pdnn_dataset *dataset) {
    struct pdnn_pages_found found = {0, 0};
    uint64_t files = pdnn_dataset_files(dataset), looks = files < FILES_LOOKED_AT ? files : FILES_LOOKED_AT;
    for (uint64_t i = 0; i < looks; i++) {
        char path[PDNN_DATASET_PATH];
        if (pdnn_dataset_file_path(dataset, i * files / looks, path, NULL) == PDNN_OK)
            count_file(path, &found);
    }
    return found;
}

const char *pdnn_pages_name(const struct pdnn_pages_found *found) {
    double share = found->all ? (double)found->cached / (double)found->all : 0;
    if (!found->all)
        return "";
    return share > 1 - nearly ? "warm" : share < nearly ? "dropped" : "mixed";
}

/* Reads up to *left bytes, and takes them off. */
static enum pdnn_status read_through(int fd, const char *path, uint64_t *left, struct pdnn_err *err) {
    char *bytes = pdnn_alloc(READ_BYTES, 1);
    ssize_t got = 1;
    while (*left && (got > 0 || (got < 0 && errno == EINTR))) {
        got = read(fd, bytes, *left < READ_BYTES ? (size_t)*left : READ_BYTES);
        *left -= got > 0 ? (uint64_t)got : 0;
    }
    free(bytes);
    return got >= 0 ? PDNN_OK : pdnn_fail(err, PDNN_INVALID, "%s: %s", path, strerror(errno));
}

/* Drops every file, or reads files of up to that many bytes. */
static enum pdnn_status each_file(const struct pdnn_dataset *dataset, bool drops, uint64_t left,
                                  struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    for (uint64_t i = 0; i < pdnn_dataset_files(dataset) && left && status == PDNN_OK; i++) {
        char path[PDNN_DATASET_PATH];
        status = pdnn_dataset_file_path(dataset, i, path, err);
        int fd = status == PDNN_OK ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (status == PDNN_OK && fd < 0)
            status = pdnn_fail(err, PDNN_INVALID, "%s: %s", path, strerror(errno));
        if (status == PDNN_OK && !drops)
            status = read_through(fd, path, &left, err);
        if (status == PDNN_OK && drops) {
            fdatasync(fd); /* only clean pages can be dropped */
            posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        }
        if (fd >= 0)
            close(fd);
    }
    return status;
}

enum pdnn_status pdnn_pages_load(const struct pdnn_dataset *dataset, uint64_t limit_bytes,
                                 struct pdnn_err *err) {
    const struct pdnn_pages_found found = pdnn_pages_count(dataset);
    return found.cached && found.cached == found.all ? PDNN_OK : each_file(dataset, false, limit_bytes, err);
}

enum pdnn_status pdnn_pages_drop(const struct pdnn_dataset *dataset, struct pdnn_err *err) {
    return each_file(dataset, true, UINT64_MAX, err);
}
