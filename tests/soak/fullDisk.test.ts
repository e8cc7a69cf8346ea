/**
 * The embedded database on a file system of 256 KB that is really full, in a process and a mount namespace of its own.
 * Linux only; what the database does with such errors is tested everywhere, with planted ones (fileErrors.test.ts).
 */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writerBundle } from '../support/embeddedChildren';

/** Root may mount; others may in a user namespace, if the system permits it. */
const NAMESPACES = ['-m', '-rm'].find(
  (flag) => spawnSync('unshare', [flag, 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0,
);

if (NAMESPACES !== undefined)
  describe('EmbeddedDatabase: a full disk', () => {
    let directory: string;

    before(() => {
      directory = mkdtempSync(join(tmpdir(), 'bolide-full-'));
    });
    after(() => rmSync(directory, { recursive: true }));

    const runOnTmpfs = (options: string): readonly string[] => {
      const { stdout, stderr } = spawnSync(
        'unshare',
        [
          NAMESPACES,
          'sh',
          '-c',
          'mount -t tmpfs -o "$1" tmpfs "$2" && exec "$3" "$4" fill "$2"',
          'sh',
          options,
          directory,
          process.execPath,
          writerBundle(),
        ],
        { encoding: 'utf8' },
      );
      expect(stderr).to.equal('');
      return stdout.trimEnd().split('\n');
    };

    it('refuses writes, keeps what it has acknowledged, and goes on when there is room', () => {
      const lines = runOnTmpfs('size=256k');
      expect(lines[1]).to.match(/^StorageFullError .*no space is left on the device \(ENOSPC\)/);
      expect(lines.slice(2)).to.deep.equal(['all acknowledged are there', 'written', 'the same after a start']);
    });

    it('is named at a start', () => {
      // Enough for the directory of the database, not for its lock.
      expect(runOnTmpfs('size=256k,nr_inodes=2').join()).to.match(/^StorageFullError .*\(ENOSPC\)/);
    });

    it('is told from a file system that is read-only', () => {
      expect(runOnTmpfs('ro').join()).to.match(/^StoreError .*the file system is read-only.*\(EROFS\)/);
    });
  });
