// A queue of jobs. The last job is taken twice.
#include <stdio.h>
#include <stdlib.h>

struct job {
    int id;
    struct job *next;
};

struct job *push(struct job *head, int id) {
    struct job *job = malloc(sizeof *job);
    job->id = id;
    job->next = head;
    return job;
}

int take(struct job **head) {
    struct job *first = *head;
    int id = first->id; // BUG
    *head = first->next;
    free(first);
    return id;
}

int main(void) {
    struct job *queue = NULL;
    int waiting = 3;
    for (int id = 1; id <= waiting; id++) queue = push(queue, id);
    for (int turn = 0; turn <= waiting; turn++) {
        int id = take(&queue);
        printf("job %d done\n", id);
    }
    return 0;
}
