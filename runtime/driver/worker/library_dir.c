#define _POSIX_C_SOURCE 200809L
#include "runtime/driver/worker/library_dir.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char variable[] = "LD_LIBRARY_PATH";

const struct pdnn_library_dir *pdnn_library_dir_find(const struct pdnn_library_dirs *libraries,
                                                     int64_t name) {
    for (size_t i = 0; i < libraries->count; i++)
        if (libraries->row[i].name == name)
            return &libraries->row[i];
    return NULL;
}

void pdnn_library_dir_variable(const struct pdnn_library_dir *library, struct pdnn_str *lines) {
    const char *own = getenv(variable);
    const bool has_own = own && *own && !strchr(own, '\n');
    pdnn_str_printf(lines, "%s%s=%s%s%s", lines->length ? "\n" : "", variable, library->directory,
                    has_own ? ":" : "", has_own ? own : "");
}

/* "libdnnl.so.3" of a path. */
static const char *file_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool has_file(const struct pdnn_library_dir *library, const char *file) {
    struct pdnn_str path = {0};
    pdnn_str_printf(&path, "%s/%s", library->directory, file);
    const bool has = access(pdnn_str_text(&path), F_OK) == 0;
    pdnn_str_finish(&path);
    return has;
}

/* Appends what the directory has of the other versions of a library: "libdnnl.so.2". */
static void append_others(const struct pdnn_library_dir *library, const char *file, struct pdnn_str *out) {
    const char *version = strstr(file, ".so");
    const size_t length = version ? (size_t)(version - file) + 3 : strlen(file);
    DIR *directory = opendir(library->directory);
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        if (strncmp(entry->d_name, file, length) == 0)
            pdnn_str_printf(out, "%s%s", out->length ? ", " : "", entry->d_name);
    if (directory)
        closedir(directory);
}

/* None of them is there. */
static enum pdnn_status has_none(const struct pdnn_library_dir *library, const struct pdnn_software *loaded,
                                 struct pdnn_err *err) {
    struct pdnn_str needed = {0}, others = {0};
    for (size_t i = 0; i < loaded->count; i++)
        if (*loaded->row[i].path) {
            const char *file = file_of(loaded->row[i].path);
            pdnn_str_printf(&needed, "%s%s", needed.length ? " or " : "", file);
            append_others(library, file, &others);
        }
    pdnn_fail(err, PDNN_INVALID, "%s has %s, and workers load %s", library->directory,
              others.length ? others.text : "none of the libraries", pdnn_str_text(&needed));
    pdnn_str_finish(&needed);
    pdnn_str_finish(&others);
    return PDNN_INVALID;
}

/* ", build c740ed96491c" of a version. */
static const char *build_of(const char *version) {
    const char *build = strstr(version, ", build ");
    return build ? build : "";
}

enum pdnn_status pdnn_library_dir_check(const struct pdnn_library_dir *library,
                                        const struct pdnn_software *loaded, struct pdnn_err *err) {
    const size_t length = strlen(library->directory);
    bool has_any = false;
    for (size_t i = 0; i < loaded->count; i++) {
        const char *path = loaded->row[i].path, *file = file_of(path);
        const bool is_there = strncmp(path, library->directory, length) == 0 && path[length] == '/';
        if (!is_there && *path && has_file(library, file))
            return pdnn_fail(err, PDNN_INVALID,
                             "the worker loaded %s, and not that of %s: is LD_PRELOAD set?", path,
                             library->directory);
        if (is_there && library->known &&
            strcmp(build_of(library->known->row[i].version), build_of(loaded->row[i].version)) != 0)
            return pdnn_fail(err, PDNN_INVALID, "%s was replaced meanwhile: it was %s and is %s", path,
                             library->known->row[i].version, loaded->row[i].version);
        has_any = has_any || is_there;
    }
    return has_any ? PDNN_OK : has_none(library, loaded, err);
}
