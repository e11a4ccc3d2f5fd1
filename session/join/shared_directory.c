#define _POSIX_C_SOURCE 200809L
#include "session/join/shared_directory.h"

#include "base/file.h"
#include "base/paths/folder.h"
#include "session/join/leases.h"
#include "session/same_spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SPEC_LIMIT_BYTES = 1 << 26 };

/* Writes the spec, complete and only if there is none: of several that try, one succeeds. */
static enum pdnn_status freeze(const struct pdnn_folder *folder, const char *part, const char *text,
                               struct pdnn_err *err) {
    char name[PDNN_PART_TEXT + 8];
    struct stat info;
    if (fstatat(folder->fd, "spec.yaml", &info, 0) == 0)
        return PDNN_OK;
    snprintf(name, sizeof name, "new-%s", part);
    enum pdnn_status status = pdnn_folder_replace(folder, name, text, strlen(text), err);
    if (status == PDNN_OK)
        status = pdnn_leases_link(folder, name, "spec.yaml", err);
    unlinkat(folder->fd, name, 0);
    return status == PDNN_BUSY ? PDNN_OK : status;
}

enum pdnn_status pdnn_join_check_alone(const char *directory, struct pdnn_err *err) {
    if (!pdnn_leases_exist(directory) || pdnn_path_has(directory, "journal.csv"))
        return PDNN_OK;
    return pdnn_fail(err, PDNN_INVALID, "%s: a joined sweep; go on with --join, or merge it first",
                     directory);
}

enum pdnn_status pdnn_join_make_directory(const char *directory, const char *text, struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT], *frozen = NULL, was[PDNN_SPEC_LINE_TEXT], is[PDNN_SPEC_LINE_TEXT];
    struct pdnn_folder folder;
    struct pdnn_holder self;
    if (!pdnn_path_join(path, directory, "journal.csv"))
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    if (pdnn_path_has(directory, "journal.csv") && !pdnn_leases_exist(directory))
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: holds a sweep that one process runs; give --join a directory of its own",
                         directory);
    if (!pdnn_holder_init(&self, ""))
        return pdnn_fail(err, PDNN_IO, "no random numbers: %s", strerror(errno));
    enum pdnn_status status = pdnn_folder_ensure(directory, err);
    if (status == PDNN_OK)
        status = pdnn_folder_open(&folder, directory, err);
    if (status != PDNN_OK)
        return status;
    status = freeze(&folder, self.part, text, err);
    pdnn_path_join(path, directory, "spec.yaml");
    if (status == PDNN_OK)
        status = pdnn_file_read(path, SPEC_LIMIT_BYTES, &frozen, NULL, err);
    if (status == PDNN_OK && pdnn_spec_differs(frozen, text, was, is))
        status = pdnn_fail(err, PDNN_INVALID,
                           "%s: has '%s' where this sweep has '%s'; all that join run one spec, use another "
                           "directory with -o",
                           path, was, is);
    free(frozen);
    pdnn_path_join(path, directory, "parts");
    if (status == PDNN_OK)
        status = pdnn_folder_ensure(path, err);
    pdnn_folder_close(&folder);
    return status;
}
