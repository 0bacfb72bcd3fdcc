/* tests/test_profiler_graph.c -- graphs as DOT and SVG: clusters and boxes of modules, loops and
 * kernels. */
#include <stdio.h>

#include "profiler/export/export.h"
#include "tests/complete.h"
#include "tests/report_help.h"

static bool put(void *self, const void *bytes, size_t len, struct err *err)
{
	(void)err;
	buf_add(self, bytes, len);
	return true;
}

static bool no_blocks(void *store, int64_t kind, timeline_block_fn *each, void *self,
		      struct err *err)
{
	(void)store, (void)kind, (void)each, (void)self, (void)err;
	return true;
}

/* The first graph of the report, with all it has but its JSON.  The caller's. */
static char *drawn(const char *format, json_t *graph)
{
	static const struct export_query all;
	json_t *report = json_pack("{s:{s:{s:[o]}}}", "modes", "static", "graphs", graph);
	struct export_run run = { .id = 1,
				  .name = "run",
				  .status = "done",
				  .report = complete(REPORT_RECORD(run), report),
				  .blocks = no_blocks };
	struct err err = { 0 };
	struct buf text;

	buf_init(&text, 0);
	if (!export_write(export_format_find(format, &err), &run, &all, put, &text, &err))
		fail_msg("%s", err.message);
	json_decref(report);
	return buf_steal(&text);
}

#define NODE(id, name, op, module, args)                                                           \
	"{'id': " id ", 'name': '" name "', 'op': '" op "', 'dtype': 'float32', 'shape': '[4]', "  \
	"'line': " id ", 'module': " module ", 'args': [" args "]}"

/* A softmax, a loop over a module, and what follows. */
static json_t *looped(void)
{
	return load("{'id': 0, 'frame': 'model', 'kernels': ['k_soft', 'k_body', 'k_test', "
		    "'k_out'], "
		    "'nodes': [" NODE("0", "x", "placeholder", "null", "") ", " NODE("1", "soft", "softmax", "'Net'", "{'node': 0}") ", " NODE(
			"2", "ne", "ne", "'Net'",
			"{'node': 1}") ", " NODE("3", "loop_carried", "loop_carried", "'Net'",
						 "{'node': 1}") ", " NODE("4", "cos", "cos",
									  "'Net/a:A'",
									  "{'node': 3}") ", " NODE("5",
												   "mul",
												   "mul",
												   "'Net'",
												   "{'node': 4}, {'node': 0}") ", " NODE("6",
																	 "ne_1",
																	 "ne",
																	 "'Net'", "{'node': 5}") ", " NODE("7", "loop_operands", "loop_operands", "'Net'", "{'node': 1}, {'node': 0}") ", " NODE("8", "while_loop", "while_loop", "'Net'", "{'node': 2}, {'node': 7}") ", " NODE("9",
																																										 "loop_result",
																																										 "getitem", "'Net'", "{'node': 8}, 0") ", " NODE("10",
																																																 "out",
																																																 "exp",
																																																 "null",
																																																 "{'node': 9}") "], "
																																																		"'subgraphs': [{'kind': 'while_loop', 'node': 8, 'parent': null, 'line': 8, 'first': 2, "
																																																		"'again': 6, 'carried': [{'node': 3, 'start': 1, 'next': 5, 'result': 9}], 'reads': [0], "
																																																		"'nodes': [4, 5, 6], 'condition': [6]}], "
																																																		"'passes': [{'part': 'piece 0', 'first_kernel': 0, 'steps': [{'after': 'nothing'}, "
																																																		"{'after': null}, {'after': 'return %ne\\nkernel 0: %soft, %ne\\n'}]}, "
																																																		"{'part': 'loop 1', 'first_kernel': 1, 'steps': [{'after': "
																																																		"'return %ne_1\\nkernel 0: %cos, %mul\\nkernel 1: %ne_1\\n'}]}, "
																																																		"{'part': 'piece 2', 'first_kernel': 3, 'steps': [{'after': 'kernel 0: %out'}]}, "
																																																		"{'part': 'backward', 'first_kernel': 0, 'steps': [{'after': 'kernel 2: %out'}]}]}");
}

/* ---- DOT: a reader of what it may hold */

/* A quoted text, unescaped, into `out`; what follows it. */
static const char *quoted(const char *p, char *out, size_t size)
{
	size_t n = 0;

	assert_int_equal(*p++, '"');
	for (; *p != '"'; p++) {
		assert_int_not_equal(*p, '\0');
		if (*p == '\\' && p[1] != 'n')
			p++;
		assert_true(n + 1 < size);
		out[n++] = *p;
	}
	out[n] = '\0';
	return p + 1;
}

