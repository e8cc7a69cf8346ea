import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const FOLDER = join(__dirname, '../../../../../imports/interop/aiSdk');

describe('imports/interop/aiSdk', () => {
  it('imports nothing but types of the AI SDK, so that it loads without its packages', () => {
    const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const imports = files.flatMap((name) =>
      [...readFileSync(join(FOLDER, name), 'utf8').matchAll(/^import [^;]*from '(ai|@ai-sdk\/[^']+)';/gm)].map(
        ([statement]) => `${name}: ${statement}`,
      ),
    );
    expect(imports.length).to.be.greaterThan(10);
    expect(imports.filter((statement) => !/: import type /.test(statement))).to.deep.equal([]);
  });
});
