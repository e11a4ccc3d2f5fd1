#include "gen/record.h"

#include "base/str.h"
#include "gen/yaml/emit.h"

#include <string.h>

/* One line, whatever the text contains. */
static void append_comment(struct pdnn_str *out, const char *what, const char *text) {
    pdnn_str_printf(out, "# %s", what);
    for (; *text; text++)
        pdnn_str_append(out, (unsigned char)*text < ' ' ? " " : text, 1);
    pdnn_str_append(out, "\n", 1);
}

/* Appends copies of a map's values to another map: all but one key, or only that key. */
static void copy_values(const struct pdnn_yaml *from, const char *key, bool only, struct pdnn_arena *arena,
                        struct pdnn_yaml *map) {
    for (const struct pdnn_yaml *child = from ? from->first : NULL; child; child = child->next) {
        if ((strcmp(child->key->text, key) == 0) != only)
            continue;
        struct pdnn_yaml *copy = pdnn_arena_alloc(arena, 1, sizeof *copy);
        *copy = *child;
        copy->next = NULL;
        pdnn_yaml_append(map, copy);
    }
}

/* The first document with the governor's name, seed, measure and limits; `measure: cache` is a run setting
 * and stays. */
static const struct pdnn_yaml *govern(const struct pdnn_yaml *first, const struct pdnn_yaml *governor,
                                      struct pdnn_arena *arena) {
    static const char *const governed[] = {"sweep", "seed", "limits", "seqpoint", "dataset", "libraries"};
    static const char *const own[] = {"run", "families", "models"};
    struct pdnn_yaml *root = pdnn_arena_alloc(arena, 1, sizeof *root);
    struct pdnn_yaml *measure = pdnn_arena_alloc(arena, 1, sizeof *measure);
    struct pdnn_yaml *key = pdnn_arena_alloc(arena, 1, sizeof *key);
    root->kind = measure->kind = PDNN_YAML_MAP;
    root->text = measure->text = "";
    key->text = "measure";
    measure->key = key;
    copy_values(pdnn_yaml_find(governor, "measure"), "cache", false, arena, measure);
    copy_values(pdnn_yaml_find(first, "measure"), "cache", true, arena, measure);
    struct pdnn_yaml holder = {.kind = PDNN_YAML_MAP, .first = measure, .last = measure, .count = 1};
    for (size_t i = 0; i < sizeof governed / sizeof *governed; i++)
        copy_values(governor, governed[i], true, arena, root);
    if (measure->count)
        copy_values(&holder, "measure", true, arena, root);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        copy_values(first, own[i], true, arena, root);
    return root;
}

static enum pdnn_status emit(const struct pdnn_origin *origin, struct pdnn_arena *arena, struct pdnn_str *out,
                             struct pdnn_err *err) {
    const struct pdnn_yaml **roots = pdnn_arena_alloc(arena, origin->n_roots, sizeof *roots);
    for (size_t i = 0; i < origin->n_roots; i++)
        roots[i] = origin->roots[i];
    if (origin->governor)
        roots[0] = govern(roots[0], roots[origin->governor], arena);
    return pdnn_yaml_emit(roots, origin->n_roots, out, err);
}

enum pdnn_status pdnn_origin_record(const struct pdnn_origin *origin, struct pdnn_arena *arena,
                                    const char **text, struct pdnn_err *err) {
    struct pdnn_str out = {0};
    pdnn_str_printf(&out, "# What was run, overrides included; it came from\n");
    for (size_t i = 0; i < origin->n_sources; i++)
        append_comment(&out, "  ", origin->sources[i].name);
    for (size_t i = 0; i < origin->n_sets; i++)
        append_comment(&out, "  --set ", origin->sets[i]);
    enum pdnn_status status = emit(origin, arena, &out, err);
    if (status == PDNN_OK)
        *text = pdnn_arena_strdup(arena, out.text);
    pdnn_str_finish(&out);
    return status;
}
