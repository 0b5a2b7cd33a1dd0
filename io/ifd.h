/* SPDX-License-Identifier: Apache-2.0 */
/* TIFF directories (also the inside of an EXIF block) as lists of tags with plain values. */
#ifndef TAMIS_IO_IFD_H
#define TAMIS_IO_IFD_H

#include <stddef.h>
#include <stdint.h>

#define TAMIS_TAG_ORIENTATION  0x0112
#define TAMIS_TAG_EXIF_IFD     0x8769
#define TAMIS_TAG_GPS_IFD      0x8825
#define TAMIS_TAG_INTEROP_IFD  0xA005
#define TAMIS_TAG_PIXEL_WIDTH  0xA002
#define TAMIS_TAG_PIXEL_HEIGHT 0xA003

enum { TAMIS_IFD_ASCII = 2, TAMIS_IFD_SHORT = 3, TAMIS_IFD_LONG = 4, TAMIS_IFD_RATIONAL = 5 };

struct tamis_ifd;

typedef struct tamis_ifd_entry {
    uint16_t tag, type;
    uint64_t count;
    uint8_t *data; /* count values in host byte order */
    size_t size;
    struct tamis_ifd *sub; /* the directory that an EXIF, GPS or interoperability tag points to */
} tamis_ifd_entry;

typedef struct tamis_ifd {
    tamis_ifd_entry *entries; /* by tag, ascending */
    size_t count;
} tamis_ifd;

/* Bytes that hold directories. */
typedef struct tamis_ifd_input {
    size_t (*read)(void *user, uint64_t offset, void *buf, size_t size);
    void *user;
    int big_endian;
    int big_tiff;
    uint64_t budget;           /* bytes of values that may still be read */
    int (*want)(uint16_t tag); /* tags to read; NULL = all */
} tamis_ifd_input;

/* Reads "II*\0" and its kin at offset 0 into *input (read and user are set by the caller).
 * Returns the offset of the first directory, or 0 when there is no such header. */
uint64_t tamis_priv_ifd_header(tamis_ifd_input *input);

/* Reads the directory at offset and those below it, skipping entries that are broken. Returns 0
 * when nothing could be read; out then is empty. */
int tamis_priv_ifd_parse(tamis_ifd_input *input, uint64_t offset, tamis_ifd *out);

/* Offset of the directory after the one at offset (0 = none); returns 0 when it is not readable. */
int tamis_priv_ifd_next(const tamis_ifd_input *input, uint64_t offset, uint64_t *next);

const tamis_ifd_entry *tamis_priv_ifd_find(const tamis_ifd *ifd, uint16_t tag);
/* Adds or replaces; data (copied) is in host order. Returns 0 when there is no memory. */
int tamis_priv_ifd_set(tamis_ifd *ifd, uint16_t tag, uint16_t type, uint64_t count,
                       const void *data);
void tamis_priv_ifd_remove(tamis_ifd *ifd, uint16_t tag);
void tamis_priv_ifd_clear(tamis_ifd *ifd);

/* Bytes of one value of a TIFF type; 0 for unknown types. */
size_t tamis_priv_ifd_type_size(unsigned type);

/* Bytes of the directory, its values and everything below it; a multiple of 8. */
size_t tamis_priv_ifd_bytes(const tamis_ifd *ifd, int big_tiff);
/* Writes it in host byte order into buf, which will lie at file position base. */
void tamis_priv_ifd_write(const tamis_ifd *ifd, int big_tiff, uint64_t base, uint8_t *buf);

#endif
