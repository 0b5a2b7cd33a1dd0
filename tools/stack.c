/* SPDX-License-Identifier: Apache-2.0 */
#include "stack.h"

#include <string.h>

static void empty(tool_page *page)
{
    tamis_image_unref(&page->image);
    tamis_meta_clear(&page->meta);
    page->number = -1;
}

void tool_stack_open(tool_stack *stack, tamis_reader *reader, int pages)
{
    memset(stack, 0, sizeof(*stack));
    stack->reader = reader;
    stack->pages = pages;
    for (int i = 0; i < TOOL_STACK_SLOTS; i++)
        stack->slots[i].number = -1;
}

void tool_stack_close(tool_stack *stack)
{
    for (int i = 0; i < TOOL_STACK_SLOTS; i++)
        empty(&stack->slots[i]);
}

void tool_stack_drop(tool_stack *stack, int number)
{
    for (int i = 0; i < TOOL_STACK_SLOTS; i++) {
        if (stack->slots[i].number >= 0 && stack->slots[i].number < number)
            empty(&stack->slots[i]);
    }
}

tamis_status tool_stack_get(tool_stack *stack, int number, tool_page **out)
{
    tool_page *page = &stack->slots[number % TOOL_STACK_SLOTS];
    *out = page;
    if (page->number == number)
        return TAMIS_OK;
    empty(page);
    tamis_status status = tamis_reader_read(stack->reader, number, &page->image, &page->meta);
    if (!status)
        page->number = number;
    return status;
}

void tool_stack_put(tool_stack *stack, int number, const tamis_image *image, const tamis_meta *meta,
                    tool_page **out)
{
    tool_page *page = &stack->slots[number % TOOL_STACK_SLOTS];
    empty(page);
    *page = (tool_page){.number = number, .image = *image, .meta = *meta};
    *out = page;
}

tamis_status tool_stack_frames(tool_stack *stack, int number, int around,
                               const tamis_image **frames)
{
    const tamis_image *now = &stack->slots[number % TOOL_STACK_SLOTS].image;
    for (int f = -around; f <= around; f++) {
        tool_page *page = NULL;
        frames[around + f] = NULL;
        if (number + f < 0 || number + f >= stack->pages)
            continue;
        tamis_status status = tool_stack_get(stack, number + f, &page);
        if (status)
            return status;
        if (page->image.w == now->w && page->image.h == now->h &&
            tamis_format_equal(page->image.format, now->format))
            frames[around + f] = &page->image;
    }
    return TAMIS_OK;
}
