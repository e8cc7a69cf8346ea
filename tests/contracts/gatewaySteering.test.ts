/** Input that steers responses on a WebSocket of the gateway. */
import { expect } from 'chai';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { deferred } from '../support/deferred';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { openSocket } from '../support/responsesSocket';
import type { ResponsesSocketClient } from '../support/responsesSocket';

describe('A response on a WebSocket', () => {
  let gateway: Gateway;
  let client: ResponsesSocketClient;
  beforeEach(async () => {
    gateway = await startGateway();
    client = await openSocket({ url: gateway.url, token: TOKENS.ann });
  });
  afterEach(async () => {
    await client.close();
    await gateway.close();
  });

  const send = (message: JsonObject): void => client.socket.send(JSON.stringify(message));
  const next = async (type: string): Promise<JsonObject> => {
    for (;;) {
      const message = await client.next();
      if (message['type'] === type) return message;
      if (message['type'] === 'error') throw new Error(JSON.stringify(message));
    }
  };
  const responseOf = (event: JsonObject): JsonObject => event['response'] as JsonObject;
  const create = (more: JsonObject = {}): void =>
    send({ type: 'response.create', model: 'anthropic', input: 'Begin.', store: false, ...more });

  it('is followed by one with the input that was sent meanwhile', async () => {
    const asked = deferred();
    const released = deferred();
    gateway.simulator.enqueue(
      async () => {
        asked.resolve();
        await released.promise;
        return { text: 'One.' };
      },
      { text: 'Two.' },
    );
    create();
    await asked.promise;
    released.resolve();
    const { id } = responseOf(await next('response.created'));
    send({ type: 'response.steer', previous_response_id: id!, input: 'Keep it small.' });
    const accepted = await next('response.steer.accepted');
    expect(accepted['steer']).to.include({ previous_response_id: id });
    const successor = responseOf(await next('response.completed'));
    const last = successor['id'] === id ? responseOf(await next('response.completed')) : successor;
    expect(last).to.include({ previous_response_id: id, status: 'completed' });
    const body = JSON.stringify(gateway.simulator.requests.at(-1)?.body);
    expect(body).to.match(/Begin\..*One\..*Keep it small\./);
    gateway.simulator.assertDone();
  });

  it('that waits for a tool gets the input with the result', async () => {
    const tools = [{ type: 'function', name: 'clock', parameters: { type: 'object', properties: {} } }];
    gateway.simulator.enqueue({ calls: [{ name: 'clock', id: 'toolu_1' }] }, { text: 'Noon.' });
    create({ tools });
    const { id } = responseOf(await next('response.created'));
    send({ type: 'response.steer', previous_response_id: id!, input: [{ role: 'user', content: 'Be brief.' }] });
    await next('response.steer.accepted');
    const pending = await next('response.steer.pending');
    expect(pending).to.deep.include({
      reason: 'waiting_for_required_input',
      required_input: [{ type: 'function_call_output', call_id: 'toolu_1', name: 'clock' }],
    });
    create({
      tools,
      previous_response_id: id!,
      input: [{ type: 'function_call_output', call_id: 'toolu_1', output: 'noon' }],
    });
    expect(responseOf(await next('response.completed'))).to.include({ previous_response_id: id });
    const body = JSON.stringify(gateway.simulator.requests.at(-1)?.body);
    expect(body).to.contain('Be brief.').and.to.contain('noon');
    gateway.simulator.assertDone();
  });

  it('refuses input that is none, and input for a response that it does not know', async () => {
    for (const [message, code] of [
      [{ previous_response_id: 'resp_x', input: 'Hello' }, 'response_not_found'],
      [{ previous_response_id: 'resp_x', input: [] }, 'invalid_input'],
      [{ previous_response_id: 'resp_x', input: [{ role: 'assistant', content: 'I' }] }, 'invalid_input'],
      [{ previous_response_id: 'resp_x', input: 'Hello', model: 'x' }, 'invalid_input'],
      [{ input: 'Hello' }, 'invalid_input'],
    ] as const) {
      send({ type: 'response.steer', ...message });
      const failed = await next('response.steer.failed');
      expect(failed['error']).to.include({ code });
      expect(failed['steer']).to.deep.include({ input: message.input });
    }
  });
});
