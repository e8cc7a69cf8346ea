/** The plain-Node host in a process of its own, which reports what requests cost it: see `startServerProcess`. */
import { startServer } from '../../imports/host/node/startServer';

/** Milliseconds; bytes. */
export interface Reading {
  /**
   * The longest time in which the event loop took no other event since the last reading. No more than the processor
   * time that the process used in it, since a busy machine stops processes, too.
   */
  readonly stall: number;
  /** Processor time of the process so far. */
  readonly cpu: number;
  /** After a garbage collection, if it was asked for. */
  readonly heap: number;
}

export type Question = 'read' | 'collect' | 'calibrate';

/** Milliseconds between looks at the clock. */
const INTERVAL = 5;

let longest = 0;
let at = performance.now();
let used = process.cpuUsage();

function cpuMs({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1_000;
}

function look(): void {
  const now = performance.now();
  longest = Math.max(longest, Math.min(now - at - INTERVAL, cpuMs(process.cpuUsage(used))));
  at = now;
  used = process.cpuUsage();
}

/** Processor time that this machine takes to parse 8 MB of brackets: about what one that is not limited does. */
function calibrate(): number {
  const text = `[${Array<string>(2_800_000).fill('[]').join(',')}]`;
  const before = process.cpuUsage();
  JSON.parse(text);
  const cost = cpuMs(process.cpuUsage(before));
  at = performance.now();
  used = process.cpuUsage();
  return cost;
}

function answer(question: Question): Reading | number {
  if (question === 'calibrate') return calibrate();
  look();
  const stall = longest;
  longest = 0;
  if (question === 'collect') {
    // A second time, for what the finalizers of the first released.
    globalThis.gc?.();
    globalThis.gc?.();
    at = performance.now();
    used = process.cpuUsage();
  }
  return { stall, cpu: cpuMs(process.cpuUsage()), heap: process.memoryUsage().heapUsed };
}

async function main(): Promise<void> {
  const server = await startServer({ dashboard: false });
  setInterval(look, INTERVAL);
  process.on('message', (question: Question) => process.send?.({ answer: answer(question) }));
  process.on('disconnect', () => process.exit());
  process.send?.({ url: server.url, token: server.token });
}

// Node ends the process for an unhandled rejection, which the parent reports.
void main();
