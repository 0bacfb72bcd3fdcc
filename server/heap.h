/* server/heap.h -- memory of a command that lives for milliseconds. */
#ifndef SERVER_HEAP_H
#define SERVER_HEAP_H

/* Takes the heap at once, in huge pages where the system has them: page by page a
 * third of the time of `explain` would go into faults.  Before threads begin. */
void heap_take(void);

#endif
