#define _POSIX_C_SOURCE 200809L
#include "base/paths/folder.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_NAME_TEXT = 64 };

enum pdnn_status pdnn_link_check(const char *path, struct pdnn_err *err) {
    char link[PDNN_FOLDER_TEXT];
    struct stat info;
    const ssize_t length = stat(path, &info) != 0 ? readlink(path, link, sizeof link) : 0;
    if (length <= 0)
        return PDNN_OK;
    stat(path, &info);
    return pdnn_fail(err, PDNN_INVALID, "%s: is a link to %.*s: %s", path, (int)length, link,
                     strerror(errno));
}

enum pdnn_status pdnn_folder_ensure(const char *path, struct pdnn_err *err) {
    struct stat info;
    if (mkdir(path, 0777) == 0)
        return PDNN_OK;
    if (errno != EEXIST)
        return pdnn_fail(err, PDNN_INVALID, "%s: cannot be created: %s", path, strerror(errno));
    if (pdnn_link_check(path, err) != PDNN_OK)
        return PDNN_INVALID;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return pdnn_fail(err, PDNN_INVALID, "%s: exists and is not a directory", path);
    return PDNN_OK;
}

enum pdnn_status pdnn_folder_open(struct pdnn_folder *folder, const char *path, struct pdnn_err *err) {
    folder->fd = -1;
    int written = snprintf(folder->path, sizeof folder->path, "%s", path);
    if (written < 0 || (size_t)written + FILE_NAME_TEXT > sizeof folder->path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", path);
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0)
        return pdnn_fail(err, PDNN_INVALID, "%s: cannot be opened: %s", path, strerror(errno));
    return PDNN_OK;
}

void pdnn_folder_close(struct pdnn_folder *folder) {
    if (folder->fd >= 0)
        close(folder->fd);
    folder->fd = -1;
}

enum pdnn_status pdnn_folder_check(const struct pdnn_folder *folder, struct pdnn_err *err) {
    struct stat here, named;
    if (stat(folder->path, &named) != 0)
        return pdnn_fail(err, PDNN_IO, "%s: the directory was deleted or moved meanwhile: %s", folder->path,
                         strerror(errno));
    if (fstat(folder->fd, &here) != 0)
        return pdnn_fail(err, PDNN_IO, "%s: %s", folder->path, strerror(errno));
    if (here.st_dev != named.st_dev || here.st_ino != named.st_ino)
        return pdnn_fail(err, PDNN_IO, "%s: the directory was replaced by another one meanwhile",
                         folder->path);
    return PDNN_OK;
}

bool pdnn_path_join(char path[PDNN_FOLDER_TEXT], const char *directory, const char *name) {
    int written = snprintf(path, PDNN_FOLDER_TEXT, "%s/%s", directory, name);
    return written > 0 && written < PDNN_FOLDER_TEXT;
}

bool pdnn_path_has(const char *directory, const char *name) {
    char path[PDNN_FOLDER_TEXT];
    return pdnn_path_join(path, directory, name) && access(path, F_OK) == 0;
}

const char *pdnn_folder_path(const struct pdnn_folder *folder, const char *name,
                             char buffer[PDNN_FOLDER_TEXT]) {
    snprintf(buffer, PDNN_FOLDER_TEXT, "%.*s/%.*s", PDNN_FOLDER_TEXT - FILE_NAME_TEXT - 2, folder->path,
             FILE_NAME_TEXT - 1, name);
    return buffer;
}

enum pdnn_status pdnn_folder_replace(const struct pdnn_folder *folder, const char *name, const char *text,
                                     size_t length, struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT];
    return pdnn_file_replace_at(folder->fd, name, pdnn_folder_path(folder, name, path), text, length, err);
}

enum pdnn_status pdnn_folder_add(const struct pdnn_folder *folder, const char *name, const char *text,
                                 size_t length, struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT];
    return pdnn_file_add_at(folder->fd, name, pdnn_folder_path(folder, name, path), text, length, err);
}

enum pdnn_status pdnn_folder_try(const struct pdnn_folder *folder, const char *name, struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT];
    return pdnn_file_try_at(folder->fd, name, pdnn_folder_path(folder, name, path), err);
}

void pdnn_folder_clean(const struct pdnn_folder *folder) {
    static const char digits[] = "0123456789abcdef";
    enum { DIGITS = 16 };
    /* A descriptor of its own: closedir closes it. */
    int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        const char *name = entry->d_name;
        if (strncmp(name, "paradnn-", 8) == 0 && strspn(name + 8, digits) == DIGITS &&
            strcmp(name + 8 + DIGITS, ".tmp") == 0)
            unlinkat(folder->fd, name, 0);
    }
    if (entries)
        closedir(entries);
    else if (fd >= 0)
        close(fd);
}

bool pdnn_folder_make_own(char path[PDNN_FOLDER_OWN_TEXT]) {
    static const char name[] = "/paradnn-XXXXXX";
    const char *temporary = getenv("TMPDIR");
    const bool fits = temporary && *temporary && strlen(temporary) + sizeof name <= PDNN_FOLDER_OWN_TEXT;
    snprintf(path, PDNN_FOLDER_OWN_TEXT, "%s%s", fits ? temporary : "/tmp", name);
    const bool is_made = mkdtemp(path) != NULL;
    path[0] = is_made ? path[0] : 0;
    return is_made;
}

void pdnn_folder_remove_own(const char *path) {
    DIR *entries = *path ? opendir(path) : NULL;
    for (const struct dirent *entry; entries && (entry = readdir(entries));)
        unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
    if (*path)
        rmdir(path);
}
