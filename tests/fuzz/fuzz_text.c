/* Text on its way to a terminal or to gnuplot: no control character is left, plain text is unchanged, and
 * quotes can be undone. */
#include "tests/fuzz/common.h"

#include "base/visible.h"
#include "results/figures/gnuplot.h"

#include <stdlib.h>
#include <string.h>

/* Whether all of it is letters. */
static bool is_visible(const char *text, size_t length) {
    for (size_t at = 0, letter; at < length; at += letter) {
        letter = pdnn_visible_letter(text + at, length - at);
        FUZZ_CHECK(letter <= length - at && letter <= 4);
        if (!letter)
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

/* gnuplot's way of reading a string in single quotes. */
static void unquote(const char *quoted, size_t length, struct pdnn_str *text) {
    FUZZ_CHECK(length >= 2 && quoted[0] == '\'' && quoted[length - 1] == '\'');
    for (size_t i = 1; i + 1 < length; i++) {
        if (quoted[i] == '\'')
            FUZZ_CHECK(i + 2 < length && quoted[++i] == '\'');
        pdnn_str_append(text, quoted + i, 1);
    }
}

static void check_quoted(const char *text) {
    struct pdnn_str quoted = {0}, inside = {0};
    pdnn_gnuplot_quote(&quoted, text);
    unquote(quoted.text, quoted.length, &inside);
    const char *read = pdnn_str_text(&inside);
    FUZZ_CHECK(is_visible(read, inside.length) && !strpbrk(read, "`\\"));
    /* A quote at the start is another letter. */
    static const char first[] = "\u2019";
    if (*text == '\'') {
        FUZZ_CHECK(strncmp(read, first, sizeof first - 1) == 0);
        read += sizeof first - 1;
        text++;
    }
    FUZZ_CHECK(strlen(read) == strlen(text));
    for (size_t i = 0; read[i]; i++)
        FUZZ_CHECK(read[i] == text[i] || read[i] == '?');
    if (is_visible(text, strlen(text)) && !strpbrk(text, "`\\"))
        FUZZ_CHECK(strcmp(read, text) == 0);
    pdnn_str_finish(&quoted);
    pdnn_str_finish(&inside);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    char *given = fuzz_bytes(bytes, length), *text = fuzz_text(bytes, length);
    check_visible(given, length);
    check_short(text);
    check_quoted(text);
    free(given);
    free(text);
    return 0;
}
