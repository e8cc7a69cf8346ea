/** A way to find the documents that may match a query. */
export interface QueryPlan {
  /** How many slots it visits at most. */
  readonly size: number;
  /** The slots have the order of the query. */
  readonly isSorted: boolean;
  /** Paths whose conditions all these documents fulfil, so that they need no test. */
  readonly covered?: readonly string[];
  /** Taken from a copy, which writes do not change. */
  slots(): Iterable<number>;
  /** The same slots without a copy, in any order. */
  forEach(visit: (slot: number) => void): void;
}

/** The slots of a plan in ascending order. They are visited faster, since their values are next to each other. */
export function ascendingSlots(plan: QueryPlan, capacity: number): Uint32Array {
  const isFound = new Uint8Array(capacity);
  let count = 0;
  plan.forEach((slot) => {
    count += 1 - (isFound[slot] ?? 0);
    isFound[slot] = 1;
  });
  const slots = new Uint32Array(count);
  for (let slot = 0, at = 0; at < count; slot += 1) {
    if (isFound[slot] !== 1) continue;
    slots[at] = slot;
    at += 1;
  }
  return slots;
}

export function unsortedPlan(size: number, slots: () => Iterable<number>): QueryPlan {
  return {
    size,
    isSorted: false,
    slots,
    forEach: (visit) => {
      for (const slot of slots()) visit(slot);
    },
  };
}

/** @param capacity greater than every slot */
export function distinctSlots(lists: Iterable<Iterable<number>>, capacity: number): readonly number[] {
  const isFound = new Uint8Array(capacity);
  const found: number[] = [];
  for (const slots of lists) {
    for (const slot of slots) {
      if (isFound[slot] === 1) continue;
      isFound[slot] = 1;
      found.push(slot);
    }
  }
  return found;
}
