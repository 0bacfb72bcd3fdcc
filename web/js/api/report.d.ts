// js/api/report.d.ts -- the records of reports: make writes this file from
// profiler/fields/report.def (web/docs/manual.c).

/** what a run measured; also what a trace or an import found, which have no modes */
export interface ReportRun {
  /** the version of this form: 1 */
  breakeven: number;
  /** what was run, as it was posted; none of a trace */
  workload?: ReportWorkload;
  /** where it ran */
  device?: ReportDevice;
  /** what the figures depend on beside the program */
  environment?: ReportEnvironment;
  /** what each mode did; empty in a sweep, whose points have it */
  modes: Record<string, ReportMode>;
  /** the points of a sweep, by ascending n */
  points?: ReportPoint[];
  /** each mode against eager; of a sweep, where the curves cross; none without eager */
  break_even?: Record<string, ReportComparison>;
  /** what autocast saved or cost */
  autocast?: ReportAutocast;
  /** the run ended before its sweep was measured: what is here was, and nothing was compared after it */
  partial?: ReportPartial;
  /** modes that failed while the others went on (keep_going) */
  failed?: Record<string, ReportFailure>;
  /** the same workload by other engines */
  engines?: ReportEngines;
  /** what another process recorded: then there are no modes */
  trace?: ReportTrace | null;
  /** what logs of other programs held */
  import?: ReportImport;
  /** what another tool measured, or `breakeven record`: each mode is a figure of it */
  result?: ReportResult;
  /** where a run came from that was read back from its own export */
  imported?: ReportImported;
  /** true: it came from an export that was too long, without values, code and samples */
  slimmed?: boolean;
  /** a fixed piece of work that was timed in the same rounds: where it takes another time, the machine does */
  control?: ReportControl;
  /** ns: when retention took away values of calls, guards, memory, nodes and code of graphs, samples and the timeline, since 1970; none: it has them */
  thinned_ns?: number;
  /** the state of the machine while samples were taken */
  machine?: ReportMachine;
  /** why no second process took samples, in a sentence */
  one_process?: string;
  /** where a latency is known less well than to 1.7 %: how well, by how many processes, and why no more took samples, in a sentence */
  wide?: string;
  /** s: the wall time of the whole run */
  seconds?: number;
  /** ms: where that time went */
  wall_ms?: ReportWall;
}

/** how far a sweep came that was not measured to its end */
export interface ReportPartial {
  /** points that are in the report */
  measured: number;
  /** points that the sweep has */
  of: number;
}

/** a workload as it was posted; what is left out has its default (workloads.md) */
export interface ReportWorkload {
  /** one line about it */
  title?: string | null;
  /** its name, which figures over time go by */
  name?: string | null;
  /** the Python program */
  source?: string | null;
  /** a program of several files: their texts by path; it has no `source` */
  files?: Record<string, string> | null;
  /** the files that the program reads weights from: `sha256:` ids by the names that it knows them by */
  weights?: unknown;
  /** the program that `source` is a change of: it runs beside it */
  before?: string | null;
  /** the function that is called; with `files`, the file and the function, `train.py:model` */
  entry?: string | null;
  /** the arguments of each call: a list of values, or {args: [values], kwargs: {name: value}}; a value is {python: an expression} or one of random, tensor, value, list, tuple, dict (workloads.md) */
  calls?: unknown;
  /** tensors of a module by their qualified names */
  params?: unknown;
  /** the modes that it is run in */
  modes?: string[] | null;
  /** cpu, cuda or cuda:N */
  device?: string | null;
  /** what runs compiled graphs */
  backend?: string | null;
  /** how many threads compute; 0: one a core */
  threads?: number | null;
  /** dynamo or native */
  policy?: string | null;
  /** off, fast or max: which schedules of kernels a GPU tries */
  autotune?: string | null;
  /** whether gradients of the inputs are taken */
  grad?: boolean | null;
  /** the dtype of torch.autocast around each call */
  autocast?: string | null;
  /** breakeven, and torch */
  engines?: string[] | null;
  /** false for each pass that is left out, by its name */
  passes?: unknown;
  /** ops that no backend may lower */
  deny?: unknown;
  /** what is varied */
  sweep?: ReportSweep | null;
  /** by mode, the calls over which it is timed */
  time?: unknown;
  /** s: how long each point is sampled */
  seconds?: number | null;
  /** the project that it is filed under */
  project?: string | null;
  /** words to find it by */
  tags?: string[] | null;
  /** the commit of the user's project */
  commit?: string | null;
  /** the branch of the user's project */
  branch?: string | null;
  /** the machine that runs it, of those that the server names; without, the server's own */
  host?: string | null;
  /** whether timelines of a GPU hold calls of the driver */
  record_api?: boolean | null;
  /** whether other modes are measured where one fails */
  keep_going?: boolean | null;
  /** whether memory is watched, in a run that is not timed */
  poison?: boolean | null;
  /** true: recorded by breakeven trace */
  trace?: boolean | null;
  /** true: read from logs of another program */
  imported?: boolean | null;
  /** the tool that measured it: a result, which is not run here */
  result?: string | null;
  /** the command of a trace or of a record */
  command?: string | null;
}

/** what a sweep varies: one of the two */
export interface ReportSweep {
  /** how many statements there are */
  statements?: ReportStatements;
  /** a size of an argument */
  input?: ReportSizes;
}

/** a sweep over statements, which are put where the source has the line `...` */
export interface ReportStatements {
  /** the lines, which are gone through over and over */
  pool?: string[] | null;
  /** how many lines each point has */
  counts: number[];
}

/** a sweep over one size of one argument, in every call */
export interface ReportSizes {
  /** the argument, from 0; left out where expressions of the calls say where n goes */
  arg?: number;
  /** its dimension, from 0 */
  dim?: number;
  /** the size at each point */
  sizes: number[];
}

/** where a run ran */
export interface ReportDevice {
  /** cpu or cuda */
  kind?: string;
  /** the model of the processor or GPU */
  name?: string;
  /** the processor's vector instructions: sse, avx2, avx512 */
  vector_unit?: string;
  /** what ran compiled graphs: interp, cpu, cuda or a plugin's */
  backend?: string;
  /** what the backend does without, in a sentence */
  backend_note?: string | null;
  /** threads that computed */
  threads?: number;
  /** GB/s: what copies of large blocks reach; with a GPU */
  copy_gbps?: number;
  /** bytes, us: the time of a copy by its size: a list of [bytes, microseconds] */
  copy_curve?: unknown;
  /** bytes: the last cache: copies up to that size may lie in it */
  cache_bytes?: number;
}

/** what figures depend on beside the program: runs that differ here are not comparable */
export interface ReportEnvironment {
  /** the model of the processor */
  cpu?: string | null;
  /** cores that the process may use */
  cores?: number | null;
  /** how the kernel sets the clock frequency */
  governor?: string | null;
  /** vector instructions */
  vector_unit?: string | null;
  /** the first line of the C compiler's version */
  compiler?: string | null;
  /** the operating system and its release */
  kernel?: string | null;
  /** the version of the C library */
  libc?: string | null;
  /** the version of Breakeven */
  breakeven?: string | null;
}

/** a fixed piece of work, timed once a round beside the modes: additions and multiplications over 32 KiB, or, of a workload on a GPU, launches of nothing */
export interface ReportControl {
  /** of how many launches of nothing, on a GPU; none: it is additions and multiplications */
  launches?: number;
  /** us: its time: the mean of the processes' medians */
  median_us: number;
  /** us: its 95 % interval: the processes' errors and what they differ by */
  ci_us: [number, number];
  /** samples */
  n: number;
  /** how many of them each process took */
  of_process: number[];
  /** ns: the samples in the order they were taken */
  samples_ns?: number[];
}

/** the state of the machine while samples were taken, looked at ten times a second; [least, most] */
export interface ReportMachine {
  /** times that it was looked at */
  looks: number;
  /** processes that want a core, the mean of a minute (/proc/loadavg) */
  load?: [number, number];
  /** the share of all cores' time that was used, by anybody */
  busy?: number;
  /** the share of all cores' time that the host gave to other machines */
  steal?: number;
  /** MHz: clocks of the cores */
  mhz?: [number, number];
  /** the GPU, by NVML */
  gpu?: ReportGpuState;
  /** what this machine does not tell, a sentence each */
  unknown?: string[];
  /** the same in one line */
  text: string;
}

/** a GPU while samples were taken, looked at once a round; [least, most] */
export interface ReportGpuState {
  /** MHz: clocks of its processors */
  sm_mhz?: [number, number];
  /** MHz: clocks of its memory */
  memory_mhz?: [number, number];
  /** C: its temperature */
  celsius?: [number, number];
  /** W: what it draws */
  watts?: [number, number];
  /** why it ran below its clocks at times; empty: it did not */
  throttled?: string[];
  /** rounds that were set aside since it did */
  aside: number;
}

/** the wall time of a run by what it went to */
export interface ReportWall {
  /** ms: making and taking down inputs and sessions */
  setup?: number;
  /** ms: compiling */
  compile?: number;
  /** ms: calls before the samples */
  warm_up?: number;
  /** ms: sampling, and watched calls */
  measuring?: number;
  /** ms: comparing values with eager's */
  comparing?: number;
  /** ms: keeping the timeline */
  storing?: number;
  /** ms: the rest */
  other?: number;
  /** ms: all of it */
  total?: number;
}

/** a point of a sweep */
export interface ReportPoint {
  /** how many statements, or the size */
  n: number;
  /** the program at this point */
  source?: string | null;
  /** what each mode did */
  modes: Record<string, ReportMode>;
  /** each mode against eager */
  break_even?: Record<string, ReportComparison>;
  /** what autocast saved or cost */
  autocast?: ReportAutocast;
}

/** an error of the program, or of what runs it */
export interface ReportFailure {
  /** its kind, as in answers with an error */
  code?: string | null;
  /** what was wrong and what would be right */
  message: string;
  /** the line of the source; 0: none */
  line?: number | null;
  /** its column; 0: none */
  column?: number | null;
  /** the file of the line, of a program of several */
  file?: string;
  /** the call that ended with it */
  call?: number;
  /** the end of what the other process printed as errors */
  detail?: string | null;
}

/** what one mode did with the calls */
export interface ReportMode {
  /** the program against the one before it (workload.before) */
  change?: ReportChange;
  /** each call, made once in order */
  calls?: ReportCall[];
  /** what watching memory looked at (--poison); what it finds ends the run */
  memory_checks?: ReportMemoryChecks;
  /** how launches are ordered on a GPU */
  order?: ReportOrder;
  /** bytes: most memory of tensors in use at once while the calls ran */
  peak_bytes?: number;
  /** launches of kernels a call; of the last call where it was not timed */
  launches?: number;
  /** how its values lie to eager's */
  agreement?: ReportAgreement;
  /** the largest difference of an output from eager's */
  max_abs_error?: number | "nan" | "inf" | "-inf";
  /** whether its values are eager's, as far as their dtypes allow */
  agrees?: boolean;
  /** where they are not, in a sentence */
  disagreement?: string;
  /** captured graphs in the order of their capture */
  graphs: ReportGraph[];
  /** what calls are checked for before a graph is used again */
  guards?: ReportGuard[];
  /** where graphs end */
  breaks: ReportBreak[];
  /** frames and their compiled versions, in the order they were met */
  tree?: ReportFrame[];
  /** the traces that mode lazy ran */
  lazy?: ReportLazy;
  /** what capture and lowering did, in numbers */
  counts?: ReportModeCounts;
  /** compilations since guards of earlier ones failed */
  recompiles: ReportRecompile[];
  /** ms: the sum over its graphs */
  compile_ms?: number;
  /** whether all its kernels came from the cache on disk */
  cached?: boolean;
  /** memory over one watched call */
  memory?: ReportMemory;
  /** of a result: its figure */
  measure?: ReportMeasure;
  /** the time of a call */
  latency?: ReportLatency | null;
  /** us: what that time is made of */
  split_us?: ReportSplit | null;
  /** how inputs were put back that the program writes */
  restored?: ReportRestored;
  /** the command that measures this figure again */
  reproduce?: string | null;
  /** what all its breaks cost */
  break_cost?: ReportBreakCosts;
}

/** one call, made once */
export interface ReportCall {
  /** graphs captured in it; 0 in eager */
  new_graphs: number;
  /** kernels built in it */
  compiles?: number;
  /** kernels launched in it */
  launches?: number;
  /** whether some of it ran op by op */
  eager_fallback?: boolean;
  /** what it returned; of large tensors shape, dtype, sum and hash */
  output?: unknown;
  /** its arguments as it left them: a list */
  inputs_after?: unknown;
  /** d output / d argument, a list; null without gradients */
  grads?: unknown;
  /** gradients of parameters by their names; null without gradients */
  param_grads?: unknown;
  /** what it printed; a zero byte is shown as U+2400 */
  stdout?: string | null;
}

/** what watching memory looked at */
export interface ReportMemoryChecks {
  /** blocks that were filled and fenced */
  blocks: number;
  /** times that fences were looked at */
  looks: number;
}

/** what a mode handed to a GPU in its whole run, and on how many streams */
export interface ReportOrder {
  /** streams in use */
  streams: number;
  /** events between them */
  events: number;
  /** kernels launched one by one */
  launches: number;
  /** CUDA graphs launched */
  graph_launches: number;
  /** calls of cuBLAS and cuDNN */
  library_calls: number;
  /** copies */
  copies: number;
  /** settings of memory to a value */
  sets: number;
  /** times that the host waited for all of it */
  waits: number;
}

/** what capture and lowering did, in numbers */
export interface ReportModeCounts {
  /** graphs captured */
  captured: number;
  /** pieces that a backend compiled */
  lowered: number;
  /** distinct breaks of capture: one that is met again is the same */
  breaks?: number;
  /** distinct breaks of lowering */
  fallbacks?: number;
  /** kernels launched */
  launches: number;
  /** ops that no backend lowered, run one by one */
  eager_fallbacks: number;
  /** traces that mode lazy ran */
  executions: number;
  /** of these, found by their hash */
  cache_hits: number;
}

/** how the values of a mode lie to eager's */
export interface ReportAgreement {
  /** exact, within_dtype or disagrees */
  verdict: string;
  /** what decided: bits, bound or float64 */
  judge: string;
  /** values compared */
  values?: number;
  /** elements of tensors compared */
  elements: number;
  /** elements that are not eager's to the bit */
  differing: number;
  /** the largest difference from eager's */
  largest_error: number | "nan" | "inf" | "-inf";
  /** the largest distance of eager from float64; null where that was not asked */
  eager_error: number | "nan" | "inf" | "-inf" | null;
  /** the largest distance over what is allowed; null where all are equal */
  over_allowed: number | "nan" | "inf" | "-inf" | null;
  /** the value that differs most; null where none does */
  where: ReportDifference | null;
  /** the same in one sentence */
  text?: string | null;
  /** why float64 could not be asked */
  no_reference?: string | null;
  /** how many calls were compared */
  calls?: ReportAgreementCalls;
  /** why values after timing were not compared */
  not_timed?: string | null;
}

/** how many calls were compared, by how they were made */
export interface ReportAgreementCalls {
  /** one by one */
  in_order: number;
  /** one after another without waiting */
  one_behind_another: number;
  /** after they were timed */
  after_timing: number;
}

/** the value that differs most from eager's */
export interface ReportDifference {
  /** the call; null where it is of none */
  call?: number | null;
  /** in order, one after another, or after timing */
  when: string;
  /** output, an input, a gradient, what was printed */
  what: string;
  /** the element */
  index?: number[] | null;
  /** how values differ that have no elements to compare */
  why?: string | null;
  /** the mode's value */
  ours?: number | "nan" | "inf" | "-inf" | null;
  /** eager's */
  eager?: number | "nan" | "inf" | "-inf" | null;
  /** float64's; null where it was not asked */
  reference?: number | "nan" | "inf" | "-inf" | null;
  /** what the dtype allows */
  allowed?: number | "nan" | "inf" | "-inf";
}

/** how inputs were put back between samples, outside of the clock */
export interface ReportRestored {
  /** host or device */
  where: string;
  /** most sets of inputs that were kept at hand */
  sets: number;
  /** arguments put back */
  arguments: number;
  /** of these, copied from one place of the device to another */
  copied_on_device: number;
}

/** the program against the one before it; a pair is [before, after] */
export interface ReportChange {
  /** how the program before fails; then the rest is missing */
  error?: ReportFailure;
  /** how its values lie to those before */
  agreement?: ReportAgreement;
  /** the largest difference of an output */
  max_abs_error?: number | "nan" | "inf" | "-inf";
  /** whether both give the same values */
  agrees?: boolean;
  /** where they do not, in a sentence */
  disagreement?: string;
  /** lines that calls printed before and do not now, which is no difference of values */
  prints_less?: number;
  /** captured graphs */
  graphs?: [number, number];
  /** graph breaks */
  breaks?: [number, number];
  /** launches of a call */
  launches?: [number, number];
  /** us: the time of a call; this and what follows where it was timed */
  median_us?: [number, number];
  /** us: its intervals, before and after */
  ci_us?: [number, number][];
  /** us: saved by the change, a call */
  saved_us?: number;
  /** us: its interval */
  saved_ci_us?: [number, number];
  /** x: before over after */
  speedup?: number;
  /** x: its interval */
  speedup_ci?: [number, number];
  /** FASTER, SLOWER, SAME, AMBIGUOUS or NOT ENOUGH */
  verdict?: string;
}

/** the time of a call: the median of samples, each the mean of some calls */
export interface ReportLatency {
  /** us: the median */
  median_us: number;
  /** us: its 95 % interval */
  ci_us: [number, number];
  /** samples */
  n?: number;
  /** calls that one sample is the mean of */
  calls_a_sample?: number;
  /** graphs and kernels compiled within the samples */
  compiled?: number;
  /** ns: the samples in the order they were taken */
  samples_ns?: number[];
  /** how many of the samples each process took, the first process' first: the median is the mean of theirs, the interval holds their errors and what they differ by */
  of_process?: number[];
  /** ns: samples that were set aside: a GPU ran below its clocks while they were taken */
  aside_ns?: number[];
  /** what makes the samples doubtful, in a sentence */
  noise?: string | null;
}

