/* SPDX-License-Identifier: Apache-2.0 */
/* A user's program, built against what was installed: program IN OUT filters a picture and prints
 * which video libraries there are. */
#include <stdio.h>

#include <tamis/io.h>
#include <tamis/tamis.h>
#include <tamis/video.h>

static tamis_status filter(tamis_ctx *ctx, const char *in, const char *out)
{
    tamis_image src = {0}, dst = {0};
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    tamis_status status = tamis_image_load(ctx, in, &src, NULL);
    if (status == TAMIS_OK)
        status = tamis_graph_parse(ctx, "gaussian=sigma=2", &graph);
    if (status == TAMIS_OK)
        status = tamis_plan_create(ctx, graph, src.format, src.w, src.h, NULL, &plan);
    if (status == TAMIS_OK)
        status = tamis_image_create(ctx, src.format, src.w, src.h, &dst);
    if (status == TAMIS_OK)
        status = tamis_plan_run(plan, &src, &dst, NULL);
    if (status == TAMIS_OK)
        status = tamis_image_save(ctx, out, &dst, NULL);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    tamis_image_unref(&src);
    tamis_image_unref(&dst);
    return status;
}

int main(int argc, char **argv)
{
    tamis_ctx *ctx = NULL;
    char text[512];
    tamis_status status = argc == 3 ? tamis_ctx_create(NULL, &ctx) : TAMIS_ERR_ARGUMENT;
    if (status == TAMIS_OK)
        status = filter(ctx, argv[1], argv[2]);
    if (status != TAMIS_OK)
        fprintf(stderr, "%s\n",
                ctx ? tamis_ctx_last_message(ctx, text, sizeof text) : "program IN OUT");
    puts(tamis_video_libraries(text, sizeof text));
    tamis_ctx_free(&ctx);
    return status != TAMIS_OK;
}
