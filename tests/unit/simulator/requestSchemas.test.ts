/** The schemas of vendors' requests, which the simulator compiles without checking them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import { expect } from 'chai';

const DIRECTORY = join(__dirname, '../../../imports/simulator/schemas');

describe('the schemas of requests', () => {
  const files = readdirSync(DIRECTORY).filter((name) => name.endsWith('.json'));

  it('are there', () => expect(files).to.have.length(8));

  for (const file of files)
    it(`are valid JSON Schemas: ${file}`, () => {
      const ajv = new Ajv2020({ strict: false, logger: false });
      const isValid = ajv.validateSchema(JSON.parse(readFileSync(join(DIRECTORY, file), 'utf8')) as object);
      expect(isValid, ajv.errorsText()).to.equal(true);
    });
});
