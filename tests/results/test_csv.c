#define _POSIX_C_SOURCE 200809L
/* CSV: whatever is written reads back; numbers are exact and independent of the locale; broken files are
 * refused with file and line; a torn last line is distinguished from a broken file. */
#include "tests/cmocka_all.h"

#include "base/rng.h"
#include "base/units.h"
#include "tests/whole_csv.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum pdnn_status parse(const char *text, size_t length, struct whole_csv *csv, struct pdnn_err *err) {
    char *copy = malloc(length + 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    copy[length] = 0;
    return whole_csv_parse("t.csv", copy, length, csv, err);
}

static const char *formatted(struct pdnn_str *str, double value, int digits) {
    pdnn_str_clear(str);
    pdnn_number_format(str, value, digits);
    return pdnn_str_text(str);
}

static void test_number_format_table(void **state) {
    (void)state;
    static const struct {
        double value;
        int digits;
        const char *text;
    } rows[] = {
        {0, 6, "0"},
        {-0.0, 6, "0"},
        {1, 6, "1"},
        {-1.5, 6, "-1.5"},
        {0.1, 17, "0.1"},
        {1.0 / 3, 6, "0.333333"},
        {2.0 / 3, 6, "0.666667"},
        {1e-3, 6, "0.001"},
        {0.0000123456789, 6, "0.0000123457"},
        {1.5e-7, 6, "1.5e-7"},
        {123456.789, 6, "123457"},
        {1234567890.125, 6, "1234567890"},
        {999999.7, 6, "1000000"},
        {9.9999996, 6, "10"},
        {1e16, 6, "10000000000000000"},
        {1e20, 6, "1e20"},
        {1.25e300, 17, "1.25e300"},
        {9007199254740993.0, 17, "9007199254740992"},
        {NAN, 6, ""},
        {INFINITY, 6, ""},
        {-INFINITY, 17, ""},
    };
    struct pdnn_str str = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(formatted(&str, rows[i].value, rows[i].digits), rows[i].text);
    pdnn_str_finish(&str);
}

static void check_exact_numbers(void) {
    struct pdnn_rng rng = {7, 0};
    struct pdnn_str str = {0};
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = pdnn_rng_next(&rng);
        double value, back = 0;
        memcpy(&value, &bits, sizeof value);
        if (i % 2)
            value = floor(pdnn_rng_double(&rng) * 1e12) / 1e3;
        if (!isfinite(value))
            continue;
        assert_true(pdnn_parse_double(formatted(&str, value, PDNN_DIGITS_EXACT), &back));
        assert_true(back == value);
    }
    pdnn_str_finish(&str);
}

static void test_number_format_reads_back_exactly(void **state) {
    (void)state;
    check_exact_numbers();
}

/* As pdnn_number_format was before it had digits of its own. */
static const char *printed(char *out, double value, int digits) {
    char text[64], *digit = out + (value < 0);
    double magnitude = fabs(value);
    *out = '-';
    snprintf(text, sizeof text, "%.*e", digits - 1, magnitude);
    int exponent = atoi(strchr(text, 'e') + 1), count = 0;
    if (exponent >= digits && exponent < 17) {
        sprintf(digit, "%.0f", round(magnitude));
        return out;
    }
    char all[32];
    for (const char *at = text; *at != 'e'; at++)
        if (*at != '.')
            all[count++] = *at;
    while (count > 1 && all[count - 1] == '0')
        count--;
    if (exponent < -6 || exponent >= 17)
        sprintf(digit, "%c%s%.*se%d", *all, count > 1 ? "." : "", count - 1, all + 1, exponent);
    else if (exponent < 0)
        sprintf(digit, "0.%.*s%.*s", -exponent - 1, "00000", count, all);
    else if (count <= exponent + 1)
        sprintf(digit, "%.*s%.*s", count, all, exponent + 1 - count, "00000000000000000");
    else
        sprintf(digit, "%.*s.%.*s", exponent + 1, all, count - exponent - 1, all + exponent + 1);
    return out;
}

static double any_double(struct pdnn_rng *rng, int i) {
    uint64_t bits = pdnn_rng_next(rng);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (i % 4 == 1)
        value = pdnn_rng_double(rng) * pow(10, (double)pdnn_rng_below(rng, 40) - 20);
    else if (i % 4 == 2) /* halves between two decimals, which are exact */
        value = (double)(int64_t)pdnn_rng_below(rng, 1 << 26) / (double)(1 << pdnn_rng_below(rng, 20));
    else if (i % 4 == 3) /* a decimal, or a neighbour of it */
        value = nextafter(strtod("1e1", NULL) * (double)pdnn_rng_below(rng, 1000000) / 1e6, i % 8 ? 0 : 1e9);
    return value;
}

