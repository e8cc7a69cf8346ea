import { inspect } from 'node:util';
import { expect } from 'chai';
import { MemoryResponseStore } from '../../../../../../imports/business/ai/application/services/chains/MemoryResponseStore';
import { userMessage } from '../../../../../../imports/business/ai/domain/entities/Message';
import type { StoredResponse } from '../../../../../../imports/business/ai/domain/interfaces/ResponseStore';
import { answer } from '../../../../../../imports/testing/responses';

describe('MemoryResponseStore', () => {
  let now = 0;
  beforeEach(() => {
    now = 1_000;
  });

  function stored(id: string, fields: Partial<StoredResponse> = {}): StoredResponse {
    const input = [{ ...userMessage('hello'), id: `msg_of_${id}` }];
    return {
      id,
      userId: 'ann',
      providerId: 'openai',
      keptByProvider: false,
      input,
      response: answer('hi', { id }),
      ...fields,
    };
  }

  it('evicts the least recently used response when there are too many', async () => {
    const store = new MemoryResponseStore({ maxResponses: 2 });
    await store.save(stored('resp_1'));
    await store.save(stored('resp_2'));
    await store.find('ann', 'resp_1');
    await store.save(stored('resp_3'));
    expect(await store.find('ann', 'resp_2')).to.equal(undefined);
    expect(await store.find('ann', 'resp_1')).not.to.equal(undefined);
    expect(await store.find('ann', 'resp_3')).not.to.equal(undefined);
  });

  it('evicts the least recently used responses when they are too large', async () => {
    const large = (id: string): StoredResponse => stored(id, { input: [userMessage('x'.repeat(600))] });
    const store = new MemoryResponseStore({ maxSize: 2_500 });
    for (const id of ['resp_1', 'resp_2', 'resp_1', 'resp_3']) await store.save(large(id));
    expect(await store.find('ann', 'resp_2')).to.equal(undefined);
    expect(await store.find('ann', 'resp_3')).not.to.equal(undefined);
    await store.save(stored('resp_4', { input: [userMessage('x'.repeat(5_000))] }));
    expect(await store.find('ann', 'resp_4')).to.equal(undefined);
  });

  it('evicts responses that were not used within the time to live', async () => {
    const store = new MemoryResponseStore({ timeToLive: 100, now: () => now });
    await store.save(stored('resp_1'));
    await store.save(stored('resp_2'));
    now += 60;
    await store.find('ann', 'resp_1');
    now += 60;
    expect(await store.find('ann', 'resp_1')).not.to.equal(undefined);
    expect(await store.find('ann', 'resp_2')).to.equal(undefined);
    expect(await store.findItem('ann', 'msg_of_resp_2')).to.equal(undefined);
  });
  it('keeps nothing of what it has evicted or replaced', async () => {
    const store = new MemoryResponseStore({ maxResponses: 1 });
    for (const id of ['resp_1', 'resp_2', 'resp_2']) await store.save(stored(id));
    await store.save(stored('resp_2', { input: [] }));
    expect(inspect(store, { depth: Infinity }))
      .to.include('resp_2')
      .and.not.match(/resp_1|msg_of_resp_2/);
  });
});
