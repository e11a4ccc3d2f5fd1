#include "cli/scaling_text.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "results/table/sheet.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void put_table(struct pdnn_sheet *table, struct pdnn_str *out) {
    pdnn_sheet_format(table, pdnn_terminal_width(STDOUT_FILENO), out);
    pdnn_sheet_finish(table);
}

void pdnn_scaling_text(struct pdnn_str *out, const struct pdnn_scaling *scaling, bool with_batch) {
    static const struct pdnn_sheet_column columns[] = {
        {"instance", PDNN_ALIGN_GROUP},      {"nodes", PDNN_ALIGN_RIGHT},
        {"slices", PDNN_ALIGN_RIGHT},        {"step", PDNN_ALIGN_RIGHT},
        {"compute", PDNN_ALIGN_RIGHT},       {"gradients", PDNN_ALIGN_RIGHT},
        {"slicing", PDNN_ALIGN_RIGHT},       {"exposed", PDNN_ALIGN_RIGHT},
        {"% of step", PDNN_ALIGN_RIGHT},     {"hidden %", PDNN_ALIGN_RIGHT},
        {"examples/s", PDNN_ALIGN_RIGHT},    {"efficiency %", PDNN_ALIGN_RIGHT},
        {"parameters", PDNN_ALIGN_RIGHT},    {"memory", PDNN_ALIGN_RIGHT},
        {"largest batch", PDNN_ALIGN_RIGHT},
    };
    struct pdnn_sheet table;
    char text[PDNN_UNIT_TEXT];
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof *columns - !with_batch);
    for (size_t i = 0; i < scaling->count; i++) {
        const struct pdnn_scaled *row = &scaling->row[i];
        const double times[] = {row->time_ns, row->compute_ns, row->gradients_ns, row->slices_ns,
                                row->exposed_ns};
        pdnn_sheet_cell(&table, "%s", row->id);
        pdnn_sheet_cell(&table, "%" PRId64, row->nodes);
        pdnn_sheet_cell(&table, "%" PRId64, row->slice);
        for (size_t k = 0; k < sizeof times / sizeof *times; k++)
            pdnn_sheet_cell(&table, "%s", pdnn_format_ns(text, times[k]));
        pdnn_sheet_cell(&table, "%.1f", row->exposed_pct);
        pdnn_sheet_number(&table, row->hidden_pct, 0, "");
        pdnn_sheet_cell(&table, "%.3g", row->examples_per_s);
        pdnn_sheet_cell(&table, "%.0f", row->efficiency_pct);
        pdnn_sheet_cell(&table, "%s", pdnn_format_si(text, (double)row->params, ""));
        pdnn_sheet_cell(&table, "%s", pdnn_format_bytes(text, (double)row->memory_bytes));
        if (with_batch && row->largest_batch == PDNN_ABSENT)
            pdnn_sheet_cell(&table, "none");
        else if (with_batch)
            pdnn_sheet_cell(&table, "%" PRIu64, row->largest_batch);
    }
    put_table(&table, out);
}

static const struct pdnn_scaled_part *find_part(const struct pdnn_scaled *row, const char *part) {
    for (size_t i = 0; i < row->n_parts; i++) {
        if (strcmp(row->part[i].part, part) == 0)
            return &row->part[i];
    }
    return NULL;
}

/* The rows of one instance, from `first` on, as many as fit a table. */
static size_t put_instance(struct pdnn_str *out, const struct pdnn_scaling *scaling, size_t first) {
    struct pdnn_sheet_column columns[PDNN_SHEET_COLUMNS_MAX] = {{"part", PDNN_ALIGN_LEFT}};
    char titles[PDNN_SHEET_COLUMNS_MAX][32];
    struct pdnn_sheet table;
    size_t count = 0;
    while (first + count < scaling->count && count + 1 < PDNN_SHEET_COLUMNS_MAX &&
           strcmp(scaling->row[first + count].id, scaling->row[first].id) == 0) {
        const struct pdnn_scaled *row = &scaling->row[first + count++];
        snprintf(titles[count], sizeof titles[count], "%" PRId64 " x %" PRId64, row->nodes, row->slice);
        columns[count] = (struct pdnn_sheet_column){titles[count], PDNN_ALIGN_RIGHT};
    }
    pdnn_str_printf(out, "%s%s\n", first ? "\n" : "", scaling->row[first].id);
    pdnn_sheet_init(&table, columns, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct pdnn_scaled *row = &scaling->row[first + i];
        for (size_t k = 0; k < row->n_parts; k++) {
            size_t before = 0;
            while (before < i && !find_part(&scaling->row[first + before], row->part[k].part))
                before++;
            if (before < i)
                continue;
            pdnn_sheet_cell(&table, "%s", row->part[k].part);
            for (size_t c = 0; c < count; c++) {
                const struct pdnn_scaled_part *part = find_part(&scaling->row[first + c], row->part[k].part);
                pdnn_sheet_number(&table, part ? part->share_pct : NAN, 1, " %");
            }
        }
    }
    put_table(&table, out);
    return count;
}

void pdnn_scaling_parts_text(struct pdnn_str *out, const struct pdnn_scaling *scaling) {
    for (size_t i = 0; i < scaling->count;)
        i += put_instance(out, scaling, i);
}
