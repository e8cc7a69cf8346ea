import { expect } from 'chai';
import { RecordedEvents } from '../../../../../../imports/business/ai/application/services/vendorObjects/RecordedEvents';
import type { EventBatch } from '../../../../../../imports/business/ai/domain/events/EventBatches';
import type { LLMResponse } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../../../imports/business/ai/domain/types/StreamEvents';

const RESPONSE: Partial<LLMResponse> = {
  id: 'msg_1',
  output: [],
  vendor: {
    name: 'anthropic',
    wire: 'anthropic_messages',
    finish_reason: 'end_turn',
    warnings: [],
    losses: [],
    fields: { container: { id: 'container_1' } },
  },
};

const delta: ResponseStreamEvent = { type: 'response.output_text.delta', output_index: 0, delta: 'a' };
const stop: ResponseStreamEvent = {
  type: 'wire.message',
  wire: 'anthropic_messages',
  event: 'message_stop',
  data: '{"type":"message_stop"}',
};
const completed: ResponseStreamEvent = { type: 'response.completed', response: RESPONSE as LLMResponse };

/** What the reader of a stream gets, and when the container is recorded. */
async function recorded(batches: readonly EventBatch[]): Promise<readonly string[]> {
  const log: string[] = [];
  const source = [...batches];
  const events = new RecordedEvents(
    { read: () => Promise.resolve(source.shift()), close: () => Promise.resolve() },
    async (response) => {
      await Promise.resolve();
      log.push(`recorded ${response.id}`);
    },
  );
  for (let batch = await events.read(); batch !== undefined; batch = await events.read())
    log.push(batch.map(({ type }) => type.replace('response.', '')).join(' '));
  return log;
}

describe('RecordedEvents', () => {
  it('records the objects of a response before the client learns of its end, and holds nothing else back', async () => {
    const expected = ['output_text.delta', 'recorded msg_1', 'wire.message completed'];
    expect(await recorded([[delta, stop, completed]])).to.deep.equal(expected);
    expect(await recorded([[delta], [stop], [completed]])).to.deep.equal(expected);
    expect(await recorded([[delta, stop], [completed]])).to.deep.equal(expected);
    expect(await recorded([[delta, completed]])).to.deep.equal(['output_text.delta', 'recorded msg_1', 'completed']);
  });

  it('passes the end of a stream on that is never complete', async () => {
    expect(await recorded([[delta, stop]])).to.deep.equal(['output_text.delta', 'wire.message']);
    expect(await recorded([[delta], [delta]])).to.deep.equal(['output_text.delta', 'output_text.delta']);
  });
});
