/** The delays of the event loop since the last collection; measured from the first one on. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { IntervalHistogram } from 'node:perf_hooks';
import type { MetricRecorder } from './MetricRecorder';

const NANOSECONDS = 1e9;
/** Milliseconds between two samples. */
const RESOLUTION = 20;

export function observeEventLoop(recorder: MetricRecorder): void {
  let histogram: IntervalHistogram | undefined;
  const read =
    (valueOf: (delays: IntervalHistogram) => number, isLast = false) =>
    (): { readonly value: number }[] => {
      if (histogram === undefined) {
        histogram = monitorEventLoopDelay({ resolution: RESOLUTION });
        histogram.enable();
      }
      const value = valueOf(histogram) / NANOSECONDS;
      const isEmpty = histogram.count === 0;
      if (isLast) histogram.reset();
      return isEmpty || !Number.isFinite(value) ? [] : [{ value }];
    };
  recorder.observe(
    'nodejs.eventloop.delay.min',
    read(({ min }) => min),
  );
  recorder.observe(
    'nodejs.eventloop.delay.max',
    read(({ max }) => max),
  );
  recorder.observe(
    'nodejs.eventloop.delay.mean',
    read(({ mean }) => mean),
  );
  recorder.observe(
    'nodejs.eventloop.delay.stddev',
    read(({ stddev }) => stddev),
  );
  recorder.observe(
    'nodejs.eventloop.delay.p50',
    read((delays) => delays.percentile(50)),
  );
  recorder.observe(
    'nodejs.eventloop.delay.p90',
    read((delays) => delays.percentile(90)),
  );
  // The last to be read, in the order of the definitions.
  recorder.observe(
    'nodejs.eventloop.delay.p99',
    read((delays) => delays.percentile(99), true),
  );
}
