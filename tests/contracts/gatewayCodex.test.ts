/** Requests as Codex 0.169 sends them with its default settings, with every vendor, over HTTP and WebSocket. */
import { expect } from 'chai';
import { isObject } from '../../imports/business/ai/domain/util/json';
import { VENDORS } from '../../imports/business/ai/domain/types/VendorTypes';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { openSocket } from '../support/responsesSocket';

const PARAMETERS = {
  type: 'object',
  properties: { message: { type: 'string', description: 'Initial task.' } },
  required: ['message'],
  additionalProperties: false,
};

const TOOLS = [
  {
    type: 'function',
    name: 'exec_command',
    description: 'Runs a command.',
    strict: false,
    parameters: { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] },
  },
  {
    type: 'namespace',
    name: 'multi_agent_v1',
    description: 'Tools for sub-agents.',
    tools: [
      { type: 'function', name: 'spawn_agent', description: 'Spawns one.', strict: false, parameters: PARAMETERS },
      { type: 'function', name: 'close_agent', description: 'Closes one.', strict: false, parameters: PARAMETERS },
    ],
  },
  { type: 'web_search', external_web_access: false },
];

/** The tool that Codex offers to OpenAI's models. */
const APPLY_PATCH = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch" LF /(.|\\n)+/ "*** End Patch"' },
};
const PATCH = '*** Begin Patch\n*** Update File: the "list".txt\n*** End Patch';

function codexRequest(vendor: string, input: readonly JsonObject[], fields: JsonObject = {}): JsonObject {
  return {
    model: vendor,
    input: [
      {
        type: 'message',
        id: 'msg_8edcf014-06f3-5dd2-944c-34ba918bf0df',
        role: 'developer',
        content: [{ type: 'input_text', text: 'You are a coding agent.' }],
      },
      { type: 'message', id: 'msg_01a20457', role: 'user', content: [{ type: 'input_text', text: 'Say hello.' }] },
      ...input,
    ],
    tools: TOOLS,
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { summary: 'auto' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: '01a20457-efc2-7cb1-83d0-78ef3c35fedc',
    client_metadata: { session_id: '01a20457-efc2-7cb1-83d0-78ef3c35fedc', turn_id: '01a20457' },
    ...fields,
  };
}

const NATIVE = new Set<string>(['openai', 'azure_openai']);

/** Scripts a call of `spawn_agent` as the vendor's own API has it. */
function enqueueCall(gateway: Gateway, vendor: string): void {
  const name = NATIVE.has(vendor)
    ? { namespace: 'multi_agent_v1', name: 'spawn_agent' }
    : { name: 'multi_agent_v1__spawn_agent' };
  gateway.simulator.enqueue({ calls: [{ ...name, arguments: { message: 'Go.' } }] });
}

function eventsIn(text: string): readonly JsonObject[] {
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!) as JsonObject);
}

/** The call in every event that has one. */
function callsIn(events: readonly JsonObject[]): readonly JsonObject[] {
  return itemsIn(events, 'function_call');
}

function itemsIn(events: readonly JsonObject[], itemType: string): readonly JsonObject[] {
  return events.flatMap(({ item, response }) => {
    const output = isObject(response) && Array.isArray(response.output) ? (response.output as JsonObject[]) : [];
    return [...(isObject(item) ? [item] : []), ...output].filter(({ type }) => type === itemType);
  });
}

