/** What the tool calls of one run share: slots, and who is at work. Non-blocking calls have slots of their own, so that long ones never hold up a turn. */
import pLimit from 'p-limit';
import type { ToolSettlement } from './ToolSettlement';

export interface ToolSlots {
  readonly blocking: <T>(work: () => Promise<T>) => Promise<T>;
  readonly nonBlocking: <T>(work: () => Promise<T>) => Promise<T>;
  readonly sequential: <T>(work: () => Promise<T>) => Promise<T>;
  /** Unsettled calls by tool and arguments, for tools that don't allow duplicates. */
  readonly open: Map<string, ToolSettlement>;
}

/** Slots are made when they are first used: most runs that wait in great numbers need one kind. */
export function createToolSlots(maxParallelTools: number): ToolSlots {
  return { blocking: lazyLimit(maxParallelTools), nonBlocking: lazyLimit(maxParallelTools), sequential: lazyLimit(1), open: new Map() };
}

function lazyLimit(concurrency: number): ToolSlots['blocking'] {
  let limit: ReturnType<typeof pLimit> | undefined;
  return (work) => (limit ??= pLimit(concurrency))(work);
}
