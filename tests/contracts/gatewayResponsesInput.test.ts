/** What the gateway's Responses API accepts and refuses, the same with every vendor. */
import { expect } from 'chai';
import { VENDORS } from '../../imports/business/ai/domain/types/VendorTypes';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { startGateway } from '../support/gateway';
import type { Gateway } from '../support/gateway';

interface ErrorBody {
  readonly error: { readonly message: string; readonly param: string | null; readonly code: string };
}

interface ReasoningHolder {
  readonly item?: JsonObject;
  readonly output?: readonly JsonObject[];
  readonly response?: { readonly output?: readonly JsonObject[] };
}

function said(content: unknown): readonly JsonObject[] {
  return [{ type: 'message', role: 'user', content }];
}

const CALL = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' };
const VIDEO = { type: 'input_video', video_url: 'https://example.com/a.mp4' };
const IMAGE = 'data:image/png;base64,iVBORw0KGgo=';

/** Requests without sense, with the field that is reported. */
const NONSENSE: Readonly<Record<string, readonly [fields: JsonObject, param: string]>> = {
  'a format of an unknown type': [{ text: { format: { type: 'nonsense' } } }, 'text.format.type'],
  'an unknown verbosity': [{ text: { verbosity: 'loud' } }, 'text.verbosity'],
  'a tool choice of an unknown type': [{ tool_choice: { type: 'nonsense' } }, 'tool_choice.type'],
  'an unknown effort': [{ reasoning: { effort: 'extreme' } }, 'reasoning.effort'],
  'an unknown kind of summary': [{ reasoning: { summary: 'nonsense' } }, 'reasoning.summary'],
  'an unknown inclusion': [{ include: ['nonsense'] }, 'include[0]'],
  'an unknown service tier': [{ service_tier: 'nonsense' }, 'service_tier'],
  'an item of an unknown type': [{ input: [{ type: 'nonsense' }, ...said('x')] }, 'input[0].type'],
  'a message without content': [{ input: [{ type: 'message', role: 'user' }] }, 'input[0].content'],
  'a message with null as its content': [{ input: said(null) }, 'input[0].content'],
  'no input': [{ input: undefined }, 'input'],
  'an unknown detail of an image': [
    { input: said([{ type: 'input_image', image_url: IMAGE, detail: 'nonsense' }]) },
    'input[0].content[0].detail',
  ],
};

/** Parts that no simulated vendor reads, where they may stand. */
const UNKNOWN_PARTS: Readonly<Record<string, readonly JsonObject[]>> = {
  'a message': said([{ type: 'input_text', text: 'x' }, VIDEO]),
  'an assistant message': [{ type: 'message', role: 'assistant', content: [VIDEO] }, ...said('x')],
  "a tool's output": [...said('x'), CALL, { type: 'function_call_output', call_id: 'call_1', output: [VIDEO] }],
};

