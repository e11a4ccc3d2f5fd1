/* For modules that a test preloads into a driver: they are no part of the setup that it measures, so that the
 * driver does not see them among its variables. Programs that start one pass them on. */
#ifndef TESTS_SESSION_PRELOADED_H
#define TESTS_SESSION_PRELOADED_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void hide_from_driver(void) {
    if (strcmp(program_invocation_short_name, "paradnn") == 0)
        unsetenv("LD_PRELOAD");
}

#endif
