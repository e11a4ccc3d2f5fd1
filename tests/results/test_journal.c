/* The journal: what is appended reads back, complete and in order. A last row cut anywhere is dropped, and so
 * are ops whose visit has no row, but nothing else. A failed write leaves what was there. Two writers exclude
 * each other. A file that is not a journal is never touched. A journal of the schema before is converted, and
 * one of an older version is refused by name. */
#define _POSIX_C_SOURCE 200809L
#include "tests/cmocka_all.h"

#include "base/file.h"
#include "results/table/write.h"
#include "results/store/journal.h"

#include <fcntl.h>
#include <signal.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_ROOM = 256, LIMIT_BYTES = 1 << 24 };

struct place {
    char directory[PATH_ROOM - 32], journal[PATH_ROOM], ops[PATH_ROOM], aside[PATH_ROOM];
    struct pdnn_folder folder;
};

static int setup(void **state) {
    struct place *place = calloc(1, sizeof *place);
    strcpy(place->directory, "/tmp/pdnn_test_journal_XXXXXX");
    if (!mkdtemp(place->directory) || pdnn_folder_open(&place->folder, place->directory, NULL) != PDNN_OK)
        return -1;
    snprintf(place->journal, sizeof place->journal, "%s/journal.csv", place->directory);
    snprintf(place->ops, sizeof place->ops, "%s/journal-ops.csv", place->directory);
    snprintf(place->aside, sizeof place->aside, "%s/journal-schema-3.csv", place->directory);
    *state = place;
    return 0;
}

static int teardown(void **state) {
    struct place *place = *state;
    unlink(place->journal);
    unlink(place->ops);
    unlink(place->aside);
    pdnn_folder_close(&place->folder);
    rmdir(place->directory);
    free(place);
    return 0;
}

static struct pdnn_visit_op two_ops[] = {
    {"dense/forward/64x2000:2000x1024:64x1024+bias@ffn1", "ffn1", "gemm:jit", 3, 0, {0}, 1234.5, {0, 0, 0}},
    {"a|b;c%d\x7f//,\"q\"/@",
     "'",
     "paradnn:x|y",
     4294967295u,
     INT64_MAX,
     {UINT64_MAX - 1, 1, 1 << 30},
     1.0 / 3,
     {4.25, UINT64_MAX - 1, 0.75}},
};

static struct pdnn_visit make_visit(int number) {
    struct pdnn_visit visit = {
        .started_unix_ms = 1777636800123 + number,
        .prepare_ns = 18446744073709551614u,
        .plan_bytes = 4096u * (unsigned)number,
        .samples = 11,
        .steps_per_sample = 2,
        .warmups = 3,
        .median_ns = 1000.1 * number,
        .min_ns = 1.0 / 3,
        .mean_ns = 1e-9,
        .p10_ns = 2,
        .p90_ns = 3,
        .mad_ns = 0,
        .stamped_ns = 1e12,
        .probe_gflops = 99.5,
        .probe_gbs = 17.25,
        .ranks = {700.5, 3, 200.25, 1 << 20},
        .infeed = {12.5, 340, 4096, "dropped"},
        .hardware = {4.25, 105.5, 700, 99.5, true, 0, 17, 0},
        .counted = {.of = {3.75, 123456789, 1.0 / 3}},
        .stop = PDNN_STOP_MAX_TIME,
        .flags = PDNN_FLAG_NOISY | PDNN_FLAG_REF,
        .n_ops = 2,
        .ops = two_ops,
    };
    return visit;
}

static struct pdnn_visit make_crash(void) {
    struct pdnn_visit visit = {.outcome = PDNN_OUTCOME_CRASH, .started_unix_ms = 1};
    strcpy(visit.reason, "killed,\nby \"signal\" 9");
    return visit;
}

