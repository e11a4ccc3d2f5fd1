/* The script is gnuplot's standard input and the picture its standard output. Both are temporary files that
 * have lost their names before gnuplot starts. */
#define _POSIX_C_SOURCE 200809L
#include "results/figures/gnuplot.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/visible.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void pdnn_gnuplot_quote(struct pdnn_str *script, const char *text) {
    size_t length = strlen(text);
    pdnn_str_append(script, "'", 1);
    /* gnuplot takes an escaped quote at the start for an empty text. */
    if (*text == '\'') {
        pdnn_str_printf(script, "\u2019");
        text++;
        length--;
    }
    while (length) {
        size_t letter = *text == '`' || *text == '\\' ? 0 : pdnn_visible_letter(text, length);
        if (*text == '\'')
            pdnn_str_append(script, "''", 2);
        else if (letter)
            pdnn_str_append(script, text, letter);
        else
            pdnn_str_append(script, "?", 1);
        text += letter ? letter : 1;
        length -= letter ? letter : 1;
    }
    pdnn_str_append(script, "'", 1);
}

void pdnn_gnuplot_text(struct pdnn_str *script, const char *name, const char *text) {
    pdnn_str_printf(script, "%s = ", name);
    pdnn_gnuplot_quote(script, text);
    pdnn_str_append(script, "\n", 1);
}

/* A file without a name. */
static enum pdnn_status make_temporary(int *fd, struct pdnn_err *err) {
    const char *directory = getenv("TMPDIR");
    char path[PATH_MAX];
    int written =
        snprintf(path, PATH_MAX, "%s/paradnn-plot-XXXXXX", directory && *directory ? directory : "/tmp");
    if (written < 0 || written >= PATH_MAX)
        return pdnn_fail(err, PDNN_INVALID, "TMPDIR: the path is too long");
    *fd = mkstemp(path);
    if (*fd < 0)
        return pdnn_fail(err, PDNN_IO, "%s: cannot be created: %s", path, strerror(errno));
    unlink(path);
    if (fcntl(*fd, F_SETFD, FD_CLOEXEC) != 0)
        return pdnn_fail(err, PDNN_IO, "cannot start gnuplot: %s", strerror(errno));
    return PDNN_OK;
}

struct streams {
    int script, picture, message;
};

/* With "-" as its operand gnuplot would go on after an error. */
static enum pdnn_status spawn_and_wait(const struct streams *streams, int *exit_status,
                                       struct pdnn_err *err) {
    char program[] = "gnuplot", defaults[] = "-d", script[] = "/dev/stdin";
    char *const arguments[] = {program, defaults, script, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t signals;
    pid_t child;
    int code = posix_spawn_file_actions_init(&actions);
    if (code)
        return pdnn_fail(err, PDNN_IO, "cannot start gnuplot: %s", strerror(code));
    code = posix_spawn_file_actions_adddup2(&actions, streams->script, STDIN_FILENO);
    if (!code)
        code = posix_spawn_file_actions_adddup2(&actions, streams->picture, STDOUT_FILENO);
    if (!code)
        code = posix_spawn_file_actions_adddup2(&actions, streams->message, STDERR_FILENO);
    if (!code)
        code = posix_spawnattr_init(&attributes);
    if (!code) {
        /* gnuplot does not notice that a write fails; a signal ends it. */
        sigemptyset(&signals);
        sigaddset(&signals, SIGXFSZ);
        posix_spawnattr_setsigdefault(&attributes, &signals);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        code = posix_spawnp(&child, program, &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    if (code == ENOENT)
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "gnuplot is not installed; it draws the pictures (Debian package gnuplot-nox)");
    if (code)
        return pdnn_fail(err, PDNN_IO, "cannot start gnuplot: %s", strerror(code));
    while (waitpid(child, exit_status, 0) < 0) {
        if (errno != EINTR)
            return pdnn_fail(err, PDNN_IO, "cannot wait for gnuplot: %s", strerror(errno));
    }
    return PDNN_OK;
}

/* gnuplot repeats the command, marks a position below it, and says what is wrong in its last line. */
static enum pdnn_status report_failure(int message_fd, struct pdnn_err *err) {
    char message[512] = "";
    off_t end = lseek(message_fd, 0, SEEK_END), room = (off_t)sizeof message - 1;
    ssize_t length = pread(message_fd, message, sizeof message - 1, end > room ? end - room : 0);
    while (length > 0 && message[length - 1] == '\n')
        length--;
    message[length > 0 ? length : 0] = 0;
    const char *last = strrchr(message, '\n');
    return pdnn_fail(err, PDNN_IO, "gnuplot failed: %s", last ? last + 1 : message);
}

static enum pdnn_status take_picture(int fd, char **picture, size_t *length, struct pdnn_err *err) {
    struct stat info;
    size_t used = 0, size = fstat(fd, &info) == 0 ? (size_t)info.st_size : 0;
    char *bytes = size ? pdnn_alloc(size, 1) : NULL;
    if (!size)
        return pdnn_fail(err, PDNN_IO, "gnuplot drew nothing");
    while (used < size) {
        ssize_t done = pread(fd, bytes + used, size - used, (off_t)used);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            free(bytes);
            return pdnn_fail(err, PDNN_IO, "gnuplot's picture cannot be read");
        }
        used += (size_t)done;
    }
    *picture = bytes;
    *length = size;
    return PDNN_OK;
}

enum pdnn_status pdnn_gnuplot_run(const struct pdnn_str *script, char **picture, size_t *length,
                                  struct pdnn_err *err) {
    struct streams streams = {-1, -1, -1};
    int exit_status = 0, *const fds[] = {&streams.script, &streams.picture, &streams.message};
    enum { N_FDS = sizeof fds / sizeof *fds };
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < N_FDS && status == PDNN_OK; i++)
        status = make_temporary(fds[i], err);
    if (status == PDNN_OK)
        status = pdnn_fd_write(streams.script, pdnn_str_text(script), script->length, err);
    if (status == PDNN_OK)
        status = spawn_and_wait(&streams, &exit_status, err);
    if (status == PDNN_OK)
        status = exit_status ? report_failure(streams.message, err)
                             : take_picture(streams.picture, picture, length, err);
    for (size_t i = 0; i < N_FDS; i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
    }
    return status;
}
