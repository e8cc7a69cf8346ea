import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { DirectoryLockedError, lockDataDirectory } from '../../../../imports/database/sqlite/lockDataDirectory';
import { openFreeDatabase } from '../../../../imports/host/node/openFreeDatabase';
import { failure } from '../../../support/failure';
import { VirtualTime } from '../../../support/VirtualTime';

describe('the database of a program that is started again', () => {
  let directory: string;
  let time: VirtualTime;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-free-'));
    time = VirtualTime.start();
  });
  afterEach(async () => {
    time.stop();
    await rm(directory, { recursive: true });
  });

  it('is opened once the process that is still ending has left it', async () => {
    const lock = lockDataDirectory(directory);
    const startedAt = performance.now();
    const opening = openFreeDatabase({ DATA_DIR: directory });
    await time.passUntil(() => performance.now() - startedAt >= 4_000);
    lock.release();
    const database = await time.passUntilSettled(opening);
    await database.close();
  });

  it('is refused while another process goes on using it', async () => {
    const lock = lockDataDirectory(directory);
    try {
      const opening = openFreeDatabase({ DATA_DIR: directory });
      expect(await failure(time.passUntilSettled(opening))).to.be.instanceOf(DirectoryLockedError);
    } finally {
      lock.release();
    }
  });
});
