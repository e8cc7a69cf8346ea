/** What is built from sources and committed beside them. */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { SCHEMA_WORKER_FILE, schemaWorkerFile } from '../../scripts/build/buildSchemaWorker';

describe('schema workers', () => {
  it('run the program that is in the source tree', async () => {
    expect(
      (await readFile(SCHEMA_WORKER_FILE, 'utf8')) === (await schemaWorkerFile()),
      'run `npm run build:worker`, and commit what it writes',
    ).to.equal(true);
  });
});
