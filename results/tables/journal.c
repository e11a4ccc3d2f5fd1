#define _DEFAULT_SOURCE /* flock */
#include "results/tables/journal.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/rng.h"
#include "results/tables/columns.h"
#include "results/tables/csv.h"
#include "results/tables/ids.h"
#include "results/tables/packed_ops.h"
#include "results/tables/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define JOURNAL_LIMIT_BYTES ((size_t)1 << 36)

static const size_t none = SIZE_MAX;

struct stored_visit {
    struct pdnn_visit visit; /* without ops */
    const char *ops;         /* packed; in csv.text or the arena */
    size_t next;             /* of the same instance, or none */
};

struct stored_instance {
    const char *id;
    size_t first, last, count; /* visits */
};

struct pdnn_journal {
    char path[PATH_MAX];
    int fd;          /* -1: not open */
    uint64_t length; /* of the complete rows, header included */
    bool torn;
    struct pdnn_csv csv;     /* its text holds the loaded rows' strings */
    struct pdnn_arena arena; /* those of appended rows, and reprinted ids */
    struct stored_visit *visits;
    size_t n_visits, visit_room;
    struct stored_instance *instances;
    size_t n_instances, instance_room;
    size_t *slots; /* hash table of instance numbers by id, open addressing */
    size_t n_slots;
};

static size_t *slot_of(const struct pdnn_journal *journal, const char *id) {
    size_t at = pdnn_rng_seed(0, id) & (journal->n_slots - 1);
    while (journal->slots[at] != none && strcmp(journal->instances[journal->slots[at]].id, id) != 0)
        at = (at + 1) & (journal->n_slots - 1);
    return &journal->slots[at];
}

/* Keeps the table at most half full. */
static bool grow_slots(struct pdnn_journal *journal) {
    if (2 * (journal->n_instances + 1) <= journal->n_slots)
        return true;
    size_t n_slots = journal->n_slots ? 2 * journal->n_slots : 64;
    size_t *slots = malloc(n_slots * sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < n_slots; i++)
        slots[i] = none;
    free(journal->slots);
    journal->slots = slots;
    journal->n_slots = n_slots;
    for (size_t i = 0; i < journal->n_instances; i++)
        *slot_of(journal, journal->instances[i].id) = i;
    return true;
}

/* Makes room for one more instance and one more visit. */
static bool grow(struct pdnn_journal *journal) {
    if (journal->n_visits == journal->visit_room) {
        size_t room = journal->visit_room ? 2 * journal->visit_room : 64;
        struct stored_visit *visits = realloc(journal->visits, room * sizeof *visits);
        if (!visits)
            return false;
        journal->visits = visits;
        journal->visit_room = room;
    }
    if (journal->n_instances == journal->instance_room) {
        size_t room = journal->instance_room ? 2 * journal->instance_room : 64;
        struct stored_instance *instances = realloc(journal->instances, room * sizeof *instances);
        if (!instances)
            return false;
        journal->instances = instances;
        journal->instance_room = room;
    }
    return grow_slots(journal);
}

/* Room is there. id and ops live as long as the journal. */
static void remember(struct pdnn_journal *journal, const char *id, const struct pdnn_visit *visit,
                     const char *ops) {
    size_t *slot = slot_of(journal, id);
    size_t number = journal->n_visits++;
    journal->visits[number] = (struct stored_visit){*visit, ops, none};
    journal->visits[number].visit.ops = NULL;
    journal->visits[number].visit.n_ops = 0;
    if (*slot == none) {
        *slot = journal->n_instances++;
        journal->instances[*slot] = (struct stored_instance){id, number, number, 1};
        return;
    }
    struct stored_instance *instance = &journal->instances[*slot];
    journal->visits[instance->last].next = number;
    instance->last = number;
    instance->count++;
}

static enum pdnn_status load_row(struct pdnn_journal *journal, size_t number, struct pdnn_err *err) {
    const struct pdnn_csv *csv = &journal->csv;
    const struct pdnn_columns *columns = &pdnn_journal_columns;
    struct pdnn_journal_row row = {.schema = 0};
    for (size_t i = 0; i < columns->count; i++) {
        const char *cell = pdnn_csv_get(csv, number, (int)i);
        if (!pdnn_column_parse(&columns->column[i], &row, cell))
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: '%.40s' is no value for column '%s'", journal->path,
                             csv->lines[number], cell, columns->column[i].name);
    }
    if (row.schema != PDNN_SCHEMA)
        return pdnn_fail(err, PDNN_INVALID, "%s:%zu: schema %" PRIu64 ", this program reads %d",
                         journal->path, csv->lines[number], row.schema, PDNN_SCHEMA);
    if (!grow(journal))
        return pdnn_fail(err, PDNN_NO_MEMORY, "%s: out of memory for its rows", journal->path);
    remember(journal, pdnn_csv_get(csv, number, pdnn_columns_find(columns, "id")), &row.visit, row.ops);
    return PDNN_OK;
}

