/* tests/test_profiler_modules.c -- nodes of a graph know whose module's call they are part of. */
#include <stdio.h>

#include "tests/report_help.h"

#define HEAD                                                                                       \
	"import torch\\nimport torch.nn as nn\\n"                                                  \
	"class Block(nn.Module):\\n"                                                               \
	"    def __init__(self):\\n        super().__init__()\\n        self.up = nn.Linear(4, "   \
	"4)\\n"                                                                                    \
	"    def forward(self, x):\\n        return torch.relu(self.up(x))\\n"

/* "op module" of each op of the first graph, joined by ", ". */
static void assert_modules_as(enum fusion_mode mode, const char *source, const char *want)
{
	struct explain_options options = { .mode = mode };
	struct err err = { 0 };
	char got[1000] = "", text[4000];
	struct report_draft draft = { 0 };
	struct workload *w;
	json_t *json, *report, *node;
	size_t i;

	snprintf(text, sizeof(text),
		 "{'source': '%s', 'policy': 'native', 'calls': [[{'random': {'shape': [2, 4]}}]]}",
		 source);
	json = load(text);
	w = workload_parse(json, &err);
	json_decref(json);
	if (!w)
		fail_msg("line %d: %s", err.line, err.message);
	report = report_write_explain(profiler_explain(w, &options, &draft, &err));
	report_draft_finish(&draft);
	if (!report)
		fail_msg("line %d: %s", err.line, err.message);
	json_array_foreach(at(report, "graphs.0.nodes"), i, node)
	{
		const char *op = json_string_value(at(node, "op"));
		const char *module = json_string_value(json_object_get(node, "module"));

		if (strcmp(op, "placeholder") == 0)
			continue;
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s %s",
			 got[0] ? ", " : "", op, module ? module : "-");
	}
	assert_string_equal(got, want);
	json_decref(report);
	workload_destroy(w);
}

static void assert_modules(const char *source, const char *want)
{
	assert_modules_as(FUSION_STATIC, source, want);
}

static void modules_have_their_names_in_what_holds_them(void **state)
{
	(void)state;
	assert_modules(
	    HEAD "class Net(nn.Module):\\n    def __init__(self):\\n        "
		 "super().__init__()\\n        self.blocks = nn.ModuleList([Block(), "
		 "Block()])\\n"
		 "    def forward(self, x):\\n        for b in self.blocks:\\n            x = "
		 "b(x)\\n        return x * 2\\n"
		 "net = Net()\\ndef model(x):\\n    return net(x + 1)\\n",
	    "add -, linear Net/blocks.0:Block/up:Linear, relu Net/blocks.0:Block, linear "
	    "Net/blocks.1:Block/up:Linear, relu Net/blocks.1:Block, mul Net");
}

/* What follows is captured for the frame that was broken, with real ones around it. */
static void behind_a_break_the_path_is_the_same(void **state)
{
	(void)state;
	assert_modules(HEAD "class Net(nn.Module):\\n    def __init__(self):\\n        "
			    "super().__init__()\\n        self.block = Block()\\n"
			    "    def forward(self, x):\\n        print(1)\\n        return "
			    "self.block(x)\\n"
			    "net = Net()\\ndef model(x):\\n    return net(x)\\n",
		       "linear Net/block:Block/up:Linear, relu Net/block:Block");
}

static void one_that_nothing_holds_has_its_class_alone(void **state)
{
	(void)state;
	assert_modules(HEAD "class Net(nn.Module):\\n    def __init__(self):\\n        "
			    "super().__init__()\\n        self.kept = [Block()]\\n"
			    "    def forward(self, x):\\n        return self.kept[0](x)\\n"
			    "net = Net()\\ndef model(x):\\n    return net(x)\\n",
		       "linear Net/Block/up:Linear, relu Net/Block");
}

#define NET(forward)                                                                               \
	HEAD "class Net(nn.Module):\\n    def __init__(self):\\n        "                          \
	     "super().__init__()\\n        self.block = Block()\\n    def forward(self, "          \
	     "x):\\n" forward "net = Net()\\ndef model(x):\\n    return net(x) - 1\\n"

/* A capture forgets locals that are read no more, `self` too. */
static void behind_a_loop_the_path_is_the_same(void **state)
{
	(void)state;
	assert_modules(NET("        while x.sum() > 99:\\n            x = self.block(x)\\n"
			   "        return torch.exp(x)\\n"),
		       "sum Net, gt Net, ne Net, loop_carried Net, linear "
		       "Net/block:Block/up:Linear, relu Net/block:Block, sum Net, gt Net, ne Net, "
		       "loop_operands Net, while_loop Net, getitem Net, getitem Net, "
		       "logical_not Net, exp Net, sub -");
}

