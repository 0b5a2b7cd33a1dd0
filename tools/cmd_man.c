/* SPDX-License-Identifier: Apache-2.0 */
/* tamis man: the manual page in roff, from the tables. */
#include <stdio.h>
#include <string.h>

#include "help.h"

/* Text with what roff would take for its own escaped. */
static void print_roff(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
}

static void print_title(const char *macro, const char *text)
{
    printf(".%s ", macro);
    print_roff(text);
    putchar('\n');
}

static void print_option(const tool_option *option)
{
    char value[128];
    tool_option_value(option, value, sizeof(value));
    printf(".TP\n\\fB");
    if (option->letter)
        printf("\\-%c\\fR, \\fB", option->letter);
    printf("\\-\\-%s\\fR %s\n", option->name, value);
    print_roff(option->doc);
    if (option->def && option->kind != TOOL_FLAG)
        printf("; default %s", option->def);
    putchar('\n');
}

static void print_filter(const tamis_filter *filter)
{
    int count;
    const tamis_param *params = tamis_filter_params(filter, &count);
    print_title("SS", tamis_filter_name(filter));
    print_roff(tamis_filter_brief(filter));
    printf(".\n");
    for (int i = 0; i < count; i++) {
        char type[256], def[64], range[96];
        printf(".TP\n\\fB\\-\\-%s\\fR ", params[i].name);
        print_roff(tool_param_type(&params[i], type, sizeof(type)));
        putchar('\n');
        print_roff(params[i].doc);
        printf("; default ");
        print_roff(tool_param_default(filter, &params[i], def, sizeof(def)));
        tool_param_range(&params[i], params[i].unit, range, sizeof(range));
        printf("%s", *range ? "; " : "");
        print_roff(range);
        putchar('\n');
    }
}

