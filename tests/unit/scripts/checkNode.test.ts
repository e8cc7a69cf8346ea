/** The check of Node's version that runs before the server. */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';

const ROOT = join(__dirname, '../../..');
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

  it('runs before the server on `npm start`', () => {
    // An invalid port ends the server right after its start.
    const { status, stderr } = spawnSync('npm', ['start'], {
      cwd: ROOT,
      env: { ...process.env, PORT: 'none' },
      encoding: 'utf8',
      shell: process.platform === 'win32',
    });
    expect(status).to.equal(1);
    const { message } = checkNodeVersion(process.version);
    expect(stderr).to.include('PORT');
    expect(stderr.slice(0, stderr.indexOf('PORT'))).to.include(message);
  });
});
