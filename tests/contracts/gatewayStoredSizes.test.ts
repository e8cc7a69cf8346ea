/** Responses and conversations that are too large to store: their answers arrive, and say so. */
import { expect } from 'chai';
import { MemoryResponseStore } from '../../imports/business/ai/application/services/chains/MemoryResponseStore';
import { TooLargeToStoreError } from '../../imports/business/ai/domain/errors/TooLargeToStoreError';
import type { StoredResponse } from '../../imports/business/ai/domain/interfaces/ResponseStore';
import { openResponseConversations } from '../../imports/business/ai/infrastructure/persistence/responses/DocumentResponseConversations';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { RecordingLogger } from '../support/RecordingLogger';
import { openSocket } from '../support/responsesSocket';

const MAX_BYTES = 20_000;
const LARGE = 'word '.repeat(6_000);
const SENTENCE = /^The response, with its input, takes .* more than can be stored/;

/** With the limit of a store in a database. */
class LimitedResponseStore extends MemoryResponseStore {
  readonly maxResponseBytes = MAX_BYTES;

  override save(stored: StoredResponse): Promise<void> {
    const bytes = JSON.stringify(stored).length;
    if (bytes > MAX_BYTES)
      return Promise.reject(new TooLargeToStoreError('The response, with its input,', bytes, MAX_BYTES));
    return super.save(stored);
  }
}

describe('What is too large to store', () => {
  let gateway: Gateway;
  let logger: RecordingLogger;
  let opened: TestDatabase;
  beforeEach(async () => {
    logger = new RecordingLogger();
    opened = await DATABASES['embedded (SQLite)']();
    const conversations = await openResponseConversations(opened.database, { perUser: MAX_BYTES, total: 1_000_000 });
    gateway = await startGateway({ api: { logger, conversations }, module: { responses: new LimitedResponseStore() } });
  });
  afterEach(async () => {
    await gateway.close();
    await opened.close();
  });

  const warningsOf = (response: Response): readonly string[] =>
    JSON.parse(response.headers.get('x-bolide-warnings') ?? '[]') as readonly string[];
  const isStored = async (id: string): Promise<boolean> =>
    (await gateway.request(`/v1/responses/${id}`, undefined, { method: 'GET' })).status === 200;

  for (const model of ['openai', 'groq']) {
    it(`is answered by ${model} with a warning, and without it if it need not be stored`, async () => {
      const response = await gateway.request('/v1/responses', { model, input: LARGE });
      expect(response.status).to.equal(200);
      expect(warningsOf(response).find((warning) => SENTENCE.test(warning))).not.to.equal(undefined);
      const { id, status } = (await response.json()) as { readonly id: string; readonly status: string };
      expect(status).to.equal('completed');
      expect(await isStored(id)).to.equal(false);
      expect(logger.infos.some((line) => SENTENCE.test(line))).to.equal(true);
      const other = await gateway.request('/v1/responses', { model, input: LARGE, store: false });
      expect(warningsOf(other).filter((warning) => SENTENCE.test(warning))).to.deep.equal([]);
      const small = await gateway.request('/v1/responses', { model, input: 'Hi' });
      expect(warningsOf(small).filter((warning) => SENTENCE.test(warning))).to.deep.equal([]);
      expect(await isStored(((await small.json()) as { readonly id: string }).id)).to.equal(true);
    });

    it(`is streamed by ${model} to its end, with the warning before it`, async () => {
      const response = await gateway.request('/v1/responses', { model, input: LARGE, stream: true });
      expect(warningsOf(response).find((warning) => SENTENCE.test(warning))).not.to.equal(undefined);
      expect(await response.text())
        .to.include('event: response.completed')
        .and.not.to.include('response.failed');
    });
  }

  it('is answered on a WebSocket, whose next turn continues it', async () => {
    const client = await openSocket({ url: gateway.url, token: TOKENS.ann });
    const turn = async (fields: object): Promise<string> => {
      client.socket.send(JSON.stringify({ type: 'response.create', model: 'groq', ...fields }));
      for (;;) {
        const event = (await client.next()) as { type: string; response?: { id: string } };
        expect(event.type).not.to.equal('error');
        if (event.type === 'response.completed') return event.response?.id ?? '';
      }
    };
    const id = await turn({ input: LARGE });
    await turn({ input: 'And?', previous_response_id: id, store: false });
    expect(logger.infos.some((line) => SENTENCE.test(line))).to.equal(true);
    await client.close();
  });

  it('is refused in the background, where nobody could receive it', async () => {
    const response = await gateway.request('/v1/responses', { model: 'groq', input: LARGE, background: true });
    expect(response.status).to.equal(400);
    expect(await response.text()).to.match(/The response, with its input, takes/);
    expect(gateway.unexpected).to.deep.equal([]);
  });

  it('is refused as an item of a conversation; a response in the conversation arrives with a warning', async () => {
    const created = await gateway.request('/v1/conversations', {});
    const { id } = (await created.json()) as { readonly id: string };
    const items = [{ role: 'user', content: LARGE }];
    const refused = await gateway.request(`/v1/conversations/${id}/items`, { items });
    expect(refused.status).to.equal(400);
    expect(await refused.text()).to.match(/The conversation, with these items, takes/);
    const response = await gateway.request('/v1/responses', { model: 'groq', input: LARGE, conversation: id });
    expect(response.status).to.equal(200);
    expect(warningsOf(response).join(' ')).to.match(/The conversation, with these items, takes/);
    const added = await gateway.request(`/v1/conversations/${id}/items`, { items: [{ role: 'user', content: 'Hi' }] });
    expect(added.status).to.equal(200);
  });

  it('before a response is refused as a history that no model takes', async () => {
    const { responses } = gateway.module;
    const text = 'x'.repeat(12 * 1_024 ** 2);
    let previousId: string | undefined;
    for (const id of ['resp_1', 'resp_2', 'resp_3']) {
      const input = [
        { type: 'message' as const, role: 'user' as const, content: [{ type: 'input_text' as const, text }] },
      ];
      const first = (await (await gateway.request('/v1/responses', { model: 'groq', input: 'Hi' })).json()) as {
        readonly id: string;
      };
      const stored = await responses.find('ann', first.id);
      if (stored === undefined) throw new Error('The response is not stored.');
      const previous = previousId === undefined ? {} : { previousId };
      await MemoryResponseStore.prototype.save.call(responses, { ...stored, ...previous, id, input });
      previousId = id;
    }
    const body = { model: 'groq', input: 'Hi', previous_response_id: 'resp_3' };
    const response = await gateway.request('/v1/responses', body);
    expect(response.status).to.equal(400);
    expect(await response.text()).to.match(/The conversation before response .* takes more than 32 MB/);
  });
});
