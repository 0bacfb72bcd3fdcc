#!/bin/sh
# db/embed.sh FILE.sql... -- the migrations as assembler: a table of strings
# that ends with a null pointer (read by db/db.c).
set -eu

echo '.section .data.rel.ro,"aw",@progbits'
echo '.global migration_texts'
echo '.balign 8'
echo 'migration_texts:'
i=0
for file in "$@"; do
	i=$((i + 1))
	echo "	.quad migration_$i"
done
echo '	.quad 0'
echo '.section .rodata'
i=0
for file in "$@"; do
	i=$((i + 1))
	printf 'migration_%s:\n\t.incbin "%s"\n\t.byte 0\n' "$i" "$file"
done
echo '.section .note.GNU-stack,"",@progbits'
