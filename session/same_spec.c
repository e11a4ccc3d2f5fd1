#include "session/same_spec.h"

#include <stdio.h>
#include <string.h>

static const char *skip_comments(const char *line) {
    while (*line == '#' || *line == '\n') {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return line;
}

bool pdnn_spec_differs(const char *one, const char *other, char one_line[PDNN_SPEC_LINE_TEXT],
                       char other_line[PDNN_SPEC_LINE_TEXT]) {
    one = skip_comments(one);
    for (other = skip_comments(other); *one || *other;
         one = skip_comments(one), other = skip_comments(other)) {
        size_t length = strcspn(one, "\n"), other_length = strcspn(other, "\n");
        if (length != other_length || memcmp(one, other, length) != 0) {
            snprintf(one_line, PDNN_SPEC_LINE_TEXT, "%.*s", (int)length, one);
            snprintf(other_line, PDNN_SPEC_LINE_TEXT, "%.*s", (int)other_length, other);
            return true;
        }
        one += length;
        other += other_length;
    }
    return false;
}
