#define _GNU_SOURCE /* environ, pipe2 */
#include "session/time_left.h"

#include "base/clock.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_TEXT = 64, JOB_TEXT = 64, DIGITS_MAX = 5 };

static const uint64_t second_ns = UINT64_C(1000000000), patience_ns = UINT64_C(10000000000);

/* Reads digits, and moves *at past them. */
static bool take_number(const char **at, uint64_t *number) {
    size_t digits = strspn(*at, "0123456789");
    *number = 0;
    for (size_t i = 0; i < digits; i++)
        *number = *number * 10 + (uint64_t)(*(*at)++ - '0');
    return digits && digits <= DIGITS_MAX;
}

bool pdnn_time_left_parse(const char *text, struct pdnn_time_left *left) {
    static const char *const unlimited[] = {"UNLIMITED", "NOT_SET", "N/A"};
    uint64_t number, days = 0, seconds = 0;
    const char *at = text;
    *left = (struct pdnn_time_left){0};
    for (size_t i = 0; i < sizeof unlimited / sizeof *unlimited; i++)
        if (strcmp(text, unlimited[i]) == 0)
            return true;
    if (strchr(text, '-') && (!take_number(&at, &days) || *at++ != '-'))
        return false;
    for (int field = 0; field < 3; field++) {
        if (!take_number(&at, &number))
            return false;
        seconds = seconds * 60 + number;
        if (!*at) {
            *left = (struct pdnn_time_left){true, (days * 86400 + seconds) * second_ns, "squeue"};
            return true;
        }
        if (*at++ != ':')
            return false;
    }
    return false;
}

/* Reads the first line that comes before the deadline; "" if none does. */
static void read_line(int fd, char line[ANSWER_TEXT]) {
    uint64_t deadline_ns = pdnn_clock_ns() + patience_ns;
    size_t length = 0;
    while (length < ANSWER_TEXT - 1 && !memchr(line, '\n', length)) {
        uint64_t now_ns = pdnn_clock_ns();
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        int wait_ms = now_ns < deadline_ns ? (int)((deadline_ns - now_ns) / 1000000) : 0;
        int n_ready = poll(&ready, 1, wait_ms);
        if (n_ready < 0 && errno == EINTR)
            continue;
        ssize_t n_read = n_ready > 0 ? read(fd, line + length, ANSWER_TEXT - 1 - length) : 0;
        if (n_read <= 0)
            break;
        length += (size_t)n_read;
    }
    line[length] = 0;
    line[strcspn(line, " \n")] = 0;
}

/* The last task of an array has the array's job id, which stands for all of its tasks. */
static char *name_job(char *(*lookup)(const char *name), const char *id, char job[JOB_TEXT]) {
    const char *array = lookup("SLURM_ARRAY_JOB_ID"), *task = lookup("SLURM_ARRAY_TASK_ID");
    if (array && task)
        snprintf(job, JOB_TEXT, "%.24s_%.24s", array, task);
    else
        snprintf(job, JOB_TEXT, "%.48s", id);
    return job;
}

static enum pdnn_status ask_squeue(char job[JOB_TEXT], char answer[ANSWER_TEXT], struct pdnn_err *err) {
    static char squeue[] = "squeue", no_header[] = "-h", jobs[] = "-j", format[] = "-o", left[] = "%L";
    char *const command[] = {squeue, no_header, jobs, job, format, left, NULL};
    posix_spawn_file_actions_t actions;
    int fds[2];
    pid_t pid;
    if (pipe2(fds, O_CLOEXEC) != 0)
        return pdnn_fail(err, PDNN_IO, "cannot ask squeue: %s", strerror(errno));
    int code = posix_spawn_file_actions_init(&actions);
    if (code == 0) {
        code = posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
        if (code == 0)
            code = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        if (code == 0)
            code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (code == 0)
            code = posix_spawnp(&pid, squeue, &actions, NULL, command, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(fds[1]);
    if (code == 0) {
        read_line(fds[0], answer);
        /* It has answered or is too late. */
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    close(fds[0]);
    return code ? pdnn_fail(err, PDNN_IO, "cannot run squeue: %s", strerror(code)) : PDNN_OK;
}

enum pdnn_status pdnn_time_left(char *(*lookup)(const char *name), struct pdnn_time_left *left,
                                struct pdnn_err *err) {
    static const char end_name[] = "SLURM_JOB_END_TIME";
    const char *end = lookup(end_name), *id = lookup("SLURM_JOB_ID");
    char job[JOB_TEXT], answer[ANSWER_TEXT] = "";
    int64_t end_s;
    *left = (struct pdnn_time_left){0};
    if (end && pdnn_parse_i64(end, &end_s) && end_s > 0 && end_s < INT64_MAX / 1000) {
        int64_t left_ms = end_s * 1000 - pdnn_clock_unix_ms();
        /* A job without a limit ends in a hundred years or so. */
        if (left_ms < INT64_MAX / 1000000)
            *left = (struct pdnn_time_left){true, left_ms > 0 ? (uint64_t)left_ms * 1000000 : 0, end_name};
        return PDNN_OK;
    }
    if (!id || !*id)
        return PDNN_OK;
    if (ask_squeue(name_job(lookup, id, job), answer, err) != PDNN_OK)
        return err->status;
    if (!*answer || !pdnn_time_left_parse(answer, left))
        return pdnn_fail(err, PDNN_IO, "squeue says '%s' about job %s", answer, job);
    return PDNN_OK;
}
