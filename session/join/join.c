#define _POSIX_C_SOURCE 200809L
#include "session/join/join.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "results/store/journal.h"
#include "results/store/tables.h"
#include "runtime/protocol/standing.h"
#include "session/join/shard.h"
#include "runtime/driver/sweep/sweep_spread.h"
#include "session/predict.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum pdnn_status pdnn_join_check_alone(const char *directory, struct pdnn_err *err) {
    if (!pdnn_leases_exist(directory) || pdnn_path_has(directory, "journal.csv"))
        return PDNN_OK;
    return pdnn_fail(err, PDNN_INVALID, "%s: a joined sweep; go on with --join, or merge it first",
                     directory);
}

enum pdnn_status pdnn_join_make_directory(const char *directory, const char *text, struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT], *frozen = NULL, was[PDNN_SPEC_LINE_TEXT], is[PDNN_SPEC_LINE_TEXT];
    struct pdnn_folder folder;
    if (strlen(directory) + PDNN_PART_TEXT + sizeof "/parts/" > sizeof path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    if (pdnn_path_has(directory, "journal.csv") && !pdnn_leases_exist(directory))
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: holds a sweep that one process runs; give --join a directory of its own",
                         directory);
    if (pdnn_folder_ensure(directory, err) != PDNN_OK || pdnn_folder_open(&folder, directory, err) != PDNN_OK)
        return err->status;
    enum pdnn_status status = PDNN_OK;
    pdnn_folder_clean(&folder);
    /* Of several that try, one succeeds. */
    if (!pdnn_path_has(directory, "spec.yaml"))
        status = pdnn_leases_put(&folder, "spec.yaml", text, strlen(text), err);
    if (status == PDNN_OK || status == PDNN_BUSY)
        status = pdnn_spec_read(directory, &frozen, err);
    if (status == PDNN_OK && pdnn_spec_differs(frozen, text, was, is))
        status =
            pdnn_fail(err, PDNN_INVALID,
                      "%s/spec.yaml: has '%s' where this sweep has '%s'; all that join run one spec, use "
                      "another directory with -o",
                      directory, was, is);
    free(frozen);
    pdnn_path_join(path, directory, "parts");
    if (status == PDNN_OK)
        status = pdnn_folder_ensure(path, err);
    pdnn_folder_close(&folder);
    return status;
}

struct job {
    const struct pdnn_join_request *request;
    struct pdnn_session *session;
    struct pdnn_join_result result;
    struct pdnn_leases leases;
    struct pdnn_sweep_directory sweep; /* the part, once it has a name */
    struct pdnn_sweep_workers *workers;
    const volatile int *stop;
    struct pdnn_arena arena;     /* of the arrays, and of lists of what is done */
    struct pdnn_deal_item *item; /* by task: what all its visits are predicted to cost */
    uint32_t *leader, *next; /* by task: the first that runs of its group of paired order, which is claimed
                                whole, and the next one, in a circle; of any other task itself */
    uint32_t *order;         /* leaders in the order of claiming; NULL: not ranked yet */
    size_t n_order;
    uint32_t *unclaimed; /* of these, those that are free */
    uint32_t *candidate; /* and those that may be claimed now */
    uint32_t *claimed;   /* scratch: a batch with the groups of its leaders */
    uint64_t *candidate_us, *visit_ns;
    bool *is_late; /* by task: there was no time for it, and there will be none later */
    size_t n_candidates;
    double sample_most_ns;    /* as in struct pdnn_deal_time */
    uint64_t last_us;         /* cost of the last lease */
    size_t lease;             /* the current one */
    bool is_idle;             /* there was nothing to claim when it looked last */
    uint64_t looked_ns;       /* when it looked at other holders */
    bool time_is_up;          /* there was none for a single visit of a lease */
    bool has_late;            /* something is free that would take longer than the time left */
    struct pdnn_visits known; /* visits to the tasks of this process's leases on this host, without ops */
};

/* Whether something can be measured on this host. */
static bool is_runnable(const struct job *job, size_t task) {
    return job->session->rows[task].outcome == PDNN_OUTCOME_INTERRUPTED;
}

