/** Tools that vendors define and the program executes, in the forms of all vendors. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../imports/business/ai/application/services/AgenticLoop';
import { userMessage } from '../../../../imports/business/ai/domain/entities/Message';
import { runOf } from '../../../../imports/business/ai/domain/entities/Run';
import type { RunResult } from '../../../../imports/business/ai/domain/entities/Run';
import type { LLMError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import type { RunStore } from '../../../../imports/business/ai/domain/interfaces/RunStore';
import type { LooseTool, ToolChoice } from '../../../../imports/business/ai/domain/types/LLMTypes';
import { VENDORS } from '../../../../imports/business/ai/domain/types/VendorTypes';
import type { JsonObject, VendorName } from '../../../../imports/business/ai/domain/types/VendorTypes';
import { omitUndefined } from '../../../../imports/business/ai/domain/util/omitUndefined';
import { createProvider } from '../../../../imports/business/ai/infrastructure/factories/createProvider';
import { openRunStore } from '../../../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { applyPatchTool } from '../../../../imports/business/ai/infrastructure/tools/native/applyPatchTool';
import { browserTool } from '../../../../imports/business/ai/infrastructure/tools/native/browserTool';
import { clientToolSearch } from '../../../../imports/business/ai/infrastructure/tools/native/clientToolSearch';
import { computerTool } from '../../../../imports/business/ai/infrastructure/tools/native/computerTool';
import { customTool } from '../../../../imports/business/ai/infrastructure/tools/native/customTool';
import { memoryTool } from '../../../../imports/business/ai/infrastructure/tools/native/memoryTool';
import { shellTool } from '../../../../imports/business/ai/infrastructure/tools/native/shellTool';
import { textEditorTool } from '../../../../imports/business/ai/infrastructure/tools/native/textEditorTool';
import type { RegisteredTool } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../../../imports/simulator/Simulator';
import { startSimulator } from '../../../../imports/simulator/startSimulator';
import { QUICK_DATABASES } from '../../../support/documentDatabases';
import { failure } from '../../../support/failure';
import { RecordingLogger } from '../../../support/RecordingLogger';

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

const MODELS: Partial<Record<VendorName, string>> = { openai: 'gpt-5.4', anthropic: 'claude-opus-5-5' };

function openaiResponse(...output: readonly JsonObject[]) {
  return {
    status: 200,
    body: { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'gpt-5.4', output, usage },
  };
}

function anthropicResponse(...content: readonly JsonObject[]) {
  const stop_reason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  return {
    status: 200,
    body: {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-5-5', content, stop_reason },
      ...{ stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
    },
  };
}

describe('tools that vendors define and the program executes', () => {
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  function loopOf(vendor: VendorName, ...given: readonly (RegisteredTool | RunStore)[]): AgenticLoop {
    const registered = given.filter((each): each is RegisteredTool => 'name' in each);
    const runStore = given.find((each): each is RunStore => !('name' in each));
    const provider = createProvider({
      ...{ vendor, apiKey: 'a-key', baseURL: simulator.baseURL(vendor), allowPrivateHosts: true },
      defaultModel: MODELS[vendor] ?? 'some-model',
    });
    const toolExecutor = new ToolRegistry();
    for (const tool of registered) toolExecutor.register(tool as never);
    return new AgenticLoop({ provider, toolExecutor, logger: new RecordingLogger(), ...omitUndefined({ runStore }) });
  }

  async function run(
    vendor: VendorName,
    tool: RegisteredTool,
    {
      tools = [tool.name],
      ...options
    }: {
      readonly tools?: readonly (string | LooseTool)[];
      readonly stream?: boolean;
      readonly tool_choice?: ToolChoice;
    } = {},
    listen?: (loop: AgenticLoop) => void,
  ): Promise<{ readonly result: RunResult; readonly requests: readonly JsonObject[] }> {
    const loop = loopOf(vendor, tool);
    listen?.(loop);
    const result = await loop.execute('ann', { model: MODELS[vendor] ?? 'some-model', input: 'go', tools, ...options });
    simulator.assertDone();
    return { result, requests: simulator.requests.map(({ body }) => body as JsonObject) };
  }

  const list = (value: unknown) => value as readonly JsonObject[];

  /** A tool, one call of it by a vendor, and how it is offered and answered. */
  interface Case {
    readonly vendor: 'openai' | 'anthropic';
    readonly what: string;
    readonly tool: (execute: (...args: unknown[]) => unknown) => RegisteredTool;
    readonly offered: JsonObject;
    readonly call: JsonObject;
    readonly received: unknown;
    readonly returned: unknown;
    /** The call as it goes back, unless it is as it came. */
    readonly returnedCall?: JsonObject;
    readonly answer: JsonObject;
  }

  const CASES: readonly Case[] = [
    {
      vendor: 'openai',
      what: 'shell',
      tool: (execute) => shellTool({ execute: execute as never }),
      offered: { type: 'shell', environment: { type: 'local' } },
      call: {
        ...{ type: 'shell_call', id: 'sh_1', call_id: 'c1', status: 'completed' },
        action: { commands: ['ls', 'false'], timeout_ms: 500, max_output_length: 900 },
      },
      received: { commands: ['ls', 'false'], timeout_ms: 500, max_output_length: 900 },
      returned: ['a.txt\n', { stderr: 'no', exitCode: 1 }],
      answer: {
        ...{ type: 'shell_call_output', call_id: 'c1', max_output_length: 900 },
        output: [
          { stdout: 'a.txt\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
          { stdout: '', stderr: 'no', outcome: { type: 'exit', exit_code: 1 } },
        ],
      },
    },
    {
      vendor: 'openai',
      what: 'apply_patch',
      tool: (execute) => applyPatchTool({ execute }),
      offered: { type: 'apply_patch' },
      call: {
        ...{ type: 'apply_patch_call', id: 'ap_1', call_id: 'c1', status: 'completed' },
        operation: { type: 'create_file', path: 'a.txt', diff: '+a' },
      },
      received: { type: 'create_file', path: 'a.txt', diff: '+a' },
      returned: 'Created.',
      answer: { type: 'apply_patch_call_output', call_id: 'c1', status: 'completed', output: 'Created.' },
    },
    {
      vendor: 'openai',
      what: 'computer',
      tool: (execute) => computerTool({ execute: execute as never }),
      offered: { type: 'computer' },
      call: {
        ...{ type: 'computer_call', id: 'cu_1', call_id: 'c1', status: 'completed', pending_safety_checks: [] },
        actions: [{ type: 'click', button: 'left', x: 1, y: 2 }, { type: 'screenshot' }],
      },
      received: { actions: [{ type: 'click', button: 'left', x: 1, y: 2 }, { type: 'screenshot' }] },
      returned: PNG,
      answer: {
        ...{ type: 'computer_call_output', call_id: 'c1' },
        output: { type: 'computer_screenshot', image_url: PNG },
      },
    },
    {
      vendor: 'openai',
      what: 'custom',
      tool: (execute) => customTool({ name: 'sql', description: 'Asks.', execute }),
      offered: { type: 'custom', name: 'sql', description: 'Asks.' },
      call: { type: 'custom_tool_call', id: 'ct_1', call_id: 'c1', name: 'sql', input: 'select 1' },
      received: 'select 1',
      returned: { rows: 1 },
      answer: { type: 'custom_tool_call_output', call_id: 'c1', output: '{"rows":1}' },
    },
    {
      vendor: 'anthropic',
      what: 'shell',
      tool: (execute) => shellTool({ execute: execute as never }),
      offered: { type: 'bash_20250124', name: 'bash' },
      call: { type: 'tool_use', id: 'c1', name: 'bash', input: { command: 'ls' } },
      received: { commands: ['ls'] },
      returned: { stdout: 'a.txt', stderr: 'no', exitCode: 2 },
      answer: { type: 'tool_result', tool_use_id: 'c1', content: 'a.txt\nno\n[exit code 2]' },
    },
    {
      vendor: 'anthropic',
      what: 'memory',
      tool: (execute) => memoryTool({ execute }),
      offered: { type: 'memory_20250818', name: 'memory' },
      call: { type: 'tool_use', id: 'c1', name: 'memory', input: { command: 'view', path: '/memories' } },
      received: { command: 'view', path: '/memories' },
      returned: 'Nothing yet.',
      answer: { type: 'tool_result', tool_use_id: 'c1', content: 'Nothing yet.' },
    },
    {
      vendor: 'anthropic',
      what: 'text editor',
      tool: (execute) => textEditorTool({ execute }),
      offered: { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
      call: {
        ...{ type: 'tool_use', id: 'c1', name: 'str_replace_based_edit_tool' },
        input: { command: 'view', path: 'a.txt' },
      },
      received: { command: 'view', path: 'a.txt' },
      returned: '1 a',
      answer: { type: 'tool_result', tool_use_id: 'c1', content: '1 a' },
    },
    {
      vendor: 'anthropic',
      what: 'computer',
      tool: (execute) => computerTool({ execute: execute as never }),
      offered: { type: 'computer_toolset_20260801' },
      call: {
        ...{ type: 'tool_use', id: 'c1', name: 'left_click', toolset_name: 'computer' },
        input: { coordinate: [1, 2], text: 'ctrl+shift' },
      },
      received: { actions: [{ type: 'click', button: 'left', x: 1, y: 2, keys: ['ctrl', 'shift'] }] },
      returned: { screenshot: PNG, cursor: [1, 2] },
      answer: {
        ...{ type: 'tool_result', tool_use_id: 'c1' },
        content: [
          { type: 'text', text: '{"cursor":[1,2]}' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG.slice(PNG.indexOf(',') + 1) } },
        ],
      },
    },
    {
      vendor: 'anthropic',
      what: 'browser',
      tool: (execute) => browserTool({ execute }),
      offered: { type: 'browser_toolset_20260801' },
      call: {
        ...{ type: 'tool_use', id: 'c1', name: 'navigate', toolset_name: 'browser' },
        input: { url: 'https://example.com' },
      },
      received: { action: 'navigate', url: 'https://example.com' },
      returned: 'Loaded.',
      answer: { type: 'tool_result', tool_use_id: 'c1', content: 'Loaded.' },
    },
  ];

  for (const { vendor, what, tool, offered, call, received, returned, answer } of CASES)
    for (const stream of [false, true])
      it(`${vendor}: offers, runs and answers ${what} in the vendor's form${stream ? ', in a stream' : ''}`, async () => {
        const given: unknown[] = [];
        const done = vendor === 'openai' ? messageItem('Done.') : { type: 'text', text: 'Done.' };
        const respond = vendor === 'openai' ? openaiResponse : anthropicResponse;
        const served = [respond(call), respond(done)].map((response) =>
          stream ? streamed(vendor, response) : response,
        );
        simulator.enqueue(...served);
        const executing: string[] = [];
        const { result, requests } = await run(
          vendor,
          tool((...args) => {
            given.push(args[0]);
            return returned;
          }),
          { stream },
          (loop) => loop.on('tool:executing', ({ name }) => executing.push(name)),
        );
        expect(result.response.output_text).to.equal('Done.');
        expect(given).to.deep.equal([received]);
        expect(executing).to.have.length(1);
        expect(list(requests[0]!['tools'])).to.have.length(1);
        expect(list(requests[0]!['tools'])[0]).to.deep.include(offered);
        if (vendor === 'openai') {
          const [sentCall, sentAnswer] = list(requests[1]!['input']).slice(1);
          expect(sentCall).to.deep.equal(call);
          expect(sentAnswer).to.deep.equal(answer);
        } else {
          const [, assistant, user] = list(requests[1]!['messages']);
          expect(list(assistant!['content'])[0]).to.deep.equal(call);
          expect(list(user!['content'])[0]).to.deep.include(answer);
        }
      });

  for (const vendor of VENDORS.filter((each) => MODELS[each] === undefined))
    it(`${vendor}: offers functions in place of tools that it lacks`, async () => {
      simulator.enqueue({ calls: [{ name: 'shell', arguments: { commands: ['ls'] } }] }, { text: 'Done.' });
      const given: unknown[] = [];
      const { result } = await run(
        vendor,
        shellTool({
          execute: (input) => {
            given.push(input);
            return 'a.txt';
          },
        }),
      );
      expect(result.response.output_text).to.equal('Done.');
      expect(given).to.deep.equal([{ commands: ['ls'] }]);
      expect(JSON.stringify(simulator.requests[1]!.body)).to.include('a.txt');
    });

  it('sends a call of one vendor to another one as a call of the function', async () => {
    const tool = shellTool({ execute: () => 'a.txt' });
    const call = { type: 'tool_use', id: 'c1', name: 'bash', input: { command: 'ls' } };
    simulator.enqueue(anthropicResponse(call), anthropicResponse({ type: 'text', text: 'Done.' }));
    const { result } = await run('anthropic', tool);
    for (const vendor of ['openai', 'groq'] as const) {
      simulator.enqueue({ text: 'Well done.' });
      const input = [...result.transcript, userMessage('And?')];
      await loopOf(vendor, tool).execute('ann', { model: MODELS[vendor] ?? 'some-model', input, tools: ['shell'] });
      simulator.assertDone();
      const { body } = simulator.requests.at(-1)!;
      expect(JSON.stringify(body), vendor).to.include('{\\"commands\\":[\\"ls\\"]}').and.not.to.include('native');
    }
    simulator.enqueue({ text: 'Well done.' });
    const input = [...result.transcript, userMessage('And?')];
    await loopOf('anthropic', tool).execute('ann', { model: MODELS.anthropic!, input, tools: ['shell'] });
    const [, assistant] = list((simulator.requests.at(-1)!.body as JsonObject)['messages']);
    expect(list(assistant!['content'])[0]).to.deep.equal(call);
  });

  it('tells the vendor that a patch failed, and why', async () => {
    const operation = { type: 'delete_file', path: '/etc/passwd' };
    simulator.enqueue(
      openaiResponse({ type: 'apply_patch_call', id: 'ap_1', call_id: 'c1', status: 'completed', operation }),
      openaiResponse(messageItem('I see.')),
    );
    const { requests } = await run(
      'openai',
      applyPatchTool({
        execute: () => {
          throw new Error('Not in the directory.');
        },
      }),
    );
    expect(list(requests[1]!['input']).at(-1)).to.deep.equal({
      ...{ type: 'apply_patch_call_output', call_id: 'c1', status: 'failed' },
      output: 'Error: Not in the directory.',
    });
  });

  it('answers a computer call that failed, which has no screenshot, and says why', async () => {
    const checks = { pending_safety_checks: [] };
    simulator.enqueue(
      openaiResponse({
        type: 'computer_call',
        id: 'cu_1',
        call_id: 'c1',
        status: 'completed',
        action: { type: 'wait' },
        ...checks,
      }),
      openaiResponse(messageItem('I see.')),
    );
    const { requests } = await run('openai', computerTool({ execute: () => Promise.reject(new Error('It is off.')) }));
    const [answer, note] = list(requests[1]!['input']).slice(-2);
    expect(answer!['output']).to.include({ type: 'computer_screenshot' }).and.to.have.property('image_url');
    expect(JSON.stringify(note)).to.include('It is off.');
  });

  it('has a person approve what the vendor warns of, and acknowledges it then', async () => {
    const checks = [{ id: 'sc_1', code: 'malicious_instructions', message: 'Beware.' }];
    simulator.enqueue(
      openaiResponse({
        ...{ type: 'computer_call', id: 'cu_1', call_id: 'c1', status: 'completed' },
        ...{ action: { type: 'wait' }, pending_safety_checks: checks },
      }),
      openaiResponse(messageItem('Done.')),
    );
    const { requests } = await run('openai', computerTool({ execute: () => PNG }), {}, (loop) =>
      loop.on('tool:approval_required', ({ executionId, callId }) => void loop.approve(executionId, callId)),
    );
    expect(list(requests[1]!['input']).at(-1)).to.deep.include({ acknowledged_safety_checks: checks });
  });

  const MCP = { type: 'mcp', server_label: 'docs', server_url: 'https://example.com/mcp' };
  const request = { type: 'mcp_approval_request', id: 'mcpr_1', server_label: 'docs', name: 'remove', arguments: '{}' };
  for (const [decision, answer] of [
    ['approve', { approve: true }],
    ['reject', { approve: false, reason: 'Error: The call was not approved: No.' }],
  ] as const)
    it(`asks a person about a call of an MCP server that the vendor makes: ${decision}`, async () => {
      simulator.enqueue(openaiResponse(request), openaiResponse(messageItem('Done.')));
      const asked: unknown[] = [];
      const { requests } = await run(
        'openai',
        shellTool({ execute: () => '' }),
        { tools: [MCP as LooseTool] },
        (loop) =>
          loop.on('tool:approval_required', ({ executionId, callId, toolCall }) => {
            asked.push(JSON.parse(toolCall.arguments));
            void (decision === 'approve' ? loop.approve(executionId, callId) : loop.reject(executionId, callId, 'No.'));
          }),
      );
      expect(asked).to.deep.equal([{ server_label: 'docs', name: 'remove', arguments: '{}' }]);
      expect(list(requests[0]!['tools'])).to.deep.equal([MCP]);
      const [sent, response] = list(requests[1]!['input']).slice(1);
      expect(sent).to.deep.equal(request);
      expect(response).to.deep.equal({ type: 'mcp_approval_response', approval_request_id: 'mcpr_1', ...answer });
    });

  for (const [vendor, choice] of [
    ['openai', { type: 'shell' }],
    ['anthropic', { type: 'auto' }],
    ['groq', { type: 'function', function: { name: 'shell' } }],
  ] as const)
    it(`${vendor}: chooses the tool in the form in which it is offered`, async () => {
      simulator.enqueue({ vendor, text: 'Done.' });
      const { requests } = await run(vendor, shellTool({ execute: () => '' }), {
        tool_choice: { type: 'function', name: 'shell' },
      });
      expect(requests[0]!['tool_choice']).to.deep.equal(choice);
    });

  it('takes the vendor’s definition of a tool for the registered one', async () => {
    simulator.enqueue(openaiResponse(messageItem('Done.')));
    const { requests } = await run('openai', computerTool({ execute: () => PNG }), {
      tools: [{ type: 'computer_use', display_width: 800, display_height: 600, environment: 'linux' }],
    });
    expect(requests[0]!['tools']).to.deep.equal([
      { type: 'computer_use_preview', display_width: 800, display_height: 600, environment: 'linux' },
    ]);
  });

  for (const [vendor, tool, call, named] of [
    [
      'openai',
      { type: 'apply_patch' },
      { type: 'apply_patch_call', id: 'a', call_id: 'c1', status: 'completed', operation: {} },
      'apply_patch',
    ],
    [
      'anthropic',
      { type: 'computer_use' },
      { type: 'tool_use', id: 'c1', name: 'left_click', toolset_name: 'computer', input: {} },
      'computer',
    ],
    [
      'anthropic',
      { type: 'bash', vendor: { anthropic: { type: 'bash_20250124', name: 'bash' } } },
      { type: 'tool_use', id: 'c1', name: 'bash', input: {} },
      'bash',
    ],
  ] as const)
    it(`${vendor}: ends a run that has no function for the ${named} tool, with its name`, async () => {
      simulator.enqueue(vendor === 'openai' ? openaiResponse(call) : anthropicResponse(call));
      const error = (await failure(
        loopOf(vendor).execute('ann', { model: MODELS[vendor]!, input: 'go', tools: [tool as unknown as LooseTool] }),
      )) as LLMError;
      expect(error).to.include({ code: 'unsupported-feature' });
      expect(error.message).to.include(`"${named}"`);
      expect(runOf(error)?.iterations).to.equal(1);
    });

  it('finds deferred tools with a search of the program', async () => {
    simulator.enqueue(
      { calls: [{ name: 'tool_search', arguments: { query: 'weather' } }] },
      { calls: [{ name: 'forecast', arguments: {} }] },
      { text: 'Sunny.' },
    );
    const search = clientToolSearch({ execute: ({ query }) => (query === 'weather' ? ['forecast'] : []) });
    const forecast = { name: 'forecast', deferLoading: true, execute: () => 'sun' };
    const { response } = await loopOf('groq', search, forecast).execute('ann', {
      ...{ model: 'some-model', input: 'go', tools: ['tool_search', 'forecast'] },
    });
    expect(response.output_text).to.equal('Sunny.');
    const offered = simulator.requests.map(({ body }) => list((body as JsonObject)['tools']).length);
    expect(offered).to.deep.equal([2, 2, 2]);
  });

  it('goes on in another process with the call as the vendor wrote it', async () => {
    const opened = await Object.values(QUICK_DATABASES)[0]!();
    try {
      const runStore = await openRunStore(opened.database);
      const call = { type: 'shell_call', id: 'sh_1', call_id: 'c1', status: 'completed', action: { commands: ['ls'] } };
      simulator.enqueue(openaiResponse(call), openaiResponse(messageItem('Done.')));
      const process = (execute: () => Promise<string>) =>
        loopOf('openai', runStore, shellTool({ idempotent: true, execute }));
      const first = process(() => new Promise(() => undefined));
      const started = new Promise((resolve) => first.on('tool:executing', resolve));
      const options = { model: MODELS.openai!, input: 'go', tools: ['shell'], executionId: 'run' };
      first.execute('ann', options).catch(() => undefined);
      await started;
      await first.close();
      const { response } = await process(() => Promise.resolve('a.txt')).resume('run');
      expect(response.output_text).to.equal('Done.');
      const [sent, answer] = list((simulator.requests[1]!.body as JsonObject)['input']).slice(1);
      expect(sent).to.deep.equal(call);
      expect(answer).to.include({ type: 'shell_call_output', call_id: 'c1' });
    } finally {
      await opened.close();
    }
  });
});

function messageItem(text: string): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
}

/** The response as a vendor streams it. */
function streamed(vendor: VendorName, { body }: { readonly body: JsonObject }) {
  const events = vendor === 'openai' ? responsesEvents(body) : anthropicEvents(body);
  const text = events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return { raw: text, headers: { 'content-type': 'text/event-stream' } };
}

function responsesEvents(response: JsonObject): readonly JsonObject[] {
  const items = response['output'] as readonly JsonObject[];
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...items.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response },
  ];
}

function anthropicEvents(message: JsonObject): readonly JsonObject[] {
  const { content, stop_reason } = message;
  const blocks = content as readonly JsonObject[];
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...blocks.flatMap((block, index): readonly JsonObject[] => {
      const isCall = block['type'] === 'tool_use';
      const delta = isCall
        ? { type: 'input_json_delta', partial_json: JSON.stringify(block['input']) }
        : { type: 'text_delta', text: block['text'] };
      const content_block = isCall ? { ...block, input: {} } : { ...block, text: '' };
      return [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      ];
    }),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
}
