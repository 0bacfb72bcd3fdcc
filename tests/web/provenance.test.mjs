// tests/web/provenance.test.mjs -- lines of graphs and generated code that come from each other.
import test from "node:test";
import assert from "node:assert/strict";
import { Provenance, stackLines, isRelated } from "../../web/js/model/provenance.js";

const dynamo = `class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[4][1]cuda:0"):
        l_x_ = L_x_

        # File: /w/m.py:5 in f, code: y = x.sin() + 1
        sin: "f32[4][1]cuda:0" = l_x_.sin();  l_x_ = None
        y: "f32[4][1]cuda:0" = sin + 1;  sin = None

        # File: /w/m.py:6 in f, code: return y @ y
        z: "f32[][]cuda:0" = y @ y
        return (z,)`.split("\n");
const aten = `class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[4][1]cuda:0"):
        # File: /w/m.py:5 in f, code: y = x.sin() + 1
        sin: "f32[4][1]cuda:0" = torch.ops.aten.sin.default(arg0_1);  arg0_1 = None
        add: "f32[4][1]cuda:0" = torch.ops.aten.add.Tensor(sin, 1);  sin = None

        # File: /w/m.py:6 in f, code: return y @ y
        dot: "f32[][]cuda:0" = torch.ops.aten.dot.default(add, add)`.split("\n");
const code = `# AOT ID: ['0_inference']
import torch

# kernel path: /tmp/x.py
# Topologically Sorted Source Nodes: [sin, y], Original ATen: [aten.sin, aten.add]
# Source node to ATen node mapping:
#   sin => sin
#   y => add
# Graph fragment:
#   %arg0_1 : Tensor "f32[4][1]cuda:0" = PlaceHolder[target=arg0_1]
#   %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%sin, 1))
triton_poi_fused_add_sin_0 = async_compile.triton('triton_poi_fused_add_sin_0', '''
@triton.jit
def triton_poi_fused_add_sin_0(in_ptr0, out_ptr0, xnumel):
    tmp1 = tl_math.sin(tmp0)
''', device_str='cuda')

def call(args):
        buf0 = empty_strided_cuda((4, ), (1, ), torch.float32)
        # Topologically Sorted Source Nodes: [sin, y], Original ATen: [aten.sin, aten.add]
        triton_poi_fused_add_sin_0.run(arg0_1, buf0, 4, stream=stream0)
        # Topologically Sorted Source Nodes: [z], Original ATen: [aten.dot]
        extern_kernels.dot(buf0, buf0, out=buf1)`.split("\n");

/** The numbers of the lines that a line of one of the texts marks, by text. */
function marks(p, texts, from, line) {
  const related = p.related(texts[from][line - 1]);
  return texts.map((of) => of.flatMap((l, i) => (isRelated(l, related) ? [i + 1] : [])));
}

test("from a source line to its nodes and kernels, and back", () => {
  const p = new Provenance();
  const texts = [p.add("dynamo_output_graph", dynamo), p.add("inductor_post_grad_graph", aten), p.add("inductor_output_code", code)];
  assert.deepEqual(p.sourceLines(), [{ source: "/w/m.py:5", text: "m.py:5  y = x.sin() + 1" }, { source: "/w/m.py:6", text: "m.py:6  return y @ y" }]);
  const kernel = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
  const source = p.related({ sources: ["/w/m.py:5"], nodes: [], kernels: [] });
  assert.deepEqual([...source.kernels], ["triton_poi_fused_add_sin_0"]);
  assert.deepEqual([...source.nodes].sort(), ["a:add", "a:sin", "d:sin", "d:y"]);
  // A line of the kernel: its nodes in both graphs, its comment, its call, its source.
  assert.deepEqual(marks(p, texts, 2, 15), [[5, 6, 7], [3, 4, 5], [...kernel, 20, 21]]);
  // A node: itself in the other graph, its kernel.
  assert.deepEqual(marks(p, texts, 1, 5).slice(0, 2), [[5, 7], [3, 5]]);
  assert.ok(kernel.every((n) => marks(p, texts, 1, 5)[2].includes(n)));
  // What no kernel was generated for: the call of a library's.
  assert.deepEqual(marks(p, texts, 0, 10), [[9, 10], [7, 8], [22, 23]]);
  assert.deepEqual(marks(p, texts, 2, 2), [[], [], []]);
});

test("the log's own mapping joins kernels of C++, which have no comments; a backward's names are its own", () => {
  const p = new Provenance();
  const forward = p.add("inductor_post_grad_graph", aten);
  const backward = p.add("inductor_post_grad_graph", ["        # File: /w/m.py:9 in f, code: loss", "        sin: \"f32[4]\" = torch.ops.aten.cos.default(x)"], true);
  p.add("inductor_provenance_tracking_node_mappings", JSON.stringify({ preToPost: { sin: ["sin"] }, cppCodeToPost: { "cpp_fused_sin_0:1": ["sin"] } }).split("\n"));
  const cpp = p.add("inductor_output_code", ["cpp_fused_sin_0 = async_compile.cpp_pybinding(['float*'], '''", "    x = sin(y);", "''')", "    cpp_fused_sin_0(buf0)"]);
  assert.deepEqual(marks(p, [forward, backward, cpp], 0, 4), [[3, 4], [], [1, 2, 3, 4]]);
  assert.deepEqual(marks(p, [forward, backward, cpp], 1, 2), [[], [1, 2], []]);
  // A kernel of which the log has stacks: its source is where they end.
  p.add("inductor_provenance_tracking_kernel_stack_traces", JSON.stringify({ "cpp_fused_sin_0:1": ['File "/w/m.py", line 2, in f\n    return g(x)\n  File "/w/m.py", line 30, in g\n    return x.sin()'] }).split("\n"));
  assert.deepEqual([...p.related(cpp[1]).sources].sort(), ["/w/m.py:30", "/w/m.py:5"]);
  assert.deepEqual([...p.related({ sources: ["/w/m.py:30"], nodes: [], kernels: [] }).kernels], ["cpp_fused_sin_0"]);
  assert.ok(p.sourceLines().some((l) => l.text === "m.py:30  return x.sin()"));
  const stacks = { "cpp_fused_sin_0:1": ['  File "/w/m.py", line 2, in f\\n    return g(x)\\n  File "/w/m.py", line 31, in g\\n    return x.cos()\\n'], "k:2": ["File \"a.py\", line 1, in h\n    y"] };
  const lines = stackLines("inductor_provenance_tracking_kernel_stack_traces", JSON.stringify(stacks));
  assert.deepEqual(lines.map((l) => l.text), ["cpp_fused_sin_0:1", '  File "/w/m.py", line 2, in f', "      return g(x)", '  File "/w/m.py", line 31, in g', "      return x.cos()", "", "k:2", '  File "a.py", line 1, in h', "      y", ""]);
  assert.deepEqual([lines[0].kernel, lines[8].kernel], ["cpp_fused_sin_0", "k"]);
  assert.equal(stackLines("inductor_provenance_tracking_kernel_stack_traces", "{damaged"), null);
  assert.equal(stackLines("dynamo_output_graph", "{}"), null);
  p.add("inductor_provenance_tracking_kernel_stack_traces", [JSON.stringify(stacks)]);
  assert.ok([...p.related(cpp[1]).sources].includes("/w/m.py:31"));
  p.add("inductor_provenance_tracking_node_mappings", ["{damaged"]);
  p.add("inductor_provenance_tracking_node_mappings", ["[1, null]"]);
});
