/* What a session tells whoever runs it, and asks of him: only cli/ prints, draws a bar, or handles signals.
 */
#ifndef SESSION_HOOKS_H
#define SESSION_HOOKS_H

#include <stdint.h>

struct pdnn_sweep_progress;

/* Every callback is there and is given `user`. */
struct pdnn_session_hooks {
    void *user;
    /* Something worth a line that stops nothing: lower case, no full stop, no newline. */
    void (*warn)(void *user, const char *text);
    /* How far the roofs are, all thread counts together, and the one in hand; a few times a second. */
    void (*roofs)(void *user, double fraction, int64_t threads);
    /* The same for the visits. */
    void (*visits)(void *user, const struct pdnn_sweep_progress *progress);
    /* The roofs or the visits have ended, well or not. */
    void (*ended)(void *user);
    /* A long job begins: where it is counted how often the user has asked to end it. */
    const volatile int *(*watch)(void *user);
};

#endif