static void print_borders(void)
{
    printf(".SH BORDERS\nHow a picture continues outside itself:\n.nf\n");
    static const char *const names[] = {"reflect101", "reflect",  "replicate",
                                        "wrap",       "constant", "valid"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        printf("%-11s %s\n", names[i], tool_border_picture(names[i]));
    printf(".fi\n");
}

static void print_batches(void)
{
    printf(
        ".SH BATCHES\n"
        "Several files are worked on at a time, by as many threads as filter; their reports come "
        "in the order of the inputs. Files are begun as long as their pictures and the "
        "filters' buffers fit \\-\\-max_memory, without it half of what the machine has. A file "
        "that fails, or a folder that cannot be read or holds no pictures, is named at once and "
        "again at the end; the others go on, and the exit status is 1. With \\-\\-json, unread "
        "lists such folders.\n.PP\n"
        "When a disk is full, no more files are begun whose results go there; others go on, and "
        "the exit status is 4. Ctrl\\-C ends it "
        "cleanly: files in work are dropped, and nothing of them is left; a second one ends it at "
        "once.\n.PP\n"
        "Pictures that were found in a folder, not named, and have the name of the result of "
        "another "
        "input are left out. With \\-\\-overwrite they would be lost: then only those that a "
        "manifest knows as results are left out, with \\-\\-resume, and others are refused.\n.PP\n"
        "With \\-\\-manifest or \\-\\-resume each file adds a line \\(lqstarted\\(rq, and one with "
        "what became of it, to a file of JSON lines: input, size, mtime_ns, chain, options, "
        "version, output, outcome (started, done, skipped or failed), output_size, message, time. "
        "\\-\\-resume leaves out inputs whose newest line is \\(lqdone\\(rq with the same chain, "
        "options and version, that have not changed, and whose result is there with that size. "
        "Other inputs are done, and results that the manifest knows are replaced; those it does "
        "not know need \\-\\-overwrite. So the same command may be given again and again until all "
        "is done, also after it was killed; temporary files of runs that are no more are then "
        "removed. Inputs that the manifest knows as results are left out, also when they are named."
        "\n.PP\n"
        "\\-\\-progress json prints lines with file, index, done and total of the first file in "
        "work, and files, finished, failed, share (0 to 1), seconds, files_per_second and "
        "seconds_left (or null) of the batch.\n");
}

static void print_presets(void)
{
    printf(
        ".SH PRESETS\n"
        "A preset is a chain with a name. @NAME stands for its filters wherever a chain is read, "
        "alone or among others: \\(aq@denoise25,unsharp\\(aq. It takes no parameters; \\fBtamis "
        "presets\\fR "
        "\\fINAME\\fR prints its chain, to be copied and changed. Strengths are per "
        "cent of the range or follow from the picture, so that they serve every sample type.\n");
    for (int i = 0; i < tamis_preset_count(NULL); i++) {
        const tamis_preset *preset = tamis_preset_at(NULL, i);
        printf(".TP\n\\fB@%s\\fR\n", preset->name);
        print_roff(preset->about);
        printf("\n.nf\n");
        print_roff(preset->chain);
        printf("\n.fi\n");
    }
    printf(
        ".PP\n"
        "Presets of your own stand in a text file, a line each: NAME = CHAIN # what it is for. "
        "Names are letters, digits, _ and \\-, a letter first; _ and \\- are the same. Chains may "
        "hold other presets. A name of tamis\\(aqs own then means yours, which \\-v says. The file "
        "is the one of \\-\\-presets, else of TAMIS_PRESETS (empty: none), else tamis/presets in "
        "XDG_CONFIG_HOME, which is \\(ti/.config where it is not set. It is read when a chain has "
        "an "
        "@NAME.\n");
}

static void print_video(void)
{
    printf(
        ".SH VIDEO\n"
        "A file is a video by its content. Frames are filtered as they are stored, plane by "
        "plane, and nothing is converted. Windows in pixels are the picture's: chroma with "
        "fewer samples gets smaller ones, odd ones staying odd. Smoothing is about luma and "
        "chroma, sharpening about luma, edges are luma on black without color; \\-\\-planes and "
        "\\-\\-chroma say otherwise. What moves pixels moves all planes. Levels are the file's: "
        "10 bits are 0 to 1023, and per cent are of that.\n.PP\n"
        "What could be read of a damaged file is filtered, the loss is said, and the exit status "
        "is 1. Ctrl\\-C leaves no file. \\-\\-progress json tells frames as done and total, with "
        "frames_per_second. With \\-\\-json a file has frames and loss (or null).\n");
}

static void print_commands(void)
{
    printf(".SH COMMANDS\n");
    for (const tool_command *c = tool_commands; c->name; c++) {
        printf(".TP\n\\fB%s\\fR ", c->name);
        print_roff(c->usage);
        putchar('\n');
        print_roff(c->brief);
        putchar('\n');
    }
}

int cmd_man(tool *t)
{
    (void)t;
    printf(".TH TAMIS 1 \"\" \"tamis %s\" \"User Commands\"\n", tamis_version());
    printf(
        ".SH NAME\ntamis \\- image filtering\n"
        ".SH SYNOPSIS\n"
        ".B tamis\n\\fIFILTER\\fR [\\fB\\-\\-\\fIparameter value\\fR]... \\fIIN\\fR... "
        "\\fB\\-o\\fR "
        "\\fIOUT\\fR\n.br\n"
        ".B tamis run\n\\(aq\\fIFILTER\\fR=\\fIkey\\fR=\\fIvalue\\fR:...,\\fIFILTER2\\fR=...\\(aq "
        "\\fIIN\\fR... \\fB\\-o\\fR \\fIOUT\\fR\n.br\n"
        ".B tamis\n\\fICOMMAND\\fR ...\n"
        ".SH DESCRIPTION\n"
        "Each IN is a file, a folder, a glob or \\- for standard input; a name that exists is\n"
        "taken literally before it is tried as a glob, and \\-\\- ends the options. OUT is a\n"
        "file, a folder, a template of {dir} {stem} {ext} {name}, or \\- for standard output.\n"
        "Type, metadata and pages of a picture are kept. Files are written whole or not at\n"
        "all, and none that exists is replaced unless asked.\n");
    print_commands();
    printf(".SH FILTERS\n");
    for (int i = 0; i < tamis_filter_count(); i++)
        print_filter(tamis_filter_at(i));
    print_borders();
    print_presets();
    print_batches();
    print_video();
    printf(
        ".SH OPTIONS\nA hyphen may be written for each underscore. Which options a command takes "
        "is shown by\n.B tamis help\n\\fICOMMAND\\fR.\n");
    for (const tool_option *o = tool_option_table; o->name; o++)
        print_option(o);
    printf(".SH EXIT STATUS\n");
    for (const tool_exit_text *e = tool_exit_texts; e->text; e++)
        printf(".TP\n%d\n%s\n", e->code, e->text);
    printf(".SH ENVIRONMENT\n.TP\n.B TAMIS_CPU\nhighest instruction set to use, as \\-\\-cpu\n"
           ".TP\n.B TAMIS_DEVICE\nwhere to filter, as \\-\\-device\n"
           ".TP\n.B TAMIS_CUDA_MODULE\npath of the CUDA module, instead of tamis_cuda.so beside "
           "the library\n"
           ".TP\n.B TAMIS_VIDEO_MODULE\npath of the module for video, instead of tamis_video.so "
           "beside the library\n"
           ".TP\n.B TAMIS_VIPS_MODULE\npath of the module for other picture formats, instead of "
           "tamis_vips.so beside the library\n"
           ".TP\n.B TAMIS_PRESETS\nfile of presets, as \\-\\-presets; empty: none but tamis\\(aqs "
           "own\n"
           ".TP\n.B XDG_CONFIG_HOME\nwhere tamis/presets is looked for; default \\(ti/.config\n"
           ".TP\n.B NO_COLOR\nno colors in messages when set and not empty\n");
    return TOOL_OK;
}