static void assert_same_visit(const struct pdnn_instance_visits *of, size_t at, const struct pdnn_visit *b) {
    const struct pdnn_visit *a = &of->visit[at];
    const struct pdnn_measured_ops *ops = &of->ops[at];
    assert_int_equal(a->outcome, b->outcome);
    assert_int_equal(a->started_unix_ms, b->started_unix_ms);
    assert_true(a->prepare_ns == b->prepare_ns && a->plan_bytes == b->plan_bytes);
    assert_true(a->samples == b->samples && a->steps_per_sample == b->steps_per_sample &&
                a->warmups == b->warmups);
    assert_true(a->median_ns == b->median_ns && a->min_ns == b->min_ns && a->mean_ns == b->mean_ns);
    assert_true(a->p10_ns == b->p10_ns && a->p90_ns == b->p90_ns && a->mad_ns == b->mad_ns);
    assert_true(a->stamped_ns == b->stamped_ns);
    assert_true(a->probe_gflops == b->probe_gflops && a->probe_gbs == b->probe_gbs);
    assert_memory_equal(&a->ranks, &b->ranks, sizeof a->ranks);
    assert_true(a->infeed.wait_ns == b->infeed.wait_ns && a->infeed.loader_ns == b->infeed.loader_ns);
    assert_int_equal(a->infeed.loader_bytes, b->infeed.loader_bytes);
    assert_string_equal(a->infeed.page_cache, b->infeed.page_cache);
    assert_true(
        a->hardware.clock_ghz == b->hardware.clock_ghz && a->hardware.handoff_ns == b->hardware.handoff_ns &&
        a->hardware.fork_ns == b->hardware.fork_ns && a->hardware.cpu_share_pct == b->hardware.cpu_share_pct);
    assert_int_equal(a->hardware.has_usage, b->hardware.has_usage);
    assert_true(a->hardware.page_faults == b->hardware.page_faults &&
                a->hardware.context_switches == b->hardware.context_switches);
    assert_true(a->hardware.has_usage ? a->hardware.steal_pct == b->hardware.steal_pct
                                      : isnan(a->hardware.steal_pct));
    assert_memory_equal(&a->counted.of, &b->counted.of, sizeof a->counted.of);
    assert_int_equal(a->stop, b->stop);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(ops->count, b->n_ops);
    for (size_t i = 0; i < b->n_ops; i++) {
        const struct pdnn_measured_op *op = &ops->op[i];
        assert_string_equal(op->key, b->ops[i].key);
        assert_string_equal(op->layer, b->ops[i].layer);
        assert_string_equal(op->implementation, b->ops[i].implementation);
        assert_int_equal(op->count, b->ops[i].count);
        assert_true(op->bytes == b->ops[i].bytes && op->time_ns == b->ops[i].time_ns);
        assert_memory_equal(&op->extra, &b->ops[i].extra, sizeof op->extra);
        assert_memory_equal(&op->counted, &b->ops[i].counted, sizeof op->counted);
    }
}

/* Two instances, the first visited twice, one crash. */
static void append_three(struct pdnn_journal *journal) {
    struct pdnn_err err = {0};
    struct pdnn_visit first = make_visit(1), crash = make_crash(), second = make_visit(2);
    assert_int_equal(pdnn_journal_append(journal, "fc/a=1,b=2", &first, &err), PDNN_OK);
    assert_int_equal(pdnn_journal_append(journal, "fc/a=2", &crash, &err), PDNN_OK);
    assert_int_equal(pdnn_journal_append(journal, "fc/a=1,b=2", &second, &err), PDNN_OK);
}

static void check_three(const struct pdnn_journal *journal) {
    struct pdnn_visit first = make_visit(1), second = make_visit(2);
    const struct pdnn_visits *known = &journal->known;
    assert_int_equal(known->ids.count, 2);
    assert_string_equal(known->ids.text[0], "fc/a=1,b=2");
    assert_string_equal(known->ids.text[1], "fc/a=2");
    assert_int_equal(pdnn_visits_of(known, "fc/a=3").count, 0);
    struct pdnn_instance_visits of = pdnn_visits_of(known, "fc/a=1,b=2");
    assert_int_equal(of.count, 2);
    assert_same_visit(&of, 0, &first);
    assert_same_visit(&of, 1, &second);
    assert_ptr_equal(of.ops[0].op[0].key, of.ops[1].op[0].key);
    of = pdnn_visits_of(known, "fc/a=2");
    assert_int_equal(of.count, 1);
    assert_int_equal(of.ops[0].count, 0);
    assert_int_equal(of.visit[0].outcome, PDNN_OUTCOME_CRASH);
    assert_string_equal(of.visit[0].reason, "killed, by \"signal\" 9");
}

