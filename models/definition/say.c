#include "models/definition/say.h"

#include <string.h>

/* Text with {expressions} in pieces. */
struct pdnn_say pdnn_say_compile(struct pdnn_compiler *c, const struct pdnn_scope *scope, const char *text,
                                 int32_t place) {
    struct pdnn_say say = {0};
    struct pdnn_say_piece *pieces = NULL;
    size_t room = 0;
    while (text && !pdnn_compiler_failed(c)) {
        size_t length = strcspn(text, "{"), inner = text[length] ? strcspn(text + length + 1, "}") : 0;
        pieces = pdnn_arena_grow(c->arena, pieces, &room, say.count, sizeof *pieces);
        struct pdnn_say_piece *piece = &pieces[say.count++];
        *piece = (struct pdnn_say_piece){.text = pdnn_arena_printf(c->arena, "%.*s", (int)length, text),
                                         .axis = -1};
        if (!text[length])
            break;
        const char *source = pdnn_arena_printf(c->arena, "%.*s", (int)inner, text + length + 1);
        piece->is_layer = strcmp(source, "layer") == 0;
        for (size_t i = 0; i < c->definition->n_axes; i++)
            if (strcmp(c->definition->axes[i].name, source) == 0)
                piece->axis = (int)i;
        if (!piece->is_layer && !(piece->term = pdnn_scope_parse(c, scope, source))) {
            struct pdnn_err why = *c->err;
            c->err->status = PDNN_OK;
            pdnn_compiler_fail(c, place, "say: '{%.60s}' does not parse: %.200s", source, why.text);
        }
        text += length + 1 + inner + (text[length + 1 + inner] == '}');
    }
    say.pieces = pieces;
    return say;
}
