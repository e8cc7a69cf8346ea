import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { bundleChild } from '../support/bundleChild';
import { IS_SOAK } from '../support/soak';

const PROGRAMS = IS_SOAK ? 5_000 : 100;

describe('random programs of tools', () => {
  it(`end in exactly one way by their deadline and deliver each result once, in ${PROGRAMS} programs`, async function () {
    this.timeout(1_200_000);
    const seed = process.env['BOLIDE_SEED'] ?? String(Date.now() % 2_147_483_647);
    console.log(`      seed ${seed}`);
    const child = await bundleChild(join(__dirname, '../support/loopPrograms.ts'));
    const { stdout } = await promisify(execFile)(process.execPath, [child, String(PROGRAMS), seed]);
    expect(stdout.trim()).to.equal(`${PROGRAMS} programs ended as they must`);
  });
});