/** one benchmark of another tool, or a command that `breakeven record` timed */
export interface ReportResult {
  /** the tool: pytest-benchmark, google-benchmark, hyperfine, asv, bmf, torch.utils.benchmark, dynamo or record */
  format: string;
  /** its version, as it says it */
  version?: string;
  /** the file that it was read from */
  file?: string;
  /** its whole name, where the run's is shortened */
  benchmark?: string;
  /** the machine: what the file, or who imported it, says */
  machine?: string;
  /** how the program was built, or its interpreter: results of others are not comparable */
  build?: string;
  /** what the benchmark was given, by name: results of others are not comparable */
  parameters?: Record<string, string>;
  /** what else the tool says of it, by name */
  about?: Record<string, string>;
  /** when it was measured, as the tool says it */
  measured?: string;
  /** of each run of a command */
  exit_codes?: number[];
  /** us: of a record, of each sample: what the command could have run and waited for a core that others had; mode wall is without it */
  waited_us?: number[];
  /** runs before the samples, which are not among them */
  warm_ups?: number;
  /** of a record: why there are no more samples */
  stopped?: string;
}

/** a figure of a result */
export interface ReportMeasure {
  /** time; rate: more is better; amount: less is better; graphs, breaks: how many */
  kind: string;
  /** the median of the samples, or what the tool gives */
  value: number;
  /** us of a time, B or B/s of bytes, else what the tool says */
  unit: string;
  /** its 95 % interval; null where the file does not tell */
  ci: [number, number] | null;
  /** samples that it rests on */
  n: number;
  /** these, in the order they were taken and in its unit, where the file has them */
  samples?: number[];
  /** the tool's own lower bound, whose meaning the file does not tell */
  low?: number;
  /** its upper bound */
  high?: number;
  /** what the value is, where it is no median */
  of?: string;
  /** what makes the samples doubtful, in a sentence */
  noise?: string;
  /** the value with its interval, in the digits that it allows */
  shown?: string;
}

/** what a file of another tool holds, as reports; `breakeven import --json` prints it, POST /api/v1/results takes it */
export interface ReportResults {
  /** the version of this form: 1 */
  breakeven_results: number;
  /** the tool */
  format: string;
  /** of the suite that several results are */
  name?: string;
  /** a report of each benchmark */
  results: ReportRun[];
  /** what the file has and is not kept, and what it does not tell */
  notes: string[];
}

/** the time of a call by what it goes to; the parts add up to the median */
export interface ReportSplit {
  /** us: checking guards */
  guards?: number;
  /** us: finding what to run */
  dispatch?: number;
  /** us: taking memory */
  alloc?: number;
  /** us: launching */
  launch?: number;
  /** us: in kernels */
  kernel?: number;
  /** us: what the parts leave of the median */
  rest?: number;
  /** us: the watched call itself, less what watching takes */
  observed?: number;
}

/** a mode against eager, measured in the same rounds; at the top of a sweep, where they cross */
export interface ReportComparison {
  /** x: eager's time over the mode's; null where values differ */
  speedup?: number | null;
  /** x: its 95 % interval, over the ratios of the rounds */
  speedup_ci?: [number, number] | null;
  /** FASTER, SLOWER, SAME, AMBIGUOUS, NOT ENOUGH or DISAGREES */
  verdict?: string;
  /** calls after which compiling is repaid; null where never, or unknown */
  calls_to_repay?: number | null;
  /** its interval */
  calls_to_repay_ci?: [number, number] | null;
  /** after, never or unknown */
  repay?: string;
  /** us: saved by a call */
  saved_us?: number | null;
  /** us: its interval */
  saved_ci_us?: [number, number] | null;
  /** ms: the compiling that has to be repaid */
  compile_ms?: number;
  /** of a sweep: n at which both take the same; null where they do not meet */
  crossover_n?: number | null;
  /** its interval, by resampling */
  crossover_ci?: [number, number] | null;
  /** of a sweep: where the mode is faster: always, never, above, below; or disagrees */
  side?: string;
  /** of a sweep: how often the curves cross */
  meetings?: number;
}

/** what autocast saved or cost: each mode with it and without it */
export interface ReportAutocast {
  /** bfloat16 or float16 */
  dtype: string;
  /** samples of a call, by its inputs' first dimension */
  batch: number | null;
  /** why the program fails without autocast */
  error: string | null;
  /** each mode */
  modes: Record<string, ReportAutocastMode>;
}

/** a mode with autocast, and without it */
export interface ReportAutocastMode {
  /** with autocast */
  with: ReportAutocastSide;
  /** without it */
  without: ReportAutocastSide;
  /** x: activation_bytes with it over those without */
  activation_ratio: number | null;
  /** the largest difference between the two */
  max_abs_error: number | "nan" | "inf" | "-inf";
  /** x: time without it over time with it */
  speedup?: number;
  /** x: its interval */
  speedup_ci?: [number, number];
  /** FASTER, SLOWER, SAME, AMBIGUOUS or NOT ENOUGH */
  verdict?: string;
}

/** a mode with autocast, or without it */
export interface ReportAutocastSide {
  /** bytes: most memory in use at once */
  peak_bytes: number;
  /** bytes: what calls added to inputs and parameters at the peak */
  activation_bytes: number;
  /** us: the time of a call */
  median_us?: number;
  /** us: its interval */
  ci_us?: [number, number];
  /** 1/s: batch over the time of a call */
  samples_per_s?: number | null;
}

/** a captured graph */
export interface ReportGraph {
  /** its number within the mode */
  id?: number;
  /** the function that it was captured from */
  frame?: string;
  /** frame and version, as TORCH_LOGS has them: 0/1 */
  compile?: string;
  /** FX targets in order, without placeholders and output */
  ops: string[];
  /** inputs */
  placeholders?: number;
  /** its nodes, those of loops' bodies too */
  nodes?: ReportNode[];
  /** names of its kernels in the order they are launched */
  kernels?: string[];
  /** the generated C or CUDA C, up to 64 KiB; null where none was generated */
  lowered?: string | null;
  /** what its nodes were lowered to, kernel by kernel, before there was code: up to 64 KiB; none where it runs in pieces */
  tile_program?: string | null;
  /** ms: from capture to kernels that can run */
  compile_ms?: number;
  /** whether its kernels came from the cache on disk */
  cached?: boolean;
  /** calls that ran it */
  uses?: number;
  /** its kernels */
  kernel_details?: ReportKernel[];
  /** ids of the nodes that it returns */
  outputs?: number[];
  /** its inputs that hold what another graph gave when it was captured: values that live across a break */
  origins?: ReportOrigin[];
  /** loops on tensors within it (policy native) */
  subgraphs?: ReportSubgraph[];
  /** why the cache on disk was not used */
  cache_note?: string;
  /** mode graphs: what became of recording its launches */
  recording?: ReportRecording | null;
  /** the same of its backward part */
  backward_recording?: ReportRecording | null;
  /** ms: what compile_ms is made of */
  compile_parts_ms?: ReportCompileParts;
  /** what each pass did to it, where that was asked */
  passes?: ReportPassPart[];
  /** true: captured after the calls were made once, and timed */
  later?: boolean;
}

/** an input of a graph that another graph gave */
export interface ReportOrigin {
  /** the id of the placeholder */
  node: number;
  /** the id of the graph that gave it */
  graph: number;
  /** its place among the outputs of that graph */
  output: number;
}

/** a node of a graph */
export interface ReportNode {
  /** its number within the graph */
  id: number;
  /** its name, as FX would give it */
  name: string;
  /** placeholder, its FX target, or its op */
  op: string;
  /** of its value */
  dtype?: string;
  /** of its value: [s0, 16] */
  shape?: string;
  /** of the source */
  line?: number;
  /** the file of the line, of a program of several */
  file?: string;
  /** of the source */
  column?: number;
  /** a list: tensors as {"node": id}, the rest as plain values */
  args?: unknown;
  /** the nn.Module whose call it is part of */
  module?: string | null;
}

/** a loop on a tensor; numbers are ids of the graph's nodes */
export interface ReportSubgraph {
  /** while_loop */
  kind: string;
  /** the loop's own node */
  node: number;
  /** the place in the list of the loop around it */
  parent: number | null;
  /** of the source */
  line: number;
  /** the file of the line, of a program of several */
  file?: string;
  /** whether there is a first round */
  first: number | null;
  /** whether there is another round: computed in each */
  again: number | null;
  /** what goes from round to round */
  carried: ReportCarried[];
  /** what it reads besides, from outside */
  reads: number[];
  /** its body */
  nodes: number[];
  /** those of the body that only say whether there is another round */
  condition: number[];
}

/** what goes from round to round of a loop */
export interface ReportCarried {
  /** what is it in the body; null where the body does not read it */
  node: number | null;
  /** its value before the first round */
  start: number | null;
  /** its value in the next round */
  next: number | null;
  /** its value after the loop; null where nobody reads it */
  result: number | null;
}

/** a kernel; bytes are those of the sizes at capture */
export interface ReportKernel {
  /** its name */
  name: string;
  /** map, rows, cols or library */
  form: string;
  /** why it is a kernel of its own */
  why: string;
  /** nodes in it */
  ops: number;
  /** of the source */
  lines: number[];
  /** the file of each line, of a program of several */
  files?: string[];
  /** bytes: read by a launch */
  read_bytes: number;
  /** bytes: written by a launch */
  written_bytes: number;
  /** bytes: what its nodes would have moved besides, one kernel each */
  saved_bytes: number;
  /** whether it makes row-major what views have put in another order */
  copies: boolean;
  /** arithmetic operations of a launch; null where they are not known */
  operations?: number | null;
  /** 1/byte: operations over bytes */
  intensity?: number | null;
  /** registers a thread; this and the next four on a GPU */
  registers?: number;
  /** bytes: shared memory of a block */
  shared_bytes?: number;
  /** bytes: local memory of a thread: registers that were spilled */
  local_bytes?: number;
  /** threads of a block */
  block_threads?: number;
  /** warps that can be resident over those that the GPU has room for */
  occupancy?: number;
  /** what was tried before it was compiled (autotune), the planned one first */
  schedules?: ReportSchedule[];
  /** whether their times are an earlier process's, from the cache */
  schedules_kept?: boolean;
  /** us: the time of a launch; this and what follows where it was watched */
  median_us?: number;
  /** us: its interval */
  ci_us?: [number, number];
  /** launches that were watched */
  seen?: number;
  /** GB/s: bytes over time */
  bandwidth_gbps?: number;
  /** GFLOP/s: operations over time */
  rate_gflops?: number;
  /** x: the time of a copy of as many bytes over its own */
  copy_share?: number;
  /** where that copy's blocks lie: cache or memory */
  copy_in?: string;
}

/** a schedule of a kernel that was tried */
export interface ReportSchedule {
  /** what it is: as planned, or what differs, with threads of a block and lanes of a thread */
  what: string;
  /** us: a launch, one after another on the same memory */
  us: number;
  /** whether it is the kernel's: it took at least 3 % less than the planned one, and least of all */
  chosen: boolean;
}

/** what the time to compile a graph is made of */
export interface ReportCompileParts {
  /** ms: capturing it */
  capture: number;
  /** ms: its passes */
  passes: number;
  /** ms: lowering and compiling */
  backend: number;
}

/** mode graphs: what became of recording a graph's launches */
export interface ReportRecording {
  /** whether there is a recording */
  recorded: boolean;
  /** recordings made: one for each piece of a graph that runs in pieces */
  made: number;
  /** recordings that could not be made */
  refused: number;
  /** why not */
  why_not: string | null;
  /** recordings replayed kernel by kernel */
  direct: number;
  /** why so */
  why_direct: string | null;
  /** why there had to be a new one */
  because: string | null;
  /** us: the time to record */
  record_us: number;
  /** calls that replayed it */
  replays: number;
  /** pointers set since tensors lay elsewhere */
  pointed: number;
  /** calls in which guards needed no check */
  guards_left_out: number;
  /** why they always need one */
  why_guards: string | null;
  /** bytes: memory that the recording holds */
  held_bytes: number;
}

/** a graph, or a piece of one, and what its passes did */
export interface ReportPassPart {
  /** its name; empty: the whole graph */
  part: string;
  /** the message of a pass that fails now; then the rest is missing */
  error?: string;
  /** the while_loop whose body it is */
  loop?: string | null;
  /** nodes of the captured graph that its inputs are */
  takes?: string[];
  /** nodes of the captured graph that its outputs are */
  gives?: string[];
  /** the first of the graph's kernels that is its own */
  first_kernel?: number;
  /** kernels that are its own */
  n_kernels?: number;
  /** nodes before the passes */
  nodes?: number;
  /** the graph before the passes */
  before?: string | null;
  /** the passes in order */
  steps?: ReportPassStep[];
  /** bytes: texts that were too long */
  left_out_bytes?: number;
}

/** one pass over a graph */
export interface ReportPassStep {
  /** its name */
  pass: string;
  /** the plugin that it comes from */
  plugin?: string | null;
  /** whether it was switched off */
  off: boolean;
  /** whether it changed the graph */
  changed: boolean;
  /** nodes after it */
  nodes: number;
  /** us: the time that it took */
  us: number;
  /** rules that fired */
  rules?: ReportRule[];
  /** firings that are not listed */
  rules_left_out?: number;
  /** the graph after it; null where it is as before, or left out */
  after?: string | null;
}

/** a rule that fired in a pass */
export interface ReportRule {
  /** the rule */
  rule: string;
  /** times it fired */
  count: number;
  /** the first 50 places */
  at: ReportRulePlace[];
}

/** where a rule fired */
export interface ReportRulePlace {
  /** the node that it replaced */
  node: string;
  /** what took its place; null where nothing did */
  with?: string | null;
  /** of the source */
  line: number;
  /** the file of the line, of a program of several */
  file?: string;
  /** of the source */
  column: number;
}

/** a condition under which a graph is used again */
export interface ReportGuard {
  /** the graph's id */
  graph?: number;
  /** the condition */
  text: string;
}

/** a function that was captured, with its compiled versions */
export interface ReportFrame {
  /** its name */
  frame: string;
  /** its number */
  id?: number;
  /** where it begins */
  line?: number;
  /** the file of the line, of a program of several */
  file?: string;
  /** whether it is always run without capture */
  skipped?: boolean;
  /** whether it is compiled no more: what is compiled is used */
  run_only?: boolean;
  /** the break that it is skipped for, as the breaks of the mode, from 0 */
  broke?: number;
  /** its lines that run in eager: always where it is skipped, where no cache entry serves if it is compiled no more */
  lines?: number[];
  /** the file of each line, of a program of several */
  files?: string[];
  /** its compiled versions */
  entries?: ReportEntry[];
}

/** a compiled version of a frame */
export interface ReportEntry {
  /** frame and version: 0/1 */
  compile?: string;
  /** its graph; null where it computes nothing */
  graph?: number | null;
  /** the call that it was compiled in */
  call?: number;
  /** ms: the time to compile it */
  compile_ms?: number;
  /** calls of the frame that it served */
  uses?: number;
  /** of the uses, those that found a value it was not compiled for */
  bail_outs?: number;
  /** why an earlier version would not do; null of the first */
  reason?: string | null;
  /** what is checked before it is used */
  guards?: string[];
  /** its symbolic sizes */
  symbols?: ReportSymbol[];
}

/** a symbolic size */
export interface ReportSymbol {
  /** s0 */
  name: string;
  /** where its value comes from */
  source?: string | null;
  /** the values that guards allow */
  range?: string | null;
}

/** a compilation since the guards of earlier versions failed */
export interface ReportRecompile {
  /** the call that it happened in */
  call?: number;
  /** the frame */
  frame?: string;
  /** the guard that failed, with the value found */
  reason: string;
}

/** the traces that mode lazy ran */
export interface ReportLazy {
  /** the first 500 of them */
  runs: ReportTraceRun[];
  /** those that are not listed */
  left_out: number;
}

/** a trace that mode lazy ran since a value was read */
export interface ReportTraceRun {
  /** the call */
  call: number;
  /** of the source */
  line: number;
  /** the file of the line, of a program of several */
  file?: string;
  /** the function */
  function: string;
  /** as PyTorch/XLA names it */
  cause: string;
  /** the same in a sentence */
  message?: string | null;
  /** false: found by its hash */
  compiled: boolean;
  /** its hash */
  hash: string;
  /** its graph */
  graph?: number | null;
  /** inputs */
  inputs: number;
  /** outputs */
  outputs: number;
}

/** where a graph ends, or where lowering splits one */
export interface ReportBreak {
  /** capture or lowering */
  stage: string;
  /** the cause, as `breakeven explain` names it */
  kind: string;
  /** how the program went on: resume, jump, skip, step, eager, error */
  outcome: string;
  /** the id in PyTorch's registry of graph breaks */
  gb?: string | null;
  /** the call that met it first */
  call: number;
  /** the graph that it ended; null where that piece had no ops */
  graph?: number | null;
  /** what stopped capture */
  message: string;
  /** what to write instead */
  hint?: string | null;
  /** why the frame could not go on after it; null where it did */
  because?: ReportBecause | null;
  /** the name that the message is about */
  subject?: string | null;
  /** where it is, outermost function first */
  stack?: ReportStackLine[];
  /** where it begins in the innermost line */
  column?: number;
  /** one past its end */
  end_column?: number;
  /** where the cause is, if the stack leads to the block around it */
  cause?: ReportCause | null;
  /** times it was met */
  count: number;
  /** us: what it costs a call; null where that is not known */
  cost_us?: number | null;
  /** what that is made of */
  cost?: ReportBreakCost;
  /** the source with a change that takes it away; null where none was found */
  rewrite?: string | null;
  /** what the change gained when it was run */
  rewrite_gain?: ReportRewriteGain;
}

/** why a frame could not go on after a break */
export interface ReportBecause {
  /** why */
  message: string;
  /** what to write instead */
  hint?: string | null;
  /** the id in PyTorch's registry */
  gb?: string | null;
}

