#include "results/compare/definitions.h"

#include "base/str.h"
#include "models/definition/compile.h"
#include "models/definition/text/canonical.h"
#include "models/zoo/catalog.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Appends the lines of a canonical text that another one lacks. */
static void put_lines(const char *text, const char *other, struct pdnn_str *out) {
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        bool has = false;
        for (const char *at = other; *at && !has; at += strcspn(at, "\n"), at += *at == '\n')
            has = strcspn(at, "\n") == length && strncmp(at, text, length) == 0;
        if (!has)
            pdnn_str_printf(out, " '%.*s'", (int)length, text);
    }
}

static void put_difference(const char *name, const char *other, struct pdnn_str *out) {
    const struct pdnn_family_def *of[2] = {pdnn_family_find(name), pdnn_family_find(other)};
    struct pdnn_str text[2] = {{0}};
    if (!of[0] || !of[1])
        return;
    for (int side = 0; side < 2; side++)
        pdnn_definition_write(pdnn_family_definition(of[side]), false, &text[side]);
    for (int side = 0; side < 2; side++) {
        pdnn_str_printf(out, "%s has", side ? other : name);
        put_lines(pdnn_str_text(&text[side]), pdnn_str_text(&text[!side]), out);
        pdnn_str_printf(out, "%s", side ? "" : ", ");
    }
    for (int side = 0; side < 2; side++)
        pdnn_str_finish(&text[side]);
}

const char *pdnn_definitions_differ(const struct pdnn_texts *a, const struct pdnn_texts *b,
                                    struct pdnn_arena *arena) {
    struct pdnn_str out = {0};
    for (size_t i = 0; i < a->count; i++) {
        const size_t name = strcspn(a->text[i], "@");
        for (size_t k = 0; k < b->count && a->text[i][name] && !out.length; k++)
            if (strncmp(a->text[i], b->text[k], name + 1) == 0 &&
                pdnn_texts_find(b, a->text[i]) == SIZE_MAX && pdnn_texts_find(a, b->text[k]) == SIZE_MAX)
                put_difference(a->text[i], b->text[k], &out);
    }
    const char *said = pdnn_arena_printf(arena, "%s%.500s", out.length ? "; " : "", pdnn_str_text(&out));
    pdnn_str_finish(&out);
    return said;
}
