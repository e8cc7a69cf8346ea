/** The servers that are measured, each in a process of its own, and what their clients have to send. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { build } from 'esbuild';
import { PROVIDERS } from './paths';
import type { ProcessUsage } from './reportUsage';
import type { Scenario } from './scenarios';

const BUILD = path.join(__dirname, '..', '.build', 'gateway');
const TOKEN = 'a-token-for-the-benchmarks';

export interface Setting {
  readonly vendorUrl: string;
  /** Where a server may store its data. */
  readonly directory: string;
  /** Where a CPU profile of the process is written at its end. */
  readonly profiles?: string;
}

interface ContenderKind {
  readonly environment: (setting: Setting) => NodeJS.ProcessEnv;
  readonly headers: (scenario: Scenario, vendorUrl: string) => Readonly<Record<string, string>>;
  readonly modelOf: (scenario: Scenario, model: string) => string;
  /** Default: none. */
  readonly nodeOptions?: readonly string[];
  /** Default: all scenarios. */
  readonly takesPart?: (scenario: Scenario) => boolean;
}

/** The relay comes first: the others are measured against it. */
const KINDS = {
  relay: {
    environment: ({ vendorUrl }) => ({ VENDOR_URL: vendorUrl }),
    headers: () => ({ authorization: `Bearer ${TOKEN}` }),
    modelOf: (_scenario, model) => model,
  },
  bolide: {
    // `npm start` has it, too.
    nodeOptions: ['--max-semi-space-size=8', '--heap-growing-percent=50', '--no-memory-reducer'],
    environment: ({ vendorUrl, directory }) => ({
      PORT: '0',
      DATA_DIR: directory,
      BOLIDE_API_TOKEN: TOKEN,
      LOG_LEVEL: 'error',
      // All requests are one user's.
      USER_REQUESTS_PER_MINUTE: '0',
      USER_PARALLEL_CALLS: '0',
      AI_ALLOW_PRIVATE_HOSTS: 'true',
      OPENAI_API_KEY: 'simulated',
      OPENAI_API_BASE: `${vendorUrl}/v1`,
      ANTHROPIC_API_KEY: 'simulated',
      ANTHROPIC_BASE_URL: vendorUrl,
      GROQ_API_KEY: 'simulated',
      GROQ_BASE_URL: vendorUrl,
    }),
    headers: () => ({ authorization: `Bearer ${TOKEN}` }),
    modelOf: ({ wire, provider = PROVIDERS[wire] }, model) => `${provider}/${model}`,
  },
  portkey: {
    environment: () => ({}),
    headers: ({ wire }, vendorUrl) => ({
      authorization: 'Bearer simulated',
      'x-api-key': 'simulated',
      'x-portkey-provider': wire === 'anthropic' ? 'anthropic' : 'openai',
      'x-portkey-custom-host': `${vendorUrl}/v1`,
    }),
    modelOf: (_scenario, model) => model,
    // It stores no responses, and converts no streams to Anthropic's format.
    takesPart: ({ provider, isStored }) => provider === undefined && isStored !== true,
  },
} satisfies Readonly<Record<string, ContenderKind>>;

export type ContenderName = keyof typeof KINDS;
export const CONTENDERS = Object.keys(KINDS) as readonly ContenderName[];

/** @throws Error for a name that no contender has */
export function contenderOf(name: string): ContenderName {
  const known = CONTENDERS.find((each) => each === name);
  if (known === undefined) throw new Error(`Unknown contender: ${name}. Known: ${CONTENDERS.join(', ')}.`);
  return known;
}

/** The Bolide of another checkout. */
export const AGAINST = 'against';

export interface Contender {
  readonly name: ContenderName | typeof AGAINST;
  readonly url: string;
  readonly kind: ContenderKind;
  readonly vendorUrl: string;
  /** CPU since the last report, and memory. */
  readonly usage: () => Promise<ProcessUsage>;
}

/** @param checkout the root of another checkout, whose Bolide takes part with the packages of this one */
export async function bundle(checkout?: string): Promise<void> {
  const own = ['vendor', ...CONTENDERS].map((name) => ({ in: path.join(__dirname, `${name}.ts`), out: name }));
  const other = checkout === undefined ? [] : [{ in: path.join(checkout, 'bench/gateway/bolide.ts'), out: AGAINST }];
  await build({
    entryPoints: [...own, ...other],
    outdir: BUILD,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    logLevel: 'warning',
  });
}

/** @returns the vendor's address */
export async function startVendor(children: ChildProcess[]): Promise<string> {
  const vendor = fork(path.join(BUILD, 'vendor.js'));
  children.push(vendor);
  const [port] = (await once(vendor, 'message')) as [number];
  return `http://127.0.0.1:${port}`;
}

export async function startContender(
  name: Contender['name'],
  setting: Setting,
  children: ChildProcess[],
): Promise<Contender> {
  const kind: ContenderKind = KINDS[name === AGAINST ? 'bolide' : name];
  const { profiles, vendorUrl, directory } = setting;
  const child = fork(path.join(BUILD, `${name}.js`), [], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      ...kind.environment({ ...setting, directory: path.join(directory, name) }),
    },
    execArgv: [
      ...(kind.nodeOptions ?? []),
      ...(profiles === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', path.join(profiles, name)]),
    ],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  children.push(child);
  const [url] = (await once(child, 'message')) as [string];
  const usage = async (): Promise<ProcessUsage> => {
    const answer = once(child, 'message') as Promise<[ProcessUsage]>;
    child.send('usage');
    return (await answer)[0];
  };
  return { name, url, kind, vendorUrl, usage };
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || !child.connected) return;
  child.disconnect();
  await once(child, 'exit');
}
