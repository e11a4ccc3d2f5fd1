#include "session/roof_cache.h"

#include "base/memory.h"
#include "base/stats.h"
#include "results/store/tables.h"
#include "runtime/protocol/visit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pdnn_roof_cache_context(const struct pdnn_roofs_job *job, struct pdnn_str *out) {
    const struct pdnn_host *host = job->context.host;
    struct pdnn_environment_key context = job->context;
    int magnitude = 0;
    context.library = "";
    /* The ladder and the products are sized by the memory that is free, which is never the same twice: to a
     * power of two, it is. */
    for (uint64_t bytes = host->memory_limit_bytes; bytes > 1; bytes /= 2)
        magnitude++;
    pdnn_environment_key_format(&context, out);
    pdnn_str_printf(out, "; host %s; %s; governor %s; memory %" PRIu64 " usable 2^%d", host->name,
                    host->kernel, host->governor, host->memory_bytes, magnitude);
}

/* Older ones are measured again. Probes see the cores and the memory, and not what a neighbour does to a
 * shared cache. */
static const int64_t age_max_ms = INT64_C(24) * 3600 * 1000;

/* Both probes, as rows have them, are within this of what they were beside the roofs, as a ratio to the
 * smaller one. */
static const double margin = 0.15;

/* What was measured at one time. */
struct measurement {
    struct pdnn_roof_row *row; /* heap */
    size_t count;
    double seconds;    /* that it took */
    double handoff_ns; /* of its probe; 0: one thread */
    int64_t unix_ms;
};

/* What kept roofs are looked for. */
struct search {
    const struct pdnn_roofs_job *job;
    struct pdnn_str libraries;     /* those of the job, whose versions kept roofs must have */
    struct pdnn_kept file;         /* of the job's context */
    struct pdnn_roof_rows *read;   /* the rows of the entry just read, of the probes, or just measured */
    struct measurement *all, here; /* those that hold; the probes of this moment */
    size_t n, n_kept;
    double *value;    /* room for one of each */
    double border_ns; /* handoffs above it are of threads far apart; INFINITY: all are of one state */
    double differs;   /* by how much the probes are outside of those kept; INFINITY: none is of the state */
    bool takes_all;   /* of whatever libraries */
    bool is_cut;      /* what was measured now has no bandwidths */
    bool has_kept, is_found; /* any at all, however old; they do */
};

static double probe_of(const struct measurement *measurement, const char *pattern) {
    for (const struct pdnn_roof_row *row = measurement->row; row < measurement->row + measurement->count;
         row++)
        if (strcmp(row->kind, "probe") == 0 && strcmp(row->pattern, pattern) == 0)
            return row->value;
    return 0;
}

static void exchange(char *text, char from, char to) {
    for (char *at = text; (at = strchr(at, from)) != NULL; at++)
        *at = to;
}

/* From search->read. */
static struct measurement measurement_of(const struct search *search, double seconds, int64_t unix_ms) {
    struct measurement made = {.count = search->read->count, .seconds = seconds, .unix_ms = unix_ms};
    made.row = pdnn_alloc(made.count + 1, sizeof *made.row);
    memcpy(made.row, search->read->row, made.count * sizeof *made.row);
    made.handoff_ns = probe_of(&made, "handoff");
    return made;
}

static void add(struct search *search, struct measurement made) {
    search->all = pdnn_resize(search->all, search->n + 1, sizeof *search->all);
    search->all[search->n++] = made;
}

/* Reads the table of an entry, whose rows must all be for the job's thread count, with both probes. */
static bool read_table(const struct search *search, const char *table) {
    char *text = pdnn_strdup(table);
    struct pdnn_roof_rows *entry = search->read;
    size_t probes = 0;
    exchange(text, '\t', '\n');
    bool is_good = pdnn_roof_rows_parse("kept", text, strlen(text), NULL, entry, NULL) == PDNN_OK;
    for (size_t i = 0; is_good && i < entry->count; i++) {
        const struct pdnn_roof_row *row = &entry->row[i];
        is_good = row->threads == search->job->context.threads;
        probes += strcmp(row->kind, "probe") == 0 &&
                  (strcmp(row->pattern, "fma") == 0 || strcmp(row->pattern, "read") == 0);
    }
    free(text);
    return is_good && probes == 2;
}

/* An entry is "UNIX_MS SECONDS LIBRARIES<tab>TABLE"; TABLE is a ceilings.csv with tabs for line breaks. */
static void consider(void *user, const char *text) {
    struct search *search = user;
    const struct pdnn_roofs_job *job = search->job;
    long long measured_ms;
    double seconds;
    int at = 0;
    sscanf(text, "%lld %lf%n", &measured_ms, &seconds, &at);
    const char *table = strchr(text + at, '\t');
    if (!at || text[at] != ' ' || !table)
        return;
    const int64_t age_ms = job->now_unix_ms - measured_ms;
    if (!search->takes_all &&
        ((size_t)(table - text - at) != search->libraries.length + 1 ||
         memcmp(text + at + 1, pdnn_str_text(&search->libraries), search->libraries.length) != 0))
        return;
    search->has_kept = true;
    if (age_ms >= 0 && age_ms <= age_max_ms && seconds >= job->seconds && read_table(search, table + 1))
        add(search, measurement_of(search, seconds, measured_ms));
}

