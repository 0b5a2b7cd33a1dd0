/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a libFuzzer dictionary: every filter, parameter, choice and preset, from the
 * tables. */
#include <stdio.h>

#include <tamis/tamis.h>

int main(void)
{
    for (int f = 0; f < tamis_filter_count(); f++) {
        int count;
        const tamis_param *p = tamis_filter_params(tamis_filter_at(f), &count);
        printf("\"%s=\"\n", tamis_filter_name(tamis_filter_at(f)));
        for (int i = 0; i < count; i++) {
            printf("\"%s=\"\n\"%s=%.10g\"\n", p[i].name, p[i].name, p[i].max);
            for (int c = 0; p[i].choices && p[i].choices[c]; c++)
                printf("\"%s=%s\"\n", p[i].name, p[i].choices[c]);
        }
    }
    for (int i = 0; i < tamis_preset_count(NULL); i++)
        printf("\"@%s\"\n", tamis_preset_at(NULL, i)->name);
    return 0;
}