/* pdnn_join_make_directory has checked that there is room. Returns path. */
static const char *path_of_part(const struct job *job, const char *part, char path[PDNN_FOLDER_TEXT]) {
    snprintf(path, PDNN_FOLDER_TEXT, "%s/parts/%s", job->request->sweep.path, part);
    return path;
}

/* Whether the part is of a host of this name. */
static bool is_here(const struct job *job, const char *part) {
    char path[PDNN_FOLDER_TEXT];
    struct pdnn_str host = {0};
    pdnn_environment_get(path_of_part(job, part, path), "host", &host);
    bool is_here = host.length && strcmp(pdnn_str_text(&host), job->session->host.name) == 0;
    pdnn_str_finish(&host);
    return is_here;
}

/* Earlier parts of this host must have had its setup, or their visits could not be merged. Their roofs are
 * taken over. */
static enum pdnn_status use_earlier(struct job *job, struct pdnn_err *err) {
    const struct pdnn_sweep_request *request = &job->request->sweep;
    char path[PDNN_FOLDER_TEXT];
    pdnn_path_join(path, request->path, "parts");
    DIR *entries = opendir(path);
    enum pdnn_status status = PDNN_OK;
    for (const struct dirent *entry; entries && status == PDNN_OK && (entry = readdir(entries));) {
        if (*entry->d_name == '.' || !is_here(job, entry->d_name))
            continue;
        path_of_part(job, entry->d_name, path);
        status = pdnn_environment_check(path, request->facts, request->n_facts, err);
        if (status == PDNN_OK)
            pdnn_session_follow(job->session, path, request->facts, request->n_facts);
        if (status == PDNN_OK && !request->roofs_file && !job->session->roof_rows->count &&
            pdnn_path_has(path, "ceilings.csv"))
            status = pdnn_roof_rows_read_in(path, job->session->roof_rows, err);
    }
    if (entries)
        closedir(entries);
    return status;
}

/* Makes the part, with roofs. PDNN_INVALID if this host is not set up as it was for earlier parts. */
static enum pdnn_status make_part(struct job *job, struct pdnn_err *err) {
    struct pdnn_sweep_request request = job->request->sweep;
    char path[PDNN_FOLDER_TEXT];
    if (use_earlier(job, err) != PDNN_OK)
        return err->status;
    if (mkdir(path_of_part(job, job->leases.self.part, path), 0777) != 0)
        return pdnn_fail(err, PDNN_IO, "%s: cannot be created: %s", path, strerror(errno));
    request.path = path;
    enum pdnn_status status = pdnn_sweep_directory_open(&job->sweep, &request, err);
    if (status != PDNN_OK)
        return status;
    snprintf(job->result.part, sizeof job->result.part, "%s", job->leases.self.part);
    uint64_t began_ns = pdnn_clock_ns();
    status = pdnn_sweep_directory_roofs(&job->sweep, err);
    job->result.roofs_ns = pdnn_clock_ns() - began_ns;
    pdnn_session_predict(job->session);
    return status;
}

static bool is_wanted(const void *user, const char *id) {
    return pdnn_texts_find(user, id) != SIZE_MAX;
}

/* Adds the visits that are in the part's journal to the instances of the lease; none if it has no journal. A
 * damaged one is a warning, and its visits do not count. */
static void read_part(const struct job *job, const struct pdnn_lease *lease, struct pdnn_visits *visits) {
    char path[PDNN_FOLDER_TEXT];
    struct pdnn_err cause = {0};
    struct pdnn_texts ids = {0};
    if (!pdnn_path_has(path_of_part(job, lease->holder.part, path), "journal.csv"))
        return;
    for (size_t i = 0; i < lease->count; i++)
        pdnn_texts_add(&ids, job->session->tasks[lease->instance[i]].id);
    if (pdnn_journal_read(path, is_wanted, &ids, visits, &cause) != PDNN_OK)
        pdnn_session_warn(job->session, "%s; instances of this part are measured again", cause.text);
    pdnn_texts_finish(&ids);
}