/** a place in the source */
export interface ReportStackLine {
  /** the line */
  line: number;
  /** the function */
  function: string;
  /** the file of the line, of a program of several */
  file?: string;
}

/** where the cause of a break is */
export interface ReportCause {
  /** the line */
  line: number;
  /** the function */
  function: string;
  /** where it begins */
  column: number;
  /** one past its end */
  end_column: number;
  /** the file of the line, of a program of several */
  file?: string;
}

/** what a break costs a call; the parts of idle_us, and kernel_us, add up to cost_us */
export interface ReportBreakCost {
  /** us: the interval of cost_us */
  ci_us: [number, number];
  /** us: no kernel runs, since the graph ended */
  idle_us: number;
  /** us: what kernels take more; below zero where one kernel of all is slower */
  kernel_us: number;
  /** fused: timed beside a version without the break; estimate: by the bytes */
  kernel_from?: string;
  /** times a call */
  met: number;
  /** launches that one graph would not have */
  launches: number;
  /** guards that are checked after it */
  guards: number;
  /** of the launches, those of ops that ran one by one */
  eager_launches: number;
  /** bytes: written by one graph and read by the next */
  moved_bytes: number;
  /** bytes: memory that is held from one graph to the next */
  kept_bytes: number;
  /** us: the statement itself */
  statement_us?: number;
  /** us: checking guards */
  guards_us?: number;
  /** us: finding what to run */
  dispatch_us?: number;
  /** us: taking memory */
  alloc_us?: number;
  /** us: launching */
  launch_us?: number;
  /** us: rebuilding what the graph gives */
  outputs_us?: number;
  /** us: leaving and entering the frame */
  frame_us?: number;
  /** us: gathering what the next graph reads */
  entry_us?: number;
  /** us: beginning a recording: mode graphs */
  replay_us?: number;
}

/** before a change of the source and after it */
export interface ReportRewriteGain {
  /** captured graphs */
  graphs: [number, number];
  /** graph breaks */
  breaks: [number, number];
  /** changes that were run as one */
  together?: number;
}

/** what all breaks of a mode cost a call */
export interface ReportBreakCosts {
  /** us: the sum */
  sum_us: number;
  /** us: its interval */
  ci_us: [number, number];
  /** whether breaks that `without` lacks cost what was timed, beyond 5 % of a call; else all costs are estimates */
  timed?: boolean;
  /** calls that were watched */
  calls: number;
  /** groups of calls that went the same way */
  groups: number;
  /** what watching added to a call, and was taken off */
  watching?: ReportWatching;
  /** the function without its breaks, timed beside it; null where there is none */
  without?: ReportUnbroken | null;
  /** us: of a GPU, from one kernel to the next that is at hand */
  turnaround_us?: number;
}

/** what watching a call adds to it */
export interface ReportWatching {
  /** us: a call */
  added_us: number;
  /** ns: a reading of the clock */
  reading_ns: number | null;
  /** ns: a report of a phase */
  report_ns: number | null;
}

/** the function without its breaks, timed beside it */
export interface ReportUnbroken {
  /** its program */
  source?: string | null;
  /** lines whose breaks are gone */
  lines: number[];
  /** the file of each line, of a program of several */
  files?: string[];
  /** breaks that are left */
  breaks_left: number;
  /** us: what the costs of its breaks add up to by timelines alone */
  explained_us: number;
  /** us: its interval */
  explained_ci_us: [number, number];
  /** us: how much less time it takes */
  measured_us: number;
  /** us: its interval */
  measured_ci_us: [number, number];
  /** us: the time of a call */
  median_us: number;
  /** x: explained over measured; null where that is not certain */
  ratio: number | null;
  /** x: its interval */
  ratio_ci: [number, number] | null;
  /** whether both are within 20 %, or their intervals overlap */
  agrees?: boolean;
  /** whether ops that the workload denies are lowered in it */
  allowed?: boolean;
}

/** memory of tensors over one watched call */
export interface ReportMemory {
  /** the call */
  call: number;
  /** us: from begin to end; times below count from its begin */
  duration_us: number;
  /** bytes: in use before it */
  held_bytes: number;
  /** bytes: most in use at once */
  peak_bytes: number;
  /** us: when that was */
  peak_us: number;
  /** bytes: in use after it */
  left_bytes: number;
  /** bytes in use over time */
  curve: ReportMemoryCurve;
  /** how often memory was taken or given back */
  events: number;
  /** the largest that it took */
  tensors: ReportMemoryTensor[];
  /** bytes: of what was in use before, still there at the peak */
  held_at_peak_bytes: number;
  /** tensors that are not listed */
  left_out: ReportMemoryLeftOut;
  /** the largest that were there before */
  held: ReportHeld[];
  /** bytes: arguments of other calls */
  other_inputs_bytes: number;
  /** bytes: what was there before and is not listed */
  other_bytes: number;
}

/** bytes in use: a step for each event, of many the largest ones */
export interface ReportMemoryCurve {
  /** us: when */
  at_us: number[];
  /** bytes: in use from then on */
  bytes: number[];
}

/** memory that a call took */
export interface ReportMemoryTensor {
  /** the op that made it */
  op: string | null;
  /** of the source */
  line: number | null;
  /** the file of the line, of a program of several */
  file?: string;
  /** output, temporary, constant, recording or other */
  use: string;
  /** whether its op ran by itself */
  eager: boolean;
  /** its graph; null where it is of none, or of a backward part */
  graph: number | null;
  /** the kernel of that graph that writes it first */
  kernel: number | null;
  /** values that share it */
  values: number;
  /** null where it is not known, as with shape */
  dtype: string | null;
  /** its sizes */
  shape: number[] | null;
  /** bytes: its memory */
  bytes: number;
  /** us: taken at */
  from_us: number;
  /** us: given back at; null where it outlives the call */
  to_us: number | null;
  /** whether it was in use at the peak */
  at_peak: boolean;
}

/** tensors that are not listed */
export interface ReportMemoryLeftOut {
  /** how many */
  tensors: number;
  /** bytes: their memory */
  bytes: number;
  /** bytes: of that, in use at the peak */
  peak_bytes: number;
}

/** a tensor that was there before the call */
export interface ReportHeld {
  /** input, parameter, gradient or state */
  kind: string;
  /** its name */
  name: string;
  /** of its elements */
  dtype: string;
  /** its sizes */
  shape: number[];
  /** bytes: its memory */
  bytes: number;
}

/** the same workload by other engines */
export interface ReportEngines {
  /** by PyTorch */
  torch?: ReportTorch;
}

/** the workload by PyTorch, in a process of its own; its failure does not fail the run */
export interface ReportTorch {
  /** why it could not be run */
  error?: ReportFailure | null;
  /** what each mode did; empty in a sweep */
  modes: Record<string, ReportTorchMode>;
  /** the points of a sweep */
  points: ReportTorchPoint[];
  /** each mode against PyTorch's eager */
  break_even: Record<string, ReportComparison>;
  /** what its TORCH_TRACE and torch.profiler's trace held */
  log?: ReportImport | null;
  /** why there is none */
  log_error?: ReportFailure | null;
  /** what was watched */
  trace?: ReportTorchTrace | null;
  /** of torch */
  version?: string;
  /** the version of Python */
  python?: string;
  /** the path of Python */
  executable?: string;
  /** the CUDA that torch was built for; null without a GPU */
  cuda?: string | null;
  /** the GPU */
  device_name?: string | null;
  /** threads that computed */
  threads?: number;
  /** who made this torch, and with what */
  build?: ReportTorchBuild;
  /** ms: the first compilation of the process, which loads the compiler */
  first_compile_ms?: number | null;
  /** s: the wall time of it all */
  seconds: number;
}

/** who made a torch, and with what */
export interface ReportTorchBuild {
  /** the tag of its wheel */
  wheel?: string | null;
  /** what installed it */
  installer?: string | null;
  /** whether it has MKL */
  mkl?: boolean;
  /** x86_64 */
  machine?: string;
  /** whether it is an official x86 wheel */
  official?: boolean;
  /** what follows where it is not */
  note?: string | null;
  /** the vector instructions that it uses */
  vector_unit?: string | null;
}

/** a point of a sweep, by PyTorch */
export interface ReportTorchPoint {
  /** how many statements, or the size */
  n: number | null;
  /** what each mode did */
  modes: Record<string, ReportTorchMode>;
  /** each mode against PyTorch's eager */
  break_even?: Record<string, ReportComparison>;
}

/** what one mode of PyTorch did */
export interface ReportTorchMode {
  /** ms: its compiling */
  compile_ms?: number;
  /** bytes: most memory in use at once; null on the CPU, where PyTorch does not count it */
  peak_bytes?: number | null;
  /** ms: the first time of each call */
  first_call_ms?: number[];
  /** frames that TorchDynamo compiled, or tried to */
  frames?: number;
  /** whether it draws random numbers */
  draws?: boolean;
  /** why this mode alone failed */
  error?: string;
  /** the time of a call */
  latency?: ReportLatency;
  /** its time over Breakeven's; null where values differ or Breakeven's was not measured */
  over_ours?: ReportOverOurs | null;
  /** its values against our eager's */
  values?: ReportTorchValues;
  /** its graph breaks */
  breaks?: ReportImportBreak[];
}

/** PyTorch's time over Breakeven's, of the same mode at the same point */
export interface ReportOverOurs {
  /** x: of the medians */
  ratio: number;
  /** x: its interval, from both intervals */
  ci: [number, number];
}

/** values of a mode of PyTorch against our eager's */
export interface ReportTorchValues {
  /** whether they are the same, as far as their dtypes allow */
  agree: boolean;
  /** elements compared */
  elements: number;
  /** elements that differ by more than is allowed */
  outside: number;
  /** elements that were too many to compare */
  left_out: number;
  /** the largest difference */
  max_abs_error: number;
  /** the largest relative difference */
  max_rel_error: number;
  /** whether both print the same */
  stdout_same: boolean;
  /** the first difference, in a sentence */
  first: string | null;
  /** exact, within_dtype or disagrees */
  verdict?: string;
  /** bits, bound or float64 */
  judge?: string;
  /** elements that are not the same to the bit */
  differing?: number;
  /** the largest distance over what is allowed */
  over_allowed?: number;
}

/** what of PyTorch was watched */
export interface ReportTorchTrace {
  /** n of the points that were watched: a list */
  points?: unknown;
  /** calls of each mode */
  calls?: number;
  /** torch.profiler's own sums, by kernel */
  table?: ReportNameTotal[];
  /** why a mode could not be watched */
  failed?: Record<string, string>;
}

/** what was recorded of other processes, or read from their logs */
export interface ReportTrace {
  /** cupti or import; engine, of the timeline of a run */
  recorder?: string;
  /** the clock of its times */
  clock?: string;
  /** ns: what the machine's wall clock was ahead of it at the end */
  wall_ahead_ns?: number;
  /** records lost */
  dropped?: number;
  /** records whose times cannot be right */
  doubtful?: number;
  /** events in the timeline */
  events?: number;
  /** events whose times do not fit into it */
  out_of_range?: number;
  /** this and what follows of a run's timeline: calls that were recorded */
  calls?: number;
  /** ns: what a report of a phase takes */
  tell_ns?: number;
  /** ns: what a reading of the clock takes */
  clock_ns?: number;
  /** whether calls of the driver were recorded */
  api_records?: boolean;
  /** why the device was not */
  not_recorded?: string;
  /** bytes: TORCH_TRACE logs that came with it */
  torch_trace_bytes?: number;
  /** logs that were too many */
  torch_trace_left_out?: number;
  /** what reading the logs lost and repaired */
  ledger?: ReportLedger;
  /** the processes */
  processes?: ReportTracedProcess[];
}

/** a recorded process */
export interface ReportTracedProcess {
  /** its id; of a rank's process with the most kernels the rank */
  pid: number;
  /** of a job of several, whose it was */
  rank?: number;
  /** its parent's */
  parent?: number;
  /** its command */
  command?: string | null;
  /** kernels recorded */
  kernels: number;
  /** records of CUPTI */
  records?: number;
  /** records that CUPTI dropped */
  dropped: number;
  /** records lost on the way */
  lost: number;
  /** records whose times cannot be right */
  doubtful: number;
  /** whether its last records came */
  finished: boolean;
  /** why it was not recorded */
  fault?: string | null;
  /** memory by GPU */
  memory: ReportTracedMemory[];
}

/** memory of a process on a GPU */
export interface ReportTracedMemory {
  /** the GPU */
  device: number;
  /** bytes: in use at the end */
  held_bytes: number;
  /** bytes: most in use at once */
  peak_bytes: number;
}

/** what capture makes of a workload in one mode */
export interface ReportExplain {
  /** the version of this form: 1 */
  breakeven: number;
  /** the workload's */
  name: string;
  /** the mode */
  mode: string;
  /** dynamo or native */
  policy: string;
  /** each call: new_graphs */
  calls: ReportCall[];
  /** the program's own error, which ended the calls */
  error: ReportFailure | null;
  /** captured graphs */
  graphs: ReportGraph[];
  /** conditions under which they are used again */
  guards: ReportGuard[];
  /** where graphs end */
  breaks: ReportBreak[];
  /** frames and their compiled versions */
  tree: ReportFrame[];
  /** the traces that mode lazy ran */
  lazy?: ReportLazy;
  /** what capture and lowering did, in numbers */
  counts: ReportModeCounts;
  /** compilations since guards failed */
  recompiles: ReportRecompile[];
  /** ms: the sum over its graphs */
  compile_ms: number;
  /** whether all kernels came from the cache on disk */
  cached: boolean;
  /** graphs */
  graph_count: number;
  /** breaks of capture */
  graph_break_count: number;
  /** ops of all graphs */
  op_count: number;
  /** whether changes of the source were tried */
  rewrites_tried?: boolean;
  /** what calls with other sizes would lead to */
  sizes?: ReportSizeTry[];
  /** ms: the time that it took */
  ms: number;
}

/** a call with a change of its inputs, after the first call */
export interface ReportSizeTry {
  /** what was changed: 8 to 1 */
  change: string;
  /** the dimensions or arguments */
  where: string[];
  /** same entry, recompiled, new frames or error */
  result: string;
  /** graphs captured */
  new_graphs: number | null;
  /** the guard that failed, or the error */
  reason: string | null;
  /** what a call with yet another size leads to; null where it was not tried */
  then: string | null;
}

/** what logs of other programs held */
export interface ReportImport {
  /** of the first file: kineto, torch_trace, pt_xla */
  kind: string | null;
  /** the files that were read */
  files: ReportImportFile[];
  /** graphs that were captured */
  graphs: number;
  /** compilations that were found in a timeline too */
  joined?: number;
  /** where graphs end */
  breaks: ReportImportBreak[];
  /** compilations since guards failed */
  recompiles: ReportImportRecompile[];
  /** each compilation of a frame */
  compiles: ReportCompilation[];
  /** us: compiling, over all compilations and what first calls added */
  compile_us?: number;
  /** processes that wrote the logs */
  processes?: ReportLogProcess[];
  /** records that compilations counted, by what they are */
  counted?: Record<string, number>;
  /** records of TORCH_TRACE by kind */
  records?: Record<string, number>;
  /** records of kinds that are not known */
  unknown_records?: Record<string, number>;
  /** stacks that frames were compiled from, and records without a compilation came from: a trie */
  stacks?: ReportStackNode[];
  /** texts that records of TORCH_TRACE carry, by kind */
  artifacts?: Record<string, number>;
  /** what logs of PyTorch/XLA said */
  pt_xla?: ReportXla;
  /** kernels */
  kernels: ReportTotal;
  /** copies */
  copies?: ReportTotal;
  /** settings of memory to a value */
  sets?: ReportTotal;
  /** ops of the host */
  ops?: ReportTotal;
  /** ranges that programs named */
  annotations?: ReportTotal;
  /** calls of the driver and the runtime */
  api?: ReportTotal;
  /** memory that allocators reported, by device */
  memory?: ReportLogMemory[];
  /** compiled regions of a timeline */
  regions?: ReportRegion[];
  /** calls of each compiled FX graph */
  graphs_called?: Record<string, number>;
  /** what the files say of themselves: a list */
  heads?: unknown;
  /** events read */
  events?: number;
  /** ends of arrows read */
  flows?: number;
  /** arrows with both ends */
  arrows?: number;
  /** spans of async events */
  async_spans?: number;
  /** moments of async events */
  async_marks?: number;
  /** series of samples */
  counters?: ReportCounter[];
  /** kernels that a CUDA graph launched */
  graph_kernels?: number;
  /** the ranks of a job, together; of one rank its figures */
  ranks?: ReportRanks;
  /** what was lost and repaired */
  ledger: ReportLedger;
  /** the run that an export of Breakeven was */
  exported?: ReportExportedRun;
  /** what that run left, of a file that has it */
  original?: ReportOriginal;
}

/** what an exported run left, as its export has it; any of it may be a stranger's */
export interface ReportOriginal {
  /** its report; none where it ended without one */
  report?: unknown;
  /** what its figures depend on */
  environment?: unknown;
  /** what was run, as it was posted */
  workload?: unknown;
}

/** a file that was read */
export interface ReportImportFile {
  /** its name */
  name: string;
  /** kineto, torch_trace or pt_xla; none */
  kind: string;
  /** bytes: its size */
  bytes: number;
  /** of a file in an archive that is no log: why it was passed over; its kind is none */
  refused?: string;
  /** bytes: its size without gzip */
  decoded_bytes?: number;
}

