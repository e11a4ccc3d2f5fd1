#include "base/paths/nearby.h"

#include "base/arena.h"
#include "base/str.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 1024 }; /* considered; a directory may hold any number */

bool pdnn_has_ending(const char *path, const char *const *endings) {
    size_t length = strlen(path);
    for (; *endings; endings++) {
        size_t end = strlen(*endings);
        if (length > end && strcmp(path + length - end, *endings) == 0)
            return true;
    }
    return false;
}

/* The name up to its last dot. */
static const char *stem_of(struct pdnn_arena *arena, const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? pdnn_arena_printf(arena, "%.*s", (int)(dot - name), name)
                              : pdnn_arena_strdup(arena, name);
}

/* Another name in the directory, in the arena; NULL if there is none, or no memory for it. */
static const char *find(DIR *directory, const char *name, const char *const *endings,
                        struct pdnn_arena *arena) {
    const char *names[NAMES_MAX], *stems[NAMES_MAX], *stem = stem_of(arena, name);
    size_t count = 0;
    for (const struct dirent *entry; count < NAMES_MAX && (entry = readdir(directory));) {
        if (!pdnn_has_ending(entry->d_name, endings) || strcmp(entry->d_name, name) == 0)
            continue;
        names[count] = pdnn_arena_strdup(arena, entry->d_name);
        stems[count] = stem_of(arena, entry->d_name);
        if (!names[count] || !stems[count])
            return NULL;
        count++;
    }
    const char *nearest = stem ? pdnn_nearest_word(stem, stems, count) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (stems[i] == nearest)
            return names[i];
    }
    return NULL;
}

const char *pdnn_nearby(char buffer[PDNN_NEARBY_TEXT], const char *path, const char *const *endings) {
    struct pdnn_arena arena = {0};
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    const char *folder = length ? pdnn_arena_printf(&arena, "%.*s", (int)length, path) : ".";
    DIR *directory = folder ? opendir(folder) : NULL;
    const char *found = directory ? find(directory, path + length, endings, &arena) : NULL;
    buffer[0] = 0;
    if (found && snprintf(buffer, PDNN_NEARBY_TEXT, ", did you mean '%.*s%s'?", (int)length, path, found) >=
                     PDNN_NEARBY_TEXT)
        buffer[0] = 0;
    if (directory)
        closedir(directory);
    pdnn_arena_finish(&arena);
    return buffer;
}
