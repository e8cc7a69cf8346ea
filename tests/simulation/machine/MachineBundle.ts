/**
 * The machine with a mistake in it: bundled from its changed sources. Bundling is a process of its own, so that
 * `scripts/test.cjs` bundles what `npm test` loads before the tests begin.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { BuildCache } from '../../../scripts/build/BuildCache.cjs';
import { bundleOf } from '../EngineBundle';
import type { PlantedFault } from '../plantedFaults';
import { SeededRandom } from '../SeededRandom';
import { PLANTED_FAULTS } from './plantedFaults';
import type { Machine } from './Machine';

const ENTRY_POINT = 'machine/machineProgram.ts';
/** How many mistakes `npm test` plants. */
const SAMPLED = 3;

const cache = new BuildCache(undefined, undefined, ['imports', 'tests', 'node_modules/.package-lock.json']);

/** The mistakes that `npm test` plants. @param seed decides which */
export function sampledFaults(seed: string | undefined = process.env['BOLIDE_SEED']): readonly PlantedFault[] {
  const random = SeededRandom.of(Number(seed ?? 0), 'faults');
  const left = [...PLANTED_FAULTS];
  return Array.from({ length: SAMPLED }, () => left.splice(random.below(left.length), 1)[0]!);
}

/** Bundles the machine with each of them, unless that was done since a source has changed. @returns the directory */
export async function bundledMachines(seed: string | undefined = process.env['BOLIDE_SEED']): Promise<string> {
  const name = `simulated-machines-${seed ?? '0'}`;
  const write = async (directory: string): Promise<void> => {
    const writing = sampledFaults(seed).map(async (fault, index) =>
      writeFile(fileIn(directory, index), await bundleOf(ENTRY_POINT, [fault])),
    );
    await Promise.all(writing);
  };
  return cache.find(name) ?? (await cache.add(name, write));
}

/** @param fault one of `sampledFaults` */
export async function sampledMachine(fault: PlantedFault): Promise<Machine> {
  return compile(await readFile(fileIn(await bundledMachines(), sampledFaults().indexOf(fault)), 'utf8'));
}

/** @throws as `bundleOf` does */
export async function changedMachine(fault: PlantedFault): Promise<Machine> {
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
