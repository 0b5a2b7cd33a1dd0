/* SPDX-License-Identifier: Apache-2.0 */
#include "video_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

void tool_frame_free(tool_frame *frame)
{
    if (!frame)
        return;
    tamis_video_frame_release(&frame->src);
    tamis_video_frame_release(&frame->dst);
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++)
        tamis_image_unref(&frame->own[i]);
    free(frame);
}

void tool_queue_open(tool_queue *queue)
{
    *queue = (tool_queue){.first = 0};
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->changed, &clock);
    pthread_condattr_destroy(&clock);
}

void tool_queue_free(tool_queue *queue)
{
    for (; queue->count > 0; queue->count--) {
        tool_frame_free(queue->items[queue->first]);
        queue->first = (queue->first + 1) % TOOL_QUEUE_ROOM;
    }
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->mutex);
}

int tool_queue_push(tool_queue *queue, tool_frame *frame)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == TOOL_QUEUE_ROOM && !queue->closed)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    int wanted = !queue->closed;
    if (wanted) {
        queue->items[(queue->first + queue->count) % TOOL_QUEUE_ROOM] = frame;
        queue->count++;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
    if (!wanted)
        tool_frame_free(frame);
    return wanted;
}

static int is_settled(const tool_queue *queue)
{
    return queue->count > 0 || queue->ended || queue->closed;
}

int tool_queue_wait(tool_queue *queue, int ms)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += (long)ms * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&queue->mutex);
    int late = 0;
    while (!is_settled(queue) && !late)
        late = pthread_cond_timedwait(&queue->changed, &queue->mutex, &end) == ETIMEDOUT;
    int settled = is_settled(queue);
    pthread_mutex_unlock(&queue->mutex);
    return settled;
}

tool_frame *tool_queue_pop(tool_queue *queue)
{
    tool_frame *frame = NULL;
    pthread_mutex_lock(&queue->mutex);
    while (!is_settled(queue))
        pthread_cond_wait(&queue->changed, &queue->mutex);
    if (queue->count > 0 && !queue->closed) {
        frame = queue->items[queue->first];
        queue->first = (queue->first + 1) % TOOL_QUEUE_ROOM;
        queue->count--;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
    return frame;
}

static void set(tool_queue *queue, int *flag)
{
    pthread_mutex_lock(&queue->mutex);
    *flag = 1;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

void tool_queue_end(tool_queue *queue)
{
    set(queue, &queue->ended);
}

void tool_queue_close(tool_queue *queue)
{
    set(queue, &queue->closed);
}
