/**
 * What became of an item, kept beside it: a conversation that grows is converted once, and sent again with every
 * turn.
 */
import type { VendorQuirks } from '../../../domain/types/VendorTypes';
import type { WireContext } from '../Wire';

interface Kept<T> {
  readonly quirks: VendorQuirks;
  readonly vendor: string;
  readonly value: T;
}

/** Items are immutable, so what one became for a host stays right. Only the last host's is kept. */
export function cacheByItem<I extends object, T>(
  convert: (item: I, context: WireContext, path: () => string) => T,
): (item: I, context: WireContext, path: () => string) => T {
  const known = new WeakMap<I, Kept<T>>();
  return (item, context, path) => {
    const kept = known.get(item);
    if (kept?.quirks === context.quirks && kept.vendor === context.vendor) return kept.value;
    const value = convert(item, context, path);
    known.set(item, { quirks: context.quirks, vendor: context.vendor, value });
    return value;
  };
}
