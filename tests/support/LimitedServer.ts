/** A server with limits, for tests of what it refuses. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RateLimits } from '../../imports/business/ai/domain/types/ApiTokenLimits';
import { startServer } from '../../imports/host/node/startServer';
import type { RunningServer } from '../../imports/host/node/startServer';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { deferred } from './deferred';
import { simulatedVendors } from './simulatedVendors';

/** A server whose users ann and bob have tokens with all rights, over the vendor simulator. */
export class LimitedServer {
  readonly simulator: Simulator;
  readonly server: RunningServer;
  readonly tokens: Readonly<Record<'ann' | 'bob', string>>;
  private readonly directory: string;

  private constructor(simulator: Simulator, server: RunningServer, tokens: LimitedServer['tokens'], directory: string) {
    this.simulator = simulator;
    this.server = server;
    this.tokens = tokens;
    this.directory = directory;
  }

  static async start(env: Readonly<Record<string, string>>): Promise<LimitedServer> {
    const simulator = await startSimulator();
    const directory = await mkdtemp(join(tmpdir(), 'bolide-limits-'));
    const server = await startServer({
      env: { ...simulatedVendors(simulator), PORT: '0', DATA_DIR: directory, ...env },
      dashboard: false,
    });
    const issue = async (userId: string): Promise<string> =>
      (await server.host.apiTokens.tokens.issue({ userId, name: 'test', scopes: ['admin'] })).token;
    return new LimitedServer(simulator, server, { ann: await issue('ann'), bob: await issue('bob') }, directory);
  }

  get url(): string {
    return this.server.url;
  }

  send(token: string, method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return fetch(this.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async issue(userId: string, rateLimits?: RateLimits): Promise<string> {
    const limits = rateLimits === undefined ? {} : { rateLimits };
    const request = { userId, name: 'test', scopes: ['admin'], ...limits } as const;
    return (await this.server.host.apiTokens.tokens.issue(request)).token;
  }

  /** The vendor answers the next call when the returned function is called. */
  hold(): () => void {
    const gate = deferred();
    this.simulator.enqueue(async () => {
      await gate.promise;
      return { text: 'Late.' };
    });
    return () => gate.resolve();
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.simulator.close();
    await rm(this.directory, { recursive: true });
  }
}
