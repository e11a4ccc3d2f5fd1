/* Whether two spec.yaml ask for the same sweep. */
#ifndef SESSION_SAME_SPEC_H
#define SESSION_SAME_SPEC_H

#include <stdbool.h>

enum { PDNN_SPEC_LINE_TEXT = 160 };

/* Compares the texts line by line, but for comments: they say where a spec came from. If they differ, sets
 * the first lines that do, cut short. */
bool pdnn_spec_differs(const char *one, const char *other, char one_line[PDNN_SPEC_LINE_TEXT],
                       char other_line[PDNN_SPEC_LINE_TEXT]);

#endif
