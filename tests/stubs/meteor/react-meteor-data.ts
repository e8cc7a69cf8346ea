/** React hooks over Meteor's data, which exist only in browsers. */
import type { Cursor } from '../server/Cursor';
import { refuse } from '../server/clientOnly';

export function useSubscribe(_name?: string, ..._args: readonly unknown[]): () => boolean {
  return refuse('useSubscribe');
}

export function useFind<T>(_factory: () => Cursor<T>, _deps?: readonly unknown[]): T[] {
  return refuse('useFind');
}

export function useTracker<T>(_read: () => T, _deps?: readonly unknown[]): T {
  return refuse('useTracker');
}
