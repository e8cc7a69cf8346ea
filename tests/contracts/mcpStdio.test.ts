/** `npm run mcp`: the tools of the server over standard input and output, as a client starts it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'chai';
import { describeInSoak } from '../support/soak';
import { createClient, REVISIONS } from '../support/mcp/offeringServer';

const ROOT = join(__dirname, '../..');

describeInSoak('npm run mcp', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-mcp-'));
  });

  afterEach(() => rm(directory, { recursive: true }));

  const start = (env: Readonly<Record<string, string>>): StdioClientTransport =>
    new StdioClientTransport({
      command: process.execPath,
      args: ['scripts/run.cjs', 'server/mcp.ts'],
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
