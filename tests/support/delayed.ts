/** For doubles that take their time. */

/** @throws Error unless time is virtual: a test waits for no real duration */
export async function delayed<T = void>(milliseconds: number, value?: T): Promise<T> {
  const { setTimeout } = globalThis;
  if (!('clock' in setTimeout)) throw new Error('Start virtual time first: a test waits for no real duration.');
  return new Promise((resolve) => setTimeout(() => resolve(value as T), milliseconds));
}
