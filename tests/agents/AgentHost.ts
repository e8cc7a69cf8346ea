/** A coding agent from npm, run without a terminal in a project of its own against the server of `npm start`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { RunningServer } from '../../imports/host/node/startServer';
import type { Environment } from '../../imports/host/settings/environment';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { simulatedVendors } from '../support/simulatedVendors';
import { startStandalone } from '../support/startStandalone';

export interface AgentExit {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface AgentProject {
  readonly project: string;
  readonly home: string;
}

/** The providers that run every task: one of each wire. */
export const AGENT_PROVIDERS = ['openai', 'anthropic', 'google', 'groq'] as const;
export const TOKEN = 'a-token-for-agents-in-tests';

export class AgentHost {
  /** Bodies of the vendor's requests since the last project was created, as JSON. */
  readonly requests: string[] = [];

  private constructor(
    readonly server: RunningServer,
    readonly simulator: Simulator,
    private readonly directory: string,
  ) {
    simulator.events.on('request', ({ body }) => this.requests.push(JSON.stringify(body)));
  }

  static async start(env: Environment = {}): Promise<AgentHost> {
    const simulator = await startSimulator();
    const server = await startStandalone({ ...simulatedVendors(simulator), BOLIDE_API_TOKEN: TOKEN, ...env });
    return new AgentHost(server, simulator, await mkdtemp(join(tmpdir(), 'bolide-agent-')));
  }

  /** Creates a project directory with one file, and the agent's home beside it. */
  async createProject(name: string): Promise<AgentProject> {
    const [project, home] = [join(this.directory, name), join(this.directory, `${name}-home`)];
    await Promise.all([mkdir(project), mkdir(home)]);
    await writeFile(join(project, 'greeting.txt'), 'Good morning.\n');
    this.requests.length = 0;
    return { project, home };
  }

  /** @param script the agent's launcher, a path below node_modules */
  run(
    script: string,
    args: readonly string[],
    project: AgentProject,
    env: Readonly<Record<string, string>>,
  ): Promise<AgentExit> {
    return runAgent([process.execPath, agentPath(script), ...args], project, env);
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.simulator.close();
    await rm(this.directory, { recursive: true, force: true });
  }
}

const TIME_LIMIT_MS = 90_000;

/** @param script a path below node_modules */
export function agentPath(script: string): string {
  return join(__dirname, 'node_modules', script);
}

/** Returns the environment of an agent, to which whatever is not on this machine is unreachable. */
export function agentEnvironment({ home }: AgentProject, env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: home,
    HTTPS_PROXY: 'http://127.0.0.1:9',
    HTTP_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1,localhost',
    ...env,
  };
}

/** @param onOutput receives what the agent has written to its standard output so far */
export async function runAgent(
  [command = '', ...args]: readonly string[],
  project: AgentProject,
  env: Readonly<Record<string, string>>,
  onOutput: (output: string) => void = () => undefined,
): Promise<AgentExit> {
  const child = spawn(command, args, {
    cwd: project.project,
    env: agentEnvironment(project, env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const kill = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), TIME_LIMIT_MS);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => onOutput((output += piece)));
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close') as Promise<[number | null]>]);
  clearTimeout(kill);
  return { code, stdout: output, stderr };
}
