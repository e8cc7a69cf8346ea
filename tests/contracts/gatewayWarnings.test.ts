/** What a vendor could not be sent is reported to HTTP clients, in a header, and in the log. */
import { expect } from 'chai';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { openSocket } from '../support/responsesSocket';
import { RecordingLogger } from '../support/RecordingLogger';

const FUNCTION = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } };

describe('The header x-bolide-warnings', () => {
  let gateway: Gateway;
  let logger: RecordingLogger;
  beforeEach(async () => {
    logger = new RecordingLogger();
    gateway = await startGateway({ api: { logger } });
  });
  afterEach(() => gateway.close());

  const warningsOf = (response: Response): readonly string[] => {
    const header = response.headers.get('x-bolide-warnings');
    return header === null ? [] : (JSON.parse(header) as string[]);
  };

  for (const stream of [false, true]) {
    it(`names what was left out${stream ? ' of a stream, before it starts' : ''}`, async () => {
      const body = { model: 'groq', input: 'Hi', tools: [FUNCTION, { type: 'web_search' }], stream };
      const response = await gateway.request('/v1/responses', body);
      expect(response.status).to.equal(200);
      expect(warningsOf(response).join(' ')).to.include('web_search');
      await response.text();
      expect(logger.infos.join(' ')).to.include('web_search');
      expect(JSON.stringify(logger.details)).to.include('"groq"').and.to.include('"ann"');
    });

    it(`names lost content${stream ? ' of a stream' : ''}`, async () => {
      const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'abc' };
      const response = await gateway.request('/v1/messages', {
        model: 'openai',
        max_tokens: 50,
        stream,
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: [thinking, { type: 'text', text: 'Hello.' }] },
          { role: 'user', content: 'And?' },
        ],
      });
      expect(warningsOf(response).join(' ')).to.match(/reasoning \(input\[1\]/);
      await response.text();
    });
  }

  it('names the fallback that served a request', async () => {
    await gateway.close();
    gateway = await startGateway({ api: { logger }, fallback: ['groq'] });
    for (const stream of [false, true]) {
      gateway.simulator.enqueue({
        vendor: 'anthropic',
        status: 529,
        body: { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } },
      });
      const response = await gateway.request('/v1/chat/completions', {
        model: 'anthropic',
        messages: [{ role: 'user', content: 'Hi' }],
        stream,
      });
      expect(response.status).to.equal(200);
      expect(warningsOf(response).join(' ')).to.match(/"anthropic" failed \(overloaded\).*"groq"/);
      await response.text();
    }
  });

  it('is replaced by the log on a WebSocket', async () => {
    const client = await openSocket({ url: gateway.url, token: TOKENS.ann });
    const request = { model: 'groq', input: 'Hi', tools: [FUNCTION, { type: 'web_search' }] };
    client.socket.send(JSON.stringify({ type: 'response.create', ...request }));
    while ((await client.next()).type !== 'response.completed');
    expect(logger.infos.join(' ')).to.include('web_search');
    await client.close();
  });

  it('is absent if nothing was left out', async () => {
    const clean = await gateway.request('/v1/chat/completions', {
      model: 'groq',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(clean.headers.get('x-bolide-warnings')).to.equal(null);
    await clean.text();
    expect(logger.infos).to.deep.equal([]);
  });

  it('is plain ASCII of limited length', async () => {
    const tools = Array.from({ length: 200 }, (_value, index) => ({ type: `fähig_${index}` }));
    const response = await gateway.request('/v1/responses', {
      model: 'groq',
      input: 'Hi',
      tools: [FUNCTION, ...tools],
    });
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-bolide-warnings')).to.match(/^[\x20-\x7e]{1,4096}$/);
    expect(warningsOf(response).at(-1)).to.match(/^… and \d+ more\.$/);
    expect(warningsOf(response)[0]).to.include('fähig_0');
    await response.text();
  });
});