static void test_journal_append_reads_back(void **state) {
    const struct place *place = *state;
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    assert_int_equal(journal->known.ids.count, 0);
    append_three(journal);
    check_three(journal);
    pdnn_journal_close(journal);
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    assert_false(journal->visits.torn || journal->ops.torn);
    check_three(journal);
    pdnn_journal_close(journal);
}

/* Not pdnn_file_replace: there are hundreds of files, and none needs a sync. */
static void write_file(const char *path, const char *text, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* Spreadsheets put it first; what is appended, and a torn last line, come out as without it. */
static void test_journal_with_byte_order_marks(void **state) {
    const struct place *place = *state;
    const char *const paths[] = {place->journal, place->ops};
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    append_three(journal);
    pdnn_journal_close(journal);
    for (size_t i = 0; i < 2; i++) {
        struct pdnn_str marked = {0};
        char *text;
        assert_int_equal(pdnn_file_read(paths[i], LIMIT_BYTES, &text, NULL, &err), PDNN_OK);
        pdnn_str_printf(&marked, "\xef\xbb\xbf%s3,torn", text);
        write_file(paths[i], marked.text, marked.length);
        pdnn_str_finish(&marked);
        free(text);
    }
    for (int visits = 2; visits < 4; visits++) {
        struct pdnn_visit more = make_visit(visits + 1);
        if (pdnn_journal_open(&place->folder, &journal, &err) != PDNN_OK)
            fail_msg("%s", err.text);
        assert_int_equal(pdnn_visits_of(&journal->known, "fc/a=1,b=2").count, visits);
        assert_int_equal(pdnn_journal_append(journal, "fc/a=1,b=2", &more, &err), PDNN_OK);
        pdnn_journal_close(journal);
    }
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    assert_false(journal->visits.torn || journal->ops.torn);
    pdnn_journal_close(journal);
}

/* The contents of a file at some moment. */
struct text {
    char *bytes;
    size_t length;
};

static struct text read_text(const char *path) {
    struct text text;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_file_read(path, LIMIT_BYTES, &text.bytes, &text.length, &err), PDNN_OK);
    return text;
}

static void assert_file_is(const char *path, const struct text *expected) {
    struct text text = read_text(path);
    assert_int_equal(text.length, expected->length);
    assert_memory_equal(text.bytes, expected->bytes, text.length);
    free(text.bytes);
}

/* Where the file's last n lines start. */
static size_t last_lines(const struct text *text, int n) {
    size_t at = text->length;
    for (; n > 0; n--) {
        at--;
        while (at && text->bytes[at - 1] != '\n')
            at--;
    }
    return at;
}

/* Both files cut to the given lengths: the last visit is gone unless both are whole, everything else is kept,
 * and the next append makes the same files as without the cut. */
static void check_cut(const struct place *place, const struct text *journal_text, size_t cut,
                      const struct text *ops_text, size_t ops_cut) {
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    struct pdnn_visit second = make_visit(2);
    bool is_whole = cut == journal_text->length && ops_cut == ops_text->length;
    bool is_clean = cut == last_lines(journal_text, 1) && ops_cut == last_lines(ops_text, 2);
    write_file(place->journal, journal_text->bytes, cut);
    write_file(place->ops, ops_text->bytes, ops_cut);
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    assert_int_equal(journal->visits.torn || journal->ops.torn, !is_whole && !is_clean);
    assert_int_equal(pdnn_visits_of(&journal->known, "fc/a=1,b=2").count, is_whole ? 2 : 1);
    if (!is_whole)
        assert_int_equal(pdnn_journal_append(journal, "fc/a=1,b=2", &second, &err), PDNN_OK);
    check_three(journal);
    pdnn_journal_close(journal);
    assert_file_is(place->journal, journal_text);
    assert_file_is(place->ops, ops_text);
}

