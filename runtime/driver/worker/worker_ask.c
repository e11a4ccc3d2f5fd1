#define _POSIX_C_SOURCE 200809L
#include "runtime/driver/worker/worker_ask.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "models/zoo/catalog.h"
#include "models/zoo/transport.h"
#include "runtime/driver/worker/worker_link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/* Often enough for a progress line and for *stop, rarely enough not to disturb the measured cores. */
enum { POLL_MS = 100 };

/* How long the current request may still take after the first signal, unless the caller says so. */
static const uint64_t usual_grace_ns = 1000000000;

/* The most that one turn of the waiting loop counts. A turn takes longer only while this process is stopped,
 * as by ^Z or a batch system, and then the worker is stopped too. */
static const uint64_t turn_ns = 1000000000;

enum ending { ENDING_MESSAGE, ENDING_CLOSED, ENDING_GARBLED, ENDING_TIMEOUT, ENDING_STOP, ENDING_FAILURE };

/* Waits briefly for anything from the worker and reads it. */
static enum pdnn_status listen_once(struct pdnn_worker_link *link, bool *closed, struct pdnn_err *err) {
    /* poll() skips negative descriptors. */
    struct pollfd fds[] = {{.fd = link->fd, .events = POLLIN}, {.fd = link->error_fd, .events = POLLIN}};
    int ready = poll(fds, 2, POLL_MS);
    if (ready < 0 && errno != EINTR)
        return pdnn_fail(err, PDNN_IO, "cannot wait for the worker: %s", strerror(errno));
    if (ready <= 0)
        return PDNN_OK;
    if (fds[1].revents)
        pdnn_worker_hear(link);
    return fds[0].revents ? pdnn_inbox_receive(&link->inbox, link->fd, closed, err) : PDNN_OK;
}

/* False once nothing is left. */
static bool take_turn(uint64_t *left_ns, uint64_t took_ns) {
    uint64_t counted_ns = took_ns < turn_ns ? took_ns : turn_ns;
    *left_ns = *left_ns > counted_ns ? *left_ns - counted_ns : 0;
    return *left_ns > 0;
}

/* Whatever would not end within the grace is dropped at once, so that the rest of the grace is not wasted. */
static uint64_t latest_end_ns(const struct pdnn_watch *watch, uint64_t begun_ns, uint64_t now_ns) {
    uint64_t grace_ns = watch->grace_ns ? watch->grace_ns : usual_grace_ns;
    uint64_t spent_ns = now_ns - begun_ns;
    bool fits = watch->expected_ns <= spent_ns || watch->expected_ns - spent_ns <= grace_ns;
    return fits ? now_ns + grace_ns : now_ns;
}

static enum ending await(struct pdnn_worker_link *link, const struct pdnn_watch *watch, uint64_t *left_ns,
                         struct pdnn_message *message, struct pdnn_err *err) {
    uint64_t stop_ns = UINT64_MAX, begun_ns = pdnn_clock_ns(), last_ns = begun_ns;
    bool closed = false;
    for (;;) {
        enum pdnn_inbox_state state = pdnn_inbox_next(&link->inbox, message);
        if (state != PDNN_INBOX_PARTIAL)
            return state == PDNN_INBOX_MESSAGE ? ENDING_MESSAGE : ENDING_GARBLED;
        if (closed)
            return ENDING_CLOSED;
        uint64_t now_ns = pdnn_clock_ns();
        int stop = watch->stop ? *watch->stop : 0;
        if (stop && stop_ns == UINT64_MAX)
            stop_ns = latest_end_ns(watch, begun_ns, now_ns);
        bool is_late = watch->deadline_ns && now_ns >= watch->deadline_ns;
        if (stop > 1 || now_ns >= stop_ns || is_late)
            return ENDING_STOP;
        if (watch->time_limit_ns && !take_turn(left_ns, now_ns - last_ns))
            return ENDING_TIMEOUT;
        last_ns = now_ns;
        if (watch->tick)
            watch->tick(watch->user);
        if (listen_once(link, &closed, err) != PDNN_OK)
            return ENDING_FAILURE;
    }
}