static bool is_far(const struct search *search, const struct measurement *measurement) {
    return measurement->handoff_ns > search->border_ns;
}

/* Between the two states of the threads' distance, if there are two; handoff_ns is one more, or 0. */
static double border_of(const struct search *search, double handoff_ns) {
    double least = handoff_ns > 0 ? handoff_ns : INFINITY, most = handoff_ns;
    for (size_t i = 0; i < search->n; i++) {
        const double other = search->all[i].handoff_ns;
        least = other > 0 ? fmin(least, other) : least;
        most = fmax(most, other);
    }
    return pdnn_distances_differ(least, most) ? sqrt(least * most) : INFINITY;
}

/* By how much the probe is outside of what it was in the measurements of its state, as a ratio minus 1;
 * INFINITY if there is none of them. */
static double difference(const struct search *search, const char *pattern) {
    const double here = probe_of(&search->here, pattern);
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < search->n; i++) {
        if (is_far(search, &search->all[i]) != is_far(search, &search->here))
            continue;
        low = fmin(low, probe_of(&search->all[i], pattern));
        high = fmax(high, probe_of(&search->all[i], pattern));
    }
    return here > 0 && high > 0 ? fmax(fmax(low / here, here / high), 1) - 1 : INFINITY;
}

/* Whether what is kept holds for this moment. */
static enum pdnn_status probe(struct search *search, struct pdnn_err *err) {
    const struct pdnn_roofs_job *job = search->job;
    search->read->count = 0;
    const enum pdnn_status status = job->measure(job->user, 0, search->read, err);
    if (status != PDNN_OK)
        return status;
    search->here = measurement_of(search, 0, job->now_unix_ms);
    search->border_ns = border_of(search, search->here.handoff_ns);
    search->differs = fmax(difference(search, "fma"), difference(search, "read"));
    search->is_found = search->differs <= margin;
    return PDNN_OK;
}

/* Adds what is measured now to the others and, unless it was cut short, to the file. */
static enum pdnn_status measure(struct search *search, struct pdnn_err *err) {
    const struct pdnn_roofs_job *job = search->job;
    struct pdnn_str table = {0}, entry = {0};
    search->read->count = 0;
    const enum pdnn_status status = job->measure(job->user, job->seconds, search->read, err);
    if (status != PDNN_OK || !search->read->count)
        return status;
    search->is_cut = true;
    for (size_t i = 0; i < search->read->count; i++) {
        search->read->row[i].measured_unix_ms = job->now_unix_ms;
        search->is_cut = search->is_cut && strcmp(search->read->row[i].kind, "bandwidth") != 0;
    }
    add(search, measurement_of(search, job->seconds, job->now_unix_ms));
    if (search->is_cut)
        return PDNN_OK;
    pdnn_roof_rows_format(search->read, &table);
    exchange(table.text, '\n', '\t');
    pdnn_str_printf(&entry, "%" PRId64 " %.17g %s\t%s", job->now_unix_ms, job->seconds,
                    pdnn_str_text(&search->libraries), table.text);
    pdnn_kept_add(&search->file, entry.text);
    pdnn_str_finish(&table);
    pdnn_str_finish(&entry);
    return PDNN_OK;
}

static const struct pdnn_roof_row *alike(const struct measurement *in, const struct pdnn_roof_row *row) {
    const bool is_rung = strcmp(row->kind, "ladder") == 0;
    for (const struct pdnn_roof_row *at = in->row; at < in->row + in->count; at++)
        if (strcmp(at->kind, row->kind) == 0 && strcmp(at->pattern, row->pattern) == 0 &&
            strcmp(at->dtype, row->dtype) == 0 &&
            (is_rung ? at->capacity_bytes == row->capacity_bytes : strcmp(at->level, row->level) == 0))
            return at;
    return NULL;
}

/* What the measurements of one state say of a row, whose level and capacity stay. False if none has it. */
static bool join_row(const struct search *search, bool far, struct pdnn_roof_row *row) {
    double *value = search->value, *median = value + search->n;
    size_t count = 0;
    struct pdnn_roof_row made = *row;
    made.repetitions = made.measured_unix_ms = 0;
    for (size_t i = 0; i < search->n; i++) {
        const struct measurement *in = &search->all[i];
        const struct pdnn_roof_row *other = is_far(search, in) == far ? alike(in, row) : NULL;
        if (!other)
            continue;
        made.low = other->low;
        made.high = other->high;
        made.repetitions += other->repetitions;
        made.measured_unix_ms = in->unix_ms > made.measured_unix_ms ? in->unix_ms : made.measured_unix_ms;
        value[count] = other->value;
        median[count++] = other->median;
    }
    if (!count)
        return false;
    made.value = pdnn_median(value, count); /* which sorts them */
    made.median = pdnn_median(median, count);
    if (count > 1) {
        made.low = value[0];
        made.high = value[count - 1];
    }
    made.measurements = (int64_t)count;
    *row = made;
    return true;
}