/* Whether all of a part can be read; if not, *cause says why. What a merge took over from a part that is gone
 * is in DIR's own journal. */
static enum pdnn_status check_part(const struct job *job, const char *path, struct pdnn_err *cause) {
    struct pdnn_visits visits = {0};
    if (!pdnn_path_has(path, "journal.csv") && (errno == ENOENT || errno == ENOTDIR))
        return pdnn_path_has(job->request->sweep.path, "journal.csv")
                   ? PDNN_OK
                   : pdnn_fail(cause, PDNN_INVALID, "%s/journal.csv: is gone", path);
    enum pdnn_status status = pdnn_journal_read(path, NULL, NULL, &visits, cause);
    pdnn_visits_finish(&visits);
    return status;
}

/* Frees what leases had done whose part is damaged, or gone although DIR was never merged, with a warning per
 * part. Each part is read once; not that of a process with a lease. */
static enum pdnn_status void_damaged(struct job *job, bool *has_freed, struct pdnn_err *err) {
    struct pdnn_leases *leases = &job->leases;
    size_t n_leases = leases->count; /* voiding one may read more */
    enum pdnn_status status = PDNN_OK;
    *has_freed = false;
    for (size_t i = 0; i < n_leases && status == PDNN_OK; i++) {
        const struct pdnn_lease lease = leases->lease[i];
        const char *part = lease.holder.part;
        struct pdnn_err cause = {0};
        char path[PDNN_FOLDER_TEXT];
        bool is_in_use = strcmp(part, leases->self.part) == 0; /* a process that may be alive writes there */
        for (size_t k = 0; k < leases->count; k++)
            is_in_use = is_in_use || (leases->lease[k].state == PDNN_LEASE_HELD &&
                                      strcmp(part, leases->lease[k].holder.part) == 0);
        if (!lease.done || lease.is_checked || is_in_use)
            continue;
        const enum pdnn_status found = check_part(job, path_of_part(job, part, path), &cause);
        /* Otherwise it may be sound, and others may be able to read it. */
        const bool is_void = found == PDNN_INVALID;
        if (found != PDNN_OK)
            pdnn_session_warn(job->session, "%s%s", cause.text,
                              is_void ? "; instances of this part are measured again" : "");
        for (size_t k = i; k < n_leases && status == PDNN_OK; k++) {
            if (strcmp(leases->lease[k].holder.part, part) != 0)
                continue;
            leases->lease[k].is_checked = true;
            if (is_void && leases->lease[k].done) {
                *has_freed = true;
                status = pdnn_leases_void(leases, k, err);
            }
        }
    }
    return status;
}

/* Whether these visits are all that the task gets, and all that the others of its group do. All who join have
 * the same --allow-slow: what one of them finds is final for all. */
static bool is_done(const struct job *job, size_t task, const struct pdnn_visits *visits) {
    size_t member = task;
    do {
        const struct pdnn_instance_visits of = pdnn_visits_of(visits, job->session->tasks[member].id);
        const struct pdnn_standing standing = pdnn_standing_of(of.visit, of.count);
        if (!pdnn_standing_is_done(&standing, (size_t)job->session->spec.measure.rounds))
            return false;
        member = job->next[member];
    } while (member != task);
    return true;
}

/* Adds to the known visits those that earlier holders of the lease's instances made on this host. */
static void adopt(struct job *job) {
    const struct pdnn_leases *leases = &job->leases;
    for (size_t i = 0; i < leases->count; i++) {
        struct pdnn_lease *lease = &leases->lease[i];
        size_t shared = 0;
        while (shared < lease->count && leases->state_of[lease->instance[shared]] != (int32_t)job->lease)
            shared++;
        bool is_own = strcmp(lease->holder.part, leases->self.part) == 0;
        if (shared == lease->count || lease->state == PDNN_LEASE_HELD || lease->is_void || is_own ||
            lease->is_adopted || lease->done == lease->count)
            continue;
        lease->is_adopted = true;
        if (is_here(job, lease->holder.part))
            read_part(job, lease, &job->known);
    }
}