static void test_number_format_is_that_of_printf(void **state) {
    (void)state;
    struct pdnn_rng rng = {11, 0};
    struct pdnn_str str = {0};
    for (int i = 0; i < 1000000; i++) {
        char expected[400];
        double value = any_double(&rng, i);
        int digits = i % 3 ? PDNN_DIGITS_TABLE : 1 + i % 15;
        if (isfinite(value) && value != 0)
            assert_string_equal(formatted(&str, value, digits), printed(expected, value, digits));
    }
    pdnn_str_finish(&str);
}

static void test_number_parse_is_strtod(void **state) {
    (void)state;
    static const char *const others[] = {"",    "-",   ".",  "-.", "1e",  "1e400", "nan",
                                         "inf", "0x1", "1 ", " 1", "1,5", "--1"};
    struct pdnn_rng rng = {12, 0};
    struct pdnn_str str = {0};
    double value = 0;
    for (int i = 0; i < 300000; i++) {
        const char *text = formatted(&str, any_double(&rng, i), 1 + i % 17);
        if (*text && isfinite(strtod(text, NULL))) { /* 2e308 is 1.7e308 with one digit */
            assert_true(pdnn_number_parse(text, &value));
            assert_true(value == strtod(text, NULL));
        }
    }
    pdnn_str_finish(&str);
    assert_true(pdnn_number_parse("+1.5", &value) && value == 1.5);
    assert_true(pdnn_number_parse("-.5", &value) && value == -.5);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(pdnn_number_parse(others[i], &value));
}

static bool set_comma_locale(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8",
                                        "es_ES.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (setlocale(LC_ALL, names[i]) && strcmp(localeconv()->decimal_point, ",") == 0)
            return true;
    }
    setlocale(LC_ALL, "C");
    return false;
}

/* Runs all number code under a locale that writes 1,5. If none is installed but its source is, builds one. */
static void test_number_format_ignores_locale(void **state) {
    (void)state;
    char directory[] = "/tmp/pdnn_test_locale_XXXXXX", command[256];
    bool comma = set_comma_locale();
    if (!comma && mkdtemp(directory)) {
        snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
                 directory);
        setenv("LOCPATH", directory, 1);
        comma = system(command) == 0 && set_comma_locale();
        snprintf(command, sizeof command, "rm -r %s", directory);
        assert_int_equal(system(command), 0);
    }
    if (!comma)
        skip();
    struct pdnn_str str = {0};
    char standard[16];
    double value = 0;
    snprintf(standard, sizeof standard, "%.1f", 1.5);
    assert_string_equal(standard, "1,5");
    assert_string_equal(formatted(&str, 1234.5, 6), "1234.5");
    assert_string_equal(formatted(&str, 0.1, PDNN_DIGITS_EXACT), "0.1");
    assert_true(pdnn_parse_double("1.5", &value));
    assert_true(value == 1.5);
    assert_false(pdnn_parse_double("1,5", &value));
    check_exact_numbers();
    setlocale(LC_ALL, "C");
    pdnn_str_finish(&str);
}

static void test_csv_append_quotes_what_needs_it(void **state) {
    (void)state;
    static const char *const fields[] = {"plain", "a,b", "say \"no\"", "", "a\nb", "NA", "NAN"};
    struct pdnn_str str = {0};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        pdnn_csv_append(&str, fields[i]);
        pdnn_str_append(&str, ";", 1);
    }
    assert_string_equal(pdnn_str_text(&str), "plain;\"a,b\";\"say \"\"no\"\"\";;\"a\nb\";\"NA\";NAN;");
    pdnn_str_finish(&str);
}

static void test_csv_parse_reads_back_nasty_fields(void **state) {
    (void)state;
    static const char *const fields[] = {
        "",        "a",     ",",   "\"",          "\"\"",
        "\n",      "\r\n",  "\r",  "a\nb,c\"d\"", " lead and trail ",
        "\"start", "end\"", "1,5", ";|%;",        "\xc3\xa9 utf-8",
        "'",       "\\",    "\t",  "=1+1",        "a\r",
        "NA",
    };
    enum { N = sizeof fields / sizeof *fields, COLUMNS = 3 };
    for (size_t shift = 0; shift < N; shift++) {
        struct pdnn_str str = {0};
        struct whole_csv csv = {0};
        struct pdnn_err err = {0};
        pdnn_str_append(&str, "x,y,z\n", 6);
        for (size_t i = 0; i < N; i++) {
            for (size_t k = 0; k < COLUMNS; k++) {
                pdnn_csv_append(&str, fields[(i + k * shift) % N]);
                pdnn_str_append(&str, k + 1 < COLUMNS ? "," : "\n", 1);
            }
        }
        assert_int_equal(parse(str.text, str.length, &csv, &err), PDNN_OK);
        assert_int_equal(csv.n_rows, N);
        assert_int_equal(csv.n_columns, COLUMNS);
        assert_int_equal(whole_csv_find(&csv, "z"), 2);
        for (size_t i = 0; i < N; i++) {
            for (size_t k = 0; k < COLUMNS; k++)
                assert_string_equal(whole_csv_get(&csv, i, (int)k), fields[(i + k * shift) % N]);
        }
        whole_csv_finish(&csv);
        pdnn_str_finish(&str);
    }
}

