/* profiler/import/flows.c -- which flows begin, and which end. */
#include "profiler/import/flows.h"

#include <stdlib.h>

enum { SLOTS = 2 * FLOW_MAX_PAGES, IDS_PER_BYTE = 4 };

void flows_finish(struct flows *f)
{
	for (int i = 0; f->pages && i < SLOTS; i++)
		free(f->pages[i].bits);
	free(f->pages);
	*f = (struct flows){ 0 };
}

/* The slot of a page, or the free one where it would stand. */
static struct flow_page *slot_of(const struct flows *f, uint64_t number)
{
	uint64_t at = (number * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

	for (;; at++) {
		struct flow_page *page = &f->pages[at % SLOTS];

		if (!page->bits || page->number == number)
			return page;
	}
}

bool flows_note(struct flows *f, uint64_t id, int bits)
{
	uint64_t within = id % FLOW_PAGE_IDS;
	struct flow_page *page;

	if (!f->pages)
		f->pages = calloc(SLOTS, sizeof(*f->pages));
	if (!f->pages)
		return false;
	page = slot_of(f, id / FLOW_PAGE_IDS);
	if (!page->bits) {
		if (f->n_pages == FLOW_MAX_PAGES)
			return false;
		page->bits = calloc(FLOW_PAGE_IDS / IDS_PER_BYTE, 1);
		if (!page->bits)
			return false;
		page->number = id / FLOW_PAGE_IDS;
		f->n_pages++;
	}
	page->bits[within / IDS_PER_BYTE] |= (uint8_t)(bits << 2 * (within % IDS_PER_BYTE));
	return true;
}

int flows_have(const struct flows *f, uint64_t id)
{
	uint64_t within = id % FLOW_PAGE_IDS;
	const struct flow_page *page = f->pages ? slot_of(f, id / FLOW_PAGE_IDS) : NULL;

	return page && page->bits
		   ? page->bits[within / IDS_PER_BYTE] >> 2 * (within % IDS_PER_BYTE) & 3
		   : 0;
}

void flows_count(const struct flows *f, int64_t *open, int64_t *orphans, int64_t *whole)
{
	*open = *orphans = *whole = 0;
	for (int i = 0; f->pages && i < SLOTS; i++) {
		const uint8_t *bits = f->pages[i].bits;

		for (int k = 0; bits && k < FLOW_PAGE_IDS; k++) {
			int have = bits[k / IDS_PER_BYTE] >> 2 * (k % IDS_PER_BYTE) & 3;

			*open += have == FLOW_STARTS;
			*orphans += have == FLOW_ENDS;
			*whole += have == (FLOW_STARTS | FLOW_ENDS);
		}
	}
}
