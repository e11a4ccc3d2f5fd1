/* The families that ship: files of models/zoo, embedded when the program is built. */
#ifndef GEN_FAMILY_SHIPPED_H
#define GEN_FAMILY_SHIPPED_H

/* Makes them known to the catalog (models/zoo/catalog.h). Nothing is read before somebody asks. */
void pdnn_families_ship(void);

/* The text of a family that ships, or NULL. */
const char *pdnn_family_source(const char *name);

#endif
