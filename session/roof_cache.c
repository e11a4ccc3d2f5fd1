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

/* An entry is "UNIX_MS SECONDS LIBRARIES<tab>TABLE"; TABLE is a ceilings.csv with tabs for line breaks. */
static bool exchange(char *text, char from, char to) {
    bool is_free_of = strchr(text, to) == NULL;
    for (char *at = text; (at = strchr(at, from)) != NULL; at++)
        *at = to;
    return is_free_of;
}

/* What kept roofs are looked for. */
struct search {
    const struct pdnn_roofs_job *job;
    const struct pdnn_ceilings *probes;  /* of this moment; NULL: is there anything to compare? */
    struct pdnn_str libraries;           /* those of the job, whose versions kept roofs must have */
    struct pdnn_ceilings *entry, *found; /* the one just read; the longest, then newest, that agrees */
    size_t kept, usable;                 /* all; those neither too old nor measured in less time */
    bool agrees;                         /* *found is set */
    double seconds;                      /* that *found took */
    double differs;                      /* by how much, for *found or for the one that differs least */
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

/* Reads the table of an entry, whose rows must all be for the job's thread count. */
static bool read_table(const struct search *search, const char *table) {
    size_t length = strlen(table);
    char *text = pdnn_alloc(length + 1, 1);
    memcpy(text, table, length + 1);
    if (!exchange(text, '\t', '\n')) {
        free(text);
        return false;
    }
    struct pdnn_ceilings *entry = search->entry;
    bool is_good = pdnn_ceilings_parse("kept", text, length, NULL, entry, NULL) == PDNN_OK && entry->count;
    for (size_t i = 0; is_good && i < entry->count; i++)
        is_good = entry->row[i].threads == search->job->context.threads;
    free(text);
    return is_good;
}

static void consider(void *user, const char *text) {
    struct search *search = user;
    char *end;
    long long measured_ms = strtoll(text, &end, 10);
    if (end == text || *end != ' ')
        return;
    const char *rest = end + 1;
    double seconds = strtod(rest, &end);
    const char *table = strchr(end, '\t');
    if (end == rest || *end != ' ' || !table)
        return;
    if ((size_t)(table - end) != search->libraries.length + 1 ||
        memcmp(end + 1, pdnn_str_text(&search->libraries), search->libraries.length) != 0)
        return;
    search->kept++;
    bool is_young = measured_ms <= search->job->now_unix_ms &&
                    search->job->now_unix_ms - measured_ms <= pdnn_roof_cache_age_ms;
    if (!is_young || !(seconds >= search->job->seconds) || !read_table(search, table + 1))
        return;
    search->usable++;
    if (!search->probes)
        return;
    double differs = difference(search->entry, search->probes);
    if (search->agrees && seconds < search->seconds)
        return;
    bool agrees = differs <= pdnn_roof_cache_margin;
    if (agrees || (!search->agrees && differs < search->differs))
        search->differs = differs;
    if (!agrees)
        return;
    search->agrees = true;
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

static void note_kept(const struct search *search, struct pdnn_str *note) {
    char utc[PDNN_UTC_TEXT];
    pdnn_str_printf(note,
                    "roofs for %" PRId64 " thread%s: those of %.16sZ, confirmed by probes within %.0f %%",
                    search->job->context.threads, search->job->context.threads == 1 ? "" : "s",
                    pdnn_utc_format(search->found->row[0].measured_unix_ms, utc), 100 * search->differs);
}

static void note_measured(const struct search *search, struct pdnn_str *note) {
    if (!search->kept || search->job->must_measure)
        return;
    pdnn_str_printf(note, "roofs for %" PRId64 " thread%s: measured, since ", search->job->context.threads,
                    search->job->context.threads == 1 ? "" : "s");
    if (!search->usable)
        pdnn_str_printf(note, "those kept are more than a day old or were measured in less time");
    else
        pdnn_str_printf(note,
                        "the probes differ by %.0f %% from those beside the kept ones, more than %.0f %%",
                        100 * search->differs, 100 * pdnn_roof_cache_margin);
}

/* Looks for kept roofs; the probes run only if there are any that may do. */
static enum pdnn_status look(struct search *search, const struct pdnn_kept *file, struct pdnn_err *err) {
    struct pdnn_ceilings *probes;
    pdnn_kept_read(file, consider, search);
    if (!search->usable)
        return PDNN_OK;
    probes = pdnn_alloc(1, sizeof *probes);
    enum pdnn_status status = search->job->measure(search->job->user, 0, probes, err);
    search->kept = search->usable = 0;
    search->probes = probes;
    if (status == PDNN_OK)
        pdnn_kept_read(file, consider, search);
    free(probes);
    search->probes = NULL;
    return status;
}

/* Appends the rows to the file. */
static void keep(const struct pdnn_kept *file, const struct search *search,
                 const struct pdnn_ceilings *rows) {
    struct pdnn_str table = {0}, entry = {0};
    pdnn_ceilings_format(rows, &table);
    if (exchange(table.text, '\n', '\t')) {
        pdnn_str_printf(&entry, "%" PRId64 " %.17g %s\t%s", rows->row[0].measured_unix_ms,
                        search->job->seconds, pdnn_str_text(&search->libraries), table.text);
        pdnn_kept_add(file, entry.text);
    }
    pdnn_str_finish(&table);
    pdnn_str_finish(&entry);
}

/* Measures into search->entry and keeps the rows. */
static enum pdnn_status measure(const struct search *search, const struct pdnn_kept *file,
                                struct pdnn_err *err) {
    const struct pdnn_roofs_job *job = search->job;
    struct pdnn_ceilings *rows = search->entry;
    rows->count = 0;
    enum pdnn_status status = job->measure(job->user, job->seconds, rows, err);
    for (size_t i = 0; status == PDNN_OK && i < rows->count; i++)
        rows->row[i].measured_unix_ms = job->now_unix_ms;
    if (status == PDNN_OK && rows->count)
        keep(file, search, rows);
    return status;
}

enum pdnn_status pdnn_roof_cache_get(const struct pdnn_roofs_job *job, struct pdnn_ceilings *ceilings,
                                     struct pdnn_str *note, struct pdnn_err *err) {
    struct pdnn_kept file;
    struct search search = {.job = job, .differs = INFINITY};
    struct pdnn_str context = {0};
    enum pdnn_status status = PDNN_OK;
    search.entry = pdnn_alloc(2, sizeof *search.entry);
    search.found = search.entry + 1;
    for (size_t i = 0; i < job->software->count; i++)
        pdnn_str_printf(&search.libraries, "%s%s", i ? ", " : "", job->software->row[i].version);
    pdnn_roof_cache_context(job, &context);
    pdnn_kept_open(&file, job->directory, "roofs", context.text);
    if (!job->must_measure)
        status = look(&search, &file, err);
    for (size_t i = 0; search.agrees && i < search.found->count; i++)
        search.found->row[i].checked_unix_ms = job->now_unix_ms;
    if (status == PDNN_OK && !search.agrees)
        status = measure(&search, &file, err);
    if (status == PDNN_OK)
        status = append(ceilings, search.agrees ? search.found : search.entry, err);
    if (status == PDNN_OK)
        (search.agrees ? note_kept : note_measured)(&search, note);
    pdnn_str_finish(&context);
    pdnn_str_finish(&search.libraries);
    free(search.entry);
    return status;
}
