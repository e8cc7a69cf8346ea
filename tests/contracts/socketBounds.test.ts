/** What one WebSocket of the Responses API can make the server hold. */
import { expect } from 'chai';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { openSocket } from '../support/responsesSocket';

describe('A WebSocket', () => {
  let gateway: Gateway;
  afterEach(() => gateway.close());

  it('holds a conversation as long as one request may be', async () => {
    gateway = await startGateway({ api: { limits: { maxBodyBytes: 5_000 } } });
    const client = await openSocket({ url: gateway.url, token: TOKENS.ann });
    const create = { model: 'anthropic', input: 'x'.repeat(2_000), store: false };
    const first = await client.turn(create);
    const second = await client.turn({ ...create, previous_response_id: first.response?.['id'] });
    expect(second.response).to.include({ status: 'completed' });
    const third = await client.turn({ ...create, previous_response_id: second.response?.['id'] });
    expect([third.status, third.error?.message]).to.deep.equal([
      413,
      "The requests of this connection's conversation have more than 5000 bytes together. Start a new one.",
    ]);
    expect((await client.turn(create)).response, 'a new one').to.include({ status: 'completed' });
    await client.close();
  });
});