/* Commits a visit, unless the lease was taken away meanwhile. */
static enum pdnn_status visited(void *user, size_t task, const struct pdnn_visit *visit,
                                struct pdnn_err *err) {
    struct job *job = user;
    struct pdnn_visit plain = *visit;
    plain.ops = NULL;
    plain.n_ops = 0;
    enum pdnn_status status = pdnn_leases_read(&job->leases, err);
    pdnn_leases_beat(&job->leases);
    if (status == PDNN_OK && job->leases.lease[job->lease].state != PDNN_LEASE_HELD)
        return pdnn_fail(err, PDNN_INTERRUPTED, "the lease was taken over");
    if (status == PDNN_OK)
        status = pdnn_sweep_directory_commit(&job->sweep, task, visit, err);
    if (status == PDNN_OK)
        pdnn_visits_add(&job->known, job->session->tasks[task].id, &plain);
    return status;
}

static void progress(void *user, const struct pdnn_sweep_progress *visits) {
    struct job *job = user;
    const struct pdnn_session_hooks *hooks = job->session->hooks;
    pdnn_leases_beat(&job->leases);
    hooks->visits(hooks->user, visits);
}

/* Ends the lease; these visits say what is done. */
static enum pdnn_status end_lease(struct job *job, size_t number, const struct pdnn_visits *visits,
                                  struct pdnn_err *err) {
    const struct pdnn_lease *lease = &job->leases.lease[number];
    uint32_t *done = pdnn_arena_alloc(&job->arena, lease->count + 1, sizeof *done);
    size_t n_done = 0;
    for (size_t i = 0; i < lease->count; i++)
        if (is_done(job, lease->instance[i], visits))
            done[n_done++] = lease->instance[i];
    return pdnn_leases_end(&job->leases, number, done, n_done, err);
}

/* Tells the driver of the known visits to the task, which it returns. */
static struct pdnn_instance_visits resume(struct job *job, struct pdnn_task *task) {
    const struct pdnn_instance_visits of = pdnn_visits_of(&job->known, task->id);
    if (of.count)
        pdnn_sweep_directory_resume_task(&job->sweep, task, of.visit, of.count);
    return of;
}

/* Visits the instances of job->lease, and ends it. */
static enum pdnn_status run_batch(struct job *job, struct pdnn_err *err) {
    const struct pdnn_lease lease = job->leases.lease[job->lease];
    struct pdnn_session *session = job->session;
    const struct pdnn_sweep_rules rules = pdnn_session_rules(session);
    const struct pdnn_sweep_hooks hooks = {job, visited, progress};
    struct pdnn_sweep_result result = {0};
    struct pdnn_err ending = {0};
    adopt(job);
    for (size_t i = 0; i < session->n_tasks; i++)
        session->tasks[i].closed = true;
    for (size_t i = 0; i < lease.count; i++) {
        struct pdnn_task *task = &session->tasks[lease.instance[i]];
        task->closed = false;
        resume(job, task);
    }
    if (!job->workers)
        job->workers = pdnn_sweep_workers_create(&session->host, session->memory_limit_bytes);
    enum pdnn_status status =
        pdnn_sweep_directory_visit(&job->sweep, job->workers, &rules, &hooks, &result, err);
    job->time_is_up = !result.visits && result.out_of_time;
    pdnn_sweep_result_add(&job->result.sweep, &result);
    job->result.leases++;
    if (job->leases.lease[job->lease].state != PDNN_LEASE_HELD) {
        job->result.lost++;
        pdnn_session_warn(job->session,
                          "lease %08llu: taken over by another process, which saw no sign of "
                          "life of this one; its visits so far are kept",
                          (unsigned long long)lease.number);
        return PDNN_OK;
    }
    for (size_t i = 0; i < lease.count; i++) {
        struct pdnn_task *task = &session->tasks[lease.instance[i]];
        const struct pdnn_instance_visits of = resume(job, task); /* they say how much visits scatter */
        if (is_done(job, lease.instance[i], &job->known))
            job->result.counts[of.visit[of.count - 1].outcome]++;
        else
            job->is_late[job->leader[lease.instance[i]]] = true;
    }
    if (end_lease(job, job->lease, &job->known, &ending) != PDNN_OK &&
        (status == PDNN_OK || status == PDNN_INTERRUPTED))
        status = pdnn_fail(err, ending.status, "%s", ending.text);
    return status;
}

