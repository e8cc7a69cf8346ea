import { expect } from 'chai';
import { KeyedQueue } from '../../../../../../imports/business/ai/application/services/shared/KeyedQueue';
import { deferred } from '../../../../../support/deferred';
import { failure } from '../../../../../support/failure';

describe('KeyedQueue', () => {
  it('runs work on one key in order, one at a time, and work on other keys beside it', async () => {
    const queue = new KeyedQueue();
    const first = deferred();
    const log: string[] = [];
    const one = queue.run('a', async () => {
      log.push('a1 begins');
      await first.promise;
      log.push('a1 ends');
    });
    const two = queue.run('a', async () => log.push('a2'));
    await queue.run('b', async () => log.push('b1'));
    expect(log).to.deep.equal(['a1 begins', 'b1']);
    first.resolve();
    await Promise.all([one, two]);
    expect(log).to.deep.equal(['a1 begins', 'b1', 'a1 ends', 'a2']);
  });

  it('goes on after work that failed', async () => {
    const queue = new KeyedQueue();
    const failed = failure(queue.run('a', () => Promise.reject(new Error('broken'))));
    expect(await queue.run('a', async () => 'next')).to.equal('next');
    expect(await failed).to.have.property('message', 'broken');
  });

  it('takes aborted work out of the queue at once, and keeps the order of the rest', async () => {
    const queue = new KeyedQueue();
    const first = deferred();
    const log: string[] = [];
    const one = queue.run('a', () => first.promise);
    const controller = new AbortController();
    const two = failure(queue.run('a', async () => log.push('two'), controller.signal));
    const three = queue.run('a', async () => log.push('three'));
    controller.abort(new Error('never mind'));
    expect(await two).to.have.property('message', 'never mind');
    expect(log).to.deep.equal([]);
    first.resolve();
    await Promise.all([one, three]);
    expect(log).to.deep.equal(['three']);
  });

  it('forgets keys without work', async () => {
    const queue = new KeyedQueue();
    await Promise.all(Array.from({ length: 100 }, (_, index) => queue.run(`key ${index % 10}`, async () => index)));
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(queue.size).to.equal(0);
  });
});