static bool same_header(const struct pdnn_csv *csv) {
    bool same = csv->n_columns == pdnn_journal_columns.count;
    for (size_t i = 0; same && i < csv->n_columns; i++)
        same = strcmp(csv->header[i], pdnn_journal_columns.column[i].name) == 0;
    return same;
}

/* Reads what is there. A file cut short within its header counts as empty; anything else that is no journal
 * stays as it is. */
static enum pdnn_status load_text(struct pdnn_journal *journal, struct pdnn_err *err) {
    struct pdnn_str header = {0};
    char *text;
    size_t length;
    enum pdnn_status status = pdnn_file_read(journal->path, JOURNAL_LIMIT_BYTES, &text, &length, err);
    if (status != PDNN_OK)
        return status;
    pdnn_columns_header(&pdnn_journal_columns, &header);
    bool cut = length < header.length && memcmp(text, pdnn_str_text(&header), length) == 0;
    bool failed = header.failed;
    pdnn_str_finish(&header);
    if (failed) {
        free(text);
        return pdnn_fail(err, PDNN_NO_MEMORY, "%s: out of memory", journal->path);
    }
    if (cut) {
        free(text);
        journal->torn = length > 0;
        return PDNN_OK;
    }
    status = pdnn_csv_parse(journal->path, text, length, PDNN_CSV_JOURNAL, &journal->csv, err);
    if (status != PDNN_OK)
        return status;
    if (!same_header(&journal->csv))
        return pdnn_fail(err, PDNN_INVALID,
                         "%s:1: no journal of this version of paradnn (schema %d); use another directory",
                         journal->path, PDNN_SCHEMA);
    journal->torn = journal->csv.torn;
    journal->length = journal->csv.complete_bytes;
    status = pdnn_ids_reprint(&journal->csv, &journal->arena, err);
    for (size_t i = 0; status == PDNN_OK && i < journal->csv.n_rows; i++)
        status = load_row(journal, i, err);
    return status;
}

static enum pdnn_status create(const char *directory, struct pdnn_journal **journal, struct pdnn_err *err) {
    struct pdnn_journal *made = calloc(1, sizeof *made);
    if (!made)
        return pdnn_fail(err, PDNN_NO_MEMORY, "%s: out of memory", directory);
    made->fd = -1;
    int written = snprintf(made->path, sizeof made->path, "%s/journal.csv", directory);
    if (written < 0 || (size_t)written >= sizeof made->path) {
        free(made);
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    }
    *journal = made;
    return PDNN_OK;
}

static enum pdnn_status open_locked(struct pdnn_journal *journal, const char *directory,
                                    struct pdnn_err *err) {
    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (journal->fd < 0)
        return pdnn_fail(err, PDNN_IO, "%s: cannot be opened for writing: %s", journal->path,
                         strerror(errno));
    if (flock(journal->fd, LOCK_EX | LOCK_NB) == 0)
        return PDNN_OK;
    if (errno == EWOULDBLOCK)
        return pdnn_fail(err, PDNN_INVALID, "%s: another paradnn is writing there; wait for it or use -o",
                         directory);
    return pdnn_fail(err, PDNN_IO, "%s: cannot be locked: %s", journal->path, strerror(errno));
}

/* Cuts the file back to the complete rows. */
static enum pdnn_status cut_back(struct pdnn_journal *journal, struct pdnn_err *err) {
    if (ftruncate(journal->fd, (off_t)journal->length) != 0 || fdatasync(journal->fd) != 0)
        return pdnn_fail(err, PDNN_IO, "%s: cannot be cut to its complete rows: %s", journal->path,
                         strerror(errno));
    return PDNN_OK;
}

/* One write, synced; on failure the file is cut back to what it was. */
static enum pdnn_status write_line(struct pdnn_journal *journal, const struct pdnn_str *line,
                                   struct pdnn_err *err) {
    if (line->failed)
        return pdnn_fail(err, PDNN_NO_MEMORY, "%s: out of memory for a row", journal->path);
    enum pdnn_status status = pdnn_fd_write(journal->fd, line->text, line->length, err);
    if (status == PDNN_OK && fdatasync(journal->fd) != 0)
        status = pdnn_fail(err, PDNN_IO, "cannot sync: %s", strerror(errno));
    if (status != PDNN_OK) {
        cut_back(journal, NULL);
        return pdnn_wrap(err, "%s", journal->path);
    }
    journal->length += line->length;
    return PDNN_OK;
}

