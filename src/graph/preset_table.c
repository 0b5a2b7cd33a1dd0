/* SPDX-License-Identifier: Apache-2.0 */
/* The library's own presets. bench/presets.py measures them beside their neighbors;
 * doc/presets.md gives the reasons. Strengths are per cent of the range, or auto where what
 * matters is the picture's own noise: CT and telescopes fill a small part of their type's range. */
#include "graph/preset.h"

#include <stddef.h>

#define SCENE "scene"
#define NOISE "noise"
#define VIDEO "video"

const tamis_preset tamis_priv_presets[] = {
    {"photo", "denoise,unsharp=sigma=1:amount=0.3:threshold=1%",
     "photographs: removes what noise there is and sharpens a little", SCENE},
    {"portrait", "bilateral=sigma_space=3:sigma_color=6%",
     "faces: softens skin, keeps eyes and hair sharp", SCENE},
    {"low_light",
     "nlmeans=h=auto:sigma=auto:search=11:patch=3:color=luma,"
     "bilateral=sigma_space=1.5:sigma_color=8%",
     "photographs at high ISO: removes strong noise, of color too", SCENE},
    {"scan", "denoise,unsharp=sigma=1:amount=0.5",
     "scanned pages: removes grain of paper and sensor, sharpens letters", SCENE},
    {"ct", "nlmeans=h=auto:sigma=auto:search=21:patch=3",
     "CT slices, whatever their levels: removes noise, keeps edges", SCENE},
    {"astronomy", "bilateral=sigma_space=1:sigma_color=auto",
     "stars and nebulae: removes the sky's noise, keeps the stars' peaks", SCENE},
    {"satellite", "bilateral=sigma_space=1:sigma_color=3%,unsharp=sigma=0.7:amount=0.4",
     "8-bit pictures of the ground: removes sensor noise, restores sharpness", SCENE},
    {"denoise10", "nlmeans=h=3%:sigma=4%:search=15:patch=3",
     "removes normal noise of 10 of 255 levels", NOISE},
    {"denoise25", "nlmeans=h=6.5%:sigma=10%:search=15:patch=5",
     "removes normal noise of 25 of 255 levels", NOISE},
    {"denoise50", "nlmeans=h=6.5%:sigma=20%:search=15:patch=5",
     "removes normal noise of 50 of 255 levels", NOISE},
    {"video_light", "nlmeans=frames=1:motion=32:search=5:patch=7:h=auto:sigma=auto",
     "video: removes noise, with the help of one frame before and after", VIDEO},
    {"video_medium", "nlmeans=frames=2:motion=32:search=5:patch=9:h=auto:sigma=auto",
     "video: removes noise, with the help of two frames before and after", VIDEO},
    {"video_strong", "nlmeans=frames=3:motion=32:search=5:patch=9:h=auto:sigma=auto",
     "video: removes noise, with the help of three frames before and after", VIDEO},
    {.name = NULL},
};
