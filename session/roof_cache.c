#include "session/roof_cache.h"

#include "base/memory.h"
#include "results/store/tables.h"

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

/* Both probes, as rows have them, are within this of those beside the roofs, as a ratio to the smaller one.
 */
static const double margin = 0.15;

/* What kept roofs are looked for. */
struct search {
    const struct pdnn_roofs_job *job;
    struct pdnn_str libraries;           /* those of the job, whose versions kept roofs must have */
    struct pdnn_kept file;               /* of the job's context */
    struct pdnn_ceilings *entry, *found; /* the one just read; the longest, then newest, that agrees */
    struct pdnn_ceilings *probes;        /* of this moment */
    bool has_kept, has_probed;           /* probes run only if there are roofs that may do */
    double seconds;                      /* that *found took */
    double differs;                      /* by how much, for *found or for the one that differs least */
    enum pdnn_status status;
    struct pdnn_err *err;
};

static const struct pdnn_ceiling *find_probe(const struct pdnn_ceilings *ceilings, const char *pattern) {
    for (size_t i = 0; i < ceilings->count; i++) {
        const struct pdnn_ceiling *row = &ceilings->row[i];
        if (strcmp(row->kind, "probe") == 0 && strcmp(row->pattern, pattern) == 0)
            return row;
    }
    return NULL;
}

/* How far the probes of two moments are apart, as a ratio minus 1; INFINITY if one of them is missing. */
static double difference(const struct pdnn_ceilings *one, const struct pdnn_ceilings *other) {
    static const char *const patterns[] = {"fma", "read"};
    double most = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const struct pdnn_ceiling *a = find_probe(one, patterns[i]), *b = find_probe(other, patterns[i]);
        if (!a || !b || !(a->value > 0) || !(b->value > 0))
            return INFINITY;
        most = fmax(most, fmax(a->value / b->value, b->value / a->value) - 1);
    }
    return most;
}

static void exchange(char *text, char from, char to) {
    for (char *at = text; (at = strchr(at, from)) != NULL; at++)
        *at = to;
}

/* Reads the table of an entry, whose rows must all be for the job's thread count. */
static bool read_table(const struct search *search, const char *table) {
    char *text = pdnn_strdup(table);
    struct pdnn_ceilings *entry = search->entry;
    exchange(text, '\t', '\n');
    bool is_good =
        pdnn_ceilings_parse("kept", text, strlen(text), NULL, entry, NULL) == PDNN_OK && entry->count;
    for (size_t i = 0; is_good && i < entry->count; i++)
        is_good = entry->row[i].threads == search->job->context.threads;
    free(text);
    return is_good;
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
    if ((size_t)(table - text - at) != search->libraries.length + 1 ||
        memcmp(text + at + 1, pdnn_str_text(&search->libraries), search->libraries.length) != 0)
        return;
    search->has_kept = true;
    if (age_ms < 0 || age_ms > age_max_ms || !(seconds >= job->seconds) || !read_table(search, table + 1))
        return;
    if (!search->has_probed)
        search->status = job->measure(job->user, 0, search->probes, search->err);
    search->has_probed = true;
    const double differs = difference(search->entry, search->probes);
    const bool agrees = search->status == PDNN_OK && differs <= margin;
    if (search->found->count && (!agrees || seconds < search->seconds))
        return;
    search->differs = agrees ? differs : fmin(differs, search->differs);
    if (!agrees)
        return;
    search->seconds = seconds;
    *search->found = *search->entry;
}

static enum pdnn_status append(struct pdnn_ceilings *ceilings, const struct pdnn_ceilings *rows,
                               struct pdnn_err *err) {
    if (rows->count > PDNN_CEILINGS_MAX - ceilings->count)
        return pdnn_fail(err, PDNN_OVERFLOW, "more than %d ceilings", PDNN_CEILINGS_MAX);
    memcpy(ceilings->row + ceilings->count, rows->row, rows->count * sizeof *rows->row);
    ceilings->count += rows->count;
    return PDNN_OK;
}

static void append_note(const struct search *search, bool is_kept, struct pdnn_str *note) {
    const int64_t threads = search->job->context.threads;
    char utc[PDNN_UTC_TEXT];
    if (!search->has_kept)
        return;
    pdnn_str_printf(note, "roofs for %" PRId64 " thread%s: ", threads, threads == 1 ? "" : "s");
    if (is_kept)
        pdnn_str_printf(note, "those of %.16sZ, confirmed by probes within %.0f %%",
                        pdnn_utc_format(search->found->row[0].measured_unix_ms, utc), 100 * search->differs);
    else if (search->has_probed)
        pdnn_str_printf(note,
                        "measured, since the probes differ by %.0f %% from those beside the kept ones, more "
                        "than %.0f %%",
                        100 * search->differs, 100 * margin);
    else
        pdnn_str_printf(note, "measured, since those kept are more than a day old or were measured in less "
                              "time");
}

/* Adds what was measured to the file. */
static void keep(const struct search *search) {
    struct pdnn_str table = {0}, entry = {0};
    pdnn_ceilings_format(search->found, &table);
    exchange(table.text, '\n', '\t');
    pdnn_str_printf(&entry, "%" PRId64 " %.17g %s\t%s", search->found->row[0].measured_unix_ms,
                    search->job->seconds, pdnn_str_text(&search->libraries), table.text);
    pdnn_kept_add(&search->file, entry.text);
    pdnn_str_finish(&table);
    pdnn_str_finish(&entry);
}

/* Confirms what was found, or measures it. */
static void settle(struct search *search, struct pdnn_str *note) {
    const struct pdnn_roofs_job *job = search->job;
    struct pdnn_ceilings *rows = search->found;
    const bool is_kept = rows->count;
    if (!is_kept && search->status == PDNN_OK)
        search->status = job->measure(job->user, job->seconds, rows, search->err);
    if (search->status != PDNN_OK)
        return;
    for (size_t i = 0; i < rows->count; i++)
        *(is_kept ? &rows->row[i].checked_unix_ms : &rows->row[i].measured_unix_ms) = job->now_unix_ms;
    if (!is_kept && rows->count)
        keep(search);
    append_note(search, is_kept, note);
}

enum pdnn_status pdnn_roof_cache_get(const struct pdnn_roofs_job *job, struct pdnn_ceilings *ceilings,
                                     struct pdnn_str *note, struct pdnn_err *err) {
    struct search search = {.job = job, .differs = INFINITY, .err = err};
    struct pdnn_str context = {0};
    search.entry = pdnn_alloc(3, sizeof *search.entry);
    search.found = search.entry + 1;
    search.probes = search.entry + 2;
    for (size_t i = 0; i < job->software->count; i++)
        pdnn_str_printf(&search.libraries, "%s%s", i ? ", " : "", job->software->row[i].version);
    pdnn_roof_cache_context(job, &context);
    pdnn_kept_open(&search.file, job->directory, "roofs", context.text);
    pdnn_str_finish(&context);
    if (!job->must_measure)
        pdnn_kept_read(&search.file, consider, &search);
    settle(&search, note);
    if (search.status == PDNN_OK)
        search.status = append(ceilings, search.found, err);
    pdnn_str_finish(&search.libraries);
    free(search.entry);
    return search.status;
}
