import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { checkModule } from './checkModule';
import type { MeteorArch } from './MeteorArch';

/** The part of an app's `.babelrc` that these tests use. */
export interface BabelConfiguration {
  readonly plugins: readonly (readonly [name: string, options: object])[];
}

export interface BabelInput {
  readonly file: string;
  readonly source: string;
  readonly arch: MeteorArch;
}

export type BabelOutput = { readonly code: string } | { readonly error: string };

/** Compiles files as Meteor 3.0 to 3.2 do, and newer ones without `modern: true`: with @meteorjs/babel. */
export async function compileWithBabel(
  inputs: readonly BabelInput[],
  { plugins }: BabelConfiguration,
): Promise<readonly BabelOutput[]> {
  const child = fork(path.join(__dirname, 'babelChild.cjs'), { execArgv: [] });
  const result = Promise.race([
    once(child, 'message').then(([outputs]) => outputs as readonly BabelOutput[]),
    once(child, 'exit').then(([code]) => {
      throw new Error(`The Babel process exited with code ${String(code)} and no result.`);
    }),
  ]);
  child.send(inputs.map((input) => ({ ...input, plugins })));
  return (await result).map((output, index) => checked(output, inputs[index]!.file));
}

function checked(output: BabelOutput, file: string): BabelOutput {
  if ('error' in output) return output;
  try {
    checkModule(output.code, file);
    return output;
  } catch (error) {
    return { error: (error as Error).message };
  }
}