/** a break that a log tells of; many of one place are one */
export interface ReportImportBreak {
  /** the source file */
  file?: string;
  /** its line */
  line?: number;
  /** the function */
  function?: string | null;
  /** capture or lowering */
  stage?: string;
  /** the cause, as `breakeven explain` names it */
  kind: string;
  /** the id in PyTorch's registry of graph breaks */
  gb?: string | null;
  /** what stopped capture */
  message: string;
  /** times it was met */
  count: number;
  /** how the program went on */
  outcome?: string | null;
  /** PyTorch's */
  explanation?: string | null;
  /** PyTorch's */
  hints?: string[] | null;
  /** all that PyTorch said */
  reason?: string;
  /** how often it went on in each way */
  outcomes?: Record<string, number>;
  /** compilations that it broke */
  compiles?: ReportBreakCompile[];
  /** what it costs a call, from a timeline */
  cost?: ReportImportCost;
  /** this and what follows of an exported run that came back: its mode */
  mode?: string;
  /** its point */
  n?: number;
  /** from here on as in `break` */
  call?: number;
  /** the graph that it ended */
  graph?: number | null;
  /** what to write instead */
  hint?: string | null;
  /** why the frame could not go on */
  because?: ReportBecause | null;
  /** the name that the message is about */
  subject?: string | null;
  /** where it is */
  stack?: ReportStackLine[];
  /** where it begins in the line */
  column?: number;
  /** one past its end */
  end_column?: number;
  /** where the cause is */
  cause?: ReportCause | null;
  /** us: what it costs a call */
  cost_us?: number | null;
  /** the source with a change that takes it away */
  rewrite?: string | null;
  /** what the change gained */
  rewrite_gain?: ReportRewriteGain;
}

/** what a break costs: the first three from a timeline, the rest as in `break_cost`, of an exported run that came back */
export interface ReportImportCost {
  /** calls that the timeline has */
  calls?: number;
  /** us: of the host, a call, outside of graphs */
  host_us_per_call?: number;
  /** us: looking up the next compiled version */
  lookup_us_per_call?: number;
  /** us: the interval of cost_us */
  ci_us?: [number, number];
  /** us: no kernel runs, since the graph ended */
  idle_us?: number;
  /** us: what kernels take more; below zero where one kernel of all is slower */
  kernel_us?: number;
  /** fused: timed beside a version without the break; estimate: by the bytes */
  kernel_from?: string;
  /** times a call */
  met?: number;
  /** launches that one graph would not have */
  launches?: number;
  /** guards that are checked after it */
  guards?: number;
  /** of the launches, those of ops that ran one by one */
  eager_launches?: number;
  /** bytes: written by one graph and read by the next */
  moved_bytes?: number;
  /** bytes: memory that is held from one graph to the next */
  kept_bytes?: number;
  /** us: the statement itself */
  statement_us?: number;
  /** us: checking guards */
  guards_us?: number;
  /** us: finding what to run */
  dispatch_us?: number;
  /** us: taking memory */
  alloc_us?: number;
  /** us: launching */
  launch_us?: number;
  /** us: rebuilding what the graph gives */
  outputs_us?: number;
  /** us: leaving and entering the frame */
  frame_us?: number;
  /** us: gathering what the next graph reads */
  entry_us?: number;
  /** us: beginning a recording: mode graphs */
  replay_us?: number;
}

/** a compilation that a break ended */
export interface ReportBreakCompile {
  /** the place of its process in the list */
  process: number;
  /** frame and version: 0/1 */
  compile: string;
  /** after so many of torch._dynamo.reset() */
  resets?: number;
}

/** a compilation since the guards of earlier ones failed */
export interface ReportImportRecompile {
  /** the call, of an exported run */
  call?: number;
  /** the frame */
  frame?: string | null;
  /** the guard that failed */
  reason: string;
  /** of each earlier version */
  reasons?: string[] | null;
  /** frame and version; the mode, of an exported run */
  compile?: string;
  /** the place of its process in the list */
  process?: number;
}

/** a compilation of a frame; from `cache_size` on, fields of compilation_metrics (torch_metrics.def) */
export interface ReportCompilation {
  /** the place of its process in the list */
  process: number;
  /** frame and version: 0/1 */
  compile: string;
  /** after so many of torch._dynamo.reset() */
  resets?: number;
  /** graphs captured */
  graphs: number;
  /** analyses, each restart included */
  attempts?: number;
  /** the function */
  frame?: string;
  /** its file */
  file?: string;
  /** where it begins */
  line?: number;
  /** where its stack ends among the nodes of `stacks` */
  stack?: number;
  /** graph breaks */
  breaks?: number;
  /** pieces that DDP split graphs into */
  ddp_pieces?: number;
  /** us: time by phase */
  phases_us?: Record<string, number>;
  /** equal where ranks captured the same: of the text without comments, addresses and devices' numbers */
  graph_hash?: string;
  /** graphs of AOTAutograd by kind */
  aot_graphs?: Record<string, number>;
  /** files of generated code */
  code_files?: number;
  /** the last of them */
  code_file?: string | null;
  /** kernels that Triton compiled */
  generated_kernels?: ReportGeneratedKernel[];
  /** the collectives of its graphs in the order in which Inductor put them */
  collectives?: string[];
  /** calls of collectives in its generated code, by kind */
  collective_calls?: Record<string, number>;
  /** calls there that wait for a collective */
  collective_waits?: number;
  /** by how many collectives, over the kinds, that code and Inductor's order differ; absent: the log lacks one of them */
  schedule_offset?: number;
  /** calls of collectives there beyond the waits; absent: as schedule_offset */
  missing_waits?: number;
  /** ops whose run time Inductor estimates */
  estimated_ops?: number;
  /** us: the sum of these estimates */
  estimated_us?: number;
  /** equal where those ops give tensors of the same types, shapes and strides under the same names */
  tensors_hash?: string;
  /** hits and misses of caches */
  caches?: Record<string, number>;
  /** guards by kind */
  guard_kinds?: Record<string, number>;
  /** guards in the log's list */
  listed_guards?: number;
  /** symbolic sizes */
  dynamic?: ReportDynamicSize[];
  /** guards on sizes */
  shape_guards?: string[];
  /** sizes that were fixed */
  specializations?: ReportSpecialization[];
  /** guards of earlier versions that failed */
  recompile_reasons?: string[];
  /** bytes: the text of the error */
  error_bytes?: number;
  /** that text */
  error?: string;
  /** why CUDA graphs were not used */
  cudagraph_skips?: string[];
  /** us: compiling of the backward, and what first calls added */
  later_us?: Record<string, number>;
  /** versions of the frame before */
  cache_size?: number;
  /** versions of all before */
  accumulated_cache_size?: number;
  /** guards */
  guards?: number;
  /** guards on sizes */
  shape_guard_count?: number;
  /** ops of the graph */
  ops?: number;
  /** nodes of the graph */
  nodes?: number;
  /** inputs of the graph */
  inputs?: number;
  /** why analyses began again */
  restart_reasons?: string[];
  /** the exception that ended it */
  fail_type?: string;
  /** its message */
  fail_reason?: string;
  /** where it was raised */
  fail_file?: string;
  /** the line */
  fail_line?: number;
  /** false: the frame was skipped */
  has_guarded_code?: boolean;
  /** s: when it began */
  start_s?: number;
  /** us: its duration */
  duration_us?: number;
  /** s: all of it */
  entire_s?: number;
  /** s: the backend */
  backend_s?: number;
  /** s: Inductor */
  inductor_s?: number;
  /** s: generating code */
  code_gen_s?: number;
  /** s: analyses that were begun again */
  before_restart_s?: number;
  /** us: checking its guards */
  guard_latency_us?: number;
  /** why it was compiled again */
  recompile_reason?: string;
  /** true */
  is_forward?: boolean;
  /** us: as PyTorch wrote them */
  triton_kernel_compile_times_us?: unknown;
  /** of torch */
  version?: string;
  /** ok, break, empty, skip or error */
  outcome: string;
  /** what a timeline has of it */
  timeline?: ReportRegion;
}

/** a frame of a stack, with those that stacks share before it */
export interface ReportStackNode {
  /** the place of the frame that called it in the list; -1: none did */
  parent: number;
  /** the function */
  function: string;
  /** its file */
  file: string;
  /** the line */
  line: number;
  /** that line, where the log has it; null in a redacted run */
  code?: string | null;
  /** records of no compilation that came from here, by kind */
  records?: Record<string, number>;
}

/** a kernel that Triton compiled */
export interface ReportGeneratedKernel {
  /** its name */
  name: string;
  /** us: the time to compile it: a number */
  compile_us: unknown;
}

/** a symbolic size of PyTorch, as the log has it */
export interface ReportDynamicSize {
  /** s0 */
  symbol: string | null;
  /** where its value comes from */
  source: string | null;
  /** its value at the time */
  value: unknown;
  /** the values that it may have */
  range: unknown;
  /** of the source */
  line: unknown;
  /** whether it comes of the values in a tensor */
  unbacked: boolean;
}

/** a symbolic size that was fixed */
export interface ReportSpecialization {
  /** s0 */
  symbol: unknown;
  /** what it was fixed to */
  value: unknown;
}

/** calls of one compiled version, in a timeline */
export interface ReportRegion {
  /** as the file names it */
  process: string;
  /** frame and version: 0/1 */
  compile: string;
  /** calls */
  calls: number;
  /** us: their time */
  total_us: number;
  /** us: of the host, outside of graphs */
  self_us: number;
  /** us: compiling */
  compile_us: number;
  /** look-ups of TorchDynamo's cache */
  lookups: number;
  /** us: their time */
  lookup_us: number;
  /** calls of the compiled graph */
  graph_calls: number;
  /** us: their time */
  graph_us: number;
  /** launches */
  launches: number;
  /** kernels */
  kernels: number;
  /** us: their time */
  kernel_us: number;
}

/** a process that wrote logs */
export interface ReportLogProcess {
  /** its id */
  pid?: number;
  /** the place of its file in the list */
  file?: number;
  /** its rank; null where the log does not say it */
  rank?: unknown;
  /** true: compilations of it were left out, over what an import keeps */
  cut?: boolean;
  /** of torch */
  version?: string;
  /** graphs that it ran, as its log says */
  graphs_ran?: number;
  /** their compile ids in the order in which they ran, at most 4,096 */
  graph_order?: string[];
}

/** events of one kind */
export interface ReportTotal {
  /** how many */
  count: number;
  /** us: their time */
  total_us: number;
  /** bytes: what they moved */
  bytes?: number;
  /** by their names, most time first */
  by_name: ReportNameTotal[];
}

/** events of one name */
export interface ReportNameTotal {
  /** the name */
  name: string;
  /** how many */
  count: number;
  /** us: their time */
  total_us: number;
}

/** memory of a device, as an allocator reported it */
export interface ReportLogMemory {
  /** the GPU; null: the host */
  device?: number | null;
  /** reports */
  events: number;
  /** bytes: in use at the end */
  held_bytes?: number;
  /** bytes: most in use at once */
  peak_bytes: number;
  /** bytes: most held by the allocator */
  peak_reserved_bytes: number;
}

/** a series of samples */
export interface ReportCounter {
  /** its name */
  name: string;
  /** as the file names it */
  process?: string | null;
  /** how many */
  samples: number;
  /** the least */
  min: number;
  /** the most */
  max: number;
  /** the last */
  last: number;
}

/** what reading logs lost and repaired, by kind (profiler/import/ledger.def) */
export interface ReportLedger {
  /** kept, though something was odd */
  kept?: Record<string, number>;
  /** repaired */
  repaired?: Record<string, number>;
  /** lost */
  dropped?: Record<string, number>;
  /** what those counts mean that are not zero */
  what?: Record<string, string>;
}

/** where a run came from that was read back from its own export */
export interface ReportImported {
  /** the run as it was */
  run?: ReportExportedRun | null;
  /** the file */
  file?: string | null;
  /** what reading it lost */
  ledger?: ReportLedger | null;
}

/** a run as its export has it */
export interface ReportExportedRun {
  /** its id in the store that it came from */
  id?: number;
  /** its name */
  name?: string | null;
  /** the project that it was filed under */
  project?: string | null;
  /** how it ended */
  status?: string | null;
  /** where it ran */
  device?: string | null;
  /** the commit of the user's project */
  commit?: string | null;
  /** the branch of the user's project */
  branch?: string | null;
  /** ns: when it was posted, since 1970 */
  created_ns?: number;
  /** the error that it ended with */
  error?: string | null;
  /** the version that exported it */
  breakeven?: string | null;
  /** true: without source, names and paths */
  redacted?: boolean;
  /** the kind of the error */
  error_code?: string;
  /** its line of the source; 0: none */
  error_line?: number;
  /** its column; 0: none */
  error_column?: number;
}

/** what logs of PyTorch/XLA said */
export interface ReportXla {
  /** compilations */
  compilations: number;
  /** executions */
  executions: number;
  /** executions that the log calls unexpected */
  unexpected_executions: number;
  /** graphs that Dynamo captured; null where nothing says it */
  captured_graphs: number | null;
  /** graphs that were compiled */
  lowered_graphs: number;
  /** causes */
  causes?: ReportXlaCauses;
  /** graphs by their hash */
  graphs: ReportXlaGraph[];
  /** places where the program read a value */
  breaks?: ReportImportBreak[];
  /** metrics of the report by their names */
  metrics?: Record<string, ReportXlaMetric>;
  /** counters of the report by their names */
  counters?: Record<string, number>;
  /** ops that ran on the CPU */
  fallbacks: ReportFallback[];
  /** what the log says besides */
  notes?: string[] | null;
  /** where the graphs of each model split */
  models?: ReportXlaModel[];
}

/** how often each cause was named */
export interface ReportXlaCauses {
  /** of compilations */
  compilation?: Record<string, number>;
  /** of executions */
  execution?: Record<string, number>;
  /** of unexpected executions */
  unexpected?: Record<string, number>;
}

/** a graph of PyTorch/XLA */
export interface ReportXlaGraph {
  /** its hash */
  hash: string;
  /** its name */
  name: string | null;
  /** inputs */
  inputs: number | null;
  /** outputs */
  outputs: number | null;
  /** why it ran */
  cause: string;
  /** the source file */
  file: string;
  /** its line */
  line: number;
  /** the function */
  function: string;
  /** compilations */
  compilations: number;
  /** executions */
  executions: number;
  /** unexpected executions */
  unexpected?: number;
}

/** a metric of a report of PyTorch/XLA */
export interface ReportXlaMetric {
  /** samples */
  samples?: number;
  /** us: their sum, where they are times */
  total_us?: number;
  /** us: the sum as it was printed, with its rounding */
  printed_us?: number;
}

/** an op that ran on the CPU */
export interface ReportFallback {
  /** the op */
  op: string;
  /** times */
  count: number;
}

/** where the graphs of one model split */
export interface ReportXlaModel {
  /** its name: the folder of its files */
  model: string;
  /** null: nothing says it, as with the next three */
  captured_graphs: number | null;
  /** log or counter */
  captured_from: string | null;
  /** graphs more than one that capture made */
  capture_added: number | null;
  /** breaks of capture */
  capture_breaks: number;
  /** graphs that were compiled */
  lowered_graphs: number;
  /** graphs more than captured ones that lowering made */
  lowering_added: number | null;
  /** breaks of lowering */
  lowering_breaks: number;
  /** us: compiling */
  compile_us: number;
  /** us: running */
  run_us: number;
  /** executions */
  executions: number;
  /** capture, lowering, both or none */
  main_stage: string | null;
}

/** the ranks of one job, each a trace or a compile log */
export interface ReportRanks {
  /** ranks of the job; null where no file says it */
  world_size: number | null;
  /** how busy the devices were, as the begin of a sentence; null where no device ran anything */
  busy: string | null;
  /** what they say first: for whom they wait and why, what the critical path is made of, how far the collectives are hidden */
  sentences: string[];
  /** the ranks that have a trace, by their numbers */
  ranks: ReportRank[];
  /** what the devices of all ranks ran, each moment of a rank once */
  mix: ReportKernelMix[];
  /** collectives that were found on two ranks or more */
  collectives: number;
  /** kernels of collectives that no other rank has */
  unmatched: number;
  /** us: what ranks waited in collectives for the last of them, in all */
  wait_us: number;
  /** the collectives with the longest waits, at most 50 */
  waits: ReportCollectiveWait[];
  /** where ranks differ that should not */
  divergences: ReportDivergence[];
  /** what Inductor estimates of the ops of compilations that two ranks or more have, those with the largest differences first, at most 50 */
  estimates: ReportRankEstimate[];
  /** compilations whose generated code calls other collectives than Inductor put in order, or waits for fewer, at most 200 */
  calls: ReportRankCalls[];
  /** the order in which graphs ran; null where not two logs say it */
  order: ReportRankOrder | null;
  /** the critical path; null without an event of a device */
  path: ReportRankPath | null;
  /** events and collectives past the bounds, which the figures lack */
  left_out: number;
}

/** one rank; times are of its device unless said otherwise, each moment counted once, by the definitions of HolisticTraceAnalysis */
export interface ReportRank {
  /** its number */
  rank: number;
  /** what says so: header, name or order of the files */
  rank_from: string;
  /** its file */
  file: string;
  /** the machine, where the file says it */
  host?: string;
  /** true: its trace has no event of a device, and the figures are of its host: outermost ops are the computation, spans of gloo, MPI or UCC the collectives */
  on_host: boolean;
  /** ProfilerSteps that the figures cover; 0: there are none */
  steps: number;
  /** true: what the last ProfilerStep launched is left out, since its kernels are cut off */
  last_step_left_out: boolean;
  /** us: what its clock is ahead of the first rank's, by the ends of collectives; null: none is shared */
  offset_us: number | null;
  /** us: half the interquartile range of that */
  offset_error_us: number | null;
  /** collectives that it is from */
  offset_from: number;
  /** kernels, copies and sets */
  kernels: number;
  /** us: from the first kernel's start to the last one's end */
  total_us: number;
  /** us: a kernel computes */
  computation_us: number;
  /** us: a collective runs */
  communication_us: number;
  /** us: a copy or a set runs */
  memory_us: number;
  /** us: a collective and a computation run */
  overlap_us: number;
  /** that over communication_us; null without any */
  overlap: number | null;
  /** us: a collective runs and nothing computes */
  exposed_us: number;
  /** us: something runs that is no computation */
  non_compute_us: number;
  /** us: nothing runs */
  idle_us: number;
  /** these as parts of total_us */
  shares: ReportRankShares;
  /** us: gaps of its streams, added: the next launch came after the gap began */
  host_wait_us: number;
  /** us: others, shorter than 30 us */
  kernel_wait_us: number;
  /** us: the other gaps */
  other_wait_us: number;
  /** calls that launched one kernel, copy or set */
  launches: number;
  /** of these, what ran shorter than its launch took */
  short_kernels: number;
  /** of these, those that took longer than 50 us */
  long_launches: number;
  /** of these, what began more than 100 us after its launch had ended */
  late_starts: number;
  /** what its device ran, each moment once */
  mix: ReportKernelMix[];
  /** the ten longest names of each kind, and the others of it */
  top: ReportRankKernel[];
  /** its streams */
  streams: ReportRankStream[];
  /** copies and sets by their kind */
  copies: ReportRankCopy[];
  /** bytes: most in use at once, as the allocator said it */
  peak_bytes: number | null;
  /** bytes: most held by the allocator */
  peak_reserved_bytes: number | null;
  /** its collectives that another rank has too */
  collectives: number;
  /** us: what it waited in them for the last rank */
  wait_us: number;
  /** how often it held the others up: it came more than 10 us and the clocks' error after the middle rank, and nearer to the last than to that */
  last: number;
  /** us: what it was later than the middle rank, then, in all */
  late_us: number;
  /** us: what others waited for it, then, in all; of several that were late each has its part */
  caused_us: number;
  /** what of its work took the most more than the others', then: a kind of the path */
  late_kind: string | null;
  /** the kernel, call or op with the most of that */
  late_name: string | null;
}

