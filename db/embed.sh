#!/bin/sh
# db/embed.sh NAME FILE.sql... -- files of SQL as assembler: NAME_texts, a table of strings that ends
# with a null pointer (read by db/db.c and db/shared_open.h).
set -eu

name=$1
shift
echo '.section .data.rel.ro,"aw",@progbits'
echo ".global ${name}_texts"
echo '.balign 8'
echo "${name}_texts:"
i=0
for file in "$@"; do
	i=$((i + 1))
	echo "	.quad ${name}_$i"
done
echo '	.quad 0'
echo '.section .rodata'
i=0
for file in "$@"; do
	i=$((i + 1))
	printf '%s_%s:\n\t.incbin "%s"\n\t.byte 0\n' "$name" "$i" "$file"
done
echo '.section .note.GNU-stack,"",@progbits'
