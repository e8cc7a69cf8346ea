/** What happens to the browser suites on a machine without a browser. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';

const MISSING = '/nowhere/chromium';

describe('without a browser', () => {
  const run = (environment: Readonly<Record<string, string>>) => {
    const { CI: _, ...inherited } = process.env;
    const command = [require.resolve('mocha/bin/mocha.js'), '--no-parallel', 'tests/support/browserSuite.ts'];
    return spawnSync(process.execPath, command, {
      env: { ...inherited, BOLIDE_CHROMIUM: MISSING, ...environment },
      encoding: 'utf8',
    });
  };

  it('a suite that needs one is skipped on a developer’s machine, and says why', () => {
    const { status, stdout, stderr } = run({});
    expect(stdout).to.include('1 pending').and.to.not.include('1 passing');
    expect(stderr).to.include(`No browser at ${MISSING}. Set BOLIDE_CHROMIUM to its path.`);
    expect(status).to.equal(0);
  });

  it('a suite that needs one fails in CI', () => {
    const { status, stdout } = run({ CI: 'true' });
    expect(stdout).to.include('1 failing').and.to.include(`No browser at ${MISSING}.`);
    expect(status).to.not.equal(0);
  });
});