/* "name: cluster > cluster" of each node, a line each, in order of the text. */
static void read_clusters(const char *dot, char *out, size_t size)
{
	char open[16][64], label[200];
	int depth = -1;

	out[0] = '\0';
	for (const char *line = dot; line && *line; line = strchr(line, '\n')) {
		const char *p = line += *line == '\n';
		const char *of;

		while (*p == ' ')
			p++;
		if (strncmp(p, "subgraph cluster_", 17) == 0 || strncmp(p, "digraph ", 8) == 0) {
			depth++;
			assert_true(depth < 16);
		} else if (*p == '}') {
			assert_true(depth-- >= 0);
		} else if (strncmp(p, "graph [label=", 13) == 0) {
			quoted(p + 13, open[depth], sizeof(open[depth]));
		} else if (*p == 'n' && (of = strstr(p, " [label=")) && of < strchr(p, '\n')) {
			quoted(of + 8, label, sizeof(label));
			*strpbrk(label, " \\") = '\0';
			snprintf(out + strlen(out), size - strlen(out), "%s:", label);
			for (int i = 1; i <= depth; i++)
				snprintf(out + strlen(out), size - strlen(out), "%s %s",
					 i > 1 ? " >" : "", open[i]);
			snprintf(out + strlen(out), size - strlen(out), "\n");
		}
	}
	assert_int_equal(depth, -1);
}

static void assert_clusters(json_t *graph, const char *want)
{
	char got[2000], *dot = drawn("dot", graph);

	read_clusters(dot, got, sizeof(got));
	assert_string_equal(got, want);
	free(dot);
}

static void clusters_stand_in_each_other_as_modules_loops_and_kernels_do(void **state)
{
	(void)state;
	assert_clusters(looped(), "x: Net\n"
				  "loop_carried: Net > while loop, line 8\n"
				  "while_loop: Net > while loop, line 8\n"
				  "loop_result: Net > while loop, line 8\n"
				  "mul: Net > while loop, line 8 > k1 k_body\n"
				  "cos: Net > while loop, line 8 > k1 k_body > a A\n"
				  "ne_1: Net > while loop, line 8 > k2 k_test\n"
				  "soft: Net > k0 k_soft\n"
				  "ne: Net > k0 k_soft\n"
				  "out: k3 k_out\n");
}

/* What goes round is drawn once: from what it was before the loop to what it is after it. */
static void a_loop_is_entered_and_left_and_does_not_go_back(void **state)
{
	static const char *const edges[] = { "n0 -> n1", "n1 -> n3", "n3 -> n4", "n5 -> n6",
					     "n2 -> n7", "n6 -> n7", "n5 -> n8", "n8 -> n9" };
	char *dot = drawn("dot", looped());

	(void)state;
	assert_null(strstr(dot, "loop_operands"));
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		if (!strstr(dot, edges[i]))
			fail_msg("no edge %s in %s", edges[i], dot);
	assert_null(strstr(dot, "n7 -> n8"));
	free(dot);
}

static void a_module_that_is_called_again_is_another_cluster(void **state)
{
	(void)state;
	assert_clusters(load("{'nodes': [" NODE("0", "a", "sin", "'N'", "") ", " NODE(
			    "1", "b", "cos", "null",
			    "{'node': 0}") ", " NODE("2", "c", "sin", "'N'", "{'node': 1}") "]}"),
			"b:\na: N\nc: N\n");
}

static void names_stay_what_they_are(void **state)
{
	(void)state;
	assert_clusters(load("{'nodes': [" NODE("0", "a", "sin", "'A\\\"\\\\B}/x:\\nY'", "") "]}"),
			"a: A\"\\B} > x  Y\n");
}

/* Loops that a report says stand in each other, or have nodes that are not there. */
static void a_report_that_makes_no_sense_is_drawn_all_the_same(void **state)
{
	json_t *graph = looped(), *wrong = at(graph, "subgraphs.0");
	char *text;

	(void)state;
	json_object_set_new(wrong, "parent", json_integer(0));
	json_array_append_new(at(graph, "subgraphs"), json_pack("{s:i, s:i, s:[i]}", "node", 99,
								"parent", -7, "nodes", 98));
	json_object_set_new(at(graph, "passes.0"), "first_kernel", json_integer(1LL << 40));
	text = drawn("svg", json_incref(graph));
	assert_non_null(strstr(text, "</svg>"));
	free(text);
	text = drawn("dot", graph);
	assert_non_null(strstr(text, "cluster_"));
	free(text);
}

/* ---- SVG: where the boxes are */

struct box {
	char kind[16], title[64];
	double x, y, width, height;
};

static int read_boxes(const char *svg, struct box *boxes, int most)
{
	int n = 0;

	for (const char *p = svg; (p = strstr(p, "<g class=\"")); p++) {
		struct box *b = &boxes[n];

		assert_true(n++ < most);
		memset(b, 0, sizeof(*b));
		assert_int_equal(sscanf(p,
					"<g class=\"%15[a-z]\"><title>%63[^<]</title><rect "
					"x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"",
					b->kind, b->title, &b->x, &b->y, &b->width, &b->height),
				 6);
	}
	return n;
}