/* A crash while the last visit was written: within its row, within its ops, or between the two. */
static void test_journal_open_torn_at_every_byte(void **state) {
    const struct place *place = *state;
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    append_three(journal);
    pdnn_journal_close(journal);
    const struct text rows = read_text(place->journal), ops = read_text(place->ops);
    size_t last_row = last_lines(&rows, 1), last_ops = last_lines(&ops, 2);
    assert_true(rows.length - last_row > 100 && ops.length - last_ops > 100);
    for (size_t cut = last_row; cut <= rows.length; cut++)
        check_cut(place, &rows, cut, &ops, ops.length);
    for (size_t cut = last_ops; cut < ops.length; cut++)
        check_cut(place, &rows, last_row, &ops, cut);
    free(rows.bytes);
    free(ops.bytes);
}

/* Ops that a row of journal.csv counts are missing, because the files were edited by hand. */
static void test_journal_open_misses_ops(void **state) {
    const struct place *place = *state;
    struct pdnn_journal *journal;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    append_three(journal);
    pdnn_journal_close(journal);
    const struct text rows = read_text(place->journal), ops = read_text(place->ops);
    write_file(place->ops, ops.bytes, last_lines(&ops, 1));
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "journal-ops.csv: ends before visit 2 of fc/a=1,b=2 has its 2 ops"));
    unlink(place->ops);
    err = (struct pdnn_err){0};
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, place->ops));
    assert_int_equal(access(place->ops, F_OK), -1);
    /* The first op of the second visit twice, instead of both ops. */
    struct pdnn_str text = {0};
    size_t second = last_lines(&ops, 2), third = last_lines(&ops, 1);
    pdnn_str_append(&text, ops.bytes, last_lines(&ops, 4));
    pdnn_str_append(&text, ops.bytes + second, third - second);
    pdnn_str_append(&text, ops.bytes + second, ops.length - second);
    write_file(place->ops, text.text, text.length);
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, "journal-ops.csv:2: is not op 1 of visit 1 of fc/a=1,b=2"));
    assert_file_is(place->journal, &rows);
    pdnn_str_finish(&text);
    free(rows.bytes);
    free(ops.bytes);
}

/* An op that is there twice, before those of another instance, is no leftover of a prune. */
static void test_journal_open_names_the_line_of_an_op_too_many(void **state) {
    const struct place *place = *state;
    struct pdnn_journal *journal;
    struct pdnn_err err = {0};
    struct pdnn_str text = {0};
    struct pdnn_visit first = make_visit(1), other = make_visit(2);
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    assert_int_equal(pdnn_journal_append(journal, "fc/a=1", &first, &err), PDNN_OK);
    assert_int_equal(pdnn_journal_append(journal, "fc/a=2", &other, &err), PDNN_OK);
    pdnn_journal_close(journal);
    const struct text ops = read_text(place->ops);
    const size_t twice = last_lines(&ops, 3), after = last_lines(&ops, 2);
    pdnn_str_append(&text, ops.bytes, after);
    pdnn_str_append(&text, ops.bytes + twice, ops.length - twice);
    const struct text edited = {text.text, text.length};
    write_file(place->ops, edited.bytes, edited.length);
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_INVALID);
    assert_non_null(
        strstr(err.text, "journal-ops.csv:4: an op of fc/a=1 that belongs to none of its visits"));
    assert_file_is(place->ops, &edited);
    pdnn_str_finish(&text);
    free(ops.bytes);
}

/* Takes from the text what schema 4 has brought: ten columns, empty in these rows. */
static void make_older(const struct text *new, struct pdnn_str *old) {
    static const char columns[] =
        "clock_ghz,handoff_ns,fork_ns,cpu_share_pct,page_faults,context_switches,steal_pct,"
        "effective_ghz,instructions,ipc,";
    const char *at = strstr(new->bytes, columns);
    pdnn_str_printf(old, "%.*s%s", (int)(at - new->bytes), new->bytes, at + strlen(columns));
    for (char *row = old->text; (row = strstr(row, "\n4,")) != NULL;)
        row[1] = '3';
    for (char *row = old->text; (row = strstr(row, "Z,,")) != NULL; old->length -= 10, row++)
        memmove(row + 1, row + 11, strlen(row + 11) + 1);
}

