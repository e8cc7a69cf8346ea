import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { VirtualTime } from '../../support/VirtualTime';

/** libuv's default: https://nodejs.org/api/cli.html#uv_threadpool_sizesize */
const THREADS = 4;

describe('flowing time', () => {
  it('stands still while all threads compute', async () => {
    const time = VirtualTime.startFlowing();
    try {
      const startedAt = Date.now();
      const derived = Array.from({ length: THREADS }, () =>
        promisify(pbkdf2)('password', 'salt', 20_000, 32, 'sha512'),
      );
      await Promise.race(derived);
      expect(Date.now() - startedAt).to.be.below(50);
      await Promise.all(derived);
    } finally {
      time.stop();
    }
  });
});
