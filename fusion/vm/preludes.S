/* fusion/vm/preludes.S -- the texts of preludes.def, a row each in its order: the text, and the names
 * that it defines.  fusion/vm/prelude.c reads them.  (#include, not
 * .include: what keeps objects by their text, as ccache does, sees the .incbin.) */
	.section .rodata
#include "preludes.s"

	.section .data.rel.ro, "aw"
	.balign 8
	.global prelude_texts
prelude_texts:
#define PRELUDE(module, text) .quad text, text##_names;
#include "fusion/vm/preludes.def"

	.section .note.GNU-stack, "", %progbits
