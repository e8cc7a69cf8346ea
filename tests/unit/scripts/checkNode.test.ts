/** The checks of Node's version, of a checkout's commands and of the library. */
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { requireNode } from '../../../imports/library/requireNode';
import { engines } from '../../../package.json';

const { checkNodeVersion } = createRequire(__filename)('../../../scripts/checkNode.cjs') as {
  readonly checkNodeVersion: (version: string) => string | undefined;
};

describe('The check of Node’s version', () => {
  for (const version of ['0.12.18', '18.20.8', '20.20.2', '22.12.0'])
    it(`rejects ${version} with a sentence that states both versions`, () => {
      const minimum = engines.node.replace('>=', '');
      expect(checkNodeVersion(`v${version}`)).to.equal(
        `Bolide requires Node.js ${minimum} or newer, but this is v${version}.`,
      );
      expect(() => requireNode(version)).to.throw(
        `Bolide requires Node.js ${minimum} or newer, but this is ${version}. `,
      );
    });

  for (const version of ['22.13.0', '24.11.0', '100.0.0'])
    it(`accepts ${version}`, () => {
      expect(checkNodeVersion(`v${version}`)).to.equal(undefined);
      expect(() => requireNode(version)).not.to.throw();
    });
});
