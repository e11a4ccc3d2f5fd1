#include "results/query/shares.h"
#include "base/memory.h"
#include "base/paths/folder.h"
#include "models/zoo/catalog.h"
#include "results/query/op_groups.h"
#include "results/table/read.h"
#include "results/table/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPS_LIMIT_BYTES ((size_t)1 << 34)

static const char *id_of(const struct pdnn_ops_reader *reader, size_t row) {
    return pdnn_table_text(&reader->table, row, PDNN_OPS_ID);
}

/* If the rows of an instance are not contiguous, the first of them count. */
static void index_rows(struct pdnn_ops_reader *reader) {
    const size_t n_rows = reader->table.n_rows;
    reader->first = pdnn_alloc(n_rows + 1, sizeof *reader->first);
    for (size_t row = 0; row < n_rows; row++) {
        if (row && id_of(reader, row) == id_of(reader, row - 1))
            continue;
        size_t known = reader->ids.count, number = pdnn_texts_add(&reader->ids, id_of(reader, row));
        if (number == known)
            reader->first[number] = row;
    }
}

enum pdnn_status pdnn_ops_reader_open(struct pdnn_ops_reader *reader, const char *directory,
                                      struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT];
    struct pdnn_ops_reader opened = {.ops = NULL};
    if (!pdnn_path_join(path, directory, "ops.csv"))
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    struct pdnn_table_file file = {.path = path, .limit_bytes = OPS_LIMIT_BYTES, .check = pdnn_record_check};
    enum pdnn_status status = pdnn_table_read(&file, &pdnn_ops_def, &opened.table, err);
    if (status != PDNN_OK)
        return status;
    pdnn_ids_reprint(&opened.table, PDNN_OPS_ID);
    index_rows(&opened);
    *reader = opened;
    return PDNN_OK;
}

void pdnn_ops_reader_close(struct pdnn_ops_reader *reader) {
    pdnn_table_finish(&reader->table);
    pdnn_texts_finish(&reader->ids);
    free(reader->first);
    free(reader->ops);
    *reader = (struct pdnn_ops_reader){.ops = NULL};
}

size_t pdnn_ops_reader_find(struct pdnn_ops_reader *reader, const char *id,
                            const struct pdnn_op_record **ops) {
    size_t number = pdnn_texts_find(&reader->ids, id), count = 0;
    size_t first = number == SIZE_MAX ? reader->table.n_rows : reader->first[number];
    while (first + count < reader->table.n_rows && id_of(reader, first + count) == id_of(reader, first))
        count++;
    reader->ops = pdnn_resize(reader->ops, count, sizeof *reader->ops);
    for (size_t i = 0; i < count; i++)
        reader->ops[i] = pdnn_ops_row(&reader->table, first + i);
    *ops = reader->ops;
    return count;
}

enum pdnn_status pdnn_selection_ops_open(const struct pdnn_selection *selection,
                                         struct pdnn_ops_reader **readers, struct pdnn_err *err) {
    struct pdnn_ops_reader *opened = pdnn_alloc(selection->results.n_directories, sizeof *opened);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; status == PDNN_OK && i < selection->results.n_directories; i++)
        status = pdnn_ops_reader_open(&opened[i], selection->results.directory[i], err);
    if (status == PDNN_OK)
        *readers = opened;
    else
        pdnn_selection_ops_close(selection, opened);
    return status;
}

void pdnn_selection_ops_close(const struct pdnn_selection *selection, struct pdnn_ops_reader *readers) {
    for (size_t i = 0; readers && i < selection->results.n_directories; i++)
        pdnn_ops_reader_close(&readers[i]);
    free(readers);
}

struct pdnn_op_rows pdnn_selection_rows(const struct pdnn_selection *selection, size_t at,
                                        struct pdnn_ops_reader *readers) {
    struct pdnn_op_rows rows = {.step_ns = pdnn_selection_step_ns(selection, at),
                                .family = pdnn_selection_get(selection, at, selection->family)};
    rows.count = pdnn_ops_reader_find(&readers[pdnn_selection_source(selection, at)],
                                      pdnn_selection_get(selection, at, selection->id), &rows.op);
    return rows;
}

