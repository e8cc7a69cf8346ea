/** `codex app-server` as a process: what editors talk to, in JSON-RPC, one message per line. */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { deferred } from '../support/deferred';
import type { Deferred } from '../support/deferred';
import { agentEnvironment, agentPath } from './AgentHost';
import type { AgentProject } from './AgentHost';
import { CODEX } from './codexSettings';

interface Notification {
  readonly method: string;
  readonly params: JsonObject;
}

export class CodexServer {
  private readonly requests = new Map<number, Deferred<JsonObject>>();
  private notifications: Notification[] = [];
  private arrived = deferred();
  private count = 0;
  private errors = '';

  private constructor(private readonly child: ChildProcessWithoutNullStreams) {
    createInterface({ input: child.stdout }).on('line', (line) => this.read(JSON.parse(line) as JsonObject));
    child.stderr.setEncoding('utf8').on('data', (piece: string) => (this.errors += piece));
    child.once('exit', () => {
      const error = new Error(`Codex has ended: ${this.errors}`);
      for (const { reject } of this.requests.values()) reject(error);
      this.arrived.reject(error);
      this.arrived.promise.catch(() => undefined);
    });
  }

  static async start(settings: readonly string[], project: AgentProject, token: string): Promise<CodexServer> {
    const child = spawn(process.execPath, [agentPath(CODEX), 'app-server', ...settings], {
      cwd: project.project,
      env: agentEnvironment(project, { BOLIDE_API_TOKEN: token, CODEX_HOME: project.home }),
      detached: true,
    });
    const server = new CodexServer(child);
    await server.request('initialize', { clientInfo: { name: 'editor', version: '1.0.0' } });
    child.stdin.write(`${JSON.stringify({ method: 'initialized' })}\n`);
    return server;
  }

  /** @throws Error with the message of an error response */
  request(method: string, params: JsonObject): Promise<JsonObject> {
    this.count += 1;
    const answer = deferred<JsonObject>();
    this.requests.set(this.count, answer);
    this.child.stdin.write(`${JSON.stringify({ id: this.count, method, params })}\n`);
    return answer.promise;
  }

  /** Resolves to the parameters of the next notification of the method. The ones before it are dropped. */
  async next(method: string): Promise<JsonObject> {
    for (;;) {
      const notification = this.notifications.shift();
      if (notification?.method === method) return notification.params;
      if (notification !== undefined) continue;
      await this.arrived.promise;
      this.arrived = deferred();
    }
  }

  /** Ends the process and those that it has started, as a crash does. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    process.kill(-(this.child.pid ?? 0), 'SIGKILL');
    await exited;
  }

  private read({ id, method, params, result, error }: JsonObject): void {
    if (typeof method === 'string') {
      this.notifications.push({ method, params: params as JsonObject });
      this.arrived.resolve();
      return;
    }
    const answer = this.requests.get(Number(id));
    this.requests.delete(Number(id));
    if (error === undefined) answer?.resolve(result as JsonObject);
    else answer?.reject(new Error(JSON.stringify(error)));
  }
}
