/** The faults that `npm run test:mutants` plants: they are moved with the code that they concern. */
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { PLANTED_FAULTS } from '../../mutants/plantedFaults';
import type { PlantedFault } from '../../mutants/plantedFaults';

const { editOf } = createRequire(__filename)('../../mutants/findFault.cjs') as {
  readonly editOf: (fault: Pick<PlantedFault, 'file' | 'find' | 'replace'>) => { readonly text: string };
};

describe('planted faults', () => {
  for (const fault of PLANTED_FAULTS)
    it(`has one place for: ${fault.name}`, () => {
      expect(editOf(fault).text).not.to.equal(fault.find);
    });

  it('have names of their own', () => {
    expect(new Set(PLANTED_FAULTS.map(({ name }) => name)).size).to.equal(PLANTED_FAULTS.length);
  });
});
