#define _GNU_SOURCE /* environ */
#include "runtime/driver/worker/worker_environment.h"

#include "base/str.h"
#include "runtime/host/host_openmp.h"

#include <string.h>
#include <unistd.h>

struct list {
    struct pdnn_arena *arena;
    char **variables;
    size_t count;
};

/* Replaces the variable of that name, or appends it. */
static void put(struct list *list, const char *pair, size_t length) {
    size_t name = strcspn(pair, "=") + 1, at = 0;
    while (at < list->count && strncmp(list->variables[at], pair, name) != 0)
        at++;
    list->count += at == list->count;
    list->variables[at] = pdnn_arena_printf(list->arena, "%.*s", (int)length, pair);
}

char **pdnn_worker_environment(struct pdnn_arena *arena, const struct pdnn_host *host, const char *more) {
    struct list list = {.arena = arena};
    struct pdnn_str setting = {0};
    size_t room = 1;
    for (char **variable = environ; *variable; variable++)
        room++;
    for (size_t i = 0; pdnn_host_setting(i, host, environ, &setting); i++)
        room++;
    for (const char *at = more; *at; at++)
        room += *at == '=';
    list.variables = pdnn_arena_alloc(arena, room, sizeof *list.variables);
    for (char **variable = environ; *variable; variable++) {
        if (!pdnn_openmp_is_variable(*variable) || pdnn_openmp_is_passed(*variable))
            list.variables[list.count++] = *variable;
    }
    pdnn_str_clear(&setting);
    for (size_t i = 0; pdnn_host_setting(i, host, environ, &setting); i++) {
        put(&list, pdnn_str_text(&setting), setting.length);
        pdnn_str_clear(&setting);
    }
    for (const char *line = more; *line; line += line[0] == '\n') {
        size_t length = strcspn(line, "\n");
        put(&list, line, length);
        line += length;
    }
    pdnn_str_finish(&setting);
    list.variables[list.count] = NULL;
    return list.variables;
}
