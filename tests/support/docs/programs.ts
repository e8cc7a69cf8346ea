/** The TypeScript programs in the documentation: assembled from blocks, type-checked, and run. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import ts from 'typescript';
import type { CreateProviderOptions } from '../../../imports/business/ai/infrastructure/factories/createProvider';
import type { AIModuleSettings } from '../../../imports/business/ai/infrastructure/factories/createAIModule';
import type { VendorName } from '../../../imports/business/ai/domain/types/VendorTypes';
import type { AgentOptions } from '../../../imports/library/Agent';
import type { EmbedSettings } from '../../../imports/library/embed';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { VENDOR_VARIABLES } from '../../../imports/host/settings/vendors';
import type { ServerOptions } from '../../../imports/host/node/startServer';
import { ENTRIES } from '../../../scripts/package/entries';
import { compileSources } from '../compileSources';
import { cachedDashboard } from '../../../server/cachedDashboard';
import { ROOT } from './markdown';
import type { CodeBlock } from './markdown';

export interface Program {
  /** Where its first block stands. */
  readonly at: string;
  readonly code: string;
  readonly notRun?: string;
}

/** A block and those that continue it are one program. */
export function programsOf(blocks: readonly CodeBlock[]): readonly Program[] {
  const programs: Program[] = [];
  for (const { language, continues, at, code, notRun, page } of blocks) {
    if (language !== 'ts') continue;
    const last = programs.at(-1);
    if (!continues) programs.push({ at, code, ...(notRun === undefined ? {} : { notRun }) });
    else if (last?.at.startsWith(`${page}:`) === true)
      programs[programs.length - 1] = { ...last, code: `${last.code}\n${code}` };
    else throw new Error(`${at} continues a block that does not exist.`);
  }
  return programs;
}

/** @returns one line for each type error, with the place of its program and the line within it */
export function typeErrorsOf(programs: readonly Program[]): readonly string[] {
  // The programs stand at the root of the project, as a reader's own would.
  const sources = new Map(programs.map(({ code }, index) => [join(ROOT, `docs-${index}.ts`), `${code}\nexport {};\n`]));
  const checked = compileSources(sources);
  return [...sources.keys()].flatMap((path, index) => {
    const file = checked.getSourceFile(path);
    return [...checked.getSyntacticDiagnostics(file), ...checked.getSemanticDiagnostics(file)].map(
      ({ messageText, start }) => {
        const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
        return `${programs[index]?.at ?? ''}, line ${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
      },
    );
  });
}

export interface ProgramPorts {
  /** Answers in place of every vendor. */
  readonly simulator: Pick<Simulator, 'baseURL'>;
  /** What the program sees as `process.env`. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

type Row = Pick<CreateProviderOptions, 'vendor'> & { readonly baseURL?: string | undefined };
type AnyFunction = (...args: never[]) => unknown;

/** The source of an entry of the npm package, so that programs run without a build. */
function sourceOf(name: string): string {
  const entry = /^bolide(?:\/(.+))?$/.exec(name);
  if (entry === null) return name;
  const [, subpath = 'index'] = entry;
  const file = Object.entries(ENTRIES).find(([each]) => each === subpath)?.[1];
  if (file === undefined) throw new Error(`"${name}" is not an entry of the package.`);
  return join(ROOT, 'imports/entries', file);
}

/**
 * Runs a program as a module of this process. The factories send requests to the simulator instead of the vendors;
 * nothing else is replaced.
 * @returns what it wrote to the console and to standard output
 */
export async function runProgram({ at, code }: Program, { simulator, env }: ProgramPorts): Promise<string> {
  const compiled = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true },
  }).outputText;
  const output: string[] = [];
  const write = (...values: readonly unknown[]): void => void output.push(values.map(String).join(' '));
  /** A row that names an address means it. */
  const redirect = <R extends Row>(row: R): R =>
    row.baseURL === undefined
      ? { ...row, apiKey: 'simulated', baseURL: simulator.baseURL(row.vendor), allowPrivateHosts: true }
      : row;
  /** In place of the vendors whose keys are in the environment. */
  const withProviders = (options: AgentOptions): AgentOptions => {
    const hasSource = [options.provider, options.providers, options.host].some((source) => source !== undefined);
    const vendors = Object.keys(VENDOR_VARIABLES) as VendorName[];
    return hasSource ? options : { ...options, providers: vendors.map((vendor) => redirect({ vendor })) };
  };
  const requireFromRoot = createRequire(join(ROOT, 'docs.ts'));
  const requireModule = (name: string): unknown => {
    const exported = requireFromRoot(sourceOf(name)) as Record<string, AnyFunction>;
    const { createProvider, createAIModule, agent, embed, startServer } = exported;
    if (createProvider === undefined && createAIModule === undefined && startServer === undefined) return exported;
    return {
      ...exported,
      // The package brings a dashboard, which the source has to bundle.
      ...(startServer === undefined
        ? {}
        : {
            startServer: (options: ServerOptions) =>
              startServer({ dashboard: cachedDashboard, ...options, env: { ...env, ...options.env } } as never),
          }),
      ...(agent === undefined ? {} : { agent: (options: AgentOptions) => agent(withProviders(options) as never) }),
      ...(embed === undefined || createProvider === undefined
        ? {}
        : {
            embed: (input: unknown, { model = 'openai', ...settings }: EmbedSettings = {}) => {
              const vendor = model.split('/')[0] as VendorName;
              const provider = createProvider(redirect({ vendor }) as never);
              return embed(input as never, { provider, ...settings, model } as never);
            },
          }),
      ...(createProvider === undefined
        ? {}
        : { createProvider: (row: CreateProviderOptions) => createProvider(redirect(row) as never) }),
      ...(createAIModule === undefined
        ? {}
        : {
            createAIModule: ({ providers = [], ...settings }: AIModuleSettings, ports: unknown) =>
              createAIModule({ ...settings, providers: providers.map(redirect) } as never, ports as never),
          }),
    };
  };
  const fakeProcess = new Proxy(process, {
    get(target, name): unknown {
      if (name === 'env') return env;
      if (name === 'stdout' || name === 'stderr') return { write: (text: string) => (output.push(text), true) };
      return Reflect.get(target, name);
    },
  });
  const run = runInThisContext(`(async (require, exports, process, console) => {${compiled}\n})`, {
    filename: at,
  }) as (...globals: readonly unknown[]) => Promise<void>;
  await run(requireModule, {}, fakeProcess, { ...console, log: write, info: write, warn: write, error: write });
  return output.join('\n');
}
