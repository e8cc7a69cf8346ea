/**
 * The embedded database on a small file system that is really full, in a process and a mount namespace of its own.
 * Linux only.
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
  describe('SQLite: a full disk', () => {
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
      const lines = runOnTmpfs('size=32m');
      expect(lines[1]).to.match(/^StorageFullError .*no space is left on the device/);
      expect(lines[2]).to.equal('all acknowledged are there on the full disk');
      expect(lines[3]).to.match(/^(?:all acknowledged are there|StorageFullError .*) at a start on the full disk$/);
      expect(lines.slice(4)).to.deep.equal([
        'all acknowledged are there at a start with room',
        'all acknowledged are there at the next start',
      ]);
    });

    it('is named at a start', () => {
      expect(runOnTmpfs('size=1m,nr_inodes=2').join()).to.match(/^StorageFullError .*no space is left/);
    });

    it('is told from a file system that is read-only', () => {
      expect(runOnTmpfs('ro').join()).to.match(/^StoreError .*the file system is read-only/);
    });
  });
