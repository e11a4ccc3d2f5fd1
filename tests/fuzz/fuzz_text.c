/* Text on its way to a terminal or into a picture: no control character is left, plain text is unchanged, and
 * quotes can be undone. */
#include "tests/fuzz/common.h"

#include "base/visible.h"
#include "results/figures/canvas.h"

#include <stdlib.h>
#include <string.h>

/* Whether all of it is letters that somebody sees. */
static bool is_visible(const char *text, size_t length) {
    unsigned code;
    size_t hidden;
    for (size_t at = 0, letter; at < length; at += letter) {
        letter = pdnn_visible_letter(text + at, length - at);
        FUZZ_CHECK(letter <= length - at && letter <= 4);
        if (!letter || pdnn_invisible(text + at, &code, &hidden))
            return false;
    }
    return true;
}

static void check_visible(const char *text, size_t length) {
    struct pdnn_str shown = {0}, lines = {0};
    bool plain = is_visible(text, length);
    pdnn_visible_append(&shown, text, length, "");
    FUZZ_CHECK(is_visible(pdnn_str_text(&shown), shown.length));
    FUZZ_CHECK(shown.length >= length && shown.length <= 4 * length);
    FUZZ_CHECK(plain == (shown.length == length));
    FUZZ_CHECK(!plain || memcmp(pdnn_str_text(&shown), text, length) == 0);
    pdnn_visible_append(&lines, text, length, "\n");
    FUZZ_CHECK(lines.length <= shown.length);
    pdnn_str_finish(&shown);
    pdnn_str_finish(&lines);
}

static void check_short(const char *text) {
    struct pdnn_str shown = {0};
    char buffer[PDNN_VISIBLE_TEXT];
    size_t length = strlen(text);
    bool plain = is_visible(text, length);
    const char *short_text = pdnn_visible(buffer, text);
    pdnn_visible_append(&shown, text, length, "");
    FUZZ_CHECK((short_text == text) == plain);
    FUZZ_CHECK(plain || strncmp(short_text, pdnn_str_text(&shown), sizeof buffer - 1) == 0);
    pdnn_str_finish(&shown);
}

/* What a picture shows has as many letters, all visible, and is the same where all were. */
static void check_drawn(const char *text) {
    struct pdnn_canvas canvas = {.width = 100, .height = 100};
    pdnn_draw_text(&canvas, 0, 0, (struct pdnn_font){12, 0, PDNN_START, 0}, text);
    const char *shown = canvas.n_items ? canvas.item[0].text : "";
    FUZZ_CHECK(strlen(shown) == strlen(text) && is_visible(shown, strlen(shown)));
    for (size_t i = 0; shown[i]; i++)
        FUZZ_CHECK(shown[i] == text[i] || shown[i] == '?');
    if (is_visible(text, strlen(text)))
        FUZZ_CHECK(strcmp(shown, text) == 0);
    pdnn_arena_finish(&canvas.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    char *given = fuzz_bytes(bytes, length), *text = fuzz_text(bytes, length);
    check_visible(given, length);
    check_short(text);
    check_drawn(text);
    free(given);
    free(text);
    return 0;
}
