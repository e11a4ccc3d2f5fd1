#define _POSIX_C_SOURCE 200809L
#include "runtime/driver/worker/worker_link.h"

#include "base/file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool pdnn_worker_hear(struct pdnn_worker_link *link) {
    char text[PDNN_LAST_WORDS_TEXT];
    ssize_t length = link->error_fd < 0 ? 0 : read(link->error_fd, text, sizeof text);
    if (length < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    if (length <= 0) {
        if (link->error_fd >= 0)
            close(link->error_fd);
        link->error_fd = -1;
        return false;
    }
    pdnn_fd_write(STDERR_FILENO, text, (size_t)length, NULL);
    size_t kept = sizeof link->last_words - (size_t)length;
    if (kept > link->last_words_length)
        kept = link->last_words_length;
    memmove(link->last_words, link->last_words + link->last_words_length - kept, kept);
    memcpy(link->last_words + kept, text, (size_t)length);
    link->last_words_length = kept + (size_t)length;
    return true;
}

bool pdnn_worker_alive(struct pdnn_worker *worker) {
    if (worker->pid && waitpid(worker->pid, NULL, WNOHANG) != 0) {
        worker->pid = 0;
        pdnn_worker_stop(worker);
    }
    return worker->pid != 0;
}

/* mpirun that is killed leaves its ranks behind. */
static void end_ranks(const struct pdnn_worker *worker) {
    enum { PATIENCE_MS = 3000 };
    const struct timespec millisecond = {.tv_nsec = 1000000};
    siginfo_t info = {.si_pid = 0};
    kill(worker->pid, SIGTERM);
    for (int i = 0; i < PATIENCE_MS && !info.si_pid; i++) {
        if (waitid(P_PID, (id_t)worker->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
            return;
        if (!info.si_pid)
            nanosleep(&millisecond, NULL);
    }
}

void pdnn_worker_stop(struct pdnn_worker *worker) {
    if (worker->pid) {
        if (worker->link && worker->link->is_ranks)
            end_ranks(worker);
        kill(worker->pid, SIGKILL);
        while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (worker->link) {
        if (worker->link->fd >= 0)
            close(worker->link->fd);
        if (worker->link->error_fd >= 0)
            close(worker->link->error_fd);
        pdnn_inbox_finish(&worker->link->inbox);
        free(worker->link->families);
        free(worker->link);
    }
    *worker = (struct pdnn_worker){.kind = worker->kind};
}
