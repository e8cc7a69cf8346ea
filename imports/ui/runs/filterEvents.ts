/** Finds events of a run by kind and text. */
import type { LogEntry } from '../data/DashboardData';

export type EventKind = 'run' | 'model' | 'tool' | 'result';

export const EVENT_KINDS: readonly { readonly kind: EventKind; readonly label: string }[] = [
  { kind: 'run', label: 'Run' },
  { kind: 'model', label: 'Model' },
  { kind: 'tool', label: 'Tools' },
  { kind: 'result', label: 'Late results' },
];

export function kindOf({ type }: Pick<LogEntry, 'type'>): EventKind {
  if (type.startsWith('run:')) return 'run';
  if (type.startsWith('tool:')) return 'tool';
  return type.startsWith('iteration:') || type.startsWith('llm:') ? 'model' : 'result';
}

/** @param query words that an event has all of, in its fields or anywhere in its JSON, in any case */
export function filterEvents(
  entries: readonly LogEntry[],
  kind: EventKind | undefined,
  query: string,
): readonly LogEntry[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return entries.filter((entry) => {
    if (kind !== undefined && kindOf(entry) !== kind) return false;
    if (words.length === 0) return true;
    const text = textOf(entry);
    return words.every((word) => text.includes(word));
  });
}

const texts = new WeakMap<LogEntry, string>();

function textOf(entry: LogEntry): string {
  let text = texts.get(entry);
  if (text === undefined) {
    const { type, name, callId, detail, data } = entry;
    text = [type, name, callId, detail, JSON.stringify(data)].join('\n').toLowerCase();
    texts.set(entry, text);
  }
  return text;
}