static uint64_t add_counts(uint64_t sum, uint64_t count) {
    return sum == PDNN_ABSENT || count == PDNN_ABSENT ? PDNN_ABSENT : sum + count;
}

void pdnn_op_sum_add(struct pdnn_op_sum *work, const struct pdnn_op_record *op) {
    work->count = add_counts(work->count, op->count);
    work->flop_count = add_counts(work->flop_count, op->flop_count);
    work->in_bounds_flop_count = add_counts(work->in_bounds_flop_count, op->in_bounds_flop_count);
    work->byte_count = add_counts(work->byte_count, op->byte_count);
    work->time_ns += op->time_ns_median;
    if (isnan(op->place.pct_of_roof))
        return;
    work->roof_ns += op->time_ns_median * op->place.pct_of_roof / 100;
    work->roofed_ns += op->time_ns_median;
}

static double ratio(uint64_t work, double by) {
    return work && work != PDNN_ABSENT && by > 0 ? (double)work / by : NAN;
}

void pdnn_op_sum_finish(struct pdnn_op_sum *work, double step_ns) {
    double bytes = work->byte_count == PDNN_ABSENT ? 0 : (double)work->byte_count;
    work->share_pct = work->time_ns / step_ns * 100;
    work->gflops = ratio(work->in_bounds_flop_count, work->time_ns);
    work->bw_gbs = ratio(work->byte_count, work->time_ns);
    work->intensity_flop_per_byte = ratio(work->in_bounds_flop_count, bytes);
    work->pct_of_roof = work->roofed_ns > 0 ? work->roof_ns / work->roofed_ns * 100 : NAN;
}

const char *const pdnn_by_names[PDNN_BY_COUNT + 1] = {
    [PDNN_BY_CATEGORY] = "category", [PDNN_BY_GROUP] = "group", [PDNN_BY_PASS] = "pass",
    [PDNN_BY_LAYER] = "layer",       [PDNN_BY_OP] = "op",
};

enum pdnn_status pdnn_by_parse(const char *text, struct pdnn_by_list *list, struct pdnn_err *err) {
    struct pdnn_by_list parsed = {.count = 0};
    const char *rest = text, *part;
    bool is_named[PDNN_BY_COUNT] = {false};
    for (size_t length; (part = pdnn_part_next(&rest, ",", &length));) {
        char word[PDNN_SUGGESTION_TEXT], suggestion[PDNN_SUGGESTION_TEXT];
        enum pdnn_by by = 0;
        snprintf(word, sizeof word, "%.*s", (int)length, part);
        while (by < PDNN_BY_COUNT && strcmp(pdnn_by_names[by], word) != 0)
            by++;
        if (by == PDNN_BY_COUNT)
            return pdnn_fail(err, PDNN_INVALID,
                             "'%.64s' is nothing to sum by: category, group, pass, layer, op%s", word,
                             pdnn_suggest(suggestion, word, pdnn_by_names, PDNN_BY_COUNT));
        if (is_named[by])
            return pdnn_fail(err, PDNN_INVALID, "'%.64s' names %s twice", text, word);
        is_named[by] = true;
        parsed.by[parsed.count++] = by;
    }
    *list = parsed;
    return PDNN_OK;
}

static size_t find_share(const struct pdnn_share *shares, size_t n, const struct pdnn_share *like) {
    for (size_t i = 0; i < n; i++) {
        size_t by = 0;
        while (by < PDNN_BY_COUNT && strcmp(shares[i].key[by], like->key[by]) == 0)
            by++;
        if (by == PDNN_BY_COUNT && shares[i].is_residual == like->is_residual)
            return i;
    }
    return n;
}

const char *pdnn_by_key(enum pdnn_by by, const struct pdnn_family_def *family,
                        const struct pdnn_op_record *op) {
    const char *const keys[PDNN_BY_COUNT] = {[PDNN_BY_CATEGORY] = op->category,
                                             [PDNN_BY_GROUP] = op->category,
                                             [PDNN_BY_PASS] = op->pass,
                                             [PDNN_BY_LAYER] = op->layer,
                                             [PDNN_BY_OP] = op->op};
    return by == PDNN_BY_GROUP && family ? pdnn_op_groups[pdnn_op_group_of(family, op)].name : keys[by];
}

