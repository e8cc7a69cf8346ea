/** Does something as a machine in another time zone would: Node reads the variable whenever it is set. */
export function inTimeZone<T>(zone: string, work: () => T): T {
  const before = process.env['TZ'];
  process.env['TZ'] = zone;
  try {
    return work();
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
}
