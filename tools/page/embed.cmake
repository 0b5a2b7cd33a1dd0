# SPDX-License-Identifier: Apache-2.0
# cmake -DFOLDER=tools/page -DOUT=page_texts.h -P embed.cmake: the files of a folder as C, so that
# pages can be edited as what they are and still travel inside the command.
file(GLOB files ${FOLDER}/*.html ${FOLDER}/*.css ${FOLDER}/*.js)
set(texts "")
set(entries "")
foreach(path ${files})
  get_filename_component(file ${path} NAME)
  string(MAKE_C_IDENTIFIER ${file} id)
  file(READ ${path} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}")
  string(APPEND texts "static const unsigned char text_${id}[] = {\n${bytes}0};\n")
  string(APPEND entries "    {\"${file}\", text_${id}},\n")
endforeach()
file(WRITE ${OUT} "/* Made from the files in tools/page/ by embed.cmake. */
#ifndef PAGE_TEXTS_H
#define PAGE_TEXTS_H

#include <stddef.h>

${texts}
typedef struct page_text {
    const char *name;
    const unsigned char *text;
} page_text;

static const page_text page_texts[] = {
${entries}    {NULL, NULL}};

#endif
")