static bool inside(const struct box *a, const struct box *b)
{
	return a->x >= b->x && a->y >= b->y && a->x + a->width <= b->x + b->width &&
	       a->y + a->height <= b->y + b->height;
}

static bool apart(const struct box *a, const struct box *b)
{
	return a->x + a->width <= b->x || b->x + b->width <= a->x || a->y + a->height <= b->y ||
	       b->y + b->height <= a->y;
}

static const struct box *box_of(const struct box *boxes, int n, const char *title)
{
	for (int i = 0; i < n; i++)
		if (strcmp(boxes[i].title, title) == 0)
			return &boxes[i];
	fail_msg("no box is called %s", title);
	return NULL;
}

static void boxes_of_groups_hold_those_of_what_is_in_them(void **state)
{
	struct box boxes[64];
	char *svg = drawn("svg", looped());
	int n = read_boxes(svg, boxes, 64);
	const struct box *loop = box_of(boxes, n, "while loop, line 8");

	(void)state;
	assert_string_equal(loop->kind, "loop");
	assert_string_equal(box_of(boxes, n, "k1 k_body")->kind, "kernel");
	assert_true(inside(loop, box_of(boxes, n, "Net")));
	assert_true(inside(box_of(boxes, n, "k1 k_body"), loop));
	assert_true(inside(box_of(boxes, n, "a A"), box_of(boxes, n, "k1 k_body")));
	assert_true(inside(box_of(boxes, n, "cos, line 4"), box_of(boxes, n, "a A")));
	assert_true(apart(box_of(boxes, n, "exp, line 10"), box_of(boxes, n, "Net")));
	free(svg);
}

/* Nodes of modules of three levels that read what comes before them, anywhere. */
static json_t *made(int n, unsigned seed)
{
	json_t *nodes = json_array();

	for (int i = 0; i < n; i++) {
		char module[64], name[16];
		json_t *args = json_array();

		for (int k = 0; k < 2 && i > 0; k++) {
			seed = seed * 1103515245 + 12345;
			json_array_append_new(args,
					      json_pack("{s:i}", "node", (int)(seed >> 16) % i));
		}
		seed = seed * 1103515245 + 12345;
		snprintf(module, sizeof(module), "Net/b.%d:B/c.%u:C", i / 12, (seed >> 16) % 3);
		snprintf(name, sizeof(name), "n%d", i);
		json_array_append_new(nodes, json_pack("{s:i, s:s, s:s, s:s, s:s, s:i, s:s, s:o}",
						       "id", i, "name", name, "op", "add", "dtype",
						       "float32", "shape", "[4]", "line", i + 1,
						       "module", module, "args", args));
	}
	return json_pack("{s:o}", "nodes", nodes);
}

/* Two boxes lie within each other or apart, whatever reads what. */
static void no_two_boxes_cross(void **state)
{
	struct box *boxes = calloc(400, sizeof(*boxes));

	(void)state;
	assert_non_null(boxes);
	for (unsigned seed = 1; seed < 6; seed++) {
		char *svg = drawn("svg", made(60, seed));
		int n = read_boxes(svg, boxes, 400), nodes = 0;

		for (int i = 0; i < n; i++) {
			nodes += strcmp(boxes[i].kind, "op") == 0;
			for (int k = 0; k < i; k++)
				if (!apart(&boxes[i], &boxes[k]) && !inside(&boxes[i], &boxes[k]) &&
				    !inside(&boxes[k], &boxes[i]))
					fail_msg("%s and %s cross", boxes[i].title, boxes[k].title);
		}
		assert_int_equal(nodes, 60);
		assert_true(n > 60 + 5);
		free(svg);
	}
	free(boxes);
}

static void a_graph_of_as_many_nodes_as_are_drawn_is_drawn(void **state)
{
	char *svg = drawn("svg", made(2000, 7));
	size_t n = 0;

	(void)state;
	for (const char *p = svg; (p = strstr(p, "<g class=\"op\">")); p++)
		n++;
	assert_int_equal(n, 2000);
	free(svg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clusters_stand_in_each_other_as_modules_loops_and_kernels_do),
		cmocka_unit_test(a_loop_is_entered_and_left_and_does_not_go_back),
		cmocka_unit_test(a_module_that_is_called_again_is_another_cluster),
		cmocka_unit_test(names_stay_what_they_are),
		cmocka_unit_test(a_report_that_makes_no_sense_is_drawn_all_the_same),
		cmocka_unit_test(boxes_of_groups_hold_those_of_what_is_in_them),
		cmocka_unit_test(no_two_boxes_cross),
		cmocka_unit_test(a_graph_of_as_many_nodes_as_are_drawn_is_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