describe('The Responses API of the gateway', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => {
    expect(gateway.unexpected).to.deep.equal([]);
    return gateway.close();
  });

  const ask = async (vendor: string, fields: JsonObject): Promise<{ status: number; body: ErrorBody & JsonObject }> => {
    const response = await gateway.request('/v1/responses', { model: vendor, input: 'Hi', ...fields });
    return { status: response.status, body: (await response.json()) as ErrorBody & JsonObject };
  };

  for (const vendor of ['openai', 'anthropic'])
    for (const item of [
      { type: 'vendor:x', id: 9 },
      { type: 'web_search_call', id: { of: 'me' }, status: 'completed' },
      { type: 'item_reference', id: true },
      { type: 'message', role: 'assistant', content: 'x', id: ['msg_1'] },
    ])
      it(`refuses the id ${JSON.stringify(item.id)} of a ${item.type} before it calls ${vendor}`, async () => {
        const calls = gateway.simulator.requests.length;
        const { status, body } = await ask(vendor, { input: [item, ...said('x')] });
        expect([status, body.error.param]).to.deep.equal([400, 'input[0].id']);
        expect(body.error.message).to.match(/^"input\[0\]\.id" is not a string\. Send .+, or leave it out\.$/);
        expect(gateway.simulator.requests).to.have.length(calls);
      });

  for (const [where, item] of [
    ['call_id', { type: 'custom_tool_call', call_id: 7, name: 'f', input: 'x' }],
    ['output[0]', { type: 'custom_tool_call_output', call_id: 'a', output: [null] }],
    ['tools[0]', { type: 'additional_tools', role: 'developer', tools: [null] }],
    [
      'tools[0].tools[0].parameters',
      {
        type: 'additional_tools',
        tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f', parameters: 7 }] }],
      },
    ],
  ] as const)
    it(`refuses a wrong ${where} of a ${item.type} before it is made a function for anthropic`, async () => {
      const calls = gateway.simulator.requests.length;
      const { status, body } = await ask('anthropic', { input: [item, ...said('x')] });
      expect([status, body.error.param]).to.deep.equal([400, `input[0].${where}`]);
      expect(gateway.simulator.requests).to.have.length(calls);
    });

  it('takes tools of the input whose fields are null', async () => {
    const tools = [{ type: 'function', name: 'f', description: null, parameters: null, strict: null }];
    const { status, body } = await ask('anthropic', { input: [{ type: 'additional_tools', tools }, ...said('x')] });
    expect(status, JSON.stringify(body)).to.equal(200);
  });

  for (const vendor of VENDORS) {
    for (const [what, [fields, param]] of Object.entries(NONSENSE)) {
      it(`refuses ${what} with ${vendor}`, async () => {
        const { status, body } = await ask(vendor, fields);
        expect(status).to.equal(400);
        // xAI names no field.
        expect([param, ...(vendor === 'grok' ? [null] : [])]).to.include(body.error.param);
        expect(body.error.code).to.not.equal('server_error');
      });
    }

    for (const [where, input] of Object.entries(UNKNOWN_PARTS)) {
      it(`refuses a video in ${where} with ${vendor}, and names both`, async () => {
        const { status, body } = await ask(vendor, { input });
        expect(status, JSON.stringify(body)).to.equal(400);
        if (!['openai', 'azure_openai', 'grok'].includes(vendor)) {
          expect(body.error.message)
            .to.include('input_video')
            .and.to.match(new RegExp(NAMES[vendor] ?? vendor, 'i'));
          expect(body.error.param).to.match(/^input\[\d\]\.(?:content|output)\[\d\]/);
        }
      });
    }

    it(`accepts what clients fill in with null with ${vendor}`, async () => {
      const input = [
        { type: 'message', id: null, status: null, role: 'user', content: 'x' },
        { ...CALL, id: null, status: null, namespace: null },
        { type: 'function_call_output', id: null, status: null, call_id: 'call_1', output: 'y' },
      ];
      const { status, body } = await ask(vendor, { input });
      expect(status, JSON.stringify(body)).to.equal(200);
    });

    it(`gives the reasoning of ${vendor} a status, in a stream and without`, async () => {
      for (const stream of [false, true]) {
        gateway.simulator.enqueue({ reasoning: 'Hm.', text: 'Hello.' });
        const body = { model: vendor, input: 'Hi', reasoning: { effort: 'high', summary: 'auto' }, stream };
        const text = await (await gateway.request('/v1/responses', body)).text();
        const messages = stream ? [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => data!) : [text];
        const items = messages.flatMap((message) => {
          const { item, response, output } = JSON.parse(message) as ReasoningHolder;
          return [item, ...(response?.output ?? output ?? [])].filter((each) => each?.type === 'reasoning');
        });
        expect(items.map((item) => item?.status)).to.deep.equal(
          stream ? ['in_progress', 'completed', 'completed'] : ['completed'],
        );
      }
    });

    it(`returns the result of a referenced call to ${vendor} as such`, async () => {
      gateway.simulator.enqueue({ calls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] });
      const tools = [{ type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } }];
      const first = await ask(vendor, { tools, input: 'Weather?' });
      const call = (first.body.output as readonly JsonObject[]).find(({ type }) => type === 'function_call');
      gateway.simulator.enqueue({ text: 'Sunny.' });
      const { status, body } = await ask(vendor, {
        tools,
        input: [
          { type: 'item_reference', id: call?.id },
          { type: 'function_call_output', call_id: call?.call_id, output: 'sunny, 20 degrees' },
        ],
      });
      expect(status, JSON.stringify(body)).to.equal(200);
      const sent = JSON.stringify(gateway.simulator.requests.at(-1)!.body);
      expect(sent).to.match(/"(?:function_call_output|tool_result|functionResponse|tool_call_id)"/);
      expect(sent).to.not.include('<tool_result');
    });
  }
});

/** How the errors name a vendor, where not by its id. */
const NAMES: Readonly<Record<string, string>> = { anthropic: 'Messages API', google: 'Gemini' };
