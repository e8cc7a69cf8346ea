/** The faults that `npm run test:mutants` plants: they are moved with the code that they concern. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseSync } from '@swc/core';
import { expect } from 'chai';
import { PLANTED_FAULTS } from '../../mutants/plantedFaults';
import type { PlantedFault } from '../../mutants/plantedFaults';
import { PLANTED_FAULTS as OF_MACHINE } from '../../simulation/machine/plantedFaults';
import { PLANTED_FAULTS as OF_ENGINE } from '../../simulation/plantedFaults';

const { editOf } = createRequire(__filename)('../../mutants/findFault.cjs') as {
  readonly editOf: (fault: Pick<PlantedFault, 'file' | 'find' | 'replace'>) => { readonly text: string };
};

interface Mutant {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const { sampleMutants } = createRequire(__filename)('../../mutants/sampleMutants.cjs') as {
  readonly sampleMutants: (files: readonly string[], count: number, seed: number) => Promise<readonly Mutant[]>;
};

describe('planted faults', () => {
  for (const fault of PLANTED_FAULTS)
    it(`has one place for: ${fault.name}`, () => {
      expect(editOf(fault).text).not.to.equal(fault.find);
    });

  it('have one place each in the engine and the machine that are simulated', () => {
    for (const fault of [...OF_ENGINE, ...OF_MACHINE]) expect(editOf(fault).text, fault.title).not.to.equal(fault.find);
  });

  it('have names of their own', () => {
    expect(new Set(PLANTED_FAULTS.map(({ name }) => name)).size).to.equal(PLANTED_FAULTS.length);
  });
});

describe('sampled changes', () => {
  it('compile: what does not would count as found by the tests', async () => {
    // One has cases, the other a call that is a statement.
    const files = [
      'imports/business/ai/domain/run/clientCall.ts',
      'imports/business/ai/application/services/runs/RunCancellation.ts',
    ];
    const mutants = await sampleMutants(files, 500, 1);
    const bare = mutants.map(({ text }) => /^(?:;|case\b|\{)/.exec(text)?.[0]);
    expect(bare).to.include.members([';', 'case', '{']);
    for (const { file, start, end, text } of mutants) {
      const source = readFileSync(file, 'utf8');
      const changed = source.slice(0, start) + text + source.slice(end);
      expect(() => parseSync(changed, { syntax: 'typescript' }), text).not.to.throw();
    }
  });
});
