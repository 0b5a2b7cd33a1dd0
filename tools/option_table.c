/* SPDX-License-Identifier: Apache-2.0 */
/* Every option that a command may take, and which takes which. */
#include <string.h>

#include "options.h"

static const char *const progress_names[] = {"auto", "bar", "json", "none", NULL};
static const char *const decoder_names[] = {"auto", "software", "cuda", NULL};
static const char *const table_names[] = {"filters", "published", NULL};
const char *const tool_noise_names[] = {"gaussian", "saltpepper", "poisson", "speckle", NULL};

#define VIDEO (TOOL_GROUP_FILTER | TOOL_GROUP_RESULT)
#define OPTION(field, ...)                                                                         \
    {                                                                                              \
        .name = #field, .offset = offsetof(tool_options, field), __VA_ARGS__                       \
    }

const tool_option tool_option_table[] = {
    OPTION(out, .letter = 'o', .kind = TOOL_TEXT, .arg = "OUT",
           .groups = TOOL_GROUP_WRITE | TOOL_GROUP_REPORT,
           .doc =
               "file, or - for standard output; for pictures also a folder, or a template of {dir} "
               "{stem} {ext} {name}"),
    OPTION(recursive, .kind = TOOL_FLAG, .groups = TOOL_GROUP_FILTER,
           .doc = "go into the folders below a folder, too; below a folder given by -o the results "
                  "lie as their inputs do"),
    OPTION(shard, .kind = TOOL_TEXT, .arg = "I/N", .groups = TOOL_GROUP_FILTER,
           .doc = "only share I, from 1, of N shares of the inputs, by a hash of their names: N "
                  "runs with the same inputs do each once"),
    OPTION(manifest, .kind = TOOL_TEXT, .arg = "FILE", .groups = TOOL_GROUP_FILTER,
           .doc = "append to FILE what becomes of each input, a line of JSON each; with --shard "
                  "I-of-N is put before its extension"),
    OPTION(resume, .kind = TOOL_FLAG, .groups = TOOL_GROUP_FILTER,
           .doc =
               "go on with a batch that was cut off: leave out what the manifest says is done "
               "and has not changed since; videos go on inside; without --manifest it is "
               "tamis-manifest.jsonl in the folder given by -o, or a hidden file beside the only "
               "result"),
    OPTION(overwrite, .kind = TOOL_FLAG,
           .groups = TOOL_GROUP_WRITE | TOOL_GROUP_COMPARE | TOOL_GROUP_REPORT | TOOL_GROUP_REPEAT,
           .doc = "replace files that exist"),
    OPTION(skip_existing, .kind = TOOL_FLAG, .groups = TOOL_GROUP_WRITE,
           .doc = "leave out inputs whose output exists"),
    OPTION(in_place, .kind = TOOL_FLAG, .groups = TOOL_GROUP_FILTER,
           .doc = "write each result over its input, instead of -o"),
    OPTION(dry_run, .kind = TOOL_FLAG, .groups = TOOL_GROUP_FILTER,
           .doc = "say what would be done, and write nothing"),
    OPTION(strip, .kind = TOOL_FLAG, .groups = TOOL_GROUP_WRITE | TOOL_GROUP_RESULT,
           .doc = "do not carry metadata over"),
    OPTION(guide, .kind = TOOL_TEXT, .arg = "FILE", .groups = TOOL_GROUP_GUIDE | TOOL_GROUP_RESULT,
           .doc = "second input, for filters that take one: the map of remap, a picture of float "
                  "columns and rows in two channels; what bilateral looks at for edges"),
    OPTION(format, .kind = TOOL_TEXT, .arg = "NAME", .groups = TOOL_GROUP_WRITE | TOOL_GROUP_RESULT,
           .doc = "format to write: png, jpeg, tiff, pnm, pam, pfm, npy or raw; of video y4m, mkv, "
                  "mp4 and others; default: by the output's extension, else that of the input"),
    OPTION(quality, .kind = TOOL_INT, .min = 1, .max = 100, .arg = "N",
           .groups = TOOL_GROUP_WRITE | TOOL_GROUP_RESULT,
           .doc = "quality of JPEG, of WebP, AVIF, HEIF, JPEG XL and JPEG 2000, which libvips "
                  "writes, and of video, where 92 shows no loss and 100 is the codec's best; "
                  "default 92"),
    OPTION(level, .kind = TOOL_INT, .min = 1, .max = 9, .arg = "N",
           .groups = TOOL_GROUP_WRITE | TOOL_GROUP_RESULT,
           .doc = "PNG and deflate effort; default 6"),
    OPTION(compression, .kind = TOOL_TEXT, .arg = "NAME",
           .groups = TOOL_GROUP_WRITE | TOOL_GROUP_RESULT,
           .doc = "TIFF compression: none, deflate or lzw; default deflate"),
    OPTION(tiff_tile, .kind = TOOL_INT, .min = 16, .max = 65536, .arg = "N",
           .groups = TOOL_GROUP_WRITE | TOOL_GROUP_RESULT,
           .doc = "TIFF tile side, a multiple of 16; default: strips"),
    OPTION(pyramid, .kind = TOOL_FLAG, .groups = TOOL_GROUP_WRITE | TOOL_GROUP_RESULT,
           .doc = "TIFF: behind each page smaller ones, each half the size of the one before, for "
                  "viewers of huge pictures; tiles of 256 unless --tiff_tile says otherwise. Those "
                  "of the input are left out"),
    OPTION(raw, .kind = TOOL_TEXT, .arg = "WxH:TYPE[:CHANNELS[:OFFSET]]|WxH:PIXELS[:RATE]",
           .groups = TOOL_GROUP_READ | TOOL_GROUP_RESULT,
           .doc =
               "inputs are headerless little-endian samples, such as 640x480:u16:1, or frames of "
               "video, such as 640x480:yuv420p10:25"),
    OPTION(presets, .kind = TOOL_TEXT, .arg = "FILE", .groups = TOOL_GROUP_CHAIN,
           .doc = "file of presets of your own, lines NAME = CHAIN # what for, used as @NAME in "
                  "chains; default: TAMIS_PRESETS, else tamis/presets in XDG_CONFIG_HOME "
                  "(~/.config), if it is there"),
    OPTION(planes, .kind = TOOL_TEXT, .arg = "y|uv|yuv|a|all|rgb", .groups = VIDEO,
           .doc = "video: planes to filter; default: all but alpha, for sharpening and edges luma "
                  "alone. What moves pixels moves all planes"),
    OPTION(chroma, .kind = TOOL_TEXT, .arg = "CHAIN", .groups = VIDEO,
           .doc = "video: filter chroma with this chain instead; windows in pixels are scaled to "
                  "its samples, as those of the chain for luma are"),
    OPTION(decoder, .kind = TOOL_CHOICE, .choices = decoder_names, .def = "auto", .groups = VIDEO,
           .doc = "video: what decodes files for filters on a GPU; auto: its hardware where that "
                  "can, straight into the filters; software: FFmpeg on the CPU; cuda: as auto, "
                  "with a warning where the hardware cannot. The results are the same"),
    OPTION(start, .kind = TOOL_NUMBER, .min = 0, .max = 1e9, .arg = "SECONDS", .groups = VIDEO,
           .doc = "video: begin at this time"),
    OPTION(end, .kind = TOOL_NUMBER, .min = 0, .max = 1e9, .arg = "SECONDS", .groups = VIDEO,
           .doc = "video: end before this time"),
    OPTION(frame_range, .kind = TOOL_TEXT, .arg = "A-B", .groups = VIDEO,
           .doc = "video: frames A to B alone, both included, counted from 0 (from --start on)"),
    OPTION(scene_cut, .kind = TOOL_NUMBER, .min = 0, .max = 100, .def = "6", .arg = "PERCENT",
           .groups = VIDEO,
           .doc = "video: temporal filters stop at a cut of scenes, where luma changes by this "
                  "much and far more than between the frames before; 0: nowhere"),
    OPTION(codec, .kind = TOOL_TEXT, .arg = "NAME", .groups = VIDEO,
           .doc = "video: codec or encoder, such as h264, hevc, av1, ffv1; default: what the "
                  "container takes and holds the depth"),
    OPTION(crf, .kind = TOOL_NUMBER, .min = 0, .max = 100, .arg = "N", .groups = VIDEO,
           .doc = "video: quality on the codec's own scale, instead of --quality; less is better, "
                  "0 the best it has"),
    OPTION(preset, .kind = TOOL_TEXT, .arg = "NAME", .groups = VIDEO,
           .doc = "video: the encoder's preset for speed, such as fast or slow"),
    OPTION(pix_fmt, .kind = TOOL_TEXT, .arg = "NAME", .groups = VIDEO,
           .doc = "video: pixel format to write, such as yuv420p10; default: that of the input"),
    OPTION(lossless, .kind = TOOL_FLAG, .groups = VIDEO,
           .doc = "video, WebP, AVIF, HEIF, JPEG XL and JPEG 2000: encode without loss"),
    OPTION(tile, .kind = TOOL_SIZE, .min = 1, .max = 1 << 20, .arg = "WxH",
           .groups = TOOL_GROUP_FILTER, .doc = "size of the tiles; results do not depend on it"),
    OPTION(jobs, .kind = TOOL_INT, .min = 1, .max = 1024, .arg = "N", .groups = TOOL_GROUP_FILTER,
           .doc = "files worked on at a time; default: as many as threads, two more with a GPU. "
                  "Results, reports and their order do not depend on it"),
    OPTION(progress, .kind = TOOL_CHOICE, .choices = progress_names, .def = "auto",
           .groups = TOOL_GROUP_FILTER,
           .doc = "progress on standard error; auto shows a bar on a terminal"),

    OPTION(size, .kind = TOOL_SIZE, .min = 1, .max = 1 << 20, .arg = "WxH",
           .groups = TOOL_GROUP_SHAPE,
           .doc = "size of the picture; default 1920x1080, for verify 61x37"),
    OPTION(type, .kind = TOOL_TEXT, .arg = "TYPE", .groups = TOOL_GROUP_SHAPE,
           .doc = "sample type and channels, such as u8x3; default u8x3, for verify all"),
    OPTION(filter, .kind = TOOL_TEXT, .arg = "CHAIN", .groups = TOOL_GROUP_MEASURE,
           .doc = "only this filter; bench takes a chain too"),
    OPTION(table, .kind = TOOL_CHOICE, .choices = table_names, .def = "filters",
           .groups = TOOL_GROUP_REPEAT,
           .doc = "filters: all of them, or --filter; published: the cases that published tables "
                  "of CPU and GPU times are about, "
                  "beside their figures"),
    OPTION(repeat, .kind = TOOL_INT, .min = 1, .max = 10000, .def = "5", .arg = "N",
           .groups = TOOL_GROUP_REPEAT, .doc = "runs of which the fastest counts"),

    OPTION(report, .kind = TOOL_TEXT, .arg = "FILE",
           .groups = TOOL_GROUP_FILTER | TOOL_GROUP_REPEAT,
           .doc = "write a page for browsers, in one file: the picture before and after with all "
                  "measures; of several files, an index of them, those that stand out first; of a "
                  "bench, a chart"),
    OPTION(original, .kind = TOOL_TEXT, .arg = "FILE",
           .groups = TOOL_GROUP_REPORT | TOOL_GROUP_FILTER,
           .doc = "clean picture that the result should look like, for the report's measures"),
    OPTION(levels, .kind = TOOL_TEXT, .arg = "LOW,HIGH",
           .groups = TOOL_GROUP_REPORT | TOOL_GROUP_FILTER,
           .doc = "levels that the report shows as black and white; default: all of u8, for other "
                  "types by what the pictures hold"),
    OPTION(diff, .kind = TOOL_TEXT, .arg = "OUT", .groups = TOOL_GROUP_COMPARE,
           .doc = "write the picture of absolute differences"),
    OPTION(diff_gain, .kind = TOOL_NUMBER, .min = 1e-6, .max = 1e6, .def = "1", .arg = "X",
           .groups = TOOL_GROUP_COMPARE, .doc = "multiply the differences in that picture"),
    OPTION(peak, .kind = TOOL_NUMBER, .min = 1e-30, .max = 1e30, .arg = "X",
           .groups = TOOL_GROUP_COMPARE | TOOL_GROUP_REPORT,
           .doc = "data range for PSNR and SSIM; default 255, 65535 or 1 by sample type"),
    OPTION(max_abs, .kind = TOOL_NUMBER, .min = 0, .max = 1e30, .arg = "X",
           .groups = TOOL_GROUP_COMPARE, .doc = "fail when a sample differs by more"),
    OPTION(max_mse, .kind = TOOL_NUMBER, .min = 0, .max = 1e30, .arg = "X",
           .groups = TOOL_GROUP_COMPARE, .doc = "fail when the mean squared error is larger"),
    OPTION(min_psnr, .kind = TOOL_NUMBER, .min = -1e30, .max = 1e30, .arg = "DB",
           .groups = TOOL_GROUP_COMPARE, .doc = "fail when the PSNR is lower"),
    OPTION(min_ssim, .kind = TOOL_NUMBER, .min = -1, .max = 1, .arg = "X",
           .groups = TOOL_GROUP_COMPARE, .doc = "fail when the SSIM is lower"),

    OPTION(port, .kind = TOOL_INT, .min = 1, .max = 65535, .arg = "N", .groups = TOOL_GROUP_SERVE,
           .doc = "port to listen on; default: one that is free"),
    OPTION(open, .kind = TOOL_FLAG, .groups = TOOL_GROUP_SERVE,
           .doc = "open the page in the desktop's browser"),
    OPTION(max_upload, .kind = TOOL_BYTES, .def = "256M", .arg = "SIZE", .groups = TOOL_GROUP_SERVE,
           .doc = "largest picture that is taken from a browser"),

    OPTION(kind, .kind = TOOL_CHOICE, .choices = tool_noise_names, .def = "gaussian",
           .groups = TOOL_GROUP_NOISE, .doc = "kind of noise"),
    OPTION(sigma, .kind = TOOL_TEXT, .def = "10%", .arg = "S", .groups = TOOL_GROUP_NOISE,
           .doc = "standard deviation: gaussian in levels or % of the type's range, speckle in % "
                  "of the sample"),
    OPTION(amount, .kind = TOOL_NUMBER, .min = 0, .max = 1e9, .arg = "X",
           .groups = TOOL_GROUP_NOISE,
           .doc = "saltpepper: share of the pixels, 0 to 1, default 0.05; poisson: photons at the "
                  "type's full range, default 255"),
    OPTION(seed, .kind = TOOL_SEED, .def = "1", .arg = "N", .groups = TOOL_GROUP_NOISE,
           .doc = "the same seed gives the same noise on every machine and thread count"),

    OPTION(threads, .kind = TOOL_INT, .min = 1, .max = 1024, .arg = "N",
           .groups = TOOL_GROUP_COMPUTE,
           .doc = "threads that filter, and that read and write files; default: one per CPU"),
    OPTION(cpu, .kind = TOOL_TEXT, .arg = "ISA", .groups = TOOL_GROUP_COMPUTE,
           .doc = "highest instruction set to use: c, base, avx2 or avx512; default: "
                  "TAMIS_CPU, else the best there is"),
    OPTION(device, .kind = TOOL_TEXT, .arg = "auto|cpu|cuda[:I,J|:all]",
           .groups = TOOL_GROUP_DEVICE,
           .doc = "where to filter: auto takes the first GPU for chains that can run there, else "
                  "the CPU; cuda never falls back; cuda:all and cuda:0,1 share the work among "
                  "several; default: TAMIS_DEVICE, else auto"),
    OPTION(max_memory, .kind = TOOL_BYTES, .arg = "SIZE", .groups = TOOL_GROUP_COMPUTE,
           .doc = "memory to work in, such as 4G: fewer files at a time, and what needs more "
                  "is refused"),
    OPTION(json, .kind = TOOL_FLAG, .groups = TOOL_GROUP_JSON,
           .doc = "print one JSON object on standard output"),
    OPTION(verbose, .letter = 'v', .kind = TOOL_FLAG, .groups = TOOL_GROUP_ALL,
           .doc = "say more; twice for the library's own log"),
    OPTION(quiet, .letter = 'q', .kind = TOOL_FLAG, .groups = TOOL_GROUP_ALL,
           .doc = "say nothing but errors"),
    OPTION(help, .letter = 'h', .kind = TOOL_FLAG, .groups = TOOL_GROUP_ALL,
           .doc = "print help and leave"),
    {.name = NULL}};

int tool_option_applies(const tool_option *option, unsigned groups, const tamis_filter *filter)
{
    if (!(option->groups & (groups | TOOL_GROUP_ALL)))
        return 0;
    if ((option->groups & TOOL_GROUP_GUIDE) && filter && tamis_filter_max_inputs(filter) < 2)
        return 0;
    int count = 0;
    const tamis_param *params = filter ? tamis_filter_params(filter, &count) : NULL;
    for (int i = 0; i < count; i++) {
        if (strcmp(params[i].name, option->name) == 0)
            return 0;
    }
    return 1;
}
