/**
 * Up to where a client has received the events of runs, written so that every process understands it: the time, and the
 * number of the last event of each process.
 */

export interface RunEventCursor {
  /** Milliseconds since the epoch. Events of processes that are not named are new to the client if they are later. */
  readonly at: number;
  /** By the id of the process. */
  readonly numbers: ReadonlyMap<string, number>;
}

/** More than there are processes. A longer cursor is not one of ours. */
const MAX_LENGTH = 4_096;

export function writeCursor({ at, numbers }: RunEventCursor): string {
  return [String(at), ...[...numbers].map(([origin, number]) => `${origin}.${number}`)].join('~');
}

/** @returns undefined for anything that `writeCursor` has not written */
export function readCursor(text: string): RunEventCursor | undefined {
  if (text.length > MAX_LENGTH || !/^\d{1,15}(?:~[0-9a-f]{8}\.\d{1,16})+$/.test(text)) return undefined;
  const [at, ...parts] = text.split('~');
  const numbers = parts.map((part): [string, number] => [part.slice(0, 8), Number(part.slice(9))]);
  return { at: Number(at), numbers: new Map(numbers) };
}
