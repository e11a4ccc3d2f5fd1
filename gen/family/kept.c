#define _POSIX_C_SOURCE 200809L
#include "gen/family/kept.h"

#include "base/file.h"
#include "gen/family/load.h"
#include "models/definition/compile.h"
#include "models/definition/text/canonical.h"
#include "models/zoo/catalog.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char kept_name[] = "families", ending[] = ".yaml";

/* "NAME@HASH" of a file's name; false for another file. */
static bool name_of(const char *file, char name[PDNN_FAMILY_TEXT]) {
    const size_t length = strlen(file), end = sizeof ending - 1;
    if (length <= end || length - end >= PDNN_FAMILY_TEXT || strcmp(file + length - end, ending) != 0 ||
        !memchr(file, '@', length))
        return false;
    memcpy(name, file, length - end);
    name[length - end] = 0;
    return true;
}

static enum pdnn_status parse(const char *path, const char *text, size_t length,
                              const struct pdnn_family_def **family, struct pdnn_err *err) {
    const struct pdnn_yaml_input input = {.file = path, .text = text, .length = length};
    struct pdnn_arena arena = {0};
    struct pdnn_yaml *root;
    enum pdnn_status status = pdnn_yaml_parse(&input, &arena, &root, err);
    if (status == PDNN_OK)
        status = pdnn_family_define_file(root, family, err);
    pdnn_arena_finish(&arena);
    return status;
}

/* Two definitions that have one hash would be one family in ids. */
static enum pdnn_status check_alone(const struct pdnn_family_def *family, const char *path, const char *name,
                                    struct pdnn_err *err) {
    struct pdnn_str own = {0}, other = {0};
    enum pdnn_status status = PDNN_OK;
    pdnn_definition_write(pdnn_family_definition(family), false, &own);
    for (size_t i = 0; pdnn_family_name(i) && status == PDNN_OK; i++) {
        const struct pdnn_family_def *twin = pdnn_family_added(i);
        if (!twin || strcmp(twin->name, family->name) != 0 || strcmp(twin->hash, family->hash) != 0)
            continue;
        pdnn_str_clear(&other);
        pdnn_definition_write(pdnn_family_definition(twin), false, &other);
        if (strcmp(pdnn_str_text(&own), pdnn_str_text(&other)) != 0)
            status = pdnn_fail(err, PDNN_INVALID,
                               "%s: another definition is %s, too; rename one of the families", path, name);
    }
    pdnn_str_finish(&own);
    pdnn_str_finish(&other);
    return status;
}

static enum pdnn_status read_file(const char *directory, const char *file, const char *name,
                                  struct pdnn_err *err) {
    const struct pdnn_family_def *family = NULL;
    char path[PDNN_FOLDER_TEXT], own[PDNN_FAMILY_TEXT], *text = NULL;
    size_t length;
    if (!pdnn_path_join(path, directory, file))
        return pdnn_fail(err, PDNN_INVALID, "%s: its files have names that are too long", directory);
    enum pdnn_status status = pdnn_file_read(path, PDNN_YAML_FILE_BYTES, &text, &length, err);
    if (status == PDNN_OK)
        status = parse(path, text, length, &family, err);
    free(text);
    if (status == PDNN_OK && strcmp(pdnn_family_format(family, own), name) != 0)
        status = pdnn_fail(err, PDNN_INVALID,
                           "%s: is %s, so that it was changed after its models were measured", path, own);
    return status == PDNN_OK ? check_alone(family, path, name, err) : status;
}

static DIR *open_kept(const char *directory, char path[PDNN_FOLDER_TEXT]) {
    return pdnn_path_join(path, directory, kept_name) ? opendir(path) : NULL;
}

enum pdnn_status pdnn_families_read(const char *directory, struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT], name[PDNN_FAMILY_TEXT];
    struct dirent **entries = NULL;
    enum pdnn_status status = PDNN_OK;
    const int count =
        pdnn_path_join(path, directory, kept_name) ? scandir(path, &entries, NULL, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        if (status == PDNN_OK && name_of(entries[i]->d_name, name))
            status = read_file(path, entries[i]->d_name, name, err);
        free(entries[i]);
    }
    free(entries);
    return status;
}

static const char *file_of(const struct pdnn_family_def *family, char file[PDNN_FAMILY_TEXT + 16]) {
    char name[PDNN_FAMILY_TEXT];
    snprintf(file, PDNN_FAMILY_TEXT + 16, "%s/%s%s", kept_name, pdnn_family_format(family, name), ending);
    return file;
}

/* Another definition of the family's name that is kept there. */
static bool find_other(const char *directory, const struct pdnn_family_def *family,
                       char other[PDNN_FAMILY_TEXT]) {
    char path[PDNN_FOLDER_TEXT], own[PDNN_FAMILY_TEXT];
    const size_t length = strlen(family->name);
    DIR *kept = open_kept(directory, path);
    bool found = false;
    pdnn_family_format(family, own);
    for (struct dirent *entry; kept && !found && (entry = readdir(kept));)
        found = name_of(entry->d_name, other) && strncmp(other, family->name, length) == 0 &&
                other[length] == '@' && strcmp(other, own) != 0;
    if (kept)
        closedir(kept);
    return found;
}

enum pdnn_status pdnn_families_keep(const struct pdnn_folder *folder,
                                    void (*changed)(void *user, const char *before, const char *now),
                                    void *user, struct pdnn_err *err) {
    char file[PDNN_FAMILY_TEXT + 16], before[PDNN_FAMILY_TEXT], now[PDNN_FAMILY_TEXT];
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; pdnn_family_name(i) && status == PDNN_OK; i++) {
        const struct pdnn_family_def *family = pdnn_family_added(i);
        const char *source = family && !family->ships ? pdnn_family_definition(family)->source : NULL;
        if (!source || pdnn_path_has(folder->path, file_of(family, file)))
            continue;
        if (changed && find_other(folder->path, family, before))
            changed(user, before, pdnn_family_format(family, now));
        if (mkdirat(folder->fd, kept_name, 0777) != 0 && errno != EEXIST)
            return pdnn_fail(err, PDNN_INVALID, "%s/%s: cannot be made: %s", folder->path, kept_name,
                             strerror(errno));
        status = pdnn_folder_replace(folder, file, source, strlen(source), err);
    }
    return status;
}

void pdnn_families_drop(const struct pdnn_folder *folder, bool (*names)(const void *user, const char *name),
                        const void *user) {
    char path[PDNN_FOLDER_TEXT], name[PDNN_FAMILY_TEXT];
    DIR *kept = open_kept(folder->path, path);
    for (struct dirent *entry; kept && (entry = readdir(kept));)
        if (name_of(entry->d_name, name) && !names(user, name))
            unlinkat(dirfd(kept), entry->d_name, 0);
    if (kept)
        closedir(kept);
}
