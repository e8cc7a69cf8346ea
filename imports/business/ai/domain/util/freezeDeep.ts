/** Freezes plain data with everything it contains. Stops at what is frozen already. @returns the value itself */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  // Plain data inherits nothing, and a loop makes no list of its values.
  for (const key in value) if (typeof value[key] === 'object') freezeDeep(value[key]);
  return value;
}
