/** The check of Node's version that runs before the server. */
import { createRequire } from 'node:module';
import { expect } from 'chai';

const { checkNodeVersion } = createRequire(__filename)('../../../scripts/checkNode.cjs') as {
  readonly checkNodeVersion: (version: string) => { readonly level: string; readonly message: string };
};

describe('checkNodeVersion', () => {
  for (const version of ['v0.12.18', 'v18.20.8', 'v20.0.0', 'v20.18.3'])
    it(`rejects ${version} with one sentence that states both versions`, () => {
      const { level, message } = checkNodeVersion(version);
      expect(level).to.equal('error');
      expect(message).to.include('20.19').and.include(version).and.not.include('\n');
    });

  for (const version of ['v20.19.0', 'v20.20.2', 'v21.7.3'])
    it(`warns about ${version} in one line`, () => {
      const { level, message } = checkNodeVersion(version);
      expect(level).to.equal('warning');
      expect(message).to.include('22').and.include(version).and.not.include('\n');
    });

  for (const version of ['v22.0.0', 'v24.11.0', 'v100.0.0'])
    it(`accepts ${version} silently`, () => {
      expect(checkNodeVersion(version)).to.deep.equal({ level: 'ok', message: '' });
    });
});
