#define _GNU_SOURCE /* environ, pipe2 */
#include "session/batch/scheduler_client.h"

#include "base/clock.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STREAMS = 2, PIECE_BYTES = 4096, KEPT_BYTES = 1 << 16, LOOK_MS = 20 };

/* The child's stdout and stderr, in this order. */
struct pipes {
    int read_end[STREAMS], write_end[STREAMS];
};

static void close_end(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_all(struct pipes *pipes) {
    for (int i = 0; i < STREAMS; i++) {
        close_end(&pipes->read_end[i]);
        close_end(&pipes->write_end[i]);
    }
}

static int open_all(struct pipes *pipes) {
    *pipes = (struct pipes){{-1, -1}, {-1, -1}};
    for (int i = 0; i < STREAMS; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) {
            int code = errno;
            close_all(pipes);
            return code;
        }
        pipes->read_end[i] = ends[0];
        pipes->write_end[i] = ends[1];
    }
    return 0;
}

static int start(const char *const *command, const struct pipes *pipes, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code)
        return code;
    code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!code)
        code = posix_spawn_file_actions_adddup2(&actions, pipes->write_end[0], STDOUT_FILENO);
    if (!code)
        code = posix_spawn_file_actions_adddup2(&actions, pipes->write_end[1], STDERR_FILENO);
    /* posix_spawn takes char *const *, but changes nothing. */
    if (!code)
        code = posix_spawnp(pid, command[0], &actions, NULL, (char *const *)(uintptr_t)command, environ);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* Takes what is there. False at the end. */
static bool take(int fd, struct pdnn_str *text) {
    char piece[PIECE_BYTES];
    ssize_t count = read(fd, piece, sizeof piece);
    if (count < 0)
        return errno == EINTR;
    size_t room = text->length < KEPT_BYTES ? KEPT_BYTES - text->length : 0;
    pdnn_str_append(text, piece, (size_t)count < room ? (size_t)count : room);
    return count > 0;
}

/* Reads until the child has ended and nothing is left in the pipes. A child that closes them goes on, and a
 * process that it leaves behind may hold them open. False if the child is there at the deadline. */
static bool read_all(pid_t pid, struct pipes *pipes, uint64_t deadline_ns, struct pdnn_answer *answer,
                     int *ended) {
    struct pdnn_str *const texts[STREAMS] = {&answer->out, &answer->errors};
    for (bool has_ended = false;;) {
        struct pollfd ready[STREAMS];
        has_ended = has_ended || waitpid(pid, ended, WNOHANG) == pid;
        for (int i = 0; i < STREAMS; i++)
            ready[i] = (struct pollfd){.fd = pipes->read_end[i], .events = POLLIN};
        int count = poll(ready, STREAMS, has_ended ? 0 : LOOK_MS);
        bool is_late = pdnn_clock_ns() >= deadline_ns;
        if (is_late || (has_ended && count == 0))
            return has_ended;
        for (int i = 0; i < STREAMS && count > 0; i++)
            if (ready[i].fd >= 0 && ready[i].revents && !take(ready[i].fd, texts[i]))
                close_end(&pipes->read_end[i]);
    }
}

enum pdnn_status pdnn_scheduler_ask(const char *const *command, uint64_t patience_ns,
                                    struct pdnn_answer *answer, struct pdnn_err *err) {
    uint64_t deadline_ns = pdnn_clock_ns() + patience_ns;
    char patience[PDNN_UNIT_TEXT];
    struct pipes pipes;
    pid_t pid;
    int ended = 0;
    *answer = (struct pdnn_answer){0};
    int code = open_all(&pipes);
    if (code)
        return pdnn_fail(err, PDNN_IO, "cannot run %s: %s", command[0], strerror(code));
    code = start(command, &pipes, &pid);
    close_end(&pipes.write_end[0]);
    close_end(&pipes.write_end[1]);
    bool in_time = !code && read_all(pid, &pipes, deadline_ns, answer, &ended);
    close_all(&pipes);
    if (code)
        return pdnn_fail(err, PDNN_IO, "cannot run %s: %s", command[0], strerror(code));
    if (!in_time)
        kill(pid, SIGKILL);
    while (!in_time && waitpid(pid, &ended, 0) < 0 && errno == EINTR) {
    }
    answer->exit_status = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
    if (!in_time)
        return pdnn_fail(err, PDNN_IO, "%s has not ended within %s", command[0],
                         pdnn_format_ns(patience, (double)patience_ns));
    return PDNN_OK;
}

void pdnn_answer_finish(struct pdnn_answer *answer) {
    pdnn_str_finish(&answer->out);
    pdnn_str_finish(&answer->errors);
}
