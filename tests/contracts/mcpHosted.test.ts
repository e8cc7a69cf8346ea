/** Tools of an MCP server that vendors call themselves where they can, and that Bolide calls where they cannot. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { McpServerSettings } from '../../imports/business/mcp/infrastructure/McpServerSettings';
import { LLMPermissionError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { RunOptions } from '../../imports/business/ai/domain/types/RunOptions';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { mcp } from '../../imports/business/mcp/mcp';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { INITIALIZE, jsonRpc, serveMcp } from '../support/mcp/serveMcp';
import type { ServedMcp } from '../support/mcp/serveMcp';
import { RecordingLogger } from '../support/RecordingLogger';
import { SIMULATED_VENDORS, simulatedProvider } from '../support/simulatedProviders';

const NAMES = ['docs_read', 'docs_delete'];
const TOKEN = { authorization: 'Bearer sk-docs' };

describe('MCP servers that vendors call', () => {
  let simulator: Simulator;
  let served: ServedMcp;
  let registry: ToolRegistry;
  let hash: string;
  before(async () => {
    simulator = await startSimulator();
    served = await serveMcp(
      jsonRpc({
        ...INITIALIZE,
        'tools/list': () => ({
          tools: ['read', 'delete'].map((name) => ({ name, description: hash, inputSchema: { type: 'object' } })),
        }),
        'tools/call': () => ({ content: [{ type: 'text', text: 'read by Bolide' }] }),
      }),
    );
  });
  beforeEach(() => {
    hash = 'Is about documents.';
    registry = new ToolRegistry();
  });
  afterEach(() => registry.closeSources());
  after(async () => {
    await served.close();
    simulator.assertDone();
    await simulator.close();
  });

  const add = (settings: Partial<McpServerSettings> = {}): Promise<void> =>
    registry.addSource(
      mcp({
        ...{ name: 'docs', url: served.url, allowPrivateHosts: true, logger: new RecordingLogger(), hosted: true },
        ...settings,
      }),
    );
  const ask = async (vendorName: string, options: Partial<RunOptions> = {}): Promise<LLMResponse> => {
    const vendor = SIMULATED_VENDORS.find(({ name }) => name === vendorName) ?? expect.fail(vendorName);
    const loop = new AgenticLoop({ provider: simulatedProvider(simulator, vendor), toolExecutor: registry });
    simulator.enqueue({ text: 'Done.' });
    const run = { model: vendor.model, input: 'Read.', tools: NAMES, promptCache: false, ...options } as const;
    return (await loop.execute('ann', run)).response;
  };
  const body = (): Record<string, unknown> => simulator.requests.at(-1)?.body as Record<string, unknown>;
  const functions = (): readonly string[] =>
    (body()['tools'] as { type?: string; name?: string }[]).flatMap(({ type, name }) =>
      type === undefined || type === 'function' ? [name ?? ''] : [],
    );

  it('are an entry in the request to OpenAI, with their tools and the headers that may be handed over', async () => {
    await add({ headers: { ...TOKEN, 'x-team': 'a' }, shareHeaders: true });
    const { vendor } = await ask('OpenAI Responses');
    expect(body()['tools']).to.deep.equal([
      {
        ...{ type: 'mcp', server_label: 'docs', server_url: served.url, allowed_tools: ['read', 'delete'] },
        ...{ require_approval: 'never', authorization: 'sk-docs', headers: { 'x-team': 'a' } },
      },
    ]);
    expect(vendor.warnings).to.deep.equal([]);
    expect(JSON.stringify(vendor)).not.to.contain('sk-docs');
  });

  it('are a server and a toolset in the request to Anthropic', async () => {
    await add({ headers: TOKEN, shareHeaders: true });
    await ask('Anthropic');
    expect(body()['mcp_servers']).to.deep.equal([
      { type: 'url', url: served.url, name: 'docs', authorization_token: 'sk-docs' },
    ]);
    expect(body()['tools']).to.deep.equal([
      {
        ...{ type: 'mcp_toolset', mcp_server_name: 'docs', default_config: { enabled: false } },
        configs: { read: { enabled: true }, delete: { enabled: true } },
      },
    ]);
  });

  it('have no approvals in the request to xAI, which does not know the field', async () => {
    await add();
    await ask('Grok Responses');
    expect(body()['tools']).to.deep.equal([
      { type: 'mcp', server_label: 'docs', server_url: served.url, allowed_tools: ['read', 'delete'] },
    ]);
  });

  for (const name of ['Groq', 'Google', 'OpenAI chat'])
    it(`are called by Bolide in a run with ${name}, which is told`, async () => {
      await add();
      simulator.enqueue({ calls: [{ name: 'docs_read' }] });
      const { vendor } = await ask(name);
      expect(JSON.stringify(body())).to.contain('read by Bolide').and.contain('docs_delete');
      expect(JSON.stringify(body())).not.to.contain('"mcp"').and.not.to.contain(served.url);
      expect(vendor.warnings.join()).to.contain('Bolide itself calls the tools of the MCP server "docs"');
    });

  it('leave to Bolide what needs an approval, and what a model is not to wait for', async () => {
    await add({ tools: { delete: { needsApproval: true } } });
    await ask('OpenAI Responses');
    expect(functions()).to.deep.equal(['docs_delete']);
    expect(JSON.stringify(body()['tools'])).to.contain('"allowed_tools":["read"]');
    await registry.removeSource('docs');
    await add({ tools: { '*': { blocking: false } } });
    await ask('OpenAI Responses');
    expect(functions()).to.deep.equal(NAMES);
  });

  it('are called by Bolide if a vendor would need what it may not have', async () => {
    const reasons: readonly [Partial<McpServerSettings>, string, Partial<RunOptions>, string][] = [
      [{ headers: TOKEN }, 'OpenAI Responses', {}, 'its headers may not be handed to a vendor'],
      [{ headers: { 'x-key': 'a' }, shareHeaders: true }, 'Anthropic', {}, 'no headers to it but a bearer token'],
      [{}, 'OpenAI Responses', { tool_choice: { type: 'function', name: 'docs_read' } }, '"tool_choice" names one'],
      [{}, 'OpenAI Responses', { onSend: () => Promise.reject(new LLMPermissionError('No.')) }, 'hosted:mcp'],
    ];
    for (const [settings, vendor, { onSend, ...options }, reason] of reasons) {
      await add(settings);
      const guard: RunOptions['onSend'] = ({ hostedTools, ...request }) =>
        hostedTools.length === 0 ? Promise.resolve() : (onSend?.({ hostedTools, ...request }) ?? Promise.resolve());
      const response = await ask(vendor, { ...options, onSend: guard });
      expect(functions(), reason).to.deep.equal(NAMES);
      expect(JSON.stringify(body()), reason).not.to.contain('sk-docs');
      expect(response.vendor.warnings.join(), reason).to.contain(reason);
      await registry.removeSource('docs');
    }
  });

  it('are not those of programs', () => {
    expect(() => mcp({ name: 'fs', command: 'node', hosted: true })).to.throw('"hosted" belongs to "url"');
  });

  it('are hidden from the store of a run, headers and all', async () => {
    await add({ headers: TOKEN, shareHeaders: true });
    expect(JSON.stringify([registry.tools, registry.getToolDefinition('docs_read')])).not.to.contain('sk-docs');
  });
});
