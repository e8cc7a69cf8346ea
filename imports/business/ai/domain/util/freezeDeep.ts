/** Freezes plain data with everything it contains. Stops at what is frozen already. @returns the value itself */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const entry of Object.values(value)) if (typeof entry === 'object') freezeDeep(entry);
  return value;
}