/* The request got no answer: stops the worker and sets *fate to the reason. */
static enum pdnn_status give_up(struct pdnn_worker *worker, enum ending ending,
                                const struct pdnn_watch *watch, struct pdnn_fate *fate,
                                struct pdnn_err *err) {
    char text[PDNN_UNIT_TEXT];
    bool is_ranks = worker->link->is_ranks;
    if (ending == ENDING_CLOSED) {
        pdnn_worker_bury(worker, fate);
        return PDNN_OK;
    }
    pdnn_worker_stop(worker);
    switch (ending) {
    case ENDING_TIMEOUT:
        fate->outcome = PDNN_OUTCOME_TIMEOUT;
        snprintf(fate->reason, sizeof fate->reason, "took longer than the limit of %s%s",
                 pdnn_format_ns(text, (double)watch->time_limit_ns),
                 is_ranks ? ", or the ranks no longer reach each other" : "");
        return PDNN_OK;
    case ENDING_STOP:
        return pdnn_fail(err, PDNN_INTERRUPTED, "interrupted");
    case ENDING_FAILURE:
        return err ? err->status : PDNN_INTERNAL;
    default:
        fate->outcome = PDNN_OUTCOME_CRASH;
        snprintf(fate->reason, sizeof fate->reason, "the worker's answer was garbled");
        return PDNN_OK;
    }
}

enum pdnn_status pdnn_worker_ask(struct pdnn_worker *worker, enum pdnn_message_kind kind,
                                 const struct pdnn_part *body, const struct pdnn_watch *watch,
                                 struct pdnn_message *answer, struct pdnn_fate *fate, struct pdnn_err *err) {
    struct pdnn_worker_link *link = worker->link;
    uint64_t left_ns = watch->time_limit_ns;
    *fate = (struct pdnn_fate){.outcome = PDNN_OUTCOME_OK};
    /* A rank's last line may come while rank 0 still answers; the next request shows that the rank has ended.
     */
    if (!link->is_ranks)
        link->last_words_length = 0;
    link->oom_kills = pdnn_oom_kills_read("");
    if (pdnn_message_send(link->fd, kind, body, 1, NULL) != PDNN_OK)
        return give_up(worker, ENDING_CLOSED, watch, fate, err);
    for (;;) {
        enum ending ending = await(link, watch, &left_ns, answer, err);
        if (ending != ENDING_MESSAGE)
            return give_up(worker, ending, watch, fate, err);
        if (answer->kind == PDNN_MESSAGE_FAILED && answer->body_bytes == sizeof(struct pdnn_err))
            return PDNN_OK;
        if (answer->kind == kind)
            return PDNN_OK;
        if (answer->kind != PDNN_MESSAGE_PROGRESS || answer->body_bytes != sizeof(double))
            return give_up(worker, ENDING_GARBLED, watch, fate, err);
        if (watch->progress) {
            double fraction;
            memcpy(&fraction, answer->body, sizeof fraction);
            watch->progress(watch->user, fraction);
        }
    }
}

/* NULL without an id, or if it names none that is known here, which the worker will say. */
static const struct pdnn_family_def *family_of(const char *id) {
    char name[PDNN_FAMILY_TEXT];
    const size_t length = id ? strcspn(id, "/:,") : sizeof name;
    if (length >= sizeof name)
        return NULL;
    memcpy(name, id, length);
    name[length] = 0;
    return pdnn_family_find(name);
}

static bool has_family(const struct pdnn_worker_link *link, const struct pdnn_family_def *family) {
    for (size_t i = 0; i < link->n_families; i++)
        if (link->families[i] == family)
            return true;
    return false;
}

static void note_family(struct pdnn_worker_link *link, const struct pdnn_family_def *family) {
    link->families =
        pdnn_grow(link->families, &link->families_room, link->n_families, sizeof *link->families);
    link->families[link->n_families++] = family;
}

enum pdnn_status pdnn_worker_ask_about(struct pdnn_worker *worker, const char *id,
                                       enum pdnn_message_kind kind, const struct pdnn_part *body,
                                       const struct pdnn_watch *watch, struct pdnn_message *answer,
                                       struct pdnn_fate *fate, struct pdnn_err *err) {
    const struct pdnn_family_def *family = family_of(id);
    struct pdnn_str packed = {0};
    if (!family || has_family(worker->link, family))
        return pdnn_worker_ask(worker, kind, body, watch, answer, fate, err);
    pdnn_family_pack(family, &packed);
    const struct pdnn_part part = {packed.text, packed.length};
    enum pdnn_status status = pdnn_worker_ask(worker, PDNN_MESSAGE_FAMILY, &part, watch, answer, fate, err);
    pdnn_str_finish(&packed);
    if (status != PDNN_OK || fate->outcome != PDNN_OUTCOME_OK || answer->kind != PDNN_MESSAGE_FAMILY)
        return status;
    note_family(worker->link, family);
    return pdnn_worker_ask(worker, kind, body, watch, answer, fate, err);
}
