#include "gen/family/shipped.h"

#include "base/memory.h"
#include "gen/family/family.h"
#include "gen/family/kept.h"
#include "lists.h"
#include "models/zoo/catalog.h"
#include "models/definition/compile.h"

#include <assert.h>
#include <string.h>

#define DECLARE(name) extern const char pdnn_zoo_##name[];
PDNN_FAMILIES(DECLARE)

#define ROW(name) {#name, pdnn_zoo_##name},
static const struct pdnn_shipped_family shipped[] = {PDNN_FAMILIES(ROW){NULL, NULL}};

static const struct pdnn_family_def *read_shipped(const struct pdnn_shipped_family *family) {
    struct pdnn_arena *arena = pdnn_alloc(1, sizeof *arena);
    const struct pdnn_definition *definition;
    const struct pdnn_family_def *read = NULL;
    const char *file = pdnn_arena_printf(arena, "%s.yaml", family->name);
    enum pdnn_status status =
        pdnn_family_parse(file, family->text, strlen(family->text), arena, &definition, NULL);
    if (status == PDNN_OK)
        status = pdnn_definition_family(definition, true, arena, &read, NULL);
    assert(status == PDNN_OK);
    pdnn_catalog_keep(arena);
    return read;
}

void pdnn_families_ship(void) {
    pdnn_catalog_set_reader(pdnn_families_read);
    pdnn_catalog_ship(shipped, sizeof shipped / sizeof *shipped - 1, read_shipped);
}

const char *pdnn_family_source(const char *name) {
    for (const struct pdnn_shipped_family *row = shipped; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row->text;
    return NULL;
}
