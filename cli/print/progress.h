/* One progress line on stderr: a bar redrawn in place on a terminal, otherwise a plain line now and then, so
 * that logs stay readable. */
#ifndef CLI_PRINT_PROGRESS_H
#define CLI_PRINT_PROGRESS_H

#include "base/str.h"
#include "base/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pdnn_progress {
    FILE *stream;
    size_t width;     /* of the terminal; 0: not a terminal, or one without escape sequences */
    bool color;       /* on a terminal, unless NO_COLOR is set */
    size_t cells;     /* of the bar that is on the screen; 0: there is none */
    uint64_t last_ns; /* when a line was last written; 0: never */
    bool quiet;       /* nothing is drawn or noted */
    /* A text that is printed before the first visit, borrowed: what the names of instances leave out.
     * NULL or "": none, or it was printed. */
    const char *preface;
};

/* The number of columns of the terminal behind fd, or 0 if it is not a terminal. */
size_t pdnn_terminal_width(int fd);

void pdnn_progress_init(struct pdnn_progress *progress, FILE *stream);

/* Shows that `fraction` is done. `detail` follows the bar ("12 of 80 visits, 41 s left, fc/...") and is cut
 * to the width. Writes at most every 10 s, on a terminal every 0.1 s. */
void pdnn_progress_show(struct pdnn_progress *progress, double fraction, const char *detail);

/* The same for a driver's progress: "12 of 80 visits, 41 s left, nodes=64,batch=4". bar: a struct
 * pdnn_progress. */
struct pdnn_sweep_progress;
void pdnn_progress_show_visits(void *bar, const struct pdnn_sweep_progress *visits);

/* Wipes the bar, so that other lines can be written. */
void pdnn_progress_clear(struct pdnn_progress *progress);

/* Appends "[#####     ]  50 %  detail", cut to width; the bar is dropped if it
 * leaves no room for the detail. */
void pdnn_progress_line(struct pdnn_str *out, double fraction, const char *detail, size_t width);

#endif