static void test_csv_parse_accepts(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t n_rows;
        const char *last;
    } rows[] = {
        {"a,b\n1,2\n", 1, "2"},
        {"a,b\r\n1,2\r\n", 1, "2"},
        {"a,b\n1,2", 1, "2"},
        {"a,b\n1,\n", 1, ""},
        {"a,b\n,\n", 1, ""},
        {"a,b\n\"1\",\"2\"\r\n", 1, "2"},
        {"a,b\n1,\"x\r\ny\"\n", 1, "x\r\ny"},
        {"a,b\n1,\"2\"", 1, "2"},
        {"a,b\n1,2\n3,\"\"\n", 2, ""},
        {"a,b\n1,NA\n", 1, ""},
        {"a,b\nNA,\"NA\"", 1, "NA"},
        {"a,b\n1,NA.", 1, "NA."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct whole_csv csv = {0};
        struct pdnn_err err = {0};
        assert_int_equal(parse(rows[i].text, strlen(rows[i].text), &csv, &err), PDNN_OK);
        assert_int_equal(csv.n_rows, rows[i].n_rows);
        assert_string_equal(whole_csv_get(&csv, csv.n_rows - 1, 1), rows[i].last);
        assert_string_equal(whole_csv_get(&csv, 0, -1), "");
        assert_int_equal(whole_csv_find(&csv, "c"), -1);
        whole_csv_finish(&csv);
    }
}

static void test_csv_parse_names_file_and_line(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        const char *message;
    } rows[] = {
        {"", 0, "t.csv:1: empty, expected a header row"},
        {"a,a\n", 4, "t.csv:1: column 'a' is there twice"},
        {"a,b\n1,2\n3\n", 10, "t.csv:3: 1 fields, the header has 2"},
        {"a,b\n\"1\n\n\",2\n3,4,5\n", 18, "t.csv:5: 3 fields, the header has 2"},
        {"a,b\n1,2\n\n", 9, "t.csv:3: 1 fields, the header has 2"},
        {"a,b\n1,x\"y\n", 10, "t.csv:2: a quote inside an unquoted field"},
        {"a,b\n1,\"x\"y\n", 11, "t.csv:2: text after a closing quote"},
        {"a,b\n1,2\n3,\"x\n", 13, "t.csv:3: a quote that is never closed"},
        {"a,b\n1,2\n3,\0\n", 12, "t.csv:3: a NUL byte"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct whole_csv csv = {0};
        struct pdnn_err err = {0};
        assert_int_equal(parse(rows[i].text, rows[i].length, &csv, &err), PDNN_INVALID);
        assert_string_equal(err.text, rows[i].message);
    }
}

static void test_csv_parse_columns_limit(void **state) {
    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        struct pdnn_str str = {0};
        struct whole_csv csv = {0};
        struct pdnn_err err = {0};
        for (size_t i = 0; i < PDNN_TABLE_COLUMNS_MAX + extra; i++)
            pdnn_str_printf(&str, "%sc%zu", i ? "," : "", i);
        pdnn_str_append(&str, "\n", 1);
        enum pdnn_status status = parse(str.text, str.length, &csv, &err);
        if (extra) {
            assert_int_equal(status, PDNN_INVALID);
            assert_string_equal(err.text, "t.csv:1: too many columns");
        } else {
            assert_int_equal(status, PDNN_OK);
            assert_int_equal(csv.n_columns, PDNN_TABLE_COLUMNS_MAX);
            whole_csv_finish(&csv);
        }
        pdnn_str_finish(&str);
    }
}

static void test_csv_read_limit_and_missing(void **state) {
    (void)state;
    char path[] = "/tmp/pdnn_test_csv_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "a\n1\n", 4), 4);
    close(fd);
    struct whole_csv csv = {0};
    struct pdnn_err err = {0};
    assert_int_equal(whole_csv_read(path, 4, &csv, &err), PDNN_OK);
    whole_csv_finish(&csv);
    assert_int_equal(whole_csv_read(path, 3, &csv, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, path));
    unlink(path);
    assert_int_equal(whole_csv_read(path, 4, &csv, &err), PDNN_INVALID);
    assert_non_null(strstr(err.text, path));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number_format_table),
        cmocka_unit_test(test_number_format_reads_back_exactly),
        cmocka_unit_test(test_number_format_is_that_of_printf),
        cmocka_unit_test(test_number_parse_is_strtod),
        cmocka_unit_test(test_number_format_ignores_locale),
        cmocka_unit_test(test_csv_append_quotes_what_needs_it),
        cmocka_unit_test(test_csv_parse_reads_back_nasty_fields),
        cmocka_unit_test(test_csv_parse_accepts),
        cmocka_unit_test(test_csv_parse_names_file_and_line),
        cmocka_unit_test(test_csv_parse_columns_limit),
        cmocka_unit_test(test_csv_read_limit_and_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
