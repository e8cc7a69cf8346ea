/** Programs of a model that call tools, at the vendors that run them, and at those that do not. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject, VendorName } from '../../imports/business/ai/domain/types/VendorTypes';
import { createProvider } from '../../imports/business/ai/infrastructure/factories/createProvider';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import { startCannedResponseServer } from '../support/cannedResponseServer';
import type { CannedResponseServer } from '../support/cannedResponseServer';

const OUTPUT_SCHEMA = { type: 'object', properties: { units: { type: 'number' } } };
const STOCK = {
  type: 'function',
  name: 'stock',
  parameters: { type: 'object', properties: {} },
  allowed_callers: ['programmatic'],
  output_schema: OUTPUT_SCHEMA,
} as const;
const PROGRAM = { type: 'program', id: 'cm_1', call_id: 'call_p', code: 'await tools.stock()', fingerprint: 'g' };
const BY_PROGRAM = { type: 'program', caller_id: 'call_p' };
const CALL = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'stock',
  arguments: '{}',
  status: 'completed',
  caller: BY_PROGRAM,
};
const RESULT = { type: 'function_call_output', call_id: 'call_1', output: '{"units":3}' };

const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output: [],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
};
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-8',
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};
const CONTAINER = { id: 'container_1', expires_at: '2026-12-01T00:00:00Z' };
const CODE = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: 'await stock()' } };
const TOOL_USE = {
  type: 'tool_use',
  id: 'toolu_1',
  name: 'stock',
  input: {},
  caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' },
};
const ANTHROPIC_STREAM = [
  { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: CODE },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: TOOL_USE },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null, container: CONTAINER },
    usage: { output_tokens: 1 },
  },
  { type: 'message_stop' },
];

describe('Programs that call tools', () => {
  let server: CannedResponseServer;
  before(async () => {
    server = await startCannedResponseServer();
  });
  after(() => server.close());

  const ask = async (vendor: VendorName, options: object): Promise<[JsonObject, LLMResponse]> => {
    const wire = vendor === 'anthropic' ? {} : { wire: 'responses' as const };
    const settings = { vendor, apiKey: 'k', baseURL: server.url, allowPrivateHosts: true, ...wire };
    // The cast is safe: the options are checked, like those of any program without types.
    const response = await createProvider(settings).generate('ann', options as GenerateOptions);
    return [server.lastRequestBody as JsonObject, response];
  };
  const askOpenAI = async (vendor: 'openai' | 'grok', input: readonly object[]): Promise<JsonObject> => {
    server.respondWith(JSON.stringify(RESPONSE), 'application/json');
    const tools = vendor === 'openai' ? [STOCK, { type: 'programmatic_tool_calling' }] : [STOCK];
    return (await ask(vendor, { model: 'm', input, tools }))[0];
  };

  it('are offered their tools by OpenAI, with the schema of the results', async () => {
    const { tools } = await askOpenAI('openai', [{ role: 'user', content: 'Stock?' }]);
    expect(tools).to.deep.equal([STOCK, { type: 'programmatic_tool_calling' }]);
  });

  it('are named by the results that OpenAI receives', async () => {
    const { input } = await askOpenAI('openai', [{ role: 'user', content: 'Stock?' }, PROGRAM, CALL, RESULT]);
    expect((input as readonly JsonObject[]).slice(1)).to.deep.equal([PROGRAM, CALL, { ...RESULT, caller: BY_PROGRAM }]);
  });

  it('are named by the results of calls in any form', async () => {
    const call = { type: 'custom_tool_call', call_id: 'call_2', name: 'sh', input: 'ls', caller: BY_PROGRAM };
    const output = { type: 'custom_tool_call_output', call_id: 'call_2', output: 'a' };
    const { input } = await askOpenAI('openai', [{ role: 'user', content: 'Stock?' }, PROGRAM, call, output]);
    expect((input as readonly JsonObject[]).slice(2)).to.deep.equal([call, { ...output, caller: BY_PROGRAM }]);
  });

  it('are not named to a vendor that did not run them', async () => {
    const origin = { wire: 'responses', vendor: 'openai' };
    const history = [{ role: 'user', content: 'Stock?' }, { ...PROGRAM, origin }, CALL, RESULT];
    const { input, tools } = await askOpenAI('grok', history);
    expect(JSON.stringify([input, tools])).not.to.match(/caller|output_schema/);
  });

  it('are named in a run that the vendor stores', async () => {
    const first = calling({ name: 'stock', call_id: 'call_1' });
    const output = first.output.map((item) => (item.type === 'function_call' ? { ...item, caller: BY_PROGRAM } : item));
    const provider = new ScriptedProvider([{ ...first, output }, answer('3')], { capabilities: { keepsState: true } });
    const toolExecutor = new ToolRegistry().register({ name: 'stock', execute: () => '3' });
    await new AgenticLoop({ provider, toolExecutor }).execute('ann', {
      model: 'm',
      input: 'Stock?',
      tools: ['stock'],
      store: true,
    });
    expect(provider.calls[1]?.options.input).to.deep.include.members([
      {
        type: 'function_call_output',
        call_id: 'call_1',
        output: '3',
        status: 'completed',
        name: 'stock',
        state: 'completed',
        caller: BY_PROGRAM,
      },
    ]);
  });

  const askAnthropic = (fields: object): Promise<[JsonObject, LLMResponse]> => {
    server.respondWith(
      JSON.stringify({ ...MESSAGE, content: [CODE, TOOL_USE], container: CONTAINER }),
      'application/json',
    );
    return ask('anthropic', { model: 'claude-opus-4-8', input: 'Stock?', ...fields });
  };

  for (const [tool, type] of [
    [{ type: 'programmatic_tool_calling' }, 'code_execution_20260120'],
    [{ type: 'code_interpreter' }, 'code_execution_20260120'],
    [{ type: 'code_execution_20260521', name: 'code_execution' }, 'code_execution_20260521'],
  ] as const)
    it(`are offered their tools by Anthropic with ${tool.type}`, async () => {
      const [{ tools }] = await askAnthropic({ tools: [STOCK, tool] });
      expect(tools).to.deep.equal([
        { name: 'stock', input_schema: STOCK.parameters, allowed_callers: [type] },
        { type, name: 'code_execution' },
      ]);
    });

  it('get tools that the model itself may call, with a warning, where nothing runs them', async () => {
    const [{ tools }, { vendor }] = await askAnthropic({ tools: [STOCK] });
    expect(tools).to.deep.equal([{ name: 'stock', input_schema: STOCK.parameters }]);
    expect(vendor.warnings.join()).to.include('The model may call the tool "stock" itself');
  });

  for (const stream of [false, true])
    it(`go on in their container at Anthropic, ${stream ? 'after a stream' : 'after a response'}`, async () => {
      const tools = [STOCK, { type: 'code_interpreter' }];
      let [, response] = await askAnthropic({ tools });
      if (stream) {
        const events = ANTHROPIC_STREAM.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
        server.respondWith(events.join(''), 'text/event-stream');
        const settings = { vendor: 'anthropic', apiKey: 'k', baseURL: server.url, allowPrivateHosts: true } as const;
        const options = { model: 'claude-opus-4-8', input: 'Stock?', tools } as unknown as GenerateOptions;
        for await (const event of createProvider(settings).stream('ann', options))
          if (event.type === 'response.completed') ({ response } = event);
      }
      const history = [{ role: 'user', content: 'Stock?' }, ...response.output, { ...RESULT, call_id: 'toolu_1' }];
      const [{ container, messages }] = await askAnthropic({ tools, input: history });
      expect(container).to.equal('container_1');
      expect((messages as readonly JsonObject[])[1]).to.deep.equal({ role: 'assistant', content: [CODE, TOOL_USE] });
      const [later] = await askAnthropic({ tools, input: [...history, { role: 'user', content: 'And now?' }] });
      expect(later).not.to.have.property('container');
    });
});
