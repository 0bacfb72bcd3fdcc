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
static void assert_modules(const char *source, const char *want)
{
	struct explain_options options = { .mode = FUSION_STATIC };
	struct err err = { 0 };
	char got[1000] = "", text[4000];
	struct workload *w;
	json_t *json, *report, *node;
	size_t i;

	snprintf(text, sizeof(text), "{'source': '%s', 'calls': [[{'random': {'shape': [2, 4]}}]]}",
		 source);
	json = load(text);
	w = workload_parse(json, &err);
	json_decref(json);
	if (!w)
		fail_msg("line %d: %s", err.line, err.message);
	report = profiler_explain(w, &options, &err);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_have_their_names_in_what_holds_them),
		cmocka_unit_test(behind_a_break_the_path_is_the_same),
		cmocka_unit_test(one_that_nothing_holds_has_its_class_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