/* A journal of schema 3 is read as it is, and converted where it is to be continued; the old one stays beside
 * it. A last line without its end is dropped as ever. */
static void test_journal_open_converts_the_schema_before(void **state) {
    const struct place *place = *state;
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    struct pdnn_visits known = {0};
    struct pdnn_str old = {0};
    struct pdnn_visit crash = make_crash();
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    assert_int_equal(pdnn_journal_append(journal, "fc/a=2", &crash, &err), PDNN_OK);
    assert_int_equal(pdnn_journal_append(journal, "fc/a=\"3", &crash, &err), PDNN_OK);
    pdnn_journal_close(journal);
    struct text new = read_text(place->journal);
    make_older(&new, &old);
    assert_non_null(strstr(old.text, "probe_gbs"));
    assert_null(strstr(old.text, "clock_ghz"));
    for (int is_torn = 0; is_torn < 2; is_torn++) {
        if (is_torn)
            pdnn_str_printf(&old, "3,fc/a=4,1,o");
        const struct text older = {old.text, old.length};
        write_file(place->journal, older.bytes, older.length);
        memset(&known, 0, sizeof known);
        assert_int_equal(pdnn_journal_read(place->directory, NULL, NULL, &known, &err), PDNN_OK);
        assert_int_equal(known.ids.count, 2);
        pdnn_visits_finish(&known);
        assert_file_is(place->journal, &older);
        assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
        assert_int_equal(journal->known.ids.count, 2);
        assert_int_equal(pdnn_visits_of(&journal->known, "fc/a=2").visit[0].outcome, PDNN_OUTCOME_CRASH);
        assert_false(pdnn_visits_of(&journal->known, "fc/a=2").visit[0].hardware.has_usage);
        pdnn_journal_close(journal);
        assert_file_is(place->journal, &new);
        assert_file_is(place->aside, &older);
    }
    free(new.bytes);
    pdnn_str_finish(&old);
}

/* A journal of schema 2, whose columns had other names: refused by both readers, and left as it is. */
static void test_journal_open_refuses_older(void **state) {
    const struct place *place = *state;
    static const char message[] = "journal.csv: written by an older version of paradnn (schema 2, now 4)";
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    struct pdnn_journal_scan scan;
    char rows[] = "schema,id,visit,status,flags,ops\n2,\"fc/a=1,b=2\",1,ok,noisy,1\n";
    const struct text old = {rows, strlen(rows)};
    write_file(place->journal, old.bytes, old.length);
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, message));
    err = (struct pdnn_err){0};
    assert_int_equal(pdnn_journal_scan_open(&scan, place->folder.path, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, message));
    pdnn_journal_scan_close(&scan);
    assert_file_is(place->journal, &old);
}

/* A crash while the header was written. */
static void test_journal_open_torn_header(void **state) {
    const struct place *place = *state;
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    struct pdnn_str header = {0};
    pdnn_table_csv_header(&header, &pdnn_journal_def);
    for (size_t cut = 0; cut <= header.length; cut++) {
        char *text;
        size_t length;
        write_file(place->journal, header.text, cut);
        assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
        assert_int_equal(journal->known.ids.count, 0);
        pdnn_journal_close(journal);
        assert_int_equal(pdnn_file_read(place->journal, LIMIT_BYTES, &text, &length, &err), PDNN_OK);
        assert_int_equal(length, header.length);
        assert_memory_equal(text, header.text, length);
        free(text);
    }
    pdnn_str_finish(&header);
}

