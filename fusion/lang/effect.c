/* fusion/lang/effect.c -- how instructions move the top of the operand stack.
 *
 * The numbers of code.def's third column: the compiler sizes the stack by them,
 * and the VM checks by them that a program stays inside it.  RETURN pops one and
 * nothing follows it.
 */
#include "fusion/lang/lang.h"

int code_effect(enum code_op op, int arg)
{
	switch (op) {
	case CODE_LOAD_CONST:
	case CODE_LOAD_FAST:
	case CODE_LOAD_GLOBAL:
	case CODE_LOAD_DEREF:
	case CODE_LOAD_CLOSURE:
	case CODE_COPY:
	case CODE_IMPORT:
	case CODE_FOR_ITER:
	case CODE_LOAD_NAME:
	case CODE_PUSH_EXC:
	case CODE_BEFORE_WITH:
	case CODE_WITH_EXCEPT:
	case CODE_MATCH_SEQUENCE:
		return 1;
	case CODE_STORE_FAST:
	case CODE_STORE_GLOBAL:
	case CODE_STORE_DEREF:
	case CODE_BINARY_OP:
	case CODE_INPLACE_OP:
	case CODE_COMPARE_OP:
	case CODE_BINARY_SUBSCR:
	case CODE_JUMP_IF_FALSE:
	case CODE_JUMP_IF_TRUE:
	case CODE_POP:
	case CODE_RETURN:
	case CODE_DELETE_ATTR:
	case CODE_IMPORT_STAR:
	case CODE_LIST_APPEND:
	case CODE_SET_ADD:
	case CODE_LIST_EXTEND:
	case CODE_SET_UPDATE:
	case CODE_DICT_UPDATE:
	case CODE_DICT_MERGE:
	case CODE_STORE_NAME:
	case CODE_POP_EXC:
	case CODE_RERAISE:
	case CODE_WITH_EXIT:
	case CODE_MATCH_CLASS:
		return -1;
	case CODE_RAISE:
		return -arg;
	case CODE_FORMAT_VALUE:
		return arg & 4 ? -1 : 0;
	case CODE_DELETE_SUBSCR:
	case CODE_MAP_ADD:
	case CODE_CALL_EX:
	case CODE_STORE_ATTR:
	case CODE_MAKE_FUNCTION:
		return -2;
	case CODE_STORE_SUBSCR:
		return -3;
	case CODE_BUILD_TUPLE:
	case CODE_BUILD_SET:
	case CODE_BUILD_STRING:
	case CODE_BUILD_LIST:
	case CODE_BUILD_SLICE:
		return 1 - arg;
	case CODE_BUILD_MAP:
		return 1 - 2 * arg;
	case CODE_UNPACK_SEQUENCE:
		return arg - 1;
	case CODE_UNPACK_EX:
		return (arg & 255) + (arg >> 8);
	case CODE_MAKE_CLASS:
		return -1 - arg;
	case CODE_CALL:
		return -arg;
	case CODE_CALL_KW:
		return -arg - 1;
	default:
		return 0;
	}
}
