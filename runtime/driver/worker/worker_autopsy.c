#define _GNU_SOURCE /* memmem */
#include "runtime/driver/worker/worker_autopsy.h"

#include "base/memory.h"
#include "base/units.h"
#include "runtime/host/host_cgroup.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A process that has closed its files should exit at once, mpirun once it has ended all ranks and said why;
 * after this many ms it is killed. */
enum { REAP_PATIENCE_MS = 1000, REAP_RANKS_PATIENCE_MS = 20000 };

/* A worker that is killed while using more than this share of its limit counts as out of memory. */
static const double near_limit = 0.9;

/* Waits for the process to exit; true if it had to be killed. */
static bool reap(pid_t pid, int patience_ms, int *status, struct rusage *usage) {
    const struct timespec millisecond = {.tv_nsec = 1000000};
    for (int i = 0; i < patience_ms; i++) {
        if (wait4(pid, status, WNOHANG, usage) != 0)
            return false;
        nanosleep(&millisecond, NULL);
    }
    kill(pid, SIGKILL);
    while (wait4(pid, status, 0, usage) < 0 && errno == EINTR) {
    }
    return true;
}

/* What a worker, or one of several ranks, says before it ends for want of memory; NULL: it did not. */
static const char *no_memory_words(const struct pdnn_worker_link *link) {
    return memmem(link->last_words, link->last_words_length, PDNN_MEMORY_WORDS, sizeof PDNN_MEMORY_WORDS - 1);
}

/* Whether the line has words: it is no rule of mpirun's, nor what the MPI of a rank says before or after the
 * end, such as "[host][[1,1],1] Unable to find reachable pairing". */
static bool says_something(const char *line, size_t length, bool is_ranks) {
    bool found = false;
    for (size_t i = 0; i < length && (!is_ranks || *line != '['); i++)
        found = found || isalpha((unsigned char)line[i]);
    return found;
}

/* The worker's last line of output, made printable; of ranks, what one says of itself, or the last lines of
 * mpirun, which breaks them, with nothing between; "" if there is none. */
static void last_line(const struct pdnn_worker_link *link, char text[PDNN_LAST_WORDS_TEXT + 1]) {
    static const char mark[] = "paradnn-worker-mpi: "; /* before what a rank says of itself */
    const char *words = link->last_words, *stop = words + link->last_words_length, *next;
    const char *own = link->is_ranks ? memmem(words, link->last_words_length, mark, sizeof mark - 1) : NULL;
    if (link->is_ranks && !own)
        own = no_memory_words(link);
    const char *start = words, *end = words;
    bool goes_on = false;
    for (const char *line = own ? own : words; line < stop && !(own && goes_on); line = next) {
        const char *newline = memchr(line, '\n', (size_t)(stop - line));
        next = newline ? newline + 1 : stop;
        bool says = says_something(line, (size_t)(next - line), link->is_ranks);
        if (says) {
            start = goes_on && link->is_ranks ? start : line;
            end = next;
        }
        goes_on = says;
    }
    while (end > start && isspace((unsigned char)end[-1]))
        end--;
    for (; start < end; start++)
        *text++ = isprint((unsigned char)*start) ? *start : ' ';
    *text = 0;
}

/* The out-of-memory killer sends SIGKILL and shows only in the kernel's counters. The control group's own one
 * is proof; the machine's may be missing, or count somebody else's processes, so without the former, being
 * close to the limit counts as evidence too. */
static bool ran_out_of_memory(const struct pdnn_worker_link *link, int status, const struct rusage *usage) {
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        return false;
    const struct pdnn_oom_kills now = pdnn_oom_kills_read("");
    bool has_risen = now.count > link->oom_kills.count;
    if (now.of_group && link->oom_kills.of_group)
        return has_risen;
    double resident_bytes = 1024.0 * (double)usage->ru_maxrss;
    bool near = link->memory_limit_bytes && resident_bytes >= near_limit * (double)link->memory_limit_bytes;
    return near || has_risen;
}

void pdnn_worker_bury(struct pdnn_worker *worker, struct pdnn_fate *fate) {
    int status = 0;
    struct rusage usage = {0};
    char words[PDNN_LAST_WORDS_TEXT + 1], bytes[PDNN_UNIT_TEXT], cause[96];
    bool killed = reap(worker->pid, worker->link->is_ranks ? REAP_RANKS_PATIENCE_MS : REAP_PATIENCE_MS,
                       &status, &usage);
    while (pdnn_worker_hear(worker->link)) {
    }
    fate->outcome = no_memory_words(worker->link) ? PDNN_OUTCOME_OOM : PDNN_OUTCOME_CRASH;
    if (killed) {
        snprintf(cause, sizeof cause, "closed its connection and hung");
    } else if (ran_out_of_memory(worker->link, status, &usage)) {
        fate->outcome = PDNN_OUTCOME_OOM;
        snprintf(cause, sizeof cause, "ran out of memory and was killed, with %s in use",
                 pdnn_format_bytes(bytes, 1024.0 * (double)usage.ru_maxrss));
    } else if (WIFSIGNALED(status)) {
        snprintf(cause, sizeof cause, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else {
        snprintf(cause, sizeof cause, "exited with status %d", WEXITSTATUS(status));
    }
    last_line(worker->link, words);
    snprintf(fate->reason, sizeof fate->reason, "%.90s%s%.150s",
             worker->link->is_ranks && *words ? "" : cause, *words && !worker->link->is_ranks ? ": " : "",
             words);
    worker->pid = 0;
    pdnn_worker_stop(worker);
}
