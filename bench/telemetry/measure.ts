/** Measures Bolide with and without telemetry in turns, and reports the ratio of each pair of rounds. */
import { createRequire } from 'node:module';
import path from 'node:path';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { MODELS, TOOL, weather } from '../Contender';
import type { Contender, CreateContender } from '../Contender';
import { workload as workloadOf } from '../workloads';

export interface TelemetryTask {
  readonly workloadId: string;
  /** The simulator's. */
  readonly port: number;
  /** With no SDK of OpenTelemetry in the program, with one, or a second copy of what has no telemetry. */
  readonly compared: 'none' | 'noop' | 'control';
  /** Pairs of rounds. */
  readonly rounds: number;
  /** The variant without telemetry is loaded, and measured, last. */
  readonly isReversed: boolean;
}

/** CPU milliseconds that a round takes at least. */
const ROUND_MS = 60;
const WIRE = 'openai';

const NOOP: SpanExporter = {
  export: (_spans, done) => done({ code: 0 }),
  shutdown: () => Promise.resolve(),
};

async function measure({ workloadId, port, compared, rounds, isReversed }: TelemetryTask): Promise<readonly number[]> {
  if (compared === 'noop') {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(NOOP)] }));
  }
  const workload = workloadOf(workloadId);
  const setting = {
    wire: WIRE,
    baseURL: `http://127.0.0.1:${port}/${workloadId}/${WIRE}`,
    workload,
    weather,
    tool: TOOL,
    models: MODELS,
  } as const;
  const load = async (file: string): Promise<() => Promise<unknown>> => {
    const { create } = createRequire(__filename)(path.join(__dirname, file)) as { create: CreateContender };
    return operationOf(await create(setting), workload.needs);
  };
  const other = compared === 'control' ? 'control.js' : 'with.js';
  const names = isReversed ? [other, 'without.js'] : ['without.js', other];
  const operations: (() => Promise<unknown>)[] = [];
  for (const name of names) operations.push(await load(name));
  const [first, second] = operations as [() => Promise<unknown>, () => Promise<unknown>];
  // Long enough for the compiler, and to see how many operations make a round.
  let count = 1;
  for (let warm = 0; warm < 12; warm += 1)
    for (const run of operations) {
      const cost = await costOf(run, count);
      if (cost < ROUND_MS * 1_000) count = Math.ceil(count * Math.min(4, (ROUND_MS * 1_000) / cost));
    }
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // ABBA, so that a machine that becomes slower favours neither.
    const a = await costOf(first, count);
    const b = await costOf(second, count);
    const d = await costOf(second, count);
    const c = await costOf(first, count);
    const ratio = (b + d) / (a + c);
    ratios.push(isReversed ? 1 / ratio : ratio);
  }
  return ratios;
}

function operationOf(contender: Contender, needs: string): () => Promise<unknown> {
  let index = 0;
  const run = needs === 'loop' ? contender.loop : needs === 'stream' ? contender.stream : contender.ask;
  if (run === undefined) throw new Error(`The workload needs "${needs}", which is not measured here.`);
  return () => run(`How is the weather today? (${(index += 1)})`);
}

/** @returns CPU microseconds */
async function costOf(run: () => Promise<unknown>, count: number): Promise<number> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  for (let index = 0; index < count; index += 1) await run();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

measure(JSON.parse(process.argv[2] ?? '') as TelemetryTask)
  .then((ratios) => process.send?.(ratios, () => process.exit()))
  .catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