static void behind_a_branch_it_is_too(void **state)
{
	(void)state;
	assert_modules(NET("        if x.sum() > 0:\\n            x = torch.sin(x)\\n"
			   "        else:\\n            x = torch.cos(x)\\n"
			   "        return torch.exp(x)\\n"),
		       "sum Net, gt Net, ne Net, sin Net, cos Net, where Net, exp Net, sub -");
}

/* What follows a break belongs to the frame that was broken, of which it reads no `self`. */
static void behind_a_break_that_reads_no_self_it_is_too(void **state)
{
	(void)state;
	assert_modules(NET("        torch._dynamo.graph_break()\\n        return torch.exp(x)\\n"),
		       "exp Net, sub -");
}

static void self_may_stand_in_a_cell(void **state)
{
	(void)state;
	assert_modules(NET("        f = lambda t: self.block(t)\\n        return f(x * 2)\\n"),
		       "mul Net, linear Net/block:Block/up:Linear, relu Net/block:Block, sub -");
}

static void nodes_of_a_lazy_trace_have_modules_too(void **state)
{
	(void)state;
	assert_modules_as(
	    FUSION_LAZY, NET("        return self.block(x * 2) * 3\\n"),
	    "mul Net, linear Net/block:Block/up:Linear, relu Net/block:Block, mul Net, "
	    "sub -");
}

/* The rules of gradients run in no module: what they add is of the node that they are of. */
static void nodes_of_a_backward_pass_are_of_their_forward_nodes_module(void **state)
{
	(void)state;
	assert_modules(
	    HEAD "net = Block()\\ndef model(x):\\n    loss = net(x * 3).sum()\\n"
		 "    loss.backward()\\n    return loss * 2\\n",
	    "mul -, linear Block/up:Linear, relu Block, sum -, ones_like -, unsqueeze -, "
	    "unsqueeze -, expand -, le Block, where Block, reshape Block/up:Linear, "
	    "reshape Block/up:Linear, t Block/up:Linear, matmul Block/up:Linear, sum "
	    "Block/up:Linear, mul -");
}

/* The module of the first node of that op in the text of a graph; NULL: of none. */
static void assert_module_of(const char *text, const char *op, const char *want)
{
	const char *found = strstr(text, op), *in = NULL;

	assert_non_null(found);
	for (const char *p = text; (p = strstr(p, "\nin ")) && p < found; p++)
		in = p + 4;
	if (!in || strncmp(in, want, strlen(want)) != 0 || in[strlen(want)] != '\n')
		fail_msg("%s is of %.60s, not of %s", op, in ? in : "none", want);
}

static void so_are_those_of_a_backward_graph(void **state)
{
	struct profiler_options options = { .version = "test", .passes = true };
	struct err err;
	json_t *report = run_with(
	    "{'source': '" HEAD "net = Block()\\ndef model(x):\\n    return net(x * 3).sum()\\n', "
	    "'grad': true, 'modes': ['static'], 'backend': 'interp', "
	    "'calls': [[{'random': {'shape': [2, 4]}}]]}",
	    &options, &err);
	const char *text;

	(void)state;
	if (!report)
		fail_msg("%s", err.message);
	assert_string_equal(json_string_value(at(report, "modes.static.graphs.0.passes.1.part")),
			    "backward");
	text = json_string_value(at(report, "modes.static.graphs.0.passes.1.before"));
	assert_module_of(text, "= where(", "Block");
	assert_module_of(text, "= matmul(", "Block/up:Linear");
	assert_module_of(text, ", 3)", "the program");
	json_decref(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_have_their_names_in_what_holds_them),
		cmocka_unit_test(behind_a_break_the_path_is_the_same),
		cmocka_unit_test(one_that_nothing_holds_has_its_class_alone),
		cmocka_unit_test(behind_a_loop_the_path_is_the_same),
		cmocka_unit_test(behind_a_branch_it_is_too),
		cmocka_unit_test(behind_a_break_that_reads_no_self_it_is_too),
		cmocka_unit_test(self_may_stand_in_a_cell),
		cmocka_unit_test(nodes_of_a_lazy_trace_have_modules_too),
		cmocka_unit_test(nodes_of_a_backward_pass_are_of_their_forward_nodes_module),
		cmocka_unit_test(so_are_those_of_a_backward_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