describe('Codex with its default settings', () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await startGateway();
  });
  afterEach(async () => {
    await gateway.close();
    expect(gateway.unexpected).to.deep.equal([]);
  });

  for (const vendor of VENDORS) {
    it(`calls a tool in a namespace with ${vendor}, and returns its result`, async () => {
      enqueueCall(gateway, vendor);
      const response = await gateway.request('/v1/responses', codexRequest(vendor, []));
      expect(response.status, await response.clone().text()).to.equal(200);
      const calls = callsIn(eventsIn(await response.text()));
      expect(calls.length).to.be.greaterThan(2);
      for (const call of calls) expect(call).to.include({ name: 'spawn_agent', namespace: 'multi_agent_v1' });
      const call = calls.at(-1)!;
      gateway.simulator.enqueue({ text: 'Done.' });
      const second = await gateway.request(
        '/v1/responses',
        codexRequest(vendor, [call, { type: 'function_call_output', call_id: call.call_id, output: 'agent-1' }]),
      );
      expect(second.status, await second.clone().text()).to.equal(200);
      expect(await second.text()).to.include('Done.');
      const upstream = JSON.stringify(gateway.simulator.requests.at(-1)!.body);
      if (NATIVE.has(vendor)) expect(upstream).to.include('"namespace":"multi_agent_v1"');
      else {
        expect(upstream).to.include('multi_agent_v1__spawn_agent');
        expect(upstream).to.not.include('"namespace"');
      }
    });

    it(`returns reasoning with null as its content to ${vendor}`, async () => {
      gateway.simulator.enqueue({ reasoning: 'Hm.', text: 'Hello.' });
      const reasoning = { effort: 'high', summary: 'auto' };
      const response = await gateway.request('/v1/responses', codexRequest(vendor, [], { reasoning }));
      const done = eventsIn(await response.text()).find(({ type }) => type === 'response.completed');
      const output = (done?.response as { readonly output: readonly JsonObject[] }).output;
      const item = output.find(({ type }) => type === 'reasoning');
      expect(item).to.be.an('object');
      gateway.simulator.enqueue({ text: 'Done.' });
      const input = [
        { ...item, content: null },
        { type: 'message', role: 'user', content: 'Go on.' },
      ];
      const second = await gateway.request('/v1/responses', codexRequest(vendor, input, { reasoning }));
      expect(second.status, await second.clone().text()).to.equal(200);
      expect(await second.text()).to.include('Done.');
    });

    it(`gets the same from ${vendor} without a stream, and over a WebSocket`, async () => {
      enqueueCall(gateway, vendor);
      const response = await gateway.request('/v1/responses', codexRequest(vendor, [], { stream: false }));
      const body = (await response.json()) as JsonObject;
      const [call] = callsIn([{ response: body }]);
      expect(call).to.include({ name: 'spawn_agent', namespace: 'multi_agent_v1' });
      expect(body.tools).to.have.lengthOf(3);
      enqueueCall(gateway, vendor);
      const client = await openSocket({ url: gateway.url, token: TOKENS.ann });
      const { stream: _, ...request } = codexRequest(vendor, []);
      client.socket.send(JSON.stringify({ type: 'response.create', ...request }));
      const events: JsonObject[] = [];
      do events.push(await client.next());
      while (!/completed|failed|^error/.test(String(events.at(-1)?.type)));
      for (const each of callsIn(events)) expect(each).to.include({ name: 'spawn_agent', namespace: 'multi_agent_v1' });
      expect(callsIn(events).length).to.be.greaterThan(2);
      client.socket.terminate();
    });

    it(`may demand a tool in a namespace of ${vendor}`, async () => {
      enqueueCall(gateway, vendor);
      const tool_choice = { type: 'function', name: 'spawn_agent' };
      const fields = NATIVE.has(vendor) ? {} : { tool_choice };
      const response = await gateway.request('/v1/responses', codexRequest(vendor, [], { ...fields, stream: false }));
      expect(response.status, await response.clone().text()).to.equal(200);
    });
  }

  for (const vendor of NATIVE)
    it(`offers a custom tool to ${vendor} as such`, async () => {
      gateway.simulator.enqueue({ text: 'Done.' });
      const response = await gateway.request('/v1/responses', codexRequest(vendor, [], { tools: [APPLY_PATCH] }));
      expect(response.status, await response.clone().text()).to.equal(200);
      expect(gateway.simulator.requests.at(-1)!.body).to.have.deep.property('tools', [APPLY_PATCH]);
    });

  for (const vendor of VENDORS.filter((each) => !NATIVE.has(each)))
    for (const stream of [false, true])
      it(`offers a custom tool to ${vendor} as a function, ${stream ? 'streamed' : 'not streamed'}`, async () => {
        gateway.simulator.enqueue({ calls: [{ name: 'apply_patch', arguments: { input: PATCH } }] });
        const fields = { tools: [APPLY_PATCH, ...TOOLS], stream };
        const response = await gateway.request('/v1/responses', codexRequest(vendor, [], fields));
        expect(response.status, await response.clone().text()).to.equal(200);
        const text = await response.text();
        const events = stream ? eventsIn(text) : [{ response: JSON.parse(text) as JsonObject }];
        const calls = itemsIn(events, 'custom_tool_call');
        const call = calls.at(-1)!;
        expect(call).to.include({ name: 'apply_patch', input: PATCH });
        expect(itemsIn(events, 'function_call')).to.deep.equal([]);
        if (stream) {
          expect(calls.map(({ input }) => input)).to.deep.equal(['', PATCH, PATCH]);
          const types = events.map(({ type }) => String(type)).filter((type) => /arguments|call_input/.test(type));
          expect(types).to.deep.equal([
            'response.custom_tool_call_input.delta',
            'response.custom_tool_call_input.done',
          ]);
          expect(events.find(({ type }) => type === types[1])?.input).to.equal(PATCH);
        }
        gateway.simulator.enqueue({ text: 'Done.' });
        const result = { type: 'custom_tool_call_output', call_id: call.call_id, output: 'Success.' };
        const second = await gateway.request('/v1/responses', codexRequest(vendor, [call, result], fields));
        expect(second.status, await second.clone().text()).to.equal(200);
        const upstream = JSON.stringify(gateway.simulator.requests.at(-1)!.body);
        expect(upstream).to.include('Success.').and.to.include('Begin Patch').and.to.include('lark grammar');
        expect(upstream).to.not.include('"custom');
      });

  for (const vendor of VENDORS)
    it(`calls a custom tool in a namespace that comes with the input, with ${vendor}`, async () => {
      const additional = {
        type: 'additional_tools',
        id: 'at_1',
        role: 'developer',
        tools: [{ type: 'namespace', name: 'functions', description: '', tools: [{ ...APPLY_PATCH, name: 'exec' }] }],
      };
      const isNative = NATIVE.has(vendor);
      gateway.simulator.enqueue(
        isNative ? { text: 'Hi.' } : { calls: [{ name: 'functions__exec', arguments: { input: PATCH } }] },
      );
      const { tools: _, ...request } = codexRequest(vendor, []);
      const input = [additional, ...(request.input as readonly JsonObject[])];
      const response = await gateway.request('/v1/responses', { ...request, input });
      expect(response.status, await response.clone().text()).to.equal(200);
      const events = eventsIn(await response.text());
      const { body } = gateway.simulator.requests.at(-1)!;
      if (isNative) {
        expect(body).to.not.have.property('tools');
        expect(JSON.stringify(body)).to.include('"additional_tools"');
        return;
      }
      expect(itemsIn(events, 'custom_tool_call').at(-1)).to.include({
        namespace: 'functions',
        name: 'exec',
        input: PATCH,
      });
      expect(JSON.stringify(body)).to.not.include('additional_tools');
    });

  it('prepares a WebSocket without generating anything', async () => {
    const client = await openSocket({ url: gateway.url, token: TOKENS.ann });
    const before = gateway.simulator.requests.length;
    const { stream: _, ...request } = codexRequest('anthropic', []);
    client.socket.send(JSON.stringify({ type: 'response.create', ...request, generate: false }));
    const events: JsonObject[] = [];
    do events.push(await client.next());
    while (!/completed|failed|^error/.test(String(events.at(-1)?.type)));
    expect(events.at(-1)).to.nested.include({ type: 'response.completed', 'response.status': 'completed' });
    expect(gateway.simulator.requests.length).to.equal(before);
    const { id } = events.at(-1)!.response as { readonly id: string };
    gateway.simulator.enqueue({ text: 'Hello.' });
    client.socket.send(
      JSON.stringify({
        type: 'response.create',
        ...request,
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And now?' }] }],
        previous_response_id: id,
      }),
    );
    const later: JsonObject[] = [];
    do later.push(await client.next());
    while (!/completed|failed|^error/.test(String(later.at(-1)?.type)));
    expect(later.at(-1)?.type).to.equal('response.completed');
    const upstream = JSON.stringify(gateway.simulator.requests.at(-1)!.body);
    expect(upstream).to.include('Say hello.').and.to.include('And now?');
    client.socket.terminate();
  });

  it('is refused a hosted tool that it demands, or that is the only one', async () => {
    for (const fields of [{ tool_choice: { type: 'web_search' } }, { tools: [{ type: 'web_search' }] }]) {
      const response = await gateway.request('/v1/responses', codexRequest('llama', [], fields));
      expect(response.status).to.equal(400);
    }
  });

  it('is refused client_metadata that is no object', async () => {
    const response = await gateway.request('/v1/responses', codexRequest('groq', [], { client_metadata: 'x' }));
    expect(response.status).to.equal(400);
    expect(await response.text()).to.include('"param":"client_metadata"');
  });
});