/* Between looks at other holders: sixty in the time of the expiry; one of this host may be gone at any. */
static uint64_t look_gap_ns(const struct job *job) {
    const uint64_t gap_ns = job->leases.plan.expiry_ns / 60, longest_ns = UINT64_C(2000000000);
    return gap_ns < longest_ns ? gap_ns : longest_ns;
}

/* The same on hosts with other numbers of threads. */
static uint64_t hash_instances(const struct pdnn_session *session) {
    uint64_t hash = session->n_tasks;
    for (size_t i = 0; i < session->n_tasks; i++) {
        struct pdnn_instance instance = session->tasks[i].instance;
        char id[PDNN_ID_TEXT];
        instance.setting[PDNN_SETTING_THREADS] = 1;
        hash = pdnn_rng_seed(hash, pdnn_instance_format(&instance, id));
    }
    return hash;
}

/* Chains the tasks of each group that run here, and adds up their costs at the first of them. */
static void chain_groups(struct job *job) {
    const struct pdnn_session *session = job->session;
    size_t numbers = 0;
    for (size_t i = 0; i < session->n_tasks; i++)
        numbers = session->tasks[i].group > numbers ? session->tasks[i].group : numbers;
    uint32_t *first = pdnn_arena_alloc(&job->arena, numbers + 1, sizeof *first); /* + 1; 0: none yet */
    for (size_t i = 0; i < session->n_tasks; i++) {
        uint32_t *known = &first[session->tasks[i].group];
        job->leader[i] = job->next[i] = (uint32_t)i;
        if (!session->tasks[i].group || !is_runnable(job, i))
            continue;
        *known = *known ? *known : (uint32_t)i + 1;
        const uint32_t leader = job->leader[i] = *known - 1;
        if (leader == i)
            continue;
        job->next[i] = job->next[leader];
        job->next[leader] = (uint32_t)i;
        job->item[leader].cost_us += job->item[i].cost_us;
    }
}

/* The longest first by predicted cost, at nominal rates, which balances the end; where a budget or a deadline
 * may come before that, a sample that is balanced wherever it ends, or what limits.reach says. */
static void rank_tasks(struct job *job) {
    const struct pdnn_session *session = job->session;
    const struct pdnn_sweep_rules rules = pdnn_session_rules(session);
    size_t n_tasks = session->n_tasks;
    job->item = pdnn_arena_alloc(&job->arena, n_tasks + 1, sizeof *job->item);
    job->leader = pdnn_arena_alloc(&job->arena, n_tasks + 1, sizeof *job->leader);
    job->next = pdnn_arena_alloc(&job->arena, n_tasks + 1, sizeof *job->next);
    job->order = pdnn_arena_alloc(&job->arena, n_tasks + 1, sizeof *job->order);
    job->unclaimed = pdnn_arena_alloc(&job->arena, n_tasks + 1, sizeof *job->unclaimed);
    job->candidate = pdnn_arena_alloc(&job->arena, n_tasks + 1, sizeof *job->candidate);
    job->claimed = pdnn_arena_alloc(&job->arena, n_tasks + 1, sizeof *job->claimed);
    job->candidate_us = pdnn_arena_alloc(&job->arena, n_tasks + 1, sizeof *job->candidate_us);
    job->visit_ns = pdnn_arena_alloc(&job->arena, n_tasks + 1, sizeof *job->visit_ns);
    job->is_late = pdnn_arena_alloc(&job->arena, n_tasks + 1, sizeof *job->is_late);
    for (size_t i = 0; i < n_tasks; i++) {
        const struct pdnn_task *task = &session->tasks[i];
        job->item[i].id = task->id;
        if (is_runnable(job, i))
            job->item[i].cost_us = pdnn_deal_cost(
                pdnn_predict(NULL, &session->spec, &task->instance, &session->rows[i].totals).total);
    }
    chain_groups(job);
    if (rules.deadline_ns)
        pdnn_sweep_begin_order(session->tasks, n_tasks, &rules, job->order);
    else
        pdnn_deal_order(job->item, n_tasks, job->order);
    for (size_t i = 0; i < n_tasks; i++)
        if (job->leader[job->order[i]] == job->order[i])
            job->order[job->n_order++] = job->order[i];
    if (rules.deadline_ns && rules.reach == PDNN_REACH_SPREAD)
        job->sample_most_ns = fmax(1e9 * pdnn_session_seconds_left(session) / PDNN_SPREAD_LEAST, 1);
}