static struct pdnn_share named(const struct pdnn_by_list *list, const struct pdnn_family_def *family,
                               const struct pdnn_op_record *op) {
    struct pdnn_share share = {.id = op->id, .key = {"", "", "", "", ""}};
    for (size_t k = 0; k < list->count; k++) {
        share.key[list->by[k]] = pdnn_by_key(list->by[k], family, op);
        if (list->by[k] == PDNN_BY_GROUP && family)
            share.rgb = pdnn_op_groups[pdnn_op_group_of(family, op)].rgb;
    }
    return share;
}

static struct pdnn_share *find(struct pdnn_share *shares, size_t *n, const struct pdnn_share *like) {
    const size_t at = find_share(shares, *n, like);
    if (at == *n)
        shares[(*n)++] = *like;
    return &shares[at];
}

static void add_op(struct pdnn_share *share, const struct pdnn_op_record *op) {
    pdnn_op_sum_add(&share->work, op);
    if (isnan(op->place.pct_of_roof) || !pdnn_roof_is_known(&op->place))
        return;
    share->has_lost = true;
    double lost_ns = fmax(0, op->time_ns_median * (1 - op->place.pct_of_roof / 100));
    share->lost_ns += lost_ns;
    if (lost_ns > share->most_lost_ns) {
        share->most_lost_ns = lost_ns;
        share->most = *op;
    }
}

static void finish(struct pdnn_share *share, double step_ns) {
    pdnn_op_sum_finish(&share->work, step_ns);
    if (!share->has_lost)
        share->lost_ns = NAN;
    if (!share->most.op)
        share->most_lost_ns = share->most.place.pct_of_roof = NAN;
    share->lost_pct = share->lost_ns / step_ns * 100;
    share->most_lost_pct = share->most_lost_ns / step_ns * 100;
}

static const char *const passes[] = {"forward", "recompute", "backward-data", "backward-weights", "update"};

enum { N_PASSES = sizeof passes / sizeof *passes };

/* The position of a group or pass in its fixed order; other keys are all equal. */
static int rank(enum pdnn_by by, const struct pdnn_share *share) {
    const int count = by == PDNN_BY_PASS ? N_PASSES : share->rgb ? PDNN_OP_GROUP_COUNT : 0;
    int at = 0;
    while (at < count &&
           strcmp(by == PDNN_BY_PASS ? passes[at] : pdnn_op_groups[at].name, share->key[by]) != 0)
        at++;
    return at;
}

/* Equal times are ordered by key, so the order does not depend on the C library's qsort. */
static int compare_shares(const void *a, const void *b) {
    const struct pdnn_share *x = a, *y = b;
    int order = x->is_residual - y->is_residual;
    order = order ? order : rank(PDNN_BY_GROUP, x) - rank(PDNN_BY_GROUP, y);
    order = order ? order : rank(PDNN_BY_PASS, x) - rank(PDNN_BY_PASS, y);
    if (!order && x->work.time_ns != y->work.time_ns)
        return x->work.time_ns < y->work.time_ns ? 1 : -1;
    for (size_t by = 0; by < PDNN_BY_COUNT && !order; by++)
        order = strcmp(x->key[by], y->key[by]);
    return order;
}

