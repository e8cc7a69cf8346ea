/**
 * The capacity of a cache of `lru-cache` that takes memory as entries come. The option `max` allocates the places of
 * all entries at once: 0.7 ms and 220 kB for 10,000.
 * @param entries the greatest number of them; the least recently used one gives way
 */
export const growingCapacity = (entries: number): { readonly maxSize: number; readonly sizeCalculation: () => 1 } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
});
