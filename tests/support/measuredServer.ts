/** A server in a separate process that reports its event loop delay. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startDemoServer } from './startDemoServer';

/** Milliseconds. */
export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

async function main(): Promise<void> {
  const server = await startDemoServer(process.env);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  process.on('message', (message) => {
    if (message === 'measure') {
      delay.reset();
      delay.enable();
    }
    if (message === 'report')
      process.send?.({
        delay: { p50: delay.percentile(50) / 1e6, p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 },
      });
    // Active runs are abandoned: the process ends with the test.
    if (message === 'stop') process.exit(0);
  });
  process.send?.({ url: server.url });
}

void main();
