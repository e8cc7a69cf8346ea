/** A Meteor app without a vendor, from a bundle. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { bundleChild } from '../support/bundleChild';
import type { ChildResult } from '../support/meteorChild';

describe('a Meteor app without a vendor', () => {
  it('is simulated from a bundle, which contains no files beside its modules', async () => {
    const bundle = await bundleChild(join(__dirname, '../support/meteorChild.ts'));
    const child = fork(bundle, ['', 'simulated'], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    try {
      await once(child, 'message');
      child.send('call');
      const [{ result }] = (await once(child, 'message', { signal: AbortSignal.timeout(180_000) })) as [ChildResult];
      expect(result).to.match(/simulated/i);
    } finally {
      child.kill('SIGKILL');
      await rm(bundle);
    }
  });
});