/* A file that is not a journal of this version is refused and stays byte for byte. */
static void test_journal_open_refuses_others(void **state) {
    const struct place *place = *state;
    struct pdnn_str header = {0}, text = {0};
    pdnn_table_csv_header(&header, &pdnn_journal_def);
    static const struct {
        bool with_header;
        const char *text, *message;
    } rows[] = {
        {false, "schema,id\n5,fc/a=1\n", "journal.csv:1: not a journal.csv of this version"},
        {false, "something else", "journal.csv:1: not a journal.csv of this version"},
        {true, "5,fc/a,1,ok,,1970-01-01T00:00:00.000Z,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,,,,,,,,,,,,,,,,,,\n",
         "journal.csv:2: schema 5, this program reads 4"},
        {true, "2,fc/a,1,ok,,1970-01-01T00:00:00.000Z,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,,,,,,,,,,,,,,,,,,\n",
         "journal.csv:2: schema 2, this program reads 4"},
        {true, "4,fc/a,1,ok,,1970-01-01T00:00:00.000Z,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,,,,,,,,,,,,,,,,,,x\n",
         "journal.csv:2: ops: 'x' is not a count"},
        {true, "4,fc/a,1,fine,,1970-01-01T00:00:00.000Z,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,,,,,,,,,,,,,,,,,,0\n",
         "journal.csv:2: 'fine' is not a value for column 'status'"},
        {true, "4,fc/a,1,ok,,1970-02-30T00:00:00.000Z,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,,,,,,,,,,,,,,,,,,0\n",
         "column 'started_utc'"},
        {true, "4,fc/a,-1,ok,,1970-01-01T00:00:00.000Z,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,,,,,,,,,,,,,,,,,,0\n",
         "visit: '-1' is not a count"},
        {true, "4,fc/a\n4,fc/a\n", "journal.csv:2: 2 fields, the header has 41"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_err err = {0};
        struct pdnn_journal *journal;
        char *after;
        size_t length;
        pdnn_str_clear(&text);
        if (rows[i].with_header)
            pdnn_str_append(&text, header.text, header.length);
        pdnn_str_append(&text, rows[i].text, strlen(rows[i].text));
        write_file(place->journal, text.text, text.length);
        assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_INVALID);
        if (!strstr(err.text, rows[i].message))
            fail_msg("'%s' lacks '%s'", err.text, rows[i].message);
        assert_int_equal(pdnn_file_read(place->journal, LIMIT_BYTES, &after, &length, &err), PDNN_OK);
        assert_int_equal(length, text.length);
        assert_memory_equal(after, text.text, length);
        free(after);
    }
    pdnn_str_finish(&header);
    pdnn_str_finish(&text);
}

/* Empty where nothing was measured; a measured 0 stays. */
static void test_journal_append_leaves_out_what_was_not_measured(void **state) {
    const struct place *place = *state;
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    char *text;
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    append_three(journal);
    pdnn_journal_close(journal);
    assert_int_equal(pdnn_file_read(place->journal, LIMIT_BYTES, &text, NULL, &err), PDNN_OK);
    assert_non_null(strstr(text, "\" 9\",1970-01-01T00:00:00.001Z,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,0\n"));
    assert_non_null(strstr(text, ",2,3,0,"));
    free(text);
}

static void test_journal_open_excludes_second_writer(void **state) {
    const struct place *place = *state;
    struct pdnn_err err = {0};
    struct pdnn_journal *journal, *other;
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    append_three(journal);
    assert_int_equal(pdnn_journal_open(&place->folder, &other, &err), PDNN_BUSY);
    assert_non_null(strstr(err.text, "another paradnn"));
    pdnn_journal_close(journal);
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    pdnn_journal_close(journal);
}