/* The rows of the measurement that took longest, and of these the newest, once for each state; where a state
 * lacks one, it is the other's. */
static enum pdnn_status join(struct search *search, struct pdnn_roof_rows *roof_rows, struct pdnn_err *err) {
    const struct measurement *from = search->all;
    search->border_ns = border_of(search, 0);
    search->value = pdnn_alloc(2 * search->n, sizeof *search->value);
    for (size_t i = 1; i < search->n; i++)
        from = search->all[i].seconds >= from->seconds ? &search->all[i] : from;
    for (int far = 0; far <= isfinite(search->border_ns); far++) {
        for (size_t i = 0; i < from->count; i++) {
            struct pdnn_roof_row row = from->row[i];
            if (!join_row(search, far, &row))
                join_row(search, !far, &row);
            if (roof_rows->count == PDNN_ROOF_ROWS_MAX)
                return pdnn_fail(err, PDNN_OVERFLOW, "more than %d rows of roofs", PDNN_ROOF_ROWS_MAX);
            if (search->is_found && is_far(search, &search->here) == far)
                row.checked_unix_ms = search->job->now_unix_ms;
            if (isfinite(search->border_ns))
                snprintf(row.state, sizeof row.state, "%s", far ? PDNN_ROOF_ROW_FAR : PDNN_ROOF_ROW_NEAR);
            roof_rows->row[roof_rows->count++] = row;
        }
    }
    return PDNN_OK;
}

static void append_note(const struct search *search, struct pdnn_str *note) {
    const int64_t threads = search->job->context.threads;
    const size_t n = search->n_kept;
    char utc[PDNN_UTC_TEXT];
    if (search->job->must_measure ? !n : !search->has_kept)
        return;
    pdnn_str_printf(note, "roofs for %" PRId64 " thread%s: ", threads, threads == 1 ? "" : "s");
    if (!n)
        pdnn_str_printf(note,
                        "measured, since those kept are more than a day old or were measured in less time");
    else if (search->job->must_measure)
        pdnn_str_printf(note, "measured and joined with those kept, the last of %.16sZ",
                        pdnn_utc_format(search->all[n - 1].unix_ms, utc));
    else if (search->is_found)
        pdnn_str_printf(note, "those of %.16sZ%s, confirmed by probes within %.0f %%",
                        pdnn_utc_format(search->all[n - 1].unix_ms, utc), n > 1 ? " and before" : "",
                        100 * search->differs);
    else if (isinf(search->differs) && isfinite(search->border_ns))
        pdnn_str_printf(note,
                        "measured and joined with those kept, since the threads are %s than they were then",
                        is_far(search, &search->here) ? "farther apart" : "closer together");
    else
        pdnn_str_printf(note,
                        "measured and joined with those kept, since the probes differ by %.0f %% from those "
                        "beside them, more than %.0f %%",
                        100 * search->differs, 100 * margin);
}

static void append_short(const struct search *search, struct pdnn_str *note) {
    const int64_t threads = search->job->context.threads;
    if (!note->length)
        pdnn_str_printf(note, "roofs for %" PRId64 " thread%s: ", threads, threads == 1 ? "" : "s");
    else
        pdnn_str_printf(note, "; ");
    pdnn_str_printf(note,
                    "the machine is so busy that there was no time for bandwidths: rows are not placed, and "
                    "nothing is kept");
}

static void read_kept(struct search *search) {
    struct pdnn_str context = {0};
    search->read = pdnn_alloc(1, sizeof *search->read);
    pdnn_roof_cache_context(search->job, &context);
    pdnn_kept_open(&search->file, search->job->directory, "roofs", context.text);
    pdnn_str_finish(&context);
    pdnn_kept_read(&search->file, consider, search);
    search->n_kept = search->n;
}

static void finish(struct search *search) {
    for (size_t i = 0; i < search->n; i++)
        free(search->all[i].row);
    free(search->all);
    free(search->here.row);
    free(search->value);
    free(search->read);
    pdnn_str_finish(&search->libraries);
}

enum pdnn_status pdnn_roof_cache_get(const struct pdnn_roofs_job *job, struct pdnn_roof_rows *roof_rows,
                                     struct pdnn_str *note, struct pdnn_err *err) {
    struct search search = {.job = job, .border_ns = INFINITY};
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < job->software->count; i++)
        pdnn_str_printf(&search.libraries, "%s%s", i ? ", " : "", job->software->row[i].version);
    read_kept(&search);
    if (search.n && !job->must_measure)
        status = probe(&search, err);
    if (status == PDNN_OK)
        append_note(&search, note);
    if (status == PDNN_OK && !search.is_found)
        status = measure(&search, err);
    if (status == PDNN_OK && search.is_cut)
        append_short(&search, note);
    if (status == PDNN_OK && search.n)
        status = join(&search, roof_rows, err);
    finish(&search);
    return status;
}

void pdnn_roof_cache_recall(const struct pdnn_roofs_job *job, struct pdnn_roof_rows *ceilings) {
    struct search search = {.job = job, .takes_all = true};
    read_kept(&search);
    if (search.n)
        join(&search, ceilings, NULL);
    finish(&search);
}