/* What a round of the leader's group takes, and whether all of the group that runs here is free. */
static bool is_free(const struct job *job, uint32_t leader, uint64_t *round_ns) {
    uint32_t member = leader;
    bool all = is_runnable(job, leader);
    *round_ns = 0;
    do {
        *round_ns += job->session->tasks[member].visit_ns;
        all = all && job->leases.state_of[member] == PDNN_LEASE_FREE;
        member = job->next[member];
    } while (member != leader);
    return all;
}

/* Lists what is free and can be measured here, as far as at least one visit fits into the time. */
static void list_candidates(struct job *job) {
    const struct pdnn_session *session = job->session;
    const struct pdnn_deal_time time = {.left_ns = 1e9 * pdnn_session_seconds_left(session),
                                        .sample_most_ns = job->sample_most_ns,
                                        .rounds = (size_t)session->spec.measure.rounds};
    size_t count = 0;
    for (size_t i = 0; i < job->n_order; i++) {
        const uint32_t task = job->order[i];
        if (is_free(job, task, &job->visit_ns[task]))
            job->unclaimed[count++] = task;
    }
    job->n_candidates = pdnn_deal_fit(&time, job->visit_ns, job->is_late, job->unclaimed, count,
                                      job->candidate, &job->has_late);
    for (size_t i = 0; i < job->n_candidates; i++)
        job->candidate_us[i] = job->item[job->candidate[i]].cost_us;
}

/* Processes with a lease that may be alive, and this one. */
static size_t count_workers(const struct pdnn_leases *leases) {
    size_t count = 1;
    for (size_t i = 0; i < leases->count; i++)
        count += leases->lease[i].state == PDNN_LEASE_HELD && !leases->lease[i].is_stale;
    return count;
}

/* Claims the next batch; job->lease is SIZE_MAX if another process was first. */
static enum pdnn_status claim(struct job *job, struct pdnn_err *err) {
    const double left_us = 1e6 * pdnn_session_seconds_left(job->session);
    uint64_t cost_us = 0;
    size_t most =
        pdnn_deal_batch(job->candidate_us, job->n_candidates, count_workers(&job->leases), job->last_us);
    size_t count = 0;
    while (count < most && (!count || (double)(cost_us + job->candidate_us[count]) <= left_us))
        cost_us += job->candidate_us[count++];
    size_t n_claimed = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t member = job->candidate[i];
        do {
            job->claimed[n_claimed++] = member;
            member = job->next[member];
        } while (member != job->candidate[i]);
    }
    enum pdnn_status status =
        pdnn_leases_claim(&job->leases, job->claimed, n_claimed, cost_us, &job->lease, err);
    if (status == PDNN_OK && job->lease != SIZE_MAX)
        job->last_us = cost_us;
    return status;
}

