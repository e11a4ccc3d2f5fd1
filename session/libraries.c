#define _GNU_SOURCE /* get_current_dir_name */
/* The builds that a session's tasks run with: each is asked for by starting a worker that loads it. */
#include "session/session.h"

#include "base/rng.h"
#include "gen/yaml/document.h"
#include "models/param.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the dynamic linker does not take for a part of a directory's name. */
static const char path_marks[] = ":;$\n";

struct pdnn_worker_kind pdnn_session_kind(const struct pdnn_session *session, size_t task) {
    return pdnn_worker_kind_of(&session->tasks[task].instance, &session->libraries);
}

static enum pdnn_status find_directory(struct pdnn_session *session, const char *written,
                                       const char **directory, struct pdnn_err *err) {
    char *here = get_current_dir_name();
    char *made = *written == '/' ? pdnn_arena_strdup(&session->arena, written)
                                 : pdnn_arena_printf(&session->arena, "%s/%s", here ? here : "", written);
    struct stat info;
    free(here);
    for (size_t length = strlen(made); length > 1 && made[length - 1] == '/';)
        made[--length] = 0;
    *directory = made;
    if (stat(*directory, &info) != 0)
        return pdnn_fail(err, PDNN_INVALID, "libraries: %s: %s", written, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return pdnn_fail(err, PDNN_INVALID, "libraries: %s is not a directory, expected that of the library",
                         written);
    if (strpbrk(*directory, path_marks))
        return pdnn_fail(err, PDNN_INVALID,
                         "libraries: the dynamic linker does not take ':', ';' and '$' in %s for a part of "
                         "a directory's name: make a link to it",
                         *directory);
    return PDNN_OK;
}

/* Folds the bytes of a file; "" if it cannot be read. 40 MB take 0.04 s, and by base/sha256 0.5 s or more:
 * this is for telling builds apart, each time that a sweep starts. */
static const char *hash_file(struct pdnn_arena *arena, const char *path) {
    enum { CHUNK = 1 << 16 };
    uint64_t words[CHUNK / sizeof(uint64_t)] = {0}, hash = UINT64_C(0x9e3779b97f4a7c15);
    FILE *file = *path ? fopen(path, "re") : NULL;
    for (size_t length; file && (length = fread(words, 1, CHUNK, file)) > 0;) {
        memset((char *)words + length, 0, CHUNK - length);
        for (size_t i = 0; i < (length + sizeof *words - 1) / sizeof *words; i++) {
            const pdnn_u128 product = (pdnn_u128)(hash ^ words[i]) * UINT64_C(0xd6e8feb86659fd93);
            hash = ((uint64_t)product ^ (uint64_t)(product >> 64)) + i;
        }
        hash += length;
    }
    const bool is_read = file && !ferror(file);
    if (file)
        fclose(file);
    return is_read ? pdnn_arena_printf(arena, "%016" PRIx64, hash) : "";
}

/* Starts a worker that loads the library, NULL: what it does by itself, and asks what that is. */
static enum pdnn_status ask(struct pdnn_session *session, struct pdnn_library_dir *library,
                            struct pdnn_session_library *loaded, struct pdnn_err *err) {
    const struct pdnn_worker_kind kind = {.isa = PDNN_ISA_DEFAULT, .library = library};
    struct pdnn_worker worker = {0};
    struct pdnn_software *software = pdnn_arena_alloc(&session->arena, 1, sizeof *software);
    enum pdnn_status status =
        pdnn_worker_start(&worker, &session->host, kind, session->memory_limit_bytes, err);
    if (status == PDNN_OK)
        *software = *pdnn_worker_software(&worker);
    pdnn_worker_stop(&worker);
    if (status != PDNN_OK)
        return status;
    loaded->software = software;
    if (library)
        library->known = software;
    for (size_t i = 0; i < software->count; i++)
        loaded->hash[i] = hash_file(&session->arena, software->row[i].path);
    return PDNN_OK;
}

static bool is_open_with(const struct pdnn_session *session, int64_t name) {
    for (size_t i = 0; i < session->n_tasks; i++)
        if (!session->tasks[i].closed && session->tasks[i].instance.setting[PDNN_SETTING_LIBRARY] == name)
            return true;
    return false;
}

/* Whether open tasks run the backend with the library. */
static bool is_run(const struct pdnn_session *session, const char *library, const char *backend) {
    const struct pdnn_param_def *def = &pdnn_settings[PDNN_SETTING_LIBRARY];
    char name[PDNN_PARAM_TEXT];
    for (size_t i = 0; i < session->n_tasks; i++) {
        const int64_t *setting = session->tasks[i].instance.setting;
        if (!session->tasks[i].closed &&
            strcmp(pdnn_backend_names[setting[PDNN_SETTING_BACKEND]], backend) == 0 &&
            strcmp(pdnn_param_format(def, pdnn_value_of(setting[PDNN_SETTING_LIBRARY]), name), library) == 0)
            return true;
    }
    return false;
}

/* Two names for one build compare it with itself. */
static void note_same(struct pdnn_session *session) {
    for (size_t b = 1; b < session->n_loaded; b++)
        for (size_t a = 0; a < b; a++)
            for (size_t i = 0; i < session->loaded[a].software->count; i++) {
                const char *hash = session->loaded[a].hash[i],
                           *backend = session->loaded[a].software->row[i].backend;
                if (*hash && strcmp(hash, session->loaded[b].hash[i]) == 0 &&
                    is_run(session, session->loaded[a].name, backend) &&
                    is_run(session, session->loaded[b].name, backend))
                    session->hooks->note(
                        session->hooks->user,
                        pdnn_arena_printf(&session->arena,
                                          "libraries: %s and %s are the same build of %s (A/A)",
                                          session->loaded[a].name, session->loaded[b].name, backend));
            }
}

enum pdnn_status pdnn_session_load_libraries(struct pdnn_session *session, struct pdnn_err *err) {
    const struct pdnn_spec *spec = &session->spec;
    struct pdnn_library_dir *rows =
        pdnn_arena_alloc(&session->arena, PDNN_SPEC_LIBRARIES, sizeof *session->libraries.row);
    struct pdnn_session_library *loaded =
        pdnn_arena_alloc(&session->arena, PDNN_SPEC_LIBRARIES + 1, sizeof *loaded);
    char name[PDNN_NAME_LENGTH + 1];
    session->libraries.row = rows;
    session->loaded = loaded;
    for (size_t i = 0; i < spec->libraries.count; i++) {
        const struct pdnn_spec_library *of = &spec->libraries.row[i];
        struct pdnn_library_dir *row = &rows[session->libraries.count];
        if (!is_open_with(session, of->name))
            continue;
        *row = (struct pdnn_library_dir){.name = of->name};
        loaded[session->n_loaded].name = pdnn_arena_strdup(&session->arena, pdnn_name_unpack(of->name, name));
        if (find_directory(session, of->directory, &row->directory, err) != PDNN_OK ||
            ask(session, row, &loaded[session->n_loaded], err) != PDNN_OK)
            return pdnn_yaml_wrap(of->node, err);
        session->libraries.count++;
        session->n_loaded++;
    }
    if (session->n_loaded && is_open_with(session, 0)) {
        loaded[session->n_loaded].name = pdnn_settings[PDNN_SETTING_LIBRARY].word;
        if (ask(session, NULL, &loaded[session->n_loaded++], err) != PDNN_OK)
            return err->status;
    }
    note_same(session);
    return PDNN_OK;
}
