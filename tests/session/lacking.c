/* Preloaded into a driver: LACKS="CALL ERRNO" makes that call fail, as on a file system without what it does.
 */
#define _GNU_SOURCE
#include "tests/session/preloaded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

static int lacks(const char *call) {
    char name[16];
    int cause;
    const char *variable = getenv("LACKS");
    if (!variable || sscanf(variable, "%15s %d", name, &cause) != 2 || strcmp(name, call) != 0)
        return 0;
    errno = cause;
    return 1;
}

/* Under a name of its own, since test_leases.c has one, too. */
int lacking_linkat(int from, const char *name, int to, const char *other, int flags) __asm__("linkat");

int lacking_linkat(int from, const char *name, int to, const char *other, int flags) {
    return lacks("linkat") ? -1 : (int)syscall(SYS_linkat, from, name, to, other, flags);
}

int flock(int fd, int operation) {
    return lacks("flock") ? -1 : (int)syscall(SYS_flock, fd, operation);
}