/* A new file is in its directory only once the directory is synced. */
static void sync_directory(const char *directory) {
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

static enum pdnn_status write_header(struct pdnn_journal *journal, const char *directory,
                                     struct pdnn_err *err) {
    struct pdnn_str header = {0};
    pdnn_columns_header(&pdnn_journal_columns, &header);
    enum pdnn_status status = write_line(journal, &header, err);
    pdnn_str_finish(&header);
    if (status == PDNN_OK)
        sync_directory(directory);
    return status;
}

enum pdnn_status pdnn_journal_open(const char *directory, struct pdnn_journal **journal,
                                   struct pdnn_err *err) {
    struct pdnn_journal *made = NULL;
    enum pdnn_status status = create(directory, &made, err);
    if (status != PDNN_OK)
        return status;
    status = open_locked(made, directory, err);
    if (status == PDNN_OK)
        status = load_text(made, err);
    if (status == PDNN_OK && made->torn)
        status = cut_back(made, err);
    if (status == PDNN_OK && !made->length)
        status = write_header(made, directory, err);
    if (status != PDNN_OK) {
        pdnn_journal_close(made);
        return status;
    }
    *journal = made;
    return PDNN_OK;
}

void pdnn_journal_close(struct pdnn_journal *journal) {
    if (!journal)
        return;
    if (journal->fd >= 0)
        close(journal->fd);
    pdnn_csv_finish(&journal->csv);
    pdnn_arena_finish(&journal->arena);
    free(journal->visits);
    free(journal->instances);
    free(journal->slots);
    free(journal);
}

bool pdnn_journal_was_torn(const struct pdnn_journal *journal) {
    return journal->torn;
}

/* A row is one line, whatever a library's message says. */
static void flatten(char *text) {
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20)
            *text = ' ';
    }
}

enum pdnn_status pdnn_journal_append(struct pdnn_journal *journal, const char *id,
                                     const struct pdnn_visit *visit, struct pdnn_err *err) {
    struct pdnn_str line = {0}, packed = {0};
    struct pdnn_journal_row row = {.schema = PDNN_SCHEMA, .visit = *visit};
    enum pdnn_status status = PDNN_OK;
    if (strlen(id) >= sizeof row.id)
        return pdnn_fail(err, PDNN_INVALID, "%s: the id '%.60s...' is too long", journal->path, id);
    memcpy(row.id, id, strlen(id) + 1);
    flatten(row.id);
    flatten(row.visit.reason);
    size_t known = pdnn_journal_find(journal, row.id);
    row.number = known == none ? 1 : journal->instances[known].count + 1;
    pdnn_ops_pack(visit->ops, visit->n_ops, &packed);
    row.ops = pdnn_str_text(&packed);
    pdnn_columns_row(&pdnn_journal_columns, &row, &line);
    /* All memory first: what is on disk must be in memory too. */
    const char *kept_id =
        known == none ? pdnn_arena_strdup(&journal->arena, row.id) : journal->instances[known].id;
    const char *kept_ops = pdnn_arena_strdup(&journal->arena, row.ops);
    if (!kept_id || !kept_ops || packed.failed || !grow(journal))
        status = pdnn_fail(err, PDNN_NO_MEMORY, "%s: out of memory for a row", journal->path);
    if (status == PDNN_OK)
        status = write_line(journal, &line, err);
    if (status == PDNN_OK)
        remember(journal, kept_id, &row.visit, kept_ops);
    pdnn_str_finish(&packed);
    pdnn_str_finish(&line);
    return status;
}

size_t pdnn_journal_count(const struct pdnn_journal *journal) {
    return journal->n_instances;
}

const char *pdnn_journal_id(const struct pdnn_journal *journal, size_t instance) {
    return journal->instances[instance].id;
}

size_t pdnn_journal_find(const struct pdnn_journal *journal, const char *id) {
    return journal->n_slots ? *slot_of(journal, id) : none;
}

enum pdnn_status pdnn_journal_visits(const struct pdnn_journal *journal, size_t instance, bool with_ops,
                                     struct pdnn_visit **visits, size_t *n_visits, struct pdnn_err *err) {
    const struct stored_instance *of = &journal->instances[instance];
    struct pdnn_visit *copies = calloc(of->count, sizeof *copies);
    if (!copies)
        return pdnn_fail(err, PDNN_NO_MEMORY, "%s: out of memory for %zu visits", journal->path, of->count);
    size_t count = 0;
    for (size_t at = of->first; at != none; at = journal->visits[at].next) {
        const struct stored_visit *stored = &journal->visits[at];
        struct pdnn_visit *copy = &copies[count++];
        *copy = stored->visit;
        enum pdnn_status status =
            with_ops ? pdnn_ops_unpack(stored->ops, &copy->ops, &copy->n_ops, err) : PDNN_OK;
        if (status != PDNN_OK) {
            pdnn_visits_free(copies, count);
            return pdnn_wrap(err, "%s: visit %zu of %s", journal->path, count, of->id);
        }
    }
    *visits = copies;
    *n_visits = count;
    return PDNN_OK;
}

void pdnn_visits_free(struct pdnn_visit *visits, size_t n_visits) {
    for (size_t i = 0; i < n_visits; i++)
        free(visits[i].ops);
    free(visits);
}