/** what of a rank's total_us its device ran: computation, communication and memory overlap; exposed, idle and the last three are each moment once */
export interface ReportRankShares {
  /** anything */
  busy: number;
  /** a kernel that computes, whatever ran beside it */
  computation: number;
  /** a collective, whatever ran beside it */
  communication: number;
  /** a copy or a set, whatever ran beside it */
  memory: number;
  /** a collective, and nothing computed */
  exposed: number;
  /** nothing */
  idle: number;
  /** a kernel that computes, and no collective */
  computation_alone: number;
  /** a kernel that computes and a collective */
  both: number;
  /** copies and sets, and nothing else */
  memory_alone: number;
}

/** kinds of kernels that ran at once */
export interface ReportKernelMix {
  /** computation, communication, memory: one or several */
  kinds: string[];
  /** of the total time of its rank, or of all ranks */
  share: number;
  /** us: their time */
  us: number;
}

/** kernels of one name */
export interface ReportRankKernel {
  /** the name; others: all that are shorter */
  name: string;
  /** computation, communication or memory */
  kind: string;
  /** how many */
  count: number;
  /** us: their time */
  sum_us: number;
  /** us: the shortest */
  min_us: number;
  /** us: the longest */
  max_us: number;
  /** us: their standard deviation; 0 of one */
  stddev_us: number;
}

/** a stream of a device; its queue is one longer with each launch, one shorter with each start */
export interface ReportRankStream {
  /** the device */
  device: number;
  /** its number */
  stream: number;
  /** kernels, copies and sets */
  kernels: number;
  /** us: something runs */
  busy_us: number;
  /** us: gaps, as of the rank */
  host_wait_us: number;
  /** us: gaps, as of the rank */
  kernel_wait_us: number;
  /** us: gaps, as of the rank */
  other_wait_us: number;
  /** of the lengths after each change */
  queue_mean: number;
  /** of them */
  queue_median: number;
  /** of them */
  queue_max: number;
  /** us: 1,024 launches or more waited: a launch blocks */
  full_us: number;
  /** its length over time, for each of 100 equal parts of the rank's time: [least, most] */
  queue: [number, number][];
}

/** copies or sets of one kind */
export interface ReportRankCopy {
  /** as the profiler names it: Memcpy HtoD, Memset */
  name: string;
  /** how many */
  count: number;
  /** bytes: what they moved */
  bytes: number;
  /** us: their time, added */
  us: number;
  /** GB/s: bytes over that; null of none */
  gb_per_s: number | null;
}

/** a collective, and how long its ranks waited for the last */
export interface ReportCollectiveWait {
  /** what it is */
  name: string;
  /** its process group; where the trace does not say it, the stream */
  group: string;
  /** which of its group, from 0; the profiler's own number where it has one */
  index: number;
  /** that each rank puts in; null: not said */
  elements: number | null;
  /** us: when the last rank came, since the beginning of all */
  at_us: number;
  /** ranks in it that have a trace */
  ranks: number;
  /** us: what they waited, added */
  wait_us: number;
  /** the rank that came last */
  last: number;
  /** us: after the middle one */
  late_us: number;
}

/** a difference between ranks */
export interface ReportDivergence {
  /** collective, collectives, graph, compile, cache, recompile, guards, outcome, tensors or order */
  kind: string;
  /** the ranks that differ from most */
  ranks: number[];
  /** the compile id: 0/1 */
  compile?: string;
  /** of a collective: its process group */
  group?: string;
  /** which collective of its group or compilation, op of its compilation, or graph of the order, from 0 */
  index?: number;
  /** what those ranks have */
  theirs: string;
  /** what most ranks have */
  most: string;
  /** all of that */
  sentence: string;
}

/** what Inductor estimates that the ops of a compilation take, over ranks */
export interface ReportRankEstimate {
  /** the compile id: 0/1 */
  compile: string;
  /** after so many of torch._dynamo.reset() */
  resets?: number;
  /** ranks that have it */
  ranks: number;
  /** us: the shortest sum */
  least_us: number;
  /** whose that is: the first of these ranks */
  fastest: number;
  /** us: the longest sum */
  most_us: number;
  /** whose that is: the first of these ranks */
  slowest: number;
}

/** a compilation of a rank whose generated code does not fit Inductor's order of collectives */
export interface ReportRankCalls {
  /** the rank */
  rank: number;
  /** the compile id: 0/1 */
  compile: string;
  /** after so many of torch._dynamo.reset() */
  resets?: number;
  /** by how many collectives they differ, over the kinds */
  offset: number;
  /** calls of collectives beyond the waits */
  missing_waits: number;
}

/** the order in which graphs ran on ranks: the n-th graph of each beside those of the others */
export interface ReportRankOrder {
  /** ranks whose logs say it */
  ranks: number;
  /** graphs that the longest of them ran */
  graphs: number;
  /** places that were compared: the first 4,096, of more than 256 ranks the first 1,048,576 over them */
  compared: number;
  /** places at which ranks ran graphs of other compile ids */
  differ: number;
  /** places at which ranks do not do the same, the first 50 */
  places: ReportRankOrderPlace[];
  /** ranks that ran a graph at a place where the collectives of the graphs differ */
  ranks_collectives: number[];
  /** ranks that ran a graph at a place where caches met other things */
  ranks_caches: number[];
}

/** a place in the order of graphs */
export interface ReportRankOrderPlace {
  /** which, from 0 */
  index: number;
  /** what ran there */
  graphs: ReportRankOrderGraph[];
  /** true: these graphs do not have the same collectives */
  other_collectives: boolean;
  /** true: their caches did not meet the same: a miss, a hit, or passed by */
  other_caches: boolean;
}

/** what ranks ran at a place */
export interface ReportRankOrderGraph {
  /** the compile id of the graph; null: they ran no more */
  compile: string | null;
  /** the ranks */
  ranks: number[];
}

/** the critical path: from the last event back, each moment to what it waited for, from rank to rank at collectives */
export interface ReportRankPath {
  /** us: its length */
  total_us: number;
  /** on how many ranks it runs */
  ranks: number;
  /** its time by kind, all kinds: they add up to it */
  shares: ReportPathShare[];
  /** its time by rank */
  by_rank: ReportPathRank[];
  /** the kernels, calls and ops with the most time on it, at most 20; of each part the six longest count */
  names: ReportPathName[];
  /** its longest parts in the order of time, at most 100 */
  parts: ReportPathPart[];
  /** parts that are not in that list */
  more_parts: number;
  /** true: the traces say which stream waited for which (cuda_sync); else it is told from times */
  waits_recorded: boolean;
}

/** time of the critical path of one kind */
export interface ReportPathShare {
  /** computation, communication, memory, launch, gap, sync, call or host */
  kind: string;
  /** us: its time */
  us: number;
  /** of the whole */
  share: number;
}

/** time of the critical path on one rank */
export interface ReportPathRank {
  /** the rank */
  rank: number;
  /** us: its time */
  us: number;
}

/** time of the critical path of one name */
export interface ReportPathName {
  /** the kernel, call or op */
  name: string;
  /** as of a share */
  kind: string;
  /** us: its time */
  us: number;
}

/** a part of the critical path, between two collectives or within one */
export interface ReportPathPart {
  /** where it is */
  rank: number;
  /** us: its beginning, since the beginning of all */
  from_us: number;
  /** us: its length */
  us: number;
  /** the kind with the most time */
  kind: string;
  /** the kernel, call or op with the most time; null: none */
  name: string | null;
  /** the collective that it is */
  collective?: string;
}

/** many workloads measured as one */
export interface ReportSuite {
  /** the version of this form: 1 */
  breakeven_suite: number;
  /** what it comes to: the fastest column, and what did not pass */
  sentence?: ReportSentencePart[];
  /** each engine, policy and mode */
  columns: ReportSuiteColumn[];
  /** workloads that passed in every column */
  common: ReportSuiteCommon;
  /** x: speedups between the bars of the columns' histograms */
  histogram_edges: number[];
  /** results by how they ended, over all columns */
  results: ReportSuiteProgress;
  /** each workload */
  workloads: ReportSuiteWorkload[];
  /** why workloads did not pass, the most frequent first */
  causes: ReportSuiteCause[];
  /** of a file of another tool's results: each, in place of columns */
  benchmarks?: ReportSuiteBenchmark[];
  /** the suite's; this and what follows in files */
  name?: string;
  /** what was asked for */
  request?: unknown;
  /** what the figures depend on */
  environment?: ReportEnvironment | null;
  /** its id in the store that it is kept in */
  suite?: number;
  /** runs of it that an earlier suite of the store made, since when nothing has changed */
  kept?: number;
  /** s: the wall time of it all */
  seconds?: number;
}

/** a benchmark of a file of results */
export interface ReportSuiteBenchmark {
  /** its run */
  run: number;
  /** its workload */
  name: string;
  /** its first figure */
  mode: string;
  /** the value with its interval */
  shown: string;
  /** DISAGREES: a value of it is not eager's */
  verdict?: string;
}

/** what GET /suites says of a suite's report, beside its head */
export interface ReportSuiteListed {
  /** each engine, policy and mode */
  columns: ReportSuiteColumn[];
  /** workloads that passed in every column */
  common: ReportSuiteCommon;
}

/** all workloads by one engine, policy and mode */
export interface ReportSuiteColumn {
  /** breakeven or torch */
  engine: string;
  /** dynamo or native */
  policy: string;
  /** the mode */
  mode: string;
  /** all of the suite */
  workloads: number;
  /** workloads whose values are eager's */
  pass: number;
  /** workloads whose values are not */
  disagrees: number;
  /** workloads that failed */
  failed: number;
  /** workloads that were cancelled */
  cancelled: number;
  /** workloads that have not ended */
  waiting: number;
  /** passed of those that ended; null where none did */
  pass_rate: number | null;
  /** the geometric mean of speedups */
  geomean: ReportSuiteGeomeans;
  /** x: of speedups; null where there is none */
  quantiles: ReportSuiteQuantiles | null;
  /** speedups between the edges */
  histogram: number[] | null;
  /** ms: the sum over what ran */
  compile_ms: number;
  /** the sum over what ran */
  breaks: ReportSuiteBreaks;
  /** the sum over what ran */
  recompiles: number;
  /** its figures as they are shown */
  shown?: ReportSuiteShown;
}

/** a column's figures as they are shown */
export interface ReportSuiteShown {
  /** 38 of 40 */
  passed: string;
  /** what did not pass, by how it ended; empty where all did */
  not_passed: string;
  /** 95 %, or none ended */
  pass_rate: string;
  /** over the common set */
  geomean: ReportFigure | null;
  /** FASTER or SLOWER where its interval is wholly on one side of 1, else SAME */
  verdict: string | null;
  /** over all that passed in this column, and how many: 1.3x of 39 */
  own: string | null;
  /** the least speedup */
  min: string | null;
  /** the median one */
  median: string | null;
  /** the most */
  max: string | null;
  /** of all workloads, in its own unit */
  compiling: string;
}

/** workloads that passed in every column */
export interface ReportSuiteCommon {
  /** how many */
  n: number;
  /** of all */
  of: number;
}

/** results by how they ended */
export interface ReportSuiteProgress {
  /** values are eager's */
  pass: number;
  /** values are not */
  disagrees: number;
  /** failed */
  failed: number;
  /** cancelled */
  cancelled: number;
  /** not ended */
  waiting: number;
}

/** the geometric mean of a column's speedups */
export interface ReportSuiteGeomeans {
  /** over the workloads that passed in every column */
  common: ReportSuiteGeomean;
  /** over all that passed in this one */
  own: ReportSuiteGeomean;
}

/** the geometric mean of speedups */
export interface ReportSuiteGeomean {
  /** workloads */
  n: number;
  /** x: null where there is none */
  speedup: number | null;
  /** x: its interval */
  speedup_ci: [number, number] | null;
}

/** quantiles of speedups */
export interface ReportSuiteQuantiles {
  /** x: the least */
  min: number;
  /** x: a quarter is below */
  q25: number;
  /** x: half is below */
  median: number;
  /** x: three quarters are below */
  q75: number;
  /** x: the most */
  max: number;
}

/** breaks by stage */
export interface ReportSuiteBreaks {
  /** of capture; null where it is not known */
  capture: number | null;
  /** of lowering; null where it is not known */
  lowering: number | null;
}

/** reasons that are the same but for names in quotes, numbers and advice */
export interface ReportSuiteCause {
  /** failed or disagrees */
  status: string;
  /** what they have in common: '...' stands for a name, N for a number */
  cause: string;
  /** one of them, as it was said */
  example: string;
  /** the names of those that met it in any column */
  workloads: string[];
}

/** a workload of a suite */
export interface ReportSuiteWorkload {
  /** its name */
  name: string;
  /** whether it passed in every column */
  common: boolean;
  /** one for each column that it has */
  results: ReportSuiteResult[];
}

/** a workload in one column */
export interface ReportSuiteResult {
  /** breakeven or torch */
  engine: string;
  /** dynamo or native */
  policy: string;
  /** the mode */
  mode: string;
  /** pass, disagrees, failed, cancelled or waiting */
  status: string;
  /** why it did not pass, or has no speedup */
  reason: string | null;
  /** the id of its run */
  run: number | null;
  /** ns: when its run was made, for an earlier suite: nothing has changed since; since 1970 */
  kept_ns?: number;
  /** x: over eager */
  speedup: number | null;
  /** x: its interval */
  speedup_ci: [number, number] | null;
  /** us: the time of a call */
  median_us: number | null;
  /** ms: its compiling */
  compile_ms: number | null;
  /** launches of a call */
  launches: number | null;
  /** bytes: most memory in use at once */
  peak_bytes: number | null;
  /** the largest difference from eager's values */
  max_abs_error: number | null;
  /** captured graphs */
  graphs: number | null;
  /** breaks by stage */
  breaks: ReportSuiteBreaks;
  /** recompiles */
  recompiles: number | null;
  /** its figures as they are shown */
  shown?: ReportSuiteResultShown;
}

/** the figures of a workload in one column as they are shown */
export interface ReportSuiteResultShown {
  /** over eager */
  speedup: ReportFigure | null;
  /** FASTER or SLOWER where its interval is wholly on one side of 1, else SAME */
  verdict: string | null;
  /** of capture and of lowering: 2 + 0, or unknown */
  breaks: string;
  /** launches of a call */
  launches: string | null;
  /** most memory in use at once, in its own unit */
  peak: string | null;
  /** its compiling, in its own unit */
  compiling: string | null;
}

/** runs beside the first of them, A */
export interface ReportCompare {
  /** x: differences below it do not count: 0.05 is 5 % */
  margin: number;
  /** of the intervals */
  confidence: number;
  /** the worst of the comparisons' */
  verdict: string;
  /** whether nothing differs that forbids it */
  comparable: boolean;
  /** what differs, in a sentence */
  refused: string | null;
  /** what A's points vary; null where it has one point */
  sweep: ReportComparedSweep | null;
  /** the runs */
  runs: ReportComparedRun[];
  /** each other run against A */
  comparisons: ReportCompared[];
}

/** a run as a comparison names it; answers of routes have more of it */
export interface ReportComparedRun {
  /** its id in the store that it is kept in, or comes from */
  id?: number;
  /** the file that it was read from */
  file?: string;
  /** its name */
  name?: string | null;
  /** the project that it is filed under */
  project?: string | null;
  /** where it ran */
  device?: string | null;
  /** the commit of the user's project */
  commit?: string | null;
  /** the branch of the user's project */
  branch?: string | null;
  /** ns: when it was posted, since 1970 */
  created_ns?: number;
  /** A, B and so on */
  label?: string;
}

/** a file with a run: an export, the answer of GET /runs/{id}, or else a bare report */
export interface ReportComparedFile {
  /** the run, of an export */
  run?: ReportComparedRun | null;
  /** its report, of an export or an answer */
  report?: ReportComparedReport | null;
}

/** a report, as far as it is looked at before it is compared */
export interface ReportComparedReport {
  /** what was run */
  workload?: ReportWorkload | null;
  /** what each mode did: an object */
  modes?: unknown;
}

/** what points vary: one of the two */
export interface ReportComparedSweep {
  /** a size of an argument */
  input?: ReportComparedInput;
  /** how many statements there are: {} */
  statements?: unknown;
}

/** the size that points vary */
export interface ReportComparedInput {
  /** the argument, from 0 */
  arg: number;
  /** its dimension, from 0 */
  dim: number;
}

