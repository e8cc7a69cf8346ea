/** MCP servers of the settings: read, connected before runs go on, and closed with the server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startServer } from '../../../imports/host/node/startServer';
import { openMcpServers } from '../../../imports/business/mcp/openMcpServers';
import { mcpSettings } from '../../../imports/business/mcp/mcpSettings';
import { readSettings } from '../../../imports/host/settings/defineSettings';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { createState, createTestServer } from '../../support/mcp/testServer';
import { serveMcp, withSessions } from '../../support/mcp/serveMcp';
import { RecordingLogger } from '../../support/RecordingLogger';
import { until } from '../../support/until';
import { VirtualTime } from '../../support/VirtualTime';

const readMcpServers = (given: unknown) =>
  readSettings(mcpSettings, (name) => (name === 'AI_MCP_SERVERS' ? given : undefined)).mcpServers;

describe('AI_MCP_SERVERS', () => {
  let time: VirtualTime | undefined;
  afterEach(() => time?.stop());

  it('is a list of servers, as JSON or in the settings of Meteor', () => {
    const servers = [{ name: 'docs', url: 'https://mcp.example.com', headers: { authorization: 'Bearer x' } }];
    expect(readMcpServers(JSON.stringify(servers))).to.deep.equal(servers);
    expect(readMcpServers(servers)).to.deep.equal(servers);
    const oauth = { accounts: 'user', clientId: 'app', clientSecret: 's', issuer: 'https://login.example.com' };
    const signedIn = [{ name: 'docs', url: 'https://mcp.example.com', oauth }];
    expect(readMcpServers(signedIn)).to.deep.equal(signedIn);
    expect(readMcpServers('[]')).to.deep.equal([]);
    expect(readMcpServers('')).to.equal(undefined);
  });

  it('names what is wrong, and no secrets', () => {
    for (const [value, message] of [
      ['{', 'must be a JSON list of MCP servers'],
      ['{}', 'must be a JSON list of MCP servers'],
      ['[7]', 'AI_MCP_SERVERS[0]: "name" is required'],
      ['[{"name":"a b","url":"https://a.example"}]', '"name" must be 1 to 32 characters'],
      ['[{"name":"a"}]', '"url" or "command" is required, and not both'],
      ['[{"name":"a","url":"ftp://a.example"}]', '"url" must be a URL with http or https'],
      ['[{"name":"a","url":"https://a.example","args":["x"]}]', '"args" belongs to "command"'],
      ['[{"name":"a","command":"x","headers":{"a":"sk-secret"}}]', '"headers" belongs to "url"'],
      ['[{"name":"a","command":"x","tools":{"*":{"block":true}}}]', 'block'],
      ['[{"name":"a","url":"https://a.example","oauth":{}}]', 'AI_MCP_SERVERS[0]: "oauth.accounts"'],
      ['[{"name":"a","url":"https://a.example","oauth":{"accounts":"all"}}]', '"oauth.accounts"'],
      ['[{"name":"a","url":"https://a.example","oauth":{"accounts":"user","store":{}}}]', 'store'],
      ['[{"name":"a","url":"https://a.example","oauth":{"accounts":"user","clientId":"c"}}]', '"oauth.issuer"'],
      [
        '[{"name":"a","url":"https://a.example","oauth":{"accounts":"user","clientSecret":"sk-secret"}}]',
        '"oauth.clientSecret" belongs to "oauth.clientId"',
      ],
      ['[{"name":"a","command":"x","oauth":{"accounts":"user"}}]', '"oauth" belongs to "url"'],
      ['[{"name":"a","command":"x"},{"name":"a","command":"y"}]', 'another server is named "a"'],
    ] as const)
      expect(() => readMcpServers(value), value)
        .to.throw(message)
        .with.property('message')
        .that.does.not.include('sk-secret');
  });

  it('has the tools registered before runs go on, and closes the servers with the host', async () => {
    const methods: string[] = [];
    const handle = withSessions(() => createTestServer(createState(), ['2025-11-25']));
    const served = await serveMcp((request) => {
      methods.push(request.method);
      return handle(request);
    });
    const directory = await mkdtemp(join(tmpdir(), 'bolide-mcp-'));
    const server = await startServer({
      env: {
        PORT: '0',
        DATA_DIR: directory,
        AI_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
        AI_MCP_SERVERS: JSON.stringify([{ name: 't', url: served.url, allow: ['add'] }]),
      },
      dashboard: false,
    });
    try {
      const { tools } = server.host.module;
      expect(tools.tools.map(({ name }) => name)).to.deep.equal(['t_add']);
      const [source] = tools.sources;
      await server.close();
      expect(tools.sources).to.deep.equal([]);
      // The session is ended.
      expect(methods.at(-1)).to.equal('DELETE');
      expect(source).to.have.nested.property('health.state', 'closed');
    } finally {
      await server.close();
      await served.close();
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('does not wait for a server that is away, whose tools come later', async () => {
    time = VirtualTime.startFlowing();
    const handle = withSessions(() => createTestServer(createState(), ['2025-11-25']));
    let isAway = true;
    const served = await serveMcp((request) => (isAway ? new Promise(() => undefined) : handle(request)));
    const registry = new ToolRegistry();
    const logger = new RecordingLogger();
    const settings = { name: 't', url: served.url, connectTimeout: 1_000 };
    const close = await openMcpServers(registry, [settings], { allowPrivateHosts: true, logger, startTimeout: 10 });
    expect(registry.tools).to.deep.equal([]);
    isAway = false;
    await until(() => registry.hasToolFunction('t_add'));
    await close();
    await served.close();
  });
});
