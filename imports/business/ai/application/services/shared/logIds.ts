/** The ids of what is being done, for the lines of the log: across awaits, timers and callbacks. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { currentLogWriter, setLogIdSource } from '../../../../../log/logWriter';
import type { LogIds } from '../../../../../log/logWriter';

const storage = new AsyncLocalStorage<LogIds>();
setLogIdSource(() => storage.getStore());

/** Within the work, lines have these ids as well. Costs nothing while lines go to the console, which shows none. */
export function withLogIds<T>(ids: LogIds, work: () => T): T {
  if (currentLogWriter() === undefined) return work();
  return storage.run({ ...storage.getStore(), ...ids }, work);
}