/** a run against A; from `headline` on only where they were compared */
export interface ReportCompared {
  /** A */
  a: string;
  /** the label of the other run */
  b: string;
  /** whether nothing differs that forbids it */
  comparable: boolean;
  /** compared all the same, as was asked */
  forced: boolean;
  /** what differs, in a sentence */
  refused: string | null;
  /** true: both are figures of another tool, without a program, graphs or kernels */
  of_results?: boolean;
  /** in what they differ beside their figures */
  differences: ReportSettingDifference[];
  /** DISAGREES, SLOWER, FASTER, SAME, AMBIGUOUS, NOT ENOUGH or REFUSED */
  verdict: string;
  /** the verdict with its figures, in words */
  sentence: ReportSentencePart[];
  /** what the verdict rests on and how far it reaches: a sentence each */
  how: string[];
  /** the figure that the verdict speaks of */
  headline?: ReportComparedFigure | null;
  /** latency or speedup: what the verdict counts */
  judged_by?: string;
  /** eager's latency where it moved most, of the same program on the same machine; null: none is */
  control?: ReportComparedFigure | null;
  /** the fixed control of both runs; none: a run has none */
  drift?: ReportComparedDrift;
  /** figures by their verdict */
  counts?: Record<string, number>;
  /** figures that were judged together */
  family?: number;
  /** each figure that both have */
  figures?: ReportComparedFigure[];
  /** modes and points that one side alone has */
  only?: ReportComparedOnly;
  /** the programs line by line, at the last point that both have */
  source?: ReportSourceChange;
  /** breaks that came, went or stayed, there */
  breaks?: ReportBreakChange[];
  /** kernels that came, went, or took another time */
  kernels?: ReportKernelChange[];
  /** kernels that are as they were */
  kernels_same?: number;
  /** modes whose graphs have other ops */
  graphs?: ReportGraphChange[];
}

/** in what two runs differ beside their figures */
export interface ReportSettingDifference {
  /** the setting */
  key: string;
  /** its name as people read it */
  title: string;
  /** A's, in words */
  a: string;
  /** the other's */
  b: string;
  /** whether it forbids a comparison */
  matters: boolean;
  /** whether runs on both sides of it are other histories of a workload */
  parts: boolean;
}

/** how much longer the fixed control took in the other run */
export interface ReportComparedDrift {
  /** x: its time over that in A */
  ratio: number;
  /** x: the 95 % interval */
  ci: [number, number];
  /** whether the machine drifted: by 1 % or more, and the interval does not hold 1; latencies are then weighed without the part that they felt (`felt`) */
  moved: boolean;
  /** that in a sentence */
  text: string;
}

/** a figure of two runs, compared */
export interface ReportComparedFigure {
  /** latency, speedup, compile_ms and others */
  metric: string;
  /** its name as people read it */
  title: string;
  /** its unit; empty: a count */
  unit: string;
  /** timed, once or counted */
  kind: string;
  /** the mode */
  mode: string;
  /** the point of a sweep */
  n: number | null;
  /** points that it speaks for together; 0: its own alone */
  points: number;
  /** A's */
  a: ReportComparedValue;
  /** the other's */
  b: ReportComparedValue;
  /** x: b over a; null where values differ from eager's */
  ratio: number | null;
  /** x: its interval */
  ci: [number, number] | null;
  /** of a latency: what part of the fixed control's drift was taken out of the ratio, on the scale of logs: the least and the most that its rounds and the processor's share of a call allow; none: no drift was */
  felt?: [number, number];
  /** the ratio as it is shown: 2.99x */
  times: ReportFigure | null;
  /** FASTER, SLOWER, SAME, AMBIGUOUS, NOT ENOUGH or DISAGREES; of a count LESS, SAME or MORE */
  verdict: string;
  /** whether the verdict of the comparison counts it */
  decides: boolean;
  /** why there is no other, why it does not decide, or why the ratio is not that of the values */
  why: string | null;
}

/** a figure of one run */
export interface ReportComparedValue {
  /** in the figure's unit */
  value: number | null;
  /** its interval */
  ci: [number, number] | null;
  /** the same with its unit, as it is shown: 25.6 µs; times of both sides in one unit */
  shown: ReportFigure;
  /** of a latency whose median says another ratio than the one that is judged: the lower decile, which is */
  judged?: ReportFigure;
  /** rounds that it rests on */
  samples: number;
  /** processes that took these samples */
  processes?: number;
  /** runs whose spread is part of the ratio's interval */
  repeats: number;
}

/** modes and points that one side alone has: static at n = 30 */
export interface ReportComparedOnly {
  /** A alone */
  a: string[];
  /** the other alone */
  b: string[];
}

/** two programs line by line; null past 2,000 lines */
export interface ReportSourceChange {
  /** lines of the other alone */
  added: number | null;
  /** lines of A alone */
  gone: number | null;
  /** all lines, of several files those of files that differ; null where both are alike */
  lines: ReportLineChange[] | null;
  /** the point whose programs they are */
  n: number | null;
}

/** a line of either program */
export interface ReportLineChange {
  /** of a program of several files: where it is */
  file?: string;
  /** a space: of both; - of A alone; + of the other alone */
  sign: string;
  /** its number in A */
  a: number | null;
  /** its number in the other */
  b: number | null;
  /** the line */
  text: string;
}

/** a break that came, went or stayed: known by the text of its line */
export interface ReportBreakChange {
  /** the mode */
  mode: string;
  /** the point of a sweep */
  n: number | null;
  /** added, gone or kept */
  change: string;
  /** capture or lowering */
  stage: string;
  /** the cause */
  kind: string;
  /** the id in PyTorch's registry of graph breaks */
  gb: string | null;
  /** of its line */
  text: string;
  /** as A has it */
  a: ReportComparedBreak | null;
  /** as the other has it */
  b: ReportComparedBreak | null;
}

/** a break in one run */
export interface ReportComparedBreak {
  /** of a program of several files: where it is */
  file?: string;
  /** its line */
  line: number;
  /** times it was met */
  count: number;
  /** us: what it costs a call; null where that cannot be told apart from 0 */
  cost_us: number | null;
  /** us: its interval */
  ci_us: [number, number] | null;
}

/** a kernel that came, went, or took another time: known by its name */
export interface ReportKernelChange {
  /** the mode */
  mode: string;
  /** the point of a sweep */
  n: number | null;
  /** added, gone, slower or faster */
  change: string;
  /** as A has it */
  a: ReportComparedKernel | null;
  /** as the other has it */
  b: ReportComparedKernel | null;
  /** its name */
  name: string;
  /** map, rows, cols or library */
  form: string;
  /** nodes in it */
  ops: number;
  /** why it is a kernel of its own */
  why: string;
  /** x: b over a, where both were watched */
  ratio?: number;
  /** x: its interval */
  ci?: [number, number];
}

/** a kernel in one run */
export interface ReportComparedKernel {
  /** us: the time of a launch */
  us: number | null;
  /** us: its interval */
  ci_us: [number, number] | null;
}

/** a mode whose graphs have other ops */
export interface ReportGraphChange {
  /** the mode */
  mode: string;
  /** the point of a sweep */
  n: number | null;
  /** graphs of A */
  a: number;
  /** graphs of the other */
  b: number;
  /** ops whose counts differ */
  ops: ReportOpChange[];
}

/** an op that is in the graphs of two runs another number of times */
export interface ReportOpChange {
  /** its FX target */
  op: string;
  /** times in A */
  a: number;
  /** times in the other */
  b: number;
}

/** a suite against an earlier one, workload by workload */
export interface ReportSuiteComparison {
  /** the version of this form: 1 */
  breakeven_suites: number;
  /** what broke, and how speedups changed */
  sentence: ReportSentencePart[];
  /** columns that both have */
  columns: ReportSuiteColumnChange[];
  /** workloads that both have */
  workloads: ReportSuiteWorkloadChange[];
  /** workloads that are gone */
  only_before: string[];
  /** workloads that are new */
  only_after: string[];
  /** the earlier suite */
  before?: ReportComparedSuite;
  /** the later one */
  after?: ReportComparedSuite;
}

/** a suite as a comparison names it; answers of routes have more of it */
export interface ReportComparedSuite {
  /** its id in the store that it is kept in */
  id?: number;
  /** the file that it was read from */
  file?: string;
  /** its name */
  name: string;
  /** ns: when it was posted, since 1970 */
  created_ns?: number;
}

/** a file with a suite: the answer of GET /suites/{id}, or else a bare report */
export interface ReportSuiteFile {
  /** its name */
  name?: string | null;
  /** its report, of an answer */
  report?: unknown;
  /** of a bare report: a list */
  columns?: unknown;
}

/** a column of two suites */
export interface ReportSuiteColumnChange {
  /** breakeven or torch */
  engine: string;
  /** dynamo or native */
  policy: string;
  /** the mode */
  mode: string;
  /** passed of those that ended */
  pass_rate_before: number | null;
  /** the same now */
  pass_rate_after: number | null;
  /** the geometric mean of its workloads' changes */
  geomean: ReportSuiteChange;
  /** workloads that passed and do not now */
  broken: number;
  /** workloads that did not pass and do now */
  fixed: number;
  /** workloads whose speedup grew */
  FASTER: number;
  /** workloads whose speedup fell */
  SLOWER: number;
  /** workloads whose speedup did neither */
  SAME: number;
  /** workloads of which that is not known */
  AMBIGUOUS: number;
  /** both as they are shown: 90 % to 95 % */
  pass_rates?: string;
}

/** how speedups changed */
export interface ReportSuiteChange {
  /** workloads with a speedup in both */
  n: number;
  /** x: after over before; null where there is none */
  ratio: number | null;
  /** x: its interval */
  ratio_ci: [number, number] | null;
  /** FASTER, SLOWER, SAME or AMBIGUOUS */
  verdict: string | null;
  /** the ratio as it is shown */
  figure?: ReportFigure;
}

/** a workload of two suites */
export interface ReportSuiteWorkloadChange {
  /** its name */
  name: string;
  /** one for each column that it has in both */
  results: ReportSuiteResultChange[];
}

/** a workload in one column of two suites */
export interface ReportSuiteResultChange {
  /** breakeven or torch */
  engine: string;
  /** dynamo or native */
  policy: string;
  /** the mode */
  mode: string;
  /** how it ended: pass, disagrees, failed, cancelled or waiting */
  before: string;
  /** the same now */
  after: string;
  /** passes, broken, fixed, still-bad, or unknown where one has not ended */
  turn: string;
  /** why it does not pass now */
  reason: string | null;
  /** the id of its run */
  run_before: number | null;
  /** the id of its run now */
  run: number | null;
  /** x: over eager, now */
  speedup: number | null;
  /** x: over eager, before */
  speedup_before: number | null;
  /** x: after over before */
  ratio: number | null;
  /** x: its interval */
  ratio_ci: [number, number] | null;
  /** FASTER, SLOWER, SAME or AMBIGUOUS */
  verdict: string | null;
  /** the speedup before as it is shown */
  shown_before?: string;
  /** the speedup now as it is shown */
  shown?: string;
  /** the ratio as it is shown */
  figure?: ReportFigure;
}

/** one figure over the runs of a workload; without one, which workloads there are */
export interface ReportHistory {
  /** its name; null where none was asked for: then only `workloads` is there */
  workload: string | null;
  /** those that have runs, the one of the newest run first */
  workloads: ReportWorkloadName[];
  /** the mode that the figure is of */
  mode?: string;
  /** the figure: latency, speedup, compile and others */
  metric?: string;
  /** what it is called */
  title?: string;
  /** us, B, x, ms; empty: a count */
  unit?: string;
  /** whether a larger figure is the better one */
  more_is_better?: boolean;
  /** the point of the sweep; null: of each run its last */
  n?: number | null;
  /** what its runs have figures of */
  known?: ReportHistoryKnown;
  /** its runs that ended, oldest first */
  points?: ReportHistoryPoint[];
  /** runs that there are; only the newest may be here */
  total?: number;
  /** whether runs of older versions are not read yet */
  pending?: boolean;
  /** where figures of the workload stepped to another level, the newest first */
  changes?: ReportHistoryChange[];
  /** the newest figure, its last step, and the baseline's */
  sentence?: ReportSentencePart[];
  /** what is not known and what is left out: a sentence each */
  how?: string[];
}

/** a workload that has runs */
export interface ReportWorkloadName {
  /** its name */
  name: string;
  /** how many */
  runs: number;
}

/** what the runs of a workload have figures of */
export interface ReportHistoryKnown {
  /** the figures */
  metrics: ReportHistoryMetric[];
  /** the modes */
  modes: string[];
  /** the points of sweeps */
  points: number[];
}

/** a figure that runs are compared by over time */
export interface ReportHistoryMetric {
  /** how it is asked for */
  name: string;
  /** what it is called */
  title: string;
  /** us, B, x, ms; empty: a count */
  unit: string;
}

/** a run in a history */
export interface ReportHistoryPoint {
  /** the run, with all that the list of runs has of it */
  run: ReportComparedRun;
  /** the beginning of a hash of its program: equal where that is the same */
  source: string | null;
  /** the same of what decides comparability */
  settings: string | null;
  /** the point of the sweep; null without one */
  n: number | null;
  /** the figure, in the history's unit; null where it was not measured */
  value: number | null;
  /** its interval */
  ci: [number, number] | null;
  /** how many it was taken from */
  samples: number;
  /** as it is shown, with its unit; null where it was not measured */
  shown: ReportFigure | null;
  /** the figure over the baseline's: 1.50x; null of the baseline, and without one */
  of_baseline: string | null;
  /** the level that the run is of, in the history's unit; of a figure that stepped */
  level?: number;
  /** the id of the change whose new level begins here */
  change?: number;
  /** why it cannot be held against the one before it that was measured: settings changed (of the newest eight such places with the settings: threads 1, then 4), other point, source changed */
  parting?: string;
}

/** whether workloads pass beside a baseline: what `breakeven gate --json` prints */
export interface ReportGate {
  /** the version of this form: 1 */
  breakeven_gate: number;
  /** PASSED, FAILED, or NOT ENOUGH where nothing failed and something could not be judged */
  verdict: string;
  /** the exit status that says so: 0, 1, 3 */
  exit: number;
  /** what was asked for: a branch, a tag, a run, a file or a folder */
  baseline: string;
  /** x: differences below it do not count: 0.05 is 5 % */
  margin: number;
  /** of values, times, graphs, breaks, launches */
  fails_on: string[];
  /** how many passed, failed, and could not be judged */
  sentence: string;
  /** each workload */
  rows: ReportGateRow[];
}

/** a workload beside its baseline */
export interface ReportGateRow {
  /** its name */
  workload: string;
  /** where it was read from */
  file: string | null;
  /** passed, failed, or not enough */
  outcome: string;
  /** of the comparison; MORE, LESS or SAME of graphs, breaks and launches where times are not on both sides; NO RUN where it did not run, NO BASELINE where there is none */
  verdict: string;
  /** the baseline's run */
  a: ReportComparedRun | null;
  /** the run that is judged */
  b: ReportComparedRun | null;
  /** what the verdict speaks of: static latency at n = 30 */
  figure: string | null;
  /** its ratio with its interval, as it is shown: 1.20x (1.15-1.25) */
  times: string | null;
  /** x: the ratio, over the baseline's; null where none was compared */
  ratio: number | null;
  /** x: its interval */
  ci: [number, number] | null;
  /** what changed for the worse, and what could not be judged */
  findings: ReportGateFinding[];
}

/** something that changed for the worse, or that could not be judged */
export interface ReportGateFinding {
  /** values, times, graphs, breaks, launches, run or baseline */
  kind: string;
  /** whether the gate fails for it */
  fails: boolean;
  /** in a sentence */
  text: string;
  /** the kind of a break */
  rule: string | null;
  /** of a break: the file of its line */
  file: string | null;
  /** of a break: its line there */
  line: number | null;
}

/** where figures of workloads stepped to another level */
export interface ReportChanges {
  /** the newest first */
  changes: ReportHistoryChange[];
  /** all that match */
  total: number;
}

/** figures of a workload that stepped to another level at one place: it was seen in two runs at least */
export interface ReportHistoryChange {
  /** its number */
  id: number;
  /** the workload */
  workload: string;
  /** of these runs; empty: none */
  project: string;
  /** of these runs; empty: not known */
  branch: string;
  /** the beginning of a hash of what decides comparability */
  settings: string;
  /** SLOWER, else FASTER, else MORE, else LESS, else AMBIGUOUS; MACHINE where eager moved and no speedup did */
  verdict: string;
  /** open, acknowledged, or gone: with the runs since then it is none */
  state: string;
  /** the last run of the old level */
  before: ReportChangeEnd;
  /** the first run of the new one */
  after: ReportChangeEnd;
  /** ns: when it was found, since 1970 */
  found_ns: number;
  /** what people say of it */
  note: string;
  /** who acknowledged, reopened or noted last */
  note_by: string;
  /** ns: when, since 1970 */
  said_ns: number | null;
  /** what stepped, by how much and since when */
  sentence: ReportSentencePart[];
  /** how sure its place is, and what is known beside it: a sentence each */
  how: string[];
  /** each figure that stepped, those that decide first */
  steps: ReportChangeStep[];
  /** commits that the run after has and the run before has not, as far as they are known, the newest first, at most 50 */
  suspects: ReportSuspect[];
  /** how many these are; null where not all of them are known */
  suspects_total: number | null;
  /** both runs side by side: breaks, kernels, graphs and source that changed; of one change alone */
  comparison?: ReportCompare;
}

/** a commit of the user's project */
export interface ReportSuspect {
  /** its id */
  id: string;
  /** the first line of its message */
  subject: string;
  /** who made it */
  author: string;
  /** ns: when it was committed, since 1970 */
  committed_ns: number;
}

/** a run at which a level ends or begins */
export interface ReportChangeEnd {
  /** its id */
  run: number;
  /** the commit of the user's project; null where it is not known, or the run is gone */
  commit: string | null;
  /** ns: when it was posted, since 1970; null where the run is gone */
  created_ns: number | null;
}

