/** One run of each documented command that needs no server: see server.test.ts and examples.test.ts for the others. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { mcp } from '../../imports/business/mcp/mcp';
import { runCommand, userEnvironment } from '../support/runCommand';

describe('npm run', () => {
  it('ask: uses blocking and background tools, and states that the response is simulated', async () => {
    const question = 'What is the weather in Lisbon, and research the topic tiny boats';
    const { stdout, stderr } = await runCommand('ask', [question, '--tools']);
    expect(stdout).to.match(/simulated/i);
    expect(stderr)
      .to.match(/→ get_weather\(\{"city":"Lisbon"\}\)\n/)
      .and.to.match(/↩ 1 late result/);
  });

  it('mcp: offers its tools over standard input and output to a source of another Bolide', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'bolide-mcp-'));
    const { PATH = '', HOME = '' } = userEnvironment();
    const env = { PATH, HOME, DATA_DIR: directory, MCP_TOOLS: 'get_weather', MCP_USER: 'ann' };
    const source = mcp({ name: 'demo', command: 'npm', args: ['run', '--silent', 'mcp'], env });
    try {
      const [tool, ...others] = await source.list();
      expect(others).to.deep.equal([]);
      const context = {
        signal: new AbortController().signal,
        ...{ userId: 'ann', callId: 'c', executionId: 'e', idempotencyKey: 'e:c' },
        progress: () => undefined,
      };
      expect(JSON.stringify(await tool?.execute?.({ city: 'Lisbon' }, context))).to.include('Lisbon');
    } finally {
      await source.close();
      await rm(directory, { recursive: true });
    }
  });
});
