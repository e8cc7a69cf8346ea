/**
 * The machine with a mistake in it: bundled from its changed sources. Bundling is a process of its own, so that
 * `scripts/test.cjs` bundles what `npm test` loads before the tests begin.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { BuildCache } from '../../../scripts/build/BuildCache.cjs';
import { bundleOf } from '../EngineBundle';
import type { Replacement } from '../EngineBundle';
import { SeededRandom } from '../SeededRandom';
import { PLANTED_FAULTS } from './plantedFaults';
import type { Machine } from './World';

const ENTRY_POINT = 'machine/machineProgram.ts';
/** How many mistakes `npm test` plants. */
const SAMPLED = 3;

const cache = new BuildCache(undefined, undefined, ['imports', 'tests', 'node_modules/.package-lock.json']);

/** The mistakes that `npm test` plants, which `BOLIDE_SEED` decides. */
export function sampledFaults(): readonly (typeof PLANTED_FAULTS)[number][] {
  const random = SeededRandom.of(seed(), 'faults');
  const left = [...PLANTED_FAULTS];
  return Array.from({ length: SAMPLED }, () => left.splice(random.below(left.length), 1)[0]!);
}

/** Bundles the machine with each of them, unless that was done since a source has changed. */
export async function bundledMachines(): Promise<string> {
  const name = `simulated-machines-${seed()}`;
  const write = async (directory: string): Promise<void> => {
    const writing = sampledFaults().map(async (fault, index) =>
      writeFile(fileIn(directory, index), await bundleOf(ENTRY_POINT, [fault])),
    );
    await Promise.all(writing);
  };
  return cache.find(name) ?? (await cache.add(name, write));
}

/** @param index of one of `sampledFaults` */
export async function sampledMachine(index: number): Promise<Machine> {
  return compile(await readFile(fileIn(await bundledMachines(), index), 'utf8'));
}

/** @throws as `bundleOf` does */
export async function changedMachine(fault: Replacement): Promise<Machine> {
  return compile(await bundleOf(ENTRY_POINT, [fault]));
}

function compile(code: string): Machine {
  const module: { exports: unknown } = { exports: undefined };
  const compiled = compileFunction(code, ['module', 'require'], { filename: 'machine.cjs' }) as (
    ...names: readonly unknown[]
  ) => void;
  compiled(module, require);
  // Boundary: the bundle is a module that exports what its entry point does.
  return module.exports as Machine;
}

function fileIn(directory: string, index: number): string {
  return join(directory, `machine${index}.cjs`);
}

function seed(): number {
  return Number(process.env['BOLIDE_SEED'] ?? 0);
}
