#define _XOPEN_SOURCE 700 /* realpath */
#include "base/paths/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool pdnn_program_path(char path[PDNN_PROGRAM_TEXT]) {
    ssize_t length = readlink("/proc/self/exe", path, PDNN_PROGRAM_TEXT - 1);
    path[length > 0 ? length : 0] = 0;
    return *path == '/' && length < PDNN_PROGRAM_TEXT - 1;
}

bool pdnn_program_beside(const char *name, char path[PDNN_PROGRAM_TEXT]) {
    if (!pdnn_program_path(path))
        return false;
    char *slash = strrchr(path, '/');
    size_t room = PDNN_PROGRAM_TEXT - (size_t)(slash + 1 - path);
    return (size_t)snprintf(slash + 1, room, "%s", name) < room;
}

/* PDNN_DATA is the path from bindir to where data files are installed. */
bool pdnn_program_data(const char *name, char path[PDNN_PROGRAM_TEXT]) {
    char relative[PDNN_PROGRAM_TEXT], beside[PDNN_PROGRAM_TEXT];
    int length = snprintf(relative, sizeof relative, PDNN_DATA "/%s", name);
    return length < PDNN_PROGRAM_TEXT && pdnn_program_beside(relative, beside) && realpath(beside, path);
}
