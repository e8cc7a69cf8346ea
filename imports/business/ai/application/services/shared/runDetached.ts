/**
 * Separates background work from the call that happens to start it. Node passes the async context of a caller on to
 * everything it starts: promises, timers, event listeners. Under Meteor that context holds the current method, so that
 * the method's `updated` would wait for the writes of a run it has started, and tools would see its `Meteor.userId()`
 * until the run is recovered by another process, where they don't.
 */
import { AsyncResource } from 'node:async_hooks';

/** Created when the server loads its modules, outside of any call. */
const background = new AsyncResource('BolideBackground');

/**
 * Runs the work in the server's own async context. A caller that awaits the result continues in its own context, but
 * nothing that the work starts belongs to the caller's method, trace or transaction.
 */
export function runDetached<T>(work: () => T): T {
  return background.runInAsyncScope(work);
}