/* Takes over from the dead. *waits: some holder has given no sign of life so far, and may still do so. */
static enum pdnn_status look_around(struct job *job, bool *waits, struct pdnn_err *err) {
    struct pdnn_leases *leases = &job->leases;
    uint64_t now_ns = pdnn_clock_ns();
    enum pdnn_status status = pdnn_leases_read(leases, err);
    if (!job->looked_ns || now_ns - job->looked_ns >= look_gap_ns(job)) {
        pdnn_leases_watch(leases);
        job->looked_ns = now_ns;
    }
    *waits = false;
    for (size_t i = 0; i < leases->count && status == PDNN_OK; i++) {
        if (leases->lease[i].state != PDNN_LEASE_HELD)
            continue;
        if (!leases->lease[i].is_stale) {
            *waits = *waits || !leases->lease[i].has_beaten;
            continue;
        }
        struct pdnn_visits visits = {0};
        read_part(job, &leases->lease[i], &visits);
        status = end_lease(job, i, &visits, err);
        pdnn_visits_finish(&visits);
    }
    return status;
}

static enum pdnn_status work(struct job *job, struct pdnn_err *err) {
    bool waits, has_freed;
    enum pdnn_status status = PDNN_OK;
    while (status == PDNN_OK && !job->time_is_up) {
        if (*job->stop)
            return pdnn_fail(err, PDNN_INTERRUPTED, "interrupted");
        status = look_around(job, &waits, err);
        if (status != PDNN_OK)
            break;
        list_candidates(job);
        if (!job->n_candidates && !(pdnn_session_seconds_left(job->session) > 0))
            break;
        if (!job->n_candidates && job->is_idle && !waits) {
            status = void_damaged(job, &has_freed, err);
            if (!has_freed)
                break;
            continue;
        }
        /* Waits for others. That they were alive some time ago does not count. */
        for (size_t i = 0; i < job->leases.count && !job->n_candidates && !job->is_idle; i++)
            job->leases.lease[i].has_beaten = false;
        job->is_idle = !job->n_candidates;
        if (job->is_idle) {
            const uint64_t ns = look_gap_ns(job);
            nanosleep(&(struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)}, NULL);
            continue;
        }
        if (!*job->result.part) {
            status = make_part(job, err);
            continue;
        }
        status = claim(job, err);
        if (status == PDNN_OK && job->lease != SIZE_MAX)
            status = run_batch(job, err);
    }
    return status;
}

static void sum_up(struct job *job) {
    const struct pdnn_leases *leases = &job->leases;
    struct pdnn_join_result *result = &job->result;
    result->instances = job->session->n_tasks;
    for (size_t i = 0; job->order && i < result->instances; i++) {
        bool is_free = leases->state_of[i] == PDNN_LEASE_FREE;
        result->done += leases->state_of[i] == PDNN_LEASE_DONE || (is_free && !is_runnable(job, i));
        result->free += is_free && is_runnable(job, i);
        result->held += leases->state_of[i] >= 0;
    }
    result->n_holders = count_workers(leases) - 1;
    result->sweep.out_of_time = result->sweep.out_of_time || job->has_late;
}

enum pdnn_status pdnn_join_run(const struct pdnn_join_request *request, struct pdnn_join_result *result,
                               struct pdnn_err *err) {
    struct job job = {.request = request,
                      .session = request->sweep.session,
                      .sweep.folder.fd = -1,
                      .leases = {.folder.fd = -1}};
    const struct pdnn_holder self = pdnn_holder_self(job.session->host.name);
    const struct pdnn_lease_plan plan = {.instances = job.session->n_tasks,
                                         .instances_hash = hash_instances(job.session),
                                         .expiry_ns = request->expiry_ns,
                                         .allow_slow = job.session->allow_slow};
    job.stop = pdnn_session_rules(job.session).stop;
    enum pdnn_status status = pdnn_join_make_directory(request->sweep.path, job.session->spec.text, err);
    if (status == PDNN_OK)
        status = pdnn_leases_open(&job.leases, request->sweep.path, &plan, &self, err);
    if (status == PDNN_OK) {
        pdnn_session_predict(job.session);
        rank_tasks(&job);
        status = work(&job, err);
    }
    sum_up(&job);
    *result = job.result;
    pdnn_sweep_workers_destroy(job.workers);
    pdnn_sweep_directory_close(&job.sweep);
    pdnn_leases_close(&job.leases);
    pdnn_visits_finish(&job.known);
    pdnn_arena_finish(&job.arena);
    return status;
}
