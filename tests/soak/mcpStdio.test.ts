/** MCP over standard input and output: of our server, and of the servers that a source starts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'chai';
import type { ToolCallContext } from '../../imports/business/ai/domain/interfaces/IToolExecutor';
import { McpSource } from '../../imports/business/mcp/infrastructure/McpSource';
import { failure } from '../support/failure';
import { describeMcpSource, SOURCE_REVISIONS } from '../support/mcp/mcpSourceSuite';
import { createClient, REVISIONS } from '../support/mcp/offeringServer';
import { RecordingLogger } from '../support/RecordingLogger';
import { until } from '../support/until';

const ROOT = join(__dirname, '../..');

describe('npm run mcp', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-mcp-'));
  });

  afterEach(() => rm(directory, { recursive: true }));

  const start = (env: Readonly<Record<string, string>>): StdioClientTransport =>
    new StdioClientTransport({
      command: process.execPath,
      args: ['scripts/run.cjs', 'server/bolide.ts', 'mcp'],
      cwd: ROOT,
      env: { DATA_DIR: directory, ...env },
      stderr: 'pipe',
    });

  for (const revision of REVISIONS)
    it(`lists and calls the chosen tools in the revision ${revision}`, async () => {
      const client = createClient({ revision, capabilities: { elicitation: {} } });
      const errors: Error[] = [];
      // The official client takes progress that arrives together with the result for that of an unknown request.
      client.onerror = (error) => {
        if (!error.message.includes('progress notification for an unknown token')) errors.push(error);
      };
      client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { approve: true } }));
      await client.connect(start({ MCP_TOOLS: 'get_weather,send_reminder,research_topic', MCP_USER: 'ann' }));
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).to.deep.equal(['get_weather', 'research_topic', 'send_reminder']);
      const weather = await client.callTool({ name: 'get_weather', arguments: { city: 'Lisbon' } });
      expect(JSON.stringify(weather.content)).to.include('Lisbon');
      const reports: unknown[] = [];
      await client.callTool(
        { name: 'research_topic', arguments: { topic: 'boats' } },
        { onprogress: (progress) => reports.push(progress) },
      );
      expect(reports).to.have.length.greaterThan(0);
      const reminder = await client.callTool({ name: 'send_reminder', arguments: { text: 'milk' } });
      expect(reminder.isError, JSON.stringify(reminder)).to.not.equal(true);
      // Anything on standard output that is no message of the protocol would be an error.
      expect(errors).to.deep.equal([]);
      await client.close();
    });

  it('says what to set if nothing is offered, and writes nothing to standard output', async () => {
    const transport = start({});
    let said = '';
    transport.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const ended = await createClient({ revision: '2025-11-25' })
      .connect(transport)
      .then(
        () => 'connected',
        () => 'ended',
      );
    expect(ended).to.equal('ended');
    expect(said).to.include('Set MCP_TOOLS');
  });
});

for (const revision of SOURCE_REVISIONS) describeMcpSource('stdio', revision);

describe('an MCP server', () => {
  const context = (): ToolCallContext => ({
    signal: new AbortController().signal,
    userId: 'ann',
    callId: 'c',
    executionId: 'e',
    idempotencyKey: 'e:c',
    progress: () => undefined,
  });

  it('with stdio that dies is started again, and none is left when the source is closed', async () => {
    const program = `
      let text = '';
      process.stdin.on('data', (chunk) => {
        text += chunk;
        for (let end; (end = text.indexOf('\\n')) >= 0; text = text.slice(end + 1)) {
          const { id, method, params } = JSON.parse(text.slice(0, end));
          if (id === undefined) continue;
          const result = {
            initialize: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '0' } },
            'tools/list': { tools: [{ name: 'die', inputSchema: { type: 'object' } }, { name: 'pid', inputSchema: { type: 'object' } }] },
            'tools/call': { content: [{ type: 'text', text: String(process.pid) }] },
          }[method];
          if (method === 'tools/call' && params.name === 'die') process.exit(1);
          const error = { code: -32601, message: 'Method not found' };
          console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }));
        }
      });
    `;
    const source = new McpSource(
      { name: 's', command: process.execPath, args: ['-e', program] },
      { logger: new RecordingLogger(), findViolations: () => Promise.resolve([]), retryDelay: 20 },
    );
    const [die, pid] = await source.list();
    const first = Number(await pid?.execute?.({}, context()));
    expect(await failure(Promise.resolve(die?.execute?.({}, context())))).to.be.instanceOf(Error);
    const second = Number(await pid?.execute?.({}, context()));
    expect(second).to.not.equal(first);
    await source.close();
    await until(() => !isAlive(second));
    expect(isAlive(first)).to.equal(false);
    expect(await failure(source.list()))
      .to.have.property('message')
      .that.includes('the source is closed');
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
