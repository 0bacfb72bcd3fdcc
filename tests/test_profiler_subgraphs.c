/* tests/test_profiler_subgraphs.c -- loops within a captured graph, as a report has them. */
#include <stdio.h>

#include "tests/report_help.h"

static json_t *graph_of(const char *body)
{
	struct profiler_options options = { .version = "test", .passes = true };
	char text[2000];
	struct err err;
	json_t *report, *graph;

	snprintf(text, sizeof(text),
		 "{'source': 'import torch\\ndef model(x):\\n%s', 'policy': 'native', 'modes': "
		 "['static'], 'backend': 'interp', 'calls': [[{'random': {'shape': [2, 4]}}]]}",
		 body);
	report = run_with(text, &options, &err);
	if (!report)
		fail_msg("line %d: %s", err.line, err.message);
	graph = json_incref(at(report, "modes.static.graphs.0"));
	json_decref(report);
	return graph;
}

/* The names of nodes, by id, or list of ids; "-" for null. */
static const char *names(const json_t *graph, const json_t *ids, char out[400])
{
	size_t n = json_is_array(ids) ? json_array_size(ids) : 1, len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		const json_t *id = json_is_array(ids) ? json_array_get(ids, i) : ids, *node;
		const char *name = "-";
		size_t k;

		json_array_foreach(at(graph, "nodes"), k, node)
		{
			if (json_equal(json_object_get(node, "id"), id))
				name = json_string_value(json_object_get(node, "name"));
		}
		len += (size_t)snprintf(out + len, 400 - len, "%s%s", i ? " " : "", name);
	}
	return out;
}

static void assert_names(const json_t *graph, const char *path, const char *want)
{
	char got[400];

	assert_string_equal(names(graph, at(graph, path), got), want);
}

static void a_loop_is_a_subgraph_with_its_test(void **state)
{
	json_t *g = graph_of(
	    "    y = torch.sin(x)\\n    n = torch.tensor(0)\\n"
	    "    while n < 3:\\n        y = torch.cos(y) * x\\n        n = n + 1\\n"
	    "    return torch.exp(y)\\n");

	(void)state;
	assert_int_equal(json_array_size(at(g, "subgraphs")), 1);
	assert_string_equal(json_string_value(at(g, "subgraphs.0.kind")), "while_loop");
	assert_int_equal(json_integer_value(at(g, "subgraphs.0.line")), 5);
	assert_true(json_is_null(at(g, "subgraphs.0.parent")));
	assert_names(g, "subgraphs.0.node", "while_loop");
	assert_names(g, "subgraphs.0.first", "ne");
	assert_names(g, "subgraphs.0.again", "ne_1");
	assert_names(g, "subgraphs.0.reads", "x");
	assert_names(g, "subgraphs.0.nodes", "cos mul add lt_1 ne_1");
	assert_names(g, "subgraphs.0.condition", "lt_1 ne_1");
	assert_int_equal(json_array_size(at(g, "subgraphs.0.carried")), 3);
	assert_names(g, "subgraphs.0.carried.0.node", "loop_carried");
	assert_names(g, "subgraphs.0.carried.0.start", "sin");
	assert_names(g, "subgraphs.0.carried.0.next", "mul");
	assert_names(g, "subgraphs.0.carried.0.result", "loop_result");
	assert_names(g, "subgraphs.0.carried.1.next", "add");
	assert_names(g, "subgraphs.0.carried.2.node", "-"); /* the test itself goes round */
	assert_names(g, "outputs", "exp logical_not");
	json_decref(g);
}

static void a_loop_in_a_loop_knows_where_it_stands(void **state)
{
	json_t *g = graph_of(
	    "    y = torch.sin(x)\\n    n = torch.tensor(0)\\n"
	    "    while n < 3:\\n        m = torch.tensor(0)\\n"
	    "        while m < 2:\\n            y = torch.cos(y)\\n            m = m "
	    "+ 1\\n        n = n + 1\\n    return torch.exp(y)\\n");

	(void)state;
	assert_int_equal(json_array_size(at(g, "subgraphs")), 2);
	assert_int_equal(json_integer_value(at(g, "subgraphs.0.parent")), 1);
	assert_int_equal(json_integer_value(at(g, "subgraphs.0.line")), 7);
	assert_names(g, "subgraphs.0.nodes", "cos add lt_2 ne_2");
	assert_names(g, "subgraphs.0.carried.0.start", "loop_carried");
	assert_true(json_is_null(at(g, "subgraphs.1.parent")));
	assert_names(g, "subgraphs.1.carried.0.next", "loop_result");
	json_decref(g);
}

/* What joins the pieces of a graph: names of the captured one, and numbers of kernels. */
static void pieces_say_what_they_take_and_give(void **state)
{
	static const char *const parts[][4] = {
		{ "piece 0", NULL, "[\"x\"]", "[\"sin\", \"ne\", \"clone\"]" },
		{ "loop 1", "while_loop", "[\"x\", \"loop_carried\", \"loop_carried_1\"]",
		  "[\"ne_1\", \"mul\", \"add\", \"ne_1\"]" },
		{ "piece 2", NULL, "[\"loop_result\", \"loop_result_2\"]",
		  "[\"logical_not\", \"exp\"]" },
	};
	json_t *g = graph_of(
		   "    y = torch.sin(x)\\n    n = torch.tensor(0)\\n"
		   "    while n < 3:\\n        y = torch.cos(y) * x\\n        n = n + 1\\n"
		   "    return torch.exp(y)\\n"),
	       *part;
	json_int_t kernels = 0;
	size_t i;

	(void)state;
	assert_int_equal(json_array_size(at(g, "passes")), 3);
	json_array_foreach(at(g, "passes"), i, part)
	{
		char *takes = json_dumps(at(part, "takes"), 0), *gives;

		gives = json_dumps(at(part, "gives"), 0);
		assert_string_equal(json_string_value(at(part, "part")), parts[i][0]);
		assert_string_equal(takes, parts[i][2]);
		assert_string_equal(gives, parts[i][3]);
		if (parts[i][1])
			assert_string_equal(json_string_value(at(part, "loop")), parts[i][1]);
		else
			assert_true(json_is_null(at(part, "loop")));
		assert_int_equal(json_integer_value(at(part, "first_kernel")), kernels);
		kernels += json_integer_value(at(part, "n_kernels"));
		free(takes);
		free(gives);
	}
	assert_int_equal(json_array_size(at(g, "kernels")), kernels);
	json_decref(g);
}

static void a_graph_without_loops_has_no_subgraphs(void **state)
{
	json_t *g = graph_of("    return torch.exp(x)\\n");

	(void)state;
	assert_int_equal(json_array_size(at(g, "subgraphs")), 0);
	json_decref(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_is_a_subgraph_with_its_test),
		cmocka_unit_test(a_loop_in_a_loop_knows_where_it_stands),
		cmocka_unit_test(pieces_say_what_they_take_and_give),
		cmocka_unit_test(a_graph_without_loops_has_no_subgraphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
