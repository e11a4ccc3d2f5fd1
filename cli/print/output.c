#include "cli/print/output.h"

#include "base/fill.h"
#include "base/visible.h"
#include "cli/print/progress.h"
#include "gen/spec.h"
#include "models/varying.h"
#include "results/table/escape.h"
#include "session/session.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void pdnn_tell_spec(const struct pdnn_spec *spec) {
    char shown[PDNN_VISIBLE_TEXT];
    if (spec->installed)
        fprintf(stderr, "spec: %s\n", pdnn_visible(shown, spec->installed));
}

/* In the order of pdnn_table_formats. */
static enum pdnn_table_format format_of(const struct pdnn_arguments *arguments) {
    return (enum pdnn_table_format)pdnn_argument_choice(arguments, "format", PDNN_FORMAT_TEXT);
}

bool pdnn_wants_text(const struct pdnn_arguments *arguments) {
    return format_of(arguments) == PDNN_FORMAT_TEXT && !pdnn_argument(arguments, "columns");
}

struct pdnn_table_writer pdnn_table_printer(const struct pdnn_arguments *arguments) {
    return (struct pdnn_table_writer){.format = format_of(arguments),
                                      .width = pdnn_terminal_width(STDOUT_FILENO),
                                      .choice = pdnn_argument(arguments, "columns")};
}

enum pdnn_status pdnn_table_print_rows(struct pdnn_table_writer *printer, const struct pdnn_table *table,
                                       const struct pdnn_row_list *rows, struct pdnn_err *err) {
    struct pdnn_str out = {0};
    if (!printer->is_started && pdnn_table_choose(printer, table, err) != PDNN_OK)
        return err->status;
    printer->out = &out;
    pdnn_table_write(printer, table, rows);
    pdnn_text_print(&out, printer->format != PDNN_FORMAT_TEXT);
    return PDNN_OK;
}

void pdnn_table_print_end(struct pdnn_table_writer *printer) {
    struct pdnn_str out = {0};
    printer->out = &out;
    pdnn_table_write_end(printer);
    pdnn_text_print(&out, printer->format != PDNN_FORMAT_TEXT);
}

static enum pdnn_status print(struct pdnn_table_writer *printer, struct pdnn_table *table,
                              struct pdnn_err *err) {
    enum pdnn_status status = pdnn_table_print_rows(printer, table, NULL, err);
    pdnn_table_print_end(printer);
    pdnn_table_finish(table);
    return status;
}

enum pdnn_status pdnn_table_print(struct pdnn_table *table, const struct pdnn_arguments *arguments,
                                  struct pdnn_err *err) {
    struct pdnn_table_writer printer = pdnn_table_printer(arguments);
    return print(&printer, table, err);
}

enum pdnn_status pdnn_table_check_columns(const struct pdnn_table_def *def,
                                          const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_table_writer printer = pdnn_table_printer(arguments);
    struct pdnn_table table;
    pdnn_table_init(&table, def);
    enum pdnn_status status = pdnn_table_choose(&printer, &table, err);
    pdnn_table_finish(&table);
    return status;
}

enum pdnn_status pdnn_table_print_prose(struct pdnn_table *table, const struct pdnn_arguments *arguments,
                                        struct pdnn_err *err) {
    struct pdnn_table_writer printer = pdnn_table_printer(arguments);
    struct stat file;
    if (!printer.width && fstat(STDOUT_FILENO, &file) == 0 && S_ISFIFO(file.st_mode))
        printer.width = pdnn_terminal_width(STDERR_FILENO);
    return print(&printer, table, err);
}

void pdnn_table_show(struct pdnn_str *out, const struct pdnn_table *table, const struct pdnn_row_list *rows,
                     const size_t *columns, size_t n_columns) {
    struct pdnn_table_writer writer = {.out = out,
                                       .format = PDNN_FORMAT_TEXT,
                                       .width = pdnn_terminal_width(STDOUT_FILENO),
                                       .columns = columns,
                                       .n_columns = n_columns};
    pdnn_table_write(&writer, table, rows);
    pdnn_table_write_end(&writer);
}

