/* Linked to every test: the families that ship are known before main, as they are in the program. */
#include "gen/family/shipped.h"

__attribute__((constructor)) static void ship(void) {
    pdnn_families_ship();
}
