/* What a session tells its caller and asks of it. Only cli/ prints, draws a bar, or handles signals. */
#ifndef SESSION_HOOKS_H
#define SESSION_HOOKS_H

#include <stddef.h>
#include <stdint.h>

struct pdnn_sweep_progress;

/* Every callback is set and is passed `user`. */
struct pdnn_session_hooks {
    void *user;
    /* A warning that stops nothing: lower case, no full stop, no newline. */
    void (*warn)(void *user, const char *text);
    /* Something to know that is as it should be, as a text like a warning's. */
    void (*note)(void *user, const char *text);
    /* Progress of the roofs, all thread counts together, the thread count being measured, and the most that
     * is left to do; a few times a second. */
    void (*roofs)(void *user, double fraction, int64_t threads, double seconds_left);
    /* Progress of the visits. */
    void (*visits)(void *user, const struct pdnn_sweep_progress *progress);
    /* Progress of other work in equal parts: "12 of 80 models compiled"; seconds left, < 0: not known. */
    void (*work)(void *user, const char *what, size_t done, size_t all, double seconds_left);
    /* The roofs, the visits or the work have ended, successfully or not. */
    void (*ended)(void *user);
    /* Called when a long job begins. Returns the counter of the user's requests to end it. */
    const volatile int *(*watch)(void *user);
};

#endif
