/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <tamis/filter.h>
#include <tamis/image.h>

static const struct {
    const char *name;
    size_t size;
    double range;
} types[TAMIS_TYPE_COUNT] = {
    [TAMIS_U8] = {"u8", 1, 255}, [TAMIS_U16] = {"u16", 2, 65535}, [TAMIS_S16] = {"s16", 2, 65535},
    [TAMIS_F16] = {"f16", 2, 1}, [TAMIS_F32] = {"f32", 4, 1},
};

size_t tamis_type_size(tamis_type type)
{
    return types[type].size;
}

const char *tamis_type_name(tamis_type type)
{
    return types[type].name;
}

double tamis_type_range(tamis_type type)
{
    return types[type].range;
}

double tamis_value_resolve(tamis_value value, tamis_type type)
{
    return value.percent ? value.value * tamis_type_range(type) / 100 : value.value;
}

int tamis_format_equal(tamis_format a, tamis_format b)
{
    return a.type == b.type && a.channels == b.channels && a.layout == b.layout &&
           a.alpha == b.alpha;
}

const char *tamis_format_print(tamis_format format, char *buf, size_t size)
{
    static const char *const alpha[] = {"", " straight-alpha", " premultiplied-alpha"};
    snprintf(buf, size, "%sx%d %s%s", tamis_type_name(format.type), format.channels,
             format.layout == TAMIS_PLANAR ? "planar" : "packed", alpha[format.alpha]);
    return buf;
}