void pdnn_line_append(struct pdnn_str *out, struct pdnn_str *line, size_t indent, size_t plain_width) {
    struct pdnn_str shown = {0};
    size_t width = pdnn_terminal_width(STDOUT_FILENO);
    pdnn_visible_append(&shown, pdnn_str_text(line), line->length, "");
    if (shown.length)
        pdnn_fill_text(out, pdnn_str_text(&shown), indent, width ? width : plain_width);
    pdnn_str_finish(&shown);
    pdnn_str_finish(line);
}

void pdnn_common_append(struct pdnn_str *out, const struct pdnn_varying *varying) {
    struct pdnn_str line = {0};
    pdnn_str_printf(&line, "not repeated below: ");
    const size_t length = line.length;
    pdnn_varying_common(varying, &line);
    if (line.length > length) {
        pdnn_line_append(out, &line, 2, SIZE_MAX);
        pdnn_str_append(out, "\n", 1);
    }
    pdnn_str_finish(&line);
}

void pdnn_text_print(struct pdnn_str *text, bool is_data) {
    struct pdnn_str shown = {0};
    const struct pdnn_str *printed = text;
    if (!is_data || isatty(STDOUT_FILENO)) {
        pdnn_visible_append(&shown, pdnn_str_text(text), text->length, "\n");
        printed = &shown;
    }
    fwrite(pdnn_str_text(printed), 1, printed->length, stdout);
    fflush(stdout); /* or lines on stderr stand in the middle of one where both go to one file */
    pdnn_str_finish(text);
    pdnn_str_finish(&shown);
}

void pdnn_word_append(struct pdnn_str *out, const char *text) {
    char shown[PDNN_VISIBLE_TEXT];
    pdnn_str_printf(out, "%s", *text == '-' ? "./" : "");
    pdnn_shell_quote(out, pdnn_visible(shown, text));
}

void pdnn_next_append(struct pdnn_str *out, const char *format, const char *path) {
    size_t length;
    pdnn_str_printf(out, "next:   paradnn ");
    for (const char *rest = format, *part; (part = pdnn_part_next(&rest, "*", &length));) {
        pdnn_str_append(out, part, length);
        if (rest)
            pdnn_word_append(out, path);
    }
}

size_t pdnn_outcomes_append(struct pdnn_str *out, const size_t counts[PDNN_OUTCOME_COUNT]) {
    size_t sum = 0, n_shown = 0;
    for (int outcome = 0; outcome < PDNN_OUTCOME_COUNT; outcome++)
        sum += counts[outcome];
    pdnn_str_printf(out, "%zu instances", sum);
    for (int outcome = 0; outcome < PDNN_OUTCOME_COUNT; outcome++)
        if (counts[outcome])
            pdnn_str_printf(out, "%s %zu %s", n_shown++ ? "," : ":", counts[outcome],
                            pdnn_outcome_name((enum pdnn_outcome)outcome));
    return sum;
}

void pdnn_tally_append(struct pdnn_str *out, const struct pdnn_tally *tally) {
    const char *separator = "; ";
    pdnn_outcomes_append(out, tally->counts);
    for (int stage = 0; stage < PDNN_STAGE_COUNT; stage++) {
        bool is_shown = stage == PDNN_STAGE_OTHER ? tally->stage[stage] > 0
                                                  : tally->stage[PDNN_STAGE_DONE] < tally->instances;
        if (is_shown)
            pdnn_str_printf(out, "%s%zu %s", separator, tally->stage[stage],
                            stage == PDNN_STAGE_OTHER ? "of another spec" : pdnn_stage_names[stage]);
        separator = is_shown ? ", " : separator;
    }
}