/* What is appended then would be found by nobody. */
static void test_journal_check_names_what_has_gone(void **state) {
    const struct place *place = *state;
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    char away[PATH_ROOM];
    const char *const files[] = {place->journal, place->ops};
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    assert_int_equal(pdnn_journal_check(journal, &err), PDNN_OK);
    for (size_t i = 0; i < 2; i++) {
        snprintf(away, sizeof away, "%.200s.away", files[i]);
        assert_int_equal(rename(files[i], away), 0);
        assert_int_equal(pdnn_journal_check(journal, &err), PDNN_IO);
        assert_non_null(strstr(err.text, files[i]));
        close(open(files[i], O_WRONLY | O_CREAT, 0600));
        assert_int_equal(pdnn_journal_check(journal, &err), PDNN_IO);
        assert_int_equal(rename(away, files[i]), 0);
        assert_int_equal(pdnn_journal_check(journal, &err), PDNN_OK);
    }
    snprintf(away, sizeof away, "%s.away", place->directory);
    assert_int_equal(rename(place->directory, away), 0);
    assert_int_equal(pdnn_journal_check(journal, &err), PDNN_IO);
    assert_non_null(strstr(err.text, place->directory));
    assert_int_equal(rename(away, place->directory), 0);
    pdnn_journal_close(journal);
}

/* Appends past a file-size limit, in a child process because limits cannot be lifted. */
static void append_beyond(const struct place *place, off_t limit_bytes, const char *path) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct pdnn_err err = {0};
        struct pdnn_journal *journal;
        struct rlimit limit = {(rlim_t)limit_bytes, (rlim_t)limit_bytes};
        struct pdnn_visit visit = make_visit(3);
        signal(SIGXFSZ, SIG_IGN);
        bool good = setrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                    pdnn_journal_open(&place->folder, &journal, &err) == PDNN_OK &&
                    pdnn_journal_append(journal, "fc/a=3", &visit, &err) == PDNN_IO &&
                    strstr(err.text, path) && journal->known.ids.count == 2;
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A file-size limit stands in for a full disk: the write stops in the middle of
 * the visit's row or of its ops. */
static void test_journal_append_disk_full(void **state) {
    const struct place *place = *state;
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    append_three(journal);
    pdnn_journal_close(journal);
    const struct text rows = read_text(place->journal), ops = read_text(place->ops);
    assert_true(rows.length > ops.length);
    append_beyond(place, (off_t)ops.length + 20, place->ops);
    assert_file_is(place->journal, &rows);
    assert_file_is(place->ops, &ops);
    append_beyond(place, (off_t)rows.length + 20, place->journal);
    assert_file_is(place->journal, &rows);
    assert_file_is(place->ops, &ops);
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    assert_false(journal->visits.torn || journal->ops.torn);
    check_three(journal);
    pdnn_journal_close(journal);
    free(rows.bytes);
    free(ops.bytes);
}

static void test_journal_many_instances(void **state) {
    const struct place *place = *state;
    enum { N = 100 };
    struct pdnn_err err = {0};
    struct pdnn_journal *journal;
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    for (int i = 0; i < 2 * N; i++) {
        char id[64];
        struct pdnn_visit visit = make_visit(i);
        snprintf(id, sizeof id, "fc/a=%d", i % N);
        assert_int_equal(pdnn_journal_append(journal, id, &visit, &err), PDNN_OK);
    }
    pdnn_journal_close(journal);
    assert_int_equal(pdnn_journal_open(&place->folder, &journal, &err), PDNN_OK);
    const struct pdnn_visits *known = &journal->known;
    assert_int_equal(known->ids.count, N);
    for (size_t i = 0; i < N; i++) {
        char id[64];
        snprintf(id, sizeof id, "fc/a=%zu", i);
        struct pdnn_instance_visits of = pdnn_visits_of(known, id);
        assert_string_equal(known->ids.text[i], id);
        assert_int_equal(of.count, 2);
        assert_int_equal(of.visit[1].started_unix_ms - of.visit[0].started_unix_ms, N);
    }
    pdnn_journal_close(journal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_journal_append_reads_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_with_byte_order_marks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_open_torn_at_every_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_open_misses_ops, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_open_names_the_line_of_an_op_too_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_open_converts_the_schema_before, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_open_refuses_older, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_open_torn_header, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_open_refuses_others, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_append_leaves_out_what_was_not_measured, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_journal_open_excludes_second_writer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_check_names_what_has_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_append_disk_full, setup, teardown),
        cmocka_unit_test_setup_teardown(test_journal_many_instances, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