/** a figure that stepped to another level */
export interface ReportChangeStep {
  /** latency, speedup, compile_ms and others */
  metric: string;
  /** its name as people read it */
  title: string;
  /** its unit; empty: a count */
  unit: string;
  /** the mode */
  mode: string;
  /** the point of a sweep */
  n: number | null;
  /** SLOWER or FASTER; MORE or LESS of what is counted; AMBIGUOUS where the interval holds no change */
  verdict: string;
  /** the old level is of runs from it */
  from_run: number;
  /** to it */
  before_run: number;
  /** the new level is of runs from it */
  run: number;
  /** to it */
  to_run: number;
  /** the new level begins at this run or later */
  earliest: number;
  /** and at this one or earlier, with 95 % */
  latest: number;
  /** runs of the old level */
  runs_before: number;
  /** runs of the new one */
  runs_after: number;
  /** whether a later step ended the new level */
  ended: boolean;
  /** the old level */
  old: ReportChangeLevel;
  /** the new one */
  new: ReportChangeLevel;
  /** new over old; of counts new less old */
  ratio: number;
  /** its 95 % interval */
  ci: [number, number];
  /** the ratio as it is shown: 1.20x; of counts +1 */
  times: ReportFigure;
}

/** a level of a figure */
export interface ReportChangeLevel {
  /** in the figure's unit */
  value: number;
  /** its 95 % interval */
  ci: [number, number];
  /** the same with its unit, as it is shown */
  shown: ReportFigure;
}

/** what the runs of a workload say: made with each answer */
export interface ReportHistoryFindings {
  /** the newest figure, and the baseline's */
  sentence: ReportSentencePart[];
  /** what is not known and what is left out: a sentence each */
  how: string[];
  /** as the points of the history, whose fields these are */
  points: ReportHistoryShown[];
}

/** a figure of a history, as it is shown */
export interface ReportHistoryShown {
  /** with its unit; null where it was not measured */
  shown: ReportFigure | null;
  /** the figure over the baseline's: 1.50x; null of the baseline, and without one */
  of_baseline: string | null;
}

/** two timelines: where the difference of what they repeat comes from */
export interface ReportAlignment {
  /** A, what B is held against */
  a: ReportAlignedSide;
  /** B */
  b: ReportAlignedSide;
  /** the difference and what makes most of it, in words */
  sentence: ReportSentencePart[];
  /** what it rests on and what was left out: a sentence each */
  how: string[];
  /** whose difference the sentence speaks of and its rows come first: wall, device, or none */
  leads: string;
  /** the time of a unit, from the end of the one before to its own: device and idle together */
  wall: ReportAlignedChange;
  /** of that what anything ran in: kernels and copies; of a program on the host alone, ops */
  device: ReportAlignedChange;
  /** of that what nothing ran in */
  idle: ReportAlignedChange;
  /** beside a device: what ops of the host take of what repeats there; none where none are known */
  host?: ReportAlignedChange;
  /** what adds to the difference: rows that changed first, the largest first; those of a part add up to it with `others` and `rest_us` */
  rows: ReportAlignedRow[];
  /** rows that are not listed, together */
  others: ReportAlignedOthers;
  /** rows that do not stand, listed or not */
  noise_rows: number;
  /** us: the difference of these, together */
  noise_us: number;
  /** that as it is shown */
  noise: ReportFigure;
  /** ops of the host that changed, at most 50, each with the time that those it calls leave; of a program on the host alone `rows` has them */
  host_rows: ReportAlignedRow[];
  /** what ran in a unit of A, the longest where it is many */
  slices_a: ReportAlignedSlice[];
  /** what ran in a unit of B */
  slices_b: ReportAlignedSlice[];
}

/** one of the two timelines */
export interface ReportAlignedSide {
  /** the run */
  id?: number;
  /** or the file that it was read from */
  file?: string;
  /** the run's name */
  name?: string | null;
  /** the mode whose lanes these are; null: of all */
  mode: string | null;
  /** the point of a sweep */
  n: number | null;
  /** what is repeated: the name of its spans, a period of so many items, or the whole recording */
  unit: string;
  /** how often */
  units: number;
  /** units that count */
  used: number;
  /** kernels and copies in such a unit; of a program on the host alone, ops */
  items: number;
  /** items that lie in no unit */
  outside: number;
  /** true: no device ran anything, so ops of the host are aligned */
  on_host: boolean;
  /** of several devices that which ran most: it alone is looked at */
  device?: number;
  /** events past the bound, which were not looked at */
  left_out: number;
  /** units that do not count, at most 32 */
  apart: ReportAlignedApart[];
  /** ns: where the unit that stands for all begins, since the first event of these lanes */
  t0_ns: number;
  /** ns: where it ends */
  t1_ns: number;
}

/** a unit that does not count */
export interface ReportAlignedApart {
  /** which, from 0 */
  index: number;
  /** other items, warm-up, far off (a time unlike that of the others), or the first, before which nothing is known */
  why: string;
  /** its time */
  wall: ReportFigure;
  /** the longest that the host did in it */
  cause: string | null;
  /** how long that was */
  cause_time: ReportFigure | null;
  /** ns: where it begins */
  t0_ns: number;
  /** ns: where it ends */
  t1_ns: number;
}

/** a time of a unit on both sides: means over the units that count */
export interface ReportAlignedChange {
  /** us: in A; null: not there */
  a_us: number | null;
  /** us: in B */
  b_us: number | null;
  /** us: B less A */
  delta_us: number;
  /** us: the 95 % interval of that; null with fewer than 2 units on a side */
  ci_us: [number, number] | null;
  /** whether that is more than noise: of rows, of all together at a family-wise error of 5 % */
  changed: boolean;
  /** A's as it is shown */
  a: ReportFigure;
  /** B's */
  b: ReportFigure;
  /** the difference */
  delta: ReportFigure;
  /** us: of a part: its difference less that of all rows */
  rest_us?: number;
  /** that as it is shown */
  rest?: ReportFigure;
}

/** the items of one name, or those that one side made of the other's */
export interface ReportAlignedRow {
  /** device: what they take; idle: what nothing ran in before them; host: what ops of the host take, in host_rows */
  part: string;
  /** slower, faster, new, gone, more, fewer, fused, split, replaced, renamed; of idle time longer or shorter; same */
  change: string;
  /** of the items, as B has it, else A */
  name: string;
  /** that, shortly: without spaces of names, and what templates and calls take */
  title: string;
  /** where the names differ: those of A, at most 8 */
  from: string[];
  /** those of B */
  to: string[];
  /** the op that launched the first of them */
  op: string | null;
  /** items of a unit in A */
  n_a: number;
  /** in B */
  n_b: number;
  /** whether some are launched at another place */
  moved: boolean;
  /** whether it is more than noise: it changed, or nothing tells whether it did, or a side has more of these items */
  stands: boolean;
  /** their time */
  time: ReportAlignedChange;
  /** of device: how long they take themselves, whatever runs beside them; of that `time` is their share */
  length?: ReportAlignedChange;
  /** of the difference that leads; null where there is none */
  share: number | null;
  /** of idle time: what the host did meanwhile, in the units that stand for all; the largest difference first */
  causes?: ReportAlignedCause[];
  /** where in A; null: not there */
  a: ReportAlignedPlace | null;
  /** where in B */
  b: ReportAlignedPlace | null;
}

/** what the host did while nothing ran */
export interface ReportAlignedCause {
  /** the cause, as the timeline has it */
  name: string;
  /** in words */
  label: string;
  /** us: in A */
  a_us: number;
  /** us: in B */
  b_us: number;
}

/** a part of a timeline, since the first event of these lanes */
export interface ReportAlignedPlace {
  /** ns: from */
  t0_ns: number;
  /** ns: to */
  t1_ns: number;
}

/** rows that are not listed */
export interface ReportAlignedOthers {
  /** how many */
  rows: number;
  /** us: their difference on the device */
  device_us: number;
  /** us: and of idle time */
  idle_us: number;
}

/** an item of the unit that stands for all */
export interface ReportAlignedSlice {
  /** us: when it begins, in the unit */
  at_us: number;
  /** us: how long it takes */
  us: number;
  /** its stream, from 0 */
  lane: number;
  /** its name */
  name: string;
  /** the same on both sides: one was made of the other */
  match: number;
  /** its row among `rows`; null: not listed */
  row: number | null;
}

/** what a run's figures say, as it is shown: made from the report, no part of it */
export interface ReportFindings {
  /** the sentence that opens a run: of `mode`, at the last point */
  answer: ReportSentencePart[];
  /** the mode that it speaks of: static, else the first compiled one; null without one */
  mode: string | null;
  /** of all medians: µs, ms, s or min */
  time_unit: string;
  /** of all compile times: ms, s or min */
  compile_unit: string;
  /** of all peaks: B, kB, MB or GB */
  bytes_unit: string;
  /** of all activations: likewise */
  activations_unit: string;
  /** as the points of the report; one without a sweep */
  points: ReportFindingsPoint[];
  /** the same of PyTorch's points */
  torch: ReportFindingsPoint[];
  /** what makes figures doubtful; what several have in common is one */
  warnings: ReportWarning[];
  /** which modes give other values than eager; empty where none does */
  wrong: ReportSentencePart[];
  /** each of them, and where */
  wrong_modes: ReportWrongMode[];
  /** modes of PyTorch that give other values than ours */
  wrong_torch: ReportWrongMode[];
}

/** a part of a sentence; its parts joined are its text */
export interface ReportSentencePart {
  /** the words */
  text: string;
  /** claim: what it claims; interval: how sure that is; plain without */
  as?: string;
}

/** what is said of a point */
export interface ReportFindingsPoint {
  /** how many statements, or the size; null without a sweep */
  n: number | null;
  /** how it was measured, and whether values agree */
  how: string;
  /** where the time of a call goes, in the mode that is spoken of; none where no call was watched */
  split?: string;
  /** of the parts of a call: µs, ms, s or min */
  split_unit?: string;
  /** each mode */
  modes: Record<string, ReportFindingsMode>;
  /** of what calls take, side by side: B, kB, MB or GB; where they were watched */
  memory_unit?: string;
  /** of what lines take: likewise */
  lines_unit?: string;
  /** what autocast saved or cost */
  autocast?: ReportFindingsAutocast;
}

/** what is said of autocast at a point */
export interface ReportFindingsAutocast {
  /** what it saved or cost */
  sentence: string;
  /** each mode */
  modes: Record<string, ReportFindingsCast>;
}

/** a mode with autocast and without it */
export interface ReportFindingsCast {
  /** with it */
  with: ReportFindingsSide;
  /** without it */
  without: ReportFindingsSide;
  /** time without it over time with it */
  speedup: ReportFigure | null;
  /** FASTER, SLOWER, SAME, AMBIGUOUS or NOT ENOUGH */
  verdict: string | null;
  /** the largest difference between the two */
  error: string;
}

/** a mode with autocast, or without it */
export interface ReportFindingsSide {
  /** the time of a call, in time_unit */
  median: ReportFigure | null;
  /** samples a second */
  rate: string | null;
  /** what calls added to inputs and parameters, in activations_unit */
  activations: string;
}

/** what is said of a mode at a point; null: nothing was measured */
export interface ReportFindingsMode {
  /** FASTER, SLOWER, SAME, AMBIGUOUS, NOT ENOUGH or DISAGREES; null: it is held against nothing */
  verdict: string | null;
  /** the same with its figures; at the last point of a sweep, where the curves cross too */
  sentence: ReportSentencePart[];
  /** the time of a call, in time_unit */
  median: ReportFigure | null;
  /** eager's time over the mode's: 3.55x */
  speedup: ReportFigure | null;
  /** of PyTorch: its time over Breakeven's in the same mode */
  over_ours?: ReportFigure;
  /** the compiling that has to be repaid, in compile_unit */
  compile: string | null;
  /** after how many calls, or at once, never or unknown */
  repaid: string | null;
  /** when its compiling is repaid; where it compiled and is held against eager */
  repay?: ReportFindingsRepay;
  /** launches of kernels a call */
  launches: string | null;
  /** most memory of tensors in use at once, in bytes_unit */
  peak: string | null;
  /** the largest difference of an output from eager's */
  error: string | null;
  /** what memory a call takes; where it was watched */
  memory?: ReportSentencePart[];
  /** the same as amounts */
  memory_use?: ReportFindingsMemory;
  /** where the time of a call goes; where it was watched */
  split?: ReportFindingsSplit;
  /** what its breaks come to; not of eager */
  breaks?: ReportFindingsVerdict;
  /** its distinct breaks, the dearest first, those of lowering last; not of eager */
  distinct?: ReportFindingsBreak[];
  /** their kinds, the dearest first */
  break_kinds?: ReportFindingsBreakKind[];
  /** what its recompiles come to; where frames were compiled, and not of lazy */
  guards?: ReportFindingsVerdict;
  /** as the tree of the report; where guards are */
  frames?: ReportFindingsFrame[];
  /** what passes made of its graphs; where that was asked */
  passes?: ReportFindingsVerdict;
  /** as the graphs of the report; not of eager */
  graphs?: ReportFindingsGraph[];
  /** what its kernels achieve; where they were watched */
  kernels?: ReportFindingsKernels;
}

/** a verdict with its figures */
export interface ReportFindingsVerdict {
  /** the verdict */
  sentence: ReportSentencePart[];
  /** how that is known */
  how: string;
}

/** a distinct break: one that is met again, for other sizes or values, is counted */
export interface ReportFindingsBreak {
  /** the first of those that are the same, as the breaks of the mode, from 0 */
  first: number;
  /** times that they were met */
  met: number;
  /** the calls that met each of them first */
  calls: number[];
  /** what follows for the rest of the program */
  then?: string;
  /** what its rewrite gains; none where that was not tried */
  gain?: string;
  /** us: what they cost a call; none where that is not known */
  cost?: ReportFigure;
  /** where cost is no figure (its interval holds 0, or that of all breaks does, or the timed calls do not meet it): a sentence with what is known */
  cost_open?: string;
  /** us: what all breaks of its line cost a call, as far as that can be told */
  line_cost?: string;
  /** what the cost is made of */
  parts?: ReportFindingsParts;
  /** what the cost comes from, each with its name */
  facts?: ReportNamedValue[];
}

/** what a break costs, in us; the parts add up to the cost as they are written */
export interface ReportFindingsParts {
  /** us: what ended the graph runs in eager */
  statement: string;
  /** us: results return to the frame, the interpreter goes on */
  frame: string;
  /** us: the cache entry for what follows is looked up */
  guards: string;
  /** us: sizes are bound, memory is allocated, the kernel is launched */
  launch: string;
  /** us: one more kernel, and the bytes that a single kernel would not move */
  kernel: string;
}

/** distinct breaks of one kind */
export interface ReportFindingsBreakKind {
  /** the kind */
  kind: string;
  /** how many, and what they cost a call */
  says: string;
  /** which of `distinct`, from 0 */
  rows: number[];
}

/** when the compiling of a mode is repaid */
export interface ReportFindingsRepay {
  /** the compiling that has to be repaid: 44.8 ms */
  compile: string;
  /** us: saved by a call; null: nothing */
  saved: ReportFigure | null;
  /** after how many calls: 16,800 calls; or never, or unknown */
  after: ReportFigure;
  /** after so many calls nine tenths of the speedup are there; null: never */
  nearly: number | null;
  /** the same as it is written */
  nearly_after: string;
}

/** what is said of a frame and its compiled versions */
export interface ReportFindingsFrame {
  /** how many versions, what they took, how often they were used; of a frame without one, how it runs */
  facts: string;
  /** why it is compiled no more */
  notice?: string;
  /** that its lines run in eager, when and why; of one where they do */
  eager?: string;
  /** as the entries of the frame */
  versions: ReportFindingsVersion[];
}

/** what is said of a compiled version */
export interface ReportFindingsVersion {
  /** guards of older versions that failed; none of the first version */
  causes: ReportFindingsCause[];
  /** what would make one version serve */
  fits: string[];
  /** its symbolic sizes */
  symbols?: string;
  /** the time to compile it */
  compile: string;
  /** how often it served */
  used: string;
  /** how often it found a value it was not compiled for */
  bailed?: string;
  /** its own guards that failed later */
  failed: ReportFindingsFailed[];
}

/** a guard that failed, for which a version was compiled */
export interface ReportFindingsCause {
  /** whose guard: 0/1 */
  version: string;
  /** what it found */
  text: string;
}

/** a guard of a version that failed later */
export interface ReportFindingsFailed {
  /** which of its guards, from 0 */
  guard: number;
  /** the call that it failed in */
  call: number;
  /** the version that was compiled for that */
  by: string;
}

/** what memory a call takes, in memory_unit */
export interface ReportFindingsMemory {
  /** in use before it */
  held: ReportAmount;
  /** at its peak, beyond that */
  added: ReportAmount;
  /** that over eager's: 0.5x; or why there is no ratio */
  of_eager: string;
  /** most in use at once */
  peak: ReportAmount;
  /** taken in the course of the call, whenever it is given back */
  taken: ReportAmount;
  /** tensors taken */
  tensors: string;
  /** by line of the source, in its order, in lines_unit; what has no line, or several, last */
  lines: ReportFindingsLine[];
  /** tensors that the report does not list */
  left_out?: ReportFindingsLine;
  /** the sum of all */
  together: ReportFindingsLine;
}

/** what a line of the source takes */
export interface ReportFindingsLine {
  /** the line; null: no line, or several */
  line: number | null;
  /** the file of the line, of a program of several */
  file?: string;
  /** at the peak */
  peak: ReportAmount;
  /** in all */
  taken: ReportAmount;
}

/** bytes as they are written, and exactly */
export interface ReportAmount {
  /** in the unit of its column */
  text: string;
  /** bytes: exactly */
  bytes: number;
}

/** where the time of a call goes, in split_unit; the parts add up to the watched call as they are written */
export interface ReportFindingsSplit {
  /** checking guards */
  guards: string;
  /** finding what to run */
  dispatch: string;
  /** taking memory */
  alloc: string;
  /** launching */
  launch: string;
  /** in kernels */
  kernel: string;
  /** what no part claims */
  rest: string;
  /** the watched call, less what watching takes */
  watched: string;
  /** the median of calls that nobody watched */
  median: string;
}

