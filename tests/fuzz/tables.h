/* What the targets of tables share: cells that survive writing and reading. */
#ifndef TESTS_FUZZ_TABLES_H
#define TESTS_FUZZ_TABLES_H

#include "tests/whole_csv.h"

#include <stdint.h>

/* Parses the bytes; false if they are not a table. Release *csv with whole_csv_finish. */
bool tables_parse(const uint8_t *bytes, size_t length, struct whole_csv *csv);

/* Writes the table as CSV and reads that back: the same cells. */
void tables_check_round_trip(const struct whole_csv *csv);

#endif
