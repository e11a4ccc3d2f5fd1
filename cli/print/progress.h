/* Session hooks for a terminal: warnings on stderr, a line of progress, which is a bar redrawn in place on a
 * terminal, otherwise a plain line now and then, so that logs stay readable; and the signals that end the
 * session. */
#ifndef CLI_PRINT_PROGRESS_H
#define CLI_PRINT_PROGRESS_H

#include "base/str.h"
#include "session/hooks.h"

struct pdnn_session;

struct pdnn_progress {
    size_t width;     /* of the terminal; 0: not a terminal, or one without escape sequences */
    bool color;       /* on a terminal, unless NO_COLOR is set */
    size_t cells;     /* of the bar that is on the screen; 0: there is none */
    uint64_t last_ns; /* when a line was last written; 0: never */
    bool quiet;       /* nothing is drawn or noted */
    /* A text that is printed before the first visit, borrowed: what the names of instances leave out.
     * NULL or "": none, or it was printed. */
    const char *preface;
    /* Called once, before anything is measured; has_roofs: roofs are. NULL: nothing is to be said. */
    void (*tell)(const struct pdnn_session *session, bool has_roofs);
    const struct pdnn_session *session; /* for it */
    bool has_told;
};

/* Hooks that draw with this bar, which must outlive them. */
struct pdnn_session_hooks pdnn_progress_hooks(struct pdnn_progress *bar);

/* Tells, unless it was told. What shows progress calls it first. */
void pdnn_progress_tell(struct pdnn_progress *bar, bool has_roofs);

/* The signals that end a long job, as a number that it polls: 0; 1 after SIGINT, or after any number of
 * SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU and SIGHUP, which batch systems and terminals send; one more after each
 * further SIGINT. From then on these signals no longer end the process. */
const volatile int *pdnn_interrupt_watch(void);

/* After this, a write to a pipe that nobody reads any more fails like any other: progress that cannot be
 * written is no reason to end. */
void pdnn_interrupt_survive_readers(void);

/* Prints lines on stderr, each filled to the terminal but for commands ("next: ..."), which are copied. */
void pdnn_console_say(const char *text);

/* The number of columns of the terminal behind fd, or 0 if it is not a terminal. */
size_t pdnn_terminal_width(int fd);

/* Appends "[#####     ]  50 %  detail", cut to width; the bar is dropped if it leaves no room for the
 * detail. */
void pdnn_progress_line(struct pdnn_str *out, double fraction, const char *detail, size_t width);

#endif