/** what is said of a captured graph */
export interface ReportFindingsGraph {
  /** its number, function and version */
  title: string;
  /** how large it is, how long it took to compile, how often it is used */
  facts: string[];
  /** of its kernels, each launched once: 9.44 µs; none where one was not watched */
  time?: string;
  /** each op with how often it is there, the most frequent first; where one is there twice */
  op_counts?: string;
  /** what became of recording its launches, a sentence each; empty but in mode graphs */
  recording: string[];
  /** as kernel_details of the graph */
  kernels: ReportFindingsKernel[];
}

/** what the kernels of a mode achieve */
export interface ReportFindingsKernels {
  /** how many are held up by more than memory */
  sentence: string;
  /** of all medians: µs, ms, s or min */
  time_unit: string;
  /** of all that kernels move: B, kB, MB or GB */
  bytes_unit: string;
}

/** what is said of a kernel; figures are there where it was watched */
export interface ReportFindingsKernel {
  /** its ops, what it moves and what fusion saves */
  about: string;
  /** the time of a launch, in time_unit */
  median?: ReportFigure;
  /** what a launch reads and writes, in bytes_unit */
  moves?: string;
  /** GB/s: bytes over time */
  bandwidth?: string;
  /** the time of a copy of as many bytes over its own: 85 % */
  of_copy?: string;
  /** arithmetic operations of a launch */
  operations?: string;
  /** GFLOP/s: operations over time */
  rate?: string;
  /** 1/byte: operations over bytes */
  intensity?: string;
  /** warps that can be resident over those that the GPU has room for: 50 % */
  occupancy?: string;
  /** each schedule that was tried, with its time: twice the threads: 256 threads, 4 lanes, 12.3 µs, chosen */
  tried?: string[];
  /** shared memory of a block: 16.4 kB */
  shared?: string;
}

/** a figure in the digits that its interval allows */
export interface ReportFigure {
  /** the figure */
  text: string;
  /** the lower end of its interval; null without one */
  low: string | null;
  /** the upper end */
  high: string | null;
}

/** what a reader should know before a figure is trusted */
export interface ReportWarning {
  /** the modes, and at which n */
  title: string;
  /** what it is */
  text: string;
}

/** a mode whose values are not those they should be */
export interface ReportWrongMode {
  /** the mode, and at which n first */
  place: string;
  /** what differs there, and at which other points */
  text: string;
  /** the value that differs most, by whose it is; none where structures differ */
  values: ReportNamedValue[];
}

/** a value and whose it is */
export interface ReportNamedValue {
  /** This mode, Eager, float64, Beyond what is allowed */
  name: string;
  /** the value */
  value: string;
}

/** many workloads to be measured as one: what is said here goes over each of them */
export interface ReportSuiteRequest {
  /** what the suite is called */
  name?: string | null;
  /** blocks: the workloads that come with the program */
  suite?: string | null;
  /** a list of workloads, or of suite_entry where a file could not be read */
  workloads?: unknown;
  /** the modes that each is run in; eager is always one */
  modes?: string[] | null;
  /** dynamo, native or both */
  policy?: string | null;
  /** cpu, cuda or cuda:N */
  device?: string | null;
  /** what runs compiled graphs */
  backend?: string | null;
  /** how many threads compute; 0: one a core */
  threads?: number | null;
  /** the project that it is filed under */
  project?: string | null;
  /** words to find its runs by */
  tags?: string[] | null;
  /** the commit of the user's project */
  commit?: string | null;
  /** the branch of the user's project */
  branch?: string | null;
  /** the machine that runs them, of those that the server names; without, the server's own */
  host?: string | null;
  /** s: how long each point is sampled */
  seconds?: number | null;
  /** measure each, also those of which an earlier suite has a run since when nothing changed */
  again?: boolean | null;
  /** breakeven, and torch */
  engines?: string[] | null;
}

/** a workload of a suite, as far as the suite itself looks at it */
export interface ReportSuiteEntry {
  /** its name */
  name?: string | null;
  /** why its file could not be read: then it fails with that */
  error?: string | null;
}

/** a graph whose boxes are to be placed */
export interface ReportLayoutRequest {
  /** a list of [width, height, group]: pixels, and -1 or a group */
  boxes?: unknown;
  /** a list of [parent, least width]: -1 or a group before it, and pixels */
  groups?: unknown;
  /** a list of [from, to]: two boxes */
  edges?: unknown;
  /** px: the height of a group's heading: a number */
  band_height?: unknown;
}

/** a graph whose nodes are to be grouped */
export interface ReportGroupsRequest {
  /** a list of texts: the paths of modules */
  modules?: unknown;
  /** a list of [node, parent, line]: -1 or a node, -1 or another loop, and a line */
  loops?: unknown;
  /** a list of [module, loop, kernel, given]: -1 or one of each, and 0 or 1 */
  nodes?: unknown;
  /** a list of [from, to]: two nodes */
  reads?: unknown;
}

/** how a recording by another process ended */
export interface ReportTraceEnded {
  /** what was imported, as `breakeven import --json` prints it */
  import?: unknown;
  /** why it failed; it did not without */
  error?: string | null;
}

/** one of these */
export interface ReportTorchMessage {
  /** which torch it is */
  hello?: ReportTorchHello;
  /** how far it is */
  progress?: ReportTorchProgress;
  /** what it measured at a point */
  point?: ReportTorchSentPoint;
  /** what it watched */
  trace?: ReportTorchTrace;
  /** that it is done */
  done?: ReportTorchDone;
  /** why it failed */
  error?: ReportFailure;
}

/** which torch it is; as in `torch` */
export interface ReportTorchHello {
  /** of torch */
  version: string;
  /** the version of Python */
  python: string;
  /** the path of Python */
  executable: string;
  /** the CUDA that torch was built for */
  cuda?: string | null;
  /** the GPU */
  device_name?: string | null;
  /** threads that compute */
  threads?: number;
  /** who made this torch, and with what */
  build?: ReportTorchBuild;
}

/** how far torch is */
export interface ReportTorchProgress {
  /** 0 to 1 */
  share: number;
  /** what it does now */
  what?: string | null;
}

/** that torch is done */
export interface ReportTorchDone {
  /** ms: the first compilation of the process */
  first_compile_ms?: number | null;
}

/** what torch measured at a point */
export interface ReportTorchSentPoint {
  /** how many statements, or the size */
  n: number | null;
  /** the file with the bytes of tensors */
  values: string;
  /** each mode */
  modes: Record<string, ReportTorchSentMode>;
}

/** what one mode of torch did */
export interface ReportTorchSentMode {
  /** each call, made once */
  calls?: ReportTorchSentCall[];
  /** as in `torch_mode`, with the next five */
  draws?: boolean;
  /** frames compiled */
  frames?: number;
  /** ms: the first time of each call */
  first_call_ms?: number[];
  /** bytes: most memory in use at once */
  peak_bytes?: number | null;
  /** ms: its compiling */
  compile_ms?: number;
  /** why this mode alone failed */
  error?: string;
  /** ns: samples, in rounds with the other modes */
  samples_ns?: number[];
  /** frames compiled within the samples */
  compiled?: number;
  /** calls that one sample is the mean of */
  calls_a_sample?: number;
}

/** what a call of torch gave; a tensor is its shape, its dtype, and where its bytes begin */
export interface ReportTorchSentCall {
  /** what it returned */
  output?: unknown;
  /** its arguments as it left them */
  inputs_after?: unknown;
  /** gradients of its arguments: a list */
  grads?: unknown;
  /** gradients of parameters */
  param_grads?: unknown;
  /** what it printed: a text, which may have zero bytes */
  stdout?: unknown;
}

/** the ops, or the one that was asked for */
export interface ReportListedOps {
  /** in the order of their table */
  ops: ReportOp[];
}

/** an op */
export interface ReportOp {
  /** its id */
  name: string;
  /** its class, pointwise or reduction and others */
  kind: string;
  /** how programs call it */
  spellings: string[];
  /** operators of Python that mean it */
  operators: string[];
  /** its parameters, with their defaults */
  signature: string;
  /** the dtype of its result */
  dtypes: string;
  /** one line about it */
  doc: string;
  /** yes or none */
  gradient: string;
  /** its class by device; none of a plugin's */
  autocast?: ReportOpAutocast;
  /** dtypes that each backend lowers; none: a call between two pieces */
  backends: Record<string, string[]>;
  /** dtypes that a backend for a device runs on the host, between copies */
  on_host: Record<string, string[]>;
  /** the plugin that it comes from */
  plugin: string | null;
}

/** what autocast does with an op: lower, float32, promote, banned or none */
export interface ReportOpAutocast {
  /** on the CPU */
  cpu: string;
  /** on a GPU */
  cuda: string;
}

/** what runs compiled graphs, and other engines */
export interface ReportListedBackends {
  /** in the order of their registry */
  backends: ReportBackend[];
  /** PyTorch */
  engines?: ReportEngine[];
}

/** what runs compiled graphs */
export interface ReportBackend {
  /** its name */
  name: string;
  /** what it is for */
  purpose: string;
  /** whether it works here */
  available: boolean;
  /** why it does not */
  why_not: string | null;
  /** what it does without here, a sentence each */
  lacks: string[];
  /** whether it is taken where none is named */
  default: boolean;
  /** the processor's vector instructions that it uses */
  vector_unit: string | null;
  /** the first line of its C compiler's version */
  compiler: string | null;
  /** the plugin that it comes from */
  plugin: string | null;
}

/** another engine; from `version` on where it works */
export interface ReportEngine {
  /** torch */
  name: string;
  /** what it is */
  purpose: string;
  /** whether it works here */
  available: boolean;
  /** why it does not */
  why_not: string | null;
  /** of torch */
  version?: string;
  /** the version of Python */
  python?: string;
  /** the path of Python */
  executable?: string;
  /** the CUDA that torch was built for; null without a GPU */
  cuda?: string | null;
  /** the GPU */
  device_name?: string | null;
  /** threads that compute */
  threads?: number;
  /** who made this torch, and with what */
  build?: ReportTorchBuild;
}

/** the passes in the order of execution, and what they need and make */
export interface ReportListedPasses {
  /** the passes */
  passes: ReportPass[];
  /** properties of a graph */
  properties: ReportPassProperty[];
}

/** a pass over graphs */
export interface ReportPass {
  /** its name */
  name: string;
  /** what it does */
  purpose: string;
  /** properties that the graph must have before it */
  needs: string[];
  /** properties that the graph has after it */
  makes: string[];
  /** properties that the graph may lose */
  breaks: string[];
  /** passes that go before it */
  after: string[];
  /** whether it cannot be switched off */
  required: boolean;
  /** why it cannot */
  why_required: string | null;
  /** the plugin that it comes from */
  plugin: string | null;
}

/** a property of a graph */
export interface ReportPassProperty {
  /** its name */
  name: string;
  /** what it means */
  text: string;
}

/** how far a worker is */
export interface ReportProgress {
  /** of all its work, from 0 to 1 */
  share: number;
  /** what it does now */
  what: string;
  /** s: how long the rest will take; below zero: not known */
  left_s: number;
}

/** a mode at a point of a sweep that is being measured */
export interface ReportMeasuredMode {
  /** the time of a call, without its samples */
  latency: ReportLatency;
}

/** a point of a sweep whose other points are being measured */
export interface ReportMeasuredPoint {
  /** of the sweep */
  n: number;
  /** each mode */
  modes: Record<string, ReportMeasuredMode>;
  /** each mode against eager */
  break_even?: Record<string, ReportComparison>;
}

/** what a request made; some answers say more of it */
export interface ReportCreated {
  /** its id */
  id: number;
}

/** what has come of a file that is posted in pieces */
export interface ReportFileReceived {
  /** goes on with it; none where all is there */
  upload?: string;
  /** bytes: how much has come */
  received: number;
  /** bytes: how long the file is */
  bytes: number;
  /** what names it, where all is there */
  id?: string;
}

/** why a request was refused */
export interface ReportRefusal {
  /** what was wrong */
  error: ReportFailure;
}

/** the log of a bisection; `breakeven bisect --resume` goes on from it */
export interface ReportBisect {
  /** the version of this form: 1 */
  breakeven_bisect: number;
  /** running; found, among (the suspects), same (nothing to find) or undecided */
  state: string;
  /** what it comes to */
  sentence?: string;
  /** the folder of the repository */
  repository: string;
  /** the name of the computer */
  machine: string;
  /** what was asked for */
  request: ReportBisectRequest;
  /** the earlier commit */
  good: ReportBisectCommit;
  /** the later commit */
  bad: ReportBisectCommit;
  /** commits that `bad` has and `good` has not */
  commits: number;
  /** x: the figure of `bad` over that of `good` */
  ratio: number | null;
  /** x: its 95 % interval */
  ratio_ci: [number, number] | null;
  /** rounds of the two alone, before the steps */
  rounds: ReportBisectRounds;
  /** commits that were tried, in their order */
  steps: ReportBisectStep[];
  /** the commit that made the change; where some could not be judged, those among which it is */
  suspects: ReportBisectCommit[];
  /** how much of the change, on the scale of logs, lies between that commit and its parent */
  share: number | null;
  /** s: of wall: what all timed commands took */
  passed_seconds?: number;
  /** s: of those seconds, what the commands waited for a core that others had; figures are without it */
  waited_seconds?: number;
}

/** what a bisection times, and how */
export interface ReportBisectRequest {
  /** the command that is timed */
  command?: string[];
  /** or the workload that is run, a path within the repository */
  workload?: string;
  /** the mode of the workload */
  mode?: string;
  /** wall, cpu, printed, latency or speedup */
  metric: string;
  /** the shell command that builds each commit */
  build?: string;
  /** whether what git does not know is removed before each build */
  clean: boolean;
  /** changes up to this are none: 0.02 is 2 % */
  margin: number;
  /** rounds of a step; where they do not tell, up to eight times as many */
  rounds: number;
  /** s: of a command or a build */
  timeout_seconds: number;
}

/** a commit */
export interface ReportBisectCommit {
  /** its id */
  id: string;
  /** the first line of its message */
  subject: string;
  /** who made it */
  author: string;
  /** when: YYYY-MM-DD */
  date: string;
}

/** figures of rounds, a process each, one after the other: seconds (without those in which it waited for a core that others had), µs of a call, 1 over a speedup, or what was printed */
export interface ReportBisectRounds {
  /** of `good` */
  good: number[];
  /** of the commit of the step */
  candidate?: number[];
  /** of `bad` */
  bad: number[];
}

/** a commit that was tried */
export interface ReportBisectStep {
  /** the commit */
  commit: ReportBisectCommit;
  /** GOOD, BAD, NOT ENOUGH (rounds to decide) or SKIPPED */
  verdict: string;
  /** why it was skipped */
  why?: string;
  /** commits that it has and `good` has not */
  position: number;
  /** commits that were left before this step */
  left: number;
  /** x: its figure over that of `good` */
  ratio: number | null;
  /** x: its 95 % interval */
  ratio_ci: [number, number] | null;
  /** its rounds */
  rounds: ReportBisectRounds;
}

/** machines that run jobs for a server: a workload names one as its `host` */
export interface ReportHostsFile {
  /** each by its name */
  hosts: Record<string, ReportHost>;
}

/** a machine, or many of them, and how jobs get there */
export interface ReportHost {
  /** slurm, or command */
  executor: string;
  /** one line about it */
  title?: string | null;
  /** the address of this server, as its jobs reach it */
  server: string;
  /** where its breakeven lies; without, breakeven */
  program?: string | null;
  /** the folder FILE.files of this server's store, as its jobs see it; without, workloads that read files are refused */
  files?: string | null;
  /** a Python with torch there, for engine torch */
  torch_python?: string | null;
  /** jobs that it has at once; 64 without */
  most?: number | null;
  /** s: how long a job that is over may still be posting, before its run waits again; 20 without */
  grace_seconds?: number | null;
  /** slurm: the partition */
  partition?: string | null;
  /** slurm: the account */
  account?: string | null;
  /** slurm: what a job needs, as gpu:1 */
  gres?: string | null;
  /** slurm: processors of a job */
  cpus?: number | null;
  /** slurm: the time limit of a job, as 00:30:00 */
  time?: string | null;
  /** slurm: the folder that jobs print into, JOB.out each; without, nothing is kept */
  output?: string | null;
  /** slurm: further options of sbatch */
  options?: string[] | null;
  /** command: the words of a command that begins a job; {script} is a file for sh, and what it prints is the job's name */
  submit?: string[] | null;
  /** command: the words of a command that prints waiting, running or ended of {job} */
  state?: string[] | null;
  /** command: the words of a command that ends {job} */
  cancel?: string[] | null;
}

/** a process takes a run: the body of POST /jobs/{id}/take */
export interface ReportJobTake {
  /** what the process calls itself: 8 to 64 letters and digits that no other has */
  attempt: string;
}

/** what a process is to run */
export interface ReportJobTaken {
  /** the run */
  run: number;
  /** its workload */
  workload: unknown;
  /** s: the wall time that it has */
  run_seconds: number;
}

/** what has come of a job */
export interface ReportJobReceived {
  /** bytes: how much of its messages is here: it goes on from there */
  received: number;
  /** whether the run has ended: nothing more is wanted */
  ended: boolean;
  /** of the run */
  status: string;
}

/** machines that run jobs for this server */
export interface ReportHosts {
  /** each, by name */
  hosts: ReportHostState[];
}

/** a machine that runs jobs, and what it has */
export interface ReportHostState {
  /** its name */
  name: string;
  /** local, slurm or command */
  executor: string;
  /** one line about it */
  title?: string | null;
  /** runs that are to be handed to it */
  waiting: number;
  /** runs that it was handed and has not begun */
  handed: number;
  /** runs that it has begun */
  running: number;
  /** what was wrong when it was last asked */
  error?: string | null;
  /** runs that have not ended, the oldest first */
  jobs: ReportHostJob[];
}

/** a run that another machine is to do */
export interface ReportHostJob {
  /** the run */
  run: number;
  /** of the run */
  status: string;
  /** what the executor calls it */
  job?: string | null;
  /** what the executor says of it */
  said?: string | null;
  /** times that it was taken */
  attempts: number;
}
