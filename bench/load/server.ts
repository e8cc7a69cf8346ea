/** The server of `npm start`, without its dashboard, which reports its runs' ends and what it costs. */
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { startServer } from '../../imports/host/node/startServer';
import { TOOL, weather } from '../Contender';
import { LOOK_MS } from './messages';
import type { Question, Reading, ServerMessage } from './messages';

const delays = monitorEventLoopDelay({ resolution: LOOK_MS });
/** Processor time of the thread, in nanoseconds, while the loop was late: a busy machine counts as nothing. */
const steps = createHistogram();
let lookedAt = performance.now();
let threadUsage = process.threadCpuUsage();

function look(): void {
  const now = performance.now();
  const { user, system } = process.threadCpuUsage(threadUsage);
  const late = Math.min(now - lookedAt - LOOK_MS, (user + system) / 1_000);
  steps.record(Math.max(1, Math.round(late * 1e6)));
  lookedAt = performance.now();
  threadUsage = process.threadCpuUsage();
}

function read(question: Question): Reading {
  if (question === 'collect') {
    globalThis.gc?.();
    globalThis.gc?.();
  }
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  const milliseconds = (nanoseconds: number): number => nanoseconds / 1e6;
  const reading: Reading = {
    cpu: (user + system) / 1_000,
    rss,
    heap: heapUsed,
    external,
    delay: {
      p50: milliseconds(delays.percentile(50)),
      p99: milliseconds(delays.percentile(99)),
      max: milliseconds(delays.max),
    },
    step: {
      p50: milliseconds(steps.percentile(50)),
      p99: milliseconds(steps.percentile(99)),
      max: milliseconds(steps.max),
    },
  };
  if (question === 'begin') {
    delays.reset();
    steps.reset();
  }
  return reading;
}

function send(message: ServerMessage): void {
  process.send?.(message);
}

async function main(): Promise<void> {
  const server = await startServer({ dashboard: false, tools: [{ ...TOOL, execute: weather }] });
  const { loop } = server.host.module;
  loop.on('run:completed', ({ executionId }) => send({ type: 'end', executionId }));
  loop.on('run:failed', ({ executionId, error }) => send({ type: 'end', executionId, error: error.message }));
  loop.on('run:cancelled', ({ executionId }) => send({ type: 'end', executionId, error: 'cancelled' }));
  delays.enable();
  setInterval(look, LOOK_MS);
  process.on('message', (question: Question) => send({ type: 'reading', reading: read(question) }));
  process.on('disconnect', () => process.exit());
  send({ type: 'ready', url: server.url });
}

// Node ends the process for an unhandled rejection, which the parent reports.
void main();
