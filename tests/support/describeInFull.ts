/** @param suite takes too long for `npm test`, so that only `npm run test:full` runs it */
export function describeInFull(title: string, suite: (this: Mocha.Suite) => void): void {
  if (process.env['BOLIDE_FULL'] !== undefined) describe(title, suite);
}

export function itInFull(title: string, test: (this: Mocha.Context) => Promise<void>): void {
  if (process.env['BOLIDE_FULL'] !== undefined) it(title, test);
}
