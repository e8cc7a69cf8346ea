/** `npm test` finds each of the planted faults. */
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { PLANTED_FAULTS } from '../mutants/plantedFaults';
import type { PlantedFault } from '../mutants/plantedFaults';

interface Edit {
  readonly file: string;
}

const { editOf, findFault } = createRequire(__filename)('../mutants/findFault.cjs') as {
  readonly editOf: (fault: Pick<PlantedFault, 'file' | 'find' | 'replace'>) => Edit;
  readonly findFault: (
    edits: readonly Edit[],
  ) => Promise<{ readonly file: string; readonly title: string } | undefined>;
};

describe('npm test', () => {
  for (const fault of PLANTED_FAULTS)
    it(`finds: ${fault.name}`, async () => {
      expect(await findFault([editOf(fault)]), fault.shows).not.to.equal(undefined);
    });
});
