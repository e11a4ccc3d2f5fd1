#include "models/zoo/transport.h"

#include "base/memory.h"
#include "models/definition/compile.h"
#include "models/definition/text/canonical.h"
#include "models/zoo/catalog.h"

#include <stdlib.h>
#include <string.h>

void pdnn_family_pack(const struct pdnn_family_def *family, struct pdnn_str *out) {
    const struct pdnn_definition *definition = pdnn_family_definition(family);
    char name[PDNN_FAMILY_TEXT];
    pdnn_str_printf(out, "%s\n", pdnn_family_format(family, name));
    pdnn_definition_write(definition, true, out);
}

/* The line is the name of the family that the text has made. */
static bool has_name(const struct pdnn_family_def *family, const char *text, size_t length) {
    char name[PDNN_FAMILY_TEXT];
    pdnn_family_format(family, name);
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

enum pdnn_status pdnn_family_unpack(const char *bytes, size_t length, struct pdnn_err *err) {
    struct pdnn_arena *arena = pdnn_alloc(1, sizeof *arena);
    const char *line_end = length ? memchr(bytes, '\n', length) : NULL;
    const struct pdnn_definition *definition;
    const struct pdnn_family_def *family;
    enum pdnn_status status = PDNN_OK;
    if (!line_end || memchr(bytes, 0, length))
        status = pdnn_fail(err, PDNN_INVALID, "not a family: no line with its name");
    const size_t name_length = line_end ? (size_t)(line_end - bytes) : 0;
    if (status == PDNN_OK)
        status = pdnn_definition_read(
            pdnn_arena_printf(arena, "%.*s", (int)(length - name_length - 1), line_end + 1), arena,
            &definition, err);
    const bool ships = status == PDNN_OK && !memchr(bytes, '@', name_length);
    if (status == PDNN_OK)
        status = pdnn_definition_family(definition, ships, arena, &family, err);
    if (status == PDNN_OK && !has_name(family, bytes, name_length))
        status = pdnn_fail(err, PDNN_INVALID, "not the family that its name says");
    if (status == PDNN_OK) {
        pdnn_catalog_add(family);
        pdnn_catalog_keep(arena);
        return PDNN_OK;
    }
    pdnn_arena_finish(arena);
    free(arena);
    return status;
}
