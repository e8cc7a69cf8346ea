/** Lets the CPU time of schema workers be used up without using it. */
import { stub } from 'sinon';
import { VirtualTime } from './VirtualTime';

/** More than any limit. Microseconds. */
const USED = 60_000_000;
/** Milliseconds; the limit of a job. */
const LIMIT = 2_000;

/** What `work` comes to when its job has used its CPU time as soon as its thread has begun it. */
export async function outOfCpuTime<T>(work: () => T | Promise<T>): Promise<T> {
  const time = VirtualTime.start();
  const usage = stub(process, 'cpuUsage').callsFake((before) => ({ user: before === undefined ? 0 : USED, system: 0 }));
  try {
    return await time.passInSteps(LIMIT, Promise.resolve(work()));
  } finally {
    usage.restore();
    time.stop();
  }
}
