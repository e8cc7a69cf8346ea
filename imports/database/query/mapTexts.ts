/** The same value with other texts in it, at any depth. Returns `value` itself if none changes. */
import { isRecord } from './fieldPaths';
import { LargeText } from './LargeText';

export type TextMapper = (text: string | LargeText) => string | LargeText;

export function mapTexts(value: unknown, map: TextMapper): unknown {
  if (typeof value === 'string' || value instanceof LargeText) return map(value);
  if (Array.isArray(value)) {
    const mapped = value.map((element: unknown) => mapTexts(element, map));
    return mapped.some((element, at) => element !== value[at]) ? mapped : value;
  }
  if (!isRecord(value)) return value;
  let mapped: Record<string, unknown> | undefined;
  for (const [name, field] of Object.entries(value)) {
    const next = mapTexts(field, map);
    if (next === field) continue;
    mapped ??= { ...value };
    mapped[name] = next;
  }
  return mapped ?? value;
}

/** In their order, as often as they occur. */
export function largeTextsIn(value: unknown, found: LargeText[] = []): readonly LargeText[] {
  if (value instanceof LargeText) found.push(value);
  else if (Array.isArray(value)) for (const element of value) largeTextsIn(element, found);
  else if (isRecord(value)) for (const field of Object.values(value)) largeTextsIn(field, found);
  return found;
}
