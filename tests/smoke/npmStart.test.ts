import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeInSoak } from '../support/soak';

const ROOT = join(__dirname, '../..');

describeInSoak('npm start', () => {
  it('ends the server when it is terminated', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'bolide-start-'));
    const { PATH, HOME } = process.env;
    const child = spawn('npm', ['start'], {
      cwd: ROOT,
      env: { PATH, HOME, PORT: '0', DATA_DIR: directory },
      stdio: ['ignore', 'pipe', 'inherit'],
      // Its own group, so that nothing of it outlives a test that fails.
      detached: true,
    });
    try {
      // Ends when every process that holds the pipe has ended, the server included.
      const closed = once(child, 'close');
      let output = '';
      const ready = new Promise<void>((resolve) => {
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          output += text;
          if (output.includes('Bolide is ready at')) resolve();
        });
      });
      await Promise.race([ready, closed]);
      expect(output).to.include('Bolide is ready at');
      child.kill('SIGTERM');
      const timeout = new Promise((resolve) => setTimeout(resolve, 20_000, 'still running').unref());
      expect(await Promise.race([closed.then(() => 'ended'), timeout])).to.equal('ended');
    } finally {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // The group has ended.
      }
      await rm(directory, { recursive: true, force: true });
    }
  });
});