size_t pdnn_shares(const struct pdnn_op_rows *rows, const struct pdnn_by_list *by, struct pdnn_arena *arena,
                   struct pdnn_share **shares) {
    static const struct pdnn_by_list by_category = {{PDNN_BY_CATEGORY}, 1};
    const struct pdnn_family_def *family = pdnn_family_find(rows->family);
    struct pdnn_share *made = pdnn_arena_alloc(arena, rows->count + 2, sizeof *made);
    double residual_ns = rows->step_ns;
    size_t count = 0;
    by = by ? by : &by_category;
    for (size_t i = 0; i < rows->count; i++) {
        const struct pdnn_op_record *op = &rows->op[i];
        if (isnan(op->time_ns_median))
            continue;
        struct pdnn_share share = named(by, family, op);
        add_op(find(made, &count, &share), op);
        residual_ns -= op->time_ns_median;
    }
    if (count) {
        const char *id = made[0].id;
        /* Group "other" appears even when it is empty. */
        const struct pdnn_op_record none = {.id = id, .layer = "", .op = "", .category = "", .pass = ""};
        struct pdnn_share other = named(by, family, &none);
        if (family && by->count == 1 && by->by[0] == PDNN_BY_GROUP)
            find(made, &count, &other);
        qsort(made, count, sizeof *made, compare_shares);
        made[count] = (struct pdnn_share){.id = id,
                                          .key = {"", "", "", "", ""},
                                          .is_residual = true,
                                          .work = {.count = PDNN_ABSENT,
                                                   .flop_count = PDNN_ABSENT,
                                                   .in_bounds_flop_count = PDNN_ABSENT,
                                                   .byte_count = PDNN_ABSENT,
                                                   .time_ns = residual_ns}};
        made[count++].key[by->by[0]] = "residual";
    }
    for (size_t i = 0; i < count; i++)
        finish(&made[i], rows->step_ns);
    *shares = made;
    return count;
}

const struct pdnn_share *pdnn_shares_most(const struct pdnn_share *shares, size_t n_shares) {
    const struct pdnn_share *most = NULL;
    for (size_t i = 0; i < n_shares; i++)
        if (shares[i].most.op && (!most || shares[i].most_lost_ns > most->most_lost_ns))
            most = &shares[i];
    return most;
}

/* The time of a row is the sum over all columns of its percentage. */
struct pdnn_share_matrix pdnn_share_matrix(const struct pdnn_selection *selection,
                                           struct pdnn_ops_reader *readers, const struct pdnn_by_list *by,
                                           const struct pdnn_series *series, struct pdnn_arena *arena) {
    const size_t n_columns = series->count;
    size_t room = 1, n_rows = 0;
    struct {
        struct pdnn_share *share;
        size_t count;
    } *columns = pdnn_arena_alloc(arena, n_columns + 1, sizeof *columns);
    for (size_t c = 0; c < n_columns; c++) {
        const struct pdnn_op_rows rows = pdnn_selection_rows(selection, series->at[c], readers);
        columns[c].count = pdnn_shares(&rows, by, arena, &columns[c].share);
        room += columns[c].count;
    }
    struct pdnn_share *row = pdnn_arena_alloc(arena, room, sizeof *row);
    for (size_t c = 0; c < n_columns; c++)
        for (size_t i = 0; i < columns[c].count; i++) {
            struct pdnn_share like = columns[c].share[i];
            like.work = (struct pdnn_op_sum){.time_ns = 0};
            find(row, &n_rows, &like)->work.time_ns += columns[c].share[i].work.share_pct;
        }
    qsort(row, n_rows, sizeof *row, compare_shares);
    const struct pdnn_share **cells = pdnn_arena_alloc(arena, n_rows * n_columns + 1, sizeof *cells);
    for (size_t i = 0; i < n_rows * n_columns; i++) {
        const struct pdnn_share *shares = columns[i % n_columns].share;
        const size_t count = columns[i % n_columns].count,
                     at = find_share(shares, count, &row[i / n_columns]);
        cells[i] = at < count ? &shares[at] : NULL;
    }
    return (struct pdnn_share_matrix){row, cells, n_rows, n_columns};
}

#define PCT_OF_ROOF PDNN_KIND_NUMBER, PDNN_SHOW_FIXED, .above = PDNN_ABOVE_ROOF_PCT

#define AT(member)   .field = PDNN_FIELD(pdnn_share, member)
#define TEXT(member) .field = PDNN_FIELD_AS(BORROWED, pdnn_share, member)

#define SHARE_COLUMN(word, ...) {__VA_ARGS__},
static const struct pdnn_column_def columns[] = {
    {"id", TEXT(id), .help = "the instance"},
    PDNN_BY_COLUMNS(pdnn_share),
#include "results/query/columns/breakdown.inc"
};
const struct pdnn_table_def pdnn_shares_def = {"breakdown", "where the time of instances goes", columns,
                                               PDNN_SHARE_COLUMNS};
