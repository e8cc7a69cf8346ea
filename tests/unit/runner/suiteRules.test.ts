import { execFileSync, fork, spawn } from 'node:child_process';
import { lookup } from 'node:dns';
import { connect } from 'node:net';
import { expect } from 'chai';

/** An address of TEST-NET-1 (RFC 5737), where nobody is. */
const ELSEWHERE = '192.0.2.1';

describe('a test of npm test', () => {
  it('cannot start a process', () => {
    for (const start of [
      () => spawn(process.execPath, ['--version']),
      () => fork(__filename),
      () => execFileSync(process.execPath, ['--version']),
    ])
      expect(start).to.throw('npm test starts no process');
  });

  it('cannot reach another machine, by address or by name', () => {
    expect(() => connect(80, ELSEWHERE)).to.throw(`${ELSEWHERE} was asked for`);
    expect(() => connect({ host: ELSEWHERE, port: 80 })).to.throw(`${ELSEWHERE} was asked for`);
    expect(() => lookup('example.com', () => undefined)).to.throw('example.com was asked for');
  });
});
