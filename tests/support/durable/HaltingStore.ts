/**
 * A store for a process that dies at one of its writes, either just before the write or just after it. From then on it
 * never responds.
 */
import type { RunStore } from '../../../imports/business/ai/domain/interfaces/RunStore';

export interface HaltingStore {
  readonly store: RunStore;
  /** The number of attempted writes. */
  readonly writes: () => number;
  /** The name of the write at which it halted, once the writes that were on their way have arrived. */
  readonly halted: Promise<string>;
  readonly isHalted: () => boolean;
}

const WRITES = new Set<string | symbol>(['create', 'claim', 'saveRun', 'saveCalls', 'addCommand', 'removeCommand']);

/** @param at the number of the write, from 1, or what says of each whether it is the one; Infinity for none */
export function haltingStore(inner: RunStore, at: number | (() => boolean), moment: 'before' | 'after'): HaltingStore {
  const isLast = typeof at === 'function' ? at : () => writes === at;
  let writes = 0;
  let isHalted = false;
  let resolveHalted: (name: string) => void = () => undefined;
  const halted = new Promise<string>((resolve) => (resolveHalted = resolve));
  const onTheirWay = new Set<Promise<unknown>>();
  const halt = (name: string): Promise<never> => {
    isHalted = true;
    void Promise.allSettled(onTheirWay).then(() => resolveHalted(name));
    return new Promise(() => undefined);
  };
  const store = new Proxy(inner, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== 'function') return value;
      const method = value as (...args: readonly unknown[]) => Promise<unknown>;
      return async (...args: readonly unknown[]) => {
        if (isHalted) return new Promise(() => undefined);
        if (!WRITES.has(name)) return method.apply(target, args as unknown[]);
        writes += 1;
        if (!isLast()) {
          const write = method.apply(target, args as unknown[]);
          onTheirWay.add(write);
          return write.finally(() => onTheirWay.delete(write));
        }
        if (moment === 'before') return halt(String(name));
        await method.apply(target, args as unknown[]);
        return halt(String(name));
      };
    },
  });
  return { store, writes: () => writes, halted, isHalted: () => isHalted };
}
