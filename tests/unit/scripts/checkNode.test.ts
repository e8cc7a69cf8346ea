/** The check of Node's version that runs before the server. */
import { createRequire } from 'node:module';
import { expect } from 'chai';

const { checkNodeVersion } = createRequire(__filename)('../../../scripts/checkNode.cjs') as {
  readonly checkNodeVersion: (version: string) => string | undefined;
};

describe('checkNodeVersion', () => {
  for (const version of ['v0.12.18', 'v18.20.8', 'v20.20.2', 'v22.12.0'])
    it(`rejects ${version} with one sentence that states both versions`, () => {
      expect(checkNodeVersion(version)).to.equal(`Bolide requires Node.js 22.13 or newer, but this is ${version}.`);
    });

  for (const version of ['v22.13.0', 'v24.11.0', 'v100.0.0'])
    it(`accepts ${version}`, () => {
      expect(checkNodeVersion(version)).to.equal(undefined);
    });
});
