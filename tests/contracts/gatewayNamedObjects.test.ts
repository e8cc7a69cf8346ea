/**
 * Every field in which a request names an object at its vendor: under a key that users share, each of them may name
 * what they made and what the operator shares, whatever the field, the API and the way in.
 */
import { expect } from 'chai';
import type { JsonObject, VendorName, ServedWire } from '../../imports/business/ai/domain/types/VendorTypes';
import type { ProviderSettings } from '../../imports/business/ai/infrastructure/factories/LLMProviderFactory';
import { findStoredObjects } from '../../imports/business/ai/infrastructure/vendors/findStoredObjects';
import { STORED_OBJECT_FIELDS } from '../../imports/business/ai/infrastructure/vendors/storedObjectFields';
import type {
  RequestForm,
  StoredObjectField,
} from '../../imports/business/ai/infrastructure/vendors/storedObjectFields';
import type { Simulator } from '../../imports/simulator/Simulator';
import { requestNaming } from '../support/requestNaming';
import { simulatedRow, startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { sampled } from '../support/soak';

const FORMS = Object.keys(STORED_OBJECT_FIELDS) as readonly RequestForm[];
/** A provider for each wire, which takes every field of it. */
const WIRES: Readonly<Record<ServedWire, { readonly vendor: VendorName; readonly path: string }>> = {
  responses: { vendor: 'openai', path: '/v1/responses' },
  chat_completions: { vendor: 'openai_compatible', path: '/v1/chat/completions' },
  anthropic_messages: { vendor: 'anthropic', path: '/v1/messages' },
  gemini: { vendor: 'google', path: '/v1beta/models/gemini:generateContent' },
};
const WIRE_NAMES = Object.keys(WIRES) as readonly ServedWire[];
/** Fields that the gateway answers by its own store, or that it takes for invalid, whoever names whatever there. */
const NEVER_SENT: Readonly<Record<string, number>> = {
  'responses previous_response_id': 400,
  'responses conversation': 404,
  'responses conversation.id': 404,
  'responses input[]<item_reference>.id': 404,
  'responses input[].**.file_ids[]': 400,
  'chat_completions previous_response_id': 404,
  'anthropic_messages system[].**.file_id': 400,
};
/** The fields that are asked for over HTTP. */
const FIELDS = sampled(
  WIRE_NAMES.flatMap((wire) => STORED_OBJECT_FIELDS[wire].map((field) => ({ wire, field }))),
  ({ wire, field: { kind, path } }) => [`${wire} ${kind}`, NEVER_SENT[`${wire} ${path}`] === undefined || path],
);
const OWN = 'own-object';
const SHARED = 'shared-object';

type Credentials = Pick<ProviderSettings, 'credentials' | 'sharedObjects'>;

function providersOf(simulator: Simulator, fields: Credentials = {}): readonly ProviderSettings[] {
  return WIRE_NAMES.map((wire) => {
    const { apiKey, ...row } = simulatedRow(simulator, WIRES[wire].vendor);
    const key = fields.credentials === undefined && apiKey !== undefined ? { apiKey } : {};
    return { ...row, ...key, ...fields, id: wire, wire };
  });
}

/** The id that the object has in the vendor's own format. */
function idAt({ path }: StoredObjectField, id: string): string {
  return /\b(?:fileUri|uri)$/.test(path) ? `gs://${id}` : id;
}

interface Outcome {
  readonly status: number;
  readonly body: JsonObject;
  /** The vendor has received the id. */
  readonly isSent: boolean;
}

async function send(
  gateway: Gateway,
  user: 'ann' | 'bob' | 'admin',
  wire: ServedWire,
  { path }: StoredObjectField,
  id: string,
): Promise<Outcome> {
  const before = gateway.simulator.requests.length;
  const { model, ...named }: JsonObject = { model: wire, ...requestNaming(wire, path, id) };
  const response = await gateway.request(
    WIRES[wire].path.replace('gemini', wire),
    wire === 'gemini' ? named : { model, ...named },
    { headers: { authorization: `Bearer ${TOKENS[user]}` } },
  );
  const sent = gateway.simulator.requests.slice(before).map(({ body }) => JSON.stringify(body));
  const body = (await response.json()) as JsonObject;
  return { status: response.status, body, isSent: sent.some((each) => each.includes(id)) };
}

describe('fields that name an object at a vendor', () => {
  for (const form of FORMS)
    for (const field of STORED_OBJECT_FIELDS[form])
      it(`are found at ${field.path} of ${form}`, () => {
        const found = findStoredObjects(form, requestNaming(form, field.path, 'object-1'));
        const expected = { kind: field.kind, id: idAt(field, 'object-1') };
        expect(found.map(({ kind, id }) => ({ kind, id }))).to.deep.include(expected);
      });

  it('are told from what is only mentioned, and from what is nobody’s', () => {
    const mentions: readonly [RequestForm, JsonObject][] = [
      ['anthropic_messages', { messages: [{ content: [{ type: 'tool_use', input: { file_id: 'x' } }] }] }],
      ['anthropic_messages', { container: { skills: [{ type: 'anthropic', skill_id: 'xlsx' }] } }],
      [
        'anthropic_messages',
        { messages: [{ content: [{ content: [{ type: 'code_execution_output', file_id: 'x' }] }] }] },
      ],
      ['responses', { input: [{ content: [{ type: 'output_text', annotations: [{ file_id: 'x' }] }] }] }],
      ['responses', { input: [{ type: 'file_search_call', results: [{ file_id: 'x' }] }] }],
      ['responses', { input: [{ type: 'image_generation_call', id: 'x', result: 'aGk=' }] }],
      ['responses', { tools: [{ type: 'function', parameters: { properties: { container: { id: 'x' } } } }] }],
      ['responses', { tools: [{ type: 'mcp', connector_id: 'connector_gmail', authorization: 'own-token' }] }],
      ['gemini', { contents: [{ parts: [{ fileData: { fileUri: 'https://example.com/files/a.pdf' } }] }] }],
      ['gemini', { contents: [{ parts: [{ functionCall: { args: { fileData: { fileUri: 'files/x' } } } }] }] }],
    ];
    for (const [form, request] of mentions)
      expect(findStoredObjects(form, request), JSON.stringify(request)).to.eql([]);
  });

  it('are found in any case, as hosts read names that are written in Go', () => {
    const request = { Messages: [{ role: 'user', content: [{ type: 'file', File: { File_ID: 'file-1' } }] }] };
    expect(findStoredObjects('chat_completions', request).map(({ id }) => id)).to.deep.equal(['file-1']);
    expect(findStoredObjects('responses', { Previous_Response_ID: 'resp_1' }).map(({ id }) => id)).to.deep.equal([
      'resp_1',
    ]);
    expect(findStoredObjects('responses', { 'previou\u017f_re\u017fponse_id': 'resp_1' })).to.have.length(1);
  });

  it('of Google’s API are found in either spelling, however their URL is written', () => {
    for (const uri of [
      'files/abc',
      'https://generativelanguage.googleapis.com/v1beta/files/abc',
      'HTTPS://GenerativeLanguage.googleapis.com.:443/v1beta/files/abc?x=1',
    ])
      for (const part of [{ fileData: { fileUri: uri } }, { file_data: { file_uri: uri } }])
        expect(findStoredObjects('gemini', { contents: [{ parts: [part] }] })).to.have.deep.nested.property(
          '[0].id',
          'files/abc',
        );
    expect(findStoredObjects('gemini', { cached_content: 'cachedContents/1' })).to.have.deep.nested.property(
      '[0].id',
      'cachedContents/1',
    );
  });
});

describe('a request to an account that users share', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway({
      providers: (simulator) => providersOf(simulator, { sharedObjects: ['shared-*', `gs://${SHARED}`] }),
    });
    await gateway.module.vendorObjects.store.record('ann', [OWN, `gs://${OWN}`]);
  });
  after(() => gateway.close());

  for (const { wire, field } of FIELDS) {
    const never = NEVER_SENT[`${wire} ${field.path}`];
    if (never === undefined)
      it(`names only what is its caller’s or shared at ${field.path} of ${wire}`, async () => {
        for (const user of ['ann', 'admin'] as const)
          expect((await send(gateway, user, wire, field, OWN)).isSent, user).to.equal(true);
        expect((await send(gateway, 'bob', wire, field, SHARED)).isSent, 'shared').to.equal(true);
        const [others, unknown] = [
          await send(gateway, 'bob', wire, field, OWN),
          await send(gateway, 'bob', wire, field, 'elsewhere'),
        ];
        expect(others).to.include({ status: 404, isSent: false });
        expect(unknown).to.include({ status: 404, isSent: false });
        const text = ({ body: { request_id: _, ...body } }: Outcome): string => JSON.stringify(body);
        expect(text(others).replaceAll(OWN, 'elsewhere')).to.equal(text(unknown));
      });
    else
      it(`never reaches the vendor with ${field.path} of ${wire}`, async () => {
        for (const user of ['ann', 'bob'] as const)
          expect(await send(gateway, user, wire, field, OWN)).to.include({ status: never, isSent: false });
      });
  }

  it('answers an unknown object in the shape of each API', async () => {
    const message = 'File "elsewhere" not found.';
    const bodyOf = async (wire: ServedWire, path: string): Promise<JsonObject> =>
      (await send(gateway, 'bob', wire, { path, kind: 'file' }, 'elsewhere')).body;
    expect(await bodyOf('responses', 'input[].**.file_id')).to.deep.equal({
      error: { message, type: 'not_found', param: 'input[0].content[0].file_id', code: 'invalid_request' },
    });
    expect(await bodyOf('chat_completions', 'messages[].**.file_id')).to.deep.equal({
      error: {
        message,
        type: 'invalid_request_error',
        param: 'messages[0].content[0].file.file_id',
        code: 'invalid_request',
      },
    });
    expect(await bodyOf('anthropic_messages', 'messages[].**.file_id')).to.deep.include({
      type: 'error',
      error: { type: 'not_found_error', message },
    });
    expect(await bodyOf('gemini', 'cachedContent')).to.deep.equal({
      error: { code: 404, message: 'Cached content "elsewhere" not found.', status: 'NOT_FOUND' },
    });
  });
});

describe('a request with a key of the caller’s own', () => {
  it('names whatever it likes', async () => {
    const credentials = {
      getAccessToken: () => Promise.resolve({ kind: 'api_key', token: 'own-key', isOwn: true } as const),
    };
    const gateway = await startGateway({ providers: (simulator) => providersOf(simulator, { credentials }) });
    try {
      for (const { wire, field } of FIELDS)
        if (NEVER_SENT[`${wire} ${field.path}`] === undefined)
          expect((await send(gateway, 'bob', wire, field, 'mine')).isSent, `${wire} ${field.path}`).to.equal(true);
    } finally {
      await gateway.close();
    }
  });
});
