/** Coding agents sign in to a Meteor app over MCP, call its methods as their user, and end with the revocation. */
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Accounts } from 'meteor/accounts-base';
import { check, Match } from 'meteor/check';
import { DDP } from 'meteor/ddp';
import { Meteor } from 'meteor/meteor';
import { WebApp } from 'meteor/webapp';
import { exposeMethods, exposures } from '../../imports/host/meteor/expose/exposeMethods';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp } from '../support/meteorApp';
import { agentPath, runAgent } from './AgentHost';
import type { AgentExit, AgentProject } from './AgentHost';

interface Agent {
  readonly name: string;
  /** Adds the server, as shell commands: what signs in is the last one. */
  readonly signIn: (url: string) => readonly string[];
  readonly run: (url: string) => readonly string[];
  readonly env: (url: string, token: string, home: string) => Readonly<Record<string, string>>;
  /** A call of the tool as the model makes it. */
  readonly call: (tool: string) => { readonly name: string; readonly namespace?: string };
}

const CODEX = `"${process.execPath}" "${agentPath('@openai/codex/bin/codex.js')}"`;
const CLAUDE = `"${process.execPath}" "${agentPath('@anthropic-ai/claude-code/cli-wrapper.cjs')}"`;

const AGENTS: readonly Agent[] = [
  {
    name: 'Codex',
    signIn: (url) => [`${CODEX} mcp add shop --url ${url}/mcp`],
    run: (url) => [
      `${CODEX} exec --json --skip-git-repo-check -c model='"openai/some-model"' -c model_provider='"app"'`,
      `-c 'model_providers.app={name="App",base_url="${url}/v1",env_key="APP_TOKEN",wire_api="responses"}' Hello.`,
    ],
    env: (_url, token, home) => ({ CODEX_HOME: home, APP_TOKEN: token }),
    call: (name) => ({ name, namespace: 'mcp__shop' }),
  },
  {
    name: 'Claude Code',
    // It prints the address for a terminal only, and wraps it.
    signIn: (url) => [
      `${CLAUDE} mcp add --transport http shop ${url}/mcp &&`,
      `script -qec 'stty cols 4000; ${CLAUDE} mcp login shop --no-browser' /dev/null`,
    ],
    run: () => [`${CLAUDE} -p Hello. --allowedTools mcp__shop`],
    env: (url, token) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: token,
      ANTHROPIC_API_KEY: '',
      ANTHROPIC_MODEL: 'openai/main-model',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'openai/small-model',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      TERM: 'xterm',
    }),
    call: (name) => ({ name: `mcp__shop__${name}` }),
  },
];

describe('Coding agents as MCP clients of a Meteor app', () => {
  const globals = globalThis as { Package?: Readonly<Record<string, object>> };
  const absoluteUrl = Meteor.absoluteUrl.bind(Meteor);
  const requests: string[] = [];
  let app: MeteorApp;
  let url: string;
  let token: string;
  let directory: string;

  before(async () => {
    globals.Package = { ddp: { DDP }, check: { check, Match } };
    exposeMethods({
      include: ['whoami', 'orders.cancel', 'orders.purge'],
      details: { whoami: { readOnly: true } },
      needsApproval: ['orders.cancel'],
    });
    app = await startMeteorApp(
      { AI_TOOL_RULES: [{ tools: ['orders_purge'], users: ['ann'] }] },
      {
        httpPath: '/ai',
        onReset: async () => {
          Meteor.methods({
            whoami(this: { readonly userId: string | null }) {
              return `I am ${this.userId}.`;
            },
            'orders.cancel': () => 'cancelled',
            'orders.purge': () => 'purged',
          });
          WebApp.httpServer.listen(0, '127.0.0.1');
          await once(WebApp.httpServer, 'listening');
          const root = `http://127.0.0.1:${(WebApp.httpServer.address() as AddressInfo).port}`;
          Meteor.absoluteUrl = (path?: string) => `${root}/${path ?? ''}`;
          url = `${root}/ai`;
        },
      },
    );
    app.simulator.events.on('request', ({ body }) => requests.push(JSON.stringify(body)));
    const loginTokens = [{ hashedToken: Accounts._hashLoginToken('login-of-bob'), when: new Date() }];
    await Meteor.users.updateAsync({ _id: 'bob' }, { $set: { services: { resume: { loginTokens } } } });
    const created = await app.call('bob', 'ai.tokens.create', { name: 'agents', scopes: ['generate'] });
    ({ token } = created as { readonly token: string });
    directory = await mkdtemp(join(tmpdir(), 'bolide-agent-'));
  });

  after(async () => {
    await app.stop();
    Meteor.absoluteUrl = absoluteUrl;
    exposures.length = 0;
    delete globals.Package;
    await rm(directory, { recursive: true, force: true });
  });

  const asBob = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer login-of-bob' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Readonly<Record<string, unknown>>;
  };

  for (const agent of AGENTS)
    it(`are signed in, see the user's tools, and are disconnected: ${agent.name}`, async () => {
      const home = join(directory, agent.name.replace(' ', '-'));
      const project: AgentProject = { home, project: join(home, 'project') };
      await mkdir(project.project, { recursive: true });
      const execute = (lines: readonly string[], onOutput?: (output: string) => void): Promise<AgentExit> =>
        runAgent(['sh', '-c', lines.join(' ')], project, agent.env(url, token, home), onOutput);
      const run = async (): Promise<void> => {
        requests.length = 0;
        const { code, stdout, stderr } = await execute(agent.run(url));
        expect(code, stderr + stdout).to.equal(0);
      };

      let consent: Promise<Response> | undefined;
      const signedIn = await execute(agent.signIn(url), (output) => {
        const [, query] = /\/ai\/oauth\/authorize\?([\w%&=.+-]+)[^\w%&=.+-]/.exec(output) ?? [];
        if (query === undefined) return;
        consent ??= asBob('/oauth/authorize', { query, decision: 'approve' }).then(({ location }) =>
          fetch(location as string),
        );
      });
      expect(signedIn.code, signedIn.stdout + signedIn.stderr).to.equal(0);
      expect((await consent)?.ok).to.equal(true);

      app.simulator.enqueue({ calls: [agent.call('whoami'), agent.call('orders_cancel')] }, { text: 'Done.' });
      await run();
      const [, results = ''] = requests;
      expect(results).to.include('I am bob.').and.to.include('orders_cancel').and.not.to.include('orders_purge');

      const { grants } = (await asBob('/oauth/grants', {})) as { readonly grants: readonly { readonly id: string }[] };
      for (const { id } of grants) await asBob('/oauth/grants', { revoke: id });
      app.simulator.enqueue({ text: 'Done.' });
      await run();
      expect(requests).to.have.length(1);
      expect(requests[0]).not.to.include('orders_cancel');
    });
});
